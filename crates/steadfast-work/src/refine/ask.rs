//! Runs the user's command once: text in, text out, with limits of time and size.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_system::program;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::REFINING;

/// A longer answer is not an answer to this question.
const LONGEST: usize = 64 << 10;

const POLL: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("cannot start the command: {0}")]
    Start(io::Error),
    #[error("the command did not end within {} s and was killed", .0.as_secs())]
    Slow(Duration),
    #[error("the command printed more than {} kB and was killed", LONGEST >> 10)]
    Long,
    #[error("the command failed: {0}")]
    Failed(ExitStatus),
    #[error("cannot read from the command: {0}")]
    Unheard(io::Error),
}

/// Returns the standard output of the command for this input. Ignores its standard error.
pub(super) fn ask(command: &str, root: &Path, input_text: String, within: Duration) -> Result<Vec<u8>, AskError> {
    let until = Instant::now() + within;
    let mut child = start(command, root).map_err(AskError::Start)?;
    if let Some(mut input) = child.stdin.take() {
        // The command may not read its input, so do not wait for this write.
        thread::spawn(move || input.write_all(input_text.as_bytes()));
    }
    let answer = listen(&mut child, until, within);
    let ended = answer.and_then(|answer| wait(&mut child, until, within).map(|status| (answer, status)));
    match ended {
        Ok((answer, status)) if status.success() => Ok(answer),
        Ok((_, status)) => Err(AskError::Failed(status)),
        Err(error) => {
            end(&mut child);
            Err(error)
        }
    }
}

fn start(command: &str, root: &Path) -> io::Result<Child> {
    program("/bin/sh")
        .args(["-c", command])
        .current_dir(root)
        .env(REFINING, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

fn listen(child: &mut Child, until: Instant, within: Duration) -> Result<Vec<u8>, AskError> {
    let Some(output) = child.stdout.take() else { return Ok(Vec::new()) };
    let (heard, hear) = channel();
    thread::spawn(move || {
        let mut answer = Vec::new();
        let read = output.take(LONGEST as u64 + 1).read_to_end(&mut answer).map(|_| answer);
        // The receiver is gone after a timeout.
        let _ = heard.send(read);
    });
    match hear.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(Ok(answer)) if answer.len() > LONGEST => Err(AskError::Long),
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(AskError::Unheard(error)),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(AskError::Slow(within)),
    }
}

fn wait(child: &mut Child, until: Instant, within: Duration) -> Result<ExitStatus, AskError> {
    loop {
        match child.try_wait().map_err(AskError::Unheard)? {
            Some(status) => return Ok(status),
            None if Instant::now() >= until => return Err(AskError::Slow(within)),
            None => thread::sleep(POLL),
        }
    }
}

/// Kills the command and all processes in its group.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
