//! What a task's end rests on: what is looked at, what a changed check does, and what is stale.

use std::fs::File;
use std::time::Duration;

use steadfast_hook::handle_event;
use steadfast_model::{
    Action, Check, CheckEnd, Event, EventKind, EvidenceClass, Host, PlannedTask, PromptOrigin, RunState, RunUnit,
    SessionId, Status, Task, TaskId, ToolCall,
};
use steadfast_store::ledger::NewTask;
use steadfast_store::{ConfigFiles, lock_check};
use steadfast_testkit::wait_for;
use steadfast_work::task_list::{CloseOptions, CloseOutcome, Proof};
use steadfast_work::{Cause, TaskError, TaskList, WorkError};

use crate::scene::{Change, Scene, add, cause, clock, done, id, looked, new_task, plan, planned, status};

use EvidenceClass::{Artifact, Claimed, Observed};

/// A repository with `a.txt`, `b.txt` and `src/c.txt`.
fn with_files() -> Scene {
    let scene = Scene::new();
    put_files(&scene);
    scene
}

fn put_files(scene: &Scene) {
    for path in ["a.txt", "b.txt", "src/c.txt"] {
        scene.write(path, "as it was\n");
    }
}

#[test]
fn an_agent_claims_a_task_without_a_check_only_when_its_files_changed() {
    for (files, note) in
        [(&["a.txt"][..], "it has no check; changed: a.txt"), (&[], "it has no check; the tree changed")]
    {
        let scene = with_files();
        let mut list = scene.agent("s-1");
        let task = add(&mut list, None, files).id;
        for starts in [false, true] {
            if starts {
                list.start(&task).unwrap();
            }
            let (class, passed, _) = looked(done(&mut list, &task));
            assert_eq!((class, passed), (Claimed, false), "{files:?}, started: {starts}");
        }
        assert_eq!(status(&list, &task), Status::InProgress);
        scene.write("a.txt", "new\n");
        assert_eq!(looked(done(&mut list, &task)), (Claimed, true, note.into()));
        assert_eq!(status(&list, &task), Status::Done);
    }
}

#[test]
fn a_human_closes_a_task_without_a_check_by_saying_so() {
    let scene = with_files();
    let mut list = scene.human();
    let task = add(&mut list, None, &["a.txt"]).id;
    assert_eq!(looked(done(&mut list, &task)), (EvidenceClass::Forced, true, "a human closed it".into()));
}

#[test]
fn what_an_agent_did_before_it_died_is_work_on_its_task() {
    let scene = with_files();
    let task = add(&mut scene.human(), None, &["a.txt"]).id;
    scene.agent("s-1").start(&task).unwrap();
    scene.write("a.txt", "new\n");
    let plan = scene.human().find(&task).unwrap().plan;
    scene.ledger().give_up(&plan, clock()).unwrap();
    let mut next = scene.agent("s-2");
    next.start(&task).unwrap();
    assert_eq!(looked(done(&mut next, &task)), (Claimed, true, "it has no check; changed: a.txt".into()));
}

#[test]
fn what_was_not_seen_at_the_start_counts_as_no_change_until_the_task_is_started_again() {
    let scene = with_files();
    scene.commit();
    let mut list = scene.agent("s-1");
    let task = add(&mut list, Some(Check::Changed), &["src/"]).id;
    let index = scene.root().join(".git/index");
    let kept = std::fs::read(&index).unwrap();
    std::fs::write(&index, "broken").unwrap();
    list.start(&task).unwrap();
    std::fs::write(&index, kept).unwrap();
    let (class, passed, note) = looked(done(&mut list, &task));
    assert_eq!((class, passed), (Observed, false));
    assert!(note.starts_with("its files could not be read when it was started ("), "{note}");
    list.start(&task).unwrap();
    assert!(!looked(done(&mut list, &task)).1, "nothing was changed");
    scene.write("src/c.txt", "new\n");
    assert_eq!(looked(done(&mut list, &task)), (Observed, true, "changed: src/c.txt".into()));
}

