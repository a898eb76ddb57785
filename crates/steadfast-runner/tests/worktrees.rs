//! Branches and worktrees of a run, in real repositories.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

use steadfast_runner::worktrees::{Candidate, Landing, Merge, RunWorktrees};
use tempfile::TempDir;

struct Repository {
    dir: TempDir,
}

impl Repository {
    /// One commit with `a` and `b`.
    fn new() -> Self {
        let repository = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(repository.path()).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.write("a", "1\n");
        repository.write("b", "1\n");
        repository.git(&["add", "."]);
        repository.git(&["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "first"]);
        repository
    }

    fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("repository")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    #[expect(clippy::disallowed_methods, reason = "git itself is the judge")]
    fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(self.path()).env("HOME", self.dir.path()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    fn worktrees(&self) -> RunWorktrees {
        RunWorktrees::of(&self.path(), &self.dir.path().join("worktrees/r-1"), "r-1")
    }

    fn begun(&self) -> RunWorktrees {
        let worktrees = self.worktrees();
        worktrees.begin(&self.git(&["rev-parse", "HEAD"])).unwrap();
        worktrees
    }
}

fn landing(unit: &str, head: &str) -> Landing {
    Landing { unit: unit.to_owned(), title: "Do it".to_owned(), lease: 7, head: head.to_owned() }
}

fn worked(worktrees: &RunWorktrees, unit: &str, name: &str, text: &str) -> String {
    let folder = worktrees.prepare(unit).unwrap();
    fs::write(folder.join(name), text).unwrap();
    worktrees.commit(unit, "work").unwrap()
}

fn clean(worktrees: &RunWorktrees, unit: &str, head: &str) -> Candidate {
    match worktrees.candidate(&landing(unit, head)).unwrap() {
        Merge::Clean(candidate) => candidate,
        Merge::Conflict(files) => panic!("conflict in {files:?}"),
    }
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn what_a_unit_did_lands_on_the_runs_branch_and_nowhere_else() {
    let repository = Repository::new();
    repository.write("b", "not committed\n");
    let (before, index) = (repository.git(&["rev-parse", "main"]), repository.git(&["status", "--porcelain"]));
    let worktrees = repository.begun();
    let head = worked(&worktrees, "1.1", "new", "x\n");
    let candidate = clean(&worktrees, "1.1", &head);
    assert!(candidate.same_tree);
    assert!(worktrees.land(&candidate).unwrap());
    assert_eq!(repository.git(&["show", "steadfast/r-1:new"]), "x");
    worktrees.remove("1.1").unwrap();
    worktrees.clear().unwrap();
    assert_eq!(repository.git(&["branch", "--format=%(refname:short)"]), "main\nsteadfast/r-1");
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!repository.dir.path().join("worktrees/r-1").exists());
    assert_eq!((repository.git(&["rev-parse", "main"]), repository.git(&["status", "--porcelain"])), (before, index));
    assert_eq!(read(&repository.path(), "b"), "not committed\n");
}

#[test]
fn several_worktrees_go_at_once_and_the_others_stay() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    for unit in ["1", "2", "3"] {
        worked(&worktrees, unit, "new", unit);
    }
    worktrees.remove_all(&["1", "3", "never made"]).unwrap();
    let left = repository.git(&["worktree", "list", "--porcelain"]);
    let branches: Vec<&str> = left.lines().filter_map(|line| line.strip_prefix("branch refs/heads/")).collect();
    assert_eq!(branches, ["main", "steadfast/r-1-2"]);
    let branches = repository.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "main\nsteadfast/r-1\nsteadfast/r-1-2");
}

#[test]
fn a_unit_that_changed_nothing_lands_once_too() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    worktrees.prepare("1.1").unwrap();
    let head = worktrees.commit("1.1", "work").unwrap();
    let base = worktrees.tip().unwrap().unwrap();
    assert_eq!(head, base);
    let candidate = clean(&worktrees, "1.1", &head);
    assert!(worktrees.land(&candidate).unwrap());
    assert_eq!(worktrees.landed(&base).unwrap(), [("1.1".to_owned(), candidate.commit)]);
}

#[test]
fn two_units_that_do_not_touch_are_merged_and_the_second_tree_is_new() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    let one = worked(&worktrees, "1", "one", "1\n");
    let two = worked(&worktrees, "2", "two", "2\n");
    assert!(worktrees.land(&clean(&worktrees, "1", &one)).unwrap());
    let second = clean(&worktrees, "2", &two);
    assert!(!second.same_tree);
    let folder = worktrees.lay_out(&second).unwrap();
    assert_eq!((read(&folder, "one"), read(&folder, "two")), ("1\n".to_owned(), "2\n".to_owned()));
    assert!(worktrees.land(&second).unwrap());
    let units: Vec<String> = worktrees.landed("main").unwrap().into_iter().map(|(unit, _)| unit).collect();
    assert_eq!(units, ["2", "1"]);
}

