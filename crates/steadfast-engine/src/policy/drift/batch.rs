//! The calls of one model answer. They were made before any of them was answered: where the host says that they are all
//! back, the agent is told once, and of the gravest.

use steadfast_model::{Batch, Drift as Memory, DriftChange, Event, Level, Verdict};

/// Says it now, or keeps it for when the others are back. A subagent's calls are not those of the main thread.
pub(super) fn tell(memory: &Memory, event: &Event, level: Level, text: String) -> (Verdict, Option<DriftChange>) {
    match &memory.batch {
        _ if event.agent.is_some() => (Verdict::Context(text), None),
        Batch::Unreported => (Verdict::Context(text), None),
        Batch::Waiting { level: graver, .. } if *graver > level => (Verdict::Pass, None),
        Batch::Reported | Batch::Waiting { .. } => {
            (Verdict::Pass, Some(DriftChange::Batch(Batch::Waiting { level, text })))
        }
    }
}

/// How much a step counts as an answer to what was said before: not at all, where that waits itself.
pub(super) fn heard(memory: &Memory) -> u8 {
    u8::from(!matches!(memory.batch, Batch::Waiting { .. }))
}

/// They are all back.
pub(super) fn over(memory: &Memory, event: &Event) -> (Verdict, Option<DriftChange>) {
    let reported = Some(DriftChange::Batch(Batch::Reported));
    match &memory.batch {
        _ if event.agent.is_some() => (Verdict::Pass, None),
        Batch::Unreported => (Verdict::Pass, reported),
        Batch::Reported => (Verdict::Pass, None),
        Batch::Waiting { text, .. } => (Verdict::Context(text.clone()), reported),
    }
}

/// The human spoke before they were: what was to be said is about what they saw themselves.
pub(super) fn dropped(memory: &Memory) -> Option<DriftChange> {
    matches!(memory.batch, Batch::Waiting { .. }).then_some(DriftChange::Batch(Batch::Reported))
}
