//! A wiring that somebody changed is noticed at the next event that comes at all.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

impl Sandbox {
    fn settings(&self) -> PathBuf {
        self.root().join(".claude/settings.local.json")
    }

    /// The settings after a change in them.
    fn set(&self, change: impl Fn(&mut Value)) {
        let mut settings: Value = serde_json::from_str(&fs::read_to_string(self.settings()).unwrap()).unwrap();
        change(&mut settings);
        fs::write(self.settings(), settings.to_string()).unwrap();
    }

    fn takes_out(&self, event: &str) {
        self.set(|settings| drop(settings["hooks"].as_object_mut().unwrap().remove(event)));
    }

    /// What agent and human hear at an event.
    fn told(&self, event: &str, more: Value) -> [Option<String>; 2] {
        let said = self.hook(event, "me", more);
        let said: Value = if said.is_empty() { Value::Null } else { serde_json::from_str(&said).unwrap() };
        [&said["hookSpecificOutput"]["additionalContext"], &said["systemMessage"]]
            .map(|text| text.as_str().map(|text| self.without_paths(text.as_bytes())))
    }

    fn at_prompt(&self) -> [Option<String>; 2] {
        self.told("UserPromptSubmit", json!({"prompt": "go on"}))
    }

    fn stopped(&self) -> [Option<String>; 2] {
        self.told("Stop", json!({"stop_hook_active": false, "background_tasks": []}))
    }

    fn ran(&self, id: &str, command: &str) -> [Option<String>; 2] {
        let call = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": command}});
        self.hook("PreToolUse", "me", call.clone());
        self.told("PostToolUse", call)
    }
}

const NOTHING: [Option<String>; 2] = [None, None];

#[test]
fn a_hook_that_was_taken_out_is_told_once_to_agent_and_human() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.at_prompt(), NOTHING);
    sandbox.takes_out("Stop");
    let [agent, human] = sandbox.at_prompt();
    insta::assert_snapshot!(agent.unwrap(), @"`/repo/.claude/settings.local.json` does not call Steadfast any more for Stop. Steadfast does not see events for which it is not called. Only a human can run `steadfast init`.");
    insta::assert_snapshot!(human.unwrap(), @"Steadfast: `/repo/.claude/settings.local.json` does not call Steadfast any more for Stop. `steadfast init` writes the hooks again; `steadfast doctor` checks all of them.");
    assert_eq!([sandbox.at_prompt(), sandbox.stopped()], [NOTHING, NOTHING]);
    let log = sandbox.ok(&["log", "--json"]);
    let noted: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_integrity: Vec<_> = noted.iter().filter(|line| line["policy"] == "integrity").collect();
    assert_eq!(of_integrity.len(), 1);
    assert_eq!((&of_integrity[0]["verdict"], &of_integrity[0]["event"]), (&json!("note"), &json!("UserPromptSubmit")));
    assert!(sandbox.ok(&["why"]).contains("does not call Steadfast any more for Stop"));

    // What was mended and broken again is told again.
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert_eq!(sandbox.at_prompt(), NOTHING);
    sandbox.takes_out("Stop");
    assert!(sandbox.at_prompt()[0].is_some());
}

#[test]
fn at_a_stop_the_human_is_told_and_the_agent_at_the_next_prompt() {
    let sandbox = Sandbox::new();
    sandbox.at_prompt();
    sandbox.takes_out("PreToolUse");
    let [agent, human] = sandbox.stopped();
    assert_eq!((agent, human.is_some()), (None, true));
    let [agent, human] = sandbox.at_prompt();
    assert_eq!((agent.is_some(), human), (true, None));
    assert_eq!(sandbox.at_prompt(), NOTHING);
}

#[test]
fn what_the_host_writes_into_its_settings_is_its_own_affair() {
    let sandbox = Sandbox::new();
    for permission in ["Bash(ls:*)", "Bash(make:*)"] {
        sandbox.set(|settings| settings["permissions"]["allow"] = json!([permission]));
        assert_eq!([sandbox.at_prompt(), sandbox.stopped()], [NOTHING, NOTHING]);
    }
    // A change that is told is told once, however often the host writes the file.
    sandbox.takes_out("Stop");
    assert!(sandbox.at_prompt()[0].is_some());
    sandbox.set(|settings| settings["permissions"]["allow"] = json!([]));
    assert_eq!(sandbox.at_prompt(), NOTHING);
}

