use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_model::Fact;
use steadfast_observe::GitCommand;
use steadfast_runner::counsel::Change;
use steadfast_runner::grounds::Grounds;
use steadfast_store::Place;

use crate::error::CommandError;
use crate::task_list::files;

const PATIENCE: Duration = Duration::from_secs(120);

/// What is judged: how a tree differs from the commit it began at.
#[derive(Clone, Debug)]
pub(in crate::commands) enum Subject {
    /// What a run has on its branch.
    Branch { grounds: Grounds, base: String },
    /// What is in a checkout, committed or not.
    Checkout { place: Place, base: String },
}

/// The end of a change, as git names it, and where its objects are besides.
#[derive(Clone, Debug)]
pub(super) struct Tip {
    pub(super) name: String,
    objects: Option<PathBuf>,
}

impl Subject {
    pub(super) fn base(&self) -> &str {
        match self {
            Self::Branch { base, .. } | Self::Checkout { base, .. } => base,
        }
    }

    pub(super) fn tip(&self) -> Result<Tip, CommandError> {
        match self {
            Self::Branch { grounds, .. } => {
                let tip = grounds.tip().map_err(failed)?;
                let name = tip.ok_or_else(|| {
                    CommandError::failure(format!("`{}` is gone", grounds.branch()))
                        .hint("it held what was done; `git reflog` may still know where it was")
                })?;
                Ok(Tip { name, objects: None })
            }
            Self::Checkout { place, .. } => match files::tree(&place.root, &place.state) {
                Fact::Known(name) => Ok(Tip { name, objects: Some(files::objects(&place.root, &place.state)) }),
                Fact::Unknown(_) | Fact::NotAsked => {
                    Err(CommandError::failure("git does not say what is in this checkout")
                        .hint("`steadfast doctor` looks at this repository"))
                }
            },
        }
    }

    pub(super) fn change(&self, from: &str, to: &Tip) -> Result<Change, CommandError> {
        let diff = match self {
            Self::Branch { grounds, .. } => grounds.diff(from, &to.name).map_err(failed)?,
            Self::Checkout { place, .. } => {
                steadfast_runner::grounds::difference(to.git(&place.root), &[from, &to.name]).map_err(failed)?
            }
        };
        Ok(Change::parse(&diff))
    }

    /// A file in a commit or tree. None: it is not in there.
    pub(super) fn file_at(&self, tip: &Tip, path: &str) -> Option<String> {
        let root = match self {
            Self::Branch { grounds, .. } => grounds.checkout(),
            Self::Checkout { place, .. } => &place.root,
        };
        let show = tip.git(root).call("cat-file").args(["blob", &format!("{}:{path}", tip.name)]);
        let (code, text) = show.outcome(&[0, 128], PATIENCE).ok()?;
        (code == 0).then_some(text)
    }

    /// Where the tree is laid out, for experts and for checks; what `put_away` takes away again.
    pub(super) fn lay_out(&self, name: &str, tip: &Tip) -> Result<PathBuf, CommandError> {
        match self {
            Self::Branch { grounds, .. } => grounds.exhibit(name, &tip.name).map_err(failed),
            Self::Checkout { place, .. } => Ok(place.root.clone()),
        }
    }

    pub(super) fn put_away(&self, name: &str) -> Result<(), CommandError> {
        match self {
            Self::Branch { grounds, .. } => grounds.put_away(name).map_err(failed),
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

pub(in crate::commands) fn failed(error: impl std::error::Error + 'static) -> CommandError {
    CommandError::failure(crate::error::chain(&error)).hint("`steadfast doctor` looks at this repository")
}
