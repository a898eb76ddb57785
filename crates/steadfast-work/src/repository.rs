use std::path::PathBuf;
use std::time::Duration;

use steadfast_hook::drain;
use steadfast_model::{Claim, ToolUseId};
use steadfast_store::ledger::{Ledger, LedgerError};
use steadfast_store::{ConfigFiles, Moved, Place, SessionFiles, claim_of_call, find_claim, log_line, settle_checkout};
use steadfast_text::clean_path;

use crate::Environment;
use crate::error::chain;

/// How long a command waits for another writer: longer than a hook, because a command that gives up is lost work.
const PATIENCE: Duration = Duration::from_secs(3);

/// The repository a command was called in, set up for Steadfast.
#[derive(Debug)]
pub struct Repository {
    pub place: Place,
    pub config: ConfigFiles,
    pub environment: Environment,
}

/// Why there is no repository or path to work with.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    #[error("steadfast is not set up for `{}`", folder.display())]
    NotSetUp { folder: PathBuf },
    #[error("a path is empty")]
    EmptyPath,
}

impl Repository {
    /// The one that this process runs in.
    pub fn find(environment: Environment) -> Result<Self, RepositoryError> {
        let place = Place::find(&environment.cwd, environment.user_state.as_deref())
            .ok_or_else(|| RepositoryError::NotSetUp { folder: environment.cwd.clone() })?;
        Ok(Self::at(place, environment))
    }

    /// The repository that a tool call over MCP is about, with what its hook left: the one its session is in by now,
    /// which need not be the one the server was started in. A host that does not name its calls is taken at the newest
    /// claim of that tool, which may be another session's if both call it at once.
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

    /// A path as steps and tasks name it: from the root of the checkout, where it is in there. A folder ends in `/`.
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

    /// The ledger, with every journal in it. A journal that cannot be drained is not lost, and no reason to stop.
    pub fn ledger(&self) -> Result<Ledger, LedgerError> {
        self.settle();
        let mut ledger = match self.open_ledger() {
            // A sandbox may keep `.git` read-only: what only looks still works.
            Err(error @ LedgerError::ReadOnly { .. }) => {
                return Ledger::open_read_only(&self.place.state)?.ok_or(error);
            }
            opened => opened?,
        };
        let drained = ledger.drained_bytes().unwrap_or_default();
        for files in SessionFiles::undrained(&self.place, &drained) {
            if let Err(error) = drain(&files, &mut ledger) {
                let line = format!("the journal of {} was not drained: {}", files.session(), chain(&error));
                log_line(&self.place, self.environment.now(), &line);
            }
        }
        Ok(ledger)
    }

    /// Brings along what belongs to a checkout that was moved or copied. Where nothing can be written, nothing is.
    pub(crate) fn settle(&self) -> Option<Moved> {
        // The worktree of a unit is made and removed with it.
        if self.environment.in_run {
            return None;
        }
        match settle_checkout(&self.place, self.environment.now()) {
            Ok(moved) => moved,
            Err(error) => {
                let line = format!("what belongs to this checkout was not brought along: {}", chain(&error));
                log_line(&self.place, self.environment.now(), &line);
                None
            }
        }
    }

    /// The ledger without what journals still hold.
    pub fn ledger_as_it_is(&self) -> Result<Ledger, LedgerError> {
        self.open_ledger()
    }

    fn open_ledger(&self) -> Result<Ledger, LedgerError> {
        Ledger::open_within(&self.place.state, PATIENCE)
    }
}
