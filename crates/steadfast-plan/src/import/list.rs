//! One reader for task lists in Markdown. Tasks are boxes below headings, where a nested box is a part of the outer
//! one, or headings such as `### Task 1.2: Title`, where boxes are the success criteria.

use std::collections::HashSet;

use super::waits::{Part, add_parts};
use super::{Phases, noted};
use crate::draft::{Draft, DraftTask, Text, estimate, labels};
use crate::markdown::fields::{Field, field, names};
use crate::markdown::names::{is_nothing, is_phase, numbered, plain};
use crate::markdown::{after, blocks, check, stem};
use crate::problem::{Code, Findings};
use steadfast_words::blocks::{Block, BlockKind};

/// The mark that makes a line a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskMark {
    Box,
    Heading,
}

pub(super) fn read(mark: TaskMark, text: &str, name: &str, findings: &mut Findings) -> Draft {
    let mut reader = Reader {
        mark,
        findings,
        draft: Draft { span: 0..text.len().min(1), ..Draft::default() },
        phases: Phases::default(),
        numbers: Vec::new(),
        wholes: Vec::new(),
        open: Vec::new(),
        is_described: mark == TaskMark::Heading,
        in_list: false,
        after_blank: false,
    };
    for block in blocks(text) {
        reader.block(&block);
    }
    let parts = reader.name_tasks();
    let Reader { mut draft, findings, .. } = reader;
    if draft.feature.is_empty() {
        draft.feature = stem(name);
    }
    after::resolve(&mut draft, findings);
    add_parts(&mut draft, &parts);
    draft
}

/// Reads `Task 1.2: Title`.
pub(super) fn task_heading(text: &Text) -> Option<(Text, Text)> {
    let words = text.as_str().trim_start_matches(['*', '[', ' ']);
    words.get(..5).filter(|word| word.eq_ignore_ascii_case("task "))?;
    numbered(text)
}

struct Reader<'f> {
    mark: TaskMark,
    findings: &'f mut Findings,
    draft: Draft,
    phases: Phases,
    /// Number of each phase, for the tasks in it that have none.
    numbers: Vec<Option<String>>,
    /// For each phase and task, the index of the task that it is a part of.
    wholes: Vec<Vec<Option<usize>>>,
    /// Phase and index of the tasks that may contain the next one, each with its indent.
    open: Vec<(usize, usize, usize)>,
    is_described: bool,
    /// Inside a list of boxes, with no paragraph since.
    in_list: bool,
    after_blank: bool,
}

