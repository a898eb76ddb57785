use steadfast_model::{
    Agent, AgentId, Answer, ApprovalRules, Channel, DialogAnswer, DraftLine, Fact, GitAlias, Host, Millis, Outcome,
    Possible, Profile, Question, Ruling, SealBreak, SealCause, SealChange, SessionId, StartSource, Stopping,
    ToolResult, ToolUseId,
};

use super::*;
use crate::{PolicyDecision, decide};

mod channels;
mod human_lines;
mod links;
mod planners;
mod seals;
mod writes;

const ME: &str = "session-1";
const HASH: &str = "0123456789abcdef";

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new(ME), Host::Claude, "/repo", Millis(1_000), kind)
}

fn call(id: &str, action: Action) -> ToolCall {
    ToolCall { id: Some(ToolUseId::new(id)), tool: "Tool".into(), action, words: Vec::new() }
}

fn pre(id: &str, action: Action) -> Event {
    event(EventKind::PreTool(call(id, action)))
}

fn post(id: &str, action: Action) -> Event {
    answered(call(id, action), Vec::new())
}

fn answered(call: ToolCall, answers: Vec<DialogAnswer>) -> Event {
    event(EventKind::PostTool(ToolResult { call, outcome: Outcome::Ok, millis: None, answers, names: Vec::new() }))
}

fn typed(text: &str) -> Event {
    event(EventKind::Prompt { text: text.into(), origin: PromptOrigin::Human, typed: true })
}

fn write(path: &str) -> Action {
    Action::Write { paths: vec![path.into()] }
}

fn by(agent_type: &str, event: Event) -> Event {
    Event { agent: Some(Agent { id: AgentId::new("a-1"), agent_type: agent_type.into() }), ..event }
}

fn draft() -> DraftLine {
    DraftLine { hash: HASH.into(), title: "Sign in".into(), tasks: 6, path: "PLAN.md".into(), call: None }
}

/// The marker of a closed gate.
fn gate() -> Gate {
    Gate {
        root: "/repo".into(),
        protected: vec![".tdd-progress.md".into(), "src/".into()],
        draft: Some(draft()),
        ..Gate::new(GateScope::Session(SessionId::new(ME)), text::CLOSED, Millis(1))
    }
}

fn behind(gate: Gate) -> Facts {
    Facts { gate: Some(gate), ..Facts::default() }
}

fn fresh() -> State {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    state.attended = true;
    state
}

/// A session that knows of its gate.
fn gated() -> State {
    let mut state = fresh();
    state.gate = Some(GateState { told: Some(HASH.into()), ..GateState::of(&gate()) });
    state
}

/// Takes the session one event further.
fn go(state: &mut State, event: &Event, facts: &Facts) -> PolicyDecision {
    let decision = decide(state, event, facts);
    for change in &decision.changes {
        state.apply(change);
    }
    decision
}

fn refusal(decision: &PolicyDecision) -> Option<&str> {
    match &decision.answer.ruling {
        Ruling::Deny { reason } => Some(reason),
        _ => None,
    }
}

fn is_refused(state: &State, event: &Event) -> bool {
    refusal(&decide(state, event, &behind(gate()))).is_some()
}

fn closes(decision: &PolicyDecision) -> Option<&Gate> {
    decision.effects.iter().find_map(|effect| match effect {
        Effect::CloseGate(gate) => Some(gate),
        _ => None,
    })
}

#[test]
fn a_planner_a_command_and_plan_mode_close_the_gate() {
    let planning = Event { planning: true, ..typed("how would you do it") };
    let cases = [
        (by("planner", event(EventKind::SubagentStart)), Trigger::Agent("planner".into())),
        (by("kit:tdd-planner", event(EventKind::SubagentStart)), Trigger::Agent("tdd-planner".into())),
        (event(EventKind::Command { name: "/tdd-plan".into() }), Trigger::Command("tdd-plan".into())),
        (event(EventKind::Command { name: "kit:tdd-plan".into() }), Trigger::Command("tdd-plan".into())),
        (planning, Trigger::PlanMode),
    ];
    for (event, trigger) in cases {
        let mut state = fresh();
        let decision = go(&mut state, &event, &Facts::default());
        assert_eq!(closes(&decision).map(|gate| &gate.trigger), Some(&trigger), "{event:?}");
        assert_eq!(state.gate.map(|gate| gate.trigger), Some(trigger));
    }
}

