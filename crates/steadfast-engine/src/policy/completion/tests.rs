use steadfast_model::{
    AddedBy, Agent, AgentId, Approval, Brief, Checking, Counts, Host, Millis, OwnerEnd, PlanId, RunId, SessionId,
    StopRules, TaskChanged, TaskId, Via,
};

use super::*;
use crate::{PolicyDecision, decide};

mod binding;
mod briefing;
mod exits;
mod human_lines;
mod loops;
mod promises;
mod subagents;
mod waiting;

const ME: &str = "session-1";

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new(ME), Host::Claude, "/repo", Millis(1_000), kind)
}

fn stopping() -> Event {
    event(EventKind::Stop(Stopping {
        again: false,
        last_message: Some("Good progress, let me know!".into()),
        background: Some(Vec::new()),
        wakeups: 0,
    }))
}

/// A stop with these last words.
fn saying(message: &str) -> Event {
    let mut event = stopping();
    let EventKind::Stop(stopping) = &mut event.kind else { unreachable!() };
    stopping.last_message = Some(message.into());
    event
}

fn prompted(text: &str) -> Event {
    event(EventKind::prompt(text, PromptOrigin::Human))
}

fn plan(owner: Option<&str>, pending: u32, done: u32, blocked: u32) -> PlanView {
    let open = (1..=pending).take(PlanView::SHOWN).map(|n| TaskLine {
        id: TaskId::new(n.to_string()),
        title: format!("Task {n}"),
        status: if n == 1 { Status::InProgress } else { Status::Pending },
    });
    PlanView {
        id: PlanId::new("list"),
        title: "tasks".into(),
        worktree: "/repo".into(),
        hash: None,
        added_by: AddedBy::Human,
        approval: Approval::NotRequired,
        owner: owner.map(SessionId::new),
        owner_ended: None,
        run: None,
        counts: Counts { pending: pending.saturating_sub(1), in_progress: pending.min(1), done, blocked },
        open: open.collect(),
        checking: Vec::new(),
        brief: Brief::default(),
    }
}

fn knowing(plan: PlanView) -> Facts {
    Facts { plan: Fact::Known(Some(plan)), ..Facts::default() }
}

fn fresh() -> State {
    State::new(SessionId::new(ME), Host::Claude, Millis(0))
}

/// Decides and folds, as the hook does.
fn go(state: &mut State, event: &Event, facts: &Facts) -> PolicyDecision {
    let decision = decide(state, event, facts);
    let sequence = state.sequence + 1;
    state.advance(sequence, event.at, &decision.changes);
    decision
}

fn verdict(state: &State, event: &Event, facts: &Facts) -> Verdict {
    Completion.judge(state, &ParsedEvent::of(event), facts).verdict
}

#[test]
fn stopping_with_open_tasks_is_refused_with_the_facts() {
    let said = verdict(&fresh(), &stopping(), &knowing(plan(Some(ME), 2, 3, 0)));
    assert_eq!(
        said,
        Verdict::Continue {
            reason:
                "2 of 5 tasks are open: 1 Task 1 (in progress); 2 Task 2. Next is 1. `steadfast task done 1` closes \
                     it, `steadfast task block 1 --why REASON` sets it aside."
                    .into()
        }
    );
}

#[test]
fn who_works_for_a_run_that_spent_its_budget_is_let_go() {
    let mut state = fresh();
    let facts = Facts { spent: Some("26 of 25 US dollars".into()), ..knowing(plan(Some(ME), 2, 3, 0)) };
    let decision = go(&mut state, &stopping(), &facts);
    assert_eq!((decision.answer.is_pass(), state.stop.released, state.stop.refused), (true, None, 0));
}

#[test]
fn a_plan_that_a_run_works_off_is_neither_offered_nor_taken() {
    let start = event(EventKind::SessionStart { source: StartSource::Startup });
    for event in [start, prompted("go on with the plan"), stopping()] {
        let free = plan(None, 2, 3, 0);
        let facts = knowing(PlanView { run: Some(RunId::new("r-1a2b3c4d")), ..free.clone() });
        assert_eq!(Completion.judge(&fresh(), &ParsedEvent::of(&event), &facts), Judgement::default());
        let is_asked = !matches!(event.kind, EventKind::Stop(_));
        assert_eq!(verdict(&fresh(), &event, &knowing(free)) != Verdict::Pass, is_asked);
    }
}

