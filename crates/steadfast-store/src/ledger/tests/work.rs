//! The goal and the drift of a session, from its journal.

use steadfast_model::{
    Constraint, ConstraintKind, Course, DriftChange, Goal, Host, Level, Release, Score, State, Step, StepKind,
    Stopping, Tally,
};

use super::*;
use crate::ledger::{ScoredStep, SessionState, SessionStatus, StepRow};

fn s() -> SessionId {
    session("s")
}

pub(super) fn step(number: u64, score: u8) -> Step {
    let score = Score::new(score);
    Step {
        number,
        kind: StepKind::Edit,
        call: None,
        paths: vec![format!("src/auth/token_{number}.rs"), "README.md".into()],
        command: None,
        score,
        level: score.level(),
        reasons: if score < Score::new(8) { vec!["outside the scope".into(), "astray".into()] } else { Vec::new() },
        thinking: (number == 2).then(|| "The tests first.".to_owned()),
        recovery: None,
        correction: (score < Score::new(7)).then(|| format!("correction {number}")),
    }
}

pub(super) fn stepped(session: &SessionId, now: i64, step: Step) -> Record {
    let changes = vec![Change::ToolCalled, Change::Drift(DriftChange::Stepped(Box::new(step)))];
    Record { changes, ..record(session, now, EventKind::ToolBatch { calls: 1 }) }
}

fn began(now: i64) -> Record {
    let changes = vec![Change::Drift(DriftChange::Began { root: WORKTREE.into() })];
    Record { changes, ..started(&s(), now) }
}

fn asked(now: i64, text: &str, words: &[&str]) -> Record {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    let mut record = prompted(&s(), now);
    record.changes.push(Change::GoalSet { text: text.into(), scope: vec!["src/auth".into()], found: Vec::new() });
    record.changes.push(Change::Drift(DriftChange::HumanSpoke { words }));
    record
}

fn no(kind: ConstraintKind) -> Change {
    Change::ConstraintAdded(Constraint { number: 0, kind, of: Vec::new(), said: "said".into() })
}

fn stopped(now: i64, release: Release) -> Record {
    let stopping: Stopping = serde_json::from_value(json!({"again": false})).unwrap();
    Record { changes: vec![Change::StopReleased(release)], ..record(&s(), now, EventKind::Stop(stopping)) }
}

fn drained(records: impl IntoIterator<Item = Record>) -> (TempDir, Ledger) {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    ledger.drain(&s(), 0, journal(records)).unwrap();
    (dir, ledger)
}

fn state(ledger: &Ledger) -> SessionState {
    let [state] = ledger.session_states().unwrap().try_into().unwrap();
    assert_eq!(ledger.session_state(&s()).unwrap().as_ref(), Some(&state));
    state
}

#[test]
fn a_journal_becomes_a_goal_and_how_its_work_went() {
    let course = |course, escalation| {
        Change::Drift(DriftChange::Steered { astray: 0, quiet: 0, escalation, course, awaited: None, corrected: false })
    };
    let mut drifting = stepped(&s(), 40, step(2, 4));
    drifting.changes.push(course(Course::Drifted, 2));
    let (_dir, ledger) =
        drained([began(10), asked(20, "Mend the login", &["login"]), stepped(&s(), 30, step(1, 10)), drifting]);
    let state = state(&ledger);

    let goal = Goal { text: "Mend the login".into(), scope: vec!["src/auth".into()], ..Goal::default() };
    assert_eq!((state.session(), state.project_path(), state.goal()), (&s(), WORKTREE, goal));
    assert_eq!(state.keywords(), ["login"]);
    let scored = |score, timestamp| {
        let score = Score::new(score);
        ScoredStep { score, level: score.level(), timestamp: at(timestamp) }
    };
    assert_eq!(state.drift_history, [scored(10, 30), scored(4, 40)]);
    assert_eq!((state.escalation_count(), state.course()), (2, Course::Drifted));
    assert_eq!((state.last_checked_at, state.status), (Some(at(40)), SessionStatus::Active));
    assert_eq!(state.tally(), Tally { steps: 2, interventions: 1, highest: 2, ..Tally::default() });
    assert_eq!(state.tags(), ["had-drift", "needs-review"]);
}

#[test]
fn every_step_is_kept_and_one_below_five_is_not_validated() {
    let bash =
        Step { kind: StepKind::Bash, paths: Vec::new(), command: Some("cargo test -p billing".into()), ..step(2, 5) };
    let (_dir, ledger) =
        drained([stepped(&s(), 10, step(1, 4)), stepped(&s(), 20, bash), stepped(&s(), 30, step(3, 10))]);
    let steps = ledger.steps_of(&s(), 10).unwrap();
    let kept = StepRow {
        id: "s/1/1".into(),
        session: s(),
        action_type: "edit".into(),
        files: vec!["src/auth/token_1.rs".into(), "README.md".into()],
        command: None,
        reasoning: "outside the scope; astray".into(),
        drift_score: 4,
        drift_type: "major".into(),
        level: Level::Intervene,
        correction_given: Some("correction 1".into()),
        is_validated: false,
        keywords: vec!["auth".into(), "token".into(), "readme".into()],
        at: at(10),
    };
    assert_eq!(steps[2], kept);
    let validated: Vec<_> = steps.iter().map(|step| (step.drift_score, step.is_validated)).collect();
    assert_eq!(validated, [(10, true), (5, true), (4, false)]);
    assert_eq!(steps[1].keywords, ["billing"]);
    assert_eq!(steps[1].reasoning, "outside the scope; astray; it thought: The tests first.");
    assert_eq!(ledger.steps_of(&s(), 1).unwrap().len(), 1);
}

