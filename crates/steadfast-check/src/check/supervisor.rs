use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, setsid, waitid};
use steadfast_model::CheckEnd;

use super::process_tree::{ProcessTree, beneath, describe, leads_session};
use super::report::{CheckReport, CheckRun, LeftBehind};
use super::shell::{Started, start};
use crate::process::pid;
use crate::tail::OutputTail;

/// The interval for checking whether the check ended or must stop, while its output is silent.
const TICK: Duration = Duration::from_millis(50);
/// The time that a check's remaining processes get to end by themselves.
const SETTLE: Duration = Duration::from_millis(500);
/// The time between `TERM` and `KILL`.
const GRACE: Duration = Duration::from_secs(2);
/// The time to wait after `KILL`. Only the kernel can hold a process longer.
const KILLED: Duration = Duration::from_secs(2);

/// A process that only runs checks. It leads a session without a terminal, and inherits the processes that a check
/// leaves behind.
///
/// Every process that appears below it during a check belongs to the check, so it must start none itself meanwhile. If
/// a signal ends it, `KILL` included, a watcher ends the check within two seconds.
#[derive(Debug)]
pub struct Supervisor {
    within: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum NoSupervisor {
    #[error("this process cannot leave its terminal, because it leads a group: start it without a group of its own")]
    LeadsGroup,
    #[error("this process cannot inherit what a check leaves behind: {0}")]
    NotInherited(std::io::Error),
}

impl Supervisor {
    /// Turns this process into a supervisor. Call it once, before the first child.
    pub fn begin() -> Result<Self, NoSupervisor> {
        if setsid().is_err() && !leads_session() {
            return Err(NoSupervisor::LeadsGroup);
        }
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(getpid()))
            .map_err(|error| NoSupervisor::NotInherited(error.into()))?;
        Ok(Self { within: Vec::new() })
    }

    /// Makes a program such as a sandbox start the checks: its words come before `/bin/sh -c …`.
    pub fn within(mut self, words: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.within = words.into_iter().map(Into::into).collect();
        self
    }

    /// Runs a check to its end, and returns within its limit plus five seconds. When `stop` becomes true, the check
    /// ends as it does at its limit.
    pub fn run(&mut self, run: &CheckRun, stop: &AtomicBool) -> CheckReport {
        if !run.directory.is_dir() {
            return CheckReport::not_started(format!("`{}` is not a folder", run.directory.display()));
        }
        let began = Instant::now();
        let before = beneath();
        match start(run, &self.within) {
            Ok(started) => Running::of(started, before, run, began).finish(stop),
            Err(error) => CheckReport::not_started(format!("cannot start `/bin/sh`: {error}")),
        }
    }
}

enum Cause {
    Itself,
    Limit,
    Told,
}

struct Running {
    started: Started,
    leader: Pid,
    processes: ProcessTree,
    tail: OutputTail,
    /// Every writer has closed the pipe.
    silent: bool,
    buffer: Vec<u8>,
    pause: Duration,
    began: Instant,
    limit: Duration,
}

impl Running {
    fn of(started: Started, before: BTreeSet<u32>, run: &CheckRun, began: Instant) -> Self {
        let leader = pid(started.child.id());
        Self {
            processes: ProcessTree::of(leader, pid(started.watcher.id()), before),
            leader,
            started,
            tail: OutputTail::of(run.tail),
            silent: false,
            buffer: vec![0; 64 << 10],
            pause: Duration::from_micros(100),
            began,
            limit: run.limit,
        }
    }

