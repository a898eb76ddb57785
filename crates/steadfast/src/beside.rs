//! What is done beside a hook: in a process of its own, which nobody waits for.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts this program with other words at the root of a checkout, and waits for nothing.
#[expect(clippy::disallowed_methods, reason = "what takes long is done in a process of its own")]
pub(crate) fn start<W: AsRef<OsStr>>(root: &Path, words: impl IntoIterator<Item = W>) -> std::io::Result<()> {
    Command::new(std::env::current_exe()?)
        .args(words)
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// Whoever ends the hook and what belongs to it does not end this, and whoever works is not kept waiting by it.
#[cfg(unix)]
pub(crate) fn step_aside() {
    const LAST: i32 = 19;
    // A process that was started from a terminal leads its group already, and stays.
    let _ = rustix::process::setsid();
    let _ = rustix::process::setpriority_process(None, LAST);
}

#[cfg(not(unix))]
pub(crate) fn step_aside() {}
