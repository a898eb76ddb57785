use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::is_default;
use crate::{Millis, SessionId, ToolUseId};

/// A closed plan gate: Steadfast refuses to write protected files until a human decides.
///
/// This is also the content of its marker, from which a hook answers when it can read no other state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub scope: GateScope,
    /// The reason that the agent receives.
    pub reason: String,
    pub closed_at: Millis,
    #[serde(default)]
    pub trigger: Trigger,
    /// The root of the checkout. Relative paths in `protected` start here.
    #[serde(default)]
    pub root: String,
    /// The protected files: files, folders with a `/` at the end, `*` and `?` within a part, `**` for any number of
    /// folders.
    #[serde(default)]
    pub protected: Vec<String>,
    /// The draft that needs the human's approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<DraftLine>,
    /// How long the draft waits for the human, even after the session that proposed it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// The time at which it opens by itself. Only a checkout's gate has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

impl Gate {
    /// Returns a gate without protected files and draft.
    pub fn new(scope: GateScope, reason: impl Into<String>, closed_at: Millis) -> Self {
        Self {
            scope,
            reason: reason.into(),
            closed_at,
            trigger: Trigger::Lock,
            root: String::new(),
            protected: Vec::new(),
            draft: None,
            waiting: None,
            expires_at: None,
        }
    }

    pub fn has_expired(&self, now: Millis) -> bool {
        self.expires_at.is_some_and(|at| now >= at)
    }
}

/// An unanswered draft. It keeps the gate closed for every session of the checkout that starts later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub since: Millis,
    /// `None`: until it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

/// The sessions that a gate applies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateScope {
    /// The session that closed it.
    Session(SessionId),
    Worktree(String),
}

impl GateScope {
    /// Returns true if another session closed the gate.
    pub fn belongs_to_other(&self, session: &SessionId) -> bool {
        matches!(self, Self::Session(owner) if owner != session)
    }
}

/// The cause of a closed gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// `steadfast plan lock`.
    #[default]
    Lock,
    /// `steadfast plan propose`.
    Proposal,
    /// The host entered plan mode.
    PlanMode,
    /// A planner started. The text is the configured agent type.
    Agent(String),
    Command(String),
}

impl Trigger {
    /// Parses a value of `[approval] triggers`. `Lock` and `Proposal` are always on and have no spelling.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "plan-mode" => Some(Self::PlanMode),
            Some(("agent", name)) if !name.is_empty() => Some(Self::Agent(name.to_owned())),
            Some(("command", name)) if !name.is_empty() => Some(Self::Command(name.trim_start_matches('/').to_owned())),
            _ => None,
        }
    }
}

/// The part of a draft that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftLine {
    /// Hash of the authored plan, in hexadecimal.
    pub hash: String,
    pub title: String,
    pub tasks: u32,
    /// The path for the approved plan, from the root of the checkout.
    pub path: String,
    /// The call that leaves plan mode with this draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolUseId>,
}

impl DraftLine {
    /// The length of a hash that a human reads and types.
    pub const SHORT: usize = 8;

    pub fn short(&self) -> &str {
        self.hash.get(..Self::SHORT).unwrap_or(&self.hash)
    }
}

labels! {
    /// The channel of a human's decision.
    #[serde(rename_all = "snake_case")]
    pub enum Channel {
        /// `approve plan <hash8>`, typed as a whole message.
        Prompt = "prompt",
        /// Our question in the host's dialog.
        Question = "question",
        /// Leaving plan mode, accepted in the host's dialog.
        PlanMode = "plan mode",
        /// `steadfast plan approve` in a terminal.
        Terminal = "terminal",
        /// A human loaded the plan from a terminal.
        Load = "load",
    }
}

labels! {
    /// The approval status of a plan.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Approval {
        #[default]
        NotRequired = "not_required",
        /// The plan needs an approval and has none.
        Required = "required",
        /// A human signed exactly this plan.
        Approved = "approved",
        /// The file claims an approval, and has no valid signature.
        Unsigned = "unsigned",
        /// The file was changed to claim an approval while the gate was closed.
        Forged = "forged",
    }
}

impl Approval {
    /// Returns true if work on the plan may start.
    pub fn is_enough(self) -> bool {
        matches!(self, Self::NotRequired | Self::Approved)
    }
}

/// The way in which a gate was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// The plan with this hash was approved.
    Approved {
        hash: String,
        channel: Channel,
    },
    Rejected,
    /// A human removed the lock. That approves no plan.
    Unlocked,
    Expired,
}

/// A protected path that changed since the gate closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealBreak {
    pub path: String,
    pub what: SealChange,
    #[serde(default, skip_serializing_if = "is_default")]
    pub cause: SealCause,
}

/// The known cause of a changed path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealCause {
    #[default]
    Unknown,
    /// The agent changed the path earlier, and Steadfast could not restore it.
    Stuck,
    /// HEAD moved, and the path has the content of the new commit. That content was in the repository before the gate
    /// closed.
    Checkout,
}

impl SealBreak {
    pub fn new(path: impl Into<String>, what: SealChange) -> Self {
        Self { path: path.into(), what, cause: SealCause::Unknown }
    }

    /// Describes the changes, naming the first three: `a` was changed, `b` was removed.
    pub fn describe(breaks: &[Self]) -> String {
        const NAMED: usize = 3;
        let named = breaks.iter().take(NAMED).map(|broken| format!("`{}` was {}", broken.path, broken.what.as_str()));
        let more = breaks.len().saturating_sub(NAMED);
        let more = (more > 0).then(|| format!("and {more} more"));
        named.chain(more).collect::<Vec<_>>().join(", ")
    }

    /// The limit of changes found in a tree at once, since a hook must restore them within its time limit.
    pub const AT_ONCE: usize = 16;
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum SealChange {
        Changed = "changed",
        Created = "created",
        Removed = "removed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_read_as_it_is_configured() {
        let read = ["plan-mode", "agent:planner", "command:/tdd-plan", "command:x", "agent:", "planner"];
        assert_eq!(
            read.map(Trigger::parse),
            [
                Some(Trigger::PlanMode),
                Some(Trigger::Agent("planner".into())),
                Some(Trigger::Command("tdd-plan".into())),
                Some(Trigger::Command("x".into())),
                None,
                None,
            ]
        );
    }
}
