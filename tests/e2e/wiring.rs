//! `init` and `uninstall`: what was there before is there again, to the byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use steadfast_e2e::agents::Agent;
use steadfast_sim::Scenario;

use crate::agents::Program;
use crate::world::{PROMPT, Scene};

/// Tabs, Windows line ends, hooks of others, no newline at the end.
const SETTINGS: &str = "{\r\n\t\"permissions\": {\"allow\":[ \"Bash(ls:*)\" ]},\r\n\t\"hooks\" : {\r\n\t\t\"Stop\": [ \
                        {\"hooks\": [ {\"type\":\"command\",   \"command\": \"true\"} ]} ],\r\n\t\t\"PreToolUse\":[]\
                        \r\n\t}\r\n}";
/// Codex passes over a file with anything but hooks in it.
const HOOKS: &str = "{\r\n\t\"hooks\" : {\r\n\t\t\"Stop\": [ {\"hooks\": [ {\"type\":\"command\",   \"command\": \"true\"} ]} \
                     ],\r\n\t\t\"PreToolUse\":[]\r\n\t}\r\n}";
const SERVERS: &str = "{ \"mcpServers\":{\"other\":{\"command\":\"true\",\"args\":[]}}}\n\n";
const CLAUDE_JSON: &str = "{\"numStartups\":3,\n    \"projects\": {\"/elsewhere\":{ \"mcpServers\": { } }}}";
const CONFIG_TOML: &str = "# mine\r\nmodel = \"gpt-5.5\"   # why not\r\n\r\n[mcp_servers.other]\r\ncommand='true'\r\n";

#[test]
fn claude_local_leaves_no_trace() {
    leaves_no_trace(Agent::Claude2_1_325, &[]);
}

#[test]
fn claude_shared_leaves_no_trace() {
    leaves_no_trace(Agent::Claude2_1_325, &["--shared"]);
}

#[test]
fn claude_user_leaves_no_trace() {
    leaves_no_trace(Agent::Claude2_1_325, &["--user"]);
}

#[test]
fn codex_local_leaves_no_trace() {
    leaves_no_trace(Agent::Codex0_166_0, &[]);
}

#[test]
fn codex_shared_leaves_no_trace() {
    leaves_no_trace(Agent::Codex0_166_0, &["--shared"]);
}

#[test]
fn codex_user_leaves_no_trace() {
    leaves_no_trace(Agent::Codex0_166_0, &["--user"]);
}

