//! Counts an event that arrives through two wirings once, and answers it the same.

use steadfast_model::{Answer, Change, Event, EventKind, LastStop, Seen, State, SubagentTasks, ToolCall, Vias, fnv};

/// Returns the earlier answer if this event has been answered.
pub(crate) fn earlier_answer(state: &State, event: &Event) -> Option<Answer> {
    if tool_key(event).is_some() {
        return earlier_call(state, event).map(|seen| seen.answer.repeated());
    }
    let last = earlier_stop(state, event)?;
    Some(last.answer.repeated())
}

/// Returns the changes for an answer that is given again.
pub(crate) fn changes_of_repeat(state: &State, event: &Event) -> Vec<Change> {
    if let Some(seen) = earlier_call(state, event) {
        return vec![Change::Answered(Seen { vias: seen.vias.with(event.via), ..seen.clone() })];
    }
    let Some(last) = earlier_stop(state, event) else { return Vec::new() };
    let mut vias = last.vias.clone();
    vias.push(event.via);
    vec![answered_stop(event, LastStop { vias, ..last.clone() })]
}

/// Remembers an answer, in case the same event comes again.
pub(crate) fn remember(state: &State, event: &Event, answer: &Answer) -> Option<Change> {
    if let Some(key) = tool_key(event) {
        return Some(Change::Answered(Seen { key, vias: Vias::of(event.via), answer: answer.repeated() }));
    }
    let key = stop_key(event)?;
    // A subagent without a task is never refused, so nothing is remembered.
    if is_subagents(event) && held(state, event).is_none() {
        return None;
    }
    Some(answered_stop(event, LastStop { key, vias: vec![event.via], answer: answer.repeated() }))
}

/// Returns a call that was answered through other wirings, but not yet through this one. A second one through the same
/// wiring is a new call, even under the same id: some models count their ids from the start in every answer.
fn earlier_call<'a>(state: &'a State, event: &Event) -> Option<&'a Seen> {
    let key = tool_key(event)?;
    state.seen.iter().find(|seen| seen.key == key && !seen.vias.contains(event.via))
}

/// Returns a stop that was answered through other wirings, but not yet through this one. A second stop through the same
/// wiring is a new stop, even if the agent repeats its words.
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

fn held<'a>(state: &'a State, event: &Event) -> Option<&'a SubagentTasks> {
    state.tasks_of(&event.agent.as_ref()?.id)
}

fn tool_key(event: &Event) -> Option<u64> {
    let (phase, call): (u8, &ToolCall) = match &event.kind {
        EventKind::PreTool(call) => (1, call),
        EventKind::PostTool(result) => (2, &result.call),
        _ => return None,
    };
    let id = call.id.as_ref()?.as_str().as_bytes();
    // The same id with another tool or input is another call.
    let input = event.input.unwrap_or_default().to_le_bytes();
    Some(fnv([&[phase][..], id, call.tool.as_bytes(), &input]))
}

fn stop_key(event: &Event) -> Option<u64> {
    let (EventKind::Stop(stopping) | EventKind::SubagentStop(stopping)) = &event.kind else { return None };
    let turn = event.turn.as_deref().unwrap_or_default();
    let message = stopping.last_message.as_deref().unwrap_or_default();
    Some(fnv([turn.as_bytes(), &[u8::from(stopping.again)], message.as_bytes()]))
}

#[cfg(test)]
mod tests {
    use steadfast_model::{Action, Facts, Host, Millis, PromptOrigin, Ruling, SessionId, ToolUseId, Via};

    use super::*;
    use crate::decide;

    fn before(command: &str, input: u64, via: Via) -> Event {
        let id = Some(ToolUseId::new("call_0"));
        let call = ToolCall { id, tool: "Bash".into(), action: Action::shell(command), words: Vec::new() };
        let event = Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), EventKind::PreTool(call));
        Event { input: Some(input), via, ..event }
    }

    fn go(state: &mut State, event: &Event) -> bool {
        let decision = decide(state, event, &Facts::default());
        state.advance(state.sequence + 1, event.at, &decision.changes);
        matches!(decision.answer.ruling, Ruling::Deny { .. })
    }

    fn forbidding() -> (State, Event) {
        let state = State::new(SessionId::new("s"), Host::Claude, Millis(0));
        let kind = EventKind::prompt("Look around, but don't commit.", PromptOrigin::Human);
        (state, Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(1), kind))
    }

    #[test]
    fn another_call_under_the_same_id_is_judged_anew() {
        let (mut state, forbids) = forbidding();
        go(&mut state, &forbids);
        assert!(!go(&mut state, &before("ls", 1, Via::Local)));
        assert!(go(&mut state, &before("git commit -m x", 2, Via::Local)));
        // Where the input is not seen in what is kept of it, its number tells.
        assert!(!go(&mut state, &before("ls", 3, Via::Local)));
        assert_eq!(state.tool_calls, 3);
    }

    #[test]
    fn the_same_call_again_through_the_same_wiring_is_a_new_one() {
        let (mut state, forbids) = forbidding();
        let commit = |via| before("git commit -m x", 1, via);
        assert!(!go(&mut state, &commit(Via::Local)), "nobody said anything yet");
        go(&mut state, &forbids);
        assert!(go(&mut state, &commit(Via::Local)));
    }

    #[test]
    fn the_same_call_through_another_wiring_is_counted_once() {
        let (mut state, forbids) = forbidding();
        go(&mut state, &forbids);
        for via in [Via::Local, Via::User, Via::Plugin] {
            assert!(go(&mut state, &before("git commit -m x", 1, via)));
        }
        assert_eq!(state.tool_calls, 1);
    }
}
