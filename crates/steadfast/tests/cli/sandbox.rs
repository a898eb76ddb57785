use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

use serde_json::Value;
use steadfast_hook::replay_journal;
use steadfast_model::{Entry, Event, Record, SessionId, State};
use steadfast_store::{Place, SessionFiles, read_lines};
use steadfast_testkit::{PATIENCE, skip, skip_optional, wait_for};

/// A repository and a home of their own, and the binary as a user has it: on the PATH, outside any build folder.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    /// Sessions with records that no rule decided.
    invented: Mutex<Vec<SessionId>>,
}

/// Each journal of a test is replayed with its facts: the rules decide again as they did.
impl Drop for Sandbox {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let Some(place) = Place::of(&self.root(), None) else { return };
        let invented = self.invented.lock().unwrap();
        for files in SessionFiles::all(&place).into_iter().filter(|files| !invented.contains(files.session())) {
            let Ok((_, lines)) = read_lines(files.dir(), 0) else { continue };
            let other = replay_journal(lines).find(|replayed| !replayed.is_same());
            assert!(other.is_none(), "{} decides otherwise in a replay: {other:#?}", files.dir().display());
        }
    }
}

impl Sandbox {
    /// A fresh git repository.
    pub(crate) fn bare() -> Self {
        let dir = tempfile::Builder::new().prefix("steadfast-cli").tempdir().unwrap();
        let sandbox = Self { dir, invented: Mutex::default() };
        for folder in [sandbox.root(), sandbox.home(), sandbox.dir.path().join("bin")] {
            fs::create_dir(folder).unwrap();
        }
        // A copy costs 100 MB for a debug build; a symbolic link to a build folder would be refused by `init`.
        let tested = program();
        if fs::hard_link(&tested, sandbox.binary()).is_err() {
            copy_program(&tested, &sandbox.binary());
        }
        let init = Command::new("git").args(["init", "--quiet"]).arg(sandbox.root()).status().unwrap();
        assert!(init.success());
        sandbox
    }

