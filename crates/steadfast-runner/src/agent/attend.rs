use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};
use steadfast_check::process::pid;
use steadfast_check::tail::OutputTail;
use steadfast_model::Spent;

use super::account::Account;
use super::lines::Lines;
use super::log::Log;
use super::started::Started;
use super::{AgentUpdate, Assignment, Departed, Departure};

/// How often it is looked whether the agent is to be stopped: nothing else wakes us while it is silent.
const TICK: Duration = Duration::from_millis(250);
/// The same where the end of a process does not wake us.
const SHORT_TICK: Duration = Duration::from_millis(20);
/// How long an agent may stay silent after its last word. A host waits here for what its agent left in the background.
const FAREWELL: Duration = Duration::from_secs(60);
/// Between the request to end and the end.
const GRACE: Duration = Duration::from_secs(5);
/// What was killed is gone by then, unless the kernel holds it.
const KILLED: Duration = Duration::from_secs(2);
/// What is kept of stderr.
const KEPT: usize = 8 << 10;

/// Blocks until the agent and all it started are gone. `stop` ends it.
pub fn attend(assignment: &Assignment, stop: &AtomicBool, heard: &mut dyn FnMut(AgentUpdate)) -> Departure {
    if !assignment.directory.is_dir() {
        return not_started(format!("`{}` is no folder", assignment.directory.display()));
    }
    match Started::begin(assignment) {
        Ok(started) => {
            heard(AgentUpdate::Running(started.process));
            Attended::of(assignment, started, heard).finish(stop)
        }
        Err(error) => not_started(format!("`{}` could not be started: {error}", assignment.launch.program.display())),
    }
}

fn not_started(why: String) -> Departure {
    let how = Departed::NotStarted(why);
    Departure { how, session: None, spent: Spent::default(), said: None, errors: String::new() }
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
    /// Stdout, stderr: whether somebody may still write.
    open: [bool; 2],
    lines: Lines,
    log: Log,
    errors: OutputTail,
    account: Account<'a>,
    began: Instant,
    buffer: Vec<u8>,
}

impl<'a> Attended<'a> {
    fn of(assignment: &'a Assignment, mut started: Started, heard: &'a mut dyn FnMut(AgentUpdate)) -> Self {
        let codex_home = started.codex_home.take();
        Self {
            started,
            open: [true, true],
            lines: Lines::default(),
            log: Log::open(&assignment.log),
            errors: OutputTail::of(KEPT),
            account: Account::of(assignment, codex_home, heard),
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
        // What is in the pipes now is the last there is.
        self.listen(Duration::from_millis(100), |attended| {
            attended.open == [false; 2] || !attended.readable(Duration::ZERO)
        });
        if self.started.group.others().is_empty() {
            self.started.group.sweep();
        } else {
            self.end();
        }
        self.lines.finish(&mut |line| self.account.line(line));
        self.account.look();
        drop(self.started.watcher);
        let status = self.started.child.wait().ok();
        let Account { session, spent, said, ended, anything, .. } = self.account;
        let (errors, _) = self.errors.finish();
        let how = match (cause, ended) {
            (Cause::Stopped, _) => Departed::Stopped,
            (Cause::TimeUp, _) => Departed::TimeUp,
            (Cause::Itself | Cause::Silent, Some(end)) => Departed::Ended(end),
            (Cause::Silent, None) => Departed::Silent,
            (Cause::Itself, None) => died(status, anything, &errors),
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
            let patience = (self.account.patient_from + silence).saturating_duration_since(now);
            if left.is_zero() {
                return Cause::TimeUp;
            }
            if patience.is_zero() {
                return Cause::Silent;
            }
            let tick = if self.started.end.is_some() { TICK } else { SHORT_TICK };
            let tick = self.account.pause().map_or(tick, |pause| pause.min(tick));
            self.read(left.min(patience).min(tick));
            self.account.look_when_due();
        }
    }

    /// Asks all of it to end, waits, and ends it.
    fn end(&mut self) {
        self.started.group.signal(Signal::TERM);
        // What is stopped does not hear.
        self.started.group.signal(Signal::CONT);
        let gone = |attended: &mut Self| attended.exited() && attended.started.group.others().is_empty();
        if !self.listen(GRACE, gone) {
            let until = Instant::now() + KILLED;
            // Again and again: what forks while it is looked for is found in the next round.
            while Instant::now() < until && !gone(self) {
                self.started.group.signal(Signal::KILL);
                self.listen(Duration::from_millis(20), gone);
            }
        }
        self.started.group.sweep();
    }

    /// Reads on until something holds, or for so long. Whether it held.
    fn listen(&mut self, time: Duration, holds: impl Fn(&mut Self) -> bool) -> bool {
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

    /// Reads what there is; waits for at most so long when there is nothing.
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

    /// Which of stdout and stderr can be read. Returns early when the agent ends.
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

    /// Looked at, not waited for: until the end its number must not be given away.
    fn exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid(self.started.process.pid)), look), Ok(None))
    }
}

/// A shell says by these that it found no program, or none that can be started.
const NO_PROGRAM: [i32; 2] = [126, 127];

fn died(status: Option<ExitStatus>, anything: bool, errors: &str) -> Departed {
    let code = status.and_then(|status| status.code());
    if code.is_some_and(|code| NO_PROGRAM.contains(&code)) && !anything {
        return Departed::NotStarted(errors.to_owned());
    }
    let status = match (code, status.and_then(|status| status.signal())) {
        (Some(code), _) => format!("exited with {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "its end was not seen".to_owned(),
    };
    Departed::Died { status }
}
