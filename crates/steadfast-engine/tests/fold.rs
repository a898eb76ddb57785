//! What must hold for every sequence of events, not only for those somebody thought of.

use proptest::prelude::*;
use steadfast_engine::{decide, needs};
use steadfast_model::{
    Action, Agent, AgentId, Background, Counts, Entry, Event, EventKind, Fact, Facts, Host, Millis, Outcome, PlanId,
    PlanView, PromptOrigin, Record, Ruling, SessionId, StartSource, State, Status, StopRules, Stopping, TaskChanged,
    TaskId, TaskLine, ToolCall, ToolResult, ToolUseId, Via,
};

const ME: &str = "session-1";

fn call() -> impl Strategy<Value = ToolCall> {
    let action = prop_oneof![
        Just(Action::Write { paths: vec!["src/a.rs".into()] }),
        Just(Action::Shell { command: "steadfast task done 1".into() }),
        Just(Action::Ask),
        Just(Action::Other),
    ];
    (proptest::option::of(0..6_u8), action).prop_map(|(id, action)| ToolCall {
        id: id.map(|id| ToolUseId::new(format!("call-{id}"))),
        tool: "Tool".into(),
        action,
    })
}

fn stopping() -> impl Strategy<Value = Stopping> {
    let background = Background { what: "shell".into(), status: "running".into() };
    (any::<bool>(), 0..2_u8, proptest::option::weighted(0.9, Just(Vec::new())), 0..20_u32).prop_map(
        move |(again, message, quiet, wakeups)| Stopping {
            again,
            last_message: Some(format!("message {message}")),
            background: if wakeups == 7 { Some(vec![background.clone()]) } else { quiet },
            wakeups: u32::from(wakeups == 11),
        },
    )
}