#[test]
fn files_that_have_to_change_are_compared_with_those_at_the_start() {
    let two = ["a.txt", "b.txt"].as_slice();
    let cases: [(&str, &[&str], Change, bool, &str); 11] = [
        ("nothing", two, |_| {}, false, "none of its files changed since "),
        ("the same text", two, |scene| scene.write("a.txt", "as it was\n"), false, "none of its files changed since "),
        ("another file", two, |scene| scene.write("c.txt", "new\n"), false, "none of its files changed since "),
        ("one file", two, |scene| scene.write("b.txt", "new\n"), true, "changed: b.txt"),
        (
            "both files",
            two,
            |scene| ["a.txt", "b.txt"].iter().for_each(|path| scene.write(path, "new\n")),
            true,
            "changed: a.txt, b.txt",
        ),
        ("a file that is gone", two, |scene| scene.remove("a.txt"), true, "changed: a.txt"),
        ("a file that is new", &["new.txt"], |scene| scene.write("new.txt", "x"), true, "changed: new.txt"),
        ("a file that never was", &["never.txt"], |_| {}, false, "none of its files changed since "),
        ("a file in a folder", &["src/"], |scene| scene.write("src/new.txt", "x"), true, "changed: src/new.txt"),
        ("a file of a pattern", &["src/*.txt"], |scene| scene.remove("src/c.txt"), true, "changed: src/c.txt"),
        ("a file elsewhere", &["../x"], |_| {}, false, "cannot read its files: "),
    ];
    let scene = Scene::new();
    let mut list = scene.agent("s-1");
    for (name, files, change, passes, note) in cases {
        put_files(&scene);
        let task = add(&mut list, Some(Check::Changed), files).id;
        list.start(&task).unwrap();
        change(&scene);
        let (class, passed, said) = looked(done(&mut list, &task));
        assert_eq!((class, passed), (Observed, passes), "{name}: {said}");
        assert!(said.starts_with(note), "{name}: {said}");
        let expected = if passes { Status::Done } else { Status::InProgress };
        assert_eq!(status(&list, &task), expected, "{name}");
    }
}

#[test]
fn a_task_that_was_never_started_is_not_closed_by_its_files() {
    let scene = with_files();
    let mut list = scene.agent("s-1");
    for files in [&["a.txt"][..], &[]] {
        let task = add(&mut list, Some(Check::Changed), files).id;
        scene.write("a.txt", "new\n");
        let (class, passed, note) = looked(done(&mut list, &task));
        assert_eq!((class, passed), (Observed, false));
        assert!(note.ends_with(&format!("`steadfast task start {task}`")), "{note}");
    }
}

#[test]
fn a_task_of_a_plan_is_compared_with_its_files_at_the_load() {
    let scene = with_files();
    let mut list = scene.human();
    let tasks = vec![planned("1", Some(Check::Changed), &["a.txt"]), planned("2", Some(Check::Changed), &["b.txt"])];
    list.load(&plan(tasks), "SPEC.md").unwrap();
    scene.write("a.txt", "new\n");
    assert!(looked(done(&mut list, &id("1"))).1);
    assert!(!looked(done(&mut list, &id("2"))).1);
}

#[test]
fn starting_a_task_again_does_not_forget_how_its_files_were_at_first() {
    let scene = with_files();
    let mut list = scene.agent("s-1");
    let task = add(&mut list, Some(Check::Changed), &["a.txt"]).id;
    list.start(&task).unwrap();
    scene.write("a.txt", "new\n");
    list.start(&task).unwrap();
    assert_eq!(looked(done(&mut list, &task)), (Observed, true, "changed: a.txt".into()));
}

