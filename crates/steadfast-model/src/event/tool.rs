use serde::{Deserialize, Serialize};

use crate::sparse::is_default;
use crate::{ListCall, ToolUseId};

/// A tool call in a form common to all hosts: the tool, and its meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ToolUseId>,
    /// The tool in the host's spelling.
    pub tool: String,
    pub action: Action,
    /// The texts for the human: each question with its heading, or the plan with which the agent leaves plan mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
}

/// The action of a tool call, from its input.
///
/// File contents and outputs are not stored: no policy needs them, and data that is not stored needs no protection.
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
        /// According to the call, the command continues after the call has returned.
        #[serde(default, skip_serializing_if = "is_default")]
        background: bool,
    },
    /// Starts a subagent.
    Delegate {
        agent_type: String,
    },
    /// Reads a skill to follow it.
    Skill {
        name: String,
    },
    Ask,
    LeavePlan,
    Mcp {
        server: String,
        tool: String,
        /// Texts of the input that may be paths.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// Reads or changes the list of tasks that the host keeps.
    List(ListCall),
    Other,
}

impl Action {
    /// Returns the action of a foreground command.
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
    /// The human's answers, if the call asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<DialogAnswer>,
    /// Paths in the text, if the call read a document. Nothing else of the text is stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogAnswer {
    pub question: String,
    /// The chosen label, or the text that the human typed instead.
    pub label: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ok,
    Failed { error: String },
    Interrupted,
}
