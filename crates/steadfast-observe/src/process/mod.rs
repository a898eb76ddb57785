//! A watched child process: read while it runs, and killed with its process group at the deadline.

mod pipes;
pub(crate) mod program;
pub(crate) mod table;
pub(crate) mod tool_process;

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::ObserveError;
use pipes::Pipes;

/// Longest answer in bytes; a longer one is an error. 64 MiB are half a million changed files.
pub(crate) const LONGEST_ANSWER: usize = 64 << 20;
pub(crate) const LONGEST_STDERR: usize = 4 << 10;

/// With at least this much time left, the caller starts the process itself; see [`start`].
const AMPLE: Duration = Duration::from_secs(5);

/// Input up to this size fits into the buffer of every pipe, so it can be written without a reader.
const FITS_INTO_PIPE: usize = 512;

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pipes: Pipes,
}

impl Ended {
    pub(crate) fn stderr_text(&mut self) -> String {
        String::from_utf8_lossy(self.pipes.stderr_text()).into_owned()
    }
}

/// Starts the process. Spawning waits until the child has executed its program: up to 147 ms were measured on a machine
/// with three times its load. A caller with little time lets another thread spawn; a child that starts too late is
/// killed at once.
pub(crate) fn start(mut command: Command, deadline: Deadline) -> Result<io::Result<Running>, ObserveError> {
    let left = deadline.left()?;
    if left >= AMPLE {
        return Ok(command.spawn().map(Running::watch));
    }
    let (sender, started) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        let child = command.spawn();
        // The command keeps the parent's ends of the pipes it passed on.
        drop(command);
        let _ = sender.send(child.map(Running::watch));
    })?;
    started.recv_timeout(left).map_err(|_| deadline.passed())
}

/// A child that is killed when this value is dropped, unless it has ended by itself.
#[derive(Debug)]
pub(crate) struct Running {
    child: Option<Child>,
}

impl Running {
    pub(crate) fn watch(child: Child) -> Self {
        Self { child: Some(child) }
    }

    /// Writes its input, reads its output and waits for its end. Kills it at the deadline.
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
        let status = wait_for_exit(child, deadline)?;
        self.child = None;
        Ok(Ended { status, stdout, pipes })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // The id is not reused before `wait`, so this kills the right group.
        kill_group(&mut child);
        // Reap the child in the background. If no thread can be spawned, init reaps it after this process exits.
        let _ = thread::Builder::new().spawn(move || child.wait());
    }
}

fn kill_group(child: &mut Child) {
    let _ = rustix::process::kill_process_group(rustix::process::Pid::from_child(child), rustix::process::Signal::KILL);
}

fn feed(mut stdin: ChildStdin, input: Vec<u8>) -> io::Result<()> {
    // A reader that closed the pipe reports why through its exit code.
    if input.len() <= FITS_INTO_PIPE {
        let _ = stdin.write_all(&input);
        return Ok(());
    }
    // Write in a thread: otherwise both pipes could be full at once.
    thread::Builder::new().spawn(move || {
        let _ = stdin.write_all(&input);
    })?;
    Ok(())
}

/// Waits for the exit after stdout has closed. The end is near, so it polls often at first.
fn wait_for_exit(child: &mut Child, deadline: Deadline) -> Result<ExitStatus, ObserveError> {
    let mut pause = Duration::from_micros(20);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(pause.min(deadline.left()?));
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}