impl Reader<'_> {
    fn block(&mut self, block: &Block) {
        let Block { kind, text, indent, .. } = block;
        match (kind, self.mark) {
            (BlockKind::Blank, _) => self.is_described |= self.draft.description.is_some(),
            (BlockKind::Heading(1), mark)
                if self.draft.feature.is_empty() && (mark == TaskMark::Heading || self.draft.phases.is_empty()) =>
            {
                let words = plain(text.as_str());
                self.draft.feature = words.trim_start_matches("Task Breakdown: ").to_owned();
            }
            (BlockKind::Heading(level), TaskMark::Heading) => match task_heading(text) {
                Some((id, title)) => self.task(Some(id), title, 0),
                None if *level <= 2 => self.phase(text),
                None => self.note(block),
            },
            (BlockKind::Heading(level), TaskMark::Box) if *level <= 2 || is_phase(text) => self.phase(text),
            // A deeper heading only structures a phase.
            (BlockKind::Heading(_), TaskMark::Box) => self.open.clear(),
            (BlockKind::Box(_), TaskMark::Heading) => match self.current() {
                Some(task) => task.criteria.push(text.value.clone()),
                None => self.draft.criteria.push(text.value.clone()),
            },
            (BlockKind::Box(mark), TaskMark::Box) if !text.as_str().is_empty() => {
                let (id, title) = match numbered(text).filter(|(id, _)| is_number(id.as_str())) {
                    Some((id, title)) => (Some(id), raw(text, &title)),
                    None => (None, text.clone()),
                };
                self.task(id, title, *indent);
                self.in_list = true;
                if let Some(task) = self.current() {
                    task.status = labels::status_of_box(*mark);
                }
            }
            (BlockKind::Box(_), TaskMark::Box) => {}
            // A code fence that is not closed must not hide the tasks after it.
            (BlockKind::Code, TaskMark::Heading) => match heading_in(text).and_then(|heading| task_heading(&heading)) {
                Some((id, title)) => self.task(Some(id), title, 0),
                None => self.note(block),
            },
            (BlockKind::Bullet | BlockKind::Text | BlockKind::Ordered(_), _) if self.is_field(block.whole()) => {}
            (BlockKind::Text, _) => {
                if *indent == 0 && self.after_blank {
                    self.in_list = false;
                }
                if self.open.is_empty() {
                    self.describe(text);
                }
                self.note(block);
            }
            (BlockKind::Bullet | BlockKind::Ordered(_), _) => {
                self.beside(block.whole(), *indent);
                self.note(block);
            }
            (BlockKind::Row(_) | BlockKind::Fence | BlockKind::Code, _) => self.note(block),
        }
        self.after_blank = matches!(kind, BlockKind::Blank);
    }

    /// Handles a line at the level of the boxes: its box was forgotten, or it is not a task.
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
        self.wholes.push(Vec::new());
    }

    fn task(&mut self, id: Option<Text>, title: Text, indent: usize) {
        if self.draft.phases.is_empty() {
            self.phase(&title.with("Tasks"));
        }
        while self.open.last().is_some_and(|(.., open)| *open >= indent) {
            self.open.pop();
        }
        let phase = self.draft.phases.len() - 1;
        let place = self.draft.phases[phase].tasks.len();
        let at = title.span.start;
        let id = id.unwrap_or_else(|| Text::new("", at..at));
        self.draft.phases[phase].tasks.push(DraftTask::new(id, title));
        self.wholes[phase].push(self.open.last().map(|(_, place, _)| *place));
        self.open.push((phase, place, indent));
    }

    fn current(&mut self) -> Option<&mut DraftTask> {
        let (phase, place, _) = *self.open.last()?;
        Some(&mut self.draft.phases[phase].tasks[place])
    }

    fn is_field(&mut self, text: &Text) -> bool {
        let mark = self.mark;
        let Some((phase, place, _)) = self.open.last().copied() else { return false };
        let task = &mut self.draft.phases[phase].tasks[place];
        match (field(text), mark) {
            (Some((Field::After, value)), _) => {
                task.after.extend(names(&value).into_iter().filter(|name| !is_nothing(name.as_str())));
            }
            (Some((Field::Files, value)), _) => task.files.extend(names(&value)),
            // An estimate that cannot be read goes into the notes.
            (Some((Field::Estimate, value)), TaskMark::Box) => {
                task.estimate = estimate::length(value.as_str());
                return task.estimate.is_some();
            }
            (Some((Field::Status, value)), TaskMark::Heading) => {
                task.status = labels::status(&value, self.findings);
            }
            (Some((Field::Verify, value)), TaskMark::Heading) if value.as_str().starts_with('`') => {
                task.command = check::command(&value, self.findings);
            }
            _ => return false,
        }
        true
    }

    fn note(&mut self, block: &Block) {
        if let Some(task) = self.current() {
            task.note(&noted(block), &block.text);
        }
    }

    /// Takes the first paragraph as the description.
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

    /// Gives ids to tasks without one, after all used ids are known. Returns which task is a part of which.
    fn name_tasks(&mut self) -> Vec<Part> {
        let mut taken: HashSet<String> = HashSet::new();
        for task in self.draft.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            let id = &mut task.id;
            if id.value.is_empty() || taken.insert(id.value.clone()) {
                continue;
            }
            let own = std::mem::take(&mut id.value);
            id.value = (2_u32..).map(|n| format!("{own}-{n}")).find(|id| !taken.contains(id)).unwrap_or_default();
            taken.insert(id.value.clone());
            let message = format!("the id `{own}` is used twice; this task becomes `{}`", id.value);
            self.findings.add(Code::RenamedId, &id.span, message, "give this task an id of its own");
        }
        let mut parts = Vec::new();
        let with_tasks = self.draft.phases.iter_mut().zip(&self.wholes).zip(&self.numbers);
        let with_tasks = with_tasks.filter(|((phase, _), _)| !phase.tasks.is_empty());
        for (index, ((phase, wholes), number)) in with_tasks.enumerate() {
            let prefix = number.clone().unwrap_or_else(|| (index + 1).to_string());
            let mut counts = vec![0_usize; wholes.len() + 1];
            for (place, whole) in wholes.iter().enumerate() {
                let above = whole.map_or_else(|| prefix.clone(), |whole| phase.tasks[whole].id.value.clone());
                let count = &mut counts[whole.map_or(0, |whole| whole + 1)];
                *count += 1;
                if phase.tasks[place].id.value.is_empty() {
                    let free = (*count..).find(|number| !taken.contains(&format!("{above}.{number}")));
                    *count = free.unwrap_or(*count);
                    let id = format!("{above}.{count}");
                    taken.insert(id.clone());
                    phase.tasks[place].id.value = id;
                }
                parts.extend(whole.map(|_| (phase.tasks[place].id.value.clone(), above)));
            }
        }
        parts
    }
}

/// Returns the title word for word; only emphasis that opened before the id is closed.
fn raw(text: &Text, title: &Text) -> Text {
    let words = text.as_str().get(title.span.start - text.span.start..).unwrap_or(title.as_str()).trim_end();
    let words = if words.matches("**").count() % 2 == 1 { words.trim_end_matches("**").trim_end() } else { words };
    title.with(words)
}

/// Tells ids such as `1.2b` and `T012` from the beginning of a title such as `404.html`.
fn is_number(id: &str) -> bool {
    id.chars().filter(|c| c.is_ascii_alphabetic()).count() <= 2 && id.len() <= 20
}

/// Returns the words of a heading inside a code fence.
fn heading_in(text: &Text) -> Option<Text> {
    let words = text.as_str().trim_start_matches('#');
    let level = text.as_str().len() - words.len();
    let words = words.strip_prefix(' ')?.trim();
    (3..=4).contains(&level).then(|| text.part(words))
}
