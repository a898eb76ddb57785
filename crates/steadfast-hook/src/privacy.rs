//! Secrets go before anything is decided, and so before anything is written.

use std::borrow::Cow;

use steadfast_model::{Action, Event, EventKind, Outcome};
use steadfast_store::redact::redact as without_secrets;

pub(crate) fn redact(event: &mut Event) {
    match &mut event.kind {
        EventKind::Prompt { text, .. } | EventKind::StopFailed { error: text } => clean(text),
        EventKind::PreTool(call) | EventKind::Permission(call) => clean_action(&mut call.action),
        EventKind::PostTool(result) => {
            clean_action(&mut result.call.action);
            if let Outcome::Failed { error } = &mut result.outcome {
                clean(error);
            }
        }
        EventKind::Stop(stopping) | EventKind::SubagentStop(stopping) => {
            if let Some(message) = &mut stopping.last_message {
                clean(message);
            }
        }
        EventKind::SessionStart { .. }
        | EventKind::SessionEnd { .. }
        | EventKind::Command { .. }
        | EventKind::ToolBatch { .. }
        | EventKind::SubagentStart
        | EventKind::PreCompact { .. }
        | EventKind::PostCompact { .. }
        | EventKind::Notification { .. }
        | EventKind::ConfigChange { .. }
        | EventKind::Interrupt
        | EventKind::TaskChanged(_)
        | EventKind::Paused { .. } => {}
    }
}

fn clean_action(action: &mut Action) {
    match action {
        Action::Shell { command } => clean(command),
        Action::Write { paths } | Action::Read { paths } => paths.iter_mut().for_each(clean),
        Action::Delegate { .. }
        | Action::Skill { .. }
        | Action::Ask
        | Action::LeavePlan
        | Action::Mcp { .. }
        | Action::Other => {}
    }
}

fn clean(text: &mut String) {
    if let Cow::Owned(clean) = without_secrets(text) {
        *text = clean;
    }
}