#[test]
fn on_codex_the_way_around_its_sandbox_is_named() {
    let codex = Event { host: Host::Codex, ..stopping() };
    let said = verdict(&fresh(), &codex, &knowing(plan(Some(ME), 2, 3, 0)));
    assert!(said.text().contains("MCP tools `task_done` and `task_block`"), "{}", said.text());
}

#[test]
fn a_long_list_is_cut_and_counted() {
    let Verdict::Continue { reason } = verdict(&fresh(), &stopping(), &knowing(plan(Some(ME), 1_000, 0, 0))) else {
        panic!("not refused");
    };
    assert!(reason.contains("6 Task 6; and 994 more."), "{reason}");
    assert!(reason.len() < 500, "{}", reason.len());
}

#[test]
fn a_finished_plan_lets_go_as_complete() {
    let mut state = fresh();
    let decision = go(&mut state, &stopping(), &knowing(plan(Some(ME), 0, 5, 0)));
    assert_eq!((decision.answer.is_pass(), state.stop.released), (true, Some(Release::Complete)));
}

#[test]
fn what_is_left_is_blocked_lets_go_and_tells_the_human_once() {
    let mut state = fresh();
    let facts = knowing(plan(Some(ME), 0, 3, 2));
    let first = go(&mut state, &stopping(), &facts);
    assert!(first.answer.note.is_some_and(|note| note.contains("2 of 5 tasks are blocked")));
    assert_eq!(state.stop.released, Some(Release::AllBlocked));
    assert!(go(&mut state, &stopping(), &facts).answer.is_pass());
}

#[test]
fn tasks_that_wait_for_a_blocked_one_are_blocked_too() {
    let mut behind = plan(Some(ME), 2, 3, 1);
    behind.open.clear();
    let mut state = fresh();
    let said = go(&mut state, &stopping(), &knowing(behind)).answer;
    assert!(said.note.is_some_and(|note| note.contains("3 of 6 tasks are blocked, 3 done")));
    assert_eq!(state.stop.released, Some(Release::AllBlocked));
}

#[test]
fn the_plan_of_an_owner_that_fell_silent_is_offered_and_taken_from_it_alone() {
    let mut silent = plan(Some("session-0"), 2, 1, 0);
    silent.owner_ended = Some(OwnerEnd { reason: OwnerEnd::SILENT.into(), at: Millis(1) });
    let facts = knowing(silent);
    let start = event(EventKind::SessionStart { source: StartSource::Startup });
    assert!(decide(&fresh(), &start, &facts).answer.context.is_some_and(|text| text.contains("no session works on")));
    let take = Effect::TakePlan {
        plan: PlanId::new("list"),
        session: SessionId::new(ME),
        silent: Some(SessionId::new("session-0")),
    };
    assert_eq!(decide(&fresh(), &prompted("do the tasks"), &facts).effects[0], take);
}

#[test]
fn what_a_gone_owner_left_in_progress_is_given_up_and_what_was_cleared_is_not() {
    let mut left = plan(Some("session-0"), 2, 1, 0);
    left.owner_ended = Some(OwnerEnd { reason: "clear".into(), at: Millis(900) });
    let given_up = Effect::GiveUp { plan: PlanId::new("list"), task: None };
    let taken = decide(&fresh(), &prompted("do the tasks"), &knowing(left.clone()));
    assert!(taken.effects.contains(&given_up), "{:?}", taken.effects);
    assert!(taken.answer.context.is_some_and(|text| text.contains(": 1 Task 1; 2 Task 2.")));
    let cleared = event(EventKind::SessionStart { source: StartSource::Clear });
    assert!(!decide(&fresh(), &cleared, &knowing(left.clone())).effects.contains(&given_up));
    left.owner = None;
    left.owner_ended = None;
    assert!(!decide(&fresh(), &prompted("do the tasks"), &knowing(left)).effects.contains(&given_up));
}

