use std::thread;

use steadfast_model::{
    Autonomy, Check, Counts, Finding, FindingSeverity, Loop, LoopEnd, LoopId, LoopLimits, Objected, Resolution, Review,
    ReviewKind, Run, RunId, RunState, Scores, Shape, Stage, StatedCheck, TakingBack, TaskKind, Waiver,
};

use super::specs::{load, planned, spec};
use super::*;
use crate::ledger::{LedgerError, NewReview};

fn named(name: &str, request: &str) -> Loop {
    Loop::new(LoopId::new(name), WORKTREE.into(), request.into(), at(5))
}

fn first() -> LoopId {
    LoopId::new("l-1")
}

fn with_loop() -> (TempDir, Ledger) {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    ledger.create_loop(&named("l-1", "people can log in")).unwrap();
    (dir, ledger)
}

fn scores(spec: u8) -> Scores {
    Scores { spec, fit: spec * 5, autonomy: Autonomy::Colleague }
}

fn finding(severity: FindingSeverity, resolution: Resolution) -> Finding {
    Finding {
        id: 0,
        severity,
        file: "src/1.rs".into(),
        line: 3,
        expert: "tests".into(),
        text: "the empty name is not tried".into(),
        must_not: Some("no panics".into()),
        resolution,
    }
}

fn thorough<'a>(round: u32, findings: &'a [Finding], now: i64) -> NewReview<'a> {
    NewReview { kind: ReviewKind::Thorough { round }, score: Some(7), findings, passed: true, now: at(now) }
}

#[test]
fn a_loop_is_kept_whole() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let new = Loop {
        scores: Some(scores(6)),
        recall_surfaced: vec!["tokens expire".into(), "no mocks".into()],
        ..named("l-1", "people can log in")
    };
    ledger.create_loop(&new).unwrap();
    let shape = Shape {
        criteria: vec!["a wrong password is refused".into()],
        must_nots: vec!["the schema stays".into()],
        scope: vec!["only touch src/log.rs".into()],
        checks: vec![StatedCheck::new("make check", "Done when `make check` passes")],
        not_executed: vec!["it looks right".into()],
        verification: vec!["cargo test".into()],
    };
    ledger.keep_shape(&first(), &shape, at(7)).unwrap();
    ledger.attach_spec(&first(), "SPEC.md", at(8)).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    ledger.attach_plan(&first(), &plan, at(9)).unwrap();
    ledger.attach_run(&first(), &RunId::new("r"), at(10)).unwrap();
    let kept = Loop {
        shape: Some(shape),
        spec: Some("SPEC.md".into()),
        plan: Some(plan.clone()),
        run: Some(RunId::new("r")),
        updated_at: at(10),
        ..new
    };
    assert_eq!(ledger.find_loop(&first()).unwrap(), kept);
    assert_eq!(ledger.unfinished_loop(WORKTREE).unwrap(), Some(kept.clone()));
    assert_eq!(ledger.loop_of_plan(&plan).unwrap(), Some(kept));
    assert_eq!(ledger.unfinished_loop("/elsewhere").unwrap(), None);
}

#[test]
fn a_worktree_has_one_unfinished_loop() {
    let (_dir, mut ledger) = with_loop();
    let error = ledger.create_loop(&named("l-2", "another")).unwrap_err();
    assert!(matches!(&error, LedgerError::InLoop { id } if *id == first()), "{error:?}");
    let elsewhere = Loop { worktree: "/elsewhere".into(), ..named("l-3", "another") };
    ledger.create_loop(&elsewhere).unwrap();

    ledger.end_loop(&first(), LoopEnd::Archived, at(9)).unwrap();
    ledger.create_loop(&Loop { started_at: at(10), ..named("l-2", "another") }).unwrap();
    let ids: Vec<LoopId> = ledger.loops_of(WORKTREE).unwrap().into_iter().map(|looped| looped.id).collect();
    assert_eq!(ids, [LoopId::new("l-2"), first()]);
    assert_eq!(ledger.unfinished_loop("/elsewhere").unwrap(), Some(elsewhere), "only that loop was put away");
}

