use steadfast_model::{EvidenceClass, HostList, ListItem, ListStatus};

use super::*;

fn item(id: &str, status: ListStatus) -> ListItem {
    ListItem { status, ..ListItem::new(TaskId::new(id), format!("piece {id}")) }
}

fn checked(id: &str, status: ListStatus) -> ListItem {
    ListItem { check: Some("true".into()), ..item(id, status) }
}

fn s() -> SessionId {
    session("s")
}

fn following(now: i64, items: &[ListItem], gone: &[&str]) -> Record {
    let effects = vec![Effect::FollowList {
        plan: HostList::plan(&s()),
        session: s(),
        worktree: WORKTREE.into(),
        items: items.to_vec(),
        gone: gone.iter().copied().map(TaskId::new).collect(),
    }];
    Record { effects, ..called(&s(), now) }
}

/// The journal so far, drained; how every task of the list stands.
fn after(ledger: &mut Ledger, records: Vec<Record>) -> Vec<(String, Status)> {
    ledger.drain(&s(), 1, journal(records)).unwrap();
    let tasks = ledger.tasks(&HostList::plan(&s())).unwrap();
    tasks.into_iter().map(|task| (task.title, task.status)).collect()
}

fn standing(tasks: &[(&str, Status)]) -> Vec<(String, Status)> {
    tasks.iter().map(|(title, status)| ((*title).to_owned(), *status)).collect()
}

use ListStatus::{Completed, InProgress, Pending};

#[test]
fn items_are_tasks_of_their_sessions_own_plan_and_bring_no_budget() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let items = [item("1", InProgress), checked("2", Pending)];
    let tasks = after(&mut ledger, vec![following(10, &items, &[])]);
    assert_eq!(tasks, standing(&[("piece 1", Status::InProgress), ("piece 2", Status::Pending)]));
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!((view.owner, view.added_by, view.counts.open()), (Some(s()), AddedBy::Agent, 2));
    let plan = HostList::plan(&s());
    assert!(!ledger.set_status(&plan, &id("1"), to(Status::Done)).unwrap().earned);
}

#[test]
fn a_word_closes_what_has_no_check_and_only_the_check_closes_what_has_one() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let first = following(10, &[item("1", Pending), checked("2", Pending)], &[]);
    let second = following(20, &[item("1", Completed), checked("2", Completed)], &[]);
    let tasks = after(&mut ledger, vec![first.clone(), second.clone()]);
    assert_eq!(tasks, standing(&[("piece 1", Status::Done), ("piece 2", Status::Pending)]));
    let evidence = ledger.evidence(&HostList::plan(&s())).unwrap();
    let classes: Vec<_> = evidence.iter().map(|(task, evidence)| (task.as_str(), evidence.class)).collect();
    assert_eq!(classes, [("1", EvidenceClass::Claimed)]);
    assert_eq!(ledger.claimed(&HostList::plan(&s())).unwrap().all, 1, "a human has to look at it");
    // The word is taken back, and the list drops both.
    let third = following(30, &[item("1", Pending)], &[]);
    let fourth = following(40, &[], &["1", "2"]);
    let tasks = after(&mut ledger, vec![first, second, third, fourth]);
    assert_eq!(tasks, standing(&[("piece 1", Status::Blocked), ("piece 2", Status::Pending)]));
    let blocked = ledger.blocked(&HostList::plan(&s())).unwrap();
    assert_eq!(blocked[0].reason.as_deref(), Some("it was removed from the host's task list while it was open"));
    assert!(ledger.claimed(&HostList::plan(&s())).unwrap().is_empty());
}

#[test]
fn what_was_closed_here_stays_closed_and_a_check_stays_the_one_it_came_with() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let first = following(10, &[checked("1", Pending), item("2", Pending)], &[]);
    after(&mut ledger, vec![first.clone()]);
    let plan = HostList::plan(&s());
    ledger.set_status(&plan, &id("1"), to(Status::Done)).unwrap();
    ledger.set_status(&plan, &id("2"), to(Status::Blocked)).unwrap();
    let other = ListItem { subject: "else".into(), check: Some("false".into()), ..item("1", InProgress) };
    let tasks = after(&mut ledger, vec![first, following(20, &[other, item("2", InProgress)], &[])]);
    assert_eq!(tasks, standing(&[("else", Status::Done), ("piece 2", Status::Blocked)]));
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().verify.unwrap().as_command(), Some("true"));
}

