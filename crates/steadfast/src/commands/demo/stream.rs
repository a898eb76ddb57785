//! Messages and calls of the agent, from the output of its host.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use steadfast_model::{Host, Millis};

use super::scene::Scene;

#[derive(Debug)]
pub(super) struct Stream {
    host: Host,
    repository: PathBuf,
    /// Calls of Claude Code that have no result yet, by id.
    calls: HashMap<String, Value>,
}

impl Stream {
    pub(super) fn new(host: Host, repository: &Path) -> Self {
        Self { host, repository: repository.to_owned(), calls: HashMap::new() }
    }

    /// Returns the scenes of a line with their time: that of the simulated agent, which prints it, or `read_at`. On a busy
    /// machine a line may be read after the next event.
    pub(super) fn read(&mut self, line: &str, read_at: Millis) -> (Millis, Vec<Scene>) {
        let Ok(line) = serde_json::from_str::<Value>(line) else { return (read_at, Vec::new()) };
        (line["at"].as_i64().map_or(read_at, Millis), self.scenes(&line))
    }

    fn scenes(&mut self, line: &Value) -> Vec<Scene> {
        match self.host {
            Host::Sim => self.sim(line).into_iter().collect(),
            Host::Claude => self.claude(line),
            Host::Codex => self.codex(&line["item"], text(line, "type")),
        }
    }

    fn sim(&self, line: &Value) -> Option<Scene> {
        match text(line, "moment") {
            "said" => Some(Scene::Said { text: text(line, "text").to_owned() }),
            "tool_ran" => self.call(text(line, "tool"), text(line, "target"), text(line, "output")),
            "tool_failed" => self.call(text(line, "tool"), text(line, "target"), text(line, "error")),
            _ => None,
        }
    }

    fn claude(&mut self, line: &Value) -> Vec<Scene> {
        let mut scenes = Vec::new();
        for block in line["message"]["content"].as_array().into_iter().flatten() {
            match (text(line, "type"), text(block, "type")) {
                ("assistant", "text") => scenes.push(Scene::Said { text: text(block, "text").to_owned() }),
                ("assistant", "tool_use") => {
                    self.calls.insert(text(block, "id").to_owned(), block.clone());
                }
                ("user", "tool_result") => {
                    let Some(call) = self.calls.remove(text(block, "tool_use_id")) else { continue };
                    let input = &call["input"];
                    let target = ["command", "file_path"].into_iter().find_map(|name| input[name].as_str());
                    scenes.extend(self.call(text(&call, "name"), target.unwrap_or_default(), text(block, "content")));
                }
                _ => {}
            }
        }
        scenes
    }

    fn codex(&self, item: &Value, event: &str) -> Vec<Scene> {
        match (event, text(item, "type")) {
            ("item.completed", "agent_message") => vec![Scene::Said { text: text(item, "text").to_owned() }],
            ("item.completed", "command_execution") => {
                let command = without_shell(text(item, "command"));
                self.call("Bash", command, text(item, "aggregated_output")).into_iter().collect()
            }
            ("item.completed", "file_change") => {
                let changes = item["changes"].as_array().into_iter().flatten();
                changes.filter_map(|change| self.call("Write", text(change, "path"), "")).collect()
            }
            _ => Vec::new(),
        }
    }

    fn call(&self, tool: &str, target: &str, output: &str) -> Option<Scene> {
        match tool {
            "Bash" => Some(Scene::Ran { command: target.to_owned(), output: output.trim().to_owned() }),
            "Write" => {
                let file = self.repository.join(target);
                let path = file.strip_prefix(&self.repository).unwrap_or(&file).display().to_string();
                let lines = fs::read_to_string(&file).map_or(0, |content| content.lines().count());
                Some(Scene::Wrote { path, lines })
            }
            _ => None,
        }
    }
}

/// Codex names the shell it runs a command in: `/bin/bash -lc 'steadfast task done 1'`.
fn without_shell(command: &str) -> &str {
    let inner = command.split_once(" -lc ").or_else(|| command.split_once(" -c ")).map_or(command, |(_, inner)| inner);
    inner.trim_matches(['\'', '"'])
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_simulated_agent_has_its_own_time() {
        let time = |host, line: &str| {
            let (at, scenes) = Stream::new(host, Path::new("/repo")).read(line, Millis(9));
            assert!(matches!(&scenes[..], [Scene::Said { text }] if text == "Done."), "{line}");
            at
        };
        assert_eq!(time(Host::Sim, r#"{"moment":"said","text":"Done.","at":4}"#), Millis(4));
        let line = r#"{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}"#;
        assert_eq!(time(Host::Codex, line), Millis(9));
    }
}
