//! What a shell runs: hook lines, and the scripts of the packages and of the plugin.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use steadfast_testkit::skip;

use crate::sandbox::Sandbox;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every `command` of the hooks in a settings file.
fn commands(file: &Path) -> Vec<String> {
    let settings: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let events = settings["hooks"].as_object().unwrap().values();
    let handlers =
        events.flat_map(|groups| groups.as_array().unwrap()).flat_map(|group| group["hooks"].as_array().unwrap());
    handlers.map(|handler| handler["command"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn shellcheck_finds_nothing_in_the_scripts_and_in_any_hook_line() {
    if Command::new("shellcheck").arg("--version").output().is_err() {
        return skip("shell scripts", &"`shellcheck` is missing");
    }
    let mut lines = commands(&root().join("plugin/hooks/hooks.json"));
    for scope in [None, Some("--shared"), Some("--user")] {
        let sandbox = Sandbox::bare();
        sandbox
            .ok(&["init", "--host", "claude", "--host", "codex", "--yes"].into_iter().chain(scope).collect::<Vec<_>>());
        let folder = if scope == Some("--user") { sandbox.home() } else { sandbox.root() };
        let claude = if scope.is_none() { ".claude/settings.local.json" } else { ".claude/settings.json" };
        // Codex has no settings of one user for one repository.
        let codex = if scope == Some("--shared") { sandbox.root() } else { sandbox.home() };
        lines.extend(commands(&folder.join(claude)));
        lines.extend(commands(&codex.join(".codex/hooks.json")));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut check = Command::new("shellcheck");
    check.args(["--severity=warning", "--shell=sh"]);
    for (number, line) in lines.iter().enumerate() {
        let file = folder.path().join(number.to_string());
        fs::write(&file, line).unwrap();
        check.arg(file);
    }
    let output = check.args(["packaging/install.sh", "plugin/hooks/missing.sh"]).current_dir(root()).output().unwrap();
    assert!(output.status.success() && lines.len() > 60, "{}", String::from_utf8_lossy(&output.stdout));
}

/// The plugin without the program, as Claude Code runs its hooks.
struct Plugin {
    home: tempfile::TempDir,
}

impl Plugin {
    fn hook(&self, event: &str) -> Output {
        let hooks: Value = serde_json::from_slice(&fs::read(root().join("plugin/hooks/hooks.json")).unwrap()).unwrap();
        let line = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.home.path());
        shell.env("CLAUDE_PLUGIN_ROOT", root().join("plugin")).current_dir(self.home.path());
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Nothing reads it.
        let _ = child.stdin.take().unwrap().write_all(b"{}");
        child.wait_with_output().unwrap()
    }

    fn is_silent(&self, event: &str) -> bool {
        let output = self.hook(event);
        output.status.success() && output.stdout.is_empty() && output.stderr.is_empty()
    }
}

#[test]
fn the_plugin_says_once_how_to_install_the_program() {
    let plugin = Plugin { home: tempfile::tempdir().unwrap() };
    for event in ["UserPromptSubmit", "PreToolUse", "Stop"] {
        assert!(plugin.is_silent(event), "{event}");
    }
    let output = plugin.hook("SessionStart");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = said["systemMessage"].as_str().unwrap();
    assert!(text.starts_with("Steadfast: the program `steadfast` is not on the PATH"), "{text}");
    assert!(text.contains("`npm install --global steadfast-cli`"), "{text}");
    for event in ["SessionStart", "Stop", "SessionStart"] {
        assert!(plugin.is_silent(event), "{event}");
    }
}

#[test]
fn the_plugin_is_silent_where_it_cannot_keep_that_it_said_it() {
    let plugin = Plugin { home: tempfile::tempdir().unwrap() };
    fs::write(plugin.home.path().join(".local"), "a file").unwrap();
    assert!(plugin.is_silent("SessionStart"));
}
