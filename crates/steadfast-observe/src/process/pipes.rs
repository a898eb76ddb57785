//! Reads a process's output in the waiting thread. A thread for each pipe took longer than the reading.

use std::io::{self, Read};
use std::process::{ChildStderr, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{LONGEST_ANSWER, LONGEST_STDERR};
use crate::deadline::Deadline;
use crate::error::ObserveError;

/// The wait for stderr after the process has ended: a child left behind may hold the pipe open.
const A_MOMENT: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Pipes {
    stdout: ChildStdout,
    stderr: Option<ChildStderr>,
    stderr_text: Vec<u8>,
    buffer: Vec<u8>,
}

impl Pipes {
    pub(crate) fn of(stdout: ChildStdout, stderr: ChildStderr) -> io::Result<Self> {
        Ok(Self { stdout, stderr: Some(stderr), stderr_text: Vec::new(), buffer: vec![0; 16 << 10] })
    }

    /// Reads stdout to its end. An answer that is too long is an error, because a partial answer is useless.
    pub(crate) fn answer(&mut self, deadline: Deadline) -> Result<Vec<u8>, ObserveError> {
        let mut answer = Vec::new();
        let mut is_whole = true;
        loop {
            let [stdout_ready, stderr_ready] = self.ready(deadline.left()?)?;
            if stderr_ready {
                self.read_stderr();
            }
            if !stdout_ready {
                continue;
            }
            match self.stdout.read(&mut self.buffer) {
                Ok(0) if is_whole => return Ok(answer),
                Ok(0) => return Err(ObserveError::NotRead),
                // Keep reading after the limit, so that the writer does not block on a full pipe.
                Ok(read) if answer.len() + read > LONGEST_ANSWER => (is_whole, answer) = (false, Vec::new()),
                Ok(read) if is_whole => answer.extend_from_slice(&self.buffer[..read]),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(ObserveError::NotRead),
            }
        }
    }

    /// Returns the beginning of stderr, after the process has ended.
    pub(crate) fn stderr_text(&mut self) -> &[u8] {
        let deadline = Deadline::after(A_MOMENT);
        while let Some(stderr) = &self.stderr
            && let Ok(left) = deadline.left()
            && wait(&mut [PollFd::new(stderr, PollFlags::IN)], left).is_ok_and(|ready| ready > 0)
        {
            self.read_stderr();
        }
        &self.stderr_text
    }

    /// Keeps the beginning of stderr only.
    fn read_stderr(&mut self) {
        let Some(stderr) = &mut self.stderr else { return };
        match stderr.read(&mut self.buffer) {
            Ok(read @ 1..) => {
                let kept = read.min(LONGEST_STDERR - self.stderr_text.len());
                self.stderr_text.extend_from_slice(&self.buffer[..kept]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => self.stderr = None,
        }
    }

    /// Waits until stdout or stderr can be read, and returns which.
    fn ready(&self, left: Duration) -> io::Result<[bool; 2]> {
        let mut pipes = Vec::with_capacity(2);
        pipes.push(PollFd::new(&self.stdout, PollFlags::IN));
        pipes.extend(self.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
        wait(&mut pipes, left)?;
        let is_ready = |at: usize| pipes.get(at).is_some_and(|pipe| !pipe.revents().is_empty());
        Ok([is_ready(0), is_ready(1)])
    }
}

fn wait(pipes: &mut [PollFd<'_>], left: Duration) -> io::Result<usize> {
    let left = Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(1), tv_nsec: left.subsec_nanos().into() };
    match poll(pipes, Some(&left)) {
        Err(rustix::io::Errno::INTR) => Ok(0),
        polled => Ok(polled?),
    }
}
