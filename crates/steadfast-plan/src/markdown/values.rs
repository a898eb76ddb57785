//! Fields of tasks and phases, and their values.

use super::fields::{self, Field, field};
use super::names::{is_nothing, plain};
use super::{Reader, Section, check};
use crate::draft::{Text, estimate, labels};

impl Reader<'_> {
    pub(super) fn field(&mut self, text: &Text) -> bool {
        if self.current.is_none() {
            return self.phase_field(text);
        }
        match field(text) {
            Some((field, value)) => {
                self.set(field, &value);
                true
            }
            None => false,
        }
    }

    /// Reads `Depends on: phase-1` below the heading of a phase.
    pub(super) fn phase_field(&mut self, text: &Text) -> bool {
        let Section::Phase(index) = self.section else { return false };
        match field(text) {
            Some((Field::After, value)) => {
                let names = fields::names(&value).into_iter().filter(|name| !is_nothing(&name.value));
                self.draft.phases[index].after = Some(names.collect());
                true
            }
            _ => false,
        }
    }

    pub(super) fn set(&mut self, field: Field, value: &Text) {
        let Some((phase, place)) = self.current else { return };
        let task = &mut self.draft.phases[phase].tasks[place];
        match field {
            Field::Type => task.task_type = Some(value.with(plain(value.as_str()))),
            Field::Files => {
                for file in fields::names(value) {
                    if !task.files.iter().any(|known| known.value == file.value) {
                        task.files.push(file);
                    }
                }
            }
            Field::Verify => {
                let words = self.findings.count();
                match check::command(value, self.findings) {
                    Some(command) => task.command = Some(command),
                    // A sentence is a success criterion.
                    None if self.findings.count() > words => task.criteria.push(value.as_str().trim().to_owned()),
                    None => {}
                }
            }
            Field::Criteria => task.criteria.push(value.as_str().trim().to_owned()),
            Field::After => {
                for name in fields::names(value) {
                    if !is_nothing(&name.value) && !task.after.iter().any(|known| known.value == name.value) {
                        task.after.push(name);
                    }
                }
            }
            Field::Status => {
                let before = self.findings.count();
                task.status = labels::status(value, self.findings);
                if self.findings.count() > before {
                    self.note(&value.with(format!("status: {}", value.as_str())));
                }
            }
            Field::Estimate => match estimate::read(value, self.findings) {
                Some(length) => task.estimate = Some(length),
                None => self.note(&value.with(format!("estimate: {}", value.as_str()))),
            },
            Field::Notes => self.note(value),
        }
    }

    pub(super) fn note(&mut self, text: &Text) {
        let Some((phase, place)) = self.current else { return };
        let line = text.as_str().trim();
        // A quotation is a note word for word, including empty lines.
        let quoted = line.strip_prefix('>').map(|rest| rest.strip_prefix(' ').unwrap_or(rest));
        if line.is_empty() {
            return;
        }
        self.draft.phases[phase].tasks[place].note(quoted.unwrap_or(line), text);
    }
}