#[test]
fn what_a_user_narrowed_before_is_theirs() {
    let sandbox = Sandbox::new();
    let narrow = |settings: &mut Value, event: &str| settings["hooks"][event][0]["matcher"] = json!("Bash");
    sandbox.set(|settings| narrow(settings, "PostToolUse"));
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert_eq!(sandbox.at_prompt(), NOTHING);
    sandbox.set(|settings| narrow(settings, "PreToolUse"));
    let [agent, _] = sandbox.at_prompt();
    assert!(agent.unwrap().contains("any more for PreToolUse (matcher Bash)."));
}

#[test]
fn another_program_in_our_place_is_told() {
    let sandbox = Sandbox::new();
    sandbox.set(|settings| {
        settings["hooks"]["Stop"][0]["hooks"][0]["command"] =
            json!("/tmp/other/steadfast hook --host claude --via local Stop");
    });
    let [agent, _] = sandbox.at_prompt();
    insta::assert_snapshot!(agent.unwrap(), @"`/repo/.claude/settings.local.json` calls `/tmp/other/steadfast`, which `steadfast init` did not write; `/repo/.claude/settings.local.json` does not call Steadfast any more for Stop. Steadfast does not see events for which it is not called. Only a human can run `steadfast init`.");
}

#[test]
fn hooks_that_are_switched_off_in_another_layer_are_told_unless_a_stronger_one_says_otherwise() {
    let sandbox = Sandbox::new();
    sandbox.at_prompt();
    fs::create_dir_all(sandbox.home().join(".claude")).unwrap();
    fs::write(sandbox.home().join(".claude/settings.json"), r#"{"disableAllHooks": true}"#).unwrap();
    let [_, human] = sandbox.at_prompt();
    insta::assert_snapshot!(human.unwrap(), @"Steadfast: `/home/.claude/settings.json` has `disableAllHooks`: Claude Code runs no hook from its next start. `steadfast init` writes the hooks again; `steadfast doctor` checks all of them.");
    fs::write(sandbox.root().join(".claude/settings.json"), r#"{"disableAllHooks": false}"#).unwrap();
    assert_eq!(sandbox.at_prompt(), NOTHING);
    fs::remove_file(sandbox.root().join(".claude/settings.json")).unwrap();
    assert!(sandbox.at_prompt()[1].is_some());
}

#[test]
fn where_nobody_looked_yet_the_first_prompt_does() {
    let sandbox = Sandbox::new();
    let wiring = sandbox.place().state.join("wiring");
    fs::remove_dir_all(&wiring).unwrap();
    assert_eq!(sandbox.at_prompt(), NOTHING);
    assert!(wiring.is_dir());
    fs::remove_file(sandbox.settings()).unwrap();
    let [agent, _] = sandbox.at_prompt();
    assert!(agent.unwrap().starts_with("`/repo/.claude/settings.local.json` does not call Steadfast any more. "));
}

#[test]
fn settings_that_are_half_written_are_looked_at_again() {
    let sandbox = Sandbox::new();
    let whole = fs::read_to_string(sandbox.settings()).unwrap();
    fs::write(sandbox.settings(), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(sandbox.at_prompt(), NOTHING);
    fs::write(sandbox.settings(), "{}").unwrap();
    assert!(sandbox.at_prompt()[0].is_some());
}

#[test]
fn while_a_gate_is_closed_it_is_told_at_the_end_of_the_call_that_did_it() {
    let sandbox = Sandbox::new();
    sandbox.at_prompt();
    sandbox.takes_out("Stop");
    assert_eq!(sandbox.ran("1", "./x.sh"), NOTHING);
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    sandbox.ok(&["plan", "lock"]);
    sandbox.at_prompt();
    sandbox.takes_out("Stop");
    assert_eq!(sandbox.ran("2", "ls"), NOTHING);
    assert!(sandbox.ran("3", "./x.sh").iter().all(Option::is_some));
    assert_eq!(sandbox.at_prompt(), NOTHING);
}
