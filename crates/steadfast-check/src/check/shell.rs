//! The door through which checks are started.

use std::io::{self, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use steadfast_system::program;

use super::report::CheckRun;
use crate::watcher::{LEADS_ASTRAY, SHELL, WHEN_TOLD, Watcher, unlike_any};

/// By this variable a process of a check is known when nothing else connects it with the check any more.
const RUN: &str = "STEADFAST_CHECK_RUN";

/// Nobody is there to answer: whoever asks is told so at once.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("TERM", "dumb"),
    ("CI", "true"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) output: PipeReader,
    pub(crate) watcher: Watcher,
}

/// `within` are the words of a program that starts the shell, if there is one.
pub(crate) fn start(run: &CheckRun, within: &[String]) -> io::Result<Started> {
    let mark = format!("{RUN}={}", unlike_any());
    let mut watcher = Watcher::start(&mark)?;
    let (output, writer) = io::pipe()?;
    let mut child = {
        let mut command = program(SHELL);
        let (name, value) = mark.split_once('=').unwrap_or((RUN, &mark));
        command
            .args(WHEN_TOLD)
            .args(within)
            .args([SHELL, "-c", &run.command])
            .current_dir(&run.directory)
            .envs(ENVIRONMENT)
            .env("PWD", &run.directory)
            .env("STEADFAST_CHECK", &run.task)
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        for name in LEADS_ASTRAY {
            command.env_remove(name);
        }
        command.envs(run.environment.iter().map(|(name, value)| (name, value)));
        // The command holds the writing end until it is dropped.
        command.spawn()?
    };
    // A check that is not told to begin ends by itself.
    watcher.guard(child.id())?;
    if let Some(mut begin) = child.stdin.take() {
        begin.write_all(b"\n")?;
    }
    Ok(Started { child, output, watcher })
}
