use std::collections::BTreeMap;

use steadfast_model::{
    Check, CheckEnd, Evidence, Host, Limits, Process, Run, RunId, RunState, RunUnit, RunView, Spent, Sums, TaskKind,
    UnitStatus, WorkSpan,
};

use super::specs::{load, passed, planned, spec};
use super::*;
use crate::ledger::{
    Baseline, Claiming, Decision, DispatchEnd, Lease, LeaseError, LedgerError, Loaded, Loading, NewDispatch, Started,
    Taken, UnitClosed, UnitClosing, UnitLoading,
};

const UNIT_WORKTREE: &str = "/state/worktrees/engine/r-1/1";

fn run_id() -> RunId {
    RunId::new("r-1")
}

fn run(plan: &PlanId) -> Run {
    Run {
        id: run_id(),
        plan: plan.clone(),
        worktree: WORKTREE.into(),
        spec: "SPEC.md".into(),
        host: Host::Sim,
        base: "c0".into(),
        branch: "steadfast/r-1".into(),
        state: RunState::Running,
        reason: None,
        limits: Limits { parallel: 3, iterations: 25, micro_usd: Some(25_000_000), ..Limits::default() },
        started_at: at(5),
        updated_at: at(5),
        ended_at: None,
        runner: Some(Process { pid: 7, started: 70 }),
    }
}

/// `1` with its test `1a`, and `2` after it.
fn with_run() -> (TempDir, Ledger, PlanId) {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let mut post = planned("1a", &["1"]);
    post.kind = TaskKind::Post;
    let mut main = planned("1", &[]);
    main.verify = Some(Check::Changed);
    let plan = load(&mut ledger, &spec(vec![main, post, planned("2", &["1a"])]), AddedBy::Human, 1).plan().clone();
    ledger.create_run(&run(&plan)).unwrap();
    ledger.put_units(&run_id(), &units(), at(6)).unwrap();
    (dir, ledger, plan)
}

fn units() -> [RunUnit; 2] {
    [
        RunUnit::new(id("1"), "one".into(), vec![id("1"), id("1a")], 1),
        RunUnit::new(id("2"), "two".into(), vec![id("2")], 2),
    ]
}

fn load_unit(ledger: &mut Ledger, baseline: &BTreeMap<String, Option<String>>) -> PlanId {
    load_stuck_unit(ledger, baseline, 0)
}

fn load_stuck_unit(ledger: &mut Ledger, baseline: &BTreeMap<String, Option<String>>, stuck: u32) -> PlanId {
    let tasks = [id("1"), id("1a")];
    let baseline = Baseline { files: baseline.clone(), tree: None };
    let loading = UnitLoading {
        run: &run_id(),
        unit: &id("1"),
        tasks: &tasks,
        worktree: UNIT_WORKTREE,
        title: "one",
        stuck,
        baseline: &baseline,
        now: at(10),
    };
    ledger.load_unit(&loading).unwrap()
}

fn decision(what: &str, now: i64) -> Decision {
    Decision { phase: Some("p1".into()), what: what.into(), why: "so".into(), added_by: AddedBy::Agent, at: at(now) }
}

fn lease(ledger: &mut Ledger, plan: &PlanId, holder: &str, now: i64) -> Result<Vec<Lease>, LeaseError> {
    ledger.acquire_leases(plan, &[id("1"), id("1a")], holder, 100, at(now))
}

fn tokens(leases: &[Lease]) -> BTreeMap<TaskId, u64> {
    leases.iter().map(|lease| (lease.task.clone(), lease.token)).collect()
}

