//! Runs another program with a time limit, and reads its version.

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for a program to print its version.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// Longer than the version line of any program.
const ANSWER: u64 = 4 << 10;

/// The version that a program prints.
pub(super) fn version(program: &Path) -> Option<Version> {
    let mut child = steadfast_system::program(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // A child of the program may keep the pipe open, so the caller does not join this thread.
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.take(ANSWER).read_to_end(&mut text);
        let _ = sender.send(text);
    });
    let answer = receiver.recv_timeout(PATIENCE);
    let _ = child.kill();
    let _ = child.wait();
    Version::find(&String::from_utf8_lossy(&answer.ok()?))
}

/// Measures a program from start to end, with a folder of its own as working directory and home.
pub(super) fn time(program: &Path, arguments: &[&str], stdin: &str, folder: &Path) -> Option<Duration> {
    let started = Instant::now();
    let mut child = steadfast_system::program(program)
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // A program that does not read its input is fine.
    let _ = child.stdin.take()?.write_all(stdin.as_bytes());
    let ended = child.wait().ok()?;
    ended.success().then(|| started.elapsed())
}

/// Three numbers; a suffix is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl Version {
    /// The first version in the output of `--version`: `2.1.325 (Claude Code)`, `codex-cli 0.166.0`.
    pub(super) fn find(output: &str) -> Option<Self> {
        output.split_whitespace().find_map(|word| {
            let mut numbers = word.trim_start_matches('v').splitn(3, '.');
            let (major, minor) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
            let patch = numbers.next()?;
            let digits = patch.find(|c: char| !c.is_ascii_digit()).unwrap_or(patch.len());
            Some(Self(major, minor, patch[..digits].parse().ok()?))
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_is_read() {
        let found = |said| Version::find(said);
        assert_eq!(found("2.1.325 (Claude Code)\n"), Some(Version(2, 1, 325)));
        assert_eq!(found("codex-cli 0.166.0-alpha.2"), Some(Version(0, 166, 0)));
        assert_eq!(found("steadfast 0.1.0"), Some(Version(0, 1, 0)));
        assert_eq!(found("Not logged in."), None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(Version(2, 1, 99) < Version(2, 1, 143));
    }
}
