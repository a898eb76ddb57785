use std::ffi::OsString;
use std::path::PathBuf;

use steadfast_hosts::install::Homes;
use steadfast_model::{Millis, SessionId};

/// To an agent of a run: the file that is there once the run has spent its budget.
pub const RUN_SPENT: &str = "STEADFAST_RUN_SPENT";

/// To a supervisor: what its check is confined to. Empty is the same as absent.
pub const SANDBOX: &str = "STEADFAST_SANDBOX";

/// To the command that refines a goal: a session that it starts is not refined in its turn.
pub const REFINING: &str = "STEADFAST_REFINING";

/// What this process knows of where it runs. The binary reads it from its environment.
#[derive(Clone, Debug)]
pub struct Environment {
    pub clock: fn() -> Millis,
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// Where the hosts keep what is the user's, skills among it.
    pub homes: Option<Homes>,
    /// Where programs are looked for.
    pub path: Option<OsString>,
    /// Where state is kept that belongs to no repository.
    pub user_state: Option<PathBuf>,
    pub user_config: Option<PathBuf>,
    /// The session this process runs in, if the host says so.
    pub session: Option<SessionId>,
    /// Whether a host says that its agent started this process.
    pub inside_agent: bool,
    /// The task whose check this process runs in.
    pub check: Option<String>,
    /// Whether an agent of a run started this process.
    pub in_run: bool,
}

impl Environment {
    pub fn now(&self) -> Millis {
        (self.clock)()
    }
}