#[test]
fn a_run_is_there_until_it_is_over() {
    let (_dir, mut ledger, plan) = with_run();
    assert_eq!(ledger.run(&run_id()).unwrap(), run(&plan));
    assert_eq!(ledger.runs_of(WORKTREE).unwrap(), [run(&plan)]);
    assert_eq!(ledger.run_of_plan(&plan).unwrap(), Some(run(&plan)));
    ledger.set_run_state(&run_id(), RunState::Paused, Some("the budget is spent"), at(8)).unwrap();
    let paused =
        Run { state: RunState::Paused, reason: Some("the budget is spent".into()), updated_at: at(8), ..run(&plan) };
    assert_eq!(ledger.unfinished_runs().unwrap(), [paused]);
    ledger.set_run_state(&run_id(), RunState::Complete, None, at(9)).unwrap();
    assert_eq!(ledger.unfinished_runs().unwrap(), []);
    let complete = Run { state: RunState::Complete, updated_at: at(9), ended_at: Some(at(9)), ..run(&plan) };
    assert_eq!(ledger.runs_of(WORKTREE).unwrap(), [complete]);
    assert_eq!(ledger.run_of_plan(&plan).unwrap(), None);
    let error = ledger.run(&RunId::new("r-2")).unwrap_err();
    assert_eq!(error.to_string(), "there is no run `r-2`");
}

#[test]
fn of_two_that_take_a_run_over_one_has_it() {
    let (_dir, mut ledger, plan) = with_run();
    let (old, new, late) =
        (run(&plan).runner.unwrap(), Process { pid: 8, started: 80 }, Process { pid: 9, started: 90 });
    assert!(ledger.beat(&run_id(), old, at(20)).unwrap());
    assert!(ledger.take_run(&run_id(), Some(old), new, at(21)).unwrap());
    assert!(!ledger.take_run(&run_id(), Some(old), late, at(22)).unwrap());
    assert!(!ledger.beat(&run_id(), old, at(23)).unwrap());
    assert!(ledger.beat(&run_id(), new, at(24)).unwrap());
    assert_eq!(ledger.run(&run_id()).unwrap(), Run { runner: Some(new), updated_at: at(24), ..run(&plan) });
}

#[test]
fn a_unit_is_changed_and_kept_when_the_units_are_put_again() {
    let (_dir, mut ledger, plan) = with_run();
    let changed = ledger
        .change_unit(&run_id(), &id("1"), at(11), |unit| {
            unit.status = UnitStatus::Running;
            unit.attempts += 1;
            unit.stuck = 2;
            unit.branch = Some("b".into());
            unit.directory = Some("d".into());
            unit.plan = Some(PlanId::new("p"));
            unit.agent = Some(Process { pid: 3, started: 4 });
            unit.session = Some(session("s"));
            unit.leases = BTreeMap::from([(id("1"), 5)]);
            unit.head = Some("h".into());
            unit.note = Some("n".into());
            unit.last_failure = Some("f".into());
        })
        .unwrap();
    assert_eq!((changed.attempts, changed.updated_at), (1, at(11)));
    assert_eq!(ledger.unit(&run_id(), &id("1")).unwrap(), changed);
    let mut again = units();
    again[0].wave = 3;
    ledger.put_units(&run_id(), &again, at(12)).unwrap();
    let second = RunUnit { updated_at: at(6), ..units()[1].clone() };
    assert_eq!(ledger.units(&run_id()).unwrap(), [RunUnit { wave: 3, ..changed }, second]);
    let waves: Vec<Option<u32>> = ledger.tasks(&plan).unwrap().iter().map(|task| task.wave).collect();
    assert_eq!(waves, [Some(3), Some(3), Some(2)]);
}

