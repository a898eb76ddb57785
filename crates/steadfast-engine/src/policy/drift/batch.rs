//! Corrections for several calls of one model answer. The calls were made before any of them was answered. If the host
//! reports that all of them have returned, the agent hears one correction, the strictest.

use steadfast_model::{Batch, Drift as Memory, DriftChange, Event, Level, Verdict};

/// Gives a correction now, or keeps it until the other calls have returned. A subagent's calls are not part of the main
/// thread's answer.
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

/// Returns how much a step counts as an answer to the last correction: nothing while the correction itself waits.
pub(super) fn answer_weight(memory: &Memory) -> u8 {
    u8::from(!matches!(memory.batch, Batch::Waiting { .. }))
}

/// Judges the end of a batch of calls.
pub(super) fn on_end(memory: &Memory, event: &Event) -> (Verdict, Option<DriftChange>) {
    let reported = Some(DriftChange::Batch(Batch::Reported));
    match &memory.batch {
        _ if event.agent.is_some() => (Verdict::Pass, None),
        Batch::Unreported => (Verdict::Pass, reported),
        Batch::Reported => (Verdict::Pass, None),
        Batch::Waiting { text, .. } => (Verdict::Context(text.clone()), reported),
    }
}

/// Drops a kept correction when the human speaks first; it is about work that they have seen.
pub(super) fn dropped(memory: &Memory) -> Option<DriftChange> {
    matches!(memory.batch, Batch::Waiting { .. }).then_some(DriftChange::Batch(Batch::Reported))
}
