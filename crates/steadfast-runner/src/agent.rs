//! One headless agent: a process that is started, listened to, and ended with all that it started.
//!
//! It runs in a process group of its own. What it prints is read as it comes and means [`AgentEvent`]s; all of it goes
//! to a log, too. It is ended when it was silent for too long, when its time is up, when it is told to stop, and when
//! it has said its last word and stays: the group is asked to end, and five seconds later it is ended. A signal that
//! ends us, `KILL` too, ends it within two seconds: a watcher sees to that.
//!
//! What holds on Linux only: a process that left the group (`setsid`, a double fork) is found by a variable that it was
//! started with. What cleared its environment, too, goes on.

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
    /// What it prints is added to this file.
    pub log: PathBuf,
    /// For how long it may print nothing. The time that it waits for a rate limit does not count.
    pub silence: Duration,
    pub limit: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentUpdate {
    Running(Process),
    Event(AgentEvent),
}

/// Why it is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departed {
    /// It said so itself.
    Ended(AgentEnd),
    Silent,
    TimeUp,
    Stopped,
    /// Without a last word.
    Died {
        status: String,
    },
    NotStarted(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    pub how: Departed,
    pub session: Option<SessionId>,
    pub spent: Spent,
    /// The last message.
    pub said: Option<String>,
    /// The end of what it said on stderr.
    pub errors: String,
}
