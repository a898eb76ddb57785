//! The moments at which a session needs its human: a question, a plan that waits, a permission prompt, a stop that Steadfast
//! let pass with open tasks.

use steadfast_engine::PolicyDecision;
use steadfast_model::{Action, Change, Event, EventKind, Release, Ruling, ToolCall, fnv};

/// A moment, with a key that is the same whenever its event is repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) key: String,
    pub(crate) text: String,
}

impl Notice {
    pub(crate) fn of(event: &Event, decision: &PolicyDecision) -> Option<Self> {
        let refused = matches!(decision.answer.ruling, Ruling::Deny { .. });
        let text = match &event.kind {
            EventKind::Stop(_) => released(&decision.changes)?.to_owned(),
            EventKind::PreTool(call) if call.action == Action::Ask && !refused => "asks you a question".to_owned(),
            EventKind::Permission(ToolCall { action: Action::LeavePlan, .. }) if !refused => {
                "has a plan that waits for your approval".to_owned()
            }
            // The dialog of a question is the question itself.
            EventKind::Permission(call) if call.action != Action::Ask && decision.answer.ruling == Ruling::Pass => {
                format!("asks for your permission to use {}", call.tool)
            }
            _ => return None,
        };
        Some(Self { key: key(event), text: format!("{} session in {} {text}", event.host.full_name(), folder(event)) })
    }
}

/// What a stop with open tasks needs. A repeated stop has no changes.
fn released(changes: &[Change]) -> Option<&'static str> {
    changes.iter().find_map(|change| match change {
        Change::StopReleased(Release::Capped) => Some("stopped with open tasks (capped)"),
        Change::StopReleased(Release::AllBlocked) => Some("stopped: all open tasks are blocked"),
        Change::StopReleased(Release::NeedsUser) => Some("stopped and needs you"),
        Change::StopReleased(Release::NotApproved) => Some("stopped: its plan waits for your approval"),
        _ => None,
    })
}

fn key(event: &Event) -> String {
    let call = match &event.kind {
        EventKind::PreTool(call) | EventKind::Permission(call) => call.id.as_ref(),
        _ => None,
    };
    // A stop is repeated without changes, so its time tells it from the next one.
    let which = call.map_or_else(|| event.at.0.to_string(), ToString::to_string);
    let parts = [event.session.as_str(), event.kind.label(), &which];
    format!("{:016x}", fnv(parts.map(str::as_bytes)))
}

/// The name of the folder, because several sessions may run.
fn folder(event: &Event) -> &str {
    event.cwd.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/")
}