#[test]
fn a_running_check_yields() {
    let mut checked = plan(Some(ME), 2, 0, 0);
    checked.checking = vec![Checking { task: TaskId::new("1"), run: "r-1".into() }];
    let mut state = fresh();
    assert!(go(&mut state, &stopping(), &knowing(checked)).answer.is_pass());
    assert_eq!(state.stop.released, Some(Release::Yielded));
}

#[test]
fn the_way_to_the_user_is_named_where_there_is_one() {
    let said = |host, attended| {
        let state = State { attended, ..fresh() };
        verdict(&state, &Event { host, ..stopping() }, &knowing(plan(Some(ME), 2, 0, 0))).text().to_owned()
    };
    assert!(said(Host::Claude, true).contains(" sets it aside, the question dialog asks the user."));
    for (host, attended) in [(Host::Claude, false), (Host::Codex, true), (Host::Sim, true)] {
        assert!(!said(host, attended).contains("dialog"), "{host}");
    }
}

#[test]
fn a_plan_of_another_session_or_of_nobody_does_not_hold() {
    for owner in [None, Some("session-2")] {
        assert_eq!(verdict(&fresh(), &stopping(), &knowing(plan(owner, 3, 0, 0))), Verdict::Pass);
    }
}

#[test]
fn an_unreadable_ledger_lets_go_and_says_so() {
    let facts = Facts { plan: Fact::Unknown("the database is locked".into()), ..Facts::default() };
    let expected = Verdict::Note("Steadfast could not read the tasks: the database is locked".into());
    assert_eq!(verdict(&fresh(), &stopping(), &facts), expected);
}

#[test]
fn a_session_that_waits_is_let_go() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let with = |change: fn(&mut Stopping)| {
        let mut event = stopping();
        let EventKind::Stop(stopping) = &mut event.kind else { unreachable!() };
        change(stopping);
        event
    };
    let scheduled = with(|stop| stop.wakeups = 1);
    let planning = Event { planning: true, ..stopping() };
    let refused = |event: &Event| matches!(verdict(&fresh(), event, &facts), Verdict::Continue { .. });
    assert_eq!([&stopping(), &scheduled, &planning].map(refused), [true, false, false], "nothing, scheduled, planning");
}

#[test]
fn a_host_that_does_not_tell_of_subagents_is_believed_by_its_events() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let agent = Some(Agent { id: AgentId::new("a1"), agent_type: "worker".into() });
    let mut silent = stopping();
    let EventKind::Stop(stop) = &mut silent.kind else { unreachable!() };
    stop.background = None;

    let mut state = fresh();
    go(&mut state, &Event { agent: agent.clone(), ..event(EventKind::SubagentStart) }, &Facts::default());
    assert!(go(&mut state, &silent, &facts).answer.is_pass());
    let end = EventKind::SubagentStop(Stopping { again: false, last_message: None, background: None, wakeups: 0 });
    go(&mut state, &Event { agent, ..event(end) }, &Facts::default());
    assert!(!go(&mut state, &silent, &facts).answer.ruling.is_pass());
}

#[test]
fn an_interrupt_lets_go_until_the_human_speaks() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = fresh();
    go(&mut state, &event(EventKind::Interrupt), &Facts::default());
    assert!(go(&mut state, &stopping(), &facts).answer.is_pass());
    go(&mut state, &prompted("go on"), &Facts::default());
    assert!(!go(&mut state, &stopping(), &facts).answer.ruling.is_pass());
}

#[test]
fn a_subagents_stop_is_its_own() {
    let agent = Some(Agent { id: AgentId::new("a1"), agent_type: String::new() });
    let stop = Event { agent, ..stopping() };
    assert_eq!(verdict(&fresh(), &stop, &knowing(plan(Some(ME), 2, 0, 0))), Verdict::Pass);
}

