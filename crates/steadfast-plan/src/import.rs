//! Lists of tasks that other programs and people keep: which one a text is, and what it says.
//!
//! Each becomes a draft, as a spec does. Ids, order, statuses and dependencies are the list's; nothing is added to it, so
//! its phases only group.

mod beads;
mod change;
mod gsd;
mod list;
mod recognise;
mod slices;
mod task_master;
pub(crate) mod waits;

use std::borrow::Cow;
use std::collections::HashSet;

use steadfast_text::{one_line, truncate};

use crate::draft::{Draft, DraftPhase, DraftTask, Text};
use crate::markdown::names::phase_name;
use crate::problem::{Code, Findings};
use crate::source::Lines;
use crate::{json, markdown};
use steadfast_words::blocks::{Block, BlockKind};

use list::TaskMark;

pub use beads::NOTE as BEADS_NOTE;
pub(crate) use recognise::recognise;
pub use slices::{has_slices, with_slice_status};

/// What a list of tasks is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListFormat {
    SpecMarkdown,
    SpecJson,
    Beads,
    OpenSpec,
    SpecKit,
    TaskMaster,
    Gsd,
    Breakdown,
    Checklist,
    Slices,
}

impl ListFormat {
    pub const ALL: [Self; 10] = [
        Self::SpecMarkdown,
        Self::SpecJson,
        Self::Beads,
        Self::OpenSpec,
        Self::SpecKit,
        Self::TaskMaster,
        Self::Gsd,
        Self::Breakdown,
        Self::Checklist,
        Self::Slices,
    ];

    /// As people are told.
    pub fn describe(self) -> &'static str {
        match self {
            Self::SpecMarkdown => "a spec in Markdown",
            Self::SpecJson => "a spec in JSON",
            Self::Beads => "the issues of beads",
            Self::OpenSpec => "the tasks of an OpenSpec change",
            Self::SpecKit => "the tasks of spec-kit",
            Self::TaskMaster => "the tasks of Task Master",
            Self::Gsd => "a plan of GSD",
            Self::Breakdown => "a breakdown into tasks",
            Self::Checklist => "a checklist",
            Self::Slices => "the slices of a TDD plan",
        }
    }

    /// Whether it is our own.
    pub fn is_spec(self) -> bool {
        matches!(self, Self::SpecMarkdown | Self::SpecJson)
    }
}

pub(crate) fn read(format: ListFormat, text: &str, name: &str, findings: &mut Findings) -> Option<Draft> {
    let draft = match format {
        ListFormat::SpecMarkdown => return markdown::read(text, name, findings),
        ListFormat::SpecJson => return json::read(text, findings),
        ListFormat::Beads => beads::read(text, findings)?,
        ListFormat::OpenSpec => change::openspec(list::read(TaskMark::Box, text, name, findings), name),
        ListFormat::SpecKit => change::spec_kit(list::read(TaskMark::Box, text, name, findings)),
        ListFormat::TaskMaster => task_master::read(text, name, findings)?,
        ListFormat::Gsd => gsd::read(text, name),
        ListFormat::Breakdown => list::read(TaskMark::Heading, text, name, findings),
        ListFormat::Checklist => list::read(TaskMark::Box, text, name, findings),
        ListFormat::Slices => slices::read(text, name, findings),
    };
    Some(settle(draft, text, name, findings))
}

/// What a ledger takes, in characters.
const TITLE: usize = 400;
const NOTES: usize = 4_000;

/// What holds of every list: it only groups, it fits into a ledger, and it waits for what is there.
fn settle(mut draft: Draft, text: &str, name: &str, findings: &mut Findings) -> Draft {
    draft.only_groups = true;
    draft.phases.retain(|phase| !phase.tasks.is_empty());
    let lines = Lines::of(text);
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let known: HashSet<String> = draft
        .phases
        .iter()
        .flat_map(|phase| phase.tasks.iter().map(|task| &task.id).chain([&phase.id]))
        .map(|id| id.value.clone())
        .collect();
    for phase in &mut draft.phases {
        for task in &mut phase.tasks {
            let own = task.id.value.clone();
            task.after.retain(|before| {
                let is_there = known.contains(&before.value);
                if !is_there {
                    let message = format!("`{own}` waits for `{}`, which is not in this list", before.value);
                    findings.add(Code::UnreadDependency, &before.span, message, "it is not waited for");
                }
                is_there && before.value != own
            });
            // Without a check there is nothing that would show them.
            if task.command.is_none() {
                for criterion in std::mem::take(&mut task.criteria) {
                    let at = task.title.clone();
                    task.note(&format!("done when: {criterion}"), &at);
                }
            }
            fit(task, file, &lines, findings);
        }
    }
    draft
}

/// What is too long for a ledger is cut, and says where the rest is.
fn fit(task: &mut DraftTask, file: &str, lines: &Lines<'_>, findings: &mut Findings) {
    let whole = one_line(&task.title.value);
    if let Cow::Owned(cut) = truncate(&whole, TITLE) {
        let rest = task.notes.take().map(|notes| format!("\n{}", notes.value)).unwrap_or_default();
        task.notes = Some(task.title.with(whole + &rest));
        task.title.value = cut;
    } else {
        task.title.value = whole;
    }
    if let Some(notes) = &mut task.notes {
        let lines: Vec<&str> = notes.value.lines().map(str::trim_end).collect();
        notes.value = lines.join("\n").trim_end().to_owned();
    }
    let Some(notes) = task.notes.as_mut().filter(|notes| notes.value.chars().count() > NOTES) else { return };
    let (line, _) = lines.position(task.title.span.start);
    let rest = format!("… (all of it: {file}:{line})");
    let kept = NOTES.saturating_sub(rest.chars().count());
    notes.value = notes.value.chars().take(kept).chain(rest.chars()).collect();
    let message = format!("the notes of `{}` are cut after {NOTES} characters", task.id.value);
    findings.add(Code::CutNotes, &notes.span, message, "they name the line where all of it is");
}

/// The phases of a list, each under an id of its own.
#[derive(Default)]
struct Phases {
    taken: HashSet<String>,
}

impl Phases {
    /// The phase that a heading begins, and its number where it has one.
    fn begin(&mut self, heading: &Text) -> (DraftPhase, Option<String>) {
        let (id, name) = phase_name(heading);
        let number = id.as_deref().and_then(|id| id.strip_prefix("phase-")).map(str::to_owned);
        let first = self.taken.len() + 1;
        let id = id
            .filter(|id| !self.taken.contains(id))
            .or_else(|| (first..).map(|number| format!("section-{number}")).find(|id| !self.taken.contains(id)));
        let id = Text::new(id.unwrap_or_default(), heading.span.clone());
        self.taken.insert(id.value.clone());
        (DraftPhase::new(id, name, Vec::new()), number)
    }
}

/// A line of the list as a note has it.
fn noted(block: &Block) -> String {
    let text = block.text.as_str();
    match &block.kind {
        BlockKind::Heading(level) => format!("{} {text}", "#".repeat(*level)),
        BlockKind::Bullet => format!("- {text}"),
        BlockKind::Ordered(whole) => whole.value.clone(),
        BlockKind::Row(cells) => format!("| {} |", cells.iter().map(Text::as_str).collect::<Vec<_>>().join(" | ")),
        BlockKind::Blank | BlockKind::Box(_) | BlockKind::Text | BlockKind::Fence | BlockKind::Code => text.to_owned(),
    }
}
