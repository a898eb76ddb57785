//! Runs the git command line.
//!
//! No call changes the user's git: no optional lock, no hook, no pager, no prompt, no fetch. Git itself finds the
//! repository from the folder it runs in, so that it can refuse a repository of another user (`safe.directory`).
//! Environment variables of the caller that point to another repository are cleared.

pub(crate) mod branch;
pub(crate) mod command;
pub(crate) mod object_id;
pub(crate) mod path;
pub(crate) mod private_index;
mod private_objects;
pub(crate) mod raw_diff;
pub(crate) mod status;
pub(crate) mod tree_content;

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use steadfast_system::program;

use crate::deadline::Deadline;
use crate::error::ObserveError;
use crate::process::{Ended, start};

/// The oldest git that has all the options used here (`add --sparse`).
pub(crate) const MINIMUM: Version = Version { major: 2, minor: 34 };

/// The list of `git rev-parse --local-env-vars`, plus variables that change the meaning of a path. Settings in
/// `GIT_CONFIG_*` stay, because containers use them to set `safe.directory`.
const CLEARED: [&str; 21] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIFF_OPTS",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// `git version 2.39.5 (Apple Git-154)`
    fn read(output: &str) -> Option<(Self, &str)> {
        let found = output.strip_prefix("git version ")?.split_whitespace().next()?;
        let mut numbers = found.split('.').map(|number| number.parse().ok());
        Some((Self { major: numbers.next()??, minor: numbers.next()?? }, found))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[derive(Debug)]
pub(crate) struct Git {
    command: Command,
    name: &'static str,
    input: Vec<u8>,
    dir: std::path::PathBuf,
}

impl Git {
    pub(crate) fn at(dir: &Path) -> Self {
        let mut command = program("git");
        for name in CLEARED {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // `-C` and not `current_dir`: with the latter the standard library forks, which copies the page tables of
            // the calling process; the runner's are large.
            .arg("-C")
            .arg(dir)
            // As an option too: a git that does not know it fails instead of taking the lock.
            .args(["--no-optional-locks", "--no-pager", "-c", "core.hooksPath=/dev/null"]);
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self { command, name: "", input: Vec::new(), dir: dir.to_owned() }
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Applies a setting to this call only.
    pub(crate) fn setting(mut self, setting: &str) -> Self {
        self.command.args(["-c", setting]);
        self
    }

    pub(crate) fn call(mut self, name: &'static str) -> Self {
        self.name = name;
        self.command.arg(name);
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self.command.stdin(Stdio::piped());
        self
    }

    /// Lets git hold this file open while it runs.
    pub(crate) fn holding(mut self, file: File) -> Self {
        self.command.stdin(file);
        self
    }

    /// Returns git's output if it succeeds.
    pub(crate) fn answer(self, deadline: Deadline) -> Result<Vec<u8>, ObserveError> {
        self.answer_with(&[0], deadline)
    }

    /// Returns git's output if it exits with one of these codes.
    pub(crate) fn answer_with(self, accepted: &[i32], deadline: Deadline) -> Result<Vec<u8>, ObserveError> {
        self.outcome(accepted, deadline).map(|(_, output)| output)
    }

    /// Like [`Git::answer_with`], and returns the exit code too.
    pub(crate) fn outcome(self, accepted: &[i32], deadline: Deadline) -> Result<(i32, Vec<u8>), ObserveError> {
        let (dir, name) = (self.dir.clone(), self.name);
        let mut ended = self.run(deadline)?;
        if let Some(code) = ended.status.code().filter(|code| accepted.contains(code)) {
            return Ok((code, ended.stdout));
        }
        // If the folder is gone, report that instead.
        std::fs::metadata(dir.join(".")).map_err(ObserveError::file(&dir))?;
        check_version(&dir, deadline)?;
        let stderr = ended.stderr_text();
        let line = stderr.lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
        let message = line.or_else(|| stderr.lines().next()).map_or_else(|| ended.status.to_string(), str::to_owned);
        Err(ObserveError::GitFailed { command: name.to_owned(), message })
    }

    fn run(self, deadline: Deadline) -> Result<Ended, ObserveError> {
        let Self { command, input, dir, .. } = self;
        let running = match start(command, deadline)? {
            Ok(running) => running,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ObserveError::GitMissing),
            Err(source) => return Err(ObserveError::File { path: dir, source }),
        };
        running.finish(input, deadline)
    }
}

/// Reports an old git. The version costs a process of its own, so it is read only after a call failed; an old git fails
/// because of the options used here.
fn check_version(dir: &Path, deadline: Deadline) -> Result<(), ObserveError> {
    let mut version_call = Git::at(dir);
    version_call.command = program("git");
    version_call.command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(ended) = version_call.run(deadline) else { return Ok(()) };
    match Version::read(&String::from_utf8_lossy(&ended.stdout)) {
        Some((version, found)) if version < MINIMUM => Err(ObserveError::GitTooOld { found: found.to_owned() }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_with_whatever_a_vendor_adds() {
        let read = |output| Version::read(output).map(|(version, found)| (version >= MINIMUM, found));
        assert_eq!(
            ["git version 2.39.5 (Apple Git-154)\n", "git version 2.9.windows.1", "git version 3.0.rc1", "hello"]
                .map(read),
            [Some((true, "2.39.5")), Some((false, "2.9.windows.1")), Some((true, "3.0.rc1")), None]
        );
    }
}
