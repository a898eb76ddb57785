use std::fs;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;

use steadfast_model::{CheckEnd, EvidenceClass, Millis};
use tempfile::TempDir;

use super::*;

/// What a check does: whether it passes, in which folder.
type Check = fn(&str, &Path) -> bool;

/// Runs a function for each check, and keeps on which files it was.
fn checks(check: Check, ran: &Arc<Mutex<Vec<String>>>) -> Box<CheckAgain> {
    let ran = Arc::clone(ran);
    Box::new(move |folder, _, task, _| {
        let passed = check(task.as_str(), folder);
        let files = files(folder);
        ran.lock().unwrap().push(format!("{task} on {files}"));
        if passed {
            return Ok(Recheck::Passed { tree: Some(files) });
        }
        Ok(Recheck::Failed(Evidence {
            class: EvidenceClass::Executed,
            passed,
            end: CheckEnd::Exited(1),
            command: None,
            seconds: None,
            output_tail: None,
            tree: Some(files),
            files: Default::default(),
            seen: Vec::new(),
            note: None,
            at: Millis(0),
        }))
    })
}

fn files(folder: &Path) -> String {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != ".git");
    names.sort_unstable();
    names.concat()
}

/// A repository with a run, and units that wait to land.
struct Scene {
    dir: TempDir,
    worktrees: RunWorktrees,
    base: String,
    waiting: Vec<Arrival>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet", "--initial-branch=main", "repository"]);
        let root = dir.path().join("repository");
        fs::write(root.join("0"), "0\n").unwrap();
        git(&root, &["add", "."]);
        git(&root, &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "first"]);
        let worktrees = RunWorktrees::of(&root, &dir.path().join("worktrees"), "r-1");
        let base = git(&root, &["rev-parse", "HEAD"]);
        worktrees.begin(&base).unwrap();
        Self { dir, worktrees, base, waiting: Vec::new() }
    }

    /// A unit that wrote this file, which passed its check in its worktree.
    fn unit(self, unit: &str, file: &str) -> Self {
        let folder = self.worktrees.prepare(unit).unwrap();
        fs::write(folder.join(file), unit).unwrap();
        self.idle(unit)
    }

    /// One that wrote nothing else.
    fn idle(mut self, unit: &str) -> Self {
        self.worktrees.prepare(unit).unwrap();
        let head = self.worktrees.commit(unit, "work").unwrap();
        let landing = Landing { unit: unit.to_owned(), title: "Do it".to_owned(), lease: 7, head };
        let unit = TaskId::new(unit);
        self.waiting.push(Arrival { plan: PlanId::new("p"), tasks: vec![unit.clone()], unit, landing });
        self
    }

    /// What is said of each unit, which checks ran, and how the branch moved, as far as each commit's files.
    fn land(self, check: Check) -> (Vec<String>, Vec<String>, Vec<String>) {
        let ran = Arc::default();
        let check_again = checks(check, &ran);
        let merger = Merger { base: self.base, worktrees: self.worktrees, check_again, stop: Arc::default() };
        let (arrive, arrivals) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        for arrival in self.waiting {
            arrive.send(arrival).unwrap();
        }
        drop(arrive);
        merger.run(&arrivals, &tell);
        drop(tell);
        let root = self.dir.path().join("repository");
        let said = told.iter().map(|message| match message {
            Message::Merged(unit, Merged::Landed(commit)) => {
                let trailer = "--format=%(trailers:key=Steadfast-Unit,valueonly,separator=%x20)";
                assert_eq!(git(&root, &["log", "-1", trailer, &commit]), unit.as_str());
                format!("{unit} landed")
            }
            Message::Merged(unit, Merged::Conflict(files)) => format!("{unit} conflicts in {}", files.concat()),
            Message::Merged(unit, Merged::Fails(open)) => format!("{unit} fails in {}", open.task),
            other => panic!("{other:?}"),
        });
        let said = said.collect();
        let moves = git(&root, &["reflog", "--format=%H", "steadfast/r-1"]);
        let tree = |commit: &str| git(&root, &["ls-tree", "--name-only", commit]).replace('\n', "");
        let moves = moves.lines().rev().skip(1).map(tree).collect();
        let ran = ran.lock().unwrap().clone();
        (said, ran, moves)
    }
}

#[expect(clippy::disallowed_methods, reason = "git itself is the judge")]
fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").args(args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[test]
fn those_that_wait_are_checked_on_what_all_of_them_make_and_land_at_once() {
    let scene = Scene::new().unit("1", "a").unit("2", "b").unit("3", "c").unit("4", "d");
    let (said, ran, moves) = scene.land(|_, _| true);
    assert_eq!(said, words(["1 landed", "2 landed", "3 landed", "4 landed"]));
    assert_eq!(ran, words(["2 on 0abcd", "3 on 0abcd", "4 on 0abcd"]));
    assert_eq!(moves, words(["0a", "0abcd"]));
}

#[test]
fn when_one_fails_with_the_others_each_is_checked_on_what_it_makes_itself() {
    let scene = Scene::new().unit("1", "a").unit("2", "b").unit("3", "c").unit("4", "d");
    let (said, ran, moves) = scene.land(|task, folder| task != "3" || !folder.join("b").exists());
    assert_eq!(said, words(["1 landed", "2 landed", "3 fails in 3", "4 landed"]));
    assert_eq!(ran, words(["2 on 0abcd", "3 on 0abcd", "2 on 0ab", "3 on 0abc", "4 on 0abd"]));
    assert_eq!(moves, words(["0a", "0ab", "0abd"]));
}

#[test]
fn what_a_chain_that_did_not_land_says_is_not_taken_for_the_units_own() {
    // 1 changes nothing: without the chain, 2 would land as it was checked in its worktree.
    let scene = Scene::new().idle("1").unit("2", "b").unit("3", "c");
    let (said, ran, _) = scene.land(|task, _| task != "3");
    assert_eq!(said, words(["1 landed", "2 landed", "3 fails in 3"]));
    assert_eq!(ran, words(["2 on 0bc", "3 on 0bc", "2 on 0b", "3 on 0bc"]));
}

#[test]
fn one_that_conflicts_keeps_nobody_from_landing_with_the_others() {
    let scene = Scene::new().unit("1", "a").unit("2", "b").unit("3", "b").unit("4", "d");
    let (said, ran, moves) = scene.land(|_, _| true);
    assert_eq!(said, words(["1 landed", "2 landed", "4 landed", "3 conflicts in b"]));
    assert_eq!(ran, words(["2 on 0abd", "4 on 0abd"]));
    assert_eq!(moves, words(["0a", "0abd"]));
}

#[test]
fn a_check_that_leaves_something_behind_is_about_no_other_unit() {
    let scene = Scene::new().unit("1", "a").unit("2", "b").unit("3", "c");
    let (said, ran, moves) = scene.land(|task, folder| {
        if task == "2" {
            fs::write(folder.join("left"), "").unwrap();
        }
        true
    });
    assert_eq!(said, words(["1 landed", "2 landed", "3 landed"]));
    assert_eq!(ran, words(["2 on 0abcleft", "3 on 0abcleft", "2 on 0ableft", "3 on 0abc"]));
    assert_eq!(moves, words(["0a", "0ab", "0abc"]));
}