/// Stops until it is let go, calling a tool before each stop if `busy`.
fn refusals_until_released(state: &mut State, facts: &Facts, busy: bool) -> u32 {
    let tool = |n: u32| {
        event(EventKind::PreTool(steadfast_model::ToolCall {
            id: Some(steadfast_model::ToolUseId::new(format!("call-{n}"))),
            tool: "Bash".into(),
            action: steadfast_model::Action::shell("date >> log"),
            words: Vec::new(),
        }))
    };
    for n in 0..10_000 {
        if busy {
            go(state, &tool(n), &Facts::default());
        }
        if go(state, &stopping(), facts).answer.ruling.is_pass() {
            return n;
        }
    }
    panic!("never released");
}

#[test]
fn an_agent_that_only_talks_is_released_after_max_idle() {
    let mut state = fresh();
    assert_eq!(refusals_until_released(&mut state, &knowing(plan(Some(ME), 2, 0, 0)), false), 3);
    assert_eq!(state.stop.released, Some(Release::Capped));
}

#[test]
fn an_agent_that_is_only_busy_is_released_after_max_cycles() {
    let mut state = fresh();
    assert_eq!(refusals_until_released(&mut state, &knowing(plan(Some(ME), 2, 0, 0)), true), 50);
    assert_eq!(state.stop.released, Some(Release::Capped));
}

#[test]
fn a_capped_session_stays_released_until_the_human_speaks() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = fresh();
    refusals_until_released(&mut state, &facts, false);
    assert_eq!(refusals_until_released(&mut state, &facts, true), 0);
    go(&mut state, &stopping(), &knowing(plan(Some(ME), 0, 2, 0)));
    assert_eq!(
        refusals_until_released(&mut state, &facts, true),
        0,
        "nor does finishing arm it for what is added then"
    );
    go(&mut state, &prompted("go on with it"), &Facts::default());
    assert_eq!(refusals_until_released(&mut state, &facts, false), 3);
}

#[test]
fn a_closed_task_of_the_human_gives_three_refusals_back_and_others_none() {
    let changed = |earned| {
        event(EventKind::TaskChanged(TaskChanged {
            plan: PlanId::new("list"),
            task: TaskId::new("1"),
            status: Status::Done,
            earned,
        }))
    };
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = fresh();
    go(&mut state, &changed(true), &Facts::default());
    go(&mut state, &changed(false), &Facts::default());
    assert_eq!(refusals_until_released(&mut state, &facts, true), 53);
}

#[test]
fn limits_of_zero_never_refuse() {
    for (max_cycles, max_idle) in [(0, 3), (50, 0)] {
        let mut state = fresh();
        state.rules.stop = StopRules { max_cycles, max_idle, ..StopRules::default() };
        assert_eq!(refusals_until_released(&mut state, &knowing(plan(Some(ME), 2, 0, 0)), true), 0);
    }
}

#[test]
fn switched_off_it_asks_for_nothing_and_says_nothing() {
    let mut state = fresh();
    state.rules.stop.enabled = false;
    assert_eq!(Completion.needs(&state, &ParsedEvent::of(&stopping())), Needs::default());
    assert_eq!(verdict(&state, &stopping(), &knowing(plan(Some(ME), 2, 0, 0))), Verdict::Pass);
}

#[test]
fn the_same_stop_through_two_wirings_is_one_refusal() {
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    let mut state = fresh();
    let here = stopping();
    let there = Event { via: Via::User, ..stopping() };
    let first = go(&mut state, &here, &facts).answer;
    assert!(first.note.is_some());
    assert_eq!(go(&mut state, &there, &facts).answer, first.repeated(), "the human reads it once");
    assert_eq!((state.stop.refused, state.stop.idle), (1, 1));
    go(&mut state, &here, &facts);
    assert_eq!(state.stop.refused, 2, "the next stop through the first wiring is a new one");
}

