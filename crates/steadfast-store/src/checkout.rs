//! The last known path of each checkout, so that a moved or copied repository keeps its plans.
//!
//! Plans, gates and drafts name their checkout by its path. The folder that git keeps for a checkout does not change when
//! the checkout moves: the repository's own `.git`, or the folder of a linked worktree. So Steadfast stores the path for
//! each such folder. When the path has changed, Steadfast updates everything that names it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use steadfast_model::{GateScope, Millis};

use crate::draft::{drafts, keep_draft};
use crate::file::{file_name, replace_in_folder};
use crate::gate::{close_gate, gates, open_gate, scope_name};
use crate::ledger::{Ledger, LedgerError};
use crate::place::{Place, linked_name};

/// The maximum time to wait for another writer.
const PATIENCE: Duration = Duration::from_millis(500);

/// A checkout whose path has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub from: String,
    /// The original checkout still exists, with its own state.
    pub copied: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum MoveError {
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("cannot update the gates and drafts of the moved checkout: {0}")]
    Io(#[from] std::io::Error),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    path: String,
    /// The time at which git created the folder of a linked worktree: another worktree may have the same name later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<u64>,
}

/// Updates everything that belongs to this checkout, if its path has changed. The record is written last: after an
/// interruption the next call starts over.
pub fn settle_checkout(place: &Place, now: Millis) -> Result<Option<Moved>, MoveError> {
    let Some((name, made)) = identity(place) else { return Ok(None) };
    let (file, here) = (place.state.join("checkouts").join(&name), Record { path: place.worktree(), made });
    let last = read(&file).filter(|last| last.made == made);
    if last.as_ref() == Some(&here) {
        return Ok(None);
    }
    let moved = last.filter(|last| !is_copy_of_linked(place, last)).map(|last| Moved {
        copied: made.is_none() && has_state_of_its_own(Path::new(&last.path), place),
        from: last.path,
    });
    if let Some(moved) = &moved {
        move_former_owner(place, &name, &here.path, now)?;
        move_state(place, moved, &here.path, now)?;
    }
    replace_in_folder(&file, &serde_json::to_vec(&here).map_err(std::io::Error::from)?)?;
    Ok(moved)
}

/// Identifies the repository's own checkout, or a linked worktree by the folder that git keeps for it. Outside git the state
/// depends on the path, so there is nothing to update.
fn identity(place: &Place) -> Option<(String, Option<u64>)> {
    let Some((name, folder)) = linked_name(&place.root) else {
        return place.root.join(".git").exists().then(|| ("main".to_owned(), None));
    };
    // Git writes this file once, and a copy that preserves times preserves its time.
    let made = fs::metadata(folder.join("commondir")).and_then(|file| file.modified()).ok()?;
    let made = made.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    Some((format!("linked-{}", file_name(&name)), u64::try_from(made).ok()))
}

