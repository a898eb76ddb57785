use std::fs;

use crate::sandbox::Sandbox;

#[test]
fn a_settings_file_that_does_not_parse_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::bare();
    let settings = sandbox.root().join(".claude/settings.local.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    let text = "{\n  \"model\": \"opus\",\n  // mine\n}\n";
    fs::write(&settings, text).unwrap();
    let (code, said) = sandbox.fails(&["init", "--host", "claude", "--yes"]);
    assert_eq!(code, 1);
    assert!(said.starts_with("error: /repo/.claude/settings.local.json:3:3: "), "{said}");
    assert!(said.contains("hint: nothing was written"), "{said}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    assert!(!sandbox.place().state.exists());
}

#[test]
fn a_list_of_what_git_passes_over_that_cannot_be_written_is_named_and_left_alone() {
    let sandbox = Sandbox::bare();
    let exclude = sandbox.root().join(".git/info/exclude");
    fs::remove_file(&exclude).unwrap();
    fs::create_dir(&exclude).unwrap();
    let (code, said) = sandbox.fails(&["init", "--host", "claude", "--yes"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: cannot write `/repo/.git/info/exclude`: Is a directory (os error 21)

    hint: the settings of the hosts are written; check that this file is writable and that the disk is not full, and try again
    ");
    assert_eq!(fs::read_dir(sandbox.root().join(".git/info")).unwrap().count(), 1, "no draft is left");
    fs::remove_dir(&exclude).unwrap();
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    let lines = "# steadfast init\n/.claude/settings.local.json\n/.claude/skills/steadfast-*/\n/.claude/agents/steadfast-*.md\n";
    assert_eq!(fs::read_to_string(&exclude).unwrap(), lines);
}

#[test]
fn init_then_uninstall_leaves_every_byte_as_it_was() {
    for scope in [None, Some("--shared"), Some("--user")] {
        let sandbox = Sandbox::bare();
        let write = |path: std::path::PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(sandbox.root().join(".claude/settings.local.json"), "{\"hooks\":{\"Stop\":[]},\r\n\t\"x\" : [1,2]}");
        write(sandbox.root().join(".claude/settings.json"), "{}");
        write(sandbox.home().join(".codex/config.toml"), "model = \"x\"   # mine\n\n[a]\nb = 1");
        write(sandbox.home().join(".claude.json"), "{\n    \"numStartups\": 3\n}\n");
        let before = files(&sandbox);
        let mut arguments = vec!["init", "--host", "claude", "--host", "codex", "--yes"];
        arguments.extend(scope);
        sandbox.ok(&arguments);
        let between = files(&sandbox);
        assert_ne!(before, between);
        sandbox.ok(&arguments);
        assert_eq!(files(&sandbox), between, "a second `init` changes nothing");
        sandbox.ok(&["uninstall"]);
        assert_eq!(files(&sandbox), before, "{scope:?}");
    }
}

/// Every file of the repository and the home, except what Steadfast remembers about itself.
fn files(sandbox: &Sandbox) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![sandbox.root(), sandbox.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with(".local/state/steadfast") && !path.ends_with(".git/steadfast") {
                folders.push(path);
            } else if path.is_file() {
                found.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let sandbox = Sandbox::bare();
    let before = files(&sandbox);
    let shown = sandbox.ok(&["init", "--host", "claude", "--dry-run"]);
    assert!(
        shown.contains("/install/hooks/steadfast-hook-claude-local-Stop\",\n+            \"args\": [],"),
        "{shown}"
    );
    assert_eq!(files(&sandbox), before);
    assert!(!sandbox.place().state.exists());
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_changed() {
    let sandbox = Sandbox::bare();
    let (code, said) = sandbox.fails(&["init", "--host", "claude"]);
    assert_eq!(code, 3);
    insta::assert_snapshot!(said, @r"
    error: 15 files would change, and there is no terminal to ask for confirmation

    hint: `steadfast init --yes` writes them without asking, `--dry-run` only shows the changes
    ");
    assert!(!sandbox.place().state.exists());
}

#[test]
fn a_binary_in_a_build_folder_is_refused() {
    let sandbox = Sandbox::bare();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_steadfast"))
        .args(["init", "--host", "claude", "--yes"])
        .current_dir(sandbox.root())
        .env_clear()
        .env("HOME", sandbox.home())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("build folder") && said.contains("cargo install --locked --path crates/steadfast"), "{said}");
}

#[test]
fn without_a_home_there_is_nowhere_to_keep_anything() {
    let sandbox = Sandbox::new();
    for arguments in [&["init", "--host", "claude", "--yes"][..], &["config", "set", "stop.max_idle", "5", "--user"]] {
        let output = sandbox.command().args(arguments).env_remove("HOME").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with("error: `HOME` is not set"), "{said}");
    }
}

#[test]
fn an_agent_may_not_set_up_or_take_out() {
    let sandbox = Sandbox::new();
    for command in ["init", "uninstall"] {
        let output = sandbox.as_agent("s-1", &[command]);
        assert_eq!(output.status.code(), Some(2), "{command}");
    }
}

#[test]
fn an_agent_that_hides_its_environment_is_known_by_the_claim_of_its_call() {
    let sandbox = Sandbox::new();
    let command = "env -i HOME=$HOME steadfast uninstall --purge";
    let call = serde_json::json!({"tool_name": "Bash", "tool_use_id": "call-1", "tool_input": {"command": command}});
    sandbox.hook("PreToolUse", "s-1", call.clone());
    assert_eq!(sandbox.fails(&["uninstall", "--purge", "--yes"]).0, 2);
    sandbox.hook("PostToolUse", "s-1", call);
    sandbox.ok(&["uninstall", "--purge", "--yes"]);
}

#[test]
fn the_block_cap_is_raised_only_for_eight_or_more_and_said_aloud() {
    for (max_idle, raised) in [(7, false), (8, true)] {
        let sandbox = Sandbox::bare();
        fs::write(sandbox.root().join("steadfast.toml"), format!("[stop]\nmax_idle = {max_idle}\n")).unwrap();
        let output = sandbox.run(&["init", "--host", "claude", "--yes"]);
        let said = String::from_utf8(output.stderr).unwrap();
        let written = fs::read_to_string(sandbox.root().join(".claude/settings.local.json")).unwrap();
        assert_eq!(written.contains("\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"9\""), raised, "{written}");
        assert_eq!(said.contains("for other Stop hooks"), raised, "{said}");
    }
}

#[test]
fn the_mode_is_kept_for_this_repository_alone() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--mode", "observe"]);
    let shown: serde_json::Value = serde_json::from_str(&sandbox.ok(&["config", "show", "--json"])).unwrap();
    for key in ["mode.integrity", "mode.completion"] {
        let line = shown.as_array().unwrap().iter().find(|line| line["key"] == key).unwrap();
        assert_eq!((&line["value"], &line["source"]), (&"observe".into(), &"local".into()), "{key}");
    }
    sandbox.ok(&["task", "add", "One"]);
    sandbox.as_agent("s-1", &["task", "start", "1"]);
    assert!(!sandbox.stop_is_refused("s-1"));
}

#[test]
fn uninstall_keeps_tasks_and_init_brings_them_back() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    let said = sandbox.ok(&["uninstall"]);
    assert!(said.contains("Tasks and history are kept"), "{said}");
    assert!(!sandbox.stop_is_refused("s-1"), "hooks that are still called do nothing");
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(sandbox.ok(&["task", "list"]).contains("One"));
    sandbox.ok(&["uninstall", "--purge", "--yes"]);
    assert!(!sandbox.place().state.with_extension("kept").exists());
}

#[test]
fn the_help_says_what_is_for_a_human() {
    let sandbox = Sandbox::bare();
    for (command, authority) in steadfast_model::commands() {
        let mut words: Vec<&str> = command.split(' ').filter(|word| !word.starts_with('-')).collect();
        words.push("--help");
        let output = sandbox.run(&words);
        if !output.status.success() {
            continue;
        }
        // A line may end between the two words.
        let help = String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let human = authority == steadfast_model::Authority::Human;
        // A flag, or a command below it.
        let below = steadfast_model::commands().any(|(other, authority)| {
            authority == steadfast_model::Authority::Human && other.starts_with(&format!("{command} "))
        });
        assert_eq!(help.contains("Human only."), human || below, "{command}: {help}");
    }
}

#[test]
fn out_of_the_way_means_that_nothing_is_refused_and_everything_recorded() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.as_agent("s-1", &["task", "start", "1"]);
    assert!(sandbox.stop_is_refused("s-1"));
    let said = sandbox.ok(&["pause", "--for", "1h30m"]);
    assert!(
        said.starts_with("Steadfast is paused for 1 session until ") && said.contains(" UTC: it records"),
        "{said}"
    );
    assert!(said.ends_with("`steadfast pause --end` switches it on again.\n"), "{said}");
    assert!(!sandbox.stop_is_refused("s-1"));
    sandbox.ok(&["pause", "--end"]);
    assert!(sandbox.stop_is_refused("s-1"));
    sandbox.ok(&["off", "--session", "s-1"]);
    assert!(!sandbox.stop_is_refused("s-1"));
    assert_eq!(sandbox.fails(&["off", "--session", "s-9"]).0, 1);
    assert_eq!(sandbox.fails(&["pause", "--for", "soon"]).0, 64);
    for command in ["off", "pause"] {
        assert_eq!(sandbox.as_agent("s-1", &[command]).status.code(), Some(2), "{command}");
    }
}

#[test]
fn a_humans_command_is_denied_before_it_runs() {
    let sandbox = Sandbox::new();
    let call = |command: &str| {
        let input = serde_json::json!({"command": command});
        sandbox.hook(
            "PreToolUse",
            "s-1",
            serde_json::json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": input}),
        )
    };
    assert!(call("steadfast uninstall").contains("\"permissionDecision\":\"deny\""));
    assert_eq!(call("steadfast task list"), "");
    assert_eq!(call("git commit -m 'explain steadfast off'"), "");
}

#[test]
fn the_help_names_what_exists_and_a_wrong_word_is_not_understood() {
    let sandbox = Sandbox::bare();
    let help = sandbox.ok(&["help", "all"]);
    for command in ["init", "uninstall", "status", "task", "config", "mcp", "demo"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command}: {help}");
    }
    assert_eq!(sandbox.fails(&["fly"]).0, 64);
}