#[test]
fn a_candidate_for_a_tip_that_moved_does_not_land() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    let one = worked(&worktrees, "1", "one", "1\n");
    let two = worked(&worktrees, "2", "two", "2\n");
    let (first, second) = (clean(&worktrees, "1", &one), clean(&worktrees, "2", &two));
    assert!(worktrees.land(&first).unwrap());
    assert!(!worktrees.land(&second).unwrap());
    // Landing what has landed is no second landing.
    assert!(worktrees.land(&first).unwrap());
    assert_eq!(worktrees.tip().unwrap().unwrap(), first.commit);
}

#[test]
fn what_was_laid_out_before_is_gone_but_for_what_git_ignores() {
    let repository = Repository::new();
    repository.write(".gitignore", "built\n");
    repository.git(&["add", "."]);
    repository.git(&["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "second"]);
    let worktrees = repository.begun();
    let one = worked(&worktrees, "1", "one", "1\n");
    let two = worked(&worktrees, "2", "two", "2\n");
    let folder = worktrees.lay_out(&clean(&worktrees, "1", &one)).unwrap();
    fs::write(folder.join("built"), "kept").unwrap();
    fs::write(folder.join("stray"), "left by a check").unwrap();
    assert_eq!(worktrees.lay_out(&clean(&worktrees, "2", &two)).unwrap(), folder);
    assert!(folder.join("built").exists() && folder.join("two").exists());
    assert!(!folder.join("stray").exists() && !folder.join("one").exists());
}

#[test]
fn a_conflict_goes_back_into_the_units_files_and_lands_when_it_is_settled() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    let one = worked(&worktrees, "1", "a", "one\n");
    let two = worked(&worktrees, "2", "a", "two\n");
    assert!(worktrees.land(&clean(&worktrees, "1", &one)).unwrap());
    assert_eq!(worktrees.candidate(&landing("2", &two)).unwrap(), Merge::Conflict(vec!["a".to_owned()]));
    assert_eq!(worktrees.bring_in("2").unwrap(), ["a"]);
    let folder = worktrees.unit_folder("2");
    assert!(read(&folder, "a").contains("<<<<<<<"));
    fs::write(folder.join("a"), "both\n").unwrap();
    let settled = worktrees.commit("2", "settled").unwrap();
    let candidate = clean(&worktrees, "2", &settled);
    assert!(candidate.same_tree);
    assert!(worktrees.land(&candidate).unwrap());
    assert_eq!(repository.git(&["show", "steadfast/r-1:a"]), "both");
}

#[test]
fn a_worktree_is_adopted_when_it_is_whole_and_made_anew_when_it_is_not() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    let folder = worktrees.prepare("1").unwrap();
    fs::write(folder.join("draft"), "half\n").unwrap();
    let dir = repository.path().join(".git/worktrees/1");
    fs::write(dir.join("index.lock"), "").unwrap();
    worktrees.prepare("1").unwrap();
    assert_eq!(read(&folder, "draft"), "half\n");
    assert!(!dir.join("index.lock").exists());
    // Its checkout did not come to its end.
    fs::remove_file(dir.join("index")).unwrap();
    fs::remove_file(folder.join("a")).unwrap();
    worktrees.prepare("1").unwrap();
    assert_eq!(read(&folder, "a"), "1\n");
    assert!(!folder.join("draft").exists());
    // Git forgot it, the folder is there.
    fs::remove_dir_all(repository.path().join(".git/worktrees")).unwrap();
    worktrees.prepare("1").unwrap();
    assert_eq!(read(&folder, "b"), "1\n");
    // The folder is gone, git remembers it, and its branch has work.
    let head = worked(&worktrees, "1", "done", "yes\n");
    fs::remove_dir_all(&folder).unwrap();
    worktrees.prepare("1").unwrap();
    assert_eq!((read(&folder, "done"), worktrees.commit("1", "none").unwrap()), ("yes\n".to_owned(), head));
}

#[test]
fn many_worktrees_are_made_at_once() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    std::thread::scope(|scope| {
        let made: Vec<_> = (0..12)
            .map(|n| {
                scope.spawn({
                    let worktrees = &worktrees;
                    move || worktrees.prepare(&n.to_string())
                })
            })
            .collect();
        for one in made {
            one.join().unwrap().unwrap();
        }
    });
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 13);
}

#[test]
fn removing_twice_is_removing_once() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    worked(&worktrees, "1", "one", "1\n");
    worktrees.remove("1").unwrap();
    worktrees.remove("1").unwrap();
    worktrees.clear().unwrap();
    worktrees.clear().unwrap();
}

