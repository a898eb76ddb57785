mod binding;
mod change;
mod gate;
mod memory;
mod stop;

use serde::{Deserialize, Serialize};

use crate::sparse::is_default;
use crate::{
    AgentId, Constraint, Drift, Goal, Host, HostList, Millis, Opening, PlanView, Rules, SessionId, TakingBack, TaskId,
    Watched,
};

pub use binding::{Binding, BindingChange, Leased, Offered, Released, TaskFile};
pub use change::Change;
pub use gate::{AgentCall, GateState};
pub use memory::{ForgedSeen, LastWrite, Seen, SubagentTasks, WiringTold};
pub use stop::{LastStop, Release, StopCount};

/// Increases when an older binary could misread the state.
pub const STATE_VERSION: u32 = 4;

/// The version of a session without a closed gate. Every binary reads it.
const PLAIN: u32 = 1;

/// The version of a session with a closed gate.
const GATED: u32 = 2;

/// The version of a session with constraints.
const FORBIDDEN: u32 = 3;

/// The longest delay of an event on its way into the journal.
const LATE_MS: i64 = 60 * 60 * 1_000;

/// The limit of remembered answers to tool events, for events that arrive twice. One model answer can make several
/// calls at once.
const REMEMBERED: usize = 32;

/// The limit of remembered lines for the human.
const TOLD: usize = 16;

/// The limit of subagents remembered as running. A killed subagent sends no stop event and must not stay forever.
const SUBAGENTS: usize = 256;

/// The limit of remembered tasks per subagent.
const HELD: usize = 16;

/// Everything that a decision needs to know of a session. It is the fold of its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub version: u32,
    pub session: SessionId,
    pub host: Host,
    /// The sequence of the last journal line in this state.
    pub sequence: u64,
    pub started_at: Millis,
    pub last_at: Millis,
    #[serde(default)]
    pub rules: Rules,
    /// The version of the configuration files that `rules` are from.
    #[serde(default)]
    pub rules_stamp: u64,
    #[serde(default)]
    pub stop: StopCount,
    /// The plans that the session works on.
    #[serde(default, skip_serializing_if = "Binding::is_empty")]
    pub binding: Binding,
    #[serde(default)]
    pub prompts: u64,
    #[serde(default)]
    pub tool_calls: u64,
    /// Subagents that started and have not stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<AgentId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<SubagentTasks>,
    /// The human interrupted the turn and has sent no prompt since.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted: bool,
    /// A human is known to be present: the host reported it, or a dialog was answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub attended: bool,
    /// Steadfast only records until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<Millis>,
    /// The closed plan gate of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateState>,
    /// The hash of the plan that a human approved in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
    /// The session's goal and its human's constraints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// The must-nots of its plan's unfinished loop. No prompt lifts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_nots: Vec<Constraint>,
    /// Current exceptions to the must-nots, for tasks that undo a broken one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taking_back: Vec<TakingBack>,
    /// The places of its work, and its last steps.
    #[serde(default, skip_serializing_if = "Drift::is_empty")]
    pub drift: Drift,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_write: Option<LastWrite>,
    /// Our copy of the host's list, once the session has used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Box<HostList>>,
    /// The last reports about changed wiring.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wiring: WiringTold,
    /// The processes of its hosts, one per line, as the hook recorded them. They are also here because the file can be
    /// deleted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hosts: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forged: Option<ForgedSeen>,
    /// Calls that may break a constraint unnoticed, with the marks from before them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<Watched>,
    /// Marks of the short lines that the human has read since their last prompt, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<u64>,
    /// The human was informed that constraints are understood only in English.
    #[serde(default, skip_serializing_if = "is_default")]
    pub told_language: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<Seen>,
}

impl State {
    pub fn new(session: SessionId, host: Host, at: Millis) -> Self {
        Self {
            version: PLAIN,
            session,
            host,
            sequence: 0,
            started_at: at,
            last_at: at,
            rules: Rules::default(),
            rules_stamp: 0,
            stop: StopCount::default(),
            binding: Binding::default(),
            prompts: 0,
            tool_calls: 0,
            subagents: Vec::new(),
            held: Vec::new(),
            interrupted: false,
            attended: false,
            paused_until: None,
            gate: None,
            approved: None,
            goal: None,
            must_nots: Vec::new(),
            taking_back: Vec::new(),
            drift: Drift::default(),
            last_write: None,
            list: None,
            wiring: WiringTold::default(),
            hosts: String::new(),
            forged: None,
            watched: Vec::new(),
            told: Vec::new(),
            told_language: false,
            ended: None,
            seen: Vec::new(),
        }
    }

