//! What must hold for every sequence of events, not only for those somebody thought of.

use proptest::prelude::*;
use steadfast_engine::{decide, needs};
use steadfast_model::{
    Action, AddedBy, Agent, AgentId, Approval, BackgroundTask, Brief, Change, Checking, Content, Counts, DoneHere,
    Effect, Entry, Event, EventKind, ExitOn, Fact, Facts, Host, Millis, NewRules, OnBranch, Outcome, PlanId, PlanView,
    PromptOrigin, Record, Release, Rules, Ruling, SessionId, StartSource, State, Status, StopRules, Stopping,
    TaskChanged, TaskId, TaskLine, TaskLines, ToolCall, ToolResult, ToolUseId, Via,
};

const ME: &str = "session-1";

fn call() -> impl Strategy<Value = ToolCall> {
    let action = prop_oneof![
        Just(Action::Write { paths: vec!["src/a.rs".into()] }),
        Just(Action::shell("steadfast task done 1")),
        Just(Action::Ask),
        Just(Action::Other),
    ];
    (proptest::option::of(0..6_u8), action).prop_map(|(id, action)| ToolCall {
        id: id.map(|id| ToolUseId::new(format!("call-{id}"))),
        tool: "Tool".into(),
        action,
        words: Vec::new(),
    })
}

/// What an agent says last: mostly talk, sometimes a promise, or one that is only spoken of.
fn message() -> impl Strategy<Value = Option<String>> {
    let promise = |text: &str| Just(Some(format!("That is it.\n<promise>{text}</promise>")));
    prop_oneof![
        1 => Just(None),
        6 => (0..2_u8).prop_map(|n| Some(format!("message {n}"))),
        2 => promise("ALL TASKS COMPLETE"),
        2 => promise("BLOCKED - NEEDS USER"),
        1 => promise("CONTEXT LIMIT - CHECKPOINT"),
        1 => promise("WAITING: for the build"),
        1 => promise("MINE"),
        1 => Just(Some("I say `<promise>EPIC COMPLETE</promise>` later".to_owned())),
    ]
}