#[test]
fn what_an_iteration_spent_is_replaced_and_iterations_are_added_up() {
    let (_dir, mut ledger, _) = with_run();
    let begin = |ledger: &mut Ledger, unit: &str| {
        let new = NewDispatch { run: &run_id(), unit: &id(unit), host: Host::Claude, session: None };
        ledger.begin_dispatch(new, at(20)).unwrap()
    };
    assert_eq!([begin(&mut ledger, "1"), begin(&mut ledger, "1"), begin(&mut ledger, "2")], [1, 2, 3]);
    let spent = |micro_usd, tokens| Spent { micro_usd, input_tokens: tokens, cached_tokens: 10, output_tokens: 1 };
    ledger.spend(&run_id(), 1, spent(Some(100), 50), 1).unwrap();
    ledger.spend(&run_id(), 1, spent(Some(300), 90), 2).unwrap();
    ledger.spend(&run_id(), 2, spent(Some(7), 0), 1).unwrap();
    ledger.spend(&run_id(), 3, spent(None, 5), 1).unwrap();
    let end = DispatchEnd {
        ending: "finished".into(),
        session: Some(session("s")),
        spent: spent(Some(400), 99),
        turns: 3,
        summary: Some("all is well".into()),
    };
    ledger.end_dispatch(&run_id(), 1, &end, at(30)).unwrap();
    ledger.end_dispatch(&run_id(), 1, &DispatchEnd { ending: "again".into(), ..end.clone() }, at(31)).unwrap();
    assert_eq!(ledger.sums(&run_id()).unwrap(), Sums { iterations: 3, micro_usd: 407, tokens: 137, unpriced: 1 });
    let sums = BTreeMap::from([
        (id("1"), Sums { iterations: 2, micro_usd: 407, tokens: 121, unpriced: 0 }),
        (id("2"), Sums { iterations: 1, micro_usd: 0, tokens: 16, unpriced: 1 }),
    ]);
    assert_eq!(ledger.unit_sums(&run_id()).unwrap(), sums);
    assert_eq!(ledger.end_lost_dispatches(&run_id(), "lost", at(40)).unwrap(), 2);
    let seen: Vec<_> = ledger
        .dispatches(&run_id())
        .unwrap()
        .into_iter()
        .map(|one| (one.number, one.ended_at, one.ending, one.spent.micro_usd, one.turns, one.session, one.summary))
        .collect();
    let lost = Some("lost".to_owned());
    let first = (1, Some(at(30)), Some(end.ending), Some(400), 3, end.session, end.summary);
    assert_eq!(
        seen,
        [first, (2, Some(at(40)), lost.clone(), Some(7), 1, None, None), (3, Some(at(40)), lost, None, 1, None, None)]
    );
    let error = ledger.spend(&run_id(), 9, Spent::default(), 0).unwrap_err();
    assert_eq!(error.to_string(), "there is no iteration 9 in run `r-1`");
}

#[test]
fn how_long_units_took_is_known_from_this_run_and_earlier_ones_of_the_same_spec() {
    let (_dir, mut ledger, plan) = with_run();
    let work = |ledger: &mut Ledger, run: &RunId, unit: &str, ending: &str, from: i64, to: i64| {
        let new = NewDispatch { run, unit: &id(unit), host: Host::Claude, session: None };
        let number = ledger.begin_dispatch(new, at(from)).unwrap();
        let end = DispatchEnd { ending: ending.into(), ..DispatchEnd::default() };
        ledger.end_dispatch(run, number, &end, at(to)).unwrap();
    };
    work(&mut ledger, &run_id(), "1", "finished", 20, 50);
    work(&mut ledger, &run_id(), "2", "finished", 20, 25);
    // One that was ended says nothing about how long the work takes.
    work(&mut ledger, &run_id(), "2", "the agent died", 30, 90);
    assert_eq!(ledger.unit_times(&run_id()).unwrap(), BTreeMap::from([(id("1"), 30), (id("2"), 5)]));
    let next = |name: &str, spec: &str| Run { id: RunId::new(name), spec: spec.to_owned(), ..run(&plan) };
    ledger.set_run_state(&run_id(), RunState::Complete, None, at(100)).unwrap();
    for (name, spec) in [("r-2", run(&plan).spec.as_str()), ("r-3", "OTHER.md")] {
        ledger.create_run(&next(name, spec)).unwrap();
        let mut units = units();
        units[1].title = "Another one".into();
        ledger.put_units(&RunId::new(name), &units, at(101)).unwrap();
        ledger.set_run_state(&RunId::new(name), RunState::Stopped, None, at(102)).unwrap();
    }
    // Unit 2 has another title by now: that is other work.
    assert_eq!(ledger.unit_times(&RunId::new("r-2")).unwrap(), BTreeMap::from([(id("1"), 30)]));
    assert_eq!(ledger.unit_times(&RunId::new("r-3")).unwrap(), BTreeMap::new());
}