#[test]
fn a_task_that_names_no_files_is_compared_by_the_tree() {
    let scene = with_files();
    let mut list = scene.agent("s-1");
    let task = add(&mut list, Some(Check::Changed), &[]).id;
    list.start(&task).unwrap();
    assert_eq!(looked(done(&mut list, &task)), (Observed, false, "nothing changed since it was started".into()));
    scene.write("any.txt", "new\n");
    assert_eq!(looked(done(&mut list, &task)), (Observed, true, "the tree changed".into()));
}

#[test]
fn written_files_are_there_and_others_than_when_the_task_before_was_started() {
    let cases: [(&str, bool, Change, bool, &str); 5] = [
        ("never started", false, |scene| scene.write("a.txt", "new\n"), false, "it was never started"),
        ("unchanged", true, |_| {}, false, "none of its files changed since "),
        ("changed", true, |scene| scene.write("a.txt", "new\n"), true, "changed: a.txt"),
        ("missing", true, |scene| scene.remove("a.txt"), false, "missing: a.txt"),
        (
            "one changed, one missing",
            true,
            |scene| {
                scene.write("b.txt", "new\n");
                scene.remove("a.txt");
            },
            false,
            "missing: a.txt",
        ),
    ];
    for (name, starts, change, passes, note) in cases {
        let scene = with_files();
        let mut list = scene.human();
        let files = vec!["a.txt".to_owned(), "b.txt".to_owned()];
        let verify = Some(Check::command("true"));
        list.add(|_| NewTask { files: files.clone(), verify, ..new_task("2.1") }).unwrap();
        list.add(|_| NewTask { files, verify: Some(Check::Written), ..new_task("2.1a") }).unwrap();
        if starts {
            list.start(&id("2.1")).unwrap();
        }
        change(&scene);
        let (class, passed, said) = looked(done(&mut list, &id("2.1a")));
        assert_eq!((class, passed), (Observed, passes), "{name}: {said}");
        assert!(said.starts_with(note), "{name}: {said}");
    }
}

#[test]
fn a_decision_is_a_line_in_the_section_of_its_phase() {
    let scene = Scene::new();
    let mut list = scene.human();
    let elsewhere = PlannedTask { phase: Some("9".into()), ..planned("2", Some(Check::Decision), &[]) };
    list.load(&plan(vec![planned("1", Some(Check::Decision), &[]), elsewhere]), "SPEC.md").unwrap();

    let (class, passed, note) = looked(done(&mut list, &id("1")));
    assert_eq!((class, passed), (Observed, false));
    assert!(
        note.starts_with("there is no decision under `## First Decisions` in `.steadfast/decisions/login.md`"),
        "{note}"
    );
    let (_, passed, note) = looked(done(&mut list, &id("2")));
    assert!(!passed && note.starts_with("its phase is not in the plan"), "{note}");

    list.decide("Argon2", "it is kept").unwrap();
    assert_eq!(looked(done(&mut list, &id("1"))), (Observed, true, "1 decision in its section".into()));
}

#[test]
fn a_decisions_file_that_is_gone_is_written_again_before_it_is_looked_at() {
    let scene = Scene::new();
    let mut list = scene.human();
    list.load(&plan(vec![planned("1", Some(Check::Decision), &[])]), "SPEC.md").unwrap();
    list.decide("Argon2", "it is kept").unwrap();
    list.decide("No cookies", "nobody needs them").unwrap();
    scene.remove(".steadfast/decisions/login.md");
    assert_eq!(looked(done(&mut list, &id("1"))), (Observed, true, "2 decisions in its section".into()));
}

/// Closes a new task that asks for `/review`, after what the session did since it was started.
fn with_skill(
    scene: &Scene,
    list: &mut TaskList,
    session: &str,
    since: Option<Action>,
) -> (EvidenceClass, bool, String) {
    let task = add(list, Some(Check::Skills { names: vec!["review".into()] }), &[]).id;
    list.start(&task).unwrap();
    if let Some(action) = since {
        let call = ToolCall { id: None, tool: "Skill".into(), action, words: Vec::new() };
        event(scene, session, EventKind::PreTool(call));
    }
    looked(done(list, &task))
}

