//! What a human types: a real host in a terminal of its own (tmux).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use steadfast_hosts::launch::{LaunchOptions, claude, codex};
use steadfast_model::Host;
use steadfast_sim::{Cast, Scenario, ScriptedModel, Track};
use steadfast_testkit::skip;

use crate::agents::Program;
use crate::journal::{Journal, LET_GO, REFUSED};
use crate::spec::load;
use crate::world::{PROMPT, Scene};

on_every_host!(
    a_compaction_that_is_typed_is_heard,
    after_a_compaction_that_is_typed_the_plan_is_told_again,
    the_next_prompt_arms_the_stop_gate_again,
);
on!(a_session_in_a_terminal_behind_the_proxy_is_the_usual_one: claude_2_1_325, codex_0_166_0);
on!(after_clear_the_next_session_has_the_tasks: claude_2_1_325, claude_2_1_197);
on!(hooks_that_were_trusted_stay_so_when_init_is_run_again: codex_0_166_0);

fn a_compaction_that_is_typed_is_heard(program: &Program) {
    let scene = scene(program, 0);
    let Some(terminal) = Terminal::open(&scene, Scenario::new("talks").prompt("-").shell("ls").say("That is all."))
    else {
        return;
    };
    terminal.enter("Look around.");
    terminal.until("Stop", 1);
    terminal.enter("/compact");
    terminal.until("PostCompact", 1);
    let [session] = terminal.sessions().try_into().unwrap();
    let events = session.events();
    let compacting: Vec<_> = events.iter().skip_while(|event| **event != "Stop").copied().collect();
    match program.host() {
        // It starts anew with the next prompt.
        Host::Codex => assert_eq!(compacting, ["Stop", "PreCompact", "PostCompact"]),
        Host::Claude | Host::Sim => assert_eq!(compacting, ["Stop", "PreCompact", "SessionStart", "PostCompact"]),
    }
}

fn a_session_in_a_terminal_behind_the_proxy_is_the_usual_one(program: &Program) {
    let scene = scene(program, 0);
    let window = Window { starter: &["proxy", "--"], ..Window::USUAL };
    let talk = Scenario::new("talks").prompt("-").shell("ls").say("That is all.");
    let Some(terminal) = Terminal::open_in(window, &scene, talk) else { return };
    terminal.enter("Look around.");
    terminal.until("Stop", 1);
    terminal.wait("the last words", || terminal.screen().contains("That is all."));
    if program.is_claude() {
        // Two of them would end it.
        terminal.send(&["C-c"]);
        terminal.wait("the warning about the next one", || terminal.screen().contains("again to exit"));
    }
}

/// What the compaction dropped is in the next request: objective, constraints, decisions, the next task.
fn after_a_compaction_that_is_typed_the_plan_is_told_again(program: &Program) {
    let scene = scene(program, 0);
    load(&scene);
    let Some(terminal) = Terminal::open(&scene, Scenario::new("talks").prompt("-").say("Let me know!")) else {
        return;
    };
    terminal.enter("Run the plan.");
    terminal.until("Stop", 4);
    terminal.enter("/compact");
    terminal.until("PostCompact", 1);
    let before = terminal.model.requests().len();
    terminal.enter("Go on.");
    terminal.until("Stop", 5);
    let requests = terminal.model.requests();
    let next = requests[before..].iter().find(|request| request.track == Track::Main).unwrap().text();
    for part in ["The folder holds one.txt", "README.md stays as it is.", "1.1 Write one.txt", "Plain files"] {
        assert!(next.contains(part), "{part:?} is not in {next}");
    }
}

fn the_next_prompt_arms_the_stop_gate_again(program: &Program) {
    let scene = scene(program, 1);
    let Some(terminal) = Terminal::open(&scene, Scenario::new("talks").prompt("-").say("Let me know!")) else {
        return;
    };
    terminal.enter(PROMPT);
    terminal.until("Stop", 4);
    terminal.enter("Go on.");
    terminal.until("Stop", 8);
    let [session] = terminal.sessions().try_into().unwrap();
    assert_eq!(session.stops(), [REFUSED, REFUSED, REFUSED, LET_GO, REFUSED, REFUSED, REFUSED, LET_GO]);
}

