use std::ffi::OsString;
use std::path::PathBuf;

use steadfast_hook::HookEnvironment;
use steadfast_hosts::install::Homes;
use steadfast_model::{Millis, SessionId};
use steadfast_store::{Place, is_new_notice};
use steadfast_text::Zone;

/// The moment at which the human hears what Claude Code does without its own address.
const FIRST_PARTY: &str = "proxy-first-party";

/// Set for an agent of a run: the path of a file that exists once the run has spent its budget.
pub const RUN_SPENT: &str = "STEADFAST_RUN_SPENT";

/// Set for a supervisor: the sandbox of its check. Empty is the same as absent.
pub const SANDBOX: &str = "STEADFAST_SANDBOX";

/// Set for the command that refines a goal, so that a session it starts is not refined in turn.
pub const REFINING: &str = "STEADFAST_REFINING";

/// Facts about this process and its surroundings. The binary reads them from its environment.
#[derive(Clone, Debug)]
pub struct Environment {
    pub clock: fn() -> Millis,
    /// The time zone of the human.
    pub zone: fn() -> &'static Zone,
    /// Reads a variable of this process, which programs that it starts inherit.
    pub variable: fn(&str) -> Option<String>,
    /// Returns what a hook would find around this process.
    pub hook: fn() -> HookEnvironment,
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// The folders in which the hosts keep the user's own things, such as skills.
    pub homes: Option<Homes>,
    /// The search path for programs.
    pub path: Option<OsString>,
    /// The folder for state that belongs to no repository.
    pub user_state: Option<PathBuf>,
    pub user_config: Option<PathBuf>,
    /// The session of this process, if the host names it.
    pub session: Option<SessionId>,
    /// True if a host says that its agent started this process.
    pub inside_agent: bool,
    /// The task whose check started this process.
    pub check: Option<String>,
    /// True if an agent of a run started this process.
    pub in_run: bool,
}

impl Environment {
    pub fn now(&self) -> Millis {
        (self.clock)()
    }

    /// Returns what Claude Code lacks behind a proxy, unless this user has read it.
    pub fn first_party_note(&self) -> Option<&'static str> {
        let place = self.user_state.clone().map(|state| Place { state, root: self.cwd.clone() });
        place.is_none_or(|place| is_new_notice(&place, FIRST_PARTY).unwrap_or(true)).then_some(
            "note: with another address than its own, Claude Code has no Remote Control, and no settings or limits from a \
             server of your organization. Steadfast says this once.",
        )
    }

    /// A moment as the human reads it: `14:05`, or `2026-11-18 14:05` on another day.
    pub fn moment(&self, at: Millis) -> String {
        (self.zone)().moment(at.0, self.now().0)
    }
}
