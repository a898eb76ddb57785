//! The tasks of a run in the worktree of a unit: how they get there, and how they are closed.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use steadfast_model::{
    AddedBy, Check, CheckEnd, Evidence, EvidenceClass, Fact, PlanId, PlannedTask, RunId, RunState, RunUnit, Status,
    TaskKind,
};
use steadfast_work::task_list::{
    CloseOptions, CloseOutcome, LoadedUnit, Recheck, Rework, RunTasks, UnitTaskOutcome, files,
};
use steadfast_work::{Cause, Environment, TaskError, TaskList, WorkError};

use crate::scene::{Scene, cause, clock, id, plain_plan, plan, planned, status, write};

/// A run whose unit has the tasks 1.1 and 1.2 of a plan of three, in a worktree of its own.
struct UnitScene {
    scene: Scene,
    run: RunId,
    unit: RunUnit,
    worktree: PathBuf,
    tasks: RunTasks,
}

impl UnitScene {
    /// 1.1 is checked by this; nothing checks 1.2, which waits for 1.1.
    fn new(verify: Option<Check>) -> Self {
        let scene = Scene::new();
        let waits = PlannedTask { blocked_by: vec![id("1.1")], ..planned("1.2", None, &[]) };
        let tasks = vec![planned("1.1", verify, &["README.md"]), waits, planned("2.1", None, &[])];
        scene.human().load(&plan(tasks), "SPEC.md").unwrap();
        let run = scene.begin_run(RunState::Running);
        let unit = RunUnit::new(id("1"), "Codes".into(), vec![id("1.1"), id("1.2")], 1);
        scene.ledger().put_units(&run, std::slice::from_ref(&unit), clock()).unwrap();
        let worktree = scene.beside("unit");
        scene.git(&["worktree", "add", "--quiet", "--detach", worktree.to_str().unwrap()]);
        let tasks = RunTasks::of(&scene.repository(), "mark".into());
        Self { scene, run, unit, worktree, tasks }
    }

    /// One that is loaded.
    fn loaded(verify: Option<Check>) -> Self {
        let unit = Self::new(verify);
        unit.load(&Rework::default());
        unit
    }

    fn load(&self, rework: &Rework) -> LoadedUnit {
        self.tasks.load(&self.run, &self.unit, &self.worktree, rework).unwrap()
    }

    fn close(&self, task: &str) -> Result<UnitTaskOutcome, WorkError> {
        self.tasks.close(&self.worktree, &id(task), &AtomicBool::new(false))
    }

    /// The list of the unit, as its agent has it.
    fn agent(&self) -> TaskList {
        let environment = self.scene.agent_environment("s-1");
        TaskList::here(Environment { cwd: self.worktree.clone(), in_run: true, ..environment }, "").unwrap()
    }

    fn status(&self, task: &str) -> Status {
        status(&self.agent(), &id(task))
    }

    /// Its agent works on a task and says that it is done.
    fn say_done(&self, task: &str) {
        self.write("README.md", &format!("{task}\n"));
        let closing = self.agent().done(&id(task), &CloseOptions::default()).unwrap();
        assert!(matches!(closing, CloseOutcome::Done { .. }), "{closing:?}");
    }

    /// Its agent writes a file.
    fn write(&self, path: &str, text: &str) {
        write(&self.worktree.join(path), text);
    }
}

/// The plan of the unit's worktree.
fn unit_plan() -> PlanId {
    PlanId::new("r-1-1")
}

