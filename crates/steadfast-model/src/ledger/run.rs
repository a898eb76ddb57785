use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Evidence, Host, Millis, PlanId, RunId, SessionId, Task, TaskId};

/// A run: agents that work through a plan in waves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub plan: PlanId,
    /// The checkout where the run started.
    pub worktree: String,
    /// The spec file, as the user named it.
    pub spec: String,
    pub host: Host,
    /// The commit where its branch started.
    pub base: String,
    pub branch: String,
    pub state: RunState,
    /// Why it has this state.
    pub reason: Option<String>,
    pub limits: Limits,
    pub started_at: Millis,
    pub updated_at: Millis,
    pub ended_at: Option<Millis>,
    /// The process of the runner. `None`: no runner has started it.
    pub runner: Option<Process>,
}

impl Run {
    /// Returns whether its agents run behind proxies. The simulated agent calls no model.
    pub fn is_behind_proxy(&self) -> bool {
        self.limits.behind_proxy && self.host != Host::Sim
    }
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum RunState {
        Running = "running",
        /// Reached a limit or was interrupted. It can be resumed.
        Paused = "paused",
        /// Every task is done, but some only by the agent's word. A human reviews those.
        NeedsReview = "needs review",
        /// No task is left that could be done.
        Complete = "complete",
        /// A human gave it up.
        Stopped = "stopped",
    }
}

impl RunState {
    pub fn is_over(self) -> bool {
        matches!(self, Self::NeedsReview | Self::Complete | Self::Stopped)
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Number of agents at once.
    pub parallel: u32,
    /// Number of dispatches. [`Limits::NO_LIMIT`]: unlimited.
    pub iterations: u32,
    pub micro_usd: Option<u64>,
    pub tokens: Option<u64>,
    pub wall_ms: Option<u64>,
    /// Time of one dispatch.
    pub unit_ms: Option<u64>,
    /// Time an agent may print nothing.
    pub silence_ms: Option<u64>,
    /// Every agent runs behind a proxy, which makes the cost limit exact.
    pub behind_proxy: bool,
}

impl Limits {
    pub const NO_LIMIT: u32 = u32::MAX;

    /// Returns the number of iterations. `None`: unlimited.
    pub fn iterations(&self) -> Option<u32> {
        Some(self.iterations).filter(|iterations| *iterations != Self::NO_LIMIT)
    }
}

/// A process, told apart from a later one with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// The system's start time. 0: the system does not report one.
    pub started: u64,
}

/// The total cost of a session so far. The next report replaces it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// `None`: the price is unknown.
    pub micro_usd: Option<u64>,
    /// Without cached tokens.
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
}

impl Spent {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    /// Joins two costs. The sum is unknown if one price is: a partial sum would be wrong.
    fn with(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            micro_usd: self.micro_usd.zip(other.micro_usd).map(|(one, two)| join(one, two)),
            input_tokens: join(self.input_tokens, other.input_tokens),
            cached_tokens: join(self.cached_tokens, other.cached_tokens),
            output_tokens: join(self.output_tokens, other.output_tokens),
        }
    }

    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.cached_tokens).saturating_add(self.output_tokens)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUnit {
    pub unit: TaskId,
    pub title: String,
    /// In working order.
    pub tasks: Vec<TaskId>,
    pub wave: u32,
    pub status: UnitStatus,
    /// Number of dispatches.
    pub attempts: u32,
    /// Number of consecutive failures. They lead to blocking the unit.
    pub stuck: u32,
    pub branch: Option<String>,
    pub directory: Option<String>,
    /// The plan of its worktree.
    pub plan: Option<PlanId>,
    pub agent: Option<Process>,
    pub session: Option<SessionId>,
    /// The lease token of each of its tasks.
    pub leases: BTreeMap<TaskId, u64>,
    /// The commit of its last work.
    pub head: Option<String>,
    /// The commit that merged it into the run's branch.
    pub merged: Option<String>,
    /// The status, in one line.
    pub note: Option<String>,
    /// The last failed attempt, described for the next attempt.
    pub last_failure: Option<String>,
    pub updated_at: Millis,
}

impl RunUnit {
    /// Returns a unit that waits for its first agent.
    pub fn new(unit: TaskId, title: String, tasks: Vec<TaskId>, wave: u32) -> Self {
        Self { unit, title, tasks, wave, ..Self::default() }
    }
}

labels! {
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum UnitStatus {
        #[default]
        Waiting = "waiting",
        Running = "running",
        Merging = "merging",
        Done = "done",
        Blocked = "blocked",
    }
}

/// One iteration: an agent received a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Number in its run, from 1.
    pub number: u32,
    pub unit: TaskId,
    pub host: Host,
    pub session: Option<SessionId>,
    pub started_at: Millis,
    pub ended_at: Option<Millis>,
    /// The end, in a few words.
    pub ending: Option<String>,
    pub spent: Spent,
    pub turns: u32,
    /// The agent's last message.
    pub summary: Option<String>,
}

impl Dispatch {
    /// The ending of an agent that finished by itself.
    pub const FINISHED: &'static str = "finished";
}

/// The totals of several dispatches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    pub iterations: u32,
    /// Only dispatches with a known price.
    pub micro_usd: u64,
    pub tokens: u64,
    /// Number of dispatches that used tokens at an unknown price.
    pub unpriced: u32,
}

/// Everything that is shown of a run, at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    pub run: Run,
    /// The title of its plan.
    pub title: String,
    /// In the order of the plan.
    pub units: Vec<RunUnit>,
    /// The tasks of its plan, without generated ones.
    pub tasks: Vec<Task>,
    /// The last evidence of each task.
    pub evidence: BTreeMap<TaskId, Evidence>,
    /// The known reasons of blocked tasks.
    pub blocked: BTreeMap<TaskId, String>,
    pub sums: Sums,
    /// The totals of each dispatched unit.
    pub unit_sums: BTreeMap<TaskId, Sums>,
    /// The working times of agents, in order of their start.
    pub spans: Vec<WorkSpan>,
}

/// The time when an agent worked on a unit, or an expert beside the units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSpan {
    /// A name that begins with `@` is not a unit.
    pub unit: TaskId,
    pub started_at: Millis,
    /// `None`: the agent still works, or its runner was killed.
    pub ended_at: Option<Millis>,
}

impl WorkSpan {
    /// Returns true for a review or for work on a spec.
    pub fn is_aside(&self) -> bool {
        self.unit.as_str().starts_with('@')
    }
}
