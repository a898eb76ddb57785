//! A process that is watched: read while it runs, ended with its group when its time is over.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::ObserveError;
use crate::pipes::Pipes;

/// An answer longer than this is none: 64 MiB are half a million changed files.
pub(crate) const LONGEST_ANSWER: usize = 64 << 20;
pub(crate) const LONGEST_COMPLAINT: usize = 4 << 10;

/// Whoever has so much time does not look at each millisecond.
const AMPLE: Duration = Duration::from_secs(5);

/// So much fits into every pipe that nobody has read from yet.
const FITS: usize = 512;

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pipes: Pipes,
}

impl Ended {
    /// What it said on stderr.
    pub(crate) fn complaint(&mut self) -> String {
        String::from_utf8_lossy(self.pipes.complaint()).into_owned()
    }
}

/// Starts it. Who starts a process waits until it has become another program: on a machine with three times as much to do
/// as it can, up to 147 ms were measured. Who has no time for that has another thread start it, and what is started too
/// late is ended at once.
pub(crate) fn start(mut command: Command, deadline: Deadline) -> Result<io::Result<Running>, ObserveError> {
    let left = deadline.left()?;
    if left >= AMPLE {
        return Ok(command.spawn().map(Running::watch));
    }
    let (sender, started) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        let child = command.spawn();
        // The command keeps our end of what it handed on.
        drop(command);
        let _ = sender.send(child.map(Running::watch));
    })?;
    started.recv_timeout(left).map_err(|_| deadline.passed())
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
        if let Some(stdin) = child.stdin.take() {
            feed(stdin, input)?;
        }
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(deadline.passed());
        };
        let mut pipes = Pipes::of(stdout, stderr)?;
        let stdout = pipes.answer(deadline)?;
        let status = end_of(child, deadline)?;
        self.child = None;
        Ok(Ended { status, stdout, pipes })
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

fn end_group(child: &mut Child) {
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

fn feed(mut stdin: ChildStdin, input: Vec<u8>) -> io::Result<()> {
    // A reader that went away says why through its exit code.
    if input.len() <= FITS {
        let _ = stdin.write_all(&input);
        return Ok(());
    }
    // From a thread of its own: both pipes may be full at once.
    thread::Builder::new().spawn(move || {
        let _ = stdin.write_all(&input);
    })?;
    Ok(())
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