#[test]
fn an_item_waits_for_what_it_is_blocked_by_and_no_circle_closes() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let waits = |name: &str, before: &[&str]| ListItem {
        blocked_by: before.iter().copied().map(TaskId::new).collect(),
        ..item(name, Pending)
    };
    let items = [waits("1", &["2", "9"]), waits("2", &["3"]), waits("3", &["1", "3"])];
    after(&mut ledger, vec![following(10, &items, &[])]);
    let plan = HostList::plan(&s());
    let tasks = ledger.tasks(&plan).unwrap();
    let before: Vec<Vec<&str>> =
        tasks.iter().map(|task| task.blocked_by.iter().map(TaskId::as_str).collect()).collect();
    assert_eq!(before, [vec!["2"], vec!["3"], vec![]]);
    let ready: Vec<TaskId> = ledger.ready(&plan).unwrap().into_iter().map(|task| task.id).collect();
    assert_eq!(ready, [id("3")]);
}

#[test]
fn a_list_is_its_sessions_and_nobody_elses() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    after(&mut ledger, vec![following(10, &[item("1", Pending)], &[])]);
    let plan = |view: Option<steadfast_model::PlanView>| view.map(|view| view.id);
    let of = |ledger: &Ledger, name: &str| plan(ledger.plan_view_of(WORKTREE, &session(name)).unwrap());
    assert_eq!((of(&ledger, "s"), of(&ledger, "t")), (Some(HostList::plan(&s())), None));
    let slice = |name: &str| plan(super::super::read_slices_of(dir.path(), WORKTREE, &session(name)));
    assert_eq!((slice("s"), slice("t")), (Some(HostList::plan(&s())), None));
    let native = list(&mut ledger);
    ledger.add_task(&native, named("1"), at(5)).unwrap();
    assert_eq!((of(&ledger, "s"), of(&ledger, "t")), (Some(HostList::plan(&s())), Some(native.clone())));
    // Of a session that is over nobody is shown more than what else there is.
    let records = vec![following(10, &[item("1", Pending)], &[]), ended(&s(), 20)];
    ledger.drain(&s(), 1, journal(records)).unwrap();
    assert_eq!(plan(ledger.plan_view(WORKTREE).unwrap()), Some(native));
}

#[test]
fn a_list_that_a_human_cleared_stays_cleared() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let first = following(10, &[item("1", Pending)], &[]);
    after(&mut ledger, vec![first.clone()]);
    ledger.clear_plan(&HostList::plan(&s()), at(15)).unwrap();
    let tasks = after(&mut ledger, vec![first, following(20, &[item("2", Pending)], &[])]);
    assert_eq!(tasks, standing(&[("piece 1", Status::Pending)]));
}

#[test]
fn two_thousand_items_are_one_commit() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let items: Vec<ListItem> = (1..=2_000).map(|number: u32| checked(&number.to_string(), Pending)).collect();
    let before = commits(&dir);
    after(&mut ledger, vec![following(10, &items, &[])]);
    assert_eq!(commits(&dir), before + 1);
    assert_eq!(ledger.plan_view_of(WORKTREE, &s()).unwrap().unwrap().counts.open(), 2_000);
}

/// The commits in the write-ahead log, as <https://sqlite.org/fileformat2.html#walformat> has it: the last frame of each
/// says how many pages the database has then, and the others say 0.
fn commits(dir: &TempDir) -> usize {
    let log = std::fs::read(dir.path().join("state.db-wal")).unwrap();
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let page = number(&log[8..12]) as usize;
    log[32..].chunks_exact(24 + page).filter(|frame| frame[8..16] == log[16..24] && number(&frame[4..8]) > 0).count()
}

mod timing {
    use std::time::Instant;

    use super::*;

    fn takes(items: usize) -> Duration {
        let dir = dir();
        let mut ledger = Ledger::open(dir.path()).unwrap();
        let items: Vec<ListItem> = (1..=items).map(|number| checked(&number.to_string(), Pending)).collect();
        let records = vec![following(10, &items, &[])];
        let started = Instant::now();
        after(&mut ledger, records);
        started.elapsed()
    }

    #[test]
    fn two_thousand_items_are_followed_in_time() {
        assert_no_square(takes);
    }
}
