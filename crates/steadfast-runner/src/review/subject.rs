use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::GitCommand;
use steadfast_store::Place;
use steadfast_work::task_list::files;

use crate::experts::Diff;
use crate::worktrees::{RunWorktrees, WorktreeError, difference};

use crate::error::RunError;

const PATIENCE: Duration = Duration::from_secs(120);

/// The subject of a review: the difference between a tree and the commit where the work started.
#[derive(Clone, Debug)]
pub enum ReviewSubject {
    /// The work on a run's branch.
    Branch { worktrees: RunWorktrees, base: String },
    /// The work in a checkout, committed or not.
    Checkout { place: Place, base: String },
}

/// The end of a change: its name in git, and the folder of its objects if git does not know them.
#[derive(Clone, Debug)]
pub(super) struct Tip {
    pub(super) name: String,
    objects: Option<PathBuf>,
}

impl ReviewSubject {
    pub(super) fn base(&self) -> &str {
        match self {
            Self::Branch { base, .. } | Self::Checkout { base, .. } => base,
        }
    }

    pub(super) fn tip(&self) -> Result<Tip, RunError> {
        match self {
            Self::Branch { worktrees, .. } => {
                let tip = worktrees.tip()?;
                let name = tip.ok_or_else(|| RunError::BranchGone(worktrees.branch()))?;
                Ok(Tip { name, objects: None })
            }
            Self::Checkout { place, .. } => match files::tree(&place.root, &place.state) {
                Fact::Known(name) => Ok(Tip { name, objects: Some(files::objects(&place.root, &place.state)) }),
                Fact::Unknown(_) | Fact::NotAsked => Err(RunError::NoTree),
            },
        }
    }

    pub(super) fn change(&self, from: &str, to: &Tip) -> Result<Diff, RunError> {
        let diff = match self {
            Self::Branch { worktrees, .. } => worktrees.diff(from, &to.name)?,
            Self::Checkout { place, .. } => {
                difference(to.git(&place.root), &[from, &to.name]).map_err(WorktreeError::from)?
            }
        };
        Ok(Diff::parse(&diff))
    }

    /// Returns a file of a commit or tree. `None`: it does not exist there.
    pub(super) fn file_at(&self, tip: &Tip, path: &str) -> Option<String> {
        let root = match self {
            Self::Branch { worktrees, .. } => worktrees.checkout(),
            Self::Checkout { place, .. } => &place.root,
        };
        let show = tip.git(root).call("cat-file").args(["blob", &format!("{}:{path}", tip.name)]);
        let (code, text) = show.outcome(&[0, 128], PATIENCE).ok()?;
        (code == 0).then_some(text)
    }

    /// Lays out the tree for experts and checks. `remove_read_only` removes it.
    pub(super) fn lay_out(&self, name: &str, tip: &Tip) -> Result<PathBuf, RunError> {
        match self {
            Self::Branch { worktrees, .. } => worktrees.read_only_worktree(name, &tip.name).map_err(Into::into),
            Self::Checkout { place, .. } => Ok(place.root.clone()),
        }
    }

    pub(super) fn remove_read_only(&self, name: &str) -> Result<(), RunError> {
        match self {
            Self::Branch { worktrees, .. } => worktrees.remove_read_only(name).map_err(Into::into),
            Self::Checkout { .. } => Ok(()),
        }
    }
}

impl Tip {
    pub(super) fn of(name: &str) -> Self {
        Self { name: name.to_owned(), objects: None }
    }

    fn git(&self, root: &Path) -> GitCommand {
        let git = GitCommand::at(root);
        match &self.objects {
            Some(objects) => git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects),
            None => git,
        }
    }
}
