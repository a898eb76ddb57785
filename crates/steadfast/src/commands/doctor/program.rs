//! Asking another program something, for a bounded time.

#![expect(clippy::disallowed_methods, reason = "doctor asks programs for their version and measures its own hook")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::version::Version;

/// How long a program may think about its own version.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// More than any program says of its version.
const ANSWER: u64 = 4 << 10;

/// The version a program says it is.
pub(super) fn version(program: &Path) -> Option<Version> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let (said, hear) = mpsc::channel();
    // Whatever the program leaves behind may hold the pipe open: nobody waits for this thread.
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.take(ANSWER).read_to_end(&mut text);
        let _ = said.send(text);
    });
    let answer = hear.recv_timeout(PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    Version::find(&String::from_utf8_lossy(&answer.ok()?))
}

/// How long a program takes from its start to its end, in a folder and a home of its own.
pub(super) fn time(program: &Path, arguments: &[&str], stdin: &str, folder: &Path) -> Option<Duration> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // One that does not read is done all the same.
    let _ = child.stdin.take()?.write_all(stdin.as_bytes());
    let ended = child.wait().ok()?;
    ended.success().then(|| started.elapsed())
}