/// A task that is not done and says why.
fn open(closed: Result<UnitTaskOutcome, WorkError>) -> String {
    match closed.unwrap() {
        UnitTaskOutcome::Open { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_unit_is_loaded_with_its_tasks_alone_and_in_their_order() {
    let unit = UnitScene::new(None);
    let loaded = unit.load(&Rework::default());
    assert_eq!((loaded.plan, loaded.tasks, loaded.is_open), (unit_plan(), vec![id("1.1"), id("1.2")], true));
    let tasks = unit.agent().all().unwrap();
    let waits: Vec<_> = tasks.iter().map(|task| (task.id.as_str(), task.status, task.blocked_by.clone())).collect();
    assert_eq!(waits, [("1.1", Status::Pending, vec![]), ("1.2", Status::Pending, vec![id("1.1")])]);
    // The plan of the run is as it was.
    assert_eq!(unit.scene.human().all().unwrap().len(), 3);
}

#[test]
fn a_unit_that_is_loaded_again_keeps_what_its_agent_did() {
    let unit = UnitScene::loaded(None);
    unit.say_done("1.1");
    assert!(unit.load(&Rework::default()).is_open);
    assert_eq!([unit.status("1.1"), unit.status("1.2")], [Status::Done, Status::Pending]);
    unit.say_done("1.2");
    assert!(!unit.load(&Rework::default()).is_open);
}

#[test]
fn the_agent_of_a_unit_knows_what_was_decided_before() {
    let unit = UnitScene::new(None);
    let decide = |what: &str| unit.scene.human().decide(what, "so").unwrap();
    let file = || fs::read_to_string(unit.worktree.join(".steadfast/decisions/r-1-1.md")).unwrap();
    decide("tokens in Redis");
    let context = unit.load(&Rework::default()).context;
    assert_eq!(context.decisions, ["tokens in Redis: so"]);
    assert_eq!(context.file.as_deref(), Some(".steadfast/decisions/r-1-1.md"));
    assert!(file().contains("- tokens in Redis: so"), "{}", file());
    // Another attempt hears of what came since.
    decide("links by mail");
    assert_eq!(unit.load(&Rework::default()).context.decisions, ["tokens in Redis: so", "links by mail: so"]);
    assert!(file().contains("- links by mail: so"), "{}", file());
}

#[test]
fn the_file_of_the_checkout_is_brought_up_to_date_also_when_another_plan_is_in_force() {
    let unit = UnitScene::loaded(None);
    let plan = unit.scene.human().plan_row().unwrap().id;
    let path = unit.scene.root().join(".steadfast/decisions").join(format!("{plan}.md"));
    let decision = steadfast_store::ledger::Decision {
        phase: Some("1".into()),
        what: "tokens in Redis".into(),
        why: "so".into(),
        added_by: AddedBy::Agent,
        at: clock(),
    };
    unit.scene.human().load(&plain_plan(&["7.1"]), "OTHER.md").unwrap();
    unit.scene.ledger().decide(&plan, &decision).unwrap();
    assert!(!fs::read_to_string(&path).unwrap().contains("tokens in Redis"));
    unit.tasks.render_decisions(&plan);
    assert!(fs::read_to_string(&path).unwrap().contains("- tokens in Redis: so"));
}

#[test]
fn an_unknown_run_or_task_is_not_found() {
    let unit = UnitScene::new(None);
    let load = |run: &str, task: &str| {
        let other = RunUnit { tasks: vec![id(task)], ..unit.unit.clone() };
        unit.tasks.load(&RunId::new(run), &other, &unit.worktree, &Rework::default())
    };
    assert_eq!([cause(load("r-9", "1.1")), cause(load("r-1", "9.9"))], [Cause::NotFound, Cause::NotFound]);
    load("r-1", "1.1").unwrap();
    assert_eq!(cause(unit.close("9.9")), Cause::NotFound);
}

#[test]
fn the_files_of_a_unit_are_compared_with_those_of_its_worktree_at_the_load() {
    let unit = UnitScene::loaded(Some(Check::Changed));
    // What happens in the checkout of the human is nothing to the unit.
    unit.scene.write("README.md", "new\n");
    assert!(open(unit.close("1.1")).starts_with("none of its files changed since "));
    unit.write("README.md", "new\n");
    assert_eq!((unit.close("1.1").unwrap(), unit.status("1.1")), (UnitTaskOutcome::Done, Status::Done));
}

#[test]
fn a_task_without_a_check_is_closed_by_its_agent_alone() {
    let unit = UnitScene::loaded(None);
    unit.write("README.md", "new\n");
    for task in ["1.1", "1.2"] {
        let why = open(unit.close(task));
        assert_eq!(why, format!("it has no check, and the agent did not close it with `steadfast task done {task}`"));
        unit.say_done(task);
        assert_eq!(unit.close(task).unwrap(), UnitTaskOutcome::Done, "{task}");
    }
    assert_eq!(unit.agent().ledger().evidence(&unit_plan()).unwrap().len(), 2);
}

#[test]
fn a_blocked_task_needs_a_human_and_says_why() {
    let unit = UnitScene::loaded(None);
    unit.agent().block(&id("1.1"), "no key for the mail server").unwrap();
    assert_eq!(unit.close("1.1").unwrap(), UnitTaskOutcome::NeedsHuman("no key for the mail server".into()));
    assert_eq!(unit.status("1.1"), Status::Blocked);
}

#[test]
fn a_changed_check_needs_a_human() {
    let unit = UnitScene::new(Some(Check::command("sh check.sh")));
    unit.load(&Rework::default());
    unit.write("check.sh", "exit 0\n");
    let UnitTaskOutcome::NeedsHuman(why) = unit.close("1.1").unwrap() else { panic!("it is closed") };
    assert!(why.contains("`check.sh` was missing, is a file"), "{why}");
    assert_eq!(unit.status("1.1"), Status::Pending);
}

#[test]
fn rework_opens_a_task_that_was_done() {
    let unit = UnitScene::loaded(None);
    unit.say_done("1.1");
    unit.say_done("1.2");
    let loaded = unit.load(&Rework { reopen: Some(id("1.2")), conflict: Vec::new() });
    assert!(loaded.is_open);
    assert_eq!([unit.status("1.1"), unit.status("1.2")], [Status::Done, Status::Pending]);
}

#[test]
fn a_conflict_becomes_a_task_that_comes_first_once() {
    let unit = UnitScene::loaded(None);
    let rework = Rework { reopen: None, conflict: vec!["a.txt".into(), "it's.txt".into()] };
    let loaded = unit.load(&rework);
    let [settle, ..] = &loaded.tasks[..] else { panic!("{loaded:?}") };
    assert_eq!(loaded.tasks, [settle.clone(), id("1.1"), id("1.2")]);
    let task = unit.agent().find(settle).unwrap();
    assert_eq!((task.kind, task.added_by, &task.files), (TaskKind::Remediation, AddedBy::Human, &rework.conflict));
    let expected = "! grep -nE '^(<<<<<<<|>>>>>>>) ' -- 'a.txt' 'it'\\''s.txt'";
    assert_eq!(task.verify, Some(Check::command(expected)));

    // Whoever was to settle it was ended: it is not asked for twice.
    assert_eq!(unit.load(&rework).tasks, loaded.tasks);
    assert_eq!(unit.load(&Rework::default()).tasks, loaded.tasks);
}

#[test]
fn nothing_is_run_again_for_a_task_without_a_command() {
    let unit = UnitScene::loaded(None);
    let stop = AtomicBool::new(false);
    let plan = unit_plan();
    assert_eq!(unit.tasks.check_again(&unit.worktree, &plan, &id("1.1"), &stop).unwrap(), Recheck::Nothing);
    assert_eq!(cause(unit.tasks.check_again(&unit.worktree, &plan, &id("9.9"), &stop)), Cause::NotFound);
}

/// Evidence that a command passed on this tree.
fn passed_on(tree: &str) -> Evidence {
    Evidence {
        class: EvidenceClass::Executed,
        passed: true,
        end: CheckEnd::Exited(0),
        command: Some("true".into()),
        seconds: None,
        output_tail: None,
        tree: Some(tree.into()),
        files: Default::default(),
        seen: Vec::new(),
        note: None,
        at: clock(),
    }
}

#[test]
fn a_check_that_passed_on_these_very_files_is_not_run_again() {
    let unit = UnitScene::loaded(Some(Check::command("true")));
    let tree = || match files::tree(&unit.worktree, &unit.scene.place().state) {
        Fact::Known(tree) => tree,
        other => panic!("{other:?}"),
    };
    let plan = unit_plan();
    // Committed, and changed since: both are looked at.
    for text in [None, Some("new\n")] {
        if let Some(text) = text {
            unit.write("README.md", text);
        }
        unit.scene.ledger().record(&plan, &id("1.1"), &passed_on(&tree())).unwrap();
        assert_eq!(unit.close("1.1").unwrap(), UnitTaskOutcome::Done, "{text:?}");
        assert_eq!(unit.scene.ledger().running(&plan).unwrap(), []);
    }
}

#[test]
fn a_ledger_that_is_locked_is_an_error_and_no_open_task() {
    let unit = UnitScene::loaded(Some(Check::Changed));
    unit.write("README.md", "new\n");
    // A run waits for three seconds.
    let other = unit.scene.connect();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = unit.close("1.1").unwrap_err();
    assert_eq!(error.cause(), Cause::Infrastructure, "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!((unit.status("1.1"), unit.close("1.1").unwrap()), (Status::Pending, UnitTaskOutcome::Done));
}

#[test]
fn a_git_that_does_not_answer_is_an_error_and_no_open_task() {
    for (check, why) in [
        (Check::Changed, "none of its files changed since "),
        (Check::Written, "it was never started"),
        (Check::Decision, "there is no decision under `## First Decisions`"),
    ] {
        let unit = UnitScene::loaded(Some(check));
        let index = unit.scene.root().join(".git/worktrees/unit/index");
        let kept = fs::read(&index).unwrap();
        fs::write(&index, "broken").unwrap();
        let error = unit.close("1.1").unwrap_err();
        assert!(matches!(&error, WorkError::Task(TaskError::NotSeen { .. })), "{why}: {error}");
        assert_eq!(error.cause(), Cause::Infrastructure, "{why}");

        fs::write(&index, kept).unwrap();
        let said = open(unit.close("1.1"));
        assert!(said.starts_with(why), "{said}");
    }
}

#[test]
fn a_worktree_that_leads_to_no_repository_closes_nothing() {
    let unit = UnitScene::loaded(Some(Check::Changed));
    fs::write(unit.worktree.join(".git"), "broken").unwrap();
    let error = unit.close("1.1").unwrap_err();
    assert!(matches!(&error, WorkError::Task(TaskError::NotSeen { .. })), "{error}");
}

#[test]
fn an_agent_of_a_run_works_on_its_unit_and_not_on_the_plan_of_the_run() {
    let unit = UnitScene::loaded(None);
    unit.agent().start(&id("1.1")).unwrap();
    assert_eq!(unit.status("1.1"), Status::InProgress);
    assert_eq!(cause(unit.scene.agent("s-1").start(&id("1.1"))), Cause::Refused);
    assert_eq!(cause(unit.agent().start(&id("2.1"))), Cause::NotFound);
}

#[test]
fn what_was_kept_for_a_worktree_goes_with_it() {
    let unit = UnitScene::loaded(None);
    let state = unit.scene.place().state;
    let kept = || fs::read_dir(state.join("trees")).map_or(0, Iterator::count);
    files::tree(&unit.worktree, &state);
    files::tree(&unit.scene.root(), &state);
    assert_eq!(kept(), 2);
    unit.tasks.leave(&unit.worktree);
    assert_eq!(kept(), 1);
    // One that is gone already takes nothing of the checkout around it.
    unit.tasks.leave(&unit.scene.root().join("gone"));
    assert_eq!(kept(), 1);
}
