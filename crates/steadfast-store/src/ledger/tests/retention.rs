//! Deletion of old sessions, and the limits of stored texts.

use steadfast_model::{Approval, Fact, PlanView, TaskLine};

use super::*;
use crate::ledger::{
    Claiming, Forgotten, HistoryFilter, LearningKind, LearningSource, LedgerError, NewLearning, Query, RecalledItem,
    Taken,
};

fn drained(ledger: &mut Ledger, name: &str, now: i64) -> SessionId {
    let id = session(name);
    ledger.drain(&id, 1, journal([started(&id, now), refused(&id, now)])).unwrap();
    id
}

#[test]
fn a_session_is_forgotten_with_its_history_and_no_other() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let (old, young) = (drained(&mut ledger, "old", 10), drained(&mut ledger, "young", 20));
    assert_eq!(ledger.silent_since(at(20)).unwrap(), std::slice::from_ref(&old));
    assert_eq!(ledger.history_of(&[old.clone(), young.clone()]).unwrap(), 2);
    assert_eq!(ledger.forget(std::slice::from_ref(&old)).unwrap(), Forgotten { sessions: 1, lines: 1 });
    ledger.compact().unwrap();
    let left: Vec<_> = ledger.sessions().unwrap().into_iter().map(|row| row.id).collect();
    assert_eq!(left, [young]);
    assert_eq!(ledger.history(&HistoryFilter::default()).unwrap().len(), 1);
    assert_eq!(ledger.drained(&old).unwrap(), None);
    assert_eq!(ledger.forget(&[old]).unwrap(), Forgotten::default());
}

#[test]
fn a_session_is_forgotten_with_its_steps_and_what_was_learned_stays() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let new = NewLearning {
        kind: LearningKind::Discovery,
        text: "Tokens live an hour".into(),
        why: String::new(),
        files: Vec::new(),
        session: Some(session("old")),
        source: LearningSource::Agent,
    };
    ledger.learn(&new, at(1)).unwrap();
    for name in ["old", "young"] {
        let id = session(name);
        ledger.drain(&id, 1, journal([work::stepped(&id, 10, work::step(1, 9))])).unwrap();
    }
    ledger.forget(&[session("old")]).unwrap();
    ledger.compact().unwrap();
    let left: Vec<_> = ledger.session_states().unwrap().iter().map(|state| state.session().clone()).collect();
    assert_eq!(left, [session("young")]);
    assert_eq!(ledger.steps_of(&session("old"), 10).unwrap(), []);
    let keys: i64 =
        ledger.connection.query_row("SELECT COUNT(DISTINCT step) FROM step_key", (), |row| row.get(0)).unwrap();
    assert_eq!((keys, ledger.learnings().unwrap().len()), (1, 1));
    let query = Query { files: vec!["README.md".into()], limit: 10, ..Query::default() };
    let [found] = &ledger.recall(&query).unwrap()[..] else { panic!() };
    assert!(matches!(&found.memory, RecalledItem::Step(step) if step.session == session("young")), "{found:?}");
}

#[test]
fn a_plan_outlives_its_owner_and_is_free_then() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    ledger.add_task(&plan, named("1"), at(1)).unwrap();
    let (old, new) = (drained(&mut ledger, "old", 10), session("new"));
    ledger.take_plan(&plan, &old, Claiming::UnlessHeld, at(10)).unwrap();
    ledger.forget(&[old]).unwrap();
    assert_eq!(ledger.tasks(&plan).unwrap().len(), 1);
    assert_eq!(read_slices(dir.path(), WORKTREE).unwrap().owner, None);
    assert_eq!(ledger.take_plan(&plan, &new, Claiming::UnlessHeld, at(11)).unwrap(), Taken::Yes);
}

#[test]
fn a_session_that_comes_back_is_drained_from_its_first_line() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let id = drained(&mut ledger, "back", 10);
    ledger.forget(std::slice::from_ref(&id)).unwrap();
    let again = ledger.drain(&id, 1, journal([called(&id, 99)])).unwrap();
    assert_eq!((again.applied, ledger.sessions().unwrap()[0].tool_calls), (1, 1));
}

#[test]
fn a_reason_and_its_facts_are_kept_within_a_bound() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let id = session("talker");
    let mut record = refused(&id, 5);
    record.opinions[0].verdict = Verdict::Continue { reason: "ä".repeat(50_000) };
    let plan = PlanId::new("p");
    let line = TaskLine { id: super::id("1"), title: "t".repeat(50_000), status: Status::Pending };
    record.facts.plan = Fact::Known(Some(PlanView {
        id: plan,
        title: "engine".into(),
        worktree: WORKTREE.into(),
        hash: None,
        added_by: AddedBy::Human,
        approval: Approval::NotRequired,
        owner: None,
        owner_ended: None,
        run: None,
        counts: steadfast_model::Counts::default(),
        open: vec![line],
        checking: Vec::new(),
        brief: steadfast_model::Brief::default(),
    }));
    ledger.drain(&id, 1, journal([record])).unwrap();
    let kept = ledger.history(&HistoryFilter::default()).unwrap().remove(0);
    assert!(kept.reason.len() <= 10_000 && kept.reason.ends_with("ä…"), "{}", kept.reason.len());
    let facts = kept.facts.unwrap();
    assert!(facts.as_str().unwrap().ends_with(" bytes, too long to keep"), "{facts}");
}

#[test]
fn texts_of_a_task_have_a_bound_in_characters() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let text = |length: usize| "ö".repeat(length);
    let new =
        |title: usize, notes: usize| NewTask { notes: Some(text(notes)), ..NewTask::new(text(title), AddedBy::Human) };
    ledger.add_task(&plan, new(500, 4_000), at(1)).unwrap();
    let refused = |error: LedgerError| error.to_string();
    assert_eq!(
        [
            refused(ledger.add_task(&plan, new(501, 1), at(1)).unwrap_err()),
            refused(ledger.add_task(&plan, new(1, 4_001), at(1)).unwrap_err()),
            refused(ledger.add_task(&plan, NewTask { id: Some(id(&text(101))), ..new(1, 1) }, at(1)).unwrap_err()),
            refused(ledger.add_task(&plan, NewTask { files: vec![text(4_097)], ..new(1, 1) }, at(1)).unwrap_err()),
            refused(
                ledger
                    .add_task(
                        &plan,
                        NewTask { verify: Some(steadfast_model::Check::command(text(4_001))), ..new(1, 1) },
                        at(1)
                    )
                    .unwrap_err()
            ),
            refused(ledger.add_task(&plan, NewTask { files: vec![text(1); 1_001], ..new(1, 1) }, at(1)).unwrap_err()),
            refused(
                ledger
                    .set_status(&plan, &id("1"), StatusChange { reason: Some(text(1_001)), ..to(Status::Blocked) })
                    .unwrap_err()
            ),
        ],
        [
            "the title of a task has 501 characters; the limit is 500",
            "the note of a task has 4001 characters; the limit is 4000",
            "the id of a task has 101 characters; the limit is 100",
            "a path of a task has 4097 characters; the limit is 4096",
            "the check of a task has 4001 characters; the limit is 4000",
            "a task names 1001 files; the limit is 1000",
            "the reason for blocking a task has 1001 characters; the limit is 1000",
        ]
    );
    assert_eq!(ledger.tasks(&plan).unwrap().len(), 1);
}
