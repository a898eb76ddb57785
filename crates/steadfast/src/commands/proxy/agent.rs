//! An agent in our terminal, as if the user's shell had started it.

use std::io;

use rustix::process::{Pid, Signal, WaitOptions, getpgrp, kill_process, waitpid};
use rustix::termios::{isatty, tcgetpgrp};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use steadfast_hosts::launch::Launch;

use crate::error::CommandError;

/// Starts the agent, passes signals on to it, and returns its exit code when it has ended.
pub(super) fn run(launch: &Launch) -> Result<u8, CommandError> {
    let failed = |error: io::Error| {
        CommandError::failure(format!("cannot start `{}`: {error}", launch.program.display()))
            .hint("check the name of the agent after `--`")
    };
    // Before the start, so that no signal ends this process and leaves the agent.
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2]).map_err(failed)?;
    let mut command = steadfast_system::program(&launch.program);
    let child = command.args(&launch.args).envs(launch.env.iter().map(|(name, value)| (name, value))).spawn();
    let pid = Pid::from_child(&child.map_err(failed)?);
    let passing = signals.handle();
    let thread = std::thread::spawn(move || {
        for signal in signals.forever() {
            pass_on(pid, signal);
        }
    });
    let ended = wait(pid);
    passing.close();
    drop(thread.join());
    ended.map_err(|error| failed(error.into()))
}

/// The signals that end a proxy without an agent.
pub(super) fn ending_signals() -> Result<Signals, CommandError> {
    Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|error| CommandError::failure(format!("cannot register signal handlers: {error}")).hint("try again"))
}

fn pass_on(agent: Pid, signal: i32) {
    // A terminal sends Ctrl-C and Ctrl-\ to the agent, too. Two of them end some agents.
    if matches!(signal, SIGINT | SIGQUIT) && is_in_foreground() {
        return;
    }
    if let Some(signal) = Signal::from_named_raw(signal) {
        // An agent that has ended needs no signal.
        let _ = kill_process(agent, signal);
    }
}

/// Returns whether this process and its agent have the terminal.
fn is_in_foreground() -> bool {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let group = [tcgetpgrp(&stdin), tcgetpgrp(&stdout), tcgetpgrp(&stderr)];
    let is_terminal = isatty(&stdin) || isatty(&stdout) || isatty(&stderr);
    is_terminal && group.into_iter().flatten().any(|group| group == getpgrp())
}

fn wait(agent: Pid) -> rustix::io::Result<u8> {
    loop {
        let status = match waitpid(Some(agent), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) => status,
            Ok(None) | Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error),
        };
        if status.stopped() {
            // The shell waits for this process: it stops with its agent, and continues with it.
            let _ = kill_process(rustix::process::getpid(), Signal::STOP);
            let _ = kill_process(agent, Signal::CONT);
        } else if let Some(code) = status.exit_status() {
            return Ok(u8::try_from(code).unwrap_or(u8::MAX));
        } else if let Some(signal) = status.terminating_signal() {
            // As shells report it.
            return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX));
        }
    }
}
