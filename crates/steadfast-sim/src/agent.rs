//! The simulated agent: behaves like a host without a model or an account.

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

/// Claude Code's limit of refused stops in a row. Then it stops anyway.
const STOP_CAP: u32 = 8;

#[derive(Debug, Clone)]
pub struct Agent {
    pub hook: HookCommand,
    /// The folder of the tools. They read and write only inside it; the shell is not limited.
    pub cwd: PathBuf,
    pub session: String,
    /// Additional environment variables for the hook and the shell.
    pub env: BTreeMap<String, String>,
    pub work: Work,
    /// The limit of refused stops in a row; 0 is no limit. A tool call resets the count.
    pub stop_cap: u32,
    pub turn_limit: u32,
    /// The cost of each answer, in millionths of a dollar. The agent stops when the sum reaches `budget`.
    pub cost_per_turn: Option<u64>,
    pub budget: Option<u64>,
    /// The time that a task of the ledger takes.
    pub pace: Duration,
    pub hook_limit: Duration,
    pub shell_limit: Duration,
}

/// The source of the agent's turns.
#[derive(Debug, Clone)]
pub enum Work {
    Scenario(Scenario),
    /// It asks `steadfast task next` and works on the returned task.
    Ledger {
        /// The program, by its name in the shell.
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
    /// Returns an agent in `cwd` with its own session id and Claude Code's limits.
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

    /// Runs one session from start to end. `watch` receives each moment, in order.
    pub fn run(&self, watch: &mut dyn FnMut(&Moment)) -> Result<Ending, AgentError> {
        if let Work::Scenario(scenario) = &self.work {
            scenario.check()?;
        }
        Session::new(self, watch)?.run()
    }
}
