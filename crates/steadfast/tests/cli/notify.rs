//! `ui.notify`: a human is told when a session or a run needs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use steadfast_testkit::wait_for;

use crate::sandbox::Sandbox;

const SESSION: &str = "s-1";

/// A sandbox whose user is told by a program that writes a line for each call.
fn with_notifier() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    let (program, told) = (sandbox.home().join("tell"), sandbox.home().join("told"));
    let script = format!("#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" >> '{0}'\necho >> '{0}'\n", told.display());
    fs::write(&program, script).unwrap();
    let status = Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    assert!(status.success());
    sandbox.set_own(&format!("[ui]\nnotify = \"{} --now\"\n", program.display()));
    (sandbox, told)
}

impl Sandbox {
    fn question(call: &str) -> Value {
        json!({"tool_name": "AskUserQuestion", "tool_use_id": call, "tool_input": {"questions":
            [{"question": "Which database?", "header": "db", "options": [{"label": "a"}, {"label": "b"}]}]}})
    }

    fn wants_permission(&self, call: &str) {
        let bash = json!({"tool_name": "Bash", "tool_use_id": call, "tool_input": {"command": "make deploy"}});
        self.hook("PermissionRequest", SESSION, bash);
    }
}

/// Waits until the program was called this often, and returns the calls without the name of the folder.
fn calls(sandbox: &Sandbox, told: &Path, count: usize) -> Vec<String> {
    let read = || fs::read_to_string(told).unwrap_or_default();
    wait_for("the notifier", || if read().lines().count() >= count { Ok(()) } else { Err(read()) });
    let folder = sandbox.root().file_name().unwrap().to_string_lossy().into_owned();
    read().lines().map(|line| line.replace(&folder, "FOLDER")).collect()
}

#[test]
fn a_question_and_a_permission_prompt_are_told_once_each() {
    let (sandbox, told) = with_notifier();
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Build it."}));
    let question = Sandbox::question("c-1");
    sandbox.hook("PreToolUse", SESSION, question.clone());
    assert_eq!(calls(&sandbox, &told, 1), ["2|--now|Claude Code session in FOLDER asks you a question|"]);
    // The same event, as through another wiring.
    sandbox.hook("PreToolUse", SESSION, question);
    sandbox.wants_permission("c-2");
    let two = calls(&sandbox, &told, 2);
    assert_eq!(two[1], "2|--now|Claude Code session in FOLDER asks for your permission to use Bash|");
    sandbox.wants_permission("c-2");
    sandbox.wants_permission("c-3");
    assert_eq!(calls(&sandbox, &told, 3).len(), 3);
    // Ordinary calls say nothing.
    sandbox.hook("PreToolUse", SESSION, json!({"tool_name": "Read", "tool_use_id": "c-4", "tool_input": {}}));
    sandbox.wants_permission("c-5");
    assert_eq!(calls(&sandbox, &told, 4).len(), 4);
}

#[test]
fn a_capped_stop_is_told() {
    let (sandbox, told) = with_notifier();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Do the tasks."}));
    let mut refusals = 0;
    while sandbox.stop_is_refused(SESSION) {
        refusals += 1;
        assert!(refusals < 60, "it is never let go");
    }
    assert_eq!(calls(&sandbox, &told, 1), ["2|--now|Claude Code session in FOLDER stopped with open tasks (capped)|"]);
}

#[test]
fn a_project_cannot_set_it_and_without_a_setting_nothing_is_started() {
    let sandbox = Sandbox::new();
    let told = sandbox.home().join("told");
    let set = format!("[ui]\nnotify = 'touch {}'\n[run]\nnotify = 'touch {}'\n", told.display(), told.display());
    fs::write(sandbox.root().join("steadfast.toml"), set).unwrap();
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Build it."}));
    let question = Sandbox::question("c-1");
    sandbox.hook("PreToolUse", SESSION, question);
    // Nothing was started, so no key was written.
    assert!(!sandbox.place().state.join("notices").exists() && !told.exists());
    let shown = sandbox.ok(&["config", "show"]);
    assert!(shown.contains("ui.notify"), "{shown}");
}

#[test]
fn a_notifier_that_fails_is_in_the_log_and_harms_nothing() {
    let sandbox = Sandbox::new();
    sandbox.set_own("[ui]\nnotify = \"exit 3; true\"\n");
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Build it."}));
    let question = Sandbox::question("c-1");
    sandbox.hook("PreToolUse", SESSION, question);
    let log = sandbox.place().state.join("hook.log");
    let read = || fs::read_to_string(&log).unwrap_or_default();
    let failed = "`ui.notify` failed: exit status: 3";
    wait_for("the log", || if read().contains(failed) { Ok(()) } else { Err(read()) });
}

/// A host called `claude` with a terminal of its own runs the hook; the notification comes out of that terminal.
#[test]
fn the_terminal_of_the_host_shows_it() {
    let sandbox = Sandbox::new();
    sandbox.set_own("[ui]\nnotify = \"terminal\"\n");
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Build it."}));
    let mut question = Sandbox::question("c-1");
    question["session_id"] = SESSION.into();
    question["cwd"] = sandbox.root().to_str().into();
    let payload = sandbox.home().join("payload");
    fs::write(&payload, question.to_string()).unwrap();
    let claude = sandbox.home().join("claude");
    fs::copy(fs::canonicalize("/bin/sh").unwrap(), &claude).unwrap();
    let (hook, shown) = (sandbox.home().join("host.sh"), sandbox.home().join("shown"));
    // The host lives until its terminal has shown something.
    let script = format!(
        "'{}' hook --host claude --via local PreToolUse < '{}'\nwhile ! grep -q 777 '{}'; do sleep 0.05; done\n",
        sandbox.binary().display(),
        payload.display(),
        shown.display()
    );
    fs::write(&hook, script).unwrap();
    let call = format!("'{}' '{}'", claude.display(), hook.display());
    let status = Command::new("script")
        .args(["--quiet", "--return", "--flush", "--command", &call])
        .arg(&shown)
        .current_dir(sandbox.root())
        .env_clear()
        .env("HOME", sandbox.home())
        .env("PATH", "/usr/bin:/bin")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let shown = String::from_utf8_lossy(&fs::read(shown).unwrap()).into_owned();
    let folder = sandbox.root().file_name().unwrap().to_string_lossy().into_owned();
    let text = format!("Claude Code session in {folder} asks you a question");
    assert!(shown.contains(&format!("\u{7}\u{1b}]9;{text}\u{7}\u{1b}]777;notify;Steadfast;{text}\u{7}")), "{shown:?}");
}
