use serde::{Deserialize, Serialize};

use crate::ToolUseId;

/// A tool call as every host makes it: which tool, and what that means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ToolUseId>,
    /// The tool in the host's spelling.
    pub tool: String,
    pub action: Action,
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
    },
    Other,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: ToolCall,
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
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
