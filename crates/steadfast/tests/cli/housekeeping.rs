//! What tidies a checkout up does not take our hooks with it.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const SETTINGS: &str = ".claude/settings.local.json";

fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    git(&sandbox, "git add -A; git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m one");
    sandbox
}

/// What a shell does in the checkout, as an agent's tool would.
fn git(sandbox: &Sandbox, line: &str) {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(sandbox.root());
    let output = command.env("HOME", sandbox.home()).env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn told(sandbox: &Sandbox, event: &str, more: &Value) -> Value {
    let said = sandbox.hook(event, "s", more.clone());
    if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() }
}

/// Of a call that was not made before.
fn id() -> String {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed).to_string()
}

/// What is said before a command runs.
fn refused(sandbox: &Sandbox, line: &str) -> Option<String> {
    let call = json!({"tool_name": "Bash", "tool_use_id": id(), "tool_input": {"command": line}});
    let output = told(sandbox, "PreToolUse", &call)["hookSpecificOutput"].clone();
    (output["permissionDecision"] == "deny").then(|| output["permissionDecisionReason"].as_str().unwrap().to_owned())
}

/// Runs a command and tells the hook that it ran.
fn ran(sandbox: &Sandbox, line: &str) -> Value {
    let began = std::time::Instant::now();
    git(sandbox, line);
    let took = began.elapsed().as_millis();
    let call = json!({"tool_name": "Bash", "tool_use_id": id(), "tool_input": {"command": line}, "duration_ms": took});
    told(sandbox, "PostToolUse", &call)
}

fn later() {
    std::thread::sleep(Duration::from_millis(120));
}

#[test]
fn a_sweep_is_refused_and_the_spelling_that_is_named_keeps_the_hooks() {
    let sandbox = repository();
    fs::create_dir_all(sandbox.root().join("node_modules/x")).unwrap();
    fs::write(sandbox.root().join(".gitignore"), "node_modules/\n").unwrap();
    git(&sandbox, "git add .gitignore; git -c user.name=a -c user.email=a@b commit --quiet -m two");
    let settings = sandbox.root().join(SETTINGS);
    for line in ["git clean -fdx", "git clean -fdX", "git stash --all"] {
        fs::write(sandbox.root().join("node_modules/x/y"), "").unwrap();
        let said = refused(&sandbox, line).unwrap_or_else(|| panic!("{line}"));
        let keeps = said.rsplit('`').nth(1).unwrap().to_owned();
        assert_eq!(refused(&sandbox, &keeps), None, "{keeps}");
        git(
            &sandbox,
            &format!(
                "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; {keeps}"
            ),
        );
        assert!(settings.exists(), "{keeps}");
        assert!(!sandbox.root().join("node_modules/x/y").exists(), "{keeps} does what it is for");
        fs::create_dir_all(sandbox.root().join("node_modules/x")).unwrap();
    }
    for line in ["git clean -fd", "git clean -fd src", "git stash -u", "rm -rf node_modules dist", "git clean -ndx"] {
        assert_eq!(refused(&sandbox, line), None, "{line}");
    }
}

#[test]
fn with_the_hooks_in_the_users_own_settings_a_sweep_is_free() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--user"]);
    assert_eq!(refused(&sandbox, "git clean -fdx"), None);
}

#[test]
fn shared_hooks_that_are_committed_are_swept_away_by_nothing() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--shared"]);
    assert!(refused(&sandbox, "git clean -fdx").is_some());
    assert!(refused(&sandbox, "git stash -u").is_some());
    git(&sandbox, "git add -A; git -c user.name=a -c user.email=a@b commit --quiet -m one");
    assert_eq!(refused(&sandbox, "git clean -fdx"), None);
    assert_eq!(refused(&sandbox, "git stash -u"), None);
}

#[test]
fn what_a_script_removed_is_back_after_the_call_and_told_to_both() {
    let sandbox = repository();
    let settings = sandbox.root().join(SETTINGS);
    let before = fs::read(&settings).unwrap();
    later();
    for line in ["git clean -fdxq", "rm -rf .claude", "mv .claude/settings.local.json /tmp/gone-$$ && rm /tmp/gone-$$"]
    {
        // As a script would: the line itself is refused.
        fs::write(sandbox.root().join("tidy.sh"), line).unwrap();
        let said = ran(&sandbox, "sh tidy.sh");
        assert_eq!(fs::read(&settings).unwrap(), before, "{line}");
        let human = said["systemMessage"].as_str().unwrap_or_default();
        let agent = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        for text in [human, agent] {
            assert!(text.contains("This call removed") && text.contains("Steadfast put it back."), "{line}: {said}");
        }
    }
    assert_eq!(ran(&sandbox, "true; make --version >/dev/null"), Value::Null);
}

