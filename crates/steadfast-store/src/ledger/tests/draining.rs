use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use steadfast_model::{Host, OwnerEnd, State};

use super::*;
use crate::ledger::{Drained, HistoryFilter, HistoryLine, JournalCursor, LedgerError, Query, SessionRow};

fn s() -> SessionId {
    session("s")
}

/// All that draining can change.
fn told(ledger: &Ledger) -> (Vec<SessionRow>, Vec<HistoryLine>, Option<SessionId>) {
    let owner = ledger.plan_view(WORKTREE).unwrap().and_then(|plan| plan.owner);
    (
        ledger.sessions().unwrap(),
        ledger.history(&HistoryFilter { limit: 10_000, ..HistoryFilter::default() }).unwrap(),
        owner,
    )
}

#[test]
fn a_journal_becomes_a_session_and_its_history() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    let lines = journal([
        started(&s(), 10),
        taking(&s(), 20, &plan),
        called(&s(), 30),
        called(&s(), 40),
        refused(&s(), 50),
        ended(&s(), 60),
    ]);
    let drained = ledger.drain(&s(), 7, lines).unwrap();

    assert_eq!(drained, Drained { sequence: 6, offset: 60, applied: 6 });
    assert_eq!(ledger.drained(&s()).unwrap(), Some(JournalCursor { sequence: 6, file_start: 7, offset: 60 }));
    let row = SessionRow {
        id: s(),
        host: Host::Claude,
        worktree: Some(WORKTREE.into()),
        started_at: at(10),
        last_at: at(60),
        ended: Some(OwnerEnd { reason: "exit".into(), at: at(60) }),
        prompts: 1,
        tool_calls: 2,
        refusals: 1,
    };
    let line = HistoryLine {
        at: at(50),
        session: s(),
        sequence: 5,
        agent: None,
        event: "Interrupt".into(),
        policy: "completion".into(),
        mode: "enforce".into(),
        verdict: "continue".into(),
        reason: "refused at 50".into(),
        facts: None,
    };
    assert_eq!(told(&ledger), (vec![row], vec![line], Some(s())));
}

#[test]
fn nothing_is_drained_of_a_session_nobody_saw() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    assert_eq!(ledger.drained(&s()).unwrap(), None);
    assert_eq!(ledger.drain(&s(), 0, []).unwrap(), Drained { sequence: 0, offset: 0, applied: 0 });
    assert_eq!(ledger.drained(&s()).unwrap(), None);
}

#[test]
fn lines_that_are_in_the_ledger_are_skipped() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let lines = journal((1..=4).map(|now| refused(&s(), now)));
    ledger.drain(&s(), 0, lines[..3].to_vec()).unwrap();
    assert_eq!(ledger.drain(&s(), 0, lines[..2].to_vec()).unwrap(), Drained { sequence: 3, offset: 30, applied: 0 });
    assert_eq!(ledger.drain(&s(), 0, lines).unwrap(), Drained { sequence: 4, offset: 40, applied: 1 });
    assert_eq!(ledger.sessions().unwrap()[0].refusals, 4);
}

#[test]
fn a_gap_is_refused_whole() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let mut lines = journal((1..=6).map(|now| refused(&s(), now)));
    ledger.drain(&s(), 0, lines[..2].to_vec()).unwrap();
    let before = told(&ledger);
    lines.remove(4);
    let error = ledger.drain(&s(), 0, lines).unwrap_err();
    assert!(matches!(&error, LedgerError::Gap { expected: 5, found: 6, .. }), "{error:?}");
    assert_eq!(told(&ledger), before);
    assert_eq!(ledger.drained(&s()).unwrap(), Some(JournalCursor { sequence: 2, file_start: 0, offset: 20 }));
}

