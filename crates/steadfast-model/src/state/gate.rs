use serde::{Deserialize, Serialize};

use super::{Change, HELD, REMEMBERED};
use crate::{Gate, GateScope, Millis, ToolUseId, Trigger};

/// What a session remembers of the gate that is closed before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateState {
    pub scope: GateScope,
    pub trigger: Trigger,
    pub closed_at: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
    /// Calls that may write and are not back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolUseId>,
    /// What the agent started may go on running behind its calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// A call that may have done anything is back, and since then nobody saw all that is sealed as a tree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
    /// So much was to be put back that a hook may have been ended over it: what is left of it is no human's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmended: bool,
    /// The call whose question we exchanged for ours, and the hash that was in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<(ToolUseId, String)>,
    /// The host showed the dialog that leaves plan mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaving: bool,
    /// Protected paths whose writing was refused, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

impl GateState {
    /// A gate that has just been closed.
    pub fn of(gate: &Gate) -> Self {
        Self {
            scope: gate.scope.clone(),
            trigger: gate.trigger.clone(),
            closed_at: gate.closed_at,
            expires_at: gate.expires_at,
            calls: Vec::new(),
            background: false,
            unseen: false,
            unmended: false,
            asked: None,
            leaving: false,
            refused: Vec::new(),
        }
    }

    /// Whether what changed since the last look may be the agent's doing.
    pub fn is_agents(&self) -> bool {
        self.background || !self.calls.is_empty()
    }

    /// What happens before a closed gate.
    pub(super) fn apply(&mut self, change: &Change) {
        match change {
            Change::CallOpened { call, background } => {
                if self.calls.len() >= REMEMBERED {
                    self.calls.remove(0);
                }
                self.calls.push(call.clone());
                self.background |= background;
            }
            Change::CallClosed(call) => self.calls.retain(|open| open != call),
            Change::TreeUnseen(unseen) => self.unseen = *unseen,
            Change::Unmended(unmended) => self.unmended = *unmended,
            Change::Asked { call, hash } => self.asked = Some((call.clone(), hash.clone())),
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
