//! A tool call in Claude Code's words, which the simulated agent speaks too.

use serde_json::{Value, json};

use crate::scenario::Action;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Value,
}

impl Call {
    /// `None` for what is no tool call.
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

/// Claude Code 2.1.325 runs subagents in the background unless told not to, 2.1.197 the other way round: say it always.
fn agent(kind: &str, prompt: &str, background: bool) -> Value {
    json!({
        "description": prompt.split_whitespace().take(5).collect::<Vec<_>>().join(" "),
        "prompt": prompt,
        "subagent_type": kind,
        "run_in_background": background,
    })
}
