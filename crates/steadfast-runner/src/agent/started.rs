//! Starts agents. No other module does.

#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::io::{self, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use steadfast_check::process::pid;
use steadfast_check::watcher::{IN_A_FOLDER_WHEN_TOLD, LEADS_ASTRAY, SHELL, Watcher, unique_value};
use steadfast_hosts::launch::Launch;

use super::processes::AgentProcesses;
use super::{Assignment, MARK, Process};

/// Marks the processes of one agent, so that they differ from those of all others, and from those of a resumed run
/// whose old watcher is still alive.
const AGENT: &str = "STEADFAST_RUN_AGENT";

#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
    pub(super) process: Process,
    pub(super) group: AgentProcesses,
    pub(super) watcher: Watcher,
    /// Readable when the agent has ended. `None` if the kernel lacks `pidfd_open`.
    pub(super) end: Option<OwnedFd>,
    /// The folder with Codex's sessions.
    pub(super) codex_home: Option<PathBuf>,
}

impl Started {
    pub(super) fn begin(assignment: &Assignment) -> io::Result<Self> {
        let before = AgentProcesses::before();
        let own = unique_value();
        let variable = format!("{AGENT}={own}");
        let mut watcher = Watcher::start(&variable)?;
        let (stdout, out) = io::pipe()?;
        let (stderr, err) = io::pipe()?;
        let mut child = command(assignment, &own).stdout(out).stderr(err).spawn()?;
        // Without the go-ahead below, the shell ends by itself.
        watcher.guard(child.id())?;
        let leader = pid(child.id());
        let process = Process {
            pid: child.id(),
            started: steadfast_system::ProcessEntry::of(child.id()).map_or(0, |found| found.started),
        };
        let end = pidfd(leader);
        if let Some(mut begin) = child.stdin.take() {
            begin.write_all(b"\n")?;
        }
        let group = AgentProcesses::of(leader, variable, before);
        let codex_home = codex_home(&assignment.launch);
        Ok(Self { child, stdout, stderr, process, group, watcher, end, codex_home })
    }
}

fn command(assignment: &Assignment, own: &str) -> Command {
    let Assignment { launch, directory, mark, .. } = assignment;
    let mut command = Command::new(SHELL);
    if launch.clear_env {
        command.env_clear();
    }
    for name in LEADS_ASTRAY {
        command.env_remove(name);
    }
    command
        .args(IN_A_FOLDER_WHEN_TOLD)
        .arg(directory)
        .arg(&launch.program)
        .args(&launch.args)
        .env("PWD", directory)
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .env(MARK, mark)
        .env(AGENT, own)
        .stdin(Stdio::piped())
        .process_group(0);
    command
}

/// Reads the agent's variables: its own, then the inherited ones.
fn codex_home(launch: &Launch) -> Option<PathBuf> {
    let variable = |name: &str| {
        let own = launch.env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        own.or_else(|| std::env::var_os(name).filter(|_| !launch.clear_env)).filter(|value| !value.is_empty())
    };
    variable("CODEX_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(variable("HOME")?).join(".codex")))
}

#[cfg(target_os = "linux")]
fn pidfd(leader: rustix::process::Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(leader, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn pidfd(_leader: rustix::process::Pid) -> Option<OwnedFd> {
    None
}
