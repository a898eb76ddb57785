//! Submodules in the worktrees of a run. Each is cloned from the checkout of the run, so nothing is fetched, and the
//! user's submodules and git's settings stay as they are. A unit that changes a submodule is refused.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_observe::GitCommand;

use super::{CHECKOUT, QUICK, RunWorktrees, WorktreeError, file, remove_dir};

/// The mode of a submodule in a tree.
const MODE: &str = "160000";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submodule {
    pub path: String,
    pub commit: String,
}

/// Returns the submodules of a commit.
pub fn submodules(git: GitCommand, commit: &str) -> Result<Vec<Submodule>, WorktreeError> {
    let listed = git.call("ls-tree").args(["-r", "-z", "--full-tree", commit]).answer(CHECKOUT)?;
    // `160000 commit ID\tPATH`
    let read = |line: &str| {
        let (about, path) = line.split_once('\t')?;
        let mut words = about.split(' ');
        let is_module = words.next() == Some(MODE);
        is_module.then(|| Some(Submodule { path: path.to_owned(), commit: words.nth(1)?.to_owned() })).flatten()
    };
    Ok(listed.split('\0').filter_map(read).collect())
}

/// Returns whether a checkout has content for a submodule.
pub fn has_content(checkout: &Path, module: &Submodule) -> bool {
    checkout.join(&module.path).join(".git").exists()
}

/// Returns whether the checkout has the commit that a worktree needs.
pub fn has_commit(checkout: &Path, module: &Submodule) -> bool {
    let object = format!("{}^{{commit}}", module.commit);
    GitCommand::at(&checkout.join(&module.path)).call("cat-file").args(["-e", &object]).answer(QUICK).is_ok()
}

/// The treatment of changes that an earlier attempt made in a submodule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Keep,
    Reset,
}

impl RunWorktrees {
    /// Returns the submodules at the tip of the run's branch. Units cannot change them, so they are read once.
    fn modules(&self) -> Result<&[Submodule], WorktreeError> {
        if let Some(known) = self.modules.get() {
            return Ok(known);
        }
        let Some(tip) = self.tip()? else { return Ok(&[]) };
        let found = submodules(self.git(), &tip)?;
        Ok(self.modules.get_or_init(|| found))
    }

    /// Fills the submodules of a worktree.
    pub(super) fn fill(&self, folder: &Path, before: Before) -> Result<(), WorktreeError> {
        self.fill_from(&self.checkout, folder, self.modules()?, before)
    }

    fn fill_from(
        &self,
        checkout: &Path,
        folder: &Path,
        modules: &[Submodule],
        before: Before,
    ) -> Result<(), WorktreeError> {
        for module in modules.iter().filter(|module| has_content(checkout, module)) {
            let (source, target) = (checkout.join(&module.path), folder.join(&module.path));
            if !is_below(&target, folder) {
                // An agent put a link here. Nothing is written through it, and the unit is refused.
                continue;
            }
            let head =
                || self.in_worktree(&target).call("rev-parse").args(["--verify", "--quiet", "HEAD"]).answer(QUICK);
            let is_there = target.join(".git").exists() && head().is_ok();
            if !is_there {
                remove_dir(&target)?;
                fs::create_dir_all(&target).map_err(file(&target))?;
                // Cloning from a folder uses no server, no hooks and no template.
                let clone = self.git().setting("core.hooksPath=/dev/null").call("clone");
                let clone =
                    clone.args(["--quiet", "--shared", "--no-checkout", "--template=", "--no-recurse-submodules"]);
                clone.args(["--"]).args([&source, &target]).answer(CHECKOUT)?;
                // Prevents an agent from pushing into the user's submodule by accident.
                self.in_worktree(&target).call("remote").args(["remove", "origin"]).answer(QUICK)?;
            }
            if !is_there || before == Before::Reset {
                let git = || self.in_worktree(&target).setting("core.hooksPath=/dev/null");
                git().call("checkout").args(["--quiet", "--force", "--detach", &module.commit]).answer(CHECKOUT)?;
                git().call("clean").args(["--quiet", "-d", "--force"]).answer(CHECKOUT)?;
            }
            let nested = submodules(self.in_worktree(&target), &module.commit)?;
            self.fill_from(&source, &target, &nested, before)?;
        }
        Ok(())
    }

