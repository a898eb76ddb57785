//! Boxes below headings. A box inside of a box is a part of it.

use std::collections::HashSet;

use super::waits::{Part, add_parts};
use super::{Phases, note};
use crate::draft::{Draft, DraftTask, Text};
use crate::estimate;
use crate::markdown::fields::{Field, field, names};
use crate::markdown::line::{Line, lines};
use crate::markdown::names::{is_nothing, is_phase, numbered, plain};
use crate::markdown::{after, stem};
use crate::problem::{Code, Findings};
use crate::standing;

pub(super) fn read(text: &str, name: &str, findings: &mut Findings) -> Draft {
    let mut reader = Reader { draft: Draft { span: 0..text.len().min(1), ..Draft::default() }, ..Reader::default() };
    for line in lines(text) {
        reader.line(&line);
    }
    let parts = reader.name(findings);
    let mut draft = reader.draft;
    if draft.feature.is_empty() {
        draft.feature = stem(name);
    }
    after::resolve(&mut draft, findings);
    add_parts(&mut draft, &parts);
    draft
}

#[derive(Default)]
struct Reader {
    draft: Draft,
    phases: Phases,
    /// What numbers the tasks of a phase that have none.
    numbers: Vec<Option<String>>,
    /// Beside the tasks, phase by phase.
    boxes: Vec<Vec<Place>>,
    /// Phase and place of the boxes that the next may stand in, each with its indent.
    open: Vec<(usize, usize, usize)>,
    is_described: bool,
    /// The boxes of a list are read, and no paragraph came since.
    in_list: bool,
    after_blank: bool,
}

/// What is not yet known of a task when its box is read.
struct Place {
    /// The box it stands in, by its place in the phase.
    part_of: Option<usize>,
    has_id: bool,
}

impl Reader {
    fn line(&mut self, line: &Line) {
        match line {
            Line::Blank => self.is_described |= self.draft.description.is_some(),
            Line::Heading { level: 1, text } if self.draft.feature.is_empty() && self.draft.phases.is_empty() => {
                self.draft.feature = plain(text.as_str());
            }
            Line::Heading { level: 1 | 2, text } => self.phase(text),
            Line::Heading { text, .. } if is_phase(text) => self.phase(text),
            // A deeper heading structures a phase.
            Line::Heading { .. } => self.open.clear(),
            Line::Box { mark, text, indent } => self.task(*mark, text, *indent),
            Line::Bullet { text, .. } | Line::Text { text, .. } | Line::Ordered { whole: text, .. }
                if self.is_field(text) => {}
            Line::Bullet { text, indent } => {
                self.beside(text, *indent);
                self.note(&format!("- {}", text.as_str()), text);
            }
            Line::Ordered { whole: text, indent, .. } => {
                self.beside(text, *indent);
                self.note(text.as_str(), text);
            }
            Line::Text { text, indent } => {
                if *indent == 0 && self.after_blank {
                    self.in_list = false;
                }
                match self.open.last() {
                    Some(_) => self.note(text.as_str(), text),
                    None => self.describe(text),
                }
            }
            Line::Fenced { text } => self.note(text.as_str(), text),
            Line::Row { cells } => {
                let row: Vec<&str> = cells.iter().map(Text::as_str).collect();
                if let Some(first) = cells.first() {
                    self.note(&format!("| {} |", row.join(" | ")), first);
                }
            }
        }
        self.after_blank = matches!(line, Line::Blank);
    }

    /// Beside boxes, and not below one: its box was forgotten, or it is no task.
    fn beside(&mut self, text: &Text, indent: usize) {
        if self.in_list && self.open.first().is_some_and(|(.., own)| indent <= *own) {
            self.draft.unread.push(text.span.start);
        }
    }

    fn phase(&mut self, heading: &Text) {
        self.open.clear();
        let (phase, number) = self.phases.begin(heading);
        self.draft.phases.push(phase);
        self.numbers.push(number);
        self.boxes.push(Vec::new());
    }