#[test]
fn a_stage_is_left_once_and_none_is_skipped() {
    let (_dir, mut ledger) = with_loop();
    assert!(ledger.advance_loop(&first(), Stage::Intent, Stage::Shape, at(6)).unwrap());
    assert!(!ledger.advance_loop(&first(), Stage::Intent, Stage::Shape, at(7)).unwrap(), "it was moved already");
    let error = ledger.advance_loop(&first(), Stage::Shape, Stage::Executing, at(7)).unwrap_err();
    assert_eq!(error.to_string(), "a loop cannot change from stage shape to executing");
    assert_eq!(ledger.find_loop(&first()).unwrap().stage, Stage::Shape);
    for (from, to) in [
        (Stage::Shape, Stage::Decompose),
        (Stage::Decompose, Stage::Executing),
        (Stage::Executing, Stage::Review),
        (Stage::Review, Stage::Executing),
        (Stage::Executing, Stage::Review),
        (Stage::Review, Stage::Complete),
    ] {
        assert!(ledger.advance_loop(&first(), from, to, at(8)).unwrap());
    }
    let over = ledger.find_loop(&first()).unwrap();
    assert_eq!((over.stage, over.ended), (Stage::Complete, Some(LoopEnd::Complete)));
    let error = ledger.end_loop(&first(), LoopEnd::Archived, at(9)).unwrap_err();
    assert_eq!(error.to_string(), "loop `l-1` has ended");
}

#[test]
fn of_many_who_move_it_at_once_one_does() {
    let (dir, _ledger) = with_loop();
    let moved: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut ledger = Ledger::open_within(dir.path(), PATIENT).unwrap();
                    usize::from(ledger.advance_loop(&first(), Stage::Intent, Stage::Shape, at(6)).unwrap())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(moved, 1);
}

#[test]
fn the_first_reason_of_an_override_stays() {
    let (_dir, mut ledger) = with_loop();
    ledger.override_loop(&first(), "a trial", at(8)).unwrap();
    ledger.override_loop(&first(), "something else", at(9)).unwrap();
    let kept = ledger.find_loop(&first()).unwrap();
    assert_eq!(kept.overridden.as_deref(), Some("a trial"));
}

#[test]
fn secrets_are_not_kept() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let secret = "use AKIAIOSFODNN7EXAMPLQ for it";
    let shape = Shape { must_nots: vec![secret.into()], ..Shape::default() };
    ledger.create_loop(&Loop { asked: shape.clone(), ..named("l-1", secret) }).unwrap();
    ledger.keep_shape(&first(), &shape, at(6)).unwrap();
    ledger.override_loop(&first(), secret, at(6)).unwrap();
    let said = Finding { text: secret.into(), ..finding(FindingSeverity::Warning, Resolution::Open) };
    ledger.add_review(&first(), &thorough(1, &[said], 7)).unwrap();
    ledger.resolve_finding(&first(), 1, &Resolution::Waived { why: secret.into() }, at(8)).unwrap();
    let kept = format!("{:?} {:?}", ledger.find_loop(&first()).unwrap(), ledger.reviews_of(&first()).unwrap());
    assert!(!kept.contains("AKIA"), "{kept}");
}

#[test]
fn a_review_is_kept_with_its_findings_and_a_thorough_one_is_a_round() {
    let (_dir, mut ledger) = with_loop();
    let light = NewReview {
        kind: ReviewKind::Light { wave: 1 },
        score: None,
        findings: &[finding(FindingSeverity::Suggestion, Resolution::Open)],
        passed: true,
        now: at(6),
    };
    ledger.add_review(&first(), &light).unwrap();
    assert_eq!(ledger.find_loop(&first()).unwrap().rounds, 0);
    let blocker = finding(FindingSeverity::Blocker, Resolution::Open);
    ledger.add_review(&first(), &thorough(1, std::slice::from_ref(&blocker), 7)).unwrap();
    assert_eq!(ledger.find_loop(&first()).unwrap().rounds, 1);
    assert_eq!(
        ledger.reviews_of(&first()).unwrap(),
        [
            Review {
                kind: ReviewKind::Light { wave: 1 },
                score: None,
                findings: vec![Finding { id: 1, ..finding(FindingSeverity::Suggestion, Resolution::Open) }],
                blockers_remaining: 0,
                passed: true,
                at: at(6),
            },
            Review {
                kind: ReviewKind::Thorough { round: 1 },
                score: Some(7),
                findings: vec![Finding { id: 2, ..blocker }],
                blockers_remaining: 1,
                passed: false,
                at: at(7),
            },
        ]
    );
}

