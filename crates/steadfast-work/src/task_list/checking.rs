//! A check, from the side of the process that requests it.
//!
//! The requesting process takes the lock of the run and passes it to the supervisor as standard input. The lock is free
//! as soon as the supervisor is gone, for whatever reason. Then the ledger has the result; without one, the check is
//! lost.

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
    /// The mark by which the processes of a run are found.
    pub mark: Option<String>,
}

/// A process that runs several checks at once may start two in one millisecond.
static STARTED: AtomicU32 = AtomicU32::new(0);

impl CheckAttempt {
    pub(super) fn new(plan: &PlanId, task: &TaskId, now: Millis, mark: Option<String>) -> Self {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
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
            // The supervisor changes to the folder itself. With `current_dir`, the standard library forks, which copies
            // the page tables of this process.
            .arg("--in")
            .arg(&place.root)
            // In the environment, because every user of this machine can read the arguments.
            .env(SANDBOX, sandbox.unwrap_or_default())
            .envs(self.mark.as_ref().map(|mark| (steadfast_check::MARK, mark)))
            .stdin(lock)
            .stdout(held)
            .stderr(Stdio::null());
        if self.mark.is_some() {
            // `resume` ends the remaining processes of a run, so no process in between is needed.
            let child = supervisor.spawn().map_err(failed)?;
            return Ok(SupervisedCheck { end, child: Some(child) });
        }
        // With `--leave` it starts the supervisor and exits, so that killing this process and its children does not
        // kill the check.
        let status = supervisor.arg("--leave").status().map_err(failed)?;
        if status.success() {
            Ok(SupervisedCheck { end, child: None })
        } else {
            Err(failed(io::Error::other(format!("its supervisor failed: {status}"))))
        }
    }

    /// Waits for its end, at most this long. Returns true if it is over.
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
    /// The supervisor closes it when it exits.
    end: PipeReader,
    /// The supervisor, if it is a direct child.
    child: Option<Child>,
}

impl SupervisedCheck {
    /// Waits for its end, at most this long.
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
            // A thread reaps it later; without a thread, it is reaped when this process exits.
            let _ = thread::Builder::new().spawn(move || child.wait());
        }
    }
}
