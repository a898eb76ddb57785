use steadfast_model::{Host, Millis, SessionId, ToolCall, ToolResult};

use super::*;

fn item(id: &str, status: ListStatus) -> ListItem {
    ListItem { status, ..ListItem::new(TaskId::new(id), format!("piece {id}")) }
}

fn checked(id: &str, status: ListStatus) -> ListItem {
    ListItem { check: Some(format!("test -f {id}")), ..item(id, status) }
}

fn listed(number: usize, status: ListStatus) -> Listed {
    Listed { subject: format!("piece {number}"), status, check: None }
}

fn state(items: Vec<ListItem>) -> State {
    let mut state = State::new(SessionId::new("s"), Host::Claude, Millis(1));
    state.rules.tasks_from = TaskSource::ClaudeTasks;
    let numbered = items.iter().filter_map(|item| item.id.as_str().parse().ok()).max().unwrap_or(0);
    state.list = Some(Box::new(HostList { items, numbered, ..HostList::default() }));
    state
}

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new("s"), Host::Claude, "/repo", Millis(2), kind)
}

fn came_back(call: ListCall) -> Event {
    let call = ToolCall { id: None, tool: "TodoWrite".into(), action: Action::List(call), words: Vec::new() };
    event(EventKind::PostTool(ToolResult {
        call,
        outcome: Outcome::Ok,
        millis: None,
        answers: Vec::new(),
        names: Vec::new(),
    }))
}

fn written(items: Vec<Listed>) -> Event {
    came_back(ListCall::Write { items, beyond: 0 })
}

use ListStatus::{Completed, InProgress, Pending};

#[test]
fn the_items_of_a_list_without_ids_are_numbered_and_found_again_by_their_words() {
    let first = follow(&state(Vec::new()), &written(vec![listed(1, Pending), listed(2, Pending)])).unwrap();
    assert_eq!((first.items, first.noticed), (vec![item("1", Pending), item("2", Pending)], vec![]));
    let known = state(vec![item("1", Pending), item("2", Pending)]);
    let more = vec![listed(2, InProgress), listed(1, Completed), listed(3, Pending)];
    let then = follow(&known, &written(more)).unwrap();
    assert_eq!(then.items, [item("2", InProgress), item("1", Completed), item("3", Pending)]);
    assert_eq!((then.gone, then.noticed), (vec![], vec![]));
    assert_eq!(follow(&known, &written(vec![listed(1, Pending), listed(2, Pending)])), None, "nothing is new");
}

#[test]
fn what_leaves_a_list_open_is_noticed_and_what_leaves_it_done_is_not() {
    let known = state(vec![item("1", Completed), item("2", Pending), checked("3", InProgress)]);
    let then = follow(&known, &written(Vec::new())).unwrap();
    assert_eq!(then.gone, ["1", "2", "3"].map(TaskId::new));
    assert_eq!(then.noticed, [Notice::Removed(item("2", Pending)), Notice::Removed(checked("3", InProgress))]);
    assert_eq!(
        describe(&then.noticed).as_deref(),
        Some(
            "The task list changed: 2 `piece 2` was open and is no longer on it; 3 `piece 3` was open and is no longer \
             on it, and stays a task of the ledger until its check passes."
        )
    );
}

#[test]
fn as_many_new_items_as_are_missing_are_those_renamed_and_keep_their_check() {
    let known = state(vec![item("1", Pending), checked("2", Pending)]);
    let then =
        follow(&known, &written(vec![listed(1, Pending), Listed { check: Some("true".into()), ..listed(9, Pending) }]));
    let then = then.unwrap();
    assert_eq!(then.items, [ListItem { subject: "piece 9".into(), ..checked("2", Pending) }]);
    assert_eq!(
        describe(&then.noticed).as_deref(),
        Some("The task list changed: 2 was `piece 2` and is `piece 9` now.")
    );
}

