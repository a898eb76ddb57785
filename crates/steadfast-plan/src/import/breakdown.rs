//! A task is a heading, `### Task 1.2: Title`, with what is to be known of it below. Boxes say when it is done.

use std::collections::HashMap;

use super::{Phases, note};
use crate::draft::{Draft, DraftTask, Text};
use crate::markdown::check;
use crate::markdown::fields::{Field, field, names};
use crate::markdown::line::{Line, lines};
use crate::markdown::names::{is_nothing, numbered, plain};
use crate::markdown::{after, stem};
use crate::problem::{Code, Findings};
use crate::standing;

pub(super) fn read(text: &str, name: &str, findings: &mut Findings) -> Draft {
    let mut reader = Reader {
        draft: Draft { span: 0..text.len().min(1), ..Draft::default() },
        phases: Phases::default(),
        findings,
        current: None,
        ids: HashMap::new(),
    };
    for line in lines(text) {
        reader.line(&line);
    }
    let Reader { mut draft, findings, .. } = reader;
    if draft.feature.is_empty() {
        draft.feature = stem(name);
    }
    after::resolve(&mut draft, findings);
    draft
}

/// `Task 1.2: Title`.
pub(super) fn task_heading(text: &Text) -> Option<(Text, Text)> {
    let words = text.as_str().trim_start_matches(['*', '[', ' ']);
    words.get(..5).filter(|word| word.eq_ignore_ascii_case("task "))?;
    numbered(text)
}

struct Reader<'f> {
    draft: Draft,
    phases: Phases,
    findings: &'f mut Findings,
    /// Phase and place.
    current: Option<(usize, usize)>,
    /// How often each id was seen.
    ids: HashMap<String, u32>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line) {
        match line {
            Line::Blank => {}
            Line::Heading { level: 1, text } if self.draft.feature.is_empty() => {
                let words = plain(text.as_str());
                self.draft.feature = words.trim_start_matches("Task Breakdown: ").to_owned();
            }
            Line::Heading { level, text } => match task_heading(text) {
                Some((id, title)) => self.task(id, title),
                None if *level <= 2 => self.phase(text),
                None => self.note(&format!("{} {}", "#".repeat(*level), text.as_str()), text),
            },
            // A fence that was not ended does not swallow the tasks after it.
            Line::Fenced { text } => match heading_in(text).and_then(|heading| task_heading(&heading)) {
                Some((id, title)) => self.task(id, title),
                None => self.note(text.as_str(), text),
            },
            Line::Box { text, .. } => match self.task_now() {
                Some(task) => task.criteria.push(text.value.clone()),
                None => self.draft.criteria.push(text.value.clone()),
            },
            Line::Bullet { text, .. } => self.field_or_note(&format!("- {}", text.as_str()), text),
            Line::Text { text, .. } | Line::Ordered { whole: text, .. } => self.field_or_note(text.as_str(), text),
            Line::Row { cells } => {
                let row: Vec<&str> = cells.iter().map(Text::as_str).collect();
                if let Some(first) = cells.first() {
                    self.note(&format!("| {} |", row.join(" | ")), first);
                }
            }
        }
    }

    fn phase(&mut self, heading: &Text) {
        self.current = None;
        let (phase, _) = self.phases.begin(heading);
        self.draft.phases.push(phase);
    }

    fn task(&mut self, mut id: Text, title: Text) {
        if self.draft.phases.is_empty() {
            self.phase(&Text::new("Tasks", id.span.clone()));
        }
        let count = self.ids.entry(id.value.clone()).or_default();
        *count += 1;
        if *count > 1 {
            let own = id.value.clone();
            id.value = format!("{own}-{count}");
            let message = format!("the id `{own}` is there before: this task is `{}`", id.value);
            self.findings.add(Code::RenamedId, &id.span, message, "give it another id");
        }
        let phase = self.draft.phases.len() - 1;
        let tasks = &mut self.draft.phases[phase].tasks;
        tasks.push(DraftTask::new(id, title));
        self.current = Some((phase, tasks.len() - 1));
    }

    fn task_now(&mut self) -> Option<&mut DraftTask> {
        let (phase, place) = self.current?;
        Some(&mut self.draft.phases[phase].tasks[place])
    }

    fn field_or_note(&mut self, line: &str, text: &Text) {
        let Some((phase, place)) = self.current else { return };
        let task = &mut self.draft.phases[phase].tasks[place];
        match field(text) {
            Some((Field::After, value)) => {
                task.after.extend(names(&value).into_iter().filter(|name| !is_nothing(name.as_str())));
            }
            Some((Field::Files, value)) => task.files.extend(names(&value)),
            Some((Field::Status, value)) => task.standing = standing::in_words(&value, self.findings),
            Some((Field::Verify, value)) if value.as_str().starts_with('`') => {
                task.command = check::command(&value, self.findings);
            }
            _ => note(task, line, text),
        }
    }

    fn note(&mut self, line: &str, at: &Text) {
        if let Some(task) = self.task_now() {
            note(task, line, at);
        }
    }
}

/// The words of a heading that stands in a fence.
fn heading_in(text: &Text) -> Option<Text> {
    let whole = text.as_str();
    let words = whole.trim_start_matches('#');
    let level = whole.len() - words.len();
    let words = words.strip_prefix(' ')?.trim();
    let start = text.span.start + (words.as_ptr() as usize - whole.as_ptr() as usize);
    (3..=4).contains(&level).then(|| Text::new(words, start..start + words.len()))
}
