//! What a process says, read by a thread for each pipe, where pipes cannot be waited for together.

use std::io::{self, Read};
use std::process::{ChildStderr, ChildStdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::process::{LONGEST_ANSWER, LONGEST_COMPLAINT};
use crate::deadline::Deadline;
use crate::error::ObserveError;

#[derive(Debug)]
pub(crate) struct Pipes {
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    complaint: Vec<u8>,
}

impl Pipes {
    pub(crate) fn of(stdout: ChildStdout, stderr: ChildStderr) -> io::Result<Self> {
        let (stdout, stderr) = (read(stdout, LONGEST_ANSWER)?, read(stderr, LONGEST_COMPLAINT)?);
        Ok(Self { stdout, stderr, complaint: Vec::new() })
    }

    pub(crate) fn answer(&mut self, deadline: Deadline) -> Result<Vec<u8>, ObserveError> {
        match self.stdout.recv_timeout(deadline.left()?) {
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => Err(deadline.passed()),
            Err(RecvTimeoutError::Disconnected) => Err(ObserveError::NotRead),
        }
    }

    /// What was said on stderr. A process that was left behind may hold the pipe open, so this waits for a moment only.
    pub(crate) fn complaint(&mut self) -> &[u8] {
        self.complaint = self.stderr.recv_timeout(Duration::from_millis(5)).unwrap_or_default();
        &self.complaint
    }
}

/// Keeps the first `longest` bytes and reads on past them, so that the writer is never stopped by a full pipe. Of an
/// answer a part is nothing; of a complaint it is enough.
fn read(mut pipe: impl Read + Send + 'static, longest: usize) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let first = (&mut pipe).take(longest as u64).read_to_end(&mut bytes);
        let rest = first.and_then(|_| io::copy(&mut pipe, &mut io::sink()));
        if rest.is_ok_and(|rest| rest == 0 || longest == LONGEST_COMPLAINT) {
            let _ = sender.send(bytes);
        }
    })?;
    Ok(receiver)
}
