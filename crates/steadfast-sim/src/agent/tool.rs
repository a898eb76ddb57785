//! The tools of the simulated agent. They have real effects, and their results have the format of Claude Code's tools.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::call::Call;
use super::process::{self, Running};
use super::workplace::Workplace;

/// The result of a call.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The structured result for the hook, and the text for the model.
    Done {
        response: Value,
        text: String,
    },
    Failed {
        error: String,
    },
}

#[derive(Debug)]
pub(super) struct Tools {
    pub(super) workplace: Workplace,
    pub(super) env: BTreeMap<String, String>,
    pub(super) shell_limit: Duration,
}

impl Tools {
    /// Returns an error in the call that the host itself reports, before any hook runs.
    pub(super) fn objection(&self, call: &Call) -> Option<String> {
        let text = |field: &str| call.input[field].as_str();
        match call.name.as_str() {
            "Bash" if text("command").is_none() => Some("command is missing".to_owned()),
            "Bash" => None,
            "Write" | "Read" | "Edit" => {
                let Some(path) = text("file_path") else {
                    return Some("file_path is missing".to_owned());
                };
                match self.workplace.resolve(path) {
                    Err(problem) => Some(problem),
                    Ok(path) if call.name == "Edit" => {
                        let old = text("old_string").unwrap_or_default();
                        match fs::read_to_string(&path) {
                            Ok(content) if content.contains(old) => None,
                            Ok(_) => Some(format!("String to replace not found in file.\nString: {old}")),
                            Err(_) => Some("File does not exist.".to_owned()),
                        }
                    }
                    Ok(path) if call.name == "Read" && !path.is_file() => Some("File does not exist.".to_owned()),
                    Ok(_) => None,
                }
            }
            name => Some(format!("Error: No such tool available: {name}")),
        }
    }

    /// Returns the call with an absolute path, as hosts pass it to hooks.
    pub(super) fn absolute(&self, mut call: Call) -> Call {
        if let Some(path) = call.input["file_path"].as_str() {
            let absolute = self.workplace.absolute(path).display().to_string();
            call.input["file_path"] = json!(absolute);
        }
        call
    }

    pub(super) fn run(&self, call: &Call) -> Outcome {
        let field = |name: &str| call.input[name].as_str().unwrap_or_default();
        let done = match call.name.as_str() {
            "Bash" => return self.shell(field("command")),
            "Write" => self.write(field("file_path"), field("content")),
            "Edit" => self.edit(field("file_path"), field("old_string"), field("new_string")),
            "Read" => self.read(field("file_path")),
            name => Err(format!("no such tool: {name}")),
        };
        match done {
            Ok((response, text)) => Outcome::Done { response, text },
            Err(error) => Outcome::Failed { error },
        }
    }

    /// Starts a shell command in the background.
    pub(super) fn start_shell(&self, command: &str) -> std::io::Result<Running> {
        Running::start(self.shell_command(command), Vec::new())
    }