#[test]
fn several_tasks_are_leased_all_or_none() {
    let (_dir, mut ledger, plan) = with_run();
    let other = ledger.acquire_leases(&plan, &[id("1a")], "other", 100, at(10)).unwrap();
    let error = lease(&mut ledger, &plan, "run", 20).unwrap_err();
    assert!(matches!(&error, LeaseError::Held { holder, .. } if holder == "other"), "{error:?}");
    let free = ledger.acquire_leases(&plan, &[id("1")], "third", 1, at(20)).unwrap();
    assert_eq!(free[0].token, 1, "nothing was taken");
    ledger.release_leases(&other).unwrap();
    let mut leases = lease(&mut ledger, &plan, "run", 30).unwrap();
    assert_eq!(tokens(&leases), BTreeMap::from([(id("1"), 2), (id("1a"), 2)]));
    assert_eq!(ledger.renew_leases(&mut leases, 100, at(100)).unwrap(), []);
    assert_eq!(leases.iter().map(|lease| lease.expires_at).collect::<Vec<_>>(), [at(200); 2]);
    let mut taken = ledger.acquire_leases(&plan, &[id("1")], "thief", 100, at(300)).unwrap();
    let lost = ledger.renew_leases(&mut leases, 100, at(301)).unwrap();
    assert_eq!(lost.iter().map(|lease| lease.task.clone()).collect::<Vec<_>>(), [id("1")]);
    ledger.release_leases(&leases).unwrap();
    assert_eq!(ledger.renew_leases(&mut taken, 100, at(302)).unwrap(), [], "what is another's stays so");
}

#[test]
fn a_unit_plan_has_its_tasks_alone_and_is_checked_as_the_whole_plan_says() {
    let (_dir, mut ledger, plan) = with_run();
    ledger.decide(&plan, &decision("before", 2)).unwrap();
    ledger.accept_definition(&plan, "test 1a", "{}", at(2)).unwrap();
    let baseline = BTreeMap::from([("src/1.rs".to_owned(), Some("o1".to_owned()))]);
    let unit_plan = load_unit(&mut ledger, &baseline);
    assert_eq!(unit_plan, PlanId::new("r-1-1"));
    let tasks = ledger.tasks(&unit_plan).unwrap();
    let whole = ledger.tasks(&plan).unwrap();
    let expected: Vec<_> = whole[..2]
        .iter()
        .cloned()
        .map(|task| steadfast_model::Task { plan: unit_plan.clone(), created_at: at(10), updated_at: at(10), ..task })
        .collect();
    assert_eq!(tasks, expected);
    assert_eq!(ledger.frozen(&unit_plan, "test 1a").unwrap().as_deref(), Some("{}"));
    assert_eq!(ledger.frozen(&unit_plan, "test 1").unwrap(), None, "none of its tasks is checked by that");
    let started = ledger.started(&unit_plan, &id("1")).unwrap().unwrap();
    assert_eq!((started.at, started.files), (at(10), baseline.clone()));
    let view = ledger.plan_view(UNIT_WORKTREE).unwrap().unwrap();
    assert_eq!(view.open.iter().map(|line| line.id.as_str()).collect::<Vec<_>>(), ["1"]);
    assert_eq!((view.hash.as_deref(), view.brief.spec.as_deref()), (Some("h"), Some("SPEC.md")));
    assert_eq!(view.brief.decisions, ["before: so"]);
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().id, plan, "the other worktree's is as it was");
    let own = ledger.list_plan(UNIT_WORKTREE, "tasks", AddedBy::Agent, at(15)).unwrap();
    ledger.add_task(&own, named("9"), at(15)).unwrap();
    assert_eq!(load_unit(&mut ledger, &baseline), unit_plan, "again, it is the same");
    ledger.drop_unit(&unit_plan, at(20)).unwrap();
    ledger.drop_unit(&unit_plan, at(21)).unwrap();
    assert_eq!(ledger.plan_view(UNIT_WORKTREE).unwrap(), None);
    assert_eq!(load_unit(&mut ledger, &baseline), PlanId::new("r-1-1-2"));
}

