use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};
use steadfast_check::process::pid;
use steadfast_check::tail::OutputTail;

use super::account::Account;
use super::lines::Lines;
use super::log::Log;
use super::started::Started;
use super::{AgentUpdate, Assignment, Departed, Departure};

/// The interval for checking `stop`: nothing else wakes the runner while the agent is silent.
const TICK: Duration = Duration::from_millis(250);
/// The interval where the kernel cannot report the end of a process.
const SHORT_TICK: Duration = Duration::from_millis(20);
/// The longest silence after the final message. A host waits here for its agent's background tasks.
const FAREWELL: Duration = Duration::from_secs(60);
/// The time between `TERM` and `KILL`.
const GRACE: Duration = Duration::from_secs(5);
/// The time to wait after `KILL`. Only the kernel can hold a process longer.
const KILLED: Duration = Duration::from_secs(2);
/// The most bytes of stderr that are kept.
const KEPT: usize = 8 << 10;

/// Runs the agent, and blocks until it and everything it started are gone. `stop` ends it.
pub fn attend(assignment: &Assignment, stop: &AtomicBool, on_update: &mut dyn FnMut(AgentUpdate)) -> Departure {
    if !assignment.directory.is_dir() {
        return Departure::not_started(format!("`{}` is not a folder", assignment.directory.display()));
    }
    match Started::begin(assignment) {
        Ok(started) => {
            on_update(AgentUpdate::Running(started.process));
            Attended::of(assignment, started, on_update).finish(stop)
        }
        Err(error) => {
            Departure::not_started(format!("cannot start `{}`: {error}", assignment.launch.program.display()))
        }
    }
}

enum Cause {
    Itself,
    Silent,
    TimeUp,
    Stopped,
}

struct Attended<'a> {
    assignment: &'a Assignment,
    started: Started,
    /// Stdout, stderr: true until every writer has closed it.
    open: [bool; 2],
    lines: Lines,
    log: Log,
    errors: OutputTail,
    account: Account<'a>,
    began: Instant,
    buffer: Vec<u8>,
}

impl<'a> Attended<'a> {
    fn of(assignment: &'a Assignment, mut started: Started, on_update: &'a mut dyn FnMut(AgentUpdate)) -> Self {
        let codex_home = started.codex_home.take();
        Self {
            started,
            open: [true, true],
            lines: Lines::default(),
            log: Log::open(&assignment.log),
            errors: OutputTail::of(KEPT),
            account: Account::of(assignment, codex_home, on_update),
            began: Instant::now(),
            buffer: vec![0; 32 << 10],
            assignment,
        }
    }

    fn finish(mut self, stop: &AtomicBool) -> Departure {
        let cause = self.watch(stop);
        if !matches!(cause, Cause::Itself) {
            self.end();
        }
        // Reads the rest of the output from the pipes.
        self.read_until(Duration::from_millis(100), |attended| {
            attended.open == [false; 2] || !attended.readable(Duration::ZERO)
        });
        if self.started.group.others().is_empty() {
            self.started.group.sweep();
        } else {
            self.end();
        }
        self.lines.finish(&mut |line| self.account.line(line));
        self.account.read_record();
        drop(self.started.watcher);
        let status = self.started.child.wait().ok();
        let Account { session, spent, said, ended, has_output, .. } = self.account;
        let (errors, _) = self.errors.finish();
        let how = match (cause, ended) {
            (Cause::Stopped, _) => Departed::Stopped,
            (Cause::TimeUp, _) => Departed::TimeUp,
            (Cause::Itself | Cause::Silent, Some(end)) => Departed::Ended(end),
            (Cause::Silent, None) => Departed::Silent,
            (Cause::Itself, None) => died(status, has_output, &errors),
        };
        Departure { how, session, spent, said, errors }
    }

