use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steadfast_model::SessionId;
use steadfast_store::{ConfigFiles, Place, SessionFiles};

use crate::Result;
use crate::process::run;

/// A hook answers within a second. A busy machine gets more time.
const HOOK: Duration = Duration::from_secs(5);

const COMMAND: Duration = Duration::from_secs(30);

/// A separate repository and home, and the binary as a user has it.
pub(super) struct Scene {
    dir: Arc<tempfile::TempDir>,
    binary: PathBuf,
}

/// The output and the exit of a process.
pub(super) struct Said {
    /// `None`: the process was killed.
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
    pub(super) took: Duration,
}

/// A process with a time limit.
pub(super) struct Running {
    child: Child,
    started: Instant,
    limit: Duration,
    what: String,
}

impl Scene {
    pub(super) fn new(binary: &Path) -> Result<Self> {
        let dir = Arc::new(tempfile::Builder::new().prefix("steadfast-faults-").tempdir()?);
        let scene = Self { binary: dir.path().join("bin/steadfast"), dir };
        for folder in [scene.root(), scene.home(), scene.path("bin")] {
            fs::create_dir(folder)?;
        }
        fs::copy(binary, scene.binary())?;
        run(Command::new("git").args(["init", "--quiet"]).arg(scene.root()))?;
        Ok(scene)
    }

    /// Returns the same repository and home, for another version of the binary.
    pub(super) fn beside(&self, version: &str, binary: &Path) -> Result<Self> {
        let folder = self.path("bin").join(version);
        fs::create_dir(&folder)?;
        let scene = Self { dir: Arc::clone(&self.dir), binary: folder.join("steadfast") };
        fs::copy(binary, scene.binary())?;
        Ok(scene)
    }

    /// Does a human's first steps: `init`, and this number of tasks.
    pub(super) fn init(&self, tasks: u32) -> Result<()> {
        self.run(&["init", "--host", "claude", "--yes"])?.ok()?;
        for n in 1..=tasks {
            self.run(&["task", "add", &format!("Task {n}")])?.ok()?;
        }
        Ok(())
    }

    /// Runs `init` and adds tasks that session `session` works on.
    pub(super) fn at_work(&self, session: &str, tasks: u32) -> Result<()> {
        self.init(tasks)?;
        self.prompt(session, "do the tasks")?.passes()?;
        self.as_agent(session, &["task", "start", "1"])?.ok()?;
        Ok(())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.path("repo")
    }

    pub(super) fn state(&self) -> PathBuf {
        self.root().join(".git/steadfast")
    }

    pub(super) fn binary(&self) -> PathBuf {
        self.binary.clone()
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub(super) fn place(&self) -> Place {
        Place { state: self.state(), root: self.root() }
    }

    pub(super) fn config(&self) -> ConfigFiles {
        ConfigFiles::of(&self.place(), None)
    }

    pub(super) fn session(&self, session: &str) -> SessionFiles {
        SessionFiles::of(&self.place(), &SessionId::new(session))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.binary());
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command.current_dir(self.root()).env_clear().env("HOME", self.home()).env("PATH", path);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a human's command with a long time limit.
    pub(super) fn start_for(&self, limit: Duration, arguments: &[&str]) -> Result<Running> {
        Running::start(self.command().args(arguments), limit, arguments.join(" "))
    }

    /// Returns git's output.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("git").args(arguments).current_dir(self.root()).env("HOME", self.home()).output()?;
        if !output.status.success() {
            return Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
    }

    /// Starts a command of a human, or of the agent in `session`.
    pub(super) fn start(&self, session: Option<&str>, arguments: &[&str]) -> Result<Running> {
        let mut command = self.command();
        command.args(arguments);
        if let Some(session) = session {
            command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        }
        Running::start(&mut command, COMMAND, arguments.join(" "))
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Result<Said> {
        self.start(None, arguments)?.end()
    }

    pub(super) fn as_agent(&self, session: &str, arguments: &[&str]) -> Result<Said> {
        self.start(Some(session), arguments)?.end()
    }

    /// Starts a hook that waits for its payload.
    pub(super) fn open_hook(&self, event: &str) -> Result<Running> {
        let mut command = self.command();
        command.args(["hook", "--host", "claude", "--via", "local", event]).stdin(Stdio::piped());
        Running::start(&mut command, HOOK, format!("hook {event}"))
    }

    pub(super) fn payload(&self, session: &str, mut more: Value) -> String {
        more["session_id"] = session.into();
        more["cwd"] = self.root().to_string_lossy().into();
        more.to_string()
    }

    pub(super) fn start_hook(&self, event: &str, session: &str, more: Value) -> Result<Running> {
        let mut running = self.open_hook(event)?;
        running.feed(self.payload(session, more).as_bytes());
        Ok(running)
    }

    pub(super) fn start_stop(&self, session: &str) -> Result<Running> {
        self.start_hook("Stop", session, json!({"stop_hook_active": false, "background_tasks": []}))
    }

    /// `event` is `PreToolUse` or `PostToolUse`.
    pub(super) fn start_tool(&self, event: &str, session: &str, call: &str) -> Result<Running> {
        let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "src/lib.rs"}, "tool_use_id": call});
        self.start_hook(event, session, edit)
    }

    pub(super) fn stop(&self, session: &str) -> Result<Said> {
        self.start_stop(session)?.end()
    }

    pub(super) fn tool(&self, session: &str, call: &str) -> Result<Said> {
        self.start_tool("PreToolUse", session, call)?.end()
    }

    pub(super) fn prompt(&self, session: &str, text: &str) -> Result<Said> {
        self.start_hook("UserPromptSubmit", session, json!({"prompt": text}))?.end()
    }
}