    fn finish(mut self, stop: &AtomicBool) -> CheckReport {
        let cause = self.watch(stop);
        let seconds = self.began.elapsed().as_secs_f64();
        let mut left = Vec::new();
        match cause {
            Cause::Itself => {
                self.read_until(SETTLE, |running| running.silent && running.processes.alive().is_empty());
                left.extend(self.processes.alive().into_iter().map(describe));
                if left.is_empty() && !self.silent {
                    // Without `/proc`, only the open pipe shows that something still runs.
                    left.push(LeftBehind {
                        pid: self.leader.as_raw_pid(),
                        command: "something that holds its output open".to_owned(),
                        ended: false,
                    });
                }
                if !left.is_empty() {
                    self.end();
                }
            }
            Cause::Limit | Cause::Told => self.end(),
        }
        self.processes.signal(Signal::KILL);
        // Reads the rest of the output from the pipe.
        self.read_until(Duration::from_millis(100), |running| running.silent || !running.readable(Duration::ZERO));
        let alive = self.processes.alive();
        if !matches!(cause, Cause::Itself) {
            // These processes survived `KILL`.
            left.extend(alive.iter().map(|pid| describe(*pid)));
        }
        for entry in &mut left {
            entry.ended = !alive.iter().any(|pid| pid.as_raw_pid() == entry.pid);
        }
        drop(self.started.watcher);
        let status = self.started.child.try_wait().ok().flatten();
        let end = match cause {
            Cause::Itself => status.map_or(CheckEnd::Lost, end_of),
            Cause::Limit => CheckEnd::TimedOut,
            Cause::Told => CheckEnd::Lost,
        };
        let note = note(&cause, self.limit, &left);
        let (output_tail, output_bytes) = self.tail.finish();
        CheckReport { end, seconds, output_tail, output_bytes, left_behind: left, note }
    }

    fn watch(&mut self, stop: &AtomicBool) -> Cause {
        loop {
            if self.exited() {
                return Cause::Itself;
            }
            if stop.load(Ordering::Relaxed) {
                return Cause::Told;
            }
            let Some(left) = self.limit.checked_sub(self.began.elapsed()).filter(|left| !left.is_zero()) else {
                return Cause::Limit;
            };
            self.read(left.min(TICK));
        }
    }

    /// Asks all processes to end, waits, and then kills them.
    fn end(&mut self) {
        self.processes.signal(Signal::TERM);
        // A stopped process cannot handle a signal.
        self.processes.signal(Signal::CONT);
        let gone = |running: &mut Self| running.exited() && running.processes.alive().is_empty();
        if !self.read_until(GRACE, gone) {
            let until = Instant::now() + KILLED;
            // A process that forks during the search is found in the next round.
            while Instant::now() < until && !gone(self) {
                self.processes.signal(Signal::KILL);
                self.read_until(Duration::from_millis(20), gone);
            }
        }
    }

    /// Reads until `holds` is true or the time is up. Returns whether it is true.
    fn read_until(&mut self, time: Duration, holds: impl Fn(&mut Self) -> bool) -> bool {
        let until = Instant::now() + time;
        self.pause = Duration::from_micros(500);
        while !holds(self) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.read(left.min(Duration::from_millis(10)));
        }
        true
    }

    /// Reads the available output; waits if there is none.
    fn read(&mut self, wait: Duration) {
        if self.silent {
            // The check is about to end, or it closed its output and keeps running.
            thread::sleep(self.pause.min(wait));
            self.pause = (self.pause * 2).min(TICK);
            return;
        }
        if !self.readable(wait) {
            return;
        }
        match self.started.output.read(&mut self.buffer) {
            Ok(0) => self.silent = true,
            Ok(read) => self.tail.push(&self.buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.silent = true,
        }
    }

    fn readable(&self, wait: Duration) -> bool {
        let mut pipe = [PollFd::new(&self.started.output, PollFlags::IN)];
        let wait = Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(1), tv_nsec: wait.subsec_nanos().into() };
        poll(&mut pipe, Some(&wait)).is_ok_and(|ready| ready > 0)
    }

    /// Does not reap the process, so that its number stays reserved until the end.
    fn exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.leader), look), Ok(None))
    }
}

fn note(cause: &Cause, limit: Duration, left: &[LeftBehind]) -> Option<String> {
    let mut parts = Vec::new();
    match cause {
        Cause::Itself => {}
        Cause::Limit => parts.push(format!("ended at its time limit of {} s", limit.as_secs_f64())),
        Cause::Told => parts.push("its supervisor was stopped".to_owned()),
    }
    if let Some(first) = left.first() {
        let others = match left.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let what = if left.iter().all(|entry| entry.ended) { "ended" } else { "not all could be ended" };
        parts.push(format!("left `{}`{others} running: {what}", first.command));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn end_of(status: ExitStatus) -> CheckEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CheckEnd::Exited(code),
        (None, Some(signal)) => CheckEnd::Signalled(signal),
        (None, None) => CheckEnd::Lost,
    }
}
