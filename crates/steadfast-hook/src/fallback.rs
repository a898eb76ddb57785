use steadfast_hosts::encode;
use steadfast_model::{Answer, EventName, Ruling};
use steadfast_store::{Later, Place, SessionFiles, gate_for, has_marker_before, log_line};

use crate::answer::HookEnvironment;
use crate::call::HookCall;

/// Returns the answer when the normal way fails, from arguments, environment and gate markers alone.
///
/// Advice fails silently. Before a tool, a closed gate fails closed.
pub fn fallback(call: &HookCall, around: &HookEnvironment, why: &str) -> Option<String> {
    let mut directories = around.directories(&around.cwd);
    let place = directories.find_map(|directory| Place::find(directory, around.user_state.as_deref()))?;
    log_line(&place, around.now, &format!("{} {} {}: {why}", call.host, call.via, call.event));
    let event = EventName::parse(&call.event).filter(|event| event.is_before_tool())?;
    // A session with an unknown start counts as later than the waiting draft.
    let started_at = around.session.as_ref().and_then(|session| SessionFiles::of(&place, session).peek());
    let later = Later { started_at: started_at.map_or(around.now, |state| state.started_at), known: None };
    let gate = gate_for(&place, around.session.as_ref(), later, around.now)?;
    let reason = format!("{} (steadfast could not look at this call: {why})", gate.reason);
    encode(call.host, None, event, &Answer { ruling: Ruling::Deny { reason }, ..Answer::default() })
}

/// Returns the answer before a tool when even the markers cannot be read in time: a refusal, if the name of a marker
/// matches a gate before this call. It only reads file names.
pub fn last_word(call: &HookCall, around: &HookEnvironment, why: &str) -> Option<String> {
    let event = EventName::parse(&call.event).filter(|event| event.is_before_tool())?;
    let mut directories = around.directories(&around.cwd);
    let place = directories.find_map(|directory| Place::find(directory, around.user_state.as_deref()))?;
    if !has_marker_before(&place, around.session.as_ref()) {
        return None;
    }
    let reason =
        format!("A plan gate is closed, and its marker cannot be read. (steadfast could not look at this call: {why})");
    encode(call.host, None, event, &Answer { ruling: Ruling::Deny { reason }, ..Answer::default() })
}