#[test]
fn what_came_of_a_unit_is_brought_over_once() {
    let (_dir, mut ledger, plan) = with_run();
    ledger.decide(&plan, &decision("before", 2)).unwrap();
    let unit_plan = load_unit(&mut ledger, &BTreeMap::new());
    ledger.decide(&unit_plan, &decision("inside", 12)).unwrap();
    ledger.record(&unit_plan, &id("1"), &passed(13)).unwrap();
    ledger.record(&unit_plan, &id("1a"), &passed(14)).unwrap();
    let result = ledger.take_unit(&run_id(), &unit_plan).unwrap();
    assert_eq!(result.decisions, [decision("inside", 12)]);
    assert_eq!(result.evidence, BTreeMap::from([(id("1"), passed(13)), (id("1a"), passed(14))]));
    assert_eq!(result.tasks.iter().map(|task| task.status).collect::<Vec<_>>(), [Status::Done; 2]);

    let leases = lease(&mut ledger, &plan, "run", 15).unwrap();
    let evidence: Vec<(TaskId, Evidence)> = result.evidence.into_iter().collect();
    let (run, unit, fences) = (run_id(), id("1"), tokens(&leases));
    ledger.change_unit(&run, &unit, at(15), |row| row.plan = Some(unit_plan.clone())).unwrap();
    let closing = UnitClosing {
        run: &run,
        unit: &unit,
        evidence: &evidence,
        decisions: &result.decisions,
        fences: &fences,
        merged: "m1",
        now: at(16),
    };
    assert_eq!(ledger.close_unit(&closing).unwrap(), UnitClosed::Now);
    let after = (ledger.tasks(&plan).unwrap(), ledger.decisions(&plan).unwrap(), ledger.units(&run).unwrap());
    assert_eq!(
        after.0.iter().map(|task| task.status).collect::<Vec<_>>(),
        [Status::Done, Status::Done, Status::Pending]
    );
    assert_eq!(after.1, [decision("before", 2), decision("inside", 12)]);
    assert_eq!((after.2[0].status, after.2[0].merged.as_deref()), (UnitStatus::Done, Some("m1")));
    assert_eq!(ledger.next(&plan).unwrap().unwrap().id, id("2"), "who waited for it can begin");

    assert_eq!(ledger.plan_view(UNIT_WORKTREE).unwrap(), None, "the plan of its worktree is put away");
    assert!(lease(&mut ledger, &plan, "other", 16).is_ok(), "its leases are given back");

    assert_eq!(ledger.close_unit(&UnitClosing { now: at(17), ..closing }).unwrap(), UnitClosed::Already);
    let again = (ledger.tasks(&plan).unwrap(), ledger.decisions(&plan).unwrap(), ledger.units(&run).unwrap());
    assert_eq!(again, after);
    assert_eq!(ledger.evidence_of(&plan, &id("1")).unwrap(), [passed(13)]);
    let error = ledger.close_unit(&UnitClosing { merged: "m2", ..closing }).unwrap_err();
    assert_eq!(error.to_string(), "unit `1` is already merged as m1");
}

#[test]
fn who_lost_one_lease_closes_nothing() {
    let (_dir, mut ledger, plan) = with_run();
    let leases = lease(&mut ledger, &plan, "run", 10).unwrap();
    ledger.acquire_leases(&plan, &[id("1a")], "other", 100, at(200)).unwrap();
    let evidence = [(id("1"), passed(201)), (id("1a"), passed(201))];
    let (run, unit, fences) = (run_id(), id("1"), tokens(&leases));
    let closing = UnitClosing {
        run: &run,
        unit: &unit,
        evidence: &evidence,
        decisions: &[],
        fences: &fences,
        merged: "m1",
        now: at(202),
    };
    let before = (ledger.tasks(&plan).unwrap(), ledger.units(&run).unwrap());
    let error = ledger.close_unit(&closing).unwrap_err();
    assert!(matches!(&error, LedgerError::StaleFence { task, .. } if *task == id("1a")), "{error:?}");
    assert_eq!((ledger.tasks(&plan).unwrap(), ledger.units(&run).unwrap()), before);
    assert_eq!(ledger.evidence(&plan).unwrap(), BTreeMap::new());
}