    /// One in which a human ran `init`.
    pub(crate) fn new() -> Self {
        let sandbox = Self::bare();
        sandbox.ok(&["init", "--host", "claude", "--yes"]);
        sandbox
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn binary(&self) -> PathBuf {
        self.dir.path().join("bin/steadfast")
    }

    /// The skills of `ledger.ui_skills`, for the user.
    pub(crate) fn with_ui_skills(self) -> Self {
        for name in ["frontend-design", "vercel-design-guidelines"] {
            self.install_skill(name);
        }
        self
    }

    pub(crate) fn install_skill(&self, name: &str) {
        let folder = self.home().join(".claude/skills").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), format!("---\nname: {name}\ndescription: Shapes\n---\n")).unwrap();
    }

    pub(crate) fn place(&self) -> Place {
        Place::of(&self.root(), None).unwrap()
    }

    /// The user's own settings for this repository.
    pub(crate) fn set_own(&self, settings: &str) {
        fs::write(self.place().state.join("steadfast.toml"), settings).unwrap();
    }

    pub(crate) fn command(&self) -> Command {
        self.command_of(&self.binary())
    }

    /// A call of another program in the same surroundings.
    pub(crate) fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/bin:/bin", self.dir.path().join("bin").display());
        command.current_dir(self.root()).env_clear().env("HOME", self.home()).env("PATH", path).env("TZ", "UTC");
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    /// What a command that must succeed prints.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit code and what a command that must fail says, without the paths of this sandbox.
    pub(crate) fn fails(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?} succeeded");
        (output.status.code().unwrap(), self.without_paths(&output.stderr))
    }

    /// The same as an agent inside a tool call of session `session`.
    pub(crate) fn as_agent(&self, session: &str, arguments: &[&str]) -> Output {
        let mut command = self.command();
        command.args(arguments).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
        command.output().unwrap()
    }

    /// The same for a process that can make no file longer: to it, every disk is full.
    pub(crate) fn full(&self, arguments: &[&str]) -> Output {
        self.through("trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"", &["sh", "-c"], arguments)
    }

    /// The same on another machine: `script` mounts what makes it another, seen by this process alone, and goes on with
    /// `exec "$0" "$@"`. None where nothing can be mounted.
    pub(crate) fn elsewhere(&self, script: &str, arguments: &[&str]) -> Option<Output> {
        may_mount().then(|| self.through(script, &["unshare", "--map-root-user", "--mount", "sh", "-c"], arguments))
    }

    /// The same where there is not even a loopback interface.
    pub(crate) fn without_network(&self, script: &str, arguments: &[&str]) -> Option<Output> {
        may_mount().then(|| self.through(script, &["unshare", "--map-root-user", "--net", "sh", "-c"], arguments))
    }

    /// The same in a container of which only the inside is seen: who called from outside has no number there.
    pub(crate) fn entered(&self, script: &str, arguments: &[&str]) -> Option<Output> {
        let shell = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", "bash", "-c"];
        may_mount().then(|| self.through(script, &shell, arguments))
    }

    fn through(&self, script: &str, shell: &[&str], arguments: &[&str]) -> Output {
        let bare = self.command();
        let mut command = Command::new(shell[0]);
        command.env_clear().envs(bare.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.args(&shell[1..]).arg(script).arg(self.binary()).args(arguments);
        command.current_dir(self.root()).stdin(Stdio::null()).output().unwrap()
    }

    /// The same at a terminal: its exit code and all that is seen there. Nothing is typed before `question` was asked, or
    /// the echo of it could come first.
    pub(crate) fn at_terminal(&self, arguments: &str, question: &str, typed: &str) -> (i32, String) {
        self.in_dialog(&[], arguments, &[(question, typed)])
    }

    /// The same with variables, and with several questions.
    pub(crate) fn in_dialog(
        &self,
        variables: &[(&str, &str)],
        arguments: &str,
        dialog: &[(&str, &str)],
    ) -> (i32, String) {
        let call = format!("'{}' {arguments}", self.binary().display());
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &call, "/dev/null"]);
        command.current_dir(self.root()).env_clear().env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        command.envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut seen, mut byte) = (Vec::new(), [0]);
        for (question, typed) in dialog {
            let asked = seen.len();
            while !seen[asked..].ends_with(question.as_bytes()) {
                assert_eq!(output.read(&mut byte).unwrap(), 1, "not asked: {}", String::from_utf8_lossy(&seen));
                seen.extend(byte);
            }
            input.write_all(typed.as_bytes()).unwrap();
        }
        output.read_to_end(&mut seen).unwrap();
        (child.wait().unwrap().code().unwrap(), self.without_paths(&seen).replace('\r', ""))
    }

    /// What a command shows at a terminal of this size, with its escape sequences.
    pub(crate) fn on_screen(&self, arguments: &str, size: (u16, u16)) -> String {
        self.paged(arguments, size, "cat")
    }

    /// The same with a pager.
    pub(crate) fn paged(&self, arguments: &str, (columns, rows): (u16, u16), pager: &str) -> String {
        let call = format!("stty cols {columns} rows {rows}; '{}' {arguments}", self.binary().display());
        let bare = self.command();
        let mut command = Command::new("script");
        command.env_clear().envs(bare.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh").env("PAGER", pager);
        command.args(["--quiet", "--return", "--command", &call, "/dev/null"]).current_dir(self.root());
        let output = command.stdin(Stdio::null()).output().unwrap();
        self.without_paths(&output.stdout).replace('\r', "")
    }

    /// What was said, without the paths of this sandbox.
    pub(crate) fn without_paths(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace(&self.dir.path().display().to_string(), "")
    }

    /// Starts a hook with its payload.
    pub(crate) fn start_hook(&self, event: &str, payload: &Value) -> Child {
        let mut child = self
            .command()
            .args(["hook", "--host", "claude", "--via", "local", event])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // One that was killed by the test does not read.
        let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
        child
    }

    pub(crate) fn hook(&self, event: &str, session: &str, mut more: Value) -> String {
        more["session_id"] = session.into();
        more["cwd"] = self.root().to_str().into();
        let output = self.start_hook(event, &more).wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    /// Whether stopping is refused.
    pub(crate) fn stop_is_refused(&self, session: &str) -> bool {
        let stop = serde_json::json!({"stop_hook_active": false, "background_tasks": []});
        self.hook("Stop", session, stop).contains("\"decision\":\"block\"")
    }

    pub(crate) fn session(&self, session: &str) -> SessionFiles {
        SessionFiles::of(&self.place(), &SessionId::new(session))
    }

    /// Writes a record that no rule decided into the journal of its session.
    pub(crate) fn invent(&self, record: Record) -> SessionFiles {
        let Event { session, host, at, .. } = record.event.clone();
        let files = self.session(session.as_str());
        self.invented.lock().unwrap().push(session.clone());
        files.update(PATIENCE, None, || State::new(session, host, at), |_| (record, ())).unwrap();
        files
    }

    /// The processes of this sandbox's program, those that hooks started beside themselves too.
    pub(crate) fn processes(&self) -> Vec<PathBuf> {
        let all = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
        all.filter(|process| fs::read_link(process.join("exe")).is_ok_and(|exe| exe == self.binary())).collect()
    }

    /// Waits for the end of all that hooks started beside themselves. A process that a hook starts runs when the hook ends.
    pub(crate) fn wait_until_quiet(&self) {
        wait_for("the end of what the hooks started", || match &self.processes()[..] {
            [] => Ok(()),
            left => Err(format!("{left:?}")),
        });
    }

    /// Gives the state of a session another version; returns which it was.
    pub(crate) fn set_version(&self, session: &str, version: u32) -> Value {
        let path = self.session(session).dir().join("state");
        let mut cache: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        cache.as_object_mut().unwrap().remove("checksum");
        let before = cache["state"]["version"].take();
        cache["state"]["version"] = version.into();
        fs::write(path, cache.to_string()).unwrap();
        before
    }
}

/// The text with `just now` for all that is less than a minute ago: how long ago it was depends on the machine.
pub(crate) fn as_just_now(text: &str) -> String {
    (1..60).rev().fold(text.to_owned(), |text, seconds| text.replace(&format!("{seconds} s ago"), "just now"))
}

/// A script that can be executed at once. Another process writes it: while this one has a file open for writing, a child
/// that another test just forked has it open too, and what is open for writing cannot be executed.
pub(crate) fn write_program(path: &Path, script: &str) {
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
    assert!(Command::new("sh").args(["-c", write]).arg(path).arg(script).status().unwrap().success());
}

/// The program under test: `STEADFAST_BINARY`, or the one that Cargo built.
#[expect(clippy::disallowed_methods, reason = "what `cargo xtask test` says to a test")]
pub(crate) fn program() -> PathBuf {
    std::env::var_os("STEADFAST_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_steadfast").into(), PathBuf::from)
}

