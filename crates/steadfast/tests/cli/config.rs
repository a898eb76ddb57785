use std::fs;

use crate::sandbox::Sandbox;

fn local(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.place().state.join("steadfast.toml")
}

#[test]
fn a_key_is_set_for_this_repository_alone_and_everything_else_stays() {
    let sandbox = Sandbox::new();
    let text = "# mine\n[stop]  # when\nmax_idle = 3   # not more\n\n# the end\n";
    fs::write(local(&sandbox), text).unwrap();
    let output = sandbox.run(&["config", "set", "stop.max_idle", "5"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "stop.max_idle        5          local\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("written to `{}`\n", local(&sandbox).display()));
    sandbox.ok(&["config", "set", "mode.completion", "advise"]);
    assert_eq!(
        fs::read_to_string(local(&sandbox)).unwrap(),
        format!("{}\n[mode]\ncompletion = \"advise\"\n", text.replace("= 3", "= 5"))
    );
}

#[test]
fn before_init_the_defaults_and_the_users_own_settings_are_shown() {
    let sandbox = Sandbox::bare();
    let own = sandbox.home().join(".config/steadfast");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("steadfast.toml"), "[stop]\nmax_idle = 7\n").unwrap();
    let shown = sandbox.ok(&["config", "show"]);
    let source = |key: &str| shown.lines().find(|line| line.starts_with(key)).unwrap().split_whitespace().next_back();
    assert_eq!((source("stop.max_idle "), source("stop.max_cycles ")), (Some("user"), Some("default")), "{shown}");
    assert!(!sandbox.place().state.exists());
}

#[test]
fn an_unknown_key_is_answered_with_those_near_it() {
    let sandbox = Sandbox::new();
    let (code, said) = sandbox.fails(&["config", "set", "stop.maxidle", "5"]);
    assert_eq!(code, 64);
    insta::assert_snapshot!(said, @r"
    error: unknown key `stop.maxidle`

    hint: similar keys: `stop.max_idle`, `stop.max_cycles`, `stop.enabled`; `steadfast config show` lists every key
    ");
    insta::assert_snapshot!(sandbox.fails(&["config", "set", "zzz", "5"]).1, @r"
    error: unknown key `zzz`

    hint: `steadfast config show` lists every key
    ");
    assert!(!local(&sandbox).exists());
}

#[test]
fn a_wrong_value_is_answered_with_what_is_expected() {
    let sandbox = Sandbox::new();
    let said = |key: &str, value: &str| {
        let (code, said) = sandbox.fails(&["config", "set", key, value]);
        assert_eq!(code, 64);
        said
    };
    insta::assert_snapshot!(said("stop.max_idle", "many"), @r"
    error: invalid value `many` for `stop.max_idle`

    hint: expected a whole number from 0 to 4294967295
    ");
    insta::assert_snapshot!(said("mode.completion", "never"), @r"
    error: invalid value `never` for `mode.completion`

    hint: expected `observe` or `advise` or `enforce`
    ");
    insta::assert_snapshot!(said("stop.enabled", "1"), @r"
    error: invalid value `1` for `stop.enabled`

    hint: expected `true` or `false`
    ");
    said("stop.max_idle", "-1");
    said("stop.max_idle", "5\nmax_cycles = 1");
    assert!(!local(&sandbox).exists());
}

#[test]
fn a_file_that_says_something_wrong_is_named_and_left_alone() {
    let sandbox = Sandbox::new();
    for (text, place) in [("[stop]\nmax_idle = = 3\n", "2:12"), ("[stop]\nmax_cycles = 3\nmax_idel = 5\n", "3:1")] {
        fs::write(local(&sandbox), text).unwrap();
        let (code, said) = sandbox.fails(&["config", "set", "stop.max_idle", "5"]);
        assert_eq!(code, 1);
        assert!(said.starts_with(&format!("error: /repo/.git/steadfast/steadfast.toml:{place}: ")), "{said}");
        assert!(said.contains("hint: nothing was written; fix `/repo/.git/steadfast/steadfast.toml`"), "{said}");
        assert_eq!(fs::read_to_string(local(&sandbox)).unwrap(), text);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let sandbox = Sandbox::new();
    fs::create_dir(local(&sandbox)).unwrap();
    let (code, said) = sandbox.fails(&["config", "set", "stop.max_idle", "5"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @r"
    error: cannot read `/repo/.git/steadfast/steadfast.toml`: Is a directory (os error 21)

    hint: nothing was changed; check that the file is writable and that the disk is not full, and try again
    ");
}

#[test]
fn a_file_that_cannot_be_written_is_named_and_stays_as_it_was() {
    let sandbox = Sandbox::new();
    fs::write(local(&sandbox), "# mine\n").unwrap();
    let output = sandbox.full(&["config", "set", "stop.max_idle", "5"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @r"
    error: cannot write `/repo/.git/steadfast/steadfast.toml`: File too large (os error 27)

    hint: nothing was changed; check that the file is writable and that the disk is not full, and try again
    ");
    assert_eq!(fs::read_to_string(local(&sandbox)).unwrap(), "# mine\n");
    let left = fs::read_dir(sandbox.place().state).unwrap().flatten().map(|file| file.file_name());
    assert_eq!(left.filter(|name| name.to_string_lossy().starts_with(".steadfast-")).count(), 0);
}

#[test]
fn without_a_home_your_own_settings_have_no_place() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["config", "set", "stop.max_idle", "5", "--user"]).env_remove("HOME");
    let output = command.env("XDG_STATE_HOME", sandbox.home()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @r"
    error: `HOME` is not set, so there is no place for your settings

    hint: set `HOME`, or set `XDG_CONFIG_HOME` to a folder that you can write
    ");
}

#[test]
fn each_layer_is_its_own_file_and_an_override_is_said_aloud() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "stop.max_idle", "5"]);
    let output = sandbox.run(&["config", "set", "stop.max_idle", "6", "--project"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "stop.max_idle        5          local\n");
    let said = sandbox.without_paths(&output.stderr);
    insta::assert_snapshot!(said, @r"
    written to `/repo/steadfast.toml`
    note: `/repo/.git/steadfast/steadfast.toml` sets this to 5 and overrides the project settings; your value applies only where that file does not set it
    ");
    sandbox.ok(&["config", "set", "privacy.retain_days", "7", "--user"]);
    assert_eq!(
        fs::read_to_string(sandbox.home().join(".config/steadfast/steadfast.toml")).unwrap(),
        "[privacy]\nretain_days = 7\n"
    );
    assert!(sandbox.ok(&["config", "show"]).contains("privacy.retain_days  7          user\n"));
    assert_eq!(sandbox.fails(&["config", "set", "stop.max_idle", "6", "--project", "--user"]).0, 64);
}

#[test]
fn your_own_settings_can_be_made_before_any_repository_is_set_up() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["config", "set", "stop.max_idle", "4", "--user"]);
    let (code, said) = sandbox.fails(&["config", "set", "stop.max_idle", "4"]);
    assert_eq!(code, 1);
    assert!(said.contains("`steadfast init` sets it up"), "{said}");
}

#[test]
fn an_agent_may_not_set_anything() {
    let sandbox = Sandbox::new();
    let output = sandbox.as_agent("s-1", &["config", "set", "stop.max_idle", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!local(&sandbox).exists());
    assert!(sandbox.as_agent("s-1", &["config", "show"]).status.success());
}

#[test]
fn a_file_behind_a_link_is_changed_where_it_is_with_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let (kept, link) = (sandbox.home().join("dotfiles.toml"), sandbox.root().join("steadfast.toml"));
    fs::write(&kept, "").unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    sandbox.ok(&["config", "set", "stop.max_idle", "4", "--project"]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&kept).unwrap(), "[stop]\nmax_idle = 4\n");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn init_sets_the_mode_and_keeps_what_else_was_set() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "stop.max_idle", "5"]);
    sandbox.ok(&["init", "--host", "claude", "--yes", "--mode", "observe"]);
    assert_eq!(
        fs::read_to_string(local(&sandbox)).unwrap(),
        "[stop]\nmax_idle = 5\n\n[mode]\nintegrity = \"observe\"\napproval = \"observe\"\nconstraint = \"observe\"\n\
         drift = \"observe\"\ncompletion = \"observe\"\n"
    );
}

#[test]
fn the_schema_is_the_one_that_is_kept_in_the_repository() {
    let sandbox = Sandbox::bare();
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/steadfast.schema.json");
    assert_eq!(sandbox.ok(&["config", "schema"]), fs::read_to_string(kept).unwrap());
}

#[test]
fn lists_are_set_as_toml_has_them_and_a_wrong_member_is_answered_with_the_right_ones() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "stop.allow_exit_on", "[\"all_complete\", \"needs_user\"]"]);
    sandbox.ok(&["config", "set", "stop.completion_promises", "[\"SHIPPED\"]"]);
    assert_eq!(
        fs::read_to_string(local(&sandbox)).unwrap(),
        "[stop]\nallow_exit_on = [\"all_complete\", \"needs_user\"]\ncompletion_promises = [\"SHIPPED\"]\n"
    );
    insta::assert_snapshot!(sandbox.fails(&["config", "set", "stop.allow_exit_on", "[\"when_bored\"]"]).1, @r#"
    error: invalid value `["when_bored"]` for `stop.allow_exit_on`

    hint: expected a list like `["a", "b"]`, each `all_complete` or `all_blocked` or `context_checkpoint` or `needs_user`
    "#);
}

#[test]
fn every_key_of_the_stop_gate_is_shown_with_its_default() {
    let sandbox = Sandbox::new();
    let shown: serde_json::Value = serde_json::from_str(&sandbox.ok(&["config", "show", "--json"])).unwrap();
    let stop: Vec<_> =
        shown.as_array().unwrap().iter().filter(|line| line["key"].as_str().unwrap().starts_with("stop.")).collect();
    let values: Vec<_> = stop.iter().map(|line| (line["key"].as_str().unwrap(), line["value"].clone())).collect();
    assert_eq!(
        values,
        [
            ("stop.enabled", true.into()),
            ("stop.check_ready_tasks", true.into()),
            ("stop.check_in_progress", true.into()),
            ("stop.max_cycles", 50.into()),
            ("stop.max_idle", 3.into()),
            (
                "stop.allow_exit_on",
                serde_json::json!(["all_complete", "all_blocked", "context_checkpoint", "needs_user"])
            ),
            (
                "stop.completion_promises",
                serde_json::json!([
                    "ALL TASKS COMPLETE",
                    "EPIC COMPLETE",
                    "BLOCKED - NEEDS USER",
                    "CONTEXT LIMIT - CHECKPOINT"
                ])
            ),
        ]
    );
}

#[test]
fn what_project_yaml_says_of_the_stop_hook_holds_and_is_named() {
    let sandbox = Sandbox::new();
    let yaml = "name: greet\nworkflow:\n  stop_hook:\n    max_cycles: 7\n    max_idle: 4\n    completion_promises:\n      - SHIPPED\n";
    fs::write(sandbox.root().join("project.yaml"), yaml).unwrap();
    fs::write(sandbox.root().join("steadfast.toml"), "[stop]\nmax_idle = 5\n").unwrap();
    let shown = sandbox.ok(&["config", "show"]);
    let stop: Vec<String> = shown
        .lines()
        .filter(|line| line.starts_with("stop.max") || line.starts_with("stop.completion"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        stop,
        [
            "stop.max_cycles 7 project.yaml",
            "stop.max_idle 5 project",
            "stop.completion_promises [\"SHIPPED\"] project.yaml"
        ]
    );
    let json = sandbox.ok(&["config", "show", "--json"]);
    assert!(json.contains(r#"{"key":"stop.max_cycles","source":"project.yaml","value":7}"#), "{json}");
    fs::write(sandbox.root().join("project.yaml"), "workflow:\n  stop_hook:\n    max_cycle: 7\n").unwrap();
    let (code, said) = sandbox.fails(&["config", "show"]);
    assert_eq!(code, 1);
    assert!(said.contains("project.yaml:3:5: unknown field `max_cycle`"), "{said}");
}

/// The gate asks the same file.
#[test]
fn the_stop_gate_is_off_where_project_yaml_says_so() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One"]);
    sandbox.hook("UserPromptSubmit", "s1", serde_json::json!({"prompt": "do the tasks"}));
    assert!(sandbox.stop_is_refused("s1"));
    fs::write(sandbox.root().join("project.yaml"), "workflow:\n  stop_hook:\n    enabled: false\n").unwrap();
    assert!(!sandbox.stop_is_refused("s1"));
}