#[test]
fn a_review_passes_when_its_last_blocker_is_fixed_or_waived_and_fails_again_when_it_is_opened() {
    let (_dir, mut ledger) = with_loop();
    let blocker = finding(FindingSeverity::Blocker, Resolution::Open);
    let findings = [blocker.clone(), finding(FindingSeverity::Warning, Resolution::Open), blocker];
    ledger.add_review(&first(), &thorough(1, &findings, 6)).unwrap();
    let state = |ledger: &Ledger| {
        let review = ledger.reviews_of(&first()).unwrap().pop().unwrap();
        (review.blockers_remaining, review.passed)
    };
    let why = || String::from("so");
    for (id, resolution, then) in [
        (1, Resolution::Fixed, (1, false)),
        (2, Resolution::Deferred { why: why() }, (1, false)),
        (3, Resolution::Deferred { why: why() }, (1, false)),
        (3, Resolution::Waived { why: why() }, (0, true)),
        (1, Resolution::Open, (1, false)),
    ] {
        ledger.resolve_finding(&first(), id, &resolution, at(7)).unwrap();
        assert_eq!(state(&ledger), then, "{id} {resolution:?}");
    }
    let error = ledger.resolve_finding(&first(), 9, &Resolution::Fixed, at(8)).unwrap_err();
    assert_eq!(error.to_string(), "there is no finding 9 in loop `l-1`");
}

#[test]
fn a_review_that_nobody_gave_does_not_pass_by_a_resolved_warning() {
    let (_dir, mut ledger) = with_loop();
    let warning = [finding(FindingSeverity::Warning, Resolution::Open)];
    ledger.add_review(&first(), &NewReview { passed: false, ..thorough(1, &warning, 6) }).unwrap();
    ledger.resolve_finding(&first(), 1, &Resolution::Fixed, at(7)).unwrap();
    assert!(!ledger.reviews_of(&first()).unwrap()[0].passed);
}

#[test]
fn plans_that_came_to_their_end_in_the_same_folders_are_counted_once_each() {
    let (_dir, mut ledger) = with_loop();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let asked = |ledger: &Ledger, path: &str| ledger.completed_in(&[path.into()]).unwrap();
    assert_eq!(asked(&ledger, "src/other.rs"), 0, "nothing has come to its end");
    let run = Run {
        id: RunId::new("r-1"),
        plan: plan.clone(),
        worktree: WORKTREE.into(),
        spec: "SPEC.md".into(),
        host: steadfast_model::Host::Sim,
        base: "c0".into(),
        branch: "b".into(),
        state: RunState::Running,
        reason: None,
        limits: steadfast_model::Limits::default(),
        started_at: at(5),
        updated_at: at(5),
        ended_at: None,
        runner: None,
    };
    ledger.create_run(&run).unwrap();
    assert_eq!(asked(&ledger, "src/other.rs"), 0, "it still runs");
    ledger.set_run_state(&run.id, RunState::Complete, None, at(9)).unwrap();
    ledger.attach_plan(&first(), &plan, at(10)).unwrap();
    for (from, to) in Stage::ALL.into_iter().zip(Stage::ALL.into_iter().skip(1)) {
        ledger.advance_loop(&first(), from, to, at(11)).unwrap();
    }
    let counted = ["src/other.rs", "src/", "src/deep/x.rs", "docs/x.md", "README.md"].map(|path| asked(&ledger, path));
    assert_eq!(counted, [1, 1, 0, 0, 0]);
}

