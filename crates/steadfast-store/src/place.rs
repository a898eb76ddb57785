use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use steadfast_system::create_private_dir;

use crate::file::file_name;
use crate::gate;

/// The state folder of a repository, and the checkout in which Steadfast was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `<git-common-dir>/steadfast`, shared by all worktrees; outside git a folder in the user's state directory.
    pub state: PathBuf,
    /// The root of the checkout.
    pub root: PathBuf,
}

impl Place {
    /// Finds the state that `init` created for this directory.
    pub fn find(cwd: &Path, user_state: Option<&Path>) -> Option<Self> {
        if let Some(place) = in_git(cwd) {
            return place.is_made().then_some(place);
        }
        let user_state = user_state?;
        cwd.ancestors().map(|root| outside_git(root, user_state)).find(Self::is_made)
    }

    /// Returns the place for this directory, even if `init` has not created it.
    pub fn of(cwd: &Path, user_state: Option<&Path>) -> Option<Self> {
        in_git(cwd).or_else(|| Some(outside_git(cwd, user_state?)))
    }

    /// Checks if `init` created this place. A closed gate remains even if the state was deleted.
    fn is_made(&self) -> bool {
        self.state.is_dir() || gate::folders(self)[1].is_dir()
    }

    pub fn create(&self) -> io::Result<()> {
        create_private_dir(&self.state)
    }

    /// The path of the checkout in the ledger, with links resolved: two paths to one checkout are the same.
    pub fn worktree(&self) -> String {
        fs::canonicalize(&self.root).unwrap_or_else(|_| self.root.clone()).to_string_lossy().into_owned()
    }

    pub fn session_dir(&self, name: &str) -> PathBuf {
        self.state.join("sessions").join(name)
    }
}

fn in_git(cwd: &Path) -> Option<Place> {
    cwd.ancestors().find_map(|root| {
        let git = root.join(".git");
        let kind = fs::metadata(&git).ok()?;
        let common = if kind.is_dir() { git } else { linked(root, &git)? };
        Some(Place { state: common.join("steadfast"), root: root.to_owned() })
    })
}

/// Returns the folder that a `.git` file points to.
fn git_dir_behind(root: &Path, file: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Returns the name and the folder that git has for a linked worktree. `None` for the repository's own checkout.
pub(crate) fn linked_name(root: &Path) -> Option<(String, PathBuf)> {
    let folder = git_dir_behind(root, &root.join(".git"))?;
    let folder = fs::canonicalize(&folder).unwrap_or(folder);
    let name = folder.file_name()?.to_string_lossy().into_owned();
    folder.join("commondir").is_file().then_some((name, folder))
}

/// Returns the common directory behind a `.git` file. A worktree's folder has a `commondir` file with the path of the main
/// repository; a submodule's folder is its own common directory.
fn linked(root: &Path, file: &Path) -> Option<PathBuf> {
    let own = git_dir_behind(root, file)?;
    match fs::read_to_string(own.join("commondir")) {
        Ok(common) => {
            let common = own.join(common.trim());
            Some(fs::canonicalize(&common).unwrap_or(common))
        }
        Err(_) => Some(own),
    }
}

fn outside_git(root: &Path, user_state: &Path) -> Place {
    let name = file_name(&root.to_string_lossy());
    Place { state: user_state.join("places").join(name), root: root.to_owned() }
}

/// A place in an empty temporary folder.
#[cfg(test)]
pub(crate) fn temporary() -> (tempfile::TempDir, Place) {
    let dir = tempfile::tempdir().expect("a test has a folder");
    let place = Place { state: dir.path().join("steadfast"), root: dir.path().to_owned() };
    (dir, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_and_its_repository_share_one_place() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main");
        let side = dir.path().join("side");
        fs::create_dir_all(main.join(".git/worktrees/side")).unwrap();
        fs::create_dir_all(side.join("src")).unwrap();
        fs::write(main.join(".git/worktrees/side/commondir"), "../..\n").unwrap();
        fs::write(side.join(".git"), format!("gitdir: {}\n", main.join(".git/worktrees/side").display())).unwrap();

        let here = Place::of(&main, None).unwrap();
        let there = Place::of(&side.join("src"), None).unwrap();
        assert_eq!(
            fs::canonicalize(there.state.parent().unwrap()).unwrap(),
            fs::canonicalize(main.join(".git")).unwrap()
        );
        assert_eq!((here.root, there.root), (main, side));
    }

    #[test]
    fn without_init_there_is_no_place() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".git")).unwrap();
        assert_eq!(Place::find(dir.path(), None), None);
        Place::of(dir.path(), None).unwrap().create().unwrap();
        assert!(Place::find(dir.path(), None).is_some());
    }

    #[test]
    fn outside_git_the_place_is_found_from_below() {
        let dir = tempfile::tempdir().unwrap();
        let (root, user) = (dir.path().join("work"), dir.path().join("state"));
        fs::create_dir_all(root.join("deep/er")).unwrap();
        let place = Place::of(&root, Some(&user)).unwrap();
        place.create().unwrap();
        assert_eq!(Place::find(&root.join("deep/er"), Some(&user)), Some(place));
    }
}
