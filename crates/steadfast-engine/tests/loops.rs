//! A session that is bound to an unfinished loop, for every sequence of stops, calls and prompts.

use proptest::prelude::*;
use steadfast_engine::decide;
use steadfast_model::{
    Action, AddedBy, Approval, Brief, Change, Counts, Event, EventKind, Fact, Facts, Host, LoopId, LoopView, Millis,
    PlanId, PlanView, PromptOrigin, Release, Ruling, SessionId, Stage, State, Status, Stopping, TaskId, TaskLine,
    ToolCall,
};

const ME: &str = "session-1";

fn event() -> impl Strategy<Value = Event> {
    let message = prop_oneof![
        4 => Just("Good progress."),
        1 => Just("<promise>ALL TASKS COMPLETE</promise>"),
        1 => Just("Which key?\n<promise>BLOCKED - NEEDS USER</promise>"),
        1 => Just("<promise>CONTEXT LIMIT - CHECKPOINT</promise>"),
        1 => Just("<promise>WAITING: for the build</promise>"),
    ];
    let stop = message.prop_map(|message| {
        EventKind::Stop(Stopping {
            again: false,
            last_message: Some(message.into()),
            background: Some(Vec::new()),
            wakeups: 0,
        })
    });
    let call = ToolCall { id: None, tool: "Bash".into(), action: Action::Other, words: Vec::new() };
    let prompt = prop_oneof![Just("go on with the loop"), Just("why?"), Just("stop the loop")];
    let kind = prop_oneof![
        8 => stop,
        4 => Just(EventKind::PreTool(call)),
        1 => prompt.prop_map(|text| EventKind::prompt(text, PromptOrigin::Human)),
    ];
    kind.prop_map(|kind| Event::plain(SessionId::new(ME), Host::Claude, "/repo", Millis(1), kind))
}

fn plan(open: u32, done: u32, blocked: u32, mine: bool) -> PlanView {
    let line = |n: u32| TaskLine { id: TaskId::new(n.to_string()), title: "t".into(), status: Status::Pending };
    PlanView {
        id: PlanId::new("list"),
        title: "tasks".into(),
        worktree: "/repo".into(),
        hash: None,
        added_by: AddedBy::Human,
        approval: Approval::NotRequired,
        owner: mine.then(|| SessionId::new(ME)),
        owner_ended: None,
        run: None,
        counts: Counts { pending: open, in_progress: 0, done, blocked },
        open: (0..open).map(line).collect(),
        checking: Vec::new(),
        brief: Brief::default(),
    }
}

fn facts() -> impl Strategy<Value = Facts> {
    let stage = proptest::sample::select(&Stage::ALL[..5]);
    (stage, 0..2_u32, 0..3_u32, 0..2_u32, any::<bool>(), any::<bool>(), proptest::option::weighted(0.2, Just("a key")))
        .prop_map(|(stage, open, done, blocked, planned, mine, waits)| {
            let plan = planned.then(|| plan(open, done, blocked, mine));
            let looped = LoopView {
                id: LoopId::new("l-1"),
                stage,
                session: Some(SessionId::new(ME)),
                session_ended: None,
                run: None,
                plan: plan.as_ref().map(|plan| plan.id.clone()),
                counts: plan.as_ref().map(|plan| plan.counts).unwrap_or_default(),
                waits: waits.map(str::to_owned),
                limit: None,
                standing: "so".into(),
                next: "`this`".into(),
            };
            Facts { plan: Fact::Known(plan), unfinished: Fact::Known(Some(looped)), ..Facts::default() }
        })
}

proptest! {
    #[test]
    fn no_session_ends_as_complete_with_a_loop_unfinished_and_none_is_trapped(
        events in proptest::collection::vec((event(), facts()), 0..200),
    ) {
        let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
        let (mut refused, mut idle) = (0, 0);
        for (sequence, (event, facts)) in (1..).zip(&events) {
            let decision = decide(&state, event, facts);
            let Fact::Known(Some(looped)) = &facts.unfinished else { unreachable!() };
            let under_way = looped.stage != Stage::Intent;
            for change in &decision.changes {
                if let Change::StopReleased(release) = change {
                    prop_assert!(*release != Release::Complete || !under_way, "complete in stage {:?}", looped.stage);
                }
            }
            let before = state.stop.refused;
            state.advance(sequence, event.at, &decision.changes);
            match &event.kind {
                EventKind::Prompt { .. } => (refused, idle) = (0, 0),
                EventKind::PreTool(_) => idle = 0,
                _ if state.stop.refused > before => (refused, idle) = (refused + 1, idle + 1),
                _ => {
                    let continued = matches!(decision.answer.ruling, Ruling::Continue { .. });
                    prop_assert!(!continued || state.stop.last.is_some(), "a refusal that is not counted");
                }
            }
            prop_assert!(refused <= state.rules.stop.max_cycles && idle <= state.rules.stop.max_idle);
        }
    }
}