fn event(scene: &Scene, session: &str, kind: EventKind) {
    let place = scene.place();
    let event = Event::plain(SessionId::new(session), Host::Claude, place.worktree(), clock(), kind);
    handle_event(&place, &ConfigFiles::of(&place, None), event).unwrap();
}

#[test]
fn skills_are_seen_in_the_journal_of_the_session_and_claimed_where_there_is_none() {
    let scene = Scene::new();
    let skill = |name: &str| Some(Action::Skill { name: name.into() });
    let no_session = (Claimed, true, "the session is unknown, so the skills it used are unknown".to_owned());
    assert_eq!(with_skill(&scene, &mut scene.human(), "s-1", None), no_session);
    let short = (Claimed, true, "the journal of the session does not reach back far enough".to_owned());
    assert_eq!(with_skill(&scene, &mut scene.agent("s-0"), "s-0", None), short);

    event(&scene, "s-1", EventKind::prompt("go on", PromptOrigin::Human));
    let mut list = scene.agent("s-1");
    let unused = (Observed, false, "not used since it was started: /review".to_owned());
    let absent = (Claimed, true, "not used, because they are not installed here: /review".to_owned());
    assert_eq!(with_skill(&scene, &mut list, "s-1", None), absent);
    scene.install_skill("review");
    assert_eq!(with_skill(&scene, &mut list, "s-1", None), unused);
    assert_eq!(with_skill(&scene, &mut list, "s-1", skill("deploy")), unused);
    assert_eq!(with_skill(&scene, &mut list, "s-1", skill("tools:review")), (Observed, true, "used: review".into()));
    // What was used for the task before counts for none that is started later.
    assert_eq!(with_skill(&scene, &mut list, "s-1", None), unused);
}

#[test]
fn a_picture_is_asked_for_and_has_to_be_one() {
    let scene = with_files();
    let mut list = scene.agent("s-1");
    let task = add(&mut list, Some(Check::Artifact { criteria: None }), &["a.txt"]).id;
    let error = done(&mut list, &task).unwrap_err();
    assert!(matches!(error, WorkError::Task(TaskError::NoArtifact(_))) && error.cause() == Cause::State);
    for name in ["b.txt", "missing.png"] {
        let asked = CloseOptions { artifact: Some(name.into()), ..CloseOptions::default() };
        let (class, passed, _) = looked(list.done(&task, &asked));
        assert_eq!((class, passed, status(&list, &task)), (Artifact, false, Status::Pending), "{name}");
    }
}

/// What is known of a task's evidence. Git has a second to tell of a listing, which on a busy machine may be too little.
fn proof(list: &TaskList, task: &str) -> Option<Proof> {
    let task = list.find(&id(task)).unwrap();
    wait_for("an answer of git in its time", || {
        let proof = list.proofs(std::slice::from_ref(&task)).unwrap().pop().unwrap();
        let is_late = |proof: &Proof| proof.evidence.passed && proof.stale.is_none() && proof.branch.is_none();
        if proof.as_ref().is_some_and(is_late) { Err(format!("{proof:?}")) } else { Ok(proof) }
    })
}

#[test]
fn evidence_is_stale_while_its_files_are_others() {
    let scene = with_files();
    let mut list = scene.human();
    let tasks = vec![
        planned("1", Some(Check::Changed), &["a.txt"]),
        planned("2", None, &["a.txt"]),
        planned("3", Some(Check::Changed), &["b.txt"]),
        planned("4", None, &[]),
    ];
    list.load(&plan(tasks), "SPEC.md").unwrap();
    scene.write("a.txt", "new\n");
    for task in ["1", "2", "3"] {
        done(&mut list, &id(task)).unwrap();
    }
    let stale = |task: &str| proof(&list, task).map(|proof| (proof.evidence.passed, proof.stale));
    let all = || ["1", "2", "3", "4"].map(stale);
    // A claim is about no files, an open task is not asked, and one that nobody closed has no evidence.
    let fresh = [Some((true, Some(false))), Some((true, Some(false))), Some((false, None)), None];
    assert_eq!(all(), fresh);
    scene.write("a.txt", "newer\n");
    assert_eq!(stale("1"), Some((true, Some(true))));
    scene.remove("a.txt");
    assert_eq!(stale("1"), Some((true, Some(true))));
    scene.write("a.txt", "new\n");
    assert_eq!(all(), fresh);
    assert!(list.proofs(&[]).unwrap().is_empty());
}