    fn task(&mut self, mark: char, text: &Text, indent: usize) {
        if text.as_str().is_empty() {
            return;
        }
        if self.draft.phases.is_empty() {
            self.phase(&Text::new("Tasks", text.span.clone()));
        }
        while self.open.last().is_some_and(|(.., open)| *open >= indent) {
            self.open.pop();
        }
        let phase = self.draft.phases.len() - 1;
        let (id, title) = match numbered(text).filter(|(id, _)| is_number(id.as_str())) {
            Some((id, title)) => (Some(id), raw(text, &title)),
            None => (None, text.clone()),
        };
        let has_id = id.is_some();
        let at = text.span.start;
        let mut task = DraftTask::new(id.unwrap_or_else(|| Text::new(String::new(), at..at)), title);
        task.standing = standing::in_box(mark);
        let place = self.draft.phases[phase].tasks.len();
        self.draft.phases[phase].tasks.push(task);
        self.boxes[phase].push(Place { part_of: self.open.last().map(|(_, place, _)| *place), has_id });
        self.open.push((phase, place, indent));
        self.in_list = true;
    }

    fn current(&mut self) -> Option<&mut DraftTask> {
        let (phase, place, _) = *self.open.last()?;
        Some(&mut self.draft.phases[phase].tasks[place])
    }

    fn is_field(&mut self, text: &Text) -> bool {
        let Some(task) = self.current() else { return false };
        match field(text) {
            Some((Field::After, value)) => {
                task.after.extend(names(&value).into_iter().filter(|name| !is_nothing(name.as_str())));
                true
            }
            Some((Field::Files, value)) => {
                task.files.extend(names(&value));
                true
            }
            // What cannot be read is a note, as before.
            Some((Field::Estimate, value)) => {
                task.estimate = estimate::length(value.as_str());
                task.estimate.is_some()
            }
            _ => false,
        }
    }

    fn note(&mut self, line: &str, at: &Text) {
        if let Some(task) = self.current() {
            note(task, line, at);
        }
    }

    /// The first paragraph says what it is for.
    fn describe(&mut self, text: &Text) {
        if self.is_described || !self.draft.phases.is_empty() {
            return;
        }
        match &mut self.draft.description {
            Some(description) => {
                description.push(' ');
                description.push_str(text.as_str());
            }
            None => self.draft.description = Some(text.as_str().to_owned()),
        }
    }

    /// Gives an id to what has none, now that it is known which are taken. Returns what is a part of what.
    fn name(&mut self, findings: &mut Findings) -> Vec<Part> {
        let mut taken: HashSet<String> = HashSet::new();
        for task in self.draft.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            let id = &mut task.id;
            if id.value.is_empty() || taken.insert(id.value.clone()) {
                continue;
            }
            let own = std::mem::take(&mut id.value);
            id.value = (2_u32..).map(|n| format!("{own}-{n}")).find(|id| !taken.contains(id)).unwrap_or_default();
            taken.insert(id.value.clone());
            let message = format!("the id `{own}` is there before: this task is `{}`", id.value);
            findings.add(Code::RenamedId, &id.span, message, "give it another id");
        }
        let mut parts = Vec::new();
        let with_tasks = self.draft.phases.iter_mut().zip(&self.boxes).zip(&self.numbers);
        let with_tasks = with_tasks.filter(|((phase, _), _)| !phase.tasks.is_empty());
        for (index, ((phase, boxes), number)) in with_tasks.enumerate() {
            let prefix = number.clone().unwrap_or_else(|| (index + 1).to_string());
            let mut counts = vec![0_usize; boxes.len() + 1];
            for (place, seen) in boxes.iter().enumerate() {
                let above = seen.part_of.map_or_else(|| prefix.clone(), |whole| phase.tasks[whole].id.value.clone());
                let count = &mut counts[seen.part_of.map_or(0, |whole| whole + 1)];
                *count += 1;
                if !seen.has_id {
                    let free = (*count..).find(|number| !taken.contains(&format!("{above}.{number}")));
                    *count = free.unwrap_or(*count);
                    let id = format!("{above}.{count}");
                    taken.insert(id.clone());
                    phase.tasks[place].id.value = id;
                }
                if let Some(whole) = seen.part_of {
                    parts.push((phase.tasks[place].id.value.clone(), phase.tasks[whole].id.value.clone()));
                }
            }
        }
        parts
    }
}

/// A title word for word; only what was opened before the id is closed.
fn raw(text: &Text, title: &Text) -> Text {
    let words = text.as_str().get(title.span.start - text.span.start..).unwrap_or(title.as_str()).trim_end();
    let words = if words.matches("**").count() % 2 == 1 { words.trim_end_matches("**").trim_end() } else { words };
    Text::new(words, title.span.clone())
}

/// `404.html` begins a title, `1.2b` and `T012` are ids.
fn is_number(id: &str) -> bool {
    id.chars().filter(|c| c.is_ascii_alphabetic()).count() <= 2 && id.len() <= 20
}
