use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::is_default;
use crate::{Millis, SessionId, ToolUseId};

/// A closed plan gate: nothing that is protected is written until a human has spoken.
///
/// This is also the content of its marker, which a hook can still answer from when nothing else can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub scope: GateScope,
    /// What the agent is told.
    pub reason: String,
    pub closed_at: Millis,
    #[serde(default)]
    pub trigger: Trigger,
    /// The checkout it stands in. Relative paths in `protected` are meant from there.
    #[serde(default)]
    pub root: String,
    /// What is not written while it is closed: files, folders with a `/` behind them, `*` and `?` within a
    /// part, `**` for any number of folders.
    #[serde(default)]
    pub protected: Vec<String>,
    /// What waits for the human's yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<DraftLine>,
    /// How long its draft waits for the human, also when the session that proposed it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// From then on it is open. Only a checkout's gate has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Millis>,
}

impl Gate {
    /// A gate with nothing said beyond whom it stands before and why.
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

/// A draft that was proposed and not answered. It stands before every session of the checkout that starts later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub since: Millis,
    /// None: until it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
}

/// Whom a gate stands before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateScope {
    /// The one session it was closed in.
    Session(SessionId),
    /// Every session in this checkout.
    Worktree(String),
}

impl GateScope {
    /// Whether it was closed in another session than this.
    pub fn is_anothers(&self, session: &SessionId) -> bool {
        matches!(self, Self::Session(owner) if owner != session)
    }
}

/// What closed a gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// `steadfast plan lock`.
    #[default]
    Lock,
    /// `steadfast plan propose`.
    Proposal,
    /// The host went into plan mode.
    PlanMode,
    /// A planner started: the agent type as configured.
    Agent(String),
    /// The human typed this slash command.
    Command(String),
}

impl Trigger {
    /// As `[approval] triggers` spells it. `Lock` and `Proposal` are always on and have no spelling.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "plan-mode" => Some(Self::PlanMode),
            Some(("agent", name)) if !name.is_empty() => Some(Self::Agent(name.to_owned())),
            Some(("command", name)) if !name.is_empty() => Some(Self::Command(name.trim_start_matches('/').to_owned())),
            _ => None,
        }
    }
}

/// The little of a draft that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftLine {
    /// Over what was authored, in hexadecimal.
    pub hash: String,
    pub title: String,
    pub tasks: u32,
    /// Where it is written once it is approved, from the root of the checkout.
    pub path: String,
    /// The call that leaves plan mode with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolUseId>,
}

impl DraftLine {
    /// How much of a hash a human reads and types.
    pub const SHORT: usize = 8;

    pub fn short(&self) -> &str {
        self.hash.get(..Self::SHORT).unwrap_or(&self.hash)
    }
}

labels! {
    /// Through which channel a human spoke.
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
    /// How a plan stands with its human.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Approval {
        #[default]
        NotRequired = "not_required",
        /// Nobody has said yes.
        Required = "required",
        /// A signed yes to this very plan.
        Approved = "approved",
        /// The file says so, and no valid signature does.
        Unsigned = "unsigned",
        /// The file began to say so while the gate was closed.
        Forged = "forged",
    }
}

impl Approval {
    /// Whether it may be built.
    pub fn is_enough(self) -> bool {
        matches!(self, Self::NotRequired | Self::Approved)
    }
}

/// How a gate came open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// The plan of this hash.
    Approved {
        hash: String,
        channel: Channel,
    },
    Rejected,
    /// A human took the lock off; nothing is approved by that.
    Unlocked,
    Expired,
}

/// A protected path that is not as it was when the gate closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealBreak {
    /// From the root of the checkout.
    pub path: String,
    pub what: SealChange,
    #[serde(default, skip_serializing_if = "is_default")]
    pub cause: SealCause,
}

/// What is known of a break besides who could have made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealCause {
    #[default]
    Unknown,
    /// It was the agent's before, and could not be put back.
    Stuck,
    /// HEAD moved, and the path is what the new commit has. The content was in the repository before the gate closed.
    Checkout,
}

impl SealBreak {
    pub fn new(path: impl Into<String>, what: SealChange) -> Self {
        Self { path: path.into(), what, cause: SealCause::Unknown }
    }

    /// What changed, the first three by name: `a` was changed, `b` was removed.
    pub fn describe(breaks: &[Self]) -> String {
        const NAMED: usize = 3;
        let named = breaks.iter().take(NAMED).map(|broken| format!("`{}` was {}", broken.path, broken.what.as_str()));
        let more = breaks.len().saturating_sub(NAMED);
        let more = (more > 0).then(|| format!("and {more} more"));
        named.chain(more).collect::<Vec<_>>().join(", ")
    }

    /// More are not looked for in a tree at once: a hook has to mend them in its time.
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
