//! Runs one headless agent: starts a process, reads its output and ends it with everything that it started.
//!
//! The agent runs in a process group of its own. Its output is read as it arrives, becomes [`AgentEvent`]s, and goes
//! to a log. The runner ends the agent when it is silent for too long, when its time is up, when the caller stops it,
//! and when it does not exit after its final message: the group gets `TERM`, and `KILL` five seconds later. If a
//! signal ends the runner, `KILL` included, a watcher ends the agent within two seconds.
//!
//! On Linux only: a process that left the group (`setsid`, a double fork) is found by an environment variable. A
//! process that also cleared its environment keeps running.

mod account;
mod attend;
mod left_behind;
mod lines;
mod log;
mod processes;
mod record;
mod started;

use std::path::PathBuf;
use std::time::Duration;

use steadfast_hosts::launch::Launch;
use steadfast_hosts::price::Prices;
use steadfast_hosts::stream::{AgentEnd, AgentEvent};
use steadfast_model::{Host, Process, SessionId, Spent};

pub use attend::attend;
pub use left_behind::end_left_behind;
pub use steadfast_check::MARK;

#[derive(Clone, Debug)]
pub struct Assignment {
    pub launch: Launch,
    pub host: Host,
    pub prices: Prices,
    pub directory: PathBuf,
    /// The value of [`MARK`].
    pub mark: String,
    /// The agent's output is appended to this file.
    pub log: PathBuf,
    /// The longest time without output. Time spent on a rate limit does not count.
    pub silence: Duration,
    pub limit: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentUpdate {
    Running(Process),
    Event(AgentEvent),
}

/// The reason why an agent is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departed {
    /// The agent reported its end.
    Ended(AgentEnd),
    Silent,
    TimeUp,
    Stopped,
    /// The process ended without a final message.
    Died {
        status: String,
    },
    NotStarted(String),
    /// Its proxy refused a request, because the budget of the run was spent.
    OutOfBudget,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    pub how: Departed,
    pub session: Option<SessionId>,
    pub spent: Spent,
    /// The last message of the agent.
    pub said: Option<String>,
    /// The end of its stderr.
    pub errors: String,
}

impl Departure {
    pub(crate) fn not_started(why: String) -> Self {
        let how = Departed::NotStarted(why);
        Self { how, session: None, spent: Spent::default(), said: None, errors: String::new() }
    }
}
