pub(crate) mod commands;
pub(crate) mod estimate;
pub(crate) mod labels;

use std::ops::Range;

use steadfast_model::Status;

pub(crate) use steadfast_words::blocks::Text;

/// A range of the text, in bytes.
pub(crate) type Span = Range<usize>;

/// A spec or a list as its author wrote it, in any format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) feature: String,
    pub(crate) description: Option<String>,
    pub(crate) constraints: Vec<String>,
    pub(crate) criteria: Vec<String>,
    pub(crate) promise: Option<String>,
    /// Verification commands by name.
    pub(crate) commands: Vec<(Text, Text)>,
    pub(crate) phases: Vec<DraftPhase>,
    /// Phases only group tasks: they have no decision task, and depend on each other only where the text says so.
    pub(crate) only_groups: bool,
    /// Starts of lines that may be meant as tasks but were not read as tasks.
    pub(crate) unread: Vec<usize>,
    /// The whole text.
    pub(crate) span: Span,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DraftPhase {
    pub(crate) id: Text,
    pub(crate) name: String,
    /// The phases it depends on. `None`: the phase before it.
    pub(crate) after: Option<Vec<Text>>,
    pub(crate) tasks: Vec<DraftTask>,
    /// Tasks that are repeated for each item.
    pub(crate) each: Option<Each>,
}

/// The loop of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Each {
    pub(crate) items: Vec<String>,
    pub(crate) tasks: Vec<DraftTask>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DraftTask {
    pub(crate) id: Text,
    pub(crate) title: Text,
    pub(crate) task_type: Option<Text>,
    pub(crate) files: Vec<Text>,
    pub(crate) notes: Option<Text>,
    pub(crate) command: Option<Text>,
    pub(crate) criteria: Vec<String>,
    pub(crate) after: Vec<Text>,
    /// The author's estimate, in milliseconds.
    pub(crate) estimate: Option<u64>,
    /// The status that the author wrote, if any.
    pub(crate) status: Option<DraftStatus>,
}

/// A status as the author wrote it, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DraftStatus {
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
}

impl DraftStatus {
    pub(crate) fn of(status: Status) -> Self {
        Self { status, reason: None }
    }

    pub(crate) fn blocked(reason: impl Into<String>) -> Self {
        Self { status: Status::Blocked, reason: Some(reason.into()) }
    }
}

impl DraftTask {
    pub(crate) fn new(id: Text, title: Text) -> Self {
        Self { id, title, ..Self::default() }
    }

    /// Adds a line to the notes.
    pub(crate) fn note(&mut self, line: &str, at: &Text) {
        match &mut self.notes {
            Some(notes) => {
                notes.value.push('\n');
                notes.value.push_str(line);
            }
            None => self.notes = Some(at.with(line)),
        }
    }

    /// Returns the success criteria as one text.
    pub(crate) fn criteria(&self) -> Option<String> {
        (!self.criteria.is_empty()).then(|| self.criteria.join("; "))
    }
}

impl DraftPhase {
    pub(crate) fn new(id: Text, name: impl Into<String>, tasks: Vec<DraftTask>) -> Self {
        Self { id, name: name.into(), tasks, ..Self::default() }
    }

    /// Returns all authored tasks; those of a loop are counted once.
    pub(crate) fn authored(&self) -> impl Iterator<Item = &DraftTask> {
        self.tasks.iter().chain(self.each.iter().flat_map(|each| &each.tasks))
    }
}

/// Returns the text of a promise, without the tag around it if there is one.
pub(crate) fn promise(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = text
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'))
        .and_then(|(name, rest)| rest.strip_suffix(&format!("</{name}>")))
        .unwrap_or(text)
        .trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}