#[test]
fn evidence_of_a_run_is_on_its_branch_until_that_is_merged() {
    let scene = with_files();
    let mut list = scene.human();
    list.load(&plan(vec![planned("1", Some(Check::Changed), &["a.txt"])]), "SPEC.md").unwrap();
    scene.write("a.txt", "new\n");
    done(&mut list, &id("1")).unwrap();
    let run = scene.begin_run(RunState::Complete);
    let unit = RunUnit::new(id("1"), "Task 1".into(), vec![id("1")], 1);
    let mut ledger = scene.ledger();
    ledger.put_units(&run, &[unit], clock()).unwrap();
    ledger.change_unit(&run, &id("1"), clock(), |unit| unit.merged = Some("c0ffee".into())).unwrap();
    scene.git(&["checkout", "--quiet", "-b", "steadfast/r-1"]);
    scene.git(&["commit", "--quiet", "--allow-empty", "--message=work"]);
    scene.git(&["checkout", "--quiet", "main"]);

    let where_it_is = |list: &TaskList| proof(list, "1").map(|proof| (proof.branch, proof.stale)).unwrap();
    let branch = wait_for("an answer of git in its time", || match where_it_is(&list) {
        (Some(branch), None) => Ok(branch),
        seen => Err(format!("{seen:?}")),
    });
    assert_eq!(branch, "steadfast/r-1");
    scene.git(&["merge", "--quiet", "--ff-only", "steadfast/r-1"]);
    assert_eq!(where_it_is(&list), (None, Some(false)));
}

/// A task whose check is this command, and a run of it that another process has under way: nothing is started.
fn checked(scene: &Scene, command: &str, files: &[&str]) -> (Task, File) {
    let mut list = scene.human();
    let task = add(&mut list, Some(Check::command(command)), files);
    list.ledger_mut().begin_check(&task.plan, &task.id, "other", clock()).unwrap().unwrap();
    (task, lock_check(&scene.place(), "other").unwrap())
}

/// Asks for a check without waiting for it.
fn ask(list: &mut TaskList, task: &TaskId, accept_check: bool) -> Result<CloseOutcome, WorkError> {
    list.done(task, &CloseOptions { accept_check, patience: Duration::ZERO, ..CloseOptions::default() })
}

#[test]
fn a_check_that_runs_something_else_than_it_did_needs_a_human() {
    let cases: [(&str, &[&str], &str, &str); 4] = [
        ("sh check.sh", &[], "check.sh", "`check.sh` has different content"),
        ("sh check.sh", &["a.txt"], "check.sh", "`check.sh` has different content"),
        ("make test", &[], "Makefile", "Makefile"),
        // What a manifest runs is no work of the task, even where the task names the manifest.
        ("make test", &["Makefile"], "Makefile", "Makefile"),
    ];
    for (command, files, changed, difference) in cases {
        let scene = Scene::new();
        scene.write("check.sh", "exit 1\n");
        scene.write("Makefile", "test:\n\texit 1\n");
        let (task, _lock) = checked(&scene, command, files);
        scene.write(changed, "test:\n\texit 0\n");
        for mut list in [scene.agent("s-1"), scene.human()] {
            let error = ask(&mut list, &task.id, false).unwrap_err();
            let told = matches!(&error, WorkError::Task(TaskError::CheckChanged { difference: said, .. })
                if said.contains(difference));
            assert!(told && error.cause() == Cause::NeedsHuman, "{command} {files:?}: {error}");
        }
        let list = scene.human();
        let kept = list.ledger().evidence_of(&task.plan, &task.id).unwrap().pop().unwrap();
        assert_eq!((kept.passed, kept.end, kept.class), (false, CheckEnd::Redefined, EvidenceClass::Executed));
        assert_eq!(status(&list, &task.id), Status::Pending);
    }
}

