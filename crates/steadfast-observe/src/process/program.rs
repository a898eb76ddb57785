use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use steadfast_system::program;

use super::start;
use crate::deadline::Deadline;
use crate::error::ObserveError;

/// Runs an external program once. It gets no input, and is killed at the deadline with all the processes it started.
#[derive(Debug)]
pub struct Program {
    command: Command,
    name: String,
    /// The command line as messages show it.
    call: String,
    /// The working directory; `None`: that of this process.
    dir: Option<PathBuf>,
}

/// The error of a failed [`Program`].
#[derive(Debug, thiserror::Error)]
pub enum ProgramFailed {
    #[error("`{0}` is not on the PATH")]
    Missing(String),
    #[error("`{call}` gave no answer within {} ms", budget.as_millis())]
    Late { call: String, budget: Duration },
    #[error("`{call}` failed: {said}")]
    Failed { call: String, said: String },
    #[error("`{call}`: {why}")]
    Unwatched { call: String, why: String },
}

impl Program {
    /// A program from the PATH, run in a folder.
    pub fn at(dir: &Path, name: &str) -> Self {
        let mut called = Self::anywhere(name);
        called.command.current_dir(dir);
        Self { dir: Some(dir.to_owned()), ..called }
    }

    /// A program for which the working directory does not matter. It starts faster: setting a folder makes the standard
    /// library fork, and copying a large process with many threads takes longer than many programs run.
    pub fn anywhere(name: &str) -> Self {
        let mut command = program(name);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self { command, name: name.to_owned(), call: name.to_owned(), dir: None }
    }

    /// Adds arguments that messages repeat.
    #[must_use]
    pub fn call<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        for word in words {
            self.call.push(' ');
            self.call.push_str(word);
            self.command.arg(word);
        }
        self
    }

    /// Adds arguments that messages leave out.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Returns its output if it succeeds.
    pub fn answer(self, budget: Duration) -> Result<Vec<u8>, ProgramFailed> {
        let deadline = Deadline::after(budget);
        let Self { command, name, call, dir } = self;
        let failed = |error: ObserveError| match error {
            ObserveError::OverBudget(budget) => ProgramFailed::Late { call: call.clone(), budget },
            error => ProgramFailed::Unwatched { call: call.clone(), why: error.to_string() },
        };
        let running = match start(command, deadline).map_err(failed)? {
            Ok(running) => running,
            // A missing working directory gives the same error.
            Err(error) if error.kind() == io::ErrorKind::NotFound && dir.is_none_or(|dir| dir.is_dir()) => {
                return Err(ProgramFailed::Missing(name));
            }
            Err(error) => return Err(ProgramFailed::Unwatched { call, why: error.to_string() }),
        };
        let mut ended = running.finish(Vec::new(), deadline).map_err(failed)?;
        if ended.status.success() {
            return Ok(ended.stdout);
        }
        let said = [ended.stderr_text(), String::from_utf8_lossy(&ended.stdout).into_owned()];
        let said = said.iter().find_map(|said| error_line(said)).unwrap_or_else(|| ended.status.to_string());
        Err(ProgramFailed::Failed { call, said })
    }
}

/// Returns the most telling line of a program's output: the `message` of a JSON object, else a line with "error", else
/// the first line.
fn error_line(output: &str) -> Option<String> {
    const SHOWN: usize = 200;
    let mut lines = output.lines().map(str::trim).filter(|line| line.len() > 1);
    let first = lines.clone().next()?;
    let message = lines.clone().find_map(|line| line.strip_prefix("\"message\":"));
    let message = message.map(|text| text.trim_matches([' ', ',', '"']));
    let error = || lines.find(|line| line.to_ascii_lowercase().contains("error"));
    let line = message.or_else(error).unwrap_or(first);
    Some(line.chars().take(SHOWN).collect())
}

#[cfg(test)]
mod tests {
    use steadfast_testkit::PATIENCE;

    use super::*;

    fn sh(script: &str) -> Result<String, String> {
        sh_within(PATIENCE, script)
    }

    fn sh_within(budget: Duration, script: &str) -> Result<String, String> {
        let asked = Program::at(Path::new("/"), "sh").call(["-c"]).args([script]);
        let said = asked.answer(budget);
        said.map(|said| String::from_utf8(said).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_answers_or_says_why_not() {
        assert_eq!(sh("echo '[]'"), Ok("[]\n".to_owned()));
        assert_eq!(
            sh("echo hm >&2; echo 'Error: locked' >&2; exit 1"),
            Err("`sh -c` failed: Error: locked".to_owned())
        );
        assert_eq!(sh("echo '{\"error\":\"x\"}'; exit 3"), Err("`sh -c` failed: {\"error\":\"x\"}".to_owned()));
        let object =
            "echo '{'; echo '  \"error\": {'; echo '    \"message\": \"Database is locked: x\",'; echo '}}'; exit 2";
        assert_eq!(sh(object), Err("`sh -c` failed: Database is locked: x".to_owned()));
        assert_eq!(sh("exit 3"), Err("`sh -c` failed: exit status: 3".to_owned()));
        let missing = Program::at(Path::new("/"), "no-such-program").answer(PATIENCE).unwrap_err();
        assert_eq!(missing.to_string(), "`no-such-program` is not on the PATH");
    }

    #[test]
    fn whoever_hangs_is_ended_with_what_it_started() {
        let began = std::time::Instant::now();
        let none = Err("`sh -c` gave no answer within 300 ms".to_owned());
        assert_eq!(sh_within(Duration::from_millis(300), "sleep 600 & sleep 600"), none);
        // It leaves, and what it left behind holds the pipe.
        assert_eq!(sh_within(Duration::from_millis(300), "sleep 600 & echo '[]'"), none);
        assert!(began.elapsed() < PATIENCE, "it waited for the end");
    }
}