    fn shell_command(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.workplace.root()).envs(&self.env);
        command
    }

    fn shell(&self, script: &str) -> Outcome {
        let finished = match process::run(self.shell_command(script), Vec::new(), self.shell_limit) {
            Ok(finished) => finished,
            Err(problem) => {
                return Outcome::Failed { error: problem.to_string() };
            }
        };
        let stdout = finished.stdout.trim_end().to_owned();
        let stderr = finished.stderr.trim_end().to_owned();
        let text = [stdout.as_str(), stderr.as_str()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n");
        let failure = match finished.status {
            Some(status) if status.success() => {
                return Outcome::Done {
                    response: json!({
                        "stdout": stdout, "stderr": stderr, "interrupted": false,
                        "isImage": false, "noOutputExpected": false,
                    }),
                    text,
                };
            }
            // `sh` reports a status from 128 on for a command that a signal ended. Here the shell itself ended.
            Some(status) => format!("Exit code {}", status.code().unwrap_or(137)),
            None => format!("Command timed out after {} s", self.shell_limit.as_secs_f32()),
        };
        Outcome::Failed { error: if text.is_empty() { failure } else { format!("{failure}\n{text}") } }
    }

    fn write(&self, path: &str, content: &str) -> Result<(Value, String), String> {
        let path = self.workplace.resolve(path)?;
        let before = fs::read_to_string(&path).ok();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|problem| problem.to_string())?;
        }
        fs::write(&path, content).map_err(|problem| problem.to_string())?;
        let (kind, text) = match before {
            Some(_) => ("update", "has been updated successfully."),
            None => ("create", "was created."),
        };
        let response = json!({
            "type": kind, "filePath": path, "content": content,
            "structuredPatch": [], "originalFile": before, "userModified": false,
        });
        Ok((response, format!("The file {} {text}", path.display())))
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> Result<(Value, String), String> {
        let path = self.workplace.resolve(path)?;
        let before = fs::read_to_string(&path).map_err(|problem| problem.to_string())?;
        fs::write(&path, before.replacen(old, new, 1)).map_err(|problem| problem.to_string())?;
        let response = json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": before,
            "structuredPatch": [], "userModified": false, "replaceAll": false,
        });
        let text = format!("The file {} has been updated successfully.", path.display());
        Ok((response, text))
    }

    fn read(&self, path: &str) -> Result<(Value, String), String> {
        let path = self.workplace.resolve(path)?;
        let content = fs::read_to_string(&path).map_err(|problem| problem.to_string())?;
        // Claude Code also counts the empty line after the last newline.
        let lines = content.split('\n').count();
        let response = json!({"type": "text", "file": {
            "filePath": path, "content": content,
            "numLines": lines, "startLine": 1, "totalLines": lines,
        }});
        let text = content
            .split('\n')
            .enumerate()
            .map(|(index, line)| format!("{}\t{line}", index + 1))
            .collect::<Vec<_>>()
            .join("\n");
        Ok((response, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Action;

    fn tools() -> (tempfile::TempDir, Tools) {
        let folder = tempfile::tempdir().unwrap();
        let tools = Tools {
            workplace: Workplace::new(folder.path()).unwrap(),
            env: BTreeMap::from([("WHO".to_owned(), "sim".to_owned())]),
            shell_limit: steadfast_testkit::PATIENCE,
        };
        (folder, tools)
    }

    fn run(tools: &Tools, action: &Action) -> Result<String, String> {
        match tools.run(&Call::of(action).unwrap()) {
            Outcome::Done { text, .. } => Ok(text),
            Outcome::Failed { error } => Err(error),
        }
    }

    #[test]
    fn the_shell_runs_in_the_folder_with_the_environment() {
        let (_folder, tools) = tools();
        let output = run(&tools, &Action::shell("pwd; echo $WHO")).unwrap();
        assert_eq!(output, format!("{}\nsim", tools.workplace.root().display()));
    }

    #[test]
    fn a_failing_command_says_its_exit_code_first() {
        let (_folder, tools) = tools();
        assert_eq!(run(&tools, &Action::shell("exit 3")), Err("Exit code 3".to_owned()));
        assert_eq!(run(&tools, &Action::shell("echo why; exit 1")), Err("Exit code 1\nwhy".to_owned()));
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let (_folder, mut tools) = tools();
        tools.shell_limit = Duration::from_millis(500);
        assert_eq!(run(&tools, &Action::shell("sleep 600")), Err("Command timed out after 0.5 s".to_owned()));
    }

    #[test]
    fn what_is_written_is_edited_and_read() {
        let (folder, tools) = tools();
        run(&tools, &Action::write("deep/a.txt", "one\ntwo\n")).unwrap();
        run(&tools, &Action::edit("deep/a.txt", "two", "three")).unwrap();
        assert_eq!(run(&tools, &Action::read("deep/a.txt")).unwrap(), "1\tone\n2\tthree\n3\t");
        let on_disk = fs::read_to_string(folder.path().join("deep/a.txt")).unwrap();
        assert_eq!(on_disk, "one\nthree\n");
    }

    #[test]
    fn calls_the_host_answers_itself_are_found_before_any_hook() {
        let (folder, tools) = tools();
        fs::write(folder.path().join("a.txt"), "one\n").unwrap();
        let objection = |action: &Action| tools.objection(&Call::of(action).unwrap());
        assert_eq!(objection(&Action::edit("a.txt", "one", "two")), None);
        assert_eq!(
            objection(&Action::edit("a.txt", "no such", "x")).unwrap(),
            "String to replace not found in file.\nString: no such"
        );
        assert_eq!(
            objection(&Action::tool("TaskCreate", json!({}))).unwrap(),
            "Error: No such tool available: TaskCreate"
        );
        assert_eq!(objection(&Action::read("missing")).unwrap(), "File does not exist.");
        assert!(objection(&Action::write("../x", "")).is_some());
    }
}