#[test]
fn a_subagents_own_list_is_not_the_sessions() {
    let agent = steadfast_model::Agent { id: steadfast_model::AgentId::new("a"), agent_type: "worker".into() };
    let theirs = Event { agent: Some(agent.clone()), ..written(vec![listed(1, Pending)]) };
    assert_eq!(follow(&state(Vec::new()), &theirs), None);
    let edit = ListEdit { status: Some(Completed), ..ListEdit::of(TaskId::new("1")) };
    let shared = Event { agent: Some(agent), ..came_back(ListCall::Edit(edit)) };
    assert_eq!(follow(&state(vec![item("1", Pending)]), &shared).unwrap().items, [item("1", Completed)]);
}

#[test]
fn nothing_is_followed_where_nobody_wants_it() {
    let mut state = state(Vec::new());
    state.rules.tasks_from = TaskSource::Native;
    assert_eq!(follow(&state, &written(vec![listed(1, Pending)])), None);
}

#[test]
fn a_look_finds_what_is_new_gone_renamed_or_completed_by_nobody() {
    let HostList { items, .. } = HostList {
        items: vec![
            item("1", Pending),
            checked("2", Pending),
            item("3", Pending),
            item("4", Pending),
            item("5", Completed),
        ],
        ..HostList::default()
    };
    let known = state(items);
    let ours = known.list.as_deref().unwrap();
    let on_disk = [
        item("1", Pending),
        ListItem { check: Some("true".into()), ..item("2", Completed) },
        ListItem { subject: "else".into(), ..item("3", Pending) },
        item("6", InProgress),
        item("7", Completed),
    ];
    let diff = difference(ours, &on_disk, &[TaskId::new("4")], Extent::Whole);
    let ids: Vec<&str> = diff.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!((ids, diff.gone.as_slice()), (vec!["2", "3", "6"], &[TaskId::new("5")][..]));
    assert_eq!(difference(ours, &on_disk, &[], Extent::Part).gone, []);
    let then = follow(&known, &event(EventKind::ListSeen(diff))).unwrap();
    assert_eq!(then.items[0], checked("2", Completed), "the check stays the one it came with");
    assert_eq!(
        describe(&then.noticed).as_deref(),
        Some(
            "The task list changed: 2 `piece 2` was completed outside this session; its check has not passed, so it \
             stays open here; 3 was `piece 3` and is `else` now."
        )
    );
}

#[test]
fn a_list_that_is_seen_as_it_is_known_is_no_news() {
    let known = state(vec![checked("1", Pending), item("2", Completed)]);
    let ours = known.list.as_deref().unwrap();
    assert_eq!(difference(ours, &ours.items, &[], Extent::Whole), ListDiff::default());
}

#[test]
fn of_two_thousand_open_items_the_first_are_followed_and_the_rest_is_counted() {
    let all: Vec<ListItem> = (1..=2_000).map(|id| item(&id.to_string(), Pending)).collect();
    let diff = difference(&HostList::default(), &all, &[], Extent::Whole);
    assert_eq!((diff.items.len(), diff.beyond), (HostList::FOLLOWED, 1_500));
    let many: Vec<Notice> = all.into_iter().map(Notice::Removed).collect();
    assert!(describe(&many).unwrap().ends_with("; and 1997 more."));
}

#[test]
fn an_item_that_joins_a_full_list_is_followed_and_what_gives_way_is_counted() {
    let full = state((1..=HostList::FOLLOWED).map(|id| item(&id.to_string(), Pending)).collect());
    let add = |id: &str| {
        came_back(ListCall::Add {
            id: Some(TaskId::new(id)),
            item: Listed { subject: "new".into(), ..Listed::default() },
        })
    };
    let then = follow(&full, &add("501")).unwrap();
    assert_eq!((then.items[0].id.as_str(), then.beyond), ("501", 1));
    assert_eq!(
        describe(&then.noticed).as_deref(),
        Some("The task list changed: it has 1 more than the 500 items that Steadfast tracks.")
    );
}

#[test]
fn of_a_list_that_is_too_long_to_be_seen_nothing_is_taken_for_gone_or_renamed() {
    let known = state(vec![item("1", Pending), item("2", Pending)]);
    let write = came_back(ListCall::Write { items: vec![listed(1, Pending), listed(3, Pending)], beyond: 1 });
    let then = follow(&known, &write).unwrap();
    assert_eq!((then.gone.len(), then.noticed.as_slice()), (0, &[Notice::Beyond(1)][..]));
    assert_eq!(then.items, [item("3", Pending)]);
}
