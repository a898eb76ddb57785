//! Starts checks. No other module does.

use std::io::{self, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use steadfast_system::program;

use super::report::CheckRun;
use crate::watcher::{LEADS_ASTRAY, SHELL, WHEN_TOLD, Watcher, unique_value};

/// Marks the processes of a check, even those without any other link to it.
const RUN: &str = "STEADFAST_CHECK_RUN";

/// No human is present, so programs that ask get an answer or an error at once.
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

/// `within`: the words of a program that starts the shell, such as a sandbox.
pub(crate) fn start(run: &CheckRun, within: &[String]) -> io::Result<Started> {
    let mark = format!("{RUN}={}", unique_value());
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
        // The command holds the pipe's writing end until it is dropped.
        command.spawn()?
    };
    // Without the go-ahead below, the shell ends by itself.
    watcher.guard(child.id())?;
    if let Some(mut begin) = child.stdin.take() {
        begin.write_all(b"\n")?;
    }
    Ok(Started { child, output, watcher })
}