impl Running {
    fn start(command: &mut Command, limit: Duration, what: String) -> Result<Self> {
        let started = Instant::now();
        let child = command.spawn().map_err(|error| format!("cannot start `{what}`: {error}"))?;
        Ok(Self { child, started, limit, what })
    }

    /// Writes everything and closes the pipe. A process that was killed or has answered does not read it.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.write(bytes);
        self.close();
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if let Some(pipe) = &mut self.child.stdin {
            let _ = pipe.write_all(bytes);
        }
    }

    pub(super) fn close(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Kills only its own process: the id is not reused before the process was waited for.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Waits for the process. Its output is smaller than the buffer of a pipe.
    pub(super) fn end(mut self) -> Result<Said> {
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if self.started.elapsed() > self.limit {
                self.kill();
                self.child.wait()?;
                return Err(format!("`{}` hangs: no end after {:?}", self.what, self.limit).into());
            }
            thread::sleep(Duration::from_micros(200));
        };
        let took = self.started.elapsed();
        let said = Said {
            code: status.code(),
            out: text(self.child.stdout.take())?,
            err: text(self.child.stderr.take())?,
            took,
        };
        // 101 is a panic. A missing status is an unexpected signal, if the caller checks it.
        if said.code == Some(101) || said.err.contains("panicked") {
            return Err(format!("`{}` panicked: {}", self.what, said.err).into());
        }
        Ok(said)
    }
}

impl Said {
    /// Returns the output of a command that must succeed.
    pub(super) fn ok(&self) -> Result<&str> {
        if self.code == Some(0) { Ok(&self.out) } else { Err(format!("a command failed: {}", self.told()).into()) }
    }

    /// Returns the error of a command that must fail.
    pub(super) fn fails(&self) -> Result<&str> {
        match self.code {
            Some(1 | 2) => Ok(&self.err),
            _ => Err(format!("a command did not fail as it should: {}", self.told()).into()),
        }
    }

    pub(super) fn refuses_stop(&self) -> bool {
        self.out.contains("\"decision\":\"block\"")
    }

    pub(super) fn denies(&self) -> bool {
        self.out.contains("\"permissionDecision\":\"deny\"")
    }

    /// Checks that the hook does not block the host: it succeeds and refuses nothing.
    pub(super) fn passes(&self) -> Result<()> {
        if self.code == Some(0) && !self.refuses_stop() && !self.denies() {
            return Ok(());
        }
        Err(format!("a hook blocks its host: {}", self.told()).into())
    }

    pub(super) fn silent(&self) -> Result<()> {
        self.passes()?;
        if self.out.is_empty() { Ok(()) } else { Err(format!("a hook should be silent: {}", self.told()).into()) }
    }

    /// Checks that the hook refuses as usual.
    pub(super) fn refused(&self) -> Result<()> {
        if self.code == Some(0) && self.refuses_stop() {
            return Ok(());
        }
        Err(format!("the stop should be refused: {}", self.told()).into())
    }

    pub(super) fn told(&self) -> String {
        format!("exit {:?}, stdout {:?}, stderr {:?}", self.code, self.out, self.err)
    }
}

fn text(pipe: Option<impl Read>) -> Result<String> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