#[test]
fn a_unit_with_a_task_that_nothing_proves_stays_open() {
    let (_dir, mut ledger, plan) = with_run();
    let leases = lease(&mut ledger, &plan, "run", 10).unwrap();
    let evidence = [(id("1"), passed(11))];
    let (run, unit, fences) = (run_id(), id("1"), tokens(&leases));
    let closing = UnitClosing {
        run: &run,
        unit: &unit,
        evidence: &evidence,
        decisions: &[],
        fences: &fences,
        merged: "m1",
        now: at(12),
    };
    let error = ledger.close_unit(&closing).unwrap_err();
    assert_eq!(error.to_string(), "unit `1` cannot be closed: there is no evidence for task `1a`");
    assert_eq!(ledger.task(&plan, &id("1")).unwrap().status, Status::Pending);
}

#[test]
fn a_merged_unit_is_closed_though_it_was_set_aside_before() {
    let (_dir, mut ledger, plan) = with_run();
    ledger.set_status(&plan, &id("1a"), to(Status::Blocked)).unwrap();
    let leases = lease(&mut ledger, &plan, "run", 10).unwrap();
    let evidence = [(id("1"), passed(11)), (id("1a"), passed(11))];
    let (run, unit, fences) = (run_id(), id("1"), tokens(&leases));
    let closing = UnitClosing {
        run: &run,
        unit: &unit,
        evidence: &evidence,
        decisions: &[],
        fences: &fences,
        merged: "m1",
        now: at(12),
    };
    assert_eq!(ledger.close_unit(&closing).unwrap(), UnitClosed::Now);
    assert_eq!(ledger.task(&plan, &id("1a")).unwrap().status, Status::Done);
}

#[test]
fn the_next_agent_of_a_unit_is_told_of_attempts_and_not_of_every_failed_check() {
    let (_dir, mut ledger, _) = with_run();
    let unit = load_unit(&mut ledger, &BTreeMap::new());
    let started = Started { at: at(11), loaded: false, ..Started::default() };
    ledger.start_task(&unit, &id("1"), &started).unwrap();
    let failed = |now| Evidence { passed: false, end: CheckEnd::Exited(1), ..passed(now) };
    // The agent's own two, and that of the run when the agent had ended.
    for now in [12, 13, 14] {
        ledger.record(&unit, &id("1"), &failed(now)).unwrap();
    }
    assert_eq!(load_stuck_unit(&mut ledger, &BTreeMap::new(), 1), unit);
    let tasks = ledger.tasks(&unit).unwrap();
    let stand: Vec<(Status, u32)> = tasks.iter().map(|task| (task.status, task.stuck_count)).collect();
    assert_eq!(stand, [(Status::Pending, 1), (Status::Pending, 0)]);
    ledger.record(&unit, &id("1"), &failed(16)).unwrap();
    load_stuck_unit(&mut ledger, &BTreeMap::new(), 2);
    assert_eq!(ledger.task(&unit, &id("1")).unwrap().stuck_count, 2);
}

#[test]
fn a_view_has_all_that_is_shown_of_a_run() {
    let (_dir, mut ledger, plan) = with_run();
    ledger.record(&plan, &id("1"), &passed(7)).unwrap();
    let why = StatusChange { reason: Some("no key".into()), ..to(Status::Blocked) };
    ledger.set_status(&plan, &id("1a"), why).unwrap();
    let new = NewDispatch { run: &run_id(), unit: &id("1"), host: Host::Sim, session: None };
    ledger.begin_dispatch(new, at(8)).unwrap();
    let sums = Sums { iterations: 1, ..Sums::default() };
    let expected = RunView {
        spans: vec![WorkSpan { unit: id("1"), started_at: at(8), ended_at: None }],
        run: run(&plan),
        title: "Log in!".into(),
        units: ledger.units(&run_id()).unwrap(),
        tasks: ledger.tasks(&plan).unwrap(),
        evidence: BTreeMap::from([(id("1"), passed(7))]),
        blocked: BTreeMap::from([(id("1a"), "no key".to_owned())]),
        sums,
        unit_sums: BTreeMap::from([(id("1"), sums)]),
    };
    assert_eq!(ledger.run_view(&run_id()).unwrap(), expected);
}

