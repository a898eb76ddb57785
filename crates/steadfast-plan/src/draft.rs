use std::ops::Range;

use steadfast_model::Status;

pub(crate) use steadfast_words::blocks::Text;

/// Where something stands in the text, in bytes.
pub(crate) type Span = Range<usize>;

/// A spec as it was written, whatever it was written in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) feature: String,
    pub(crate) description: Option<String>,
    pub(crate) constraints: Vec<String>,
    pub(crate) criteria: Vec<String>,
    pub(crate) promise: Option<String>,
    /// The verification commands, by their names.
    pub(crate) commands: Vec<(Text, Text)>,
    pub(crate) phases: Vec<DraftPhase>,
    /// Phases only group: no decisions come before them, and none waits for another unless it says so.
    pub(crate) only_groups: bool,
    /// Where lines begin that might be meant as tasks, and are none.
    pub(crate) unread: Vec<usize>,
    /// All of it.
    pub(crate) span: Span,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DraftPhase {
    pub(crate) id: Text,
    pub(crate) name: String,
    /// The phases it waits for; `None` is the one before it.
    pub(crate) after: Option<Vec<Text>>,
    pub(crate) tasks: Vec<DraftTask>,
    /// What is done once for each item.
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
    /// How long it takes, in milliseconds.
    pub(crate) estimate: Option<u64>,
    /// How its author says that it stands, where that is said.
    pub(crate) standing: Option<DraftStatus>,
}

/// A status that was written down, and why.
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

    /// Adds a line to what is known of it.
    pub(crate) fn note(&mut self, line: &str, at: &Text) {
        match &mut self.notes {
            Some(notes) => {
                notes.value.push('\n');
                notes.value.push_str(line);
            }
            None => self.notes = Some(at.with(line)),
        }
    }

    /// What its author expects to see, in one text.
    pub(crate) fn criteria(&self) -> Option<String> {
        (!self.criteria.is_empty()).then(|| self.criteria.join("; "))
    }
}

impl DraftPhase {
    pub(crate) fn new(id: Text, name: impl Into<String>, tasks: Vec<DraftTask>) -> Self {
        Self { id, name: name.into(), tasks, ..Self::default() }
    }

    /// All that was authored for it, the tasks of its loop once.
    pub(crate) fn authored(&self) -> impl Iterator<Item = &DraftTask> {
        self.tasks.iter().chain(self.each.iter().flat_map(|each| &each.tasks))
    }
}

/// The text inside of `<promise>…</promise>`, if it is written as a tag.
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
