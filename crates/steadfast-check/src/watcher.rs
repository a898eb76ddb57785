//! What every process that we supervise begins with, and the watcher that ends it when we are gone.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Stdio};

use steadfast_system::program;

pub const SHELL: &str = "/bin/sh";

/// Before the words of what is started: it waits for a line before it begins. When its supervisor dies before the
/// watcher knows of it, it ends.
pub const WHEN_TOLD: [&str; 3] = ["-c", r#"read -r begin || exit 125; exec "$@" </dev/null"#, "sh"];

/// The same in a folder, which comes before the words. It goes there itself: a folder to start in makes the standard
/// library fork, which copies the page tables of the runner.
pub const IN_A_FOLDER_WHEN_TOLD: [&str; 3] =
    ["-c", r#"read -r begin || exit 125; cd -- "$1" || exit 126; unset OLDPWD; shift; exec "$@" </dev/null"#, "sh"];

/// Set inside a git hook: they would lead another's git to a checkout or an index that is not its own.
pub const LEADS_ASTRAY: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"];

/// Its input is a pipe from the supervisor. The first line is the group; when the pipe closes after that, the
/// supervisor is gone. `/proc` is there on Linux only; elsewhere the group is all that is ended.
/// In dash `kill -TERM -- -1` is an error, `kill -s TERM -- -1` is not.
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

/// A value by which what is started now is told from all else that runs.
pub fn unlike_any() -> String {
    format!("{}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish())
}

/// A process that outlives the supervisor by a moment. When both are killed at once, the check goes on.
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
        // Killed before its pipe is closed, or it would do its work.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.line = None;
    }
}