#[test]
fn constraints_come_and_go_by_the_numbers_the_session_gave_them() {
    let mut records = vec![asked(1, "Mend it", &[])];
    records[0].changes.extend([no(ConstraintKind::Commit), no(ConstraintKind::Push)]);
    let mut lifted = prompted(&s(), 2);
    lifted.changes.push(Change::ConstraintLifted(2));
    let mut again = prompted(&s(), 3);
    again.changes.extend([no(ConstraintKind::Push), Change::ConstraintLifted(1)]);
    records.extend([lifted, again]);
    // One line at a time: the numbers outlive the drain.
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    for upto in 1..=3 {
        ledger.drain(&s(), 0, journal(records[..upto].to_vec())).unwrap();
    }
    let numbers: Vec<_> = state(&ledger).goal().constraints.iter().map(|c| (c.number, c.kind)).collect();
    assert_eq!(numbers, [(3, ConstraintKind::Push)]);
}

#[test]
fn a_session_with_neither_goal_nor_steps_has_no_row() {
    let (_dir, ledger) = drained([started(&s(), 1), prompted(&s(), 2), called(&s(), 3), ended(&s(), 4)]);
    assert_eq!(ledger.session_states().unwrap(), []);
}

#[test]
fn only_the_last_scores_are_in_the_history() {
    let (_dir, ledger) = drained((1..=60).map(|n| stepped(&s(), n, step(n.unsigned_abs(), 9))));
    let state = state(&ledger);
    assert_eq!((state.drift_history.len(), state.drift_history[0].timestamp), (50, at(11)));
    assert_eq!((state.tally().steps, ledger.steps_of(&s(), 100).unwrap().len()), (60, 60));
}

#[test]
fn a_session_is_completed_when_its_turn_came_to_its_end_and_abandoned_when_not() {
    use SessionStatus::{Abandoned, Active, Completed};
    let status = |records: Vec<Record>| {
        let (_dir, ledger) = drained([began(1), asked(2, "Mend it", &[])].into_iter().chain(records));
        state(&ledger).status
    };
    let mut held = stopped(3, Release::Complete);
    held.changes = vec![Change::StopRefused];
    held.answer.ruling = Ruling::Continue { reason: "open".into() };
    assert_eq!(status(vec![]), Active);
    assert_eq!(status(vec![ended(&s(), 9)]), Abandoned);
    assert_eq!(status(vec![held, ended(&s(), 9)]), Abandoned);
    assert_eq!(status(vec![stopped(3, Release::Capped), ended(&s(), 9)]), Abandoned);
    assert_eq!(status(vec![stopped(3, Release::Complete)]), Completed);
    assert_eq!(status(vec![stopped(3, Release::Complete), ended(&s(), 9)]), Completed);
    assert_eq!(status(vec![stopped(3, Release::Complete), prompted(&s(), 4)]), Active);
    assert_eq!(status(vec![stopped(3, Release::Complete), prompted(&s(), 4), ended(&s(), 9)]), Abandoned);
    assert_eq!(status(vec![ended(&s(), 9), started(&s(), 10)]), Active);
}

#[test]
fn a_ledger_younger_than_the_session_takes_its_goal_from_the_snapshot() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let mut told = State::new(s(), Host::Codex, at(1));
    told.sequence = 500;
    told.last_at = at(8);
    told.apply(&Change::GoalSet { text: "Mend it".into(), scope: Vec::new(), found: Vec::new() });
    told.apply(&Change::Drift(DriftChange::Began { root: WORKTREE.into() }));
    told.apply(&Change::Drift(DriftChange::Stepped(Box::new(step(1, 2)))));
    let snapshot = Line { sequence: 500, end: 10, entry: Entry::Snapshot(Box::new(told)) };
    let next = Line { sequence: 501, end: 20, entry: Entry::Record(Box::new(stepped(&s(), 9, step(2, 9)))) };
    ledger.drain(&s(), 500, [snapshot, next]).unwrap();
    let state = state(&ledger);
    assert_eq!((state.goal().text.as_str(), state.project_path()), ("Mend it", WORKTREE));
    assert_eq!(state.tally(), Tally { steps: 2, halts: 1, ..Tally::default() });
    assert_eq!(state.drift_history.len(), 1, "the lines that are gone are in no history");
}

#[test]
fn a_process_that_dies_while_it_drains_leaves_no_step_behind() {
    let dir = dir();
    let status = process::quietly(process::play("die among steps", dir.path()));
    assert!(!status.success());
    let mut ledger = Ledger::open(dir.path()).unwrap();
    assert_eq!((ledger.steps_of(&s(), 10).unwrap(), ledger.session_states().unwrap()), (Vec::new(), Vec::new()));
    ledger.drain(&s(), 0, journal(five())).unwrap();
    ledger.drain(&s(), 0, journal(five())).unwrap();
    assert_eq!((ledger.steps_of(&s(), 10).unwrap().len(), state(&ledger).tally().steps), (5, 5));
}

pub(super) fn five() -> impl Iterator<Item = Record> {
    (1..=5).map(|now| stepped(&s(), now, step(now.unsigned_abs(), 9)))
}
