//! The door through which checks are started, and the watcher that ends one when its supervisor is gone.

#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::report::CheckRun;

const SHELL: &str = "/bin/sh";

/// By this variable a process of a check is known when nothing else connects it with the check any more.
const RUN: &str = "STEADFAST_CHECK_RUN";

/// The check waits for a line before it begins. When its supervisor dies before the watcher knows of it, it ends.
const CHECK: &str = r#"read -r begin || exit 125; exec "$@" </dev/null"#;

/// Its input is a pipe from the supervisor. The first line is the group; when the pipe closes after that, the
/// supervisor is gone. `/proc` is there on Linux only; elsewhere the group is all that is ended.
/// In dash `kill -TERM -- -1` is an error, `kill -s TERM -- -1` is not.
const WATCHER: &str = r#"trap '' HUP INT TERM
read -r group || exit 0
read -r over && exit 0
kill -s TERM -- "-$group"
sleep 1
kill -s KILL -- "-$group"
for found in $(grep -slF "$1" /proc/[0-9]*/environ); do
  found=${found#/proc/}
  kill -s KILL "${found%/environ}"
done"#;

/// Nobody is there to answer: whoever asks is told so at once.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("TERM", "dumb"),
    ("CI", "true"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// Set inside a git hook: they would lead the check's git to another checkout or index.
const LEADS_ASTRAY: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"];

#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) output: PipeReader,
    pub(crate) watcher: Watcher,
}

/// `within` are the words of a program that starts the shell, if there is one.
pub(crate) fn start(run: &CheckRun, within: &[String]) -> io::Result<Started> {
    let mark = format!("{RUN}={}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish());
    let mut watcher = Watcher::start(&mark)?;
    let (output, writer) = io::pipe()?;
    let mut child = {
        let mut command = Command::new(SHELL);
        let (name, value) = mark.split_once('=').unwrap_or((RUN, &mark));
        command
            .args(["-c", CHECK, "sh"])
            .args(within)
            .args([SHELL, "-c", &run.command])
            .current_dir(&run.directory)
            .envs(ENVIRONMENT)
            .env("PWD", &run.directory)
            .env("STEADFAST_CHECK", &run.task)
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        for name in LEADS_ASTRAY {
            command.env_remove(name);
        }
        command.envs(run.environment.iter().map(|(name, value)| (name, value)));
        // The command holds the writing end until it is dropped.
        command.spawn()?
    };
    // A check that is not told to begin ends by itself.
    watcher.guard(child.id())?;
    if let Some(mut begin) = child.stdin.take() {
        begin.write_all(b"\n")?;
    }
    Ok(Started { child, output, watcher })
}

/// A process that outlives the supervisor by a moment. When both are killed at once, the check goes on.
#[derive(Debug)]
pub(crate) struct Watcher {
    child: Child,
    line: Option<ChildStdin>,
}

impl Watcher {
    fn start(mark: &str) -> io::Result<Self> {
        let mut child = Command::new(SHELL)
            .args([OsStr::new("-c"), OsStr::new(WATCHER), OsStr::new("sh"), OsStr::new(mark)])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let line = child.stdin.take();
        Ok(Self { child, line })
    }

    fn guard(&mut self, group: u32) -> io::Result<()> {
        self.line.as_mut().map_or(Ok(()), |line| writeln!(line, "{group}"))
    }

    pub(crate) fn id(&self) -> u32 {
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
