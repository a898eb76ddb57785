use serde::{Deserialize, Serialize};

use super::{Change, HELD, REMEMBERED};
use crate::sparse::is_default;
use crate::{AgentId, Gate, GateScope, Millis, ToolUseId, Trigger};

/// A session's memory of its closed gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateState {
    pub scope: GateScope,
    pub trigger: Trigger,
    pub closed_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// Calls of the main thread that may write and have not returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolUseId>,
    /// Such calls of subagents. They continue while the main thread stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent_calls: Vec<AgentCall>,
    /// The agent gave work to a service (`at`, `systemd-run`, a container). No process of the agent shows when it runs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub background: bool,
    /// At the last check of the process table, a process of a tool call was running.
    #[serde(default, skip_serializing_if = "is_default")]
    pub running: bool,
    /// Checkouts of the same repository that the session created since. The same paths are protected there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<String>,
    /// A call with unknown effects has returned, and Steadfast has not checked all sealed trees since.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unseen: bool,
    /// There were too many changes to restore within the hook's time limit. The remaining ones are not a human's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unmended: bool,
    /// The call whose question Steadfast replaced, and the hash in the replacement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<(ToolUseId, String)>,
    /// The human has read that the gate is closed. The text is the hash of the draft that waited then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// The host showed the dialog that leaves plan mode.
    #[serde(default, skip_serializing_if = "is_default")]
    pub leaving: bool,
    /// Protected paths whose writes were refused, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCall {
    pub agent: AgentId,
    pub call: ToolUseId,
}

impl GateState {
    /// Returns the state of a gate that has just closed.
    pub fn of(gate: &Gate) -> Self {
        Self {
            scope: gate.scope.clone(),
            trigger: gate.trigger.clone(),
            closed_at: gate.closed_at,
            expires_at: gate.expires_at,
            calls: Vec::new(),
            agent_calls: Vec::new(),
            background: false,
            running: false,
            copies: Vec::new(),
            unseen: false,
            unmended: false,
            asked: None,
            told: None,
            leaving: false,
            refused: Vec::new(),
        }
    }

    /// Returns true if a call or a process of the agent could have changed files since the last check.
    pub fn agent_may_write(&self) -> bool {
        self.running || !self.calls.is_empty() || !self.agent_calls.is_empty()
    }

    /// Applies a change to the closed gate.
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::CallOpened { call, background, agent } => {
                match agent {
                    Some(agent) => {
                        if self.agent_calls.len() >= REMEMBERED {
                            self.agent_calls.remove(0);
                        }
                        self.agent_calls.push(AgentCall { agent: agent.clone(), call: call.clone() });
                    }
                    None => {
                        if self.calls.len() >= REMEMBERED {
                            self.calls.remove(0);
                        }
                        self.calls.push(call.clone());
                    }
                }
                self.background |= background;
            }
            Change::CallClosed(call) => {
                self.calls.retain(|open| open != call);
                self.agent_calls.retain(|open| open.call != *call);
            }
            Change::Copied(root) => {
                self.copies.retain(|known| known != root);
                if self.copies.len() >= HELD {
                    self.copies.remove(0);
                }
                self.copies.push(root.clone());
            }
            Change::Running(running) => self.running = *running,
            Change::TreeUnseen(unseen) => self.unseen = *unseen,
            Change::Unmended(unmended) => self.unmended = *unmended,
            Change::Asked { call, hash } => self.asked = Some((call.clone(), hash.clone())),
            Change::GateTold(draft) => self.told = Some(draft.clone()),
            Change::Leaving => self.leaving = true,
            Change::PathRefused(path) => {
                self.refused.retain(|known| known != path);
                if self.refused.len() >= HELD {
                    self.refused.remove(0);
                }
                self.refused.push(path.clone());
            }
            _ => {}
        }
    }
}
