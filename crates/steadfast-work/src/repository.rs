use std::path::PathBuf;
use std::time::Duration;

use steadfast_hook::drain;
use steadfast_model::{Claim, ToolUseId};
use steadfast_store::ledger::{Ledger, LedgerError};
use steadfast_store::{ConfigFiles, Moved, Place, SessionFiles, claim_of_call, find_claim, log_line, settle_checkout};
use steadfast_text::clean_path;

use crate::Environment;
use crate::error::chain;

/// Time that a command waits for another writer. Longer than a hook, because a command that gives up loses its work.
const PATIENCE: Duration = Duration::from_secs(3);

/// The repository in which a command runs, set up for Steadfast.
#[derive(Debug)]
pub struct Repository {
    pub place: Place,
    pub config: ConfigFiles,
    pub environment: Environment,
}

/// The error of finding a repository or a path in it.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    #[error("steadfast is not set up for `{}`", folder.display())]
    NotSetUp { folder: PathBuf },
    #[error("the path is empty")]
    EmptyPath,
}

impl Repository {
    /// Finds the repository that this process runs in.
    pub fn find(environment: Environment) -> Result<Self, RepositoryError> {
        let place = Place::find(&environment.cwd, environment.user_state.as_deref())
            .ok_or_else(|| RepositoryError::NotSetUp { folder: environment.cwd.clone() })?;
        Ok(Self::at(place, environment))
    }

    /// Finds the repository of a tool call over MCP, and the claim that its hook left: the repository that its session
    /// is in now, which may differ from the one in which the server was started. If the host does not identify its
    /// calls, the newest claim of that tool is used, which may belong to another session that calls it at the same
    /// time.
    pub fn of_tool_call(
        environment: Environment,
        call: Option<&ToolUseId>,
        tool: &str,
    ) -> Result<(Self, Option<Claim>), RepositoryError> {
        let started_in = Self::find(environment.clone())?;
        let claim = match call {
            Some(call) => claim_of_call(&started_in.place, call),
            None => find_claim(&started_in.place, None, tool, environment.now()),
        };
        let user_state = environment.user_state.as_deref();
        let place = claim.as_ref().and_then(|claim| Place::find(claim.cwd.as_ref(), user_state));
        Ok((place.map_or(started_in, |place| Self::at(place, environment)), claim))
    }

    /// A path as steps and tasks name it: relative to the root of the checkout if it is inside. A folder ends in `/`.
    pub fn path(&self, given: &str) -> Result<String, RepositoryError> {
        if given.trim().is_empty() {
            return Err(RepositoryError::EmptyPath);
        }
        let cwd = &self.environment.cwd;
        let whole = clean_path(&cwd.join(given));
        let root = &self.place.root;
        let canonical = root.canonicalize().unwrap_or_else(|_| root.clone());
        let inside = whole.strip_prefix(root).or_else(|_| whole.strip_prefix(&canonical)).unwrap_or(&whole);
        let folder = if given.ends_with('/') || whole.is_dir() { "/" } else { "" };
        Ok(format!("{}{folder}", inside.display()))
    }

    pub fn at(place: Place, environment: Environment) -> Self {
        let config = ConfigFiles::of(&place, environment.user_config.as_deref());
        Self { place, config, environment }
    }

    /// Opens the ledger and drains every journal into it. A journal that cannot be drained keeps its lines for later.
    pub fn ledger(&self) -> Result<Ledger, LedgerError> {
        self.settle();
        let mut ledger = match self.open_ledger() {
            // A sandbox may keep `.git` read-only. Commands that only read still work then.
            Err(error @ LedgerError::ReadOnly { .. }) => {
                return Ledger::open_read_only(&self.place.state)?.ok_or(error);
            }
            opened => opened?,
        };
        let drained = ledger.drained_bytes().unwrap_or_default();
        for files in SessionFiles::undrained(&self.place, &drained) {
            if let Err(error) = drain(&files, &mut ledger) {
                let line = format!("cannot drain the journal of {}: {}", files.session(), chain(&error));
                log_line(&self.place, self.environment.now(), &line);
            }
        }
        Ok(ledger)
    }

    /// Moves the state of a checkout that was moved or copied. Does nothing if the state cannot be written.
    pub(crate) fn settle(&self) -> Option<Moved> {
        // The runner creates and removes the worktree of a unit.
        if self.environment.in_run {
            return None;
        }
        match settle_checkout(&self.place, self.environment.now()) {
            Ok(moved) => moved,
            Err(error) => {
                let line = format!("cannot move the state of this checkout: {}", chain(&error));
                log_line(&self.place, self.environment.now(), &line);
                None
            }
        }
    }

    /// Opens the ledger without draining the journals.
    pub fn ledger_as_it_is(&self) -> Result<Ledger, LedgerError> {
        self.open_ledger()
    }

    fn open_ledger(&self) -> Result<Ledger, LedgerError> {
        Ledger::open_within(&self.place.state, PATIENCE)
    }
}
