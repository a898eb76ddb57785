use steadfast_model::{
    Action, ListCall, ListEdit, ListStatus, Listed, Millis, Outcome, PlanId, Ruling, SessionId, Status, Stopping,
    TaskChanged, TaskId, ToolCall, ToolResult,
};

use super::*;
use crate::{PolicyDecision, decide};

const ME: &str = "session-1";

fn fresh() -> State {
    let mut state = State::new(SessionId::new(ME), Host::Claude, Millis(0));
    state.rules.tasks_from = TaskSource::ClaudeTasks;
    state
}

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new(ME), Host::Claude, "/repo/src", Millis(1_000), kind)
}

fn call(list: ListCall) -> ToolCall {
    ToolCall { id: None, tool: "TaskUpdate".into(), action: Action::List(list), words: Vec::new() }
}

fn before(list: ListCall) -> Event {
    event(EventKind::PreTool(call(list)))
}

fn after(list: ListCall) -> Event {
    let result =
        ToolResult { call: call(list), outcome: Outcome::Ok, millis: None, answers: Vec::new(), names: Vec::new() };
    event(EventKind::PostTool(result))
}

fn completes(id: &str) -> ListCall {
    ListCall::Edit(ListEdit { status: Some(ListStatus::Completed), ..ListEdit::of(TaskId::new(id)) })
}

fn adds(id: &str, check: Option<&str>) -> ListCall {
    let item = Listed { subject: format!("piece {id}"), check: check.map(str::to_owned), ..Listed::default() };
    ListCall::Add { id: Some(TaskId::new(id)), item }
}

/// Decides and folds, as the hook does.
fn go(state: &mut State, event: &Event) -> PolicyDecision {
    let facts = Facts { checkout: Some("/repo".into()), ..Facts::default() };
    let decision = decide(state, event, &facts);
    let sequence = state.sequence + 1;
    state.advance(sequence, event.at, &decision.changes);
    decision
}

fn changed(plan: &str, task: &str, status: Status) -> Event {
    let (plan, task) = (PlanId::new(plan), TaskId::new(task));
    event(EventKind::TaskChanged(TaskChanged { plan, task, status, earned: false }))
}

#[test]
fn an_item_with_a_check_is_completed_when_the_check_has_passed_and_not_before() {
    let mut state = fresh();
    go(&mut state, &after(adds("1", None)));
    go(&mut state, &after(adds("2", Some("grep -q x a.ts"))));
    assert_eq!(go(&mut state, &before(completes("1"))).answer.ruling, Ruling::Pass, "nothing checks it");
    let reason =
        "2 `piece 2` is not completed: its check `grep -q x a.ts` has not passed on this tree. `steadfast task \
                  done 2` runs it and closes the item; `steadfast task block 2 --why REASON` sets it aside."
            .to_owned();
    assert_eq!(go(&mut state, &before(completes("2"))).answer.ruling, Ruling::Deny { reason });
    go(&mut state, &changed("another", "2", Status::Done));
    assert!(matches!(go(&mut state, &before(completes("2"))).answer.ruling, Ruling::Deny { .. }), "of another plan");
    go(&mut state, &changed("host-session-1", "2", Status::Done));
    assert_eq!(go(&mut state, &before(completes("2"))).answer.ruling, Ruling::Pass);
    go(&mut state, &changed("host-session-1", "2", Status::Pending));
    assert!(matches!(go(&mut state, &before(completes("2"))).answer.ruling, Ruling::Deny { .. }), "it was reopened");
}

#[test]
fn a_list_that_calls_a_new_item_completed_is_refused_when_that_has_a_check() {
    let done = |check: Option<&str>| Listed {
        subject: "a".into(),
        status: ListStatus::Completed,
        check: check.map(str::to_owned),
    };
    let writes = |items| before(ListCall::Write { items, beyond: 0 });
    assert_eq!(go(&mut fresh(), &writes(vec![done(None)])).answer.ruling, Ruling::Pass);
    let Ruling::Deny { reason } = go(&mut fresh(), &writes(vec![done(Some("ls")), done(Some("ls"))])).answer.ruling
    else {
        panic!()
    };
    assert_eq!(
        reason,
        "`a` is not completed: its check `ls` has not passed on this tree. Once it is on the list as open it has an id, and \
         `steadfast task done ID` runs it. The same is true of 1 more."
    );
}

#[test]
fn what_is_followed_goes_to_the_ledger_as_the_sessions_own_plan() {
    let mut state = fresh();
    let decision = go(&mut state, &after(adds("7", Some("ls"))));
    let item = state.list.as_ref().unwrap().items[0].clone();
    assert_eq!((item.id.as_str(), item.check.as_deref(), decision.answer.is_pass()), ("7", Some("ls"), true));
    assert_eq!(
        decision.effects,
        [Effect::FollowList {
            plan: PlanId::new("host-session-1"),
            session: SessionId::new(ME),
            worktree: "/repo".into(),
            items: vec![item],
            gone: Vec::new(),
        }]
    );
    assert!(!decision.effects[0].is_applied_by_ledger(), "a tool event never opens the ledger");
}

#[test]
fn without_the_users_word_nothing_is_followed_refused_or_said() {
    let mut state = fresh();
    state.rules.tasks_from = TaskSource::Native;
    for event in [after(adds("1", Some("ls"))), before(completes("1")), after(completes("1"))] {
        let decision = go(&mut state, &event);
        assert!(decision.answer.is_pass() && decision.effects.is_empty());
    }
    assert_eq!(state.list, None);
}