#[test]
fn a_hook_and_a_signature_of_the_user_do_not_stand_in_the_way() {
    let repository = Repository::new();
    repository.git(&["config", "user.name", "The User"]);
    repository.git(&["config", "user.email", "user@example.com"]);
    repository.git(&["config", "commit.gpgSign", "true"]);
    repository.git(&["config", "gpg.program", "/bin/false"]);
    let hook = repository.path().join(".git/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    repository.git(&["config", "core.hooksPath", ".git/hooks"]);
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let worktrees = repository.begun();
    let head = worked(&worktrees, "1", "one", "1\n");
    assert!(worktrees.land(&clean(&worktrees, "1", &head)).unwrap());
    let author = repository.git(&["log", "-1", "--format=%an", "steadfast/r-1"]);
    assert_eq!(author, "The User");
}

#[test]
fn what_git_left_locked_when_it_was_killed_is_unlocked_and_nothing_else() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    worktrees.prepare("1").unwrap();
    let common = repository.path().join(".git");
    let ours = ["refs/heads/steadfast/r-1.lock", "refs/heads/steadfast/r-1-1.lock", "worktrees/1/HEAD.lock"];
    let others = ["refs/heads/steadfast/r-12.lock", "refs/heads/main.lock", "packed-refs.lock", "index.lock"];
    for lock in ours.iter().chain(&others) {
        fs::write(common.join(lock), "").unwrap();
    }
    worktrees.unlock().unwrap();
    let left = |locks: &[&str]| locks.iter().filter(|lock| common.join(lock).exists()).count();
    assert_eq!((left(&ours), left(&others)), (0, others.len()));
    // It was ended while it deleted a branch, which takes the lock of all that is packed.
    fs::write(repository.dir.path().join("worktrees/r-1/.deleting"), "").unwrap();
    worktrees.unlock().unwrap();
    assert!(!common.join("packed-refs.lock").exists());
    worktrees.clear().unwrap();
}

#[test]
fn a_worktree_of_the_users_that_is_out_of_sight_stays_known() {
    let repository = Repository::new();
    let theirs = repository.dir.path().join("usb/theirs");
    repository.git(&["worktree", "add", "--quiet", theirs.to_str().unwrap()]);
    fs::rename(repository.dir.path().join("usb"), repository.dir.path().join("unplugged")).unwrap();
    let worktrees = repository.begun();
    worktrees.prepare("theirs").unwrap();
    worktrees.remove("theirs").unwrap();
    worktrees.clear().unwrap();
    assert!(repository.git(&["worktree", "list"]).contains("usb/theirs"));
}

#[test]
fn a_worktree_whose_making_was_killed_is_made_anew() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    let folder = worktrees.prepare("1").unwrap();
    let dir = repository.path().join(".git/worktrees/1");
    fs::write(dir.join("locked"), "initializing").unwrap();
    fs::write(dir.join("commondir"), "").unwrap();
    fs::remove_file(dir.join("index")).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    // A checkout that went on when its worktree was taken back.
    let rest = repository.path().join(".git/worktrees/3");
    fs::create_dir(&rest).unwrap();
    fs::write(rest.join("index"), "").unwrap();
    // A worktree that did not come to say where it is.
    let beginning = repository.path().join(".git/worktrees/4");
    fs::create_dir(&beginning).unwrap();
    fs::write(beginning.join("locked"), "initializing").unwrap();
    worktrees.unlock().unwrap();
    assert!(!rest.exists() && !beginning.exists());
    worktrees.prepare("2").unwrap();
    worktrees.prepare("1").unwrap();
    assert_eq!(read(&folder, "a"), "1\n");
    fs::write(dir.join("locked"), "initializing").unwrap();
    worktrees.clear().unwrap();
    assert!(!repository.path().join(".git/worktrees").exists());
}

#[test]
fn a_merge_into_the_units_files_that_was_killed_is_undone_and_made_again() {
    let repository = Repository::new();
    let worktrees = repository.begun();
    let one = worked(&worktrees, "1", "a", "one\n");
    worked(&worktrees, "2", "a", "two\n");
    assert!(worktrees.land(&clean(&worktrees, "1", &one)).unwrap());
    let folder = worktrees.unit_folder("2");
    // As far as it came.
    fs::write(repository.path().join(".git/worktrees/2/steadfast-merging"), "").unwrap();
    fs::write(folder.join("a"), "<<<<<<< half\n").unwrap();
    fs::write(folder.join("came-in"), "new\n").unwrap();
    worktrees.prepare("2").unwrap();
    assert_eq!(read(&folder, "a"), "two\n");
    assert!(!folder.join("came-in").exists() && !worktrees.is_bringing_in("2"));
    assert_eq!(worktrees.bring_in("2").unwrap(), ["a"]);
    // One that came to its end stays.
    worktrees.prepare("2").unwrap();
    assert!(worktrees.is_bringing_in("2") && read(&folder, "a").contains("<<<<<<<"));
    assert_eq!(worktrees.bring_in("2").unwrap(), ["a"]);
}
