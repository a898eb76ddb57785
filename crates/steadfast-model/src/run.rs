use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Evidence, Host, Millis, PlanId, RunId, SessionId, Task, TaskId};

/// Agents that work a plan off in waves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub plan: PlanId,
    /// The checkout it was begun in.
    pub worktree: String,
    /// The file it was begun with, as it was named.
    pub spec: String,
    pub host: Host,
    /// The commit its branch began at.
    pub base: String,
    pub branch: String,
    pub state: RunState,
    /// Why it is in this state.
    pub reason: Option<String>,
    pub limits: Limits,
    pub started_at: Millis,
    pub updated_at: Millis,
    pub ended_at: Option<Millis>,
    /// Who runs it. `None`: nobody did yet.
    pub runner: Option<Process>,
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum RunState {
        Running = "running",
        /// At a limit, or interrupted: it can be resumed.
        Paused = "paused",
        /// Every task is done, some on the agent's word alone: a human looks at those.
        NeedsReview = "needs review",
        /// Nothing is left that could be done.
        Complete = "complete",
        /// Given up by a human.
        Stopped = "stopped",
    }
}

impl RunState {
    pub fn is_over(self) -> bool {
        matches!(self, Self::NeedsReview | Self::Complete | Self::Stopped)
    }
}

/// What a run may use up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Agents at once.
    pub parallel: u32,
    /// Dispatches of units; [`Limits::NO_LIMIT`]: as many as it takes.
    pub iterations: u32,
    pub micro_usd: Option<u64>,
    pub tokens: Option<u64>,
    pub wall_ms: Option<u64>,
    /// One dispatch of one unit.
    pub unit_ms: Option<u64>,
    /// How long an agent may say nothing.
    pub silence_ms: Option<u64>,
}

impl Limits {
    /// More iterations than any run has.
    pub const NO_LIMIT: u32 = u32::MAX;

    /// How many iterations there may be. `None`: as many as it takes.
    pub fn iterations(&self) -> Option<u32> {
        Some(self.iterations).filter(|iterations| *iterations != Self::NO_LIMIT)
    }
}

/// A process that is told from a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// As the system counts; 0 where it does not say.
    pub started: u64,
}

/// All that a session spent until now: the next report replaces this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// `None`: nobody knows the price.
    pub micro_usd: Option<u64>,
    /// Those from the cache not among them.
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

    /// A price that is not known makes the sum unknown: half a price is a wrong one.
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

/// A unit in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUnit {
    pub unit: TaskId,
    pub title: String,
    /// In the order they are worked on.
    pub tasks: Vec<TaskId>,
    /// From 1.
    pub wave: u32,
    pub status: UnitStatus,
    /// How often it was dispatched.
    pub attempts: u32,
    /// Failures in a row that count towards blocking it.
    pub stuck: u32,
    pub branch: Option<String>,
    /// Its worktree.
    pub directory: Option<String>,
    /// The plan of that worktree.
    pub plan: Option<PlanId>,
    pub agent: Option<Process>,
    pub session: Option<SessionId>,
    /// The token each of its tasks is held with.
    pub leases: BTreeMap<TaskId, u64>,
    /// The commit of its last work.
    pub head: Option<String>,
    /// The commit that brought it to the run's branch.
    pub merged: Option<String>,
    /// Where it stands, one line.
    pub note: Option<String>,
    /// What the last failed attempt leaves to the next.
    pub last_failure: Option<String>,
    pub updated_at: Millis,
}

impl RunUnit {
    /// A unit that waits for its first agent.
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

/// One iteration: an agent that was given a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// In its run, from 1.
    pub number: u32,
    pub unit: TaskId,
    pub host: Host,
    pub session: Option<SessionId>,
    pub started_at: Millis,
    pub ended_at: Option<Millis>,
    /// How it ended, a few words.
    pub ending: Option<String>,
    pub spent: Spent,
    pub turns: u32,
    /// What its agent said last.
    pub summary: Option<String>,
}

impl Dispatch {
    /// How one ended whose agent came to its own end.
    pub const FINISHED: &'static str = "finished";
}

/// What dispatches took together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    pub iterations: u32,
    /// Of those whose price is known.
    pub micro_usd: u64,
    pub tokens: u64,
    /// Dispatches that spent tokens at a price nobody knows.
    pub unpriced: u32,
}

/// All there is to show of a run, as of one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    pub run: Run,
    /// Of its plan.
    pub title: String,
    /// In the order of the plan.
    pub units: Vec<RunUnit>,
    /// Of its plan, the way people count.
    pub tasks: Vec<Task>,
    /// The last of each task that has any.
    pub evidence: BTreeMap<TaskId, Evidence>,
    /// Why tasks are blocked, where that is known.
    pub blocked: BTreeMap<TaskId, String>,
    pub sums: Sums,
    /// Of each unit that was dispatched.
    pub unit_sums: BTreeMap<TaskId, Sums>,
    /// When agents worked, in the order they began.
    pub spans: Vec<WorkSpan>,
}

/// When an agent worked on a unit, or an expert beside the units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSpan {
    /// A name that begins with `@` is no unit.
    pub unit: TaskId,
    pub started_at: Millis,
    /// None: it goes on, or its runner was killed.
    pub ended_at: Option<Millis>,
}

impl WorkSpan {
    /// A review, or a spec.
    pub fn is_aside(&self) -> bool {
        self.unit.as_str().starts_with('@')
    }
}