/// The plan's slice has them as well: a stop without a database holds to them.
#[test]
fn whoever_works_on_the_plan_is_held_to_the_must_nots_until_the_loop_is_over() {
    let (_dir, mut ledger) = with_loop();
    let held = |ledger: &Ledger| ledger.plan_view(WORKTREE).unwrap().unwrap().brief.must_nots;
    let shape = |text: &str| Shape { must_nots: vec![text.into()], ..Shape::default() };
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    ledger.keep_shape(&first(), &shape("no commits"), at(6)).unwrap();
    assert_eq!(held(&ledger), Vec::<String>::new());
    ledger.attach_plan(&first(), &plan, at(7)).unwrap();
    assert_eq!(held(&ledger), ["no commits"]);
    ledger.keep_shape(&first(), &shape("no pushes"), at(8)).unwrap();
    assert_eq!(held(&ledger), ["no pushes"]);

    let again = load(&mut ledger, &spec(vec![planned("1", &[]), planned("2", &[])]), AddedBy::Human, 9).plan().clone();
    assert_ne!(again, plan);
    assert_eq!((ledger.find_loop(&first()).unwrap().plan, held(&ledger)), (Some(again), vec!["no pushes".to_owned()]));
    ledger.end_loop(&first(), LoopEnd::Capped, at(10)).unwrap();
    assert_eq!(held(&ledger), Vec::<String>::new());
}

#[test]
fn another_plan_in_the_checkout_of_a_loop_is_no_way_around_what_must_not_happen() {
    let (_dir, mut ledger) = with_loop();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 0).plan().clone();
    ledger.keep_shape(&first(), &Shape { must_nots: vec!["no commits".into()], ..Shape::default() }, at(6)).unwrap();
    ledger.attach_plan(&first(), &plan, at(7)).unwrap();
    let beside = list(&mut ledger);
    ledger.add_task(&beside, super::named("x"), at(8)).unwrap();
    ledger.use_plan(&beside, AddedBy::Human, at(8)).unwrap();
    let view = ledger.plan_view(WORKTREE).unwrap().unwrap();
    assert_eq!((view.id, view.brief.must_nots), (beside, vec!["no commits".to_owned()]));
    ledger.end_loop(&first(), LoopEnd::Archived, at(9)).unwrap();
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().brief.must_nots, Vec::<String>::new());
}

#[test]
fn a_waiver_is_kept_with_its_reason_and_takes_a_capped_loop_up_again() {
    let (_dir, mut ledger) = with_loop();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let shape = Shape { must_nots: vec!["no commits".into()], ..Shape::default() };
    ledger.keep_shape(&first(), &shape, at(6)).unwrap();
    ledger.attach_plan(&first(), &plan, at(7)).unwrap();
    let objected = Objected { id: "o-1".into(), text: "it was changed".into(), check: None };
    ledger.keep_objections(&first(), &[objected], at(8)).unwrap();
    ledger.end_loop(&first(), LoopEnd::Capped, at(9)).unwrap();
    let waiver = |why: &str| Waiver { objection: "o-1".into(), text: "it was changed".into(), why: why.into() };
    ledger.waive_objection(&first(), &waiver("a trial"), at(10)).unwrap();
    let looped = ledger.find_loop(&first()).unwrap();
    assert_eq!((looped.ended, looped.objections, looped.waived), (None, vec![], vec![waiver("a trial")]));
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().brief.must_nots, ["no commits"]);
    // The second reason is the one that stands.
    ledger.waive_objection(&first(), &waiver("it belongs to it"), at(11)).unwrap();
    assert_eq!(ledger.find_loop(&first()).unwrap().waived, [waiver("it belongs to it")]);

    ledger.end_loop(&first(), LoopEnd::Archived, at(12)).unwrap();
    let over = ledger.waive_objection(&first(), &waiver("too late"), at(13)).unwrap_err();
    assert!(matches!(over, LedgerError::LoopIsOver { .. }), "{over:?}");
}

#[test]
fn a_capped_loop_is_not_taken_up_again_beside_another() {
    let (_dir, mut ledger) = with_loop();
    ledger.end_loop(&first(), LoopEnd::Capped, at(9)).unwrap();
    ledger.create_loop(&named("l-2", "another")).unwrap();
    let waiver = Waiver { objection: "o-1".into(), text: "t".into(), why: "w".into() };
    let error = ledger.waive_objection(&first(), &waiver, at(10)).unwrap_err();
    assert!(matches!(error, LedgerError::InLoop { .. }), "{error:?}");
}