#[test]
fn settings_that_are_no_json_are_refused_untouched() {
    let scene = Scene::bare(&Program { agent: Agent::Claude2_1_325, path: PathBuf::new() });
    scene.write(".claude/settings.local.json", "{\n  // mine\n  \"permissions\": {},\n}\n");
    let before = Trees::of(&scene);
    let refused = scene.try_steadfast(&["init", "--host", "claude", "--yes"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("settings.local.json") && said.contains("hint: nothing was written"), "{said}");
    Trees::of(&scene).assert_same(&before);
}

on_every_host!(after_a_session_only_ours_is_taken_out);

fn leaves_no_trace(agent: Agent, scope: &[&str]) {
    // No host is started here.
    let program = Program { agent, path: PathBuf::new() };
    for users_own in [true, false] {
        let scene = Scene::bare(&program);
        if users_own {
            write_users_own(&scene);
        }
        let before = Trees::of(&scene);

        scene.init(scope);
        assert_ne!(Trees::of(&scene), before, "init wrote nothing");
        scene.steadfast(&["uninstall"]);
        Trees::of(&scene).assert_same(&before);

        scene.init(scope);
        scene.init(scope);
        scene.steadfast(&["task", "add", "piece 1", "--file", "README.md", "--verify", "true"]);
        scene.steadfast(&["uninstall", "--purge", "--yes"]);
        Trees::of(&scene).assert_same(&before);
    }
}

fn after_a_session_only_ours_is_taken_out(program: &Program) {
    let scene = Scene::bare(program);
    let config = scene.home().join(".codex/config.toml");
    let provider = fs::read_to_string(&config).unwrap_or_default();
    write_users_own(&scene);
    if !program.is_claude() {
        fs::write(&config, format!("# mine\n{provider}")).unwrap();
    }
    // What the host itself writes into these files, it writes now.
    scene.run(Scenario::new("before").prompt("Look around.").say("That is all."));
    let files = [
        scene.root().join(".claude/settings.json"),
        scene.root().join(".claude/settings.local.json"),
        scene.home().join(".claude/settings.json"),
        scene.home().join(".codex/hooks.json"),
        config,
    ];
    let read = || files.iter().map(|path| fs::read_to_string(path).ok()).collect::<Vec<_>>();
    let before = read();

    scene.init(&[]);
    scene.steadfast(&["task", "add", "piece 1", "--file", "README.md", "--verify", "true"]);
    let run = scene.run(Scenario::new("works").prompt(PROMPT).shell("steadfast task done 1").say("Done."));
    assert_eq!(run.outcome(&scene), (0, Some("complete".to_owned())));
    scene.steadfast(&["uninstall", "--purge", "--yes"]);

    assert_eq!(read(), before);
    let claude: Value = serde_json::from_str(&fs::read_to_string(scene.home().join(".claude.json")).unwrap()).unwrap();
    assert!(!names_us(&claude), "{claude:#}");
    assert_eq!(claude["projects"]["/elsewhere"]["mcpServers"], serde_json::json!({}));
    assert!(!scene.state().exists());
}

fn write_users_own(scene: &Scene) {
    for (path, text) in [
        (scene.root().join(".claude/settings.json"), SETTINGS),
        (scene.root().join(".claude/settings.local.json"), SETTINGS),
        (scene.root().join(".mcp.json"), SERVERS),
        (scene.root().join(".codex/hooks.json"), HOOKS),
        (scene.root().join(".codex/config.toml"), CONFIG_TOML),
        (scene.home().join(".claude/settings.json"), SETTINGS),
        (scene.home().join(".claude.json"), CLAUDE_JSON),
        (scene.home().join(".codex/hooks.json"), HOOKS),
        (scene.home().join(".codex/config.toml"), CONFIG_TOML),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Whether our server is anywhere in there.
fn names_us(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, value)| key == "steadfast" || names_us(value)),
        Value::Array(items) => items.iter().any(names_us),
        Value::String(text) => text.ends_with("/steadfast"),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Every folder and file of the home and the repository, with mode and content.
#[derive(Debug, PartialEq)]
struct Trees(BTreeMap<PathBuf, (u32, Option<Vec<u8>>)>);

impl Trees {
    fn of(scene: &Scene) -> Self {
        let mut trees = Self(BTreeMap::new());
        trees.add(&scene.home());
        trees.add(&scene.root());
        trees
    }

    fn add(&mut self, path: &Path) {
        let metadata = fs::symlink_metadata(path).unwrap();
        if metadata.is_dir() {
            self.0.insert(path.to_owned(), (mode(&metadata), None));
            for entry in fs::read_dir(path).unwrap() {
                self.add(&entry.unwrap().path());
            }
        } else {
            self.0.insert(path.to_owned(), (mode(&metadata), Some(fs::read(path).unwrap())));
        }
    }

    /// Names only what differs.
    fn assert_same(&self, before: &Self) {
        let text = |entry: Option<&(u32, Option<Vec<u8>>)>| {
            entry.map(|(mode, content)| {
                (format!("{mode:o}"), content.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
            })
        };
        let paths: std::collections::BTreeSet<_> = self.0.keys().chain(before.0.keys()).collect();
        let different: Vec<_> = paths
            .into_iter()
            .filter(|path| self.0.get(*path) != before.0.get(*path))
            .map(|path| (path, text(before.0.get(path)), text(self.0.get(path))))
            .collect();
        assert!(different.is_empty(), "path, before, now: {different:#?}");
    }
}

fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}