fn after_clear_the_next_session_has_the_tasks(program: &Program) {
    let scene = scene(program, 1);
    let Some(terminal) = Terminal::open(&scene, Scenario::new("talks").prompt("-").say("Let me know!")) else {
        return;
    };
    terminal.enter(PROMPT);
    terminal.until("Stop", 4);
    terminal.enter("/clear");
    terminal.until("SessionStart", 2);
    terminal.enter("Go on.");
    terminal.until("Stop", 8);
    let [first, second] = terminal.sessions().try_into().unwrap();
    assert_eq!(first.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    assert_eq!(second.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
    assert_eq!(scene.status()["plan"]["owner"], second.session());
}

fn hooks_that_were_trusted_stay_so_when_init_is_run_again(program: &Program) {
    let scene = scene(program, 1);
    let talk = || Scenario::new("talks").prompt("-").say("Let me know!");
    let Some(first) = Terminal::open(&scene, talk()) else { return };
    drop(first);
    scene.init(&[]);
    let again = Terminal::start(&scene, talk());
    again.enter(PROMPT);
    again.until("Stop", 4);
    let [session] = again.sessions().try_into().unwrap();
    assert_eq!(session.stops(), [REFUSED, REFUSED, REFUSED, LET_GO]);
}

/// A terminal has first-run questions that `-p` and `exec` have not.
pub(crate) fn scene(program: &Program, tasks: usize) -> Scene {
    let scene = scene_with(program, &[]);
    for number in 1..=tasks {
        scene.steadfast(&["task", "add", &format!("piece {number}"), "--file", "README.md", "--verify", "true"]);
    }
    scene
}

/// With more arguments of `init`.
pub(crate) fn scene_with(program: &Program, init: &[&str]) -> Scene {
    let scene = Scene::bare(program);
    let root = scene.root();
    match program.host() {
        Host::Codex => {
            let config = scene.home().join(".codex/config.toml");
            let text = fs::read_to_string(&config).unwrap();
            let answered = format!(
                "[projects.\"{}\"]\ntrust_level = \"trusted\"\n\n\
                 [notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n",
                root.display()
            );
            fs::write(config, format!("{text}\n{answered}")).unwrap();
        }
        Host::Claude | Host::Sim => {
            let answered = json!({
                "hasCompletedOnboarding": true,
                "theme": "dark",
                "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
                "projects": {root.to_str().unwrap(): {"hasTrustDialogAccepted": true}},
            });
            fs::write(scene.home().join(".claude.json"), answered.to_string()).unwrap();
        }
    }
    scene.init(init);
    scene
}

/// What Claude Code asks its human.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Nothing before a command.
    NoCommands,
    /// Nothing before a command or a write.
    NoWrites,
    /// What it asks without any option.
    AsUsual,
}

impl Asking {
    /// The tools of Claude Code that run without a question.
    fn allowed_tools(self) -> Option<&'static str> {
        match self {
            Self::NoCommands => Some("Bash"),
            Self::NoWrites => Some("Bash Write"),
            Self::AsUsual => None,
        }
    }
}

/// What a screen asks for.
enum Next {
    Press(&'static str),
    Wait,
    Done,
}

/// Limit of every wait for a host in a terminal.
const PATIENCE: Duration = Duration::from_secs(120);

/// How large a terminal is, and what the host in it asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) asking: Asking,
    /// The arguments of our own binary that start the host. Empty: the host is started alone.
    pub(crate) starter: &'static [&'static str],
}

impl Window {
    pub(crate) const USUAL: Self = Self { columns: 160, rows: 50, asking: Asking::NoCommands, starter: &[] };
}

#[derive(Debug)]
pub(crate) struct Terminal<'a> {
    scene: &'a Scene,
    pub(crate) model: ScriptedModel,
    socket: PathBuf,
}

impl<'a> Terminal<'a> {
    /// Started for the first time, up to where a human can type.
    pub(crate) fn open(scene: &'a Scene, cast: impl Into<Cast>) -> Option<Self> {
        Self::open_in(Window::USUAL, scene, cast)
    }

