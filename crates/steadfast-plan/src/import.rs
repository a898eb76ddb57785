//! Imports task lists of other tools: recognises the format and reads it.
//!
//! Each list becomes a draft, as a spec does. Ids, order, statuses and dependencies are those of the list; nothing is
//! added, so its phases only group.

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

/// The format of a task list.
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

    /// The name shown to people.
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

    /// Reports whether it is a format of Steadfast.
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
    Some(normalize(draft, text, name, findings))
}

/// Limits of the ledger, in characters.
const TITLE: usize = 400;
const NOTES: usize = 4_000;

/// Applies the rules of every list: phases only group, texts fit the ledger, dependencies exist.
fn normalize(mut draft: Draft, text: &str, name: &str, findings: &mut Findings) -> Draft {
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
                    let message = format!("`{own}` depends on `{}`, which is not in this list", before.value);
                    findings.add(
                        Code::UnreadDependency,
                        &before.span,
                        message,
                        "this dependency is ignored; add the task or remove the dependency",
                    );
                }
                is_there && before.value != own
            });
            // Without a check, the criteria go into the notes.
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

/// Cuts texts that are too long for the ledger, and names the line of the full text.
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
    let rest = format!("… (full text: {file}:{line})");
    let kept = NOTES.saturating_sub(rest.chars().count());
    notes.value = notes.value.chars().take(kept).chain(rest.chars()).collect();
    let message = format!("the notes of `{}` are cut to {NOTES} characters", task.id.value);
    findings.add(Code::CutNotes, &notes.span, message, "the notes end with the line of the full text");
}

/// The phases of a list, each with its own id.
#[derive(Default)]
struct Phases {
    taken: HashSet<String>,
}

impl Phases {
    /// Starts the phase of a heading; also returns its number if it has one.
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

/// Formats a line of the list for the notes.
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