#[test]
fn a_journal_that_does_not_begin_at_the_beginning_has_a_gap() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let lines = journal([refused(&s(), 1), refused(&s(), 2)]);
    let error = ledger.drain(&s(), 0, lines.into_iter().skip(1)).unwrap_err();
    assert!(matches!(error, LedgerError::Gap { expected: 1, found: 2, .. }), "{error:?}");
}

fn snapshot(sequence: u64) -> Line {
    let mut state = State::new(s(), Host::Codex, at(1));
    state.sequence = sequence;
    (state.last_at, state.prompts, state.tool_calls) = (at(8), 3, 20);
    Line { sequence, end: 10, entry: Entry::Snapshot(Box::new(state)) }
}

#[test]
fn a_rotated_journal_goes_on_where_the_old_one_ended() {
    for sequence in [2, 3] {
        let dir = dir();
        let mut ledger = Ledger::open(dir.path()).unwrap();
        ledger.drain(&s(), 0, journal([prompted(&s(), 1), called(&s(), 2)])).unwrap();
        let before = told(&ledger);
        ledger.drain(&s(), 2, [snapshot(sequence)]).unwrap();
        assert_eq!(told(&ledger), before, "what the snapshot says was counted before");
        assert_eq!(ledger.drained(&s()).unwrap(), Some(JournalCursor { sequence, file_start: 2, offset: 10 }));

        let next = Line { sequence: sequence + 1, end: 25, entry: Entry::Record(Box::new(called(&s(), 9))) };
        ledger.drain(&s(), 2, [snapshot(sequence), next]).unwrap();
        assert_eq!(ledger.sessions().unwrap()[0].tool_calls, 2);
        assert_eq!(
            ledger.drained(&s()).unwrap(),
            Some(JournalCursor { sequence: sequence + 1, file_start: 2, offset: 25 })
        );
    }
}

#[test]
fn a_ledger_younger_than_the_session_starts_at_its_snapshot() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let next = Line { sequence: 501, end: 20, entry: Entry::Record(Box::new(called(&s(), 9))) };
    ledger.drain(&s(), 500, [snapshot(500), next]).unwrap();
    let row = SessionRow {
        id: s(),
        host: Host::Codex,
        worktree: Some(WORKTREE.into()),
        started_at: at(1),
        last_at: at(9),
        ended: None,
        prompts: 3,
        tool_calls: 21,
        refusals: 0,
    };
    assert_eq!(ledger.sessions().unwrap(), [row]);
}

#[test]
fn a_snapshot_does_not_hide_a_gap() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    ledger.drain(&s(), 0, journal([called(&s(), 1)])).unwrap();
    let error = ledger.drain(&s(), 499, [snapshot(500)]).unwrap_err();
    assert!(matches!(error, LedgerError::Gap { expected: 2, found: 500, .. }), "{error:?}");
}

#[test]
fn a_ledger_put_back_from_before_a_rotation_goes_on_at_the_snapshot() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    ledger.drain(&s(), 0, journal([prompted(&s(), 5), refused(&s(), 6)])).unwrap();
    let before = ledger.sessions().unwrap().remove(0);

    let next = |sequence| Line { sequence, end: 20, entry: Entry::Record(Box::new(called(&s(), 9))) };
    let gap = ledger.drain(&s(), 500, [snapshot(500), next(502)]).unwrap_err();
    assert!(matches!(gap, LedgerError::Gap { expected: 501, found: 502, .. }), "{gap:?}");
    assert_eq!((ledger.sessions().unwrap(), log(&dir)), (vec![before.clone()], Vec::new()), "all or nothing");

    for _ in 0..2 {
        ledger.drain(&s(), 500, [snapshot(500), next(501)]).unwrap();
        let row = SessionRow { last_at: at(9), prompts: 3, tool_calls: 21, ..before.clone() };
        assert_eq!(ledger.sessions().unwrap(), [row], "where it began, its worktree and its refusal stay");
        assert_eq!(ledger.drained(&s()).unwrap(), Some(JournalCursor { sequence: 501, file_start: 500, offset: 20 }));
    }
    let [line] = &log(&dir)[..] else { panic!("{:?}", log(&dir)) };
    let said = "lines 3 to 500 of the journal of s are not in this ledger: the ledger is older than the last \
                rotation of the journal; only their counts were taken over";
    assert!(line.ends_with(said), "{line}");
}