    fn watch(&mut self, stop: &AtomicBool) -> Cause {
        loop {
            if self.exited() {
                return Cause::Itself;
            }
            if stop.load(Ordering::Relaxed) {
                return Cause::Stopped;
            }
            let now = Instant::now();
            let silence = match self.account.ended {
                Some(_) => self.assignment.silence.min(FAREWELL),
                None => self.assignment.silence,
            };
            let left = self.assignment.limit.saturating_sub(now - self.began);
            let patience = (self.account.silent_since + silence).saturating_duration_since(now);
            if left.is_zero() {
                return Cause::TimeUp;
            }
            if patience.is_zero() {
                return Cause::Silent;
            }
            let tick = if self.started.end.is_some() { TICK } else { SHORT_TICK };
            let tick = self.account.pause().map_or(tick, |pause| pause.min(tick));
            self.read(left.min(patience).min(tick));
            self.account.read_record_when_due();
        }
    }

    /// Asks all processes to end, waits, and then kills them.
    fn end(&mut self) {
        self.started.group.signal(Signal::TERM);
        // A stopped process cannot handle a signal.
        self.started.group.signal(Signal::CONT);
        let gone = |attended: &mut Self| attended.exited() && attended.started.group.others().is_empty();
        if !self.read_until(GRACE, gone) {
            let until = Instant::now() + KILLED;
            // A process that forks during the search is found in the next round.
            while Instant::now() < until && !gone(self) {
                self.started.group.signal(Signal::KILL);
                self.read_until(Duration::from_millis(20), gone);
            }
        }
        self.started.group.sweep();
    }

    /// Reads until `holds` is true or the time is up. Returns whether it is true.
    fn read_until(&mut self, time: Duration, holds: impl Fn(&mut Self) -> bool) -> bool {
        let until = Instant::now() + time;
        while !holds(self) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.read(left.min(SHORT_TICK));
        }
        true
    }

    /// Reads the available output; waits if there is none.
    fn read(&mut self, wait: Duration) {
        let ready = self.ready(wait);
        if self.open[0] && ready[0] {
            match self.started.stdout.read(&mut self.buffer) {
                Ok(read @ 1..) => {
                    let bytes = &self.buffer[..read];
                    self.log.write(bytes);
                    self.lines.push(bytes, &mut |line| self.account.line(line));
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.open[0] = false,
            }
        }
        if self.open[1] && ready[1] {
            match self.started.stderr.read(&mut self.buffer) {
                Ok(read @ 1..) => {
                    let bytes = &self.buffer[..read];
                    self.log.write(bytes);
                    self.errors.push(bytes);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.open[1] = false,
            }
        }
    }

    fn readable(&self, wait: Duration) -> bool {
        let [stdout, stderr] = self.ready(wait);
        stdout || stderr
    }

    /// Returns which of stdout and stderr can be read. Returns early when the agent ends.
    fn ready(&self, wait: Duration) -> [bool; 2] {
        let Started { stdout, stderr, end, .. } = &self.started;
        let mut watched = Vec::with_capacity(3);
        for (open, pipe) in self.open.into_iter().zip([stdout, stderr]) {
            if open {
                watched.push(PollFd::new(pipe, PollFlags::IN));
            }
        }
        if let Some(end) = end {
            watched.push(PollFd::new(end, PollFlags::IN));
        }
        let wait = Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(1), tv_nsec: wait.subsec_nanos().into() };
        if !poll(&mut watched, Some(&wait)).is_ok_and(|ready| ready > 0) {
            return [false; 2];
        }
        let mut watched = watched.iter();
        self.open.map(|open| open && watched.next().is_some_and(|pipe| !pipe.revents().is_empty()))
    }

    /// Does not reap the process, so that its number stays reserved until the end.
    fn exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid(self.started.process.pid)), look), Ok(None))
    }
}

/// A shell's exit status for a program that is missing or cannot be started.
const NO_PROGRAM: [i32; 2] = [126, 127];

fn died(status: Option<ExitStatus>, has_output: bool, errors: &str) -> Departed {
    let code = status.and_then(|status| status.code());
    if code.is_some_and(|code| NO_PROGRAM.contains(&code)) && !has_output {
        return Departed::NotStarted(errors.to_owned());
    }
    let status = match (code, status.and_then(|status| status.signal())) {
        (Some(code), _) => format!("exited with {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "its exit status is unknown".to_owned(),
    };
    Departed::Died { status }
}