    /// Returns true while a human has paused Steadfast.
    pub fn is_paused(&self, now: Millis) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }

    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Started => {
                self.ended = None;
                self.subagents.clear();
                self.held.clear();
            }
            Change::Ended { reason } => self.ended = Some(reason.clone()),
            Change::RulesChanged(new) => {
                self.rules = new.rules.clone();
                self.rules_stamp = new.stamp;
            }
            Change::HumanSpoke => {
                self.prompts += 1;
                self.interrupted = false;
                self.stop = StopCount::default();
                self.told.clear();
                self.held.iter_mut().for_each(|held| held.refused = 0);
            }
            Change::ToolCalled => {
                self.tool_calls += 1;
                self.stop.idle = 0;
                self.stop.last = None;
            }
            Change::Answered(seen) => {
                self.seen.retain(|other| other.key != seen.key);
                if self.seen.len() >= REMEMBERED {
                    self.seen.remove(0);
                }
                self.seen.push(seen.clone());
            }
            Change::SubagentStarted(agent) => {
                if !self.subagents.contains(agent) {
                    if self.subagents.len() >= SUBAGENTS {
                        self.subagents.remove(0);
                    }
                    self.subagents.push(agent.clone());
                }
            }
            Change::SubagentStopped(agent) => {
                self.subagents.retain(|running| running != agent);
                self.held.retain(|held| held.agent != *agent);
            }
            Change::Interrupted => {
                self.interrupted = true;
                // An interrupt ends all subagents without a stop event.
                self.subagents.clear();
                self.held.clear();
            }
            Change::Paused(until) => self.paused_until = *until,
            Change::WiringTold(told) => self.wiring = *told,
            Change::Hosted(hosts) => self.hosts.clone_from(hosts),
            Change::Forged(last) => {
                let forged = self.forged.get_or_insert_default();
                forged.count = forged.count.saturating_add(1);
                forged.last.clone_from(last);
            }
            Change::ForgedTold => {
                if let Some(forged) = &mut self.forged {
                    forged.told = forged.count;
                }
            }
            Change::Attended(attended) => self.attended = *attended,
            Change::StopRefused => {
                self.stop.refused = self.stop.refused.saturating_add(1);
                self.stop.idle = self.stop.idle.saturating_add(1);
            }
            Change::StopReleased(release) => {
                self.stop.capped |= *release == Release::Capped;
                self.stop.released = Some(*release);
            }
            Change::StopAnswered(last) => self.stop.last = Some(last.clone()),
            Change::Binding(change) => self.binding.apply(change, self.prompts),
            Change::Earned(refusals) => self.stop.earned = self.stop.earned.saturating_add(*refusals),
            Change::AskedForUser => self.stop.asked = true,
            Change::TaskHeld { agent, task } => {
                self.close_task(task);
                self.start_task(agent, task);
            }
            Change::TaskLeft(task) => self.close_task(task),
            Change::SubagentRefused(agent) => {
                self.stop.refused = self.stop.refused.saturating_add(1);
                if let Some(held) = self.tasks_of_mut(agent) {
                    held.refused = held.refused.saturating_add(1);
                }
            }
            Change::SubagentAnswered { agent, last } => {
                if let Some(held) = self.tasks_of_mut(agent) {
                    held.last = Some(last.clone());
                }
            }
            Change::GateClosed(gate) => {
                self.gate = Some(gate.clone());
                self.mark_version();
            }
            Change::GateOpened(opening) => {
                self.gate = None;
                self.mark_version();
                if let Opening::Approved { hash, .. } = opening {
                    self.approved = Some(hash.clone());
                }
            }
            Change::CallOpened { .. }
            | Change::CallClosed(_)
            | Change::Running(_)
            | Change::Copied(_)
            | Change::TreeUnseen(_)
            | Change::Unmended(_)
            | Change::Asked { .. }
            | Change::GateTold(_)
            | Change::Leaving
            | Change::PathRefused(_) => {
                if let Some(gate) = &mut self.gate {
                    gate.apply(change);
                }
            }
            Change::GoalSet { text, scope, found } => self.goal.get_or_insert_default().set(text, scope, found),
            Change::GoalCleared => {
                self.goal = None;
                self.mark_version();
            }
            Change::GoalRefined { scope, words } => {
                self.goal.get_or_insert_default().refine(scope);
                self.drift.refine(words);
            }
            Change::ConstraintAdded(constraint) => {
                self.goal.get_or_insert_default().forbid(constraint);
                self.mark_version();
            }
            Change::MustNots(must_nots) => {
                self.must_nots.clone_from(must_nots);
                self.mark_version();
            }
            Change::TakingBack(tasks) => self.taking_back.clone_from(tasks),
            Change::Drift(change) => self.drift.apply(change),
            Change::Wrote { at, paths } => self.last_write = Some(LastWrite::after(self.last_write.take(), *at, paths)),
            Change::WatchBegun(watched) => {
                self.watched.retain(|other| other.call != watched.call);
                if self.watched.len() >= Watched::MOST {
                    self.watched.remove(0);
                }
                self.watched.push(watched.clone());
            }
            Change::WatchEnded(call) => self.watched.retain(|watched| watched.call != *call),
            Change::LanguageTold => self.told_language = true,
            Change::HumanTold(mark) => {
                if self.told.len() >= TOLD {
                    self.told.remove(0);
                }
                self.told.push(*mark);
            }
            Change::List(change) => self.list.get_or_insert_default().apply(change),
            Change::ConstraintLifted(number) => {
                if let Some(goal) = &mut self.goal {
                    goal.lift(*number);
                }
                self.mark_version();
            }
        }
    }

    /// Returns true if this session works on that plan.
    pub fn is_bound(&self, plan: &PlanView) -> bool {
        self.binding.holds(&self.session, plan)
    }

    pub fn constraints(&self) -> &[Constraint] {
        self.goal.as_ref().map_or(&[], |goal| &goal.constraints)
    }

    /// Sets the version. A binary without gates must not decide here: it falls back to the marker. A binary without
    /// constraints must not either, since its next state would lose them.
    fn mark_version(&mut self) {
        self.version = match (self.must_nots.as_slice(), self.constraints(), &self.gate) {
            ([_, ..], _, _) => STATE_VERSION,
            ([], [_, ..], _) => FORBIDDEN,
            ([], [], Some(_)) => GATED,
            ([], [], None) => PLAIN,
        };
    }

    /// Returns the tasks that a subagent started.
    pub fn tasks_of(&self, agent: &AgentId) -> Option<&SubagentTasks> {
        self.held.iter().find(|held| held.agent == *agent)
    }

    fn tasks_of_mut(&mut self, agent: &AgentId) -> Option<&mut SubagentTasks> {
        self.held.iter_mut().find(|held| held.agent == *agent)
    }

    fn start_task(&mut self, agent: &AgentId, task: &TaskId) {
        if let Some(held) = self.tasks_of_mut(agent) {
            if held.tasks.len() < HELD {
                held.tasks.push(task.clone());
            }
            return;
        }
        if self.held.len() >= SUBAGENTS {
            self.held.remove(0);
        }
        self.held.push(SubagentTasks { agent: agent.clone(), tasks: vec![task.clone()], refused: 0, last: None });
    }

    /// Removes a closed task. The agent keeps its count of refusals when it starts another.
    fn close_task(&mut self, task: &TaskId) {
        for held in &mut self.held {
            held.tasks.retain(|other| other != task);
        }
    }

    /// Applies the changes of one journal line.
    pub fn advance(&mut self, sequence: u64, at: Millis, changes: &[Change]) {
        for change in changes {
            self.apply(change);
        }
        self.sequence = sequence;
        // A late event does not turn the time back, but a clock that was set back does.
        self.last_at = if self.last_at.since(at) > LATE_MS { at } else { self.last_at.max(at) };
    }
}

#[cfg(test)]
mod tests;