    pub(crate) fn open_in(window: Window, scene: &'a Scene, cast: impl Into<Cast>) -> Option<Self> {
        if !is_there() {
            return None;
        }
        // There may have been sessions in this scene before.
        let before = count(&Journal::all(&scene.state()), &["SessionStart"]);
        let terminal = Self::start_in(window, scene, cast);
        match scene.program.host() {
            Host::Codex => terminal.trust(),
            Host::Claude | Host::Sim => terminal.until("SessionStart", before + 1),
        }
        Some(terminal)
    }

    fn start(scene: &'a Scene, cast: impl Into<Cast>) -> Self {
        Self::start_in(Window::USUAL, scene, cast)
    }

    fn start_in(window: Window, scene: &'a Scene, cast: impl Into<Cast>) -> Self {
        let model = ScriptedModel::start(cast).unwrap();
        let program = scene.program.path.clone();
        let alone = Some(scene.alone(model.url()));
        let options = LaunchOptions { program, prompt: String::new(), unasked: false, settings: None, alone };
        let (launch, args) = match scene.program.host() {
            Host::Codex => {
                let url = format!("model_providers.scripted.base_url=\"{}/v1\"", model.url());
                (codex(&options), vec!["-c".to_owned(), url])
            }
            Host::Claude | Host::Sim => {
                // Where it would ask a classifier of its own first, there is none.
                let mut args = vec!["--permission-mode", "default"];
                if let Some(tools) = window.asking.allowed_tools() {
                    args.extend(["--allowedTools", tools]);
                }
                (claude(&options), args.into_iter().map(str::to_owned).collect())
            }
        };
        // A server that is just ending still has its socket, so each has its own.
        let socket = scene.dir().join(format!("tmux-{}", model.port()));
        let terminal = Self { scene, model, socket };
        let output = terminal
            .tmux()
            .envs(launch.env)
            .args(["-u", "-f", "/dev/null", "new-session", "-d", "-x", &window.columns.to_string()])
            .args(["-y", &window.rows.to_string(), "-c"])
            .arg(scene.root())
            .args((!window.starter.is_empty()).then(|| scene.bin().join("steadfast")))
            .args(window.starter)
            .arg(&launch.program)
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        terminal
    }

    /// Codex runs no hook that a human has not accepted.
    fn trust(&self) {
        let config = self.scene.home().join(".codex/config.toml");
        let is_trusted = || fs::read_to_string(&config).unwrap().contains("trusted_hash");
        self.drive("the trust to be written", || {
            let screen = self.screen();
            if screen.contains("› 2. Trust all and continue") {
                Next::Press("Enter")
            } else if screen.contains("2. Trust all and continue") {
                Next::Press("2")
            } else if is_trusted() {
                Next::Done
            } else {
                Next::Wait
            }
        });
    }

    /// Types a line once the host has room for it. It was entered when the host has sent an event for it.
    pub(crate) fn enter(&self, text: &str) {
        let (mark, empty) = match self.scene.program.host() {
            Host::Codex => ('›', "› Ask Codex to do anything"),
            Host::Claude | Host::Sim => ('❯', "❯"),
        };
        self.wait("an empty input line", || self.screen().lines().any(|line| line.trim_end().ends_with(empty)));
        let before = self.entered();
        self.send(&["-l", text]);
        // An older line with the same text may be further up, behind the same mark.
        let is_typed =
            || self.screen().lines().rfind(|line| line.contains(mark)).is_some_and(|line| line.contains(text));
        self.wait("the line to be typed", is_typed);
        self.drive("an event for the entered line", || {
            if self.entered() > before {
                Next::Done
            } else if is_typed() {
                Next::Press("Enter")
            } else {
                Next::Wait
            }
        });
    }

    /// Counts the events that only an entered line causes: a prompt, `/compact`, `/clear`.
    fn entered(&self) -> usize {
        let is_entered =
            |event: &&str| ["UserPromptSubmit", "PreCompact", "SessionStart", "SessionEnd"].contains(event);
        self.sessions().iter().map(|session| session.events().iter().filter(|event| is_entered(event)).count()).sum()
    }

