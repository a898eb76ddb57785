//! Sets up a repository for Steadfast, and removes Steadfast from it.

mod exclude;
mod removal;
mod wired;

use std::path::{Path, PathBuf};
use std::{fs, io};

use steadfast_hosts::install;
use steadfast_model::{Host, Via};
use steadfast_store::ledger::Ledger;
use steadfast_store::{ConfigError, Place};

use crate::{Cause, Environment, Repository};
pub use exclude::{Exclude, Wanted};
pub use removal::{Contents, Leftovers, RenderedFolder};
pub use wired::missing_hooks;

/// A checkout that `init` may wire, and the folders in which its hosts keep their settings.
#[derive(Clone, Debug)]
pub struct Setup {
    pub place: Place,
    pub install: install::InstallPaths,
}

/// What becomes of tasks and history when Steadfast is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateEnd {
    /// Kept for a later `init`.
    Kept,
    Deleted,
}

/// The error of setting up or removing.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("`HOME` is not set, so there is no folder for settings and state")]
    NoHome,
    #[error("neither Claude Code nor Codex was found")]
    NoHost,
    #[error("cannot create `{}`: {source}", state.display())]
    NotCreated { state: PathBuf, source: io::Error },
    #[error("cannot restore `{}`: {source}", kept.display())]
    NotBroughtBack { kept: PathBuf, source: io::Error },
    #[error("cannot archive or remove `{}`: {source}", state.display())]
    NotPutAway { state: PathBuf, kept: PathBuf, source: io::Error },
    #[error("cannot remove or restore `{}`: {source}", folder.display())]
    Rendered { folder: PathBuf, source: io::Error },
    /// The file `.git/info/exclude`.
    #[error("cannot write `{}`: {source}", path.display())]
    Exclude { path: PathBuf, source: io::Error },
}

impl SetupError {
    pub fn cause(&self) -> Cause {
        match self {
            Self::NoHome | Self::NoHost => Cause::State,
            Self::NotCreated { .. }
            | Self::NotBroughtBack { .. }
            | Self::NotPutAway { .. }
            | Self::Rendered { .. }
            | Self::Exclude { .. } => Cause::Infrastructure,
        }
    }
}

impl Setup {
    pub fn of(environment: &Environment) -> Result<Self, SetupError> {
        let cwd = fs::canonicalize(&environment.cwd).unwrap_or_else(|_| environment.cwd.clone());
        let homes = environment.homes.clone().ok_or(SetupError::NoHome)?;
        let user_state = environment.user_state.as_deref().ok_or(SetupError::NoHome)?;
        let place = Place::of(&cwd, Some(user_state)).ok_or(SetupError::NoHome)?;
        let install = install::InstallPaths {
            homes,
            root: place.root.clone(),
            main_root: main_root(&place),
            repository_records: user_state.join("install").join("repositories").join(record_name(&place)),
            user_records: user_state.join("install"),
        };
        Ok(Self { place, install })
    }

    /// The hosts in use on this machine.
    pub fn detected(&self) -> Result<Vec<Host>, SetupError> {
        let hosts = install::detect(&self.install.homes, &self.install.root);
        if hosts.is_empty() { Err(SetupError::NoHost) } else { Ok(hosts) }
    }

    /// The cap that Claude Code needs for `stop.max_idle`; by default it overrides the ninth refusal in a row.
    pub fn stop_block_cap(&self, environment: &Environment) -> Result<Option<u32>, ConfigError> {
        /// The lowest limit that Claude Code would not let Steadfast reach.
        const CLAUDES_OWN: u32 = 8;
        let settings = Repository::at(self.place.clone(), environment.clone()).config.load()?;
        let max_idle = settings.stop.max_idle.value;
        Ok((max_idle >= CLAUDES_OWN).then(|| max_idle.saturating_add(1)))
    }

    fn is_shared(&self, host: Host) -> bool {
        let files = install::inspect(host, &self.install.homes, &self.install.root);
        files.iter().flatten().any(|file| file.ours.iter().any(|hook| hook.via == Via::Project))
    }

    /// Creates the folder of the state. Restores state that an earlier `uninstall` kept.
    pub fn create(&self) -> Result<(), SetupError> {
        self.restore_kept()?;
        let failed = |source| SetupError::NotCreated { state: self.place.state.clone(), source };
        self.place.create().map_err(failed)
    }

    /// Restores state that an earlier `uninstall` kept.
    fn restore_kept(&self) -> Result<(), SetupError> {
        let kept = self.kept();
        if kept.is_dir() && !self.place.state.exists() {
            fs::rename(&kept, &self.place.state)
                .map_err(|source| SetupError::NotBroughtBack { kept: kept.clone(), source })?;
        }
        // Also in a later `init` in another checkout of the repository.
        let folder = self.place.state.clone();
        self.restore_rendered().map_err(|source| SetupError::Rendered { folder, source })
    }

    /// Moves or removes the state, so that the hooks do nothing, and the rendered files of this checkout with it. State
    /// with tasks or plans is kept; returns its path.
    pub fn archive(&self, end: StateEnd) -> Result<(Option<PathBuf>, RenderedFolder), SetupError> {
        let kept = self.archive_state(end)?;
        let rendered = self.remove_rendered(kept.as_deref())?;
        Ok((kept, rendered))
    }

    fn archive_state(&self, end: StateEnd) -> Result<Option<PathBuf>, SetupError> {
        let kept = self.kept();
        let failed = |source| {
            let (state, kept) = (self.place.state.clone(), kept.clone());
            SetupError::NotPutAway { state, kept, source }
        };
        // A human who removes Steadfast also opens its gates.
        steadfast_store::forget_gates(&self.place).map_err(failed)?;
        if end == StateEnd::Deleted {
            for folder in [&self.place.state, &kept] {
                if folder.exists() {
                    fs::remove_dir_all(folder).map_err(failed)?;
                }
            }
            return Ok(None);
        }
        if !self.place.state.exists() {
            return Ok(kept.exists().then_some(kept));
        }
        if !self.holds_tasks() && !self.holds_plans() {
            fs::remove_dir_all(&self.place.state).map_err(failed)?;
            return Ok(None);
        }
        if kept.exists() {
            fs::remove_dir_all(&kept).map_err(failed)?;
        }
        fs::rename(&self.place.state, &kept).map_err(failed)?;
        Ok(Some(kept))
    }

    /// A ledger that cannot be read may hold tasks.
    fn holds_tasks(&self) -> bool {
        match Ledger::open_read_only(&self.place.state) {
            Ok(None) => false,
            Ok(Some(ledger)) => ledger.has_tasks().unwrap_or(true),
            Err(_) => true,
        }
    }

    /// Approved plans, drafts that wait for a human, and files that were moved aside for a human to check.
    fn holds_plans(&self) -> bool {
        let holds =
            |folder: &str| fs::read_dir(self.place.state.join(folder)).is_ok_and(|mut files| files.next().is_some());
        ["drafts", "approvals", "seals/kept"].into_iter().any(holds)
    }

    fn kept(&self) -> PathBuf {
        self.place.state.with_extension("kept")
    }
}

/// The main checkout of a linked worktree, else the checkout itself.
fn main_root(place: &Place) -> PathBuf {
    let git = place.state.parent().filter(|git| git.file_name().is_some_and(|name| name == ".git"));
    git.and_then(Path::parent).map_or_else(|| place.root.clone(), Path::to_owned)
}

/// A file name for the records about a checkout.
fn record_name(place: &Place) -> String {
    let root = place.worktree();
    let name = place.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{plain}-{:016x}", steadfast_model::fnv([root.as_bytes()]))
}
