//! Work that goes on while the main thread does something else.

use serde_json::{Value, json};

use super::process::Running;
use super::subagent::Subagent;

#[derive(Debug)]
pub(super) enum Background {
    Subagent(Subagent),
    Shell(Shell),
}

#[derive(Debug)]
pub(super) struct Shell {
    pub(super) id: String,
    pub(super) tool_use_id: String,
    pub(super) command: String,
    pub(super) description: String,
    pub(super) running: Running,
}

impl Background {
    /// As `background_tasks` lists it.
    pub(super) fn task(&self) -> Value {
        match self {
            Self::Subagent(subagent) => json!({
                "id": subagent.id, "type": "subagent", "status": "running",
                "description": subagent.description, "agent_type": subagent.kind,
            }),
            Self::Shell(shell) => json!({
                "id": shell.id, "type": "shell", "status": "running",
                "description": shell.description, "command": shell.command,
            }),
        }
    }
}

/// What the host tells the main thread when such work has ended. It comes as a prompt, and no human wrote it.
pub(super) fn notice(id: &str, tool_use_id: &str, summary: &str, result: Option<&str>) -> String {
    let result = result.map_or_else(String::new, |text| format!("\n<result>{}</result>", escaped(text)));
    format!(
        "<task-notification>\n<task-id>{id}</task-id>\n<tool-use-id>{tool_use_id}</tool-use-id>\n\
         <status>completed</status>\n<summary>{summary}</summary>{result}\n</task-notification>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_of_a_subagent_arrives_escaped() {
        let text = notice("a1", "toolu_1", "Agent \"sub\" finished", Some("<promise>X</promise>"));
        let expected = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n\
            <status>completed</status>\n<summary>Agent \"sub\" finished</summary>\n\
            <result>&lt;promise&gt;X&lt;/promise&gt;</result>\n</task-notification>";
        assert_eq!(text, expected);
    }
}
