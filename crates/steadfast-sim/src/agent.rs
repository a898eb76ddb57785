//! The simulated agent: behaves like a host, needs no model and no account.

mod background;
mod batch;
pub(crate) mod call;
mod hook;
mod misbehave;
mod moment;
mod payload;
mod process;
mod session;
mod subagent;
mod tool;
mod worker;
mod workplace;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::ids::Ids;
use crate::scenario::{Scenario, ScenarioError};
pub use hook::HookCommand;
pub use moment::{Ending, Moment, Who};
use session::Session;

/// What Claude Code grants: so many refusals in a row, then it stops all the same.
const STOP_CAP: u32 = 8;

#[derive(Debug, Clone)]
pub struct Agent {
    pub hook: HookCommand,
    /// Where the tools work. Nothing outside it is written or read by them; the shell is free.
    pub cwd: PathBuf,
    pub session: String,
    /// For the hook and the shell, besides the environment of this process.
    pub env: BTreeMap<String, String>,
    pub work: Work,
    /// Refusals to stop that are granted in a row; 0 is no limit. A tool call starts the count again.
    pub stop_cap: u32,
    pub turn_limit: u32,
    /// What each answer costs, in millionths of a dollar; and at how much it stops, as a host with a budget does.
    pub cost_per_turn: Option<u64>,
    pub budget: Option<u64>,
    /// How long a task of the ledger takes.
    pub pace: Duration,
    pub hook_limit: Duration,
    pub shell_limit: Duration,
}

/// Where the agent's turns come from.
#[derive(Debug, Clone)]
pub enum Work {
    Scenario(Scenario),
    /// It asks `steadfast task next` and works through what it is given.
    Ledger {
        /// The program, as the shell finds it.
        steadfast: String,
        prompt: String,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("cannot work in {}: {source}", path.display())]
    Workplace { path: PathBuf, source: std::io::Error },
    #[error("cannot run the hook {}: {source}", program.display())]
    Hook { program: PathBuf, source: std::io::Error },
    #[error("cannot follow a shell command in the background: {0}")]
    Background(std::io::Error),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl Agent {
    /// An agent in `cwd` with a session id of its own and Claude Code's limits.
    #[must_use]
    pub fn new(hook: HookCommand, cwd: impl Into<PathBuf>, work: Work) -> Self {
        Self {
            hook,
            cwd: cwd.into(),
            session: Ids::new().uuid(),
            env: BTreeMap::new(),
            work,
            stop_cap: STOP_CAP,
            turn_limit: 500,
            cost_per_turn: None,
            budget: None,
            pace: Duration::ZERO,
            hook_limit: Duration::from_secs(10),
            shell_limit: Duration::from_secs(120),
        }
    }

    /// Runs one session from start to end. `watch` is told what happens, in order.
    pub fn run(&self, watch: &mut dyn FnMut(&Moment)) -> Result<Ending, AgentError> {
        if let Work::Scenario(scenario) = &self.work {
            scenario.check()?;
        }
        Session::new(self, watch)?.run()
    }
}
