//! The start of every supervised process, and the watcher that ends it when the supervisor is gone.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};

use steadfast_system::program;

pub const SHELL: &str = "/bin/sh";

/// The words before a supervised command: a shell that waits for a line before it starts the command. If the
/// supervisor dies before the watcher knows the command, the shell ends.
pub const WHEN_TOLD: [&str; 3] = ["-c", r#"read -r begin || exit 125; exec "$@" </dev/null"#, "sh"];

/// Does the same in a folder, the first word after these. The shell changes to the folder itself, because
/// `current_dir` makes the standard library fork, which copies the page tables of the runner.
pub const IN_A_FOLDER_WHEN_TOLD: [&str; 3] =
    ["-c", r#"read -r begin || exit 125; cd -- "$1" || exit 126; unset OLDPWD; shift; exec "$@" </dev/null"#, "sh"];

/// A git hook sets these, and they would direct other git commands to the wrong checkout or index.
pub const LEADS_ASTRAY: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"];

/// The watcher's input is a pipe from the supervisor. The first line names the group. When the pipe closes after that,
/// the supervisor is gone. Only Linux has `/proc`; elsewhere the watcher ends only the group. In dash `kill -TERM --
/// -1` is an error, but `kill -s TERM -- -1` is not.
const WATCHER: &str = r#"trap '' HUP INT TERM
cd /
read -r group || exit 0
read -r over && exit 0
kill -s TERM -- "-$group"
sleep 1
kill -s KILL -- "-$group"
for found in $(grep -slF "$1" /proc/[0-9]*/environ); do
  found=${found#/proc/}
  kill -s KILL "${found%/environ}"
done"#;

/// Returns a value that no other running process has.
pub fn unique_value() -> String {
    format!("{}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish())
}

/// Outlives the supervisor by a moment. If both are killed at once, the check keeps running.
#[derive(Debug)]
pub struct Watcher {
    child: Child,
    line: Option<ChildStdin>,
}

impl Watcher {
    pub fn start(mark: &str) -> io::Result<Self> {
        let mut child = program(SHELL)
            .args([OsStr::new("-c"), OsStr::new(WATCHER), OsStr::new("sh"), OsStr::new(mark)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let line = child.stdin.take();
        Ok(Self { child, line })
    }

    pub fn guard(&mut self, group: u32) -> io::Result<()> {
        self.line.as_mut().map_or(Ok(()), |line| writeln!(line, "{group}"))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // Kill it before its pipe closes; otherwise it would end the check.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.line = None;
    }
}