#[test]
fn observing_refuses_nothing_and_the_ledger_still_knows_the_list() {
    let mut state = fresh();
    state.rules.completion = Mode::Observe;
    // Who looks again later must find the tasks that are spoken of.
    assert_eq!(go(&mut state, &after(adds("1", Some("ls")))).effects.len(), 1);
    let decision = go(&mut state, &before(completes("1")));
    assert!(decision.answer.is_pass() && decision.opinions.len() == 1);
}

#[test]
fn files_that_cannot_be_read_are_said_once_to_the_human() {
    let mut state = fresh();
    go(&mut state, &after(adds("1", None)));
    let seen = |faults: &[&str]| {
        event(EventKind::ListSeen(ListDiff {
            faults: faults.iter().map(|&f| f.to_owned()).collect(),
            ..ListDiff::default()
        }))
    };
    let note = |state: &mut State, faults: &[&str]| go(state, &seen(faults)).answer.note;
    let text = "Steadfast could not read all of the host's task list: `2.json`: not a task.";
    assert_eq!(note(&mut state, &["`2.json`: not a task"]).as_deref(), Some(text));
    assert_eq!(note(&mut state, &["`2.json`: not a task"]), None);
    assert_eq!(note(&mut state, &[]), None);
    assert_eq!(note(&mut state, &["`2.json`: not a task"]).as_deref(), Some(text), "it came back");
}

fn told(id: &str, check: Option<&str>) -> ItemTold {
    let item = ListItem::new(TaskId::new(id), format!("piece {id}"));
    ItemTold { item: ListItem { check: check.map(str::to_owned), ..item }, team: None }
}

fn completed(id: &str, check: Option<&str>) -> Event {
    event(EventKind::ItemCompleted(told(id, check)))
}

#[test]
fn a_completion_that_no_call_announced_is_refused_by_the_check_that_the_host_names() {
    let mut state = fresh();
    go(&mut state, &after(adds("1", None)));
    assert_eq!(go(&mut state, &before(completes("1"))).answer.ruling, Ruling::Pass, "nothing is known of a check");
    let refused = go(&mut state, &completed("1", Some("ls x")));
    let Ruling::Deny { reason } = refused.answer.ruling else { panic!() };
    assert!(reason.starts_with("1 `piece 1` is not completed: its check `ls x` has not passed"), "{reason}");
    let list = state.list.as_deref().unwrap();
    assert_eq!(list.items[0].check.as_deref(), Some("ls x"), "it is known from now on");
    assert!(matches!(refused.effects[..], [Effect::FollowList { .. }]), "{:?}", refused.effects);
    go(&mut state, &changed("host-session-1", "1", Status::Done));
    assert!(go(&mut state, &completed("1", Some("ls x"))).answer.is_pass());
    // A session that never saw the list, with one item that has a check and one that has none.
    let mut other = fresh();
    assert!(go(&mut other, &completed("8", None)).answer.is_pass());
    assert!(matches!(go(&mut other, &completed("9", Some("ls"))).answer.ruling, Ruling::Deny { .. }));
    let items: Vec<_> =
        other.list.as_deref().unwrap().items.iter().map(|item| (item.id.as_str(), item.is_open())).collect();
    assert_eq!(items, [("8", true), ("9", true)]);
}

#[test]
fn the_check_of_an_item_stays_the_one_it_came_with() {
    let mut state = fresh();
    go(&mut state, &after(adds("1", Some("cargo test"))));
    let Ruling::Deny { reason } = go(&mut state, &completed("1", Some("true"))).answer.ruling else { panic!() };
    assert!(reason.contains("`cargo test`"), "{reason}");
}

#[test]
fn refusing_completions_ends_with_the_account_and_never_outlives_a_stop() {
    let mut state = fresh();
    state.rules.stop.max_idle = 2;
    let denied = |decision: PolicyDecision| matches!(decision.answer.ruling, Ruling::Deny { .. });
    let rulings: Vec<bool> = (0..3).map(|_| denied(go(&mut state, &completed("1", Some("ls"))))).collect();
    assert_eq!(rulings, [true, true, false]);
    go(&mut state, &before(completes("2")));
    assert!(denied(go(&mut state, &completed("1", Some("ls")))), "a call came between");
    go(&mut state, &before(completes("2")));
    let stopping = Stopping { again: false, last_message: None, background: None, wakeups: 0 };
    go(&mut state, &event(EventKind::Stop(stopping)));
    assert!(!denied(go(&mut state, &completed("1", Some("ls")))), "the end of the turn is answered already");
    state.subagents.push(steadfast_model::AgentId::new("a-1"));
    assert!(denied(go(&mut state, &completed("1", Some("ls")))), "a subagent goes on");
}

#[test]
fn an_item_that_is_created_says_whose_list_it_is_and_is_taken_in_later() {
    let mut state = fresh();
    let team = |team: Option<&str>| {
        event(EventKind::ItemCreated(ItemTold { team: team.map(str::to_owned), ..told("1", Some("ls")) }))
    };
    let decision = go(&mut state, &team(Some("session-1")));
    assert!(decision.answer.is_pass() && decision.effects.is_empty());
    let list = HostList { team: Some("session-1".into()), ..HostList::default() };
    assert_eq!(state.list.as_deref(), Some(&list));
    assert!(go(&mut state, &team(None)).changes.is_empty());
    state.rules.tasks_from = TaskSource::Native;
    assert!(go(&mut state, &team(Some("other"))).changes.is_empty());
    assert!(go(&mut state, &completed("1", Some("ls"))).answer.is_pass());
}
