use std::path::{Component, PathBuf};
use std::time::Duration;

use steadfast_hook::drain;
use steadfast_model::{Claim, ToolUseId};
use steadfast_store::ledger::{Ledger, LedgerError};
use steadfast_store::{ConfigFiles, Place, SessionFiles, claim_of_call, find_claim, log_line};

use crate::error::{CommandError, chain};
use crate::surroundings;

/// How long a command waits for another writer: longer than a hook, because a command that gives up is lost work.
const PATIENCE: Duration = Duration::from_secs(3);

/// The repository a command was called in, set up for Steadfast.
#[derive(Debug)]
pub(crate) struct Repository {
    pub(crate) place: Place,
    pub(crate) config: ConfigFiles,
}

impl Repository {
    pub(crate) fn here() -> Result<Self, CommandError> {
        let cwd = surroundings::cwd();
        let place = Place::find(&cwd, surroundings::user_state().as_deref()).ok_or_else(|| {
            CommandError::failure(format!("steadfast is not set up for `{}`", cwd.display()))
                .hint("`steadfast init` sets it up; it shows what it changes first")
        })?;
        Ok(Self::at(place))
    }

    /// The repository that a tool call over MCP is about, with what its hook left: the one its session is in by now,
    /// which need not be the one the server was started in. A host that does not name its calls is taken at the newest
    /// claim of that tool, which may be another session's if both call it at once.
    pub(crate) fn of_tool_call(call: Option<&ToolUseId>, tool: &str) -> Result<(Self, Option<Claim>), CommandError> {
        let started_in = Self::here()?;
        let claim = match call {
            Some(call) => claim_of_call(&started_in.place, call),
            None => find_claim(&started_in.place, None, tool, surroundings::now()),
        };
        let user_state = surroundings::user_state();
        let place = claim.as_ref().and_then(|claim| Place::find(claim.cwd.as_ref(), user_state.as_deref()));
        Ok((place.map_or(started_in, Self::at), claim))
    }

    /// A path as steps and tasks name it: from the root of the checkout, where it is in there. A folder ends in `/`.
    pub(crate) fn path(&self, given: &str) -> Result<String, CommandError> {
        if given.trim().is_empty() {
            return Err(CommandError::usage("a path is empty").hint("`--file PATH` names a file or folder"));
        }
        let cwd = surroundings::cwd();
        let mut whole = PathBuf::new();
        for part in cwd.join(given).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    whole.pop();
                }
                part => whole.push(part),
            }
        }
        let root = &self.place.root;
        let canonical = root.canonicalize().unwrap_or_else(|_| root.clone());
        let inside = whole.strip_prefix(root).or_else(|_| whole.strip_prefix(&canonical)).unwrap_or(&whole);
        let folder = if given.ends_with('/') || whole.is_dir() { "/" } else { "" };
        Ok(format!("{}{folder}", inside.display()))
    }

    pub(crate) fn at(place: Place) -> Self {
        let config = ConfigFiles::of(&place, surroundings::user_config().as_deref());
        Self { place, config }
    }

    /// The ledger, with every journal in it. A journal that cannot be drained is not lost, and no reason to stop.
    pub(crate) fn ledger(&self) -> Result<Ledger, CommandError> {
        let mut ledger = match self.open_ledger() {
            // A sandbox may keep `.git` read-only: what only looks still works.
            Err(error @ LedgerError::ReadOnly { .. }) => {
                return Ledger::open_read_only(&self.place.state)?.ok_or_else(|| error.into());
            }
            opened => opened?,
        };
        let drained = ledger.drained_bytes().unwrap_or_default();
        for files in SessionFiles::undrained(&self.place, &drained) {
            if let Err(error) = drain(&files, &mut ledger) {
                let line = format!("the journal of {} was not drained: {}", files.session(), chain(&error));
                log_line(&self.place, surroundings::now(), &line);
            }
        }
        Ok(ledger)
    }

    /// The ledger without what journals still hold.
    pub(crate) fn ledger_as_it_is(&self) -> Result<Ledger, CommandError> {
        Ok(self.open_ledger()?)
    }

    fn open_ledger(&self) -> Result<Ledger, LedgerError> {
        Ledger::open_within(&self.place.state, PATIENCE)
    }
}
