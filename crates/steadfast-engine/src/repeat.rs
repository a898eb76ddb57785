//! The same event through two wirings is counted once and answered the same.

use steadfast_model::{Answer, Change, Event, EventKind, Held, LastStop, Seen, State, ToolUseId, fnv};

/// The answer already given, if this event has been here before.
pub(crate) fn answered(state: &State, event: &Event) -> Option<Answer> {
    if let Some(key) = tool_key(event) {
        return state.seen.iter().find(|seen| seen.key == key).map(|seen| seen.answer.repeated());
    }
    let last = earlier_stop(state, event)?;
    Some(last.answer.repeated())
}

/// What an answer given again changes.
pub(crate) fn again(state: &State, event: &Event) -> Vec<Change> {
    let Some(last) = earlier_stop(state, event) else { return Vec::new() };
    let mut vias = last.vias.clone();
    vias.push(event.via);
    vec![answered_stop(event, LastStop { vias, ..last.clone() })]
}

/// What is kept of an answer for the same event coming again.
pub(crate) fn remember(state: &State, event: &Event, answer: &Answer) -> Option<Change> {
    if let Some(key) = tool_key(event) {
        return Some(Change::Answered(Seen { key, answer: answer.repeated() }));
    }
    let key = stop_key(event)?;
    // A subagent without a task is never refused: nothing has to be remembered of it.
    if is_subagents(event) && held(state, event).is_none() {
        return None;
    }
    Some(answered_stop(event, LastStop { key, vias: vec![event.via], answer: answer.repeated() }))
}

/// A stop that was answered through other wirings, but not yet through this one. A second stop through the same
/// wiring is a new stop, even if the agent says the same words.
fn earlier_stop<'a>(state: &'a State, event: &Event) -> Option<&'a LastStop> {
    let key = stop_key(event)?;
    let last = if is_subagents(event) { &held(state, event)?.last } else { &state.stop.last };
    last.as_ref().filter(|last| last.key == key && !last.vias.contains(&event.via))
}

fn answered_stop(event: &Event, last: LastStop) -> Change {
    match &event.agent {
        Some(agent) if is_subagents(event) => Change::SubagentAnswered { agent: agent.id.clone(), last },
        _ => Change::StopAnswered(last),
    }
}

fn is_subagents(event: &Event) -> bool {
    matches!(event.kind, EventKind::SubagentStop(_))
}

fn held<'a>(state: &'a State, event: &Event) -> Option<&'a Held> {
    state.held_by(&event.agent.as_ref()?.id)
}

fn tool_key(event: &Event) -> Option<u64> {
    let (phase, id): (u8, &ToolUseId) = match &event.kind {
        EventKind::PreTool(call) => (1, call.id.as_ref()?),
        EventKind::PostTool(result) => (2, result.call.id.as_ref()?),
        _ => return None,
    };
    Some(fnv([&[phase][..], id.as_str().as_bytes()]))
}

fn stop_key(event: &Event) -> Option<u64> {
    let (EventKind::Stop(stopping) | EventKind::SubagentStop(stopping)) = &event.kind else { return None };
    let turn = event.turn.as_deref().unwrap_or_default();
    let message = stopping.last_message.as_deref().unwrap_or_default();
    Some(fnv([turn.as_bytes(), &[u8::from(stopping.again)], message.as_bytes()]))
}