#[test]
fn nothing_else_closes_it() {
    let other = [
        by("reviewer", event(EventKind::SubagentStart)),
        event(EventKind::Command { name: "/compact".into() }),
        typed("plan the release"),
        pre("1", write("src/a.rs")),
        Event { planning: true, ..by("worker", pre("1", Action::shell("ls"))) },
    ];
    for event in other {
        assert_eq!(closes(&decide(&fresh(), &event, &Facts::default())), None, "{event:?}");
    }
    let mut quiet = fresh();
    quiet.rules.approval = ApprovalRules { triggers: Some(Vec::new()), ..ApprovalRules::default() };
    let planner = by("planner", event(EventKind::SubagentStart));
    assert_eq!(closes(&decide(&quiet, &planner, &Facts::default())), None);
}

#[test]
fn a_marker_that_was_taken_away_is_no_exit() {
    let mut state = gated();
    let decision = go(&mut state, &pre("1", write(".tdd-progress.md")), &Facts::default());
    assert!(refusal(&decision).is_some());
    assert!(closes(&decision).is_some(), "the marker is put back");
}

#[test]
fn where_no_marker_was_looked_for_none_is_written() {
    for kind in [EventKind::ToolBatch { calls: 1 }, EventKind::Notification { topic: "idle".into() }] {
        let decision = decide(&gated(), &event(kind), &Facts::default());
        assert_eq!((decision.effects, decision.answer), (Vec::new(), Answer::default()));
    }
}

#[test]
fn a_state_that_was_lost_is_no_exit() {
    let mut state = fresh();
    let decision = go(&mut state, &pre("1", write(".tdd-progress.md")), &behind(gate()));
    assert!(refusal(&decision).is_some());
    assert_eq!(closes(&decision), None, "the marker stands");
    assert!(state.gate.is_some());
}

#[test]
fn a_human_opens_it_and_what_expires_is_open() {
    let mut state = gated();
    let decision = go(&mut state, &event(EventKind::GateOpened(Opening::Unlocked)), &Facts::default());
    assert_eq!(decision.effects, [Effect::OpenGate { scope: gate().scope }]);
    assert_eq!((state.gate, state.approved), (None, None));

    let mut state = fresh();
    state.gate = Some(GateState::of(&Gate { expires_at: Some(Millis(1_000)), ..gate() }));
    let decision = go(&mut state, &pre("1", write(".tdd-progress.md")), &Facts::default());
    assert_eq!((refusal(&decision), state.gate), (None, None));
}

#[test]
fn what_is_said_of_an_unapproved_plan_are_facts() {
    let said = |event: Event| decide(&gated(), &event, &behind(gate())).answer.context;
    assert_eq!(
        said(event(EventKind::SessionStart { source: StartSource::Compact })).as_deref(),
        Some(
            "The plan is not approved. 6 tasks are drafted: Sign in (01234567). The plan gate is closed until a human \
             approves the plan: in the question dialog, by the message `approve plan 01234567`, or by `steadfast plan \
             approve` in a terminal."
        )
    );
    assert_eq!(
        said(by("planner", event(EventKind::SubagentStart))).as_deref(),
        Some(
            "This agent is a planner: it may read, and write only .steadfast/scratch/. `steadfast plan propose FILE` \
             keeps its draft for the human to read."
        )
    );
}

#[test]
fn nobody_is_kept_from_stopping_by_it() {
    let stopping = Stopping { again: false, last_message: None, background: Some(Vec::new()), wakeups: 0 };
    let decision = decide(&gated(), &event(EventKind::Stop(stopping)), &behind(gate()));
    assert_eq!(decision.answer, Answer::default());
}

#[test]
fn who_only_observes_closes_nothing_and_refuses_nothing() {
    let mut state = fresh();
    state.rules.approval_mode = Mode::Observe;
    let decision = go(&mut state, &by("planner", event(EventKind::SubagentStart)), &Facts::default());
    assert_eq!((closes(&decision), &decision.answer), (None, &Answer::default()));
    let decision = go(&mut state, &pre("1", write(".tdd-progress.md")), &Facts::default());
    assert_eq!(decision.answer, Answer::default());
    assert!(!decision.opinions.is_empty(), "what it would have said is recorded");
}
