//! A check, seen from the side that asks for it.
//!
//! Whoever asks takes the lock of the run and hands it to the supervisor as its standard input. The lock is free when
//! the supervisor is gone, however it went; what the ledger says then is the result, and if it says nothing the check
//! is lost.

use std::io::{self, PipeReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use steadfast_hosts::Sandbox;
use steadfast_model::{Millis, PlanId, TaskId};
use steadfast_store::{Place, forget_check, is_check_running, lock_check};

use super::TaskError;
use crate::SANDBOX;

/// One run of a check.
#[derive(Clone, Debug)]
pub struct CheckAttempt {
    pub plan: PlanId,
    pub task: TaskId,
    pub name: String,
    /// What the processes of an orchestrated run are known by.
    pub mark: Option<String>,
}

/// A process that runs several checks at once may begin two in one millisecond.
static BEGUN: AtomicU32 = AtomicU32::new(0);

impl CheckAttempt {
    pub(super) fn new(plan: &PlanId, task: &TaskId, now: Millis, mark: Option<String>) -> Self {
        let number = BEGUN.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:x}-{:x}-{number:x}", now.0, std::process::id());
        Self { plan: plan.clone(), task: task.clone(), name, mark }
    }

    /// Starts its supervisor, which outlives this process.
    pub(super) fn start(&self, place: &Place, sandbox: Option<&Sandbox>) -> Result<SupervisedCheck, TaskError> {
        let failed = |source: io::Error| TaskError::NotStarted { task: self.task.clone(), source };
        let lock = lock_check(place, &self.name).map_err(failed)?;
        let program = std::env::current_exe().map_err(failed)?;
        let sandbox = sandbox.map(serde_json::to_string).transpose().map_err(|error| failed(error.into()))?;
        let (end, held) = io::pipe().map_err(failed)?;
        let mut supervisor = steadfast_system::program(program);
        supervisor
            .args(["supervise", "--plan", self.plan.as_str(), "--task", self.task.as_str(), "--run", &self.name])
            // It goes there itself: a folder to start in makes the standard library fork, which copies the page tables
            // of whoever asks.
            .arg("--in")
            .arg(&place.root)
            // Not among its words, which everybody on this machine can read.
            .env(SANDBOX, sandbox.unwrap_or_default())
            .envs(self.mark.as_ref().map(|mark| (steadfast_check::MARK, mark)))
            .stdin(lock)
            .stdout(held)
            .stderr(Stdio::null());
        if self.mark.is_some() {
            // Whoever resumes a run ends what is left of it, so nobody has to stand between.
            let child = supervisor.spawn().map_err(failed)?;
            return Ok(SupervisedCheck { end, child: Some(child) });
        }
        // It starts the supervisor and ends, so that nobody who ends this process and its children ends the check.
        let status = supervisor.arg("--leave").status().map_err(failed)?;
        if status.success() {
            Ok(SupervisedCheck { end, child: None })
        } else {
            Err(failed(io::Error::other(format!("its supervisor ended with {status}"))))
        }
    }

    /// Waits until it is over, for at most so long. Whether it is.
    pub(super) fn wait(&self, place: &Place, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut pause = Duration::from_millis(1);
        while is_check_running(place, &self.name) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        forget_check(place, &self.name);
        true
    }
}

/// A check whose supervisor was started by this process.
#[derive(Debug)]
pub(super) struct SupervisedCheck {
    /// Closed by the supervisor's end.
    end: PipeReader,
    /// The supervisor, where nobody stands between.
    child: Option<Child>,
}

impl SupervisedCheck {
    /// Waits for its end, for at most so long.
    pub(super) fn wait(self, patience: Duration) {
        let Self { end, child } = self;
        let until = Instant::now() + patience;
        let is_over = loop {
            let left = until.saturating_duration_since(Instant::now());
            let wait =
                Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(1), tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&wait)) {
                Ok(ready) => break ready > 0,
                Err(Errno::INTR) => {}
                Err(_) => break false,
            }
        };
        let Some(mut child) = child else { return };
        if is_over {
            let _ = child.wait();
        } else {
            // It is buried when it has ended; where no thread is to be had, when this process has.
            let _ = thread::Builder::new().spawn(move || child.wait());
        }
    }
}