#[test]
fn while_steadfast_is_paused_nothing_is_put_back() {
    let sandbox = repository();
    told(&sandbox, "UserPromptSubmit", &json!({"prompt": "hello"}));
    sandbox.ok(&["pause", "--for", "10m"]);
    later();
    fs::write(sandbox.root().join("tidy.sh"), "rm -rf .claude").unwrap();
    assert_eq!(ran(&sandbox, "sh tidy.sh"), Value::Null);
    assert!(!sandbox.root().join(SETTINGS).exists());
}

#[test]
fn what_was_removed_before_the_call_is_not_put_back() {
    let sandbox = repository();
    later();
    git(&sandbox, "rm -r .claude");
    later();
    assert_eq!(ran(&sandbox, "make --version"), Value::Null);
    assert!(!sandbox.root().join(SETTINGS).exists());
}

/// The file is part of one commit and not of the other: putting it back would stand in the way of going back.
#[test]
fn shared_hooks_that_another_branch_does_not_have_are_not_put_back() {
    let sandbox = Sandbox::bare();
    git(&sandbox, "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m one; git branch -m old");
    git(&sandbox, "git switch --quiet -c new");
    sandbox.ok(&["init", "--host", "claude", "--yes", "--shared"]);
    git(&sandbox, "git add -A; git -c user.name=a -c user.email=a@b commit --quiet -m two");
    told(&sandbox, "UserPromptSubmit", &json!({"prompt": "hello"}));
    sandbox.ok(&["init", "--host", "claude", "--yes", "--shared"]);
    later();
    assert_eq!(ran(&sandbox, "git switch --quiet old"), Value::Null);
    assert!(!sandbox.root().join(".claude/settings.json").exists());
    git(&sandbox, "git switch --quiet new");
}

#[test]
fn while_the_hooks_are_missing_nothing_says_that_a_path_cannot_be_written() {
    let sandbox = repository();
    fs::write(sandbox.root().join("steadfast.toml"), "[approval]\nprotected = [\"src\"]\n").unwrap();
    sandbox.ok(&["plan", "lock"]);
    assert!(sandbox.ok(&["plan", "status"]).contains("src cannot be written"));
    fs::remove_dir_all(sandbox.root().join(".claude")).unwrap();
    for command in [&["plan", "status"][..], &["status"]] {
        let said = sandbox.ok(command);
        assert!(!said.contains("cannot be written"), "{said}");
        assert!(said.contains("the hooks of Steadfast are missing from `.claude/settings.local.json`"), "{said}");
        assert!(said.contains("`steadfast init` writes the hooks again"), "{said}");
    }
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(sandbox.ok(&["plan", "status"]).contains("src cannot be written"));
}

#[test]
fn the_installed_program_is_not_removed_by_a_call() {
    let sandbox = repository();
    let binary = sandbox.binary().display().to_string();
    for line in [
        format!("rm {binary}"),
        format!("mv /tmp/x {binary}"),
        format!("cp /bin/true {binary}"),
        format!(": > {binary}"),
    ] {
        let said = refused(&sandbox, &line);
        assert!(said.is_some_and(|text| text.contains("is Steadfast itself")), "{line}");
    }
    let links = sandbox.home().join(".local/state/steadfast/install/hooks");
    assert!(refused(&sandbox, &format!("rm -rf {}", links.display())).is_some());
    assert_eq!(refused(&sandbox, &format!("ls -l {binary}")), None);
}

#[test]
fn an_agent_may_write_a_permission_and_nothing_about_hooks() {
    let sandbox = repository();
    let write = |file: &str, content: &str| {
        let id = format!("{file}{content}");
        let input = json!({"file_path": sandbox.root().join(file), "content": content});
        let call = json!({"tool_name": "Write", "tool_use_id": id, "tool_input": input});
        told(&sandbox, "PreToolUse", &call)["hookSpecificOutput"]["permissionDecision"] != "deny"
    };
    let permission = r#"{"permissions": {"allow": ["Bash(npm test)"]}}"#;
    assert!(write(".claude/settings.json", permission));
    assert!(!write(".claude/settings.json", r#"{"disableAllHooks": true}"#));
    assert!(!write(SETTINGS, permission), "that would take the hooks out");
    let edit = |old: &str, new: &str| {
        let input = json!({"file_path": sandbox.root().join(SETTINGS), "old_string": old, "new_string": new});
        let call = json!({"tool_name": "Edit", "tool_use_id": format!("{old}{new}"), "tool_input": input});
        told(&sandbox, "PreToolUse", &call)["hookSpecificOutput"]["permissionDecision"] != "deny"
    };
    assert!(edit("{\n  \"hooks\"", "{\n  \"model\": \"opus\",\n  \"hooks\""));
    assert!(!edit("local-Stop\"", "local-Stop2\""));
    assert!(refused(&sandbox, "echo '{}' > .claude/settings.json").is_some(), "what it writes is not known before");
    sandbox.ok(&["plan", "lock"]);
    assert!(!write(".claude/settings.json", r#"{"permissions": {}}"#), "a gate is closed");
}
