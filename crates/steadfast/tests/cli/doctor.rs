use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use steadfast_model::{Claim, Event, EventKind, Gate, GateScope, Host, Millis, SessionId, ToolUseId, Via};
use steadfast_store::{close_gate, leave_claim, log_line};

use crate::sandbox::{Sandbox, copy_program, write_program};

mod machine;
mod state;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// What `doctor` found, without the paths of this sandbox.
fn findings(sandbox: &Sandbox) -> Vec<Value> {
    read(sandbox, &sandbox.run(&["doctor", "--json"]))
}

fn read(sandbox: &Sandbox, output: &Output) -> Vec<Value> {
    let said = sandbox.without_paths(&output.stdout);
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    let findings = said["findings"].as_array().unwrap().clone();
    let errors = findings.iter().any(|finding| finding["severity"] == "error");
    assert_eq!(said["ok"], !errors);
    assert_eq!(output.status.code(), Some(i32::from(errors)));
    findings
}

/// All findings of one code, as people read them.
fn found(sandbox: &Sandbox, code: &str) -> String {
    of_code(&findings(sandbox), code)
}

fn of_code(findings: &[Value], code: &str) -> String {
    let of_code: Vec<_> = findings.iter().filter(|finding| finding["code"] == code).collect();
    assert!(!of_code.is_empty(), "no `{code}` in {findings:#?}");
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
    let lines = of_code.iter().map(|finding| {
        format!("{}: {}\nhint: {}", text(finding, "severity"), text(finding, "message"), text(finding, "hint"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn codes(sandbox: &Sandbox) -> Vec<String> {
    findings(sandbox).iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// Nothing but what a hook costs, and that may be much: this is a debug build, and other tests run beside it.
fn is_well(sandbox: &Sandbox) {
    let codes = codes(sandbox);
    assert!(matches!(&codes[..], [cost] if cost == "hook-cost" || cost == "hook-slow"), "{codes:?}");
}

fn has_session(sandbox: &Sandbox) {
    sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Look around."}));
    sandbox.hook("Stop", "s-1", json!({"stop_hook_active": false, "background_tasks": []}));
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A program of that name on the PATH.
fn fake(sandbox: &Sandbox, name: &str, script: &str) {
    write_program(&sandbox.binary().with_file_name(name), script);
}

fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Millis(i64::try_from(since.as_millis()).unwrap())
}

/// Takes a session a step further at another time than now.
fn event_at(sandbox: &Sandbox, session: &str, at: Millis) -> Event {
    Event::plain(SessionId::new(session), Host::Claude, sandbox.root().display().to_string(), at, EventKind::Interrupt)
}

fn step_at(sandbox: &Sandbox, session: &str, at: Millis) {
    let place = sandbox.place();
    let config = steadfast_store::ConfigFiles::of(&place, None);
    steadfast_hook::handle_event(&place, &config, event_at(sandbox, session, at)).unwrap();
}

fn codex() -> Sandbox {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "codex", "--yes"]);
    sandbox
}

#[test]
fn a_sound_repository_with_a_session_has_no_error_and_no_warning() {
    let sandbox = Sandbox::new();
    fake(&sandbox, "claude", "echo '2.1.325 (Claude Code)'");
    has_session(&sandbox);
    sandbox.ok(&["task", "add", "One"]);
    is_well(&sandbox);
}

#[test]
fn a_sound_repository_with_codex_has_no_error_and_no_warning() {
    let sandbox = codex();
    fake(&sandbox, "codex", "echo codex-cli 0.166.0");
    trust(&sandbox, |_| true);
    let event = json!({"session_id": "c-1", "cwd": sandbox.root(), "source": "startup", "model": "m",
        "permission_mode": "default", "transcript_path": null, "hook_event_name": "SessionStart"});
    let mut child = sandbox
        .command()
        .args(["hook", "--host", "codex", "--via", "user", "SessionStart"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    is_well(&sandbox);
}

/// As Codex does it when a human says yes, for the events that `which` takes.
fn trust(sandbox: &Sandbox, which: impl Fn(&str) -> bool) {
    let hooks = sandbox.home().join(".codex/hooks.json");
    let wired: Value = serde_json::from_slice(&fs::read(&hooks).unwrap()).unwrap();
    let mut config = fs::read_to_string(sandbox.home().join(".codex/config.toml")).unwrap();
    for event in wired["hooks"].as_object().unwrap().keys().filter(|event| which(event)) {
        let name: String = event
            .char_indices()
            .map(|(at, c)| if at > 0 && c.is_uppercase() { format!("_{c}") } else { c.to_string() })
            .collect();
        let key = format!("{}:{}:0:0", hooks.display(), name.to_lowercase());
        config.push_str(&format!("\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:1\"\n"));
    }
    write(&sandbox.home().join(".codex/config.toml"), &config);
}

#[test]
fn people_read_a_summary_and_then_the_worst_first() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("steadfast.toml"), "[stop]\nmax_idel = 3\n").unwrap();
    let output = sandbox.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: 1 error found\n\nhint: each problem above names its fix\n"
    );
    let said = sandbox.without_paths(&output.stdout);
    let (summary, rest) = said.split_once("\n\n").unwrap();
    assert!(summary.starts_with("4 findings: 1 error, "), "{said}");
    assert!(rest.starts_with("error config-invalid: /repo/steadfast.toml:2:1: unknown field `max_idel`"), "{said}");
    assert!(rest.contains("\n    hint: fix the file; `steadfast config schema` lists every key"), "{said}");
}

#[test]
fn where_nothing_has_to_be_done_all_is_well() {
    let sandbox = Sandbox::new();
    fake(&sandbox, "claude", "echo '2.1.325 (Claude Code)'");
    has_session(&sandbox);
    // Beside many other processes a hook may be slow once.
    let mut said = (0..5).map(|_| sandbox.ok(&["doctor"]));
    let said = said.find(|said| !said.contains("hook-slow")).expect("a hook that is not slow in one of five looks");
    assert!(said.starts_with("all well, 1 note\n\nnote hook-cost: a hook takes "), "{said}");
    assert!(said.ends_with("\n    hint: this is as fast as expected\n"), "{said}");
}

#[test]
fn a_repository_that_was_not_set_up() {
    let sandbox = Sandbox::bare();
    insta::assert_snapshot!(found(&sandbox, "not-set-up"), @r"
    error: Steadfast is not set up for `/repo`
    hint: `steadfast init` sets it up; it shows what it changes first
    ");
    assert_eq!(codes(&sandbox), ["not-set-up"]);
}

#[test]
fn a_repository_that_no_host_calls() {
    let sandbox = Sandbox::new();
    fs::remove_file(sandbox.root().join(".claude/settings.local.json")).unwrap();
    insta::assert_snapshot!(found(&sandbox, "not-wired"), @r"
    error: `/repo` is set up, but no host has hooks of Steadfast in its settings
    hint: `steadfast init` wires the hosts in use; it shows what it changes first
    ");
}

#[test]
fn a_repository_that_a_plugin_calls_is_wired() {
    let sandbox = Sandbox::new();
    fs::remove_file(sandbox.root().join(".claude/settings.local.json")).unwrap();
    let place = sandbox.place();
    let event = Event { via: Via::Plugin, ..event_at(&sandbox, "s-1", now()) };
    steadfast_hook::handle_event(&place, &steadfast_store::ConfigFiles::of(&place, None), event).unwrap();
    assert!(!codes(&sandbox).contains(&"not-wired".to_owned()));
}

#[test]
fn settings_that_do_not_parse() {
    let sandbox = Sandbox::new();
    write(&sandbox.home().join(".claude/settings.json"), "{\n  oops\n}\n");
    insta::assert_snapshot!(found(&sandbox, "settings-invalid"), @r"
    error: /home/.claude/settings.json:2:3: unexpected `o`, expected a key in double quotes
    hint: the host cannot read this file either; fix it, then run `steadfast init` if it had hooks of Steadfast
    ");
}

#[test]
fn a_hook_that_never_fired() {
    insta::assert_snapshot!(found(&Sandbox::new(), "hook-never-fired"), @r"
    warning: Claude Code is wired, but no session of it was seen here
    hint: start `claude` here and send a message; restart a session that is already running
    ");
    insta::assert_snapshot!(found(&codex(), "hook-never-fired"), @r"
    warning: Codex is wired, but no session of it was seen here
    hint: start `codex` here and trust the hooks when it asks, or with `/hooks`; `codex exec` does not ask and skips them
    ");
}

#[test]
fn a_host_that_is_not_used_beside_one_that_is_only_noted() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--host", "codex", "--yes"]);
    has_session(&sandbox);
    assert!(found(&sandbox, "hook-never-fired").starts_with("note: Codex is wired"));
}

#[test]
fn a_program_that_is_gone() {
    let sandbox = Sandbox::new();
    rewire(&sandbox, "/nowhere/steadfast");
    insta::assert_snapshot!(found(&sandbox, "binary-moved"), @r"
    error: `/nowhere/steadfast`, which `/repo/.claude/settings.local.json` starts, does not exist
    hint: `steadfast init` writes its current path; or put the program back where it was
    ");
}

#[test]
fn a_link_that_leads_nowhere_or_is_gone() {
    let sandbox = Sandbox::new();
    let link = sandbox.home().join(".local/state/steadfast/install/hooks/steadfast-hook-claude-local-Stop");
    fs::remove_file(&link).unwrap();
    insta::assert_snapshot!(found(&sandbox, "binary-moved"), @r"
    error: `/home/.local/state/steadfast/install/hooks/steadfast-hook-claude-local-Stop`, which `/repo/.claude/settings.local.json` starts, does not exist
    hint: `steadfast init` writes its current path; or put the program back where it was
    ");
    std::os::unix::fs::symlink("/nowhere/steadfast", &link).unwrap();
    assert!(found(&sandbox, "binary-moved").contains("starts, leads to `/nowhere/steadfast`, which does not exist"));
    assert!(sandbox.ok(&["init", "--host", "claude", "--yes"]).contains("Claude Code: set up."));
    assert_eq!(fs::read_link(&link).unwrap(), sandbox.binary());
    assert!(sandbox.ok(&["init", "--host", "claude", "--yes"]).contains("already set up, nothing to change"));
}

#[test]
fn hooks_of_an_older_version_are_found_and_written_anew() {
    let sandbox = Sandbox::new();
    let settings = sandbox.root().join(".claude/settings.local.json");
    let mut wired: Value = serde_json::from_slice(&fs::read(&settings).unwrap()).unwrap();
    for (event, groups) in wired["hooks"].as_object_mut().unwrap() {
        let handler = &mut groups[0]["hooks"][0];
        handler["command"] = sandbox.binary().to_str().unwrap().into();
        handler["args"] = serde_json::json!(["hook", "--host", "claude", "--via", "local", event]);
    }
    fs::write(&settings, wired.to_string()).unwrap();
    insta::assert_snapshot!(found(&sandbox, "wiring-old"), @r"
    error: `/repo/.claude/settings.local.json` has hooks of an older version. Another host that reads this file (such as Copilot CLI) drops their `args`: it may run the payload as a script, or deny every call
    hint: `steadfast init` writes them again
    ");
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    let codes = sandbox.ok(&["doctor", "--json"]);
    assert!(!codes.contains("wiring-old"), "{codes}");
}

#[test]
fn a_program_that_cannot_be_executed() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join("steadfast");
    fs::write(&file, "").unwrap();
    rewire(&sandbox, file.to_str().unwrap());
    assert!(
        found(&sandbox, "binary-moved")
            .contains("/home/steadfast`, which `/repo/.claude/settings.local.json` starts, cannot be executed")
    );
}

#[test]
fn a_shared_wiring_whose_program_is_not_on_the_path() {
    let sandbox = Sandbox::bare();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--shared"]);
    let output = sandbox.command().args(["doctor", "--json"]).env("PATH", "/usr/bin:/bin").output().unwrap();
    let said = sandbox.without_paths(&output.stdout);
    assert!(said.contains("`steadfast`, which `/repo/.claude/settings.json` starts, is not on the PATH"), "{said}");
}

#[test]
fn a_program_of_another_version() {
    let sandbox = Sandbox::new();
    let other = sandbox.home().join("steadfast");
    let mut all = String::new();
    for script in ["echo steadfast 0.0.9", "exec sleep 9"] {
        write_program(&other, script);
        rewire(&sandbox, other.to_str().unwrap());
        all += &format!("{}\n", found(&sandbox, "binary-other").replace(env!("CARGO_PKG_VERSION"), "<own>"));
    }
    insta::assert_snapshot!(all, @r"
    warning: the hosts start `/home/steadfast`, version 0.0.9, but this is `/bin/steadfast`, version <own>
    hint: `/bin/steadfast init` wires this program instead
    warning: the hosts start `/home/steadfast`, which printed no version within 3 s; this is `/bin/steadfast`, version <own>
    hint: `/bin/steadfast init` wires this program instead
    ");
}

#[test]
fn another_copy_of_the_same_version_is_only_noted() {
    let sandbox = Sandbox::new();
    let other = sandbox.home().join("steadfast");
    copy_program(&sandbox.binary(), &other);
    rewire(&sandbox, other.to_str().unwrap());
    let said = found(&sandbox, "binary-other").replace(env!("CARGO_PKG_VERSION"), "<own>");
    insta::assert_snapshot!(said, @r"
    note: the hosts start `/home/steadfast`, but this is `/bin/steadfast`; both are version <own>
    hint: `/bin/steadfast init` wires this program instead
    ");
}

/// Lets the hooks name another program.
fn rewire(sandbox: &Sandbox, program: &str) {
    let settings = sandbox.root().join(".claude/settings.local.json");
    let mut wired: Value = serde_json::from_slice(&fs::read(&settings).unwrap()).unwrap();
    for (event, groups) in wired["hooks"].as_object_mut().unwrap() {
        groups[0]["hooks"][0]["command"] = format!("{program} hook --host claude --via local {event}").into();
    }
    fs::write(settings, wired.to_string()).unwrap();
}

#[test]
fn hooks_that_are_switched_off() {
    let sandbox = Sandbox::new();
    write(&sandbox.home().join(".claude/settings.json"), r#"{"disableAllHooks": true}"#);
    insta::assert_snapshot!(found(&sandbox, "hooks-disabled"), @r"
    error: `disableAllHooks` is true in `/home/.claude/settings.json`: Claude Code runs no hook
    hint: remove it or set it to false
    ");
    // What is nearer overrules it.
    write(&sandbox.root().join(".claude/settings.json"), r#"{"disableAllHooks": false}"#);
    assert!(!codes(&sandbox).contains(&"hooks-disabled".to_owned()));
}

#[test]
fn hooks_that_are_switched_off_in_codex() {
    let sandbox = codex();
    trust(&sandbox, |_| true);
    let config = sandbox.home().join(".codex/config.toml");
    let text = fs::read_to_string(&config).unwrap().replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
    fs::write(&config, format!("{text}\n[features]\nhooks = false\n")).unwrap();
    insta::assert_snapshot!(found(&sandbox, "hooks-disabled"), @r"
    error: `hooks` is false under `[features]` in `/home/.codex/config.toml`: Codex runs no hook
    hint: remove it or set it to true
    error: 1 hook of Steadfast switched off in Codex: Interrupt
    hint: `/hooks` in Codex switches them on again
    ");
}

#[test]
fn a_host_that_is_wired_twice() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["init", "--host", "claude", "--yes", "--user"]);
    insta::assert_snapshot!(found(&sandbox, "wired-twice"), @r"
    note: Claude Code is wired more than once: local (`/repo/.claude/settings.local.json`), user (`/home/.claude/settings.json`)
    hint: harmless: Steadfast counts an event once. `steadfast uninstall`, then one `steadfast init`, leaves one
    ");
}

#[test]
fn stop_hooks_of_others() {
    let sandbox = Sandbox::new();
    let hooks = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "lint"}]}]}}"#;
    write(&sandbox.root().join(".claude/settings.json"), hooks);
    insta::assert_snapshot!(found(&sandbox, "other-stop-hooks"), @r"
    note: Claude Code has 1 Stop hook of other programs in `/repo/.claude/settings.json`, which may refuse a stop too
    hint: if an agent continues although Steadfast let it stop, look there
    ");
}

#[test]
fn hooks_that_codex_was_not_told_to_trust() {
    let sandbox = codex();
    insta::assert_snapshot!(found(&sandbox, "codex-untrusted"), @r"
    warning: the hooks in `/home/.codex/hooks.json` are not trusted yet, so Codex does not run them
    hint: start `codex` here and trust them when it asks, or with `/hooks`; `codex exec` does not ask
    ");
    trust(&sandbox, |event| event != "Stop");
    let said = found(&sandbox, "codex-untrusted");
    assert!(said.starts_with("warning: 1 of 12 hooks in `/home/.codex/hooks.json` are not trusted yet"), "{said}");
    assert!(said.contains("does not run them: Stop\n"), "{said}");
}

#[test]
fn a_hooks_file_that_codex_ignores() {
    let sandbox = codex();
    let path = sandbox.home().join(".codex/hooks.json");
    let mut hooks: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    hooks["description"] = "mine".into();
    fs::write(&path, hooks.to_string()).unwrap();
    assert!(!codes(&sandbox).contains(&"codex-hooks-file".to_owned()));
    hooks["$schema"] = "mine".into();
    fs::write(path, hooks.to_string()).unwrap();
    insta::assert_snapshot!(found(&sandbox, "codex-hooks-file"), @r"
    error: `/home/.codex/hooks.json` has `$schema` at its top level: Codex ignores the whole file
    hint: move it elsewhere: only `hooks` and `description` are allowed there
    ");
}

#[test]
fn hosts_that_are_too_old() {
    let sandbox = Sandbox::new();
    fake(&sandbox, "claude", "echo '2.1.99 (Claude Code)'");
    insta::assert_snapshot!(found(&sandbox, "host-too-old"), @r"
    warning: Claude Code 2.1.99 is older than 2.1.143: the number of refusals to stop that it accepts in a row is unknown and cannot be raised
    hint: update `/bin/claude`
    ");
    let sandbox = codex();
    fake(&sandbox, "codex", "echo codex-cli 0.98.0");
    insta::assert_snapshot!(found(&sandbox, "host-too-old"), @r"
    warning: Codex 0.98.0 is older than 0.120.0: it has no hooks, or they are off until you switch them on
    hint: update `/bin/codex`
    ");
}

#[test]
fn a_host_that_does_not_find_its_settings_from_below() {
    let sandbox = Sandbox::new();
    fake(&sandbox, "claude", "echo '2.1.197 (Claude Code)'");
    insta::assert_snapshot!(found(&sandbox, "host-subfolder"), @r"
    note: Claude Code 2.1.197 reads `.claude/settings.local.json` only in the folder in which it is started: in a subfolder it calls no hook
    hint: start it in `/repo`, update it to 2.1.200 or newer, or wire it with `steadfast init --user`
    ");
    fake(&sandbox, "claude", "echo '2.1.200 (Claude Code)'");
    assert!(!codes(&sandbox).contains(&"host-subfolder".to_owned()));
}

#[test]
fn a_host_whose_version_is_not_known() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(found(&sandbox, "host-unknown"), @r"
    note: Claude Code is wired, but `claude` is not on the PATH
    hint: Steadfast cannot check what this version supports; put the host on the PATH if it is installed
    ");
    fake(&sandbox, "claude", "exec sleep 600");
    let started = std::time::Instant::now();
    let said = found(&sandbox, "host-unknown");
    assert!(said.starts_with("note: `/bin/claude --version` printed no version within 3 s\n"), "{said}");
    assert!(started.elapsed() < std::time::Duration::from_secs(300), "it was waited for");
}

#[test]
fn a_hook_is_measured_and_nothing_of_the_users_is_touched() {
    let sandbox = Sandbox::new();
    let temporary = sandbox.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let output: Output = sandbox.command().arg("doctor").env("TMPDIR", &temporary).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|line| line.contains("a hook takes")).unwrap();
    let (took, rest) = line.split_once("a hook takes ").unwrap().1.split_once(" ms here, ").unwrap();
    let (ratio, empty) = rest.split_once(" × an empty process (").unwrap();
    let number = |text: &str| text.parse::<f64>().unwrap();
    assert!(number(took) > 0.0 && number(empty.trim_end_matches(" ms)")) > 0.0, "{line}");
    // Rounded: what is said to be 4.0 may be more or less.
    if ratio != "4.0" {
        assert_eq!(line.starts_with("warning hook-slow: "), number(ratio) > 4.0, "{line}");
    }
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0);
    assert!(!sandbox.place().state.join("sessions").exists());
}

#[test]
fn a_limit_that_claude_code_does_not_let_us_reach() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("steadfast.toml"), "[stop]\nmax_idle = 12\n").unwrap();
    insta::assert_snapshot!(found(&sandbox, "config-useless"), @r"
    warning: `stop.max_idle` is 12, but Claude Code accepts only 8 refusals to stop in a row; higher values have no effect
    hint: `steadfast init` raises `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP` in the settings; a `stop.max_idle` below 8 needs no change
    ");
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert!(!codes(&sandbox).contains(&"config-useless".to_owned()));
}

#[test]
fn an_agent_may_look_and_not_mend() {
    let sandbox = Sandbox::new();
    has_session(&sandbox);
    assert_eq!(sandbox.as_agent("s-1", &["doctor"]).status.code(), Some(0));
    let output = sandbox.as_agent("s-1", &["doctor", "--fix"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("only a human can run `steadfast doctor --fix`"));
}

#[test]
fn a_configuration_that_is_wrong() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.root().join("steadfast.toml"), "[stop]\nmax_idle = \"many\"\n").unwrap();
    insta::assert_snapshot!(found(&sandbox, "config-invalid"), @r#"
    error: /repo/steadfast.toml:2:12: invalid type: string "many", expected u32
    hint: fix the file; `steadfast config schema` lists every key with its values. Until then sessions keep their old settings
    "#);
}

#[test]
fn a_sentence_of_the_settings_that_forbids_nothing() {
    let sandbox = Sandbox::new();
    let constraints = "[drift]\nconstraints = [\"don't commit\", \"be nice to the build\"]\n";
    fs::write(sandbox.root().join("steadfast.toml"), constraints).unwrap();
    insta::assert_snapshot!(found(&sandbox, "constraint-unread"), @r#"
    warning: `drift.constraints` has "be nice to the build", which Steadfast does not understand; it forbids nothing
    hint: write it plainly, such as "don't commit" or "don't touch the schema"; `drift.never` takes paths
    "#);
}