    /// Returns the arguments for `git add` that leave submodules out.
    pub(super) fn but_submodules(&self) -> Result<Vec<String>, WorktreeError> {
        let modules = self.modules()?;
        if modules.is_empty() {
            return Ok(Vec::new());
        }
        let but = modules.iter().map(|module| format!(":(exclude,literal,top){}", module.path));
        Ok(["--".to_owned(), ":/".to_owned()].into_iter().chain(but).collect())
    }

    /// Returns the submodules that a unit's worktree changed: other commit, other content, new or gone. Call it before
    /// the work is committed.
    pub fn changed_submodules(&self, unit: &str) -> Result<Vec<String>, WorktreeError> {
        let modules = self.modules()?;
        if modules.is_empty() {
            return Ok(Vec::new());
        }
        let folder = self.unit_folder(unit);
        let mut changed = Vec::new();
        for module in modules {
            if has_content(&self.checkout, module) && self.is_other(&folder.join(&module.path), &folder, module)? {
                changed.push(module.path.clone());
            }
        }
        // These are in the index, or the agent committed them.
        let tree = |name: &str| self.in_worktree(&folder).call("ls-files").args([name, "-z"]).answer(CHECKOUT);
        let staged = tree("--stage")?;
        let is_module = |line: &&str| line.starts_with(MODE);
        let now: Vec<&str> = staged.split('\0').filter(is_module).collect();
        for module in modules {
            let is_same = |line: &&str| line.contains(&module.commit) && line.ends_with(&format!("\t{}", module.path));
            if !now.iter().any(is_same) {
                changed.push(module.path.clone());
            }
        }
        for path in now.iter().filter_map(|line| line.split_once('\t')).map(|(_, path)| path) {
            if !modules.iter().any(|module| module.path == path) {
                changed.push(path.to_owned());
            }
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(changed)
    }

    fn is_other(&self, target: &Path, folder: &Path, module: &Submodule) -> Result<bool, WorktreeError> {
        if !is_below(target, folder) || !target.join(".git").exists() {
            return Ok(true);
        }
        let head = self.in_worktree(target).call("rev-parse").args(["HEAD"]).answer(QUICK);
        let status = self.in_worktree(target).call("status");
        let status = status.args(["--porcelain", "--untracked-files=normal", "--ignore-submodules=none"]);
        Ok(head.ok().as_deref() != Some(&module.commit) || !status.answer(CHECKOUT)?.is_empty())
    }

    /// Returns the submodule that contains one of these files.
    pub fn submodule_of(&self, files: &[String]) -> Result<Option<String>, WorktreeError> {
        let modules = self.modules()?;
        let is_in = |file: &str, module: &Submodule| {
            let file = file.trim_start_matches("./").trim_end_matches('/');
            file == module.path || file.strip_prefix(&module.path).is_some_and(|rest| rest.starts_with('/'))
        };
        let found = modules.iter().find(|module| files.iter().any(|file| is_in(file, module)));
        Ok(found.map(|module| module.path.clone()))
    }
}

/// Returns whether the path to a submodule stays inside the worktree, without symbolic links.
fn is_below(target: &Path, folder: &Path) -> bool {
    let real = |path: &Path| -> Option<PathBuf> { fs::canonicalize(path).ok() };
    let is_link = fs::symlink_metadata(target).is_ok_and(|found| found.is_symlink());
    let parent = target.parent().and_then(real);
    !is_link && parent.zip(real(folder)).is_some_and(|(parent, folder)| parent.starts_with(folder))
}