fn stopping() -> impl Strategy<Value = Stopping> {
    let background = BackgroundTask { what: "subagent".into(), status: "running".into(), command: None };
    (any::<bool>(), message(), proptest::option::weighted(0.9, Just(Vec::new())), 0..20_u32).prop_map(
        move |(again, last_message, quiet, wakeups)| Stopping {
            again,
            last_message,
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
            .prop_map(|origin| EventKind::prompt("do the tasks", origin)),
        6 => call().prop_map(EventKind::PreTool),
        4 => (call(), outcome).prop_map(|(call, outcome)| {
            EventKind::PostTool(ToolResult { call, outcome, millis: Some(3), answers: Vec::new(), names: Vec::new() })
        }),
        12 => stopping().prop_map(EventKind::Stop),
        1 => Just(EventKind::SubagentStart),
        4 => stopping().prop_map(EventKind::SubagentStop),
        1 => Just(EventKind::Interrupt),
        4 => (0..4_u8, any::<bool>(), any::<bool>()).prop_map(|(task, starts, earned)| {
            EventKind::TaskChanged(TaskChanged {
                plan: PlanId::new("list"),
                task: TaskId::new(task.to_string()),
                status: if starts { Status::InProgress } else { Status::Done },
                earned: earned && !starts,
            })
        }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let agent = |kind: &EventKind| match kind {
        EventKind::SubagentStart | EventKind::SubagentStop(_) => 0.97,
        EventKind::TaskChanged(_) => 0.5,
        _ => 0.1,
    };
    kind()
        .prop_flat_map(move |kind| {
            let agent = proptest::option::weighted(agent(&kind), 1..3_u8);
            (Just(kind), agent, any::<bool>(), any::<bool>(), 0..8_u8)
        })
        .prop_map(|(kind, agent, codex, user, rare)| Event {
            at: Millis(0),
            host: if codex { Host::Codex } else { Host::Claude },
            via: if user { Via::User } else { Via::Local },
            session: SessionId::new(ME),
            agent: agent.map(|n| Agent { id: AgentId::new(format!("a{n}")), agent_type: "worker".into() }),
            role: None,
            cwd: "/repo".into(),
            turn: None,
            unasked: false,
            abridged: false,
            planning: rare == 0 && matches!(kind, EventKind::Prompt { .. } | EventKind::Stop(_)),
            attended: (rare == 1).then_some(codex),
            cut: false,
            input: None,
            thinking: None,
            content: Content::default(),
            kind,
        })
}

fn rules() -> impl Strategy<Value = StopRules> {
    let exits = proptest::option::of(proptest::sample::subsequence(ExitOn::ALL.to_vec(), 0..=4));
    let promises = proptest::option::of(Just(vec!["MINE".to_owned(), StopRules::NEEDS_USER.to_owned()]));
    (exits, promises, proptest::bool::weighted(0.8), proptest::bool::weighted(0.8), 0..12_u32, 0..12_u32).prop_map(
        |(exits, promises, check_ready_tasks, check_in_progress, max_cycles, max_idle)| StopRules {
            enabled: true,
            check_ready_tasks,
            check_in_progress,
            max_cycles,
            max_idle,
            exits,
            promises,
        },
    )
}

fn facts() -> impl Strategy<Value = Facts> {
    (0..4_u32, 0..3_u32, 0..3_u32, 0..2_u32, 0..16_u8, any::<bool>(), done_here()).prop_map(
        |(pending, in_progress, done, blocked, world, spec, done_here)| {
            let line = |n: u32| TaskLine {
                id: TaskId::new(n.to_string()),
                title: "t".into(),
                status: if n < in_progress { Status::InProgress } else { Status::Pending },
            };
            let open: Vec<_> = (0..pending + in_progress).map(line).collect();
            let waits = world == 3 && in_progress == 0;
            let brief = Brief { spec: spec.then(|| "SPEC.md".to_owned()), checkpoints: blocked, ..Brief::default() };
            let checking = Checking { task: TaskId::new("0"), run: "r".into() };
            Facts {
                rules: None,
                plan: match world {
                    0 => Fact::Unknown("over its time".into()),
                    1 => Fact::Known(None),
                    _ => Fact::Known(Some(PlanView {
                        id: PlanId::new("list"),
                        title: "tasks".into(),
                        worktree: "/repo".into(),
                        hash: None,
                        added_by: AddedBy::Human,
                        approval: Approval::NotRequired,
                        owner: (world != 2).then(|| SessionId::new(ME)),
                        owner_ended: None,
                        run: None,
                        counts: Counts { pending, in_progress, done, blocked },
                        open: if waits { Vec::new() } else { open },
                        checking: if world == 4 && in_progress > 0 { vec![checking] } else { Vec::new() },
                        brief,
                    })),
                },
                done: done_here,
                ..Facts::default()
            }
        },
    )
}

/// How the done tasks stand in the checkout.
fn done_here() -> impl Strategy<Value = Fact<DoneHere>> {
    (0..8_u8, any::<[bool; 3]>()).prop_map(|(known, [stale, claimed, elsewhere])| match known {
        0 => Fact::NotAsked,
        1 => Fact::Unknown("over its time".into()),
        _ => {
            let line = TaskLine { id: TaskId::new("9"), title: "t".into(), status: Status::Done };
            let lines = |are: bool| TaskLines { first: vec![line.clone(); are.into()], all: are.into() };
            let on = OnBranch { branch: "steadfast/r-1".into(), tasks: 1 };
            let elsewhere = elsewhere.then_some(on);
            Fact::Known(DoneHere { stale: lines(stale), claimed: lines(claimed), elsewhere })
        }
    })
}

/// Folds a sequence of events and returns every record and the state they leave, as bytes.
fn fold(events: &[(Event, Facts)]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut state = State::new(SessionId::new(ME), Host::Codex, Millis(0));
    let mut records = Vec::new();
    for (sequence, (event, world)) in (1..).zip(events) {
        let plan = if needs(&state, event).plan { world.plan.clone() } else { Fact::NotAsked };
        let facts = Facts { rules: world.rules.clone(), plan, done: world.done.clone(), ..Facts::default() };
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
    fn folding_twice_gives_the_same_bytes(events in proptest::collection::vec((event(), facts()), 0..80)) {
        prop_assert_eq!(fold(&events), fold(&events));
    }

    /// What the journal holds is enough to get the state back, also after a trip through JSON.
    #[test]
    fn the_state_is_the_fold_of_the_journal(events in proptest::collection::vec((event(), facts()), 0..80)) {
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

    /// The termination argument of the stop gate, for the main thread and its subagents together, however it is
    /// configured. Between two prompts of the human: refusals ≤ max_cycles + 3 × tasks closed for the first time, never
    /// more than max_idle in a row without a tool call, never more than max_idle of one subagent.
    #[test]
    fn refusals_are_bounded(rules in rules(), events in proptest::collection::vec((event(), facts()), 0..300)) {
        let (max_cycles, max_idle) = (rules.max_cycles, rules.max_idle);
        let mut state = State::new(SessionId::new(ME), Host::Codex, Millis(0));
        state.rules.stop = rules;
        let (mut refused, mut earned, mut idle) = (0, 0, 0);
        let mut of_agents = std::collections::HashMap::<AgentId, u32>::new();
        for (sequence, (event, world)) in (1..).zip(&events) {
            let facts = if needs(&state, event).plan { world.clone() } else { Facts::default() };
            let before = state.clone();
            let decision = decide(&state, event, &facts);
            state.advance(sequence, event.at, &decision.changes);
            // An answer given again through another wiring is the same refusal.
            let counted = state.stop.refused != before.stop.refused;
            let continued = matches!(decision.answer.ruling, Ruling::Continue { .. });
            match &event.kind {
                EventKind::Prompt { origin: PromptOrigin::Human, .. } => {
                    (refused, earned, idle) = (0, 0, 0);
                    of_agents.clear();
                }
                EventKind::TaskChanged(changed) if changed.earned => earned += 1,
                EventKind::PreTool(_) if event.agent.is_none() => idle = 0,
                EventKind::Stop(_) if continued && counted => {
                    refused += 1;
                    idle += 1;
                }
                EventKind::SubagentStop(_) if continued && counted => {
                    refused += 1;
                    let agent = event.agent.as_ref().expect("only a subagent is refused here").id.clone();
                    let one = of_agents.entry(agent).or_default();
                    *one += 1;
                    prop_assert!(*one <= max_idle, "{} refusals of one subagent", one);
                }
                EventKind::SubagentStop(_) if !continued => {
                    event.agent.as_ref().map(|agent| of_agents.remove(&agent.id));
                }
                EventKind::SessionStart { source } if *source != StartSource::Compact => of_agents.clear(),
                EventKind::Interrupt => of_agents.clear(),
                // The same stop through another wiring.
                EventKind::Stop(_) | EventKind::SubagentStop(_) if continued => {
                    prop_assert!(before.stop.last.is_some() || !before.held.is_empty(), "a refusal is counted");
                }
                _ => prop_assert!(!continued, "only stops are refused"),
            }
            prop_assert!(refused <= max_cycles + 3 * earned, "{} refusals with {} tasks closed", refused, earned);
            prop_assert!(idle <= max_idle, "{} refusals in a row without a tool call", idle);
        }
    }

    /// Nothing is called complete that is not, capped only where the account is spent, and a session that was let go as
    /// capped is not held before the human speaks.
    #[test]
    fn a_release_says_what_is_true(rules in rules(), events in proptest::collection::vec((event(), facts()), 0..200)) {
        let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
        state.rules.stop = rules.clone();
        let mut capped = false;
        for (sequence, (event, world)) in (1..).zip(&events) {
            let facts = if needs(&state, event).plan { world.clone() } else { Facts::default() };
            let before = state.clone();
            let decision = decide(&state, event, &facts);
            state.advance(sequence, event.at, &decision.changes);
            capped &= !matches!(event.kind, EventKind::Prompt { origin: PromptOrigin::Human, .. });
            prop_assert!(!capped || state.stop.refused == before.stop.refused, "refused after it was capped");
            for change in &decision.changes {
                let Change::StopReleased(release) = change else { continue };
                capped |= *release == Release::Capped;
                let Fact::Known(Some(plan)) = &facts.plan else { panic!("released without a plan") };
                let counts = plan.counts;
                match release {
                    Release::Complete => {
                        prop_assert_eq!(counts.all(), counts.done, "complete with tasks left");
                        let done = &facts.done;
                        let holds = matches!(done, Fact::NotAsked) || *done == Fact::Known(DoneHere::default());
                        prop_assert!(holds, "complete with {:?}", done);
                    }
                    Release::NeedsReview | Release::Unmerged | Release::Unverified => {
                        prop_assert_eq!(counts.all(), counts.done, "let go with tasks left");
                    }
                    Release::AllBlocked => {
                        let blocks = decision.effects.iter().any(|effect| matches!(effect, Effect::BlockTask { .. }));
                        prop_assert!(plan.open.len() <= usize::from(blocks), "all blocked with tasks open");
                        prop_assert!(counts.all() > counts.done && rules.allows(ExitOn::AllBlocked));
                    }
                    Release::Checkpoint => prop_assert!(rules.allows(ExitOn::ContextCheckpoint)),
                    Release::NeedsUser => prop_assert!(rules.allows(ExitOn::NeedsUser)),
                    Release::Capped => {
                        let spent = before.stop.idle >= rules.max_idle
                            || before.stop.refused >= rules.max_cycles + before.stop.earned;
                        prop_assert!(spent, "capped with refusals left");
                    }
                    Release::Dismissed | Release::NotApproved | Release::Yielded => {}
                }
            }
        }
    }

    /// The configuration a session has seen is in its journal: what held then decides when it is read again.
    #[test]
    fn a_changed_configuration_is_replayed(rules in rules(), events in proptest::collection::vec((event(), facts()), 1..60)) {
        let mut events = events;
        let new = Rules { stop: rules.clone(), ..Rules::default() };
        events[0].1.rules = Some(NewRules { stamp: 7, rules: new });
        let (records, state) = fold(&events);
        let mut again = State::new(SessionId::new(ME), Host::Codex, Millis(0));
        for (sequence, record) in (1..).zip(&records) {
            let Entry::Record(record) = serde_json::from_slice(record).expect("a record reads back") else {
                panic!("not a record");
            };
            again.advance(sequence, record.event.at, &record.changes);
        }
        prop_assert_eq!(&again.rules.stop, &rules);
        prop_assert_eq!(serde_json::to_vec(&again).expect("a state is JSON"), state);
    }
}
