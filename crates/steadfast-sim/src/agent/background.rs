//! Work in the background, beside the main thread.

use std::time::Duration;

use serde_json::{Value, json};

use super::AgentError;
use super::process::Running;
use super::session::{Interrupt, Session};
use super::subagent::Subagent;

const POLL: Duration = Duration::from_millis(1);

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
    /// Returns its entry in `background_tasks`.
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

impl Session<'_> {
    /// Returns all background work, as the hosts list it.
    pub(super) fn tasks(&self) -> Vec<Value> {
        self.background.iter().map(Background::task).collect()
    }

    /// Runs one turn of all background work. Returns the notices about finished work.
    pub(super) fn work_in_background(&mut self) -> Result<Vec<String>, Interrupt> {
        let mut notices = Vec::new();
        let mut index = 0;
        while index < self.background.len() {
            match self.advance_background(index)? {
                Some(text) => notices.push(text),
                None => index += 1,
            }
        }
        Ok(notices)
    }

    pub(super) fn wait_for_background(&mut self) -> Result<String, Interrupt> {
        loop {
            for index in 0..self.background.len() {
                if let Some(text) = self.advance_background(index)? {
                    return Ok(text);
                }
            }
            std::thread::sleep(POLL);
        }
    }

    /// Runs one turn of the work at `index`. If that was its last turn, removes the work and returns the notice about
    /// it.
    fn advance_background(&mut self, index: usize) -> Result<Option<String>, Interrupt> {
        let tasks = self.tasks();
        match self.background.remove(index) {
            Background::Shell(mut shell) => {
                let over = shell.running.age() > self.agent.shell_limit;
                if !over && !shell.running.has_ended().map_err(AgentError::Background)? {
                    self.background.insert(index, Background::Shell(shell));
                    return Ok(None);
                }
                let limit = self.agent.shell_limit;
                let finished = shell.running.finish(limit).map_err(AgentError::Background)?;
                let how = match finished.status.and_then(|status| status.code()) {
                    Some(code) => format!("completed (exit code {code})"),
                    None => "was killed".to_owned(),
                };
                let summary = format!("Background command \"{}\" {how}", shell.description);
                Ok(Some(notice(&shell.id, &shell.tool_use_id, &summary, None)))
            }
            Background::Subagent(mut subagent) => {
                if std::mem::take(&mut subagent.fresh) {
                    self.background.insert(index, Background::Subagent(subagent));
                    return Ok(None);
                }
                let Some(said) = self.step(&mut subagent, tasks)? else {
                    self.background.insert(index, Background::Subagent(subagent));
                    return Ok(None);
                };
                let summary = format!("Agent \"{}\" finished", subagent.description);
                let (id, call) = (&subagent.id, &subagent.tool_use_id);
                Ok(Some(notice(id, call, &summary, Some(&said))))
            }
        }
    }
}

/// Returns the host's notice to the main thread about finished work. It arrives as a prompt that no human wrote.
fn notice(id: &str, tool_use_id: &str, summary: &str, result: Option<&str>) -> String {
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
