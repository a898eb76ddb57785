//! Corrections for several calls of one model answer. The calls were made before any of them was answered. If the host
//! reports that all of them have returned, the agent hears one correction, the strictest.

use steadfast_model::{Batch, Drift as Memory, DriftChange, Event, Level, Verdict, Via};

/// Gives a correction now, or keeps it until the other calls have returned. A subagent's calls are not part of the main
/// thread's answer. The proxy puts each correction into the result of its call and reports no batches.
pub(super) fn tell(memory: &Memory, event: &Event, level: Level, text: String, line: Option<String>) -> Told {
    match &memory.batch {
        _ if event.agent.is_some() || event.via == Via::Proxy => Told::now(text, line),
        Batch::Unreported => Told::now(text, line),
        Batch::Waiting { level: graver, .. } if *graver > level => Told::default(),
        Batch::Reported | Batch::Waiting { .. } => {
            Told { change: Some(DriftChange::Batch(Batch::Waiting { level, text, line })), ..Told::default() }
        }
    }
}

/// A correction for the agent, with its line for the human.
#[derive(Default)]
pub(super) struct Told {
    pub(super) verdict: Verdict,
    pub(super) line: Option<String>,
    pub(super) change: Option<DriftChange>,
}

impl Told {
    fn now(text: String, line: Option<String>) -> Self {
        Self { verdict: Verdict::Context(text), line, change: None }
    }
}

/// Returns how much a step counts as an answer to the last correction: nothing while the correction itself waits.
pub(super) fn answer_weight(memory: &Memory) -> u8 {
    u8::from(!matches!(memory.batch, Batch::Waiting { .. }))
}

/// Judges the end of a batch of calls.
pub(super) fn on_end(memory: &Memory, event: &Event) -> Told {
    let change = Some(DriftChange::Batch(Batch::Reported));
    match &memory.batch {
        _ if event.agent.is_some() => Told::default(),
        Batch::Unreported => Told { change, ..Told::default() },
        Batch::Reported => Told::default(),
        Batch::Waiting { text, line, .. } => Told { change, ..Told::now(text.clone(), line.clone()) },
    }
}

/// Drops a kept correction when the human speaks first; it is about work that they have seen.
pub(super) fn dropped(memory: &Memory) -> Option<DriftChange> {
    matches!(memory.batch, Batch::Waiting { .. }).then_some(DriftChange::Batch(Batch::Reported))
}