#[test]
fn what_the_gate_has_taken_back_may_be_written_while_its_task_is_in_progress() {
    let (_dir, mut ledger) = with_loop();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    let shape = Shape { must_nots: vec!["do not touch src/auth".into()], ..Shape::default() };
    ledger.keep_shape(&first(), &shape, at(6)).unwrap();
    ledger.attach_plan(&first(), &plan, at(7)).unwrap();
    let mut add = |kind, by, check: &str, file: &str| {
        let new = NewTask {
            kind,
            files: vec![file.into()],
            verify: Some(Check::command(check)),
            ..NewTask::new("Take it back", by)
        };
        ledger.add_task(&plan, new, at(8)).unwrap().id
    };
    let check = "steadfast loop objection --base 1a2b --must-not 'do not touch src/auth'";
    let tests = "steadfast loop objection --base 1a2b --tests 'src/auth/test.ts'";
    let gates = add(TaskKind::Remediation, AddedBy::Human, check, "src/auth/token.ts");
    let others = [
        // An agent gives itself no leave.
        add(TaskKind::Remediation, AddedBy::Agent, check, "src/auth/a.ts"),
        add(TaskKind::Main, AddedBy::Human, check, "src/auth/b.ts"),
        add(TaskKind::Remediation, AddedBy::Human, tests, "src/auth/test.ts"),
    ];
    let allowed = |ledger: &Ledger| ledger.plan_view(WORKTREE).unwrap().unwrap().brief.taking_back;
    assert_eq!(allowed(&ledger), []);
    for id in others.iter().chain([&gates]) {
        let change = StatusChange { to: Status::InProgress, reason: None, fence: None, now: at(9) };
        ledger.set_status(&plan, id, change).unwrap();
    }
    let paths = vec![format!("{WORKTREE}/src/auth/token.ts")];
    assert_eq!(allowed(&ledger), [TakingBack { task: gates.clone(), paths }]);
    let change = StatusChange { to: Status::Blocked, reason: Some("no".into()), fence: None, now: at(10) };
    ledger.set_status(&plan, &gates, change).unwrap();
    assert_eq!(allowed(&ledger), []);
}

#[test]
fn a_session_is_bound_to_a_loop_that_is_not_over_and_what_it_used_up_is_kept() {
    let (_dir, mut ledger) = with_loop();
    let (me, limits) = (SessionId::new("me"), LoopLimits { iterations: Some(10), micro_usd: None });
    ledger.bind_loop(&first(), &me).unwrap();
    ledger.keep_waiting(&first(), Some("a key")).unwrap();
    ledger.limit_loop(&first(), limits, at(6)).unwrap();
    ledger.count_iteration(&first()).unwrap();
    ledger.keep_spent(&first(), &me, 5).unwrap();
    ledger.keep_spent(&first(), &me, 7).unwrap();
    let kept = ledger.find_loop(&first()).unwrap();
    assert_eq!((kept.session.as_ref(), kept.waits.as_deref()), (Some(&me), Some("a key")));
    assert_eq!((kept.limits, kept.iterations, kept.micro_usd()), (limits, 1, 7));
    let found = ledger.unfinished_with_counts(WORKTREE).unwrap().unwrap();
    assert_eq!((found.looped, found.counts, found.session_ended), (kept, Counts::default(), None));
    // Whoever moves it ends its waiting.
    ledger.advance_loop(&first(), Stage::Intent, Stage::Shape, at(7)).unwrap();
    assert_eq!(ledger.find_loop(&first()).unwrap().waits, None);
    ledger.end_loop(&first(), LoopEnd::Archived, at(8)).unwrap();
    ledger.bind_loop(&first(), &SessionId::new("other")).unwrap();
    ledger.keep_waiting(&first(), Some("nobody")).unwrap();
    let over = ledger.find_loop(&first()).unwrap();
    assert_eq!((over.session, over.waits), (Some(me), None));
}