    /// Presses a key until the state it leads to is there.
    pub(crate) fn press(&self, key: &'static str, is_there: impl Fn() -> bool) {
        self.drive(&format!("what `{key}` leads to"), || if is_there() { Next::Done } else { Next::Press(key) });
    }

    /// Presses the keys that each screen asks for until the state is there.
    ///
    /// A host that has just drawn a screen may still throw keys away, so a key is pressed again; not before two seconds
    /// have passed, since a second press would answer the next question.
    fn drive(&self, what: &str, next: impl Fn() -> Next) {
        let mut last: Option<(&str, Instant)> = None;
        self.wait(what, || match next() {
            Next::Done => true,
            Next::Wait => false,
            Next::Press(key) => {
                if last.is_none_or(|(before, at)| before != key || at.elapsed() > Duration::from_secs(2)) {
                    self.send(&[key]);
                    last = Some((key, Instant::now()));
                }
                false
            }
        });
    }

    /// Waits until so many of these events of the main thread have arrived, in all sessions.
    pub(crate) fn until(&self, event: &str, expected: usize) {
        self.wait(&format!("{expected} {event}"), || count(&self.sessions(), &[event]) >= expected);
    }

    pub(crate) fn wait(&self, what: &str, done: impl FnMut() -> bool) {
        self.wait_within(PATIENCE, what, done);
    }

    pub(crate) fn wait_within(&self, limit: Duration, what: &str, mut done: impl FnMut() -> bool) {
        let started = Instant::now();
        while !done() {
            if started.elapsed() > limit {
                let events: Vec<_> = self.sessions().iter().map(|session| session.events().join(" ")).collect();
                panic!("waited {limit:?} for {what}; events: {events:?}; screen:\n{}", self.screen());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the host as nothing else does.
    pub(crate) fn kill(&self) {
        let pane = self.tmux().args(["display-message", "-p", "#{pane_pid}"]).output().unwrap();
        let host = String::from_utf8_lossy(&pane.stdout).trim().to_owned();
        assert!(Command::new("kill").args(["-9", &host]).status().unwrap().success());
    }

    /// All sessions so far, the oldest first.
    pub(crate) fn sessions(&self) -> Vec<Journal> {
        Journal::all(&self.scene.state())
    }

    pub(crate) fn screen(&self) -> String {
        let output = self.tmux().args(["capture-pane", "-p"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn program(&self) -> &Program {
        &self.scene.program
    }

    /// The screen with its colours.
    pub(crate) fn painted(&self) -> String {
        let output = self.tmux().args(["capture-pane", "-e", "-p"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn send(&self, keys: &[&str]) -> Output {
        self.tmux().arg("send-keys").args(keys).output().unwrap()
    }

    fn tmux(&self) -> Command {
        tmux(&self.socket)
    }
}

/// False, and the test is skipped, without `tmux`.
pub(crate) fn is_there() -> bool {
    let started = Command::new("tmux").arg("-V").output();
    started.map_err(|error| skip("terminals", &format_args!("`tmux` cannot be started: {error}"))).is_ok()
}

/// A server of its own for each socket.
pub(crate) fn tmux(socket: &Path) -> Command {
    let mut tmux = Command::new("tmux");
    tmux.arg("-S").arg(socket).env_clear().env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
    tmux.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
    tmux
}

/// The number of these events of the main thread, in all sessions.
fn count(sessions: &[Journal], events: &[&str]) -> usize {
    sessions.iter().flat_map(Journal::events).filter(|event| events.contains(event)).count()
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let pane = self.tmux().args(["display-message", "-p", "#{pane_pid}"]).output();
        let _ = self.tmux().arg("kill-server").output();
        // On its way out the host still writes into the scene, which is about to be removed.
        let Ok(pane) = pane else { return };
        let host = String::from_utf8_lossy(&pane.stdout).trim().to_owned();
        let lives = || Command::new("kill").args(["-0", &host]).output().is_ok_and(|output| output.status.success());
        let started = Instant::now();
        while !host.is_empty() && lives() && started.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
