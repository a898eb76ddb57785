//! What a human types: a real host in a terminal of its own (tmux).

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use steadfast_hosts::launch::{LaunchOptions, claude};
use steadfast_sim::{Scenario, ScriptedModel};

use crate::agents::{Program, skipped};
use crate::journal::{Journal, LET_GO, REFUSED};
use crate::world::{PROMPT, Scene};

on!(a_compaction_that_is_typed_is_heard: claude_2_1_325, claude_2_1_197);
on!(the_next_prompt_arms_the_stop_gate_again: claude_2_1_325, claude_2_1_197);
on!(after_clear_the_next_session_has_the_tasks: claude_2_1_325, claude_2_1_197);

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
    let compacting = events.iter().skip_while(|event| **event != "Stop").copied();
    assert_eq!(compacting.collect::<Vec<_>>(), ["Stop", "PreCompact", "SessionStart", "PostCompact"]);
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

/// A terminal has first-run questions that `-p` has not.
fn scene(program: &Program, tasks: usize) -> Scene {
    let scene = Scene::bare(program);
    let answered = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["dummy-key"], "rejected": []},
        "projects": {scene.root().to_str().unwrap(): {"hasTrustDialogAccepted": true}},
    });
    fs::write(scene.home().join(".claude.json"), answered.to_string()).unwrap();
    scene.init(&[]);
    for number in 1..=tasks {
        scene.steadfast(&["task", "add", &format!("piece {number}")]);
    }
    scene
}

#[derive(Debug)]
struct Terminal<'a> {
    scene: &'a Scene,
    _model: ScriptedModel,
    socket: PathBuf,
}

impl<'a> Terminal<'a> {
    fn open(scene: &'a Scene, scenario: Scenario) -> Option<Self> {
        if let Err(error) = Command::new("tmux").arg("-V").output() {
            skipped("tmux", &error);
            return None;
        }
        let model = ScriptedModel::start(scenario).unwrap();
        let alone = Some(scene.alone(model.url()));
        let program = scene.program.path.clone();
        let prompt = String::new();
        let launch = claude(&LaunchOptions { program, prompt, unasked: false, settings: None, alone });
        let terminal = Self { scene, _model: model, socket: scene.dir().join("tmux") };
        let output = terminal
            .tmux()
            .envs(launch.env)
            .args(["-u", "-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "50", "-c"])
            .arg(scene.root())
            .arg(&launch.program)
            .args(["--allowedTools", "Bash"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        terminal.until("SessionStart", 1);
        Some(terminal)
    }

    /// Types a line once the host has room for it.
    fn enter(&self, text: &str) {
        let typed = |screen: &str| screen.lines().any(|line| line.contains('❯') && line.contains(text));
        self.wait("an empty input line", || self.screen().lines().any(|line| line.trim_end().ends_with('❯')));
        self.send(&["-l", text]);
        self.wait("the line to be typed", || typed(&self.screen()));
        self.send(&["Enter"]);
    }

    /// Waits until so many of these events of the main thread have arrived, in all sessions.
    fn until(&self, event: &str, count: usize) {
        let seen = || self.sessions().iter().flat_map(Journal::events).filter(|name| *name == event).count();
        self.wait(&format!("{count} {event}"), || seen() >= count);
    }

    fn wait(&self, what: &str, done: impl Fn() -> bool) {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(30), "waited for {what}:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// All sessions so far, the oldest first.
    fn sessions(&self) -> Vec<Journal> {
        Journal::all(&self.scene.state())
    }

    fn screen(&self) -> String {
        let output = self.tmux().args(["capture-pane", "-p"]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn send(&self, keys: &[&str]) -> Output {
        self.tmux().arg("send-keys").args(keys).output().unwrap()
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).env_clear().env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        tmux.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::null());
        tmux
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.tmux().arg("kill-server").output();
    }
}
