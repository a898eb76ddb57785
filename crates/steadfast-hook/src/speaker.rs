//! Distinguishes a human's prompt from a text that the agent scheduled. A host delivers both in the same way.

use steadfast_hosts::{HandedOver, handed_over};
use steadfast_model::{Event, EventKind, PromptOrigin};
use steadfast_store::{Place, Scheduled, is_scheduled, is_scheduled_command, keep_scheduled, log_line};

/// Saves texts that a call schedules, and marks a prompt with such a text.
pub(crate) fn check(place: &Place, event: &mut Event, payload: &[u8]) {
    let now = event.at;
    match &mut event.kind {
        EventKind::PreTool(call) => {
            let texts = handed_over(&call.tool, payload);
            if texts.is_empty() {
                return;
            }
            let texts = texts.into_iter().map(|HandedOver { text, once }| Scheduled { text, once }).collect();
            if let Err(error) = keep_scheduled(place, texts, now) {
                log_line(place, now, &format!("cannot keep the text that `{}` schedules: {error}", call.tool));
            }
        }
        EventKind::Prompt { text, origin: origin @ PromptOrigin::Human, typed: false }
            if is_scheduled(place, text, now) =>
        {
            *origin = PromptOrigin::Scheduled;
        }
        // As a human's command it would bind a plan or close a gate.
        EventKind::Command { name } if is_scheduled_command(place, name, now) => {
            event.kind = EventKind::prompt(format!("/{}", name.trim_start_matches('/')), PromptOrigin::Scheduled);
        }
        _ => {}
    }
}
