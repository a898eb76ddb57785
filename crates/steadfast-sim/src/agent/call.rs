//! A tool call in Claude Code's format, which the simulated agent also uses.

use serde_json::{Value, json};

use crate::scenario::Action;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Value,
}

impl Call {
    /// Returns `None` for actions that are not tool calls.
    pub(crate) fn of(action: &Action) -> Option<Self> {
        let (name, input) = match action {
            Action::Shell(command) => ("Bash", json!({"command": command, "description": "Run a command"})),
            Action::Write { path, content } => ("Write", json!({"file_path": path, "content": content})),
            Action::Edit { path, old, new } => {
                ("Edit", json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false}))
            }
            Action::Read(path) => ("Read", json!({"file_path": path})),
            Action::Tool { name, input } => (name.as_str(), input.clone()),
            Action::Agent { kind, prompt, background } => ("Agent", agent(kind, prompt, *background)),
            Action::Compact {} => return None,
        };
        Some(Self { name: name.to_owned(), input })
    }
}

/// Claude Code 2.1.325 runs subagents in the background by default, 2.1.197 in the foreground. The call always states
/// it.
fn agent(kind: &str, prompt: &str, background: bool) -> Value {
    json!({
        "description": prompt.split_whitespace().take(5).collect::<Vec<_>>().join(" "),
        "prompt": prompt,
        "subagent_type": kind,
        "run_in_background": background,
    })
}