#[test]
fn a_script_that_the_task_is_to_write_is_no_change_of_its_check() {
    for (files, text) in [(["check.sh"], "exit 0\n"), (["scripts"], "exit 1\n")] {
        let scene = Scene::new();
        let script = if files == ["scripts"] { "scripts/check.sh" } else { "check.sh" };
        let (task, _lock) = checked(&scene, &format!("sh {script}"), &files);
        scene.write(script, text);
        let closing = ask(&mut scene.agent("s-1"), &task.id, false);
        assert!(matches!(closing, Ok(CloseOutcome::Running { .. })), "{files:?}: {closing:?}");
    }
}

#[test]
fn only_a_human_accepts_a_changed_check_and_then_it_holds() {
    let scene = Scene::new();
    scene.write("check.sh", "exit 1\n");
    let (task, _lock) = checked(&scene, "sh check.sh", &[]);
    scene.write("check.sh", "exit 0\n");
    let error = ask(&mut scene.agent("s-1"), &task.id, true).unwrap_err();
    assert!(matches!(error, WorkError::Task(TaskError::AcceptedByAgent(_))) && error.cause() == Cause::Refused);
    assert_eq!(cause(ask(&mut scene.human(), &task.id, false)), Cause::NeedsHuman);
    for (mut list, accept) in [(scene.human(), true), (scene.agent("s-1"), false)] {
        assert!(matches!(ask(&mut list, &task.id, accept), Ok(CloseOutcome::Running { .. })));
    }
}

#[test]
fn a_check_whose_supervisor_is_gone_is_lost() {
    let scene = Scene::new();
    let (task, lock) = checked(&scene, "true", &[]);
    let mut list = scene.human();
    assert!(matches!(list.wait(&task.id, Duration::ZERO), Ok(CloseOutcome::Running { .. })));
    drop(lock);
    // A process that another test is starting may have the lock open until it runs its program.
    let Ok(CloseOutcome::Failed { evidence, .. }) = list.wait(&task.id, Duration::from_secs(20)) else {
        panic!("it is not lost")
    };
    assert_eq!((evidence.end, evidence.command.as_deref()), (CheckEnd::Lost, Some("true")));
    assert_eq!(status(&list, &task.id), Status::Pending);
}

#[test]
fn nobody_waits_for_a_check_that_does_not_run() {
    let scene = Scene::new();
    let mut list = scene.human();
    let task = add(&mut list, Some(Check::command("true")), &[]).id;
    let error = list.wait(&task, Duration::ZERO).unwrap_err();
    assert!(matches!(error, WorkError::Task(TaskError::NoCheckRuns(_))) && error.cause() == Cause::State);
}

#[test]
fn a_check_that_is_too_large_to_be_read_is_the_work_of_its_author() {
    let scene = Scene::new();
    scene.write("check.sh", &"# x\n".repeat(1 << 20 | 1));
    let added = scene.human().add(|_| NewTask { verify: Some(Check::command("sh check.sh")), ..new_task("1") });
    assert_eq!(cause(added), Cause::State);
    assert_eq!(scene.human().all().unwrap(), []);
}

#[test]
fn a_failed_look_is_counted_as_the_same_failure() {
    let scene = with_files();
    let mut list = scene.agent("s-1");
    let task = add(&mut list, Some(Check::Changed), &["a.txt"]).id;
    list.start(&task).unwrap();
    for expected in 1..=3 {
        let Ok(CloseOutcome::Failed { same, .. }) = done(&mut list, &task) else { panic!("{task} is closed") };
        assert_eq!(same, expected);
    }
}
