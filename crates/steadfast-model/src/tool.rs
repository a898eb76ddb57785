use serde::{Deserialize, Serialize};

use crate::sparse::is_default;
use crate::{ListCall, ToolUseId};

/// A tool call as every host makes it: which tool, and what that means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ToolUseId>,
    /// The tool in the host's spelling.
    pub tool: String,
    pub action: Action,
    /// What it says to the human: each question with its heading, or the plan that plan mode is left with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

/// What a tool call does, as far as its input says.
///
/// File contents and outputs are not kept: no policy needs them, and what is not kept need not be protected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Write {
        paths: Vec<String>,
    },
    Read {
        paths: Vec<String>,
    },
    Shell {
        command: String,
        /// It goes on running when the call is back, says the call.
        #[serde(default, skip_serializing_if = "is_default")]
        background: bool,
    },
    /// Starts a subagent.
    Delegate {
        agent_type: String,
    },
    /// Reads a skill, and follows it.
    Skill {
        name: String,
    },
    /// Asks the human.
    Ask,
    /// Offers a plan and leaves plan mode.
    LeavePlan,
    Mcp {
        server: String,
        tool: String,
        /// Texts of its input that may be paths.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// Reads or changes the list of tasks that the host keeps.
    List(ListCall),
    Other,
}

impl Action {
    /// A command that the call waits for.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell { command: command.into(), background: false }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: ToolCall,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// What the human answered, where the call asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<DialogAnswer>,
    /// Paths in what it read, where that is a document. Of its text nothing else is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// An answer in the host's dialog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogAnswer {
    pub question: String,
    /// The label that was chosen, or what was typed instead.
    pub label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    Failed {
        error: String,
    },
    /// The human stopped it.
    Interrupted,
}