fn read(file: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Detects a linked worktree that was copied together with its `.git` file. Git treats both copies as the original, and so
/// does Steadfast.
fn is_copy_of_linked(place: &Place, last: &Record) -> bool {
    last.made.is_some()
        && linked_name(Path::new(&last.path)).is_some_and(|there| linked_name(&place.root) == Some(there))
}

fn has_state_of_its_own(path: &Path, place: &Place) -> bool {
    let Some(there) = Place::of(path, None).filter(|there| there.root == path && there.state.is_dir()) else {
        return false;
    };
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    real(&there.state) != real(&place.state)
}

/// Another worktree may have been at this path before, and has not been seen at its new path yet: its plans, gates and
/// drafts are moved first.
fn move_former_owner(place: &Place, name: &str, here: &str, now: Millis) -> Result<(), MoveError> {
    let Ok(folder) = fs::read_dir(place.state.join("checkouts")) else { return Ok(()) };
    for file in folder.flatten().filter(|file| file.file_name().to_string_lossy() != name) {
        let Some(other) = read(&file.path()).filter(|other| other.path == here) else { continue };
        let Some((root, made)) = current_path_of(place, &file.file_name().to_string_lossy()) else { continue };
        if other.made == Some(made) && root != here {
            move_state(place, &Moved { from: other.path, copied: false }, &root, now)?;
            let record = Record { path: root, made: other.made };
            replace_in_folder(&file.path(), &serde_json::to_vec(&record).map_err(std::io::Error::from)?)?;
        }
    }
    Ok(())
}

/// Returns the current path of the linked worktree of this record.
fn current_path_of(place: &Place, record: &str) -> Option<(String, u64)> {
    let common = place.state.parent()?;
    fs::read_dir(common.join("worktrees")).ok()?.flatten().find_map(|folder| {
        let name = folder.file_name().to_string_lossy().into_owned();
        if format!("linked-{}", file_name(&name)) != record {
            return None;
        }
        let dot_git = PathBuf::from(fs::read_to_string(folder.path().join("gitdir")).ok()?.trim());
        let there = Place::of(dot_git.parent()?, None)?;
        let (_, made) = identity(&there)?;
        Some((there.worktree(), made?))
    })
}

/// Moves the ledger first, in one transaction, then the files. Each new file is written before the old one is removed.
fn move_state(place: &Place, moved: &Moved, to: &str, now: Millis) -> Result<(), MoveError> {
    let from = moved.from.as_str();
    if place.state.join("state.db").exists() {
        Ledger::open_within(&place.state, PATIENCE)?.move_worktree(moved, to, now)?;
    }
    for draft in drafts(place).into_iter().filter(|draft| draft.worktree == from) {
        keep_draft(place, &crate::draft::Draft { worktree: to.to_owned(), ..draft })?;
    }
    for mut gate in gates(place) {
        let old = gate.scope.clone();
        if matches!(&gate.scope, GateScope::Worktree(path) if path == from) {
            gate.scope = GateScope::Worktree(to.to_owned());
        } else if gate.root != from {
            continue;
        }
        gate.root = to.to_owned();
        if gate.scope != old {
            let seals = place.state.join("seals");
            if seals.join(scope_name(&old)).is_dir() {
                fs::rename(seals.join(scope_name(&old)), seals.join(scope_name(&gate.scope)))?;
            }
        }
        close_gate(place, &gate)?;
        if gate.scope != old {
            open_gate(place, &old)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "git moves worktrees here as a user has it do")]
mod tests {
    use std::process::Command;

    use steadfast_model::{AddedBy, Gate};

    use super::*;
    use crate::gate::{gate_before, gate_of};
    use crate::ledger::NewTask;

    struct World {
        dir: tempfile::TempDir,
    }

    impl World {
        fn new() -> Self {
            let world = Self { dir: tempfile::tempdir().unwrap() };
            fs::create_dir(world.at("repo")).unwrap();
            world.git("repo", &["init", "--quiet"]);
            let commit = ["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "--allow-empty", "-m", "x"];
            world.git("repo", &commit);
            world.place("repo").create().unwrap();
            world
        }

        fn at(&self, path: &str) -> PathBuf {
            fs::canonicalize(self.dir.path()).unwrap().join(path)
        }

        fn place(&self, path: &str) -> Place {
            Place::of(&self.at(path), None).unwrap()
        }

        fn git(&self, path: &str, arguments: &[&str]) {
            let git = Command::new("git").args(arguments).current_dir(self.at(path)).output().unwrap();
            assert!(git.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&git.stderr));
        }

        fn copy(&self, from: &str, to: &str) {
            assert!(Command::new("cp").arg("-a").args([self.at(from), self.at(to)]).status().unwrap().success());
        }

        fn settle(&self, path: &str) -> Option<Moved> {
            settle_checkout(&self.place(path), Millis(9)).unwrap()
        }

        fn moved(&self, from: &str, copied: bool) -> Option<Moved> {
            Some(Moved { from: self.at(from).display().to_string(), copied })
        }

        fn add_list(&self, path: &str) {
            let place = self.place(path);
            let mut ledger = Ledger::open(&place.state).unwrap();
            let list = ledger.list_plan(&place.worktree(), "Tasks", AddedBy::Human, Millis(1)).unwrap();
            ledger.add_task(&list, NewTask::new("Work", AddedBy::Human), Millis(1)).unwrap();
        }

        fn plans(&self, path: &str) -> usize {
            let place = self.place(path);
            Ledger::open(&place.state).unwrap().plans(&place.worktree()).unwrap().len()
        }
    }

    #[test]
    fn a_repository_that_is_moved_takes_plans_gates_and_seals_along() {
        let world = World::new();
        assert_eq!(world.settle("repo"), None);
        world.add_list("repo");
        let place = world.place("repo");
        let old = GateScope::Worktree(place.worktree());
        close_gate(&place, &Gate { root: place.worktree(), ..Gate::new(old.clone(), "wait", Millis(1)) }).unwrap();
        fs::create_dir_all(place.state.join("seals").join(scope_name(&old))).unwrap();

        fs::rename(world.at("repo"), world.at("other")).unwrap();
        assert_eq!(world.settle("other"), world.moved("repo", false));
        assert_eq!((world.settle("other"), world.plans("other")), (None, 1));
        let place = world.place("other");
        let scope = GateScope::Worktree(place.worktree());
        assert_eq!(gate_before(&place, None, Millis(2)).map(|gate| (gate.scope, gate.root)), {
            Some((scope.clone(), place.worktree()))
        });
        assert_eq!(gate_of(&place, &old), None);
        assert!(place.state.join("seals").join(scope_name(&scope)).is_dir());
        // A list that came along is the list: there is no second one beside it.
        world.add_list("other");
        assert_eq!(world.plans("other"), 1);
    }

    #[test]
    fn a_copy_has_plans_of_its_own() {
        let world = World::new();
        world.settle("repo");
        world.add_list("repo");
        world.copy("repo", "copy");
        assert_eq!(world.settle("copy"), world.moved("repo", true));
        assert_eq!((world.settle("repo"), world.plans("repo"), world.plans("copy")), (None, 1, 1));
        // The copy of a copy, and the original that is gone since.
        world.copy("copy", "third");
        fs::remove_dir_all(world.at("copy")).unwrap();
        assert_eq!(world.settle("third"), world.moved("copy", false));
        assert_eq!((world.plans("repo"), world.plans("third")), (1, 1));
    }

    #[test]
    fn a_linked_worktree_is_known_by_its_folder_in_git_and_not_by_its_name() {
        let world = World::new();
        world.settle("repo");
        world.git("repo", &["worktree", "add", "--quiet", "../side"]);
        assert_eq!(world.settle("side"), None);
        world.add_list("side");
        world.git("repo", &["worktree", "move", "../side", "../away"]);
        assert_eq!(world.settle("away"), world.moved("side", false));
        assert_eq!((world.plans("away"), world.plans("repo")), (1, 0));

        // Copied by hand, it stays with the one that git knows.
        world.copy("away", "twin");
        assert_eq!((world.settle("twin"), world.plans("twin"), world.plans("away")), (None, 0, 1));
        assert_eq!(world.settle("away"), None);

        // Another one of that name is another one.
        world.git("repo", &["worktree", "remove", "--force", "../away"]);
        std::thread::sleep(Duration::from_millis(20));
        fs::create_dir(world.at("deep")).unwrap();
        world.git("repo", &["worktree", "add", "--quiet", "-b", "fresh", "../deep/side"]);
        assert_eq!((world.settle("deep/side"), world.plans("deep/side")), (None, 0));
    }

    #[test]
    fn who_comes_where_another_was_does_not_get_its_plans() {
        let world = World::new();
        world.settle("repo");
        world.git("repo", &["worktree", "add", "--quiet", "../side"]);
        world.git("repo", &["worktree", "add", "--quiet", "../next"]);
        for path in ["side", "next"] {
            world.settle(path);
            world.add_list(path);
        }
        // Nobody looks in between.
        world.git("repo", &["worktree", "move", "../side", "../away"]);
        world.git("repo", &["worktree", "move", "../next", "../side"]);
        assert_eq!(world.settle("side"), world.moved("next", false));
        assert_eq!((world.plans("side"), world.settle("away"), world.plans("away")), (1, None, 1));
    }
}