#[test]
fn a_session_that_ended_while_nobody_counted_has_ended() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    ledger.drain(&s(), 0, journal([called(&s(), 1)])).unwrap();
    let mut last = snapshot(500);
    if let Entry::Snapshot(state) = &mut last.entry {
        state.ended = Some("exit".into());
    }
    ledger.drain(&s(), 500, [last]).unwrap();
    assert_eq!(ledger.sessions().unwrap()[0].ended, Some(OwnerEnd { reason: "exit".into(), at: at(8) }));
}

#[test]
fn the_same_event_through_two_wirings_is_one_refusal() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let repeated = Record { opinions: Vec::new(), ..refused(&s(), 2) };
    ledger.drain(&s(), 0, journal([refused(&s(), 1), repeated])).unwrap();
    assert_eq!(ledger.sessions().unwrap()[0].refusals, 1);
}

#[test]
fn a_plan_that_is_gone_does_not_stop_a_drain() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let drained = ledger.drain(&s(), 0, journal([taking(&s(), 1, &PlanId::new("gone")), called(&s(), 2)])).unwrap();
    assert_eq!(drained.applied, 2);
}

#[test]
fn a_drain_does_not_take_a_plan_from_a_living_session() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = list(&mut ledger);
    for name in ["a", "b"] {
        ledger.drain(&session(name), 0, journal([taking(&session(name), 1, &plan)])).unwrap();
    }
    assert_eq!(told(&ledger).2, Some(session("a")));
}

#[test]
fn history_is_newest_first_and_can_be_narrowed() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    for (name, times) in [("a", [1, 4]), ("b", [2, 3])] {
        ledger.drain(&session(name), 0, journal(times.map(|now| refused(&session(name), now)))).unwrap();
    }
    let times = |filter: HistoryFilter| -> Vec<i64> {
        ledger.history(&filter).unwrap().into_iter().map(|line| line.at.0).collect()
    };
    assert_eq!(times(HistoryFilter::default()), [4, 3, 2, 1]);
    assert_eq!(times(HistoryFilter { limit: 2, ..HistoryFilter::default() }), [4, 3]);
    assert_eq!(times(HistoryFilter { session: Some(session("a")), ..HistoryFilter::default() }), [4, 1]);
    assert_eq!(times(HistoryFilter { since: Some(at(3)), ..HistoryFilter::default() }), [4, 3]);
    assert_eq!(
        times(HistoryFilter { policy: Some(PolicyName::Completion), limit: 1, ..HistoryFilter::default() }),
        [4]
    );
    let verdicts = |verdict: &str| HistoryFilter { verdicts: vec![verdict.into()], ..HistoryFilter::default() };
    assert_eq!(times(verdicts("continue")), [4, 3, 2, 1]);
    assert_eq!(times(verdicts("deny")), [0; 0]);
    let after = HistoryFilter { session: Some(session("a")), after: Some(1), ..HistoryFilter::default() };
    assert_eq!(times(after), [4]);
}

#[test]
fn a_line_that_is_not_drained_yet_is_the_one_that_draining_makes() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let lines: Vec<_> = journal([started(&s(), 1), refused(&s(), 2)]);
    let told: Vec<HistoryLine> = lines
        .iter()
        .flat_map(|line| match &line.entry {
            Entry::Record(record) => HistoryLine::of(&s(), line.sequence, record),
            Entry::Snapshot(_) => Vec::new(),
        })
        .collect();
    ledger.drain(&s(), 0, lines).unwrap();
    assert_eq!(ledger.history(&HistoryFilter::default()).unwrap(), told);
    assert!(told.iter().all(|line| HistoryFilter::default().takes(line)));
    let not = HistoryFilter { after: Some(2), ..HistoryFilter::default() };
    assert!(!told.iter().any(|line| not.takes(line)));
}