fn kind() -> impl Strategy<Value = EventKind> {
    let outcome = prop_oneof![
        5 => Just(Outcome::Ok),
        1 => Just(Outcome::Failed { error: "Exit code 1".into() }),
    ];
    prop_oneof![
        1 => prop_oneof![Just(StartSource::Startup), Just(StartSource::Compact), Just(StartSource::Clear)]
            .prop_map(|source| EventKind::SessionStart { source }),
        1 => Just(EventKind::SessionEnd { reason: "other".into() }),
        1 => prop_oneof![Just(PromptOrigin::Human), Just(PromptOrigin::Notification)]
            .prop_map(|origin| EventKind::Prompt { text: "do the tasks".into(), origin }),
        6 => call().prop_map(EventKind::PreTool),
        4 => (call(), outcome).prop_map(|(call, outcome)| {
            EventKind::PostTool(ToolResult { call, outcome, millis: Some(3) })
        }),
        12 => stopping().prop_map(EventKind::Stop),
        1 => Just(EventKind::SubagentStart),
        2 => stopping().prop_map(EventKind::SubagentStop),
        2 => (1..6_u8, any::<bool>()).prop_map(|(task, earned)| EventKind::TaskChanged(TaskChanged {
            plan: PlanId::new("list"),
            task: TaskId::new(task.to_string()),
            status: Status::Done,
            earned,
        })),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    (kind(), proptest::option::weighted(0.1, Just(())), any::<bool>()).prop_map(|(kind, agent, planning)| Event {
        at: Millis(0),
        host: Host::Codex,
        via: Via::Local,
        session: SessionId::new(ME),
        agent: agent.map(|()| Agent { id: AgentId::new("a1"), agent_type: "worker".into() }),
        cwd: "/repo".into(),
        turn: None,
        planning: planning && matches!(kind, EventKind::Prompt { .. }),
        attended: None,
        kind,
    })
}

fn facts() -> impl Strategy<Value = Facts> {
    (0..4_u32, 0..3_u32, 0..12_u8).prop_map(|(pending, done, world)| Facts {
        rules: None,
        plan: match world {
            0 => Fact::Unknown("over its time".into()),
            1 => Fact::Known(None),
            _ => Fact::Known(Some(PlanView {
                id: PlanId::new("list"),
                title: "tasks".into(),
                worktree: "/repo".into(),
                owner: (world != 2).then(|| SessionId::new(ME)),
                owner_ended: None,
                counts: Counts { pending, done, ..Counts::default() },
                open: (0..pending)
                    .map(|n| TaskLine { id: TaskId::new(n.to_string()), title: "t".into(), status: Status::Pending })
                    .collect(),
                checking: Vec::new(),
                brief: steadfast_model::Brief::default(),
            })),
        },
    })
}

/// Folds a sequence of events and returns every record and the state they leave, as bytes.
fn fold(events: &[(Event, Facts)]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut state = State::new(SessionId::new(ME), Host::Codex, Millis(0));
    let mut records = Vec::new();
    for (sequence, (event, world)) in (1..).zip(events) {
        let facts = if needs(&state, event).plan { world.clone() } else { Facts::default() };
        let decision = decide(&state, event, &facts);
        state.advance(sequence, event.at, &decision.changes);
        let record = Record {
            event: event.clone(),
            facts,
            opinions: decision.opinions,
            answer: decision.answer,
            changes: decision.changes,
            effects: decision.effects,
        };
        records.push(serde_json::to_vec(&Entry::Record(Box::new(record))).expect("a record is JSON"));
    }
    (records, serde_json::to_vec(&state).expect("a state is JSON"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn folding_twice_gives_the_same_bytes(events in proptest::collection::vec((event(), facts()), 0..120)) {
        prop_assert_eq!(fold(&events), fold(&events));
    }

    /// What the journal holds is enough to get the state back, also after a trip through JSON.
    #[test]
    fn the_state_is_the_fold_of_the_journal(events in proptest::collection::vec((event(), facts()), 0..120)) {
        let (records, state) = fold(&events);
        let mut again = State::new(SessionId::new(ME), Host::Codex, Millis(0));
        for (sequence, record) in (1..).zip(&records) {
            let Entry::Record(record) = serde_json::from_slice(record).expect("a record reads back") else {
                panic!("not a record");
            };
            prop_assert_eq!(&decide(&again, &record.event, &record.facts).changes, &record.changes);
            again.advance(sequence, record.event.at, &record.changes);
        }
        prop_assert_eq!(serde_json::to_vec(&again).expect("a state is JSON"), state);
    }

    /// The termination argument of the stop gate. Between two prompts of the human: refusals ≤ max_cycles + 3 × tasks
    /// closed for the first time, and never more than max_idle in a row without a tool call.
    #[test]
    fn refusals_are_bounded(
        max_cycles in 0..12_u32,
        max_idle in 0..12_u32,
        events in proptest::collection::vec((event(), facts()), 0..300),
    ) {
        let mut state = State::new(SessionId::new(ME), Host::Codex, Millis(0));
        state.rules.stop = StopRules { enabled: true, max_cycles, max_idle };
        let (mut refused, mut earned, mut idle) = (0, 0, 0);
        for (sequence, (event, world)) in (1..).zip(&events) {
            let facts = if needs(&state, event).plan { world.clone() } else { Facts::default() };
            let decision = decide(&state, event, &facts);
            state.advance(sequence, event.at, &decision.changes);
            match &event.kind {
                EventKind::Prompt { origin: PromptOrigin::Human, .. } => (refused, earned, idle) = (0, 0, 0),
                EventKind::TaskChanged(changed) if changed.earned => earned += 1,
                EventKind::PreTool(_) if event.agent.is_none() => idle = 0,
                EventKind::Stop(_) if matches!(decision.answer.ruling, Ruling::Continue { .. }) => {
                    refused += 1;
                    idle += 1;
                }
                _ => {}
            }
            prop_assert!(refused <= max_cycles + 3 * earned, "{} refusals with {} tasks closed", refused, earned);
            prop_assert!(idle <= max_idle, "{} refusals in a row without a tool call", idle);
        }
    }
}
