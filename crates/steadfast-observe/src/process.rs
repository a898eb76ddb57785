//! A process that is watched: read while it runs, ended with its group when its time is over.

use std::io::{self, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::ObserveError;

/// An answer longer than this is none: 64 MiB are half a million changed files.
const LONGEST_ANSWER: u64 = 64 << 20;
const LONGEST_COMPLAINT: u64 = 4 << 10;

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    stderr: Receiver<Vec<u8>>,
}

impl Ended {
    /// What it said on stderr. A process it left behind may hold the pipe open, so this waits for a moment only.
    pub(crate) fn complaint(&self) -> String {
        let said = self.stderr.recv_timeout(Duration::from_millis(5)).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// A child that does not outlive this value unless it has ended by itself.
#[derive(Debug)]
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    pub(crate) fn watch(child: Child) -> Self {
        Self { child: Some(child) }
    }

    /// Feeds it, reads it, waits for its end; whoever is late is ended.
    pub(crate) fn finish(mut self, input: Vec<u8>, deadline: Deadline) -> Result<Ended, ObserveError> {
        let Some(child) = self.child.as_mut() else { return Err(deadline.passed()) };
        if let Some(mut stdin) = child.stdin.take() {
            // Fed from a thread of its own: both pipes may be full at once.
            thread::Builder::new().spawn(move || {
                // A reader that went away says why through its exit code.
                let _ = stdin.write_all(&input);
            })?;
        }
        let stdout = child.stdout.take().map(|pipe| read(pipe, LONGEST_ANSWER)).transpose()?;
        let stderr = child.stderr.take().map(|pipe| read(pipe, LONGEST_COMPLAINT)).transpose()?;
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else { return Err(deadline.passed()) };
        let answer = match stdout.recv_timeout(deadline.left()?) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return Err(deadline.passed()),
            Err(RecvTimeoutError::Disconnected) => return Err(ObserveError::NotRead),
        };
        let status = end_of(child, deadline)?;
        self.child = None;
        Ok(Ended { status, stdout: answer, stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // Until it is waited for, its id is not given away: the group that is ended is its own.
        end_group(&mut child);
        // Nobody waits for that. Where no thread is to be had it is buried when this process ends.
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    let _ = child.kill();
}

/// The pipe closed, so the end is near: it is looked for often at first.
fn end_of(child: &mut Child, deadline: Deadline) -> Result<ExitStatus, ObserveError> {
    let mut pause = Duration::from_micros(20);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(pause.min(deadline.left()?));
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}

/// Keeps the first `longest` bytes and reads on past them, so that the writer is never stopped by a full pipe. Of an
/// answer a part is nothing; of a complaint it is enough.
fn read(mut pipe: impl Read + Send + 'static, longest: u64) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let first = (&mut pipe).take(longest).read_to_end(&mut bytes);
        let rest = first.and_then(|_| io::copy(&mut pipe, &mut io::sink()));
        if rest.is_ok_and(|rest| rest == 0 || longest == LONGEST_COMPLAINT) {
            let _ = sender.send(bytes);
        }
    })?;
    Ok(receiver)
}