#[test]
fn a_process_that_dies_while_it_drains_leaves_nothing_behind() {
    let dir = dir();
    let status = process::quietly(process::play("die while draining", dir.path()));
    assert!(!status.success());
    let mut ledger = Ledger::open(dir.path()).unwrap();
    assert_eq!((ledger.drained(&s()).unwrap(), told(&ledger)), (None, (Vec::new(), Vec::new(), None)));
    ledger.drain(&s(), 0, journal((1..=5).map(|now| refused(&s(), now)))).unwrap();
    assert_eq!(ledger.history(&HistoryFilter::default()).unwrap().len(), 5);
}

/// One attempt at draining: from where to where in the journal, and whether it dies on its last line.
#[derive(Clone, Debug)]
struct Attempt {
    from: prop::sample::Index,
    upto: prop::sample::Index,
    dies: bool,
    opens_again: bool,
}

fn attempt() -> impl Strategy<Value = Attempt> {
    (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::bool::weighted(0.3), any::<bool>())
        .prop_map(|(from, upto, dies, opens_again)| Attempt { from, upto, dies, opens_again })
}

fn records() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0_u8..8, 1..30)
}

fn written(kinds: &[u8], plan: &PlanId) -> Vec<Line> {
    journal((1..).zip(kinds).map(|(now, kind)| match kind {
        0 => started(&s(), now),
        1 => ended(&s(), now),
        2 => prompted(&s(), now),
        3 => called(&s(), now),
        4 => taking(&s(), now, plan),
        5 => work::stepped(&s(), now, work::step(now.unsigned_abs(), 9)),
        6 => work::stepped(&s(), now, work::step(now.unsigned_abs(), 4)),
        _ => refused(&s(), now),
    }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_is_applied_exactly_once_whoever_dies_when(
        kinds in records(),
        attempts in prop::collection::vec(attempt(), 0..12),
    ) {
        let (once, often) = (dir(), dir());
        let mut whole = Ledger::open(once.path()).unwrap();
        let plan = list(&mut whole);
        let lines = written(&kinds, &plan);
        whole.drain(&s(), 0, lines.clone()).unwrap();

        let mut ledger = Ledger::open(often.path()).unwrap();
        list(&mut ledger);
        for attempt in attempts {
            let (from, upto) = (attempt.from.index(lines.len()), attempt.upto.index(lines.len()) + 1);
            let some: Vec<Line> = lines.get(from..upto).unwrap_or_default().to_vec();
            let last = some.last().map(|line| line.sequence);
            let drained = catch_unwind(AssertUnwindSafe(|| {
                ledger.drain(&s(), 0, some.into_iter().inspect(|line| {
                    if attempt.dies && Some(line.sequence) == last {
                        std::panic::resume_unwind(Box::new("dies"));
                    }
                }))
            }));
            if let Ok(Err(error)) = drained {
                prop_assert!(matches!(error, LedgerError::Gap { .. }), "{error:?}");
            }
            if attempt.opens_again {
                ledger = Ledger::open(often.path()).unwrap();
            }
        }
        ledger.drain(&s(), 0, lines).unwrap();
        prop_assert_eq!(told(&ledger), told(&whole));
        prop_assert_eq!(ledger.session_states().unwrap(), whole.session_states().unwrap());
        prop_assert_eq!(ledger.steps_of(&s(), 100).unwrap(), whole.steps_of(&s(), 100).unwrap());
        let all = Query { files: vec!["src/auth/".into()], limit: 100, ..Query::default() };
        prop_assert_eq!(ledger.recall(&all).unwrap(), whole.recall(&all).unwrap());
        prop_assert_eq!(ledger.drained(&s()).unwrap(), whole.drained(&s()).unwrap());
    }
}