#[test]
fn a_session_start_puts_its_own_plan_back_and_offers_a_free_one() {
    let start = |source| event(EventKind::SessionStart { source });
    let text = |event: &Event, plan: PlanView| match verdict(&fresh(), event, &knowing(plan)) {
        Verdict::Context(text) => text,
        other => panic!("{other:?}"),
    };
    let compacted = text(&start(StartSource::Compact), plan(Some(ME), 2, 1, 0));
    assert!(compacted.starts_with("Steadfast holds the tasks of this session: 2 of 3 tasks are open"), "{compacted}");
    let offered = text(&start(StartSource::Startup), plan(None, 2, 1, 0));
    assert!(offered.contains("that no session works on"), "{offered}");
    let taken = plan(Some("session-2"), 2, 1, 0);
    assert_eq!(verdict(&fresh(), &start(StartSource::Startup), &knowing(taken)), Verdict::Pass);
}

#[test]
fn an_agent_of_a_run_is_offered_nothing() {
    let start = event(EventKind::SessionStart { source: StartSource::Startup });
    let looped = Some("[LOOP RESUME] l-1a2b3c4d".to_owned());
    let started =
        |of_run| decide(&fresh(), &start, &Facts { of_run, looped: looped.clone(), ..knowing(plan(None, 2, 1, 0)) });
    assert_eq!(started(true).answer.context, None);
    assert!(started(false).answer.context.is_some_and(|text| text.contains("no session works on")));
}

#[test]
fn a_cleared_session_that_is_not_the_owner_stays_bound() {
    let facts = Facts {
        inherited: vec![PlanId::new("other"), PlanId::new("list")],
        ..knowing(plan(Some("session-2"), 2, 1, 0))
    };
    let mut state = fresh();
    let started = go(&mut state, &event(EventKind::SessionStart { source: StartSource::Clear }), &facts);
    assert!(started.answer.context.is_some_and(|text| text.contains("2 of 3 tasks are open")));
    assert_eq!(state.binding.plans, [PlanId::new("other"), PlanId::new("list")]);
    let held = go(&mut state, &stopping(), &knowing(plan(Some("session-2"), 2, 1, 0)));
    assert!(matches!(held.answer.ruling, steadfast_model::Ruling::Continue { .. }), "{:?}", held.answer);
}

#[test]
fn a_cleared_session_inherits_and_a_fork_does_not() {
    let mut ended = plan(Some("session-0"), 2, 1, 0);
    ended.owner_ended = Some(OwnerEnd { reason: "clear".into(), at: Millis(900) });
    let facts = knowing(ended);
    let effects = |source| decide(&fresh(), &event(EventKind::SessionStart { source }), &facts).effects;
    let take = Effect::TakePlan { plan: PlanId::new("list"), session: SessionId::new(ME), silent: None };
    assert_eq!(effects(StartSource::Clear), [take]);
    assert_eq!(effects(StartSource::Fork), []);
    assert_eq!(effects(StartSource::Startup), []);
}

#[test]
fn a_prompt_that_names_the_tasks_takes_them_and_a_question_does_not() {
    let takes =
        |text: &str, owner| !decide(&fresh(), &prompted(text), &knowing(plan(owner, 2, 0, 0))).effects.is_empty();
    assert!(takes("Please do the tasks.", None));
    assert!(takes("Carry out THE PLAN", None));
    let mut named = plan(None, 2, 0, 0);
    named.brief.spec = Some("docs/AUTH.md".into());
    assert!(!decide(&fresh(), &prompted("Run auth.md"), &knowing(named)).effects.is_empty());
    assert!(!takes("What are the tasks?", None));
    assert!(!takes("fix the typo in the readme", None));
}

#[test]
fn a_task_notification_is_not_the_human() {
    let mut state = fresh();
    let facts = knowing(plan(Some(ME), 2, 0, 0));
    go(&mut state, &stopping(), &facts);
    let notice = EventKind::prompt("<task-notification>do the tasks", PromptOrigin::Notification);
    let decision = go(&mut state, &event(notice), &knowing(plan(None, 2, 0, 0)));
    assert_eq!(decision.effects, []);
    assert_eq!(state.stop.refused, 1, "the account is not filled again");
}
