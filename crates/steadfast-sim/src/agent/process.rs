//! Starts all other processes of this crate. Each has a time limit and is ended with it.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The time to wait for remaining output when the process has ended but a descendant still holds the pipe.
const LINGER: Duration = Duration::from_millis(200);
const POLL: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Finished {
    /// `None`: the time limit was reached.
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// A separate process. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    started: Instant,
}

impl Running {
    pub(super) fn start(mut command: Command, input: Vec<u8>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        own_group(&mut command);
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program may ignore its input. Then this write fails, and the thread ends.
            std::thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        Ok(Self { child, stdout, stderr, started: Instant::now() })
    }

    pub(super) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until the process ends, and ends it after `limit`.
    pub(super) fn finish(mut self, limit: Duration) -> io::Result<Finished> {
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break Some(status);
            }
            if self.started.elapsed() >= limit {
                self.end();
                break None;
            }
            std::thread::sleep(POLL);
        };
        Ok(Finished { status, stdout: gather(&self.stdout), stderr: gather(&self.stderr) })
    }

    fn end(&mut self) {
        end_group(&self.child);
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.end();
        }
    }
}

pub(super) fn run(command: Command, input: Vec<u8>, limit: Duration) -> io::Result<Finished> {
    Running::start(command, input)?.finish(limit)
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(mut pipe) = pipe {
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(length @ 1..) = pipe.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

fn gather(receiver: &Receiver<Vec<u8>>) -> String {
    let deadline = Instant::now() + LINGER;
    let mut bytes = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok(part) => bytes.extend(part),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

/// Killing only the shell of `sh -c 'sleep 60; …'` would leave the sleep behind.
fn end_group(child: &Child) {
    let group = format!("kill -s KILL -- -{}", child.id());
    drop(Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status());
}

#[cfg(test)]
mod tests {
    use steadfast_testkit::{PATIENCE, wait_for};

    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn input_goes_in_and_both_outputs_come_out() {
        let finished = run(sh("cat; echo problem >&2; exit 3"), b"words".to_vec(), PATIENCE).unwrap();
        assert_eq!(finished.status.and_then(|status| status.code()), Some(3));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("words", "problem\n"));
    }

    #[test]
    fn a_process_is_ended_with_its_children_when_the_time_is_up() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("child");
        let running =
            Running::start(sh(&format!("sleep 600 & echo $! > '{}'; wait", named.display())), Vec::new()).unwrap();
        let child = wait_for("a child of the shell", || match std::fs::read_to_string(&named) {
            Ok(pid) if pid.ends_with('\n') => Ok(pid.trim().to_owned()),
            other => Err(format!("{other:?}")),
        });
        assert!(is_alive(&child));
        assert!(running.finish(Duration::ZERO).unwrap().status.is_none());
        wait_for("the end of the child", || if is_alive(&child) { Err(format!("{child} alive")) } else { Ok(()) });
    }

    /// Returns false for a process that is gone or a zombie.
    fn is_alive(pid: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.contains(") Z ") && sh(&format!("kill -0 {pid}")).stderr(Stdio::null()).status().unwrap().success()
    }

    #[test]
    fn a_daemon_that_keeps_the_pipe_does_not_hold_us() {
        let finished = run(sh("sleep 100 & echo $!"), Vec::new(), PATIENCE).unwrap();
        let daemon: u32 = finished.stdout.trim().parse().unwrap();
        assert!(sh(&format!("kill {daemon}")).status().unwrap().success(), "the daemon ended first");
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let finished = run(sh("exit 0"), vec![b'x'; 1 << 20], PATIENCE).unwrap();
        assert!(finished.status.is_some_and(|status| status.success()));
    }
}