#[test]
fn a_plan_is_its_runs_until_that_is_over() {
    let (dir, mut ledger, plan) = with_run();
    let seen = |ledger: &Ledger| ledger.plan_view(WORKTREE).unwrap().map(|view| (view.id, view.run));
    assert_eq!(seen(&ledger), Some((plan.clone(), Some(run_id()))));
    assert_eq!(read_slices(dir.path(), WORKTREE).unwrap().run, Some(run_id()));
    let taken = ledger.take_plan(&plan, &session("s"), Claiming::EvenIfHeld, at(7)).unwrap();
    assert_eq!(taken, Taken::HeldByRun(run_id()));
    let error = ledger.create_run(&Run { id: RunId::new("r-2"), ..run(&plan) }).unwrap_err();
    assert_eq!(error.to_string(), "run `r-1` is working on plan `log-in`");

    let list = list(&mut ledger);
    ledger.add_task(&list, named("1"), at(1)).unwrap();
    assert_eq!(seen(&ledger), Some((list.clone(), None)), "a session's own tasks come first, though they are older");
    assert_eq!(read_slices(dir.path(), WORKTREE).unwrap().id, list);
    ledger.set_status(&list, &id("1"), to(Status::Done)).unwrap();
    assert_eq!(seen(&ledger), Some((plan.clone(), Some(run_id()))));

    ledger.set_run_state(&run_id(), RunState::Stopped, None, at(9)).unwrap();
    assert_eq!(seen(&ledger), Some((plan.clone(), None)));
    assert_eq!(read_slices(dir.path(), WORKTREE).unwrap().run, None);
    assert_eq!(ledger.take_plan(&plan, &session("s"), Claiming::UnlessHeld, at(10)).unwrap(), Taken::Yes);
}

#[test]
fn a_run_takes_the_plan_from_whoever_had_it() {
    let dir = dir();
    let mut ledger = Ledger::open(dir.path()).unwrap();
    let plan = load(&mut ledger, &spec(vec![planned("1", &[])]), AddedBy::Human, 1).plan().clone();
    ledger.take_plan(&plan, &session("s"), Claiming::UnlessHeld, at(2)).unwrap();
    ledger.create_run(&run(&plan)).unwrap();
    assert_eq!(ledger.plan_view(WORKTREE).unwrap().unwrap().owner, None);
}

#[test]
fn a_plan_that_a_run_works_off_is_not_replaced_and_clearing_it_ends_the_run() {
    let (_dir, mut ledger, plan) = with_run();
    let changed = spec(vec![planned("9", &[])]);
    let (frozen, baseline) = (BTreeMap::new(), Baseline::default());
    let loading = Loading {
        plan: &changed,
        hash: "h2",
        worktree: WORKTREE,
        source: "SPEC.md",
        text: None,
        added_by: AddedBy::Human,
        frozen: &frozen,
        baseline: &baseline,
        now: at(7),
    };
    assert!(matches!(ledger.load_plan(loading), Err(LedgerError::InRun { run, .. }) if run == run_id()));
    ledger.clear_plan(&plan, at(8)).unwrap();
    let ended = ledger.run(&run_id()).unwrap();
    assert_eq!((ended.state, ended.reason.as_deref()), (RunState::Stopped, Some("its plan was cleared")));
    assert!(!ledger.beat(&run_id(), run(&plan).runner.unwrap(), at(9)).unwrap());
    assert!(matches!(ledger.load_plan(loading).unwrap(), Loaded::New(_)));
}