/// A copy that can be executed at once, for the same reason made by another process.
pub(crate) fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// Whether file systems can be mounted here; otherwise the test is skipped. In CI that is a failure, unless
/// `STEADFAST_NO_MOUNT` says why they cannot.
pub(crate) fn may_mount() -> bool {
    static CANNOT: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let cannot = CANNOT.get_or_init(|| {
        let probe = ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"];
        match Command::new("unshare").args(probe).output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Some(format!("`unshare` cannot be started: {error}")),
        }
    });
    if let Some(why) = cannot {
        match std::env::var("STEADFAST_NO_MOUNT") {
            Ok(excuse) => skip_optional("mount", &format_args!("{why} (STEADFAST_NO_MOUNT={excuse})")),
            Err(_) => skip("mount", why),
        }
    }
    cannot.is_none()
}

/// What must hold of a session's files, whoever died when: no gap in the journal, and the snapshot is its fold.
pub(crate) fn check_session(files: &SessionFiles) -> State {
    let state = files.load(PATIENCE).unwrap().unwrap();
    let (_, lines) = read_lines(files.dir(), 0).unwrap();
    for (expected, line) in (1..).zip(&lines) {
        assert_eq!(line.sequence, expected, "the journal of {} has a gap", files.session());
        assert!(matches!(line.entry, Entry::Record(_)));
    }
    assert_eq!(lines.last().unwrap().sequence, state.sequence);
    remove(&files.dir().join("state"));
    assert_eq!(files.load(PATIENCE).unwrap(), Some(state.clone()), "the snapshot is not the fold of the journal");
    state
}

fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}
