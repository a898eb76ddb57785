//! What `doctor` finds at a gate, and what it mends.

use std::process::Output;

use steadfast_model::{Gate, GateScope, Millis, SessionId};
use steadfast_store::{close_gate, kept_aside};

use super::*;

/// The finding of that code, with its hint.
fn found(sandbox: &Sandbox, code: &str) -> Option<String> {
    told(sandbox, code, &sandbox.run(&["doctor", "--json"]))
}

fn told(sandbox: &Sandbox, code: &str, output: &Output) -> Option<String> {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["code"] == code)?;
    let word = |key: &str| finding[key].as_str().unwrap().to_owned();
    let said = format!("{}: {}\nhint: {}", word("severity"), word("message"), word("hint"));
    Some(sandbox.without_paths(said.as_bytes()))
}

fn fixed(sandbox: &Sandbox) -> String {
    sandbox.without_paths(&sandbox.run(&["doctor", "--fix"]).stderr)
}

/// A gate at which the agent has a call under way that may write.
fn at_work() -> Sandbox {
    let sandbox = proposed();
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "make plan &"}});
    sandbox.hook("PreToolUse", "me", call);
    sandbox
}

#[test]
fn what_an_agents_process_changed_is_put_back_by_fix_and_kept() {
    let sandbox = at_work();
    sandbox.write("PLAN.md", "intruder\n");
    insta::assert_snapshot!(plain(&found(&sandbox, "seal-broken").unwrap()), @r"
    warning: while the plan gate is closed, `PLAN.md` was created
    hint: a program that an agent started may have changed it; `steadfast doctor --fix` restores it and keeps a copy of the current content
    ");
    assert!(fixed(&sandbox).contains("fixed seal-broken: 1 file restored"));
    assert!(!sandbox.root().join("PLAN.md").exists());
    let kept = kept_aside(&sandbox.place());
    assert_eq!(kept.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>(), ["intruder\n"]);
    assert_eq!(found(&sandbox, "seal-broken"), None);
    let said = found(&sandbox, "kept-aside").unwrap();
    insta::assert_snapshot!(plain(&said), @r"
    note: 1 file moved aside to `/repo/.git/steadfast/seals/kept`
    hint: they were where Steadfast restored a sealed file or wrote a plan; look at them, then delete them
    ");
}

#[test]
fn what_somebody_else_changed_is_told_and_left() {
    let sandbox = proposed();
    sandbox.write("PLAN.md", "mine\n");
    // Other tests have processes of a session with the same name: in here they are not seen.
    let alone = |arguments: &[&str]| sandbox.entered("exec \"$0\" \"$@\"", arguments);
    let Some(output) = alone(&["doctor", "--json"]) else { return };
    insta::assert_snapshot!(plain(&told(&sandbox, "seal-broken", &output).unwrap()), @r"
    note: while the plan gate is closed, `PLAN.md` was created
    hint: no agent was running, so a person probably changed it and Steadfast leaves it; the gate stays closed
    ");
    let fixed = alone(&["doctor", "--fix"]).unwrap();
    assert!(!sandbox.without_paths(&fixed.stderr).contains("seal-broken"));
    assert_eq!(fs::read_to_string(sandbox.root().join("PLAN.md")).unwrap(), "mine\n");
}

#[test]
fn a_marker_that_was_taken_away_is_found() {
    let sandbox = proposed();
    sandbox.unmark();
    insta::assert_snapshot!(plain(&found(&sandbox, "gate-unmarked").unwrap()), @r"
    warning: the marker of a closed gate was removed; a session remembers the gate, so it stays closed
    hint: the next event of that session writes the marker again; `steadfast plan unlock` opens the gate
    ");
    sandbox.hook("SessionStart", "other", json!({"source": "startup"}));
    assert!(sandbox.as_agent("other", &["plan", "lock"]).status.success());
    sandbox.unmark();
    let said = found(&sandbox, "gate-unmarked").unwrap();
    assert!(said.starts_with("warning: the marker of 2 closed gates was removed;"), "{said}");
}

#[test]
fn a_marker_that_cannot_be_read_is_found() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    sandbox.damage();
    insta::assert_snapshot!(plain(&found(&sandbox, "gate-unreadable").unwrap()), @r"
    warning: 1 marker cannot be read, so the plan gate is closed for every session
    hint: another program wrote to `/repo/.git/steadfast/gates`; `steadfast plan unlock` removes the damaged marker
    ");
    sandbox.ok(&["plan", "unlock"]);
    assert_eq!(found(&sandbox, "gate-unreadable"), None);
}

#[test]
fn a_gate_that_expired_is_taken_away_by_fix() {
    let sandbox = Sandbox::new();
    let scope = GateScope::Worktree(sandbox.place().worktree());
    let gate = Gate { expires_at: Some(Millis(2)), ..Gate::new(scope, "closed", Millis(1)) };
    close_gate(&sandbox.place(), &gate).unwrap();
    assert_eq!(sandbox.gate(), is("not_required", "open"));
    insta::assert_snapshot!(plain(&found(&sandbox, "gate-expired").unwrap()), @r"
    note: 1 gate expired and is open, but the marker is still there
    hint: it blocks nothing; `steadfast doctor --fix` removes the marker
    ");
    assert!(fixed(&sandbox).contains("fixed gate-expired: 1 marker removed"));
    assert_eq!(found(&sandbox, "gate-expired"), None);
}

#[test]
fn a_gate_without_its_seal_is_found() {
    let sandbox = Sandbox::new();
    let gate = Gate::new(GateScope::Session(SessionId::new("s")), "closed", Millis(1));
    close_gate(&sandbox.place(), &gate).unwrap();
    insta::assert_snapshot!(plain(&found(&sandbox, "seal-missing").unwrap()), @r"
    warning: a plan gate is closed, but the content of its protected paths was not recorded
    hint: Steadfast does not notice changes there; `steadfast plan unlock` and `steadfast plan lock` record it again
    ");
}

/// A checkout whose `many/` has more files than are sealed one by one.
fn with_many_files() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "approval.protected", r#"["many/"]"#]);
    fs::create_dir(sandbox.root().join("many")).unwrap();
    for number in 100..220 {
        sandbox.write(&format!("many/{number}"), "sealed");
    }
    sandbox
}

#[test]
fn what_cannot_be_sealed_is_named() {
    let sandbox = with_many_files();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("many/x.log", "");
    let said = sandbox.ok(&["plan", "lock"]);
    assert!(
        said.contains("\nnot sealed, so Steadfast cannot restore changes by a script there: many/x.log\n"),
        "{said}"
    );
    insta::assert_snapshot!(plain(&found(&sandbox, "seal-partial").unwrap()), @r"
    note: some files that the plan gate protects cannot be restored: `many/x.log`
    hint: the seal covers 64 files, and in git all files that are not ignored, of at most 4 MiB each and in this checkout; writes are refused all the same
    ");
}

#[test]
fn what_changed_in_a_large_folder_is_told_by_commands_and_put_back_by_fix() {
    let sandbox = with_many_files();
    sandbox.write("draft.md", SPEC);
    sandbox.ok(&["plan", "propose", "draft.md", "--path", "PLAN.md"]);
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "make plan &"}});
    sandbox.hook("PreToolUse", "me", call);
    for number in 180..220 {
        sandbox.write(&format!("many/{number}"), "intruder");
    }
    let told = "while the plan gate is closed, `many/180` was changed, `many/181` was changed, `many/182` was changed, \
                and 13 more";
    assert!(found(&sandbox, "seal-broken").unwrap().contains(told));
    assert!(sandbox.ok(&["plan", "status"]).contains(told));
    assert!(fixed(&sandbox).contains("fixed seal-broken: 40 files restored"));
    assert_eq!(found(&sandbox, "seal-broken"), None);
    assert_eq!(fs::read_to_string(sandbox.root().join("many/219")).unwrap(), "sealed");
    assert_eq!(kept_aside(&sandbox.place()).len(), 40);

    sandbox.write("many/219", "intruder");
    let approved = sandbox.run(&["plan", "approve", "--yes"]);
    let said = String::from_utf8_lossy(&approved.stderr).into_owned();
    assert!(
        said.contains(
            "note: while the plan gate is closed, `many/219` was changed; approving the plan does not undo this"
        ),
        "{said}"
    );
}

#[test]
fn what_git_cannot_tell_is_said() {
    let sandbox = with_many_files();
    sandbox.ok(&["plan", "lock"]);
    assert_eq!(found(&sandbox, "seal-not-seen"), None);
    fs::write(sandbox.root().join(".git/index"), "no index").unwrap();
    let said = found(&sandbox, "seal-not-seen").unwrap();
    assert!(
        said.starts_with("warning: the files that the plan gate seals as a git tree cannot be compared: "),
        "{said}"
    );
}

#[test]
fn a_key_that_others_may_read_is_closed_by_fix_and_one_that_is_gone_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = proposed();
    sandbox.ok(&["plan", "approve", "--yes"]);
    let key = sandbox.home().join(".local/state/steadfast/approval.key");
    assert_eq!(found(&sandbox, "approval-key"), None);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    insta::assert_snapshot!(plain(&found(&sandbox, "approval-key").unwrap()), @r"
    warning: other users may read `/home/.local/state/steadfast/approval.key`, the key that signs approvals
    hint: `steadfast doctor --fix` makes it readable only by you
    ");
    assert!(fixed(&sandbox).contains("fixed approval-key"));
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    fs::remove_file(&key).unwrap();
    insta::assert_snapshot!(plain(&found(&sandbox, "approval-key").unwrap()), @r"
    warning: 1 approval cannot be verified: `/home/.local/state/steadfast/approval.key`: No such file or directory (os error 2)
    hint: plans that it approved count as not approved; approve them again, which creates a new key
    ");
}

#[test]
fn a_hardened_profile_without_its_key_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "approval.profile", "hardened"]);
    insta::assert_snapshot!(plain(&found(&sandbox, "approval-key").unwrap()), @r"
    error: `approval.profile` is `hardened`, but `approval.key` names no key
    hint: `steadfast config set --user approval.key ~/.ssh/id_ed25519_sk`
    ");
    sandbox.ok(&["config", "set", "approval.key", "~/none"]);
    insta::assert_snapshot!(plain(&found(&sandbox, "approval-key").unwrap()), @r"
    error: `approval.profile` is `hardened`, but `/home/none.pub`, which verifies approvals, does not exist
    hint: no plan counts as approved until it exists; `ssh-keygen -y -f KEY` prints it
    ");
}

/// The settings after a change in their hooks.
fn rewire(sandbox: &Sandbox, change: impl Fn(&mut Value)) {
    let path = sandbox.root().join(".claude/settings.local.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut settings["hooks"]);
    fs::write(&path, settings.to_string()).unwrap();
}

#[test]
fn a_hook_that_was_taken_out_of_the_settings_is_found() {
    let sandbox = Sandbox::new();
    assert_eq!(found(&sandbox, "wiring-changed"), None);
    rewire(&sandbox, |hooks| drop(hooks.as_object_mut().unwrap().remove("PreToolUse")));
    insta::assert_snapshot!(plain(&found(&sandbox, "wiring-changed").unwrap()), @r"
    warning: `/repo/.claude/settings.local.json` does not call Steadfast for PreToolUse: the hooks were removed, or an older version wrote the file
    hint: `steadfast init` writes them again; check that file for other changes
    ");
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert_eq!(found(&sandbox, "wiring-changed"), None);
}

#[test]
fn a_hook_that_is_called_for_less_is_found() {
    let sandbox = Sandbox::new();
    rewire(&sandbox, |hooks| {
        hooks["PreToolUse"][0]["matcher"] = json!("Read");
        hooks["PostToolUse"][0]["hooks"][0]["async"] = json!(true);
        hooks["Stop"][0]["matcher"] = json!("*");
    });
    insta::assert_snapshot!(plain(&found(&sandbox, "wiring-changed").unwrap()), @r"
    warning: in `/repo/.claude/settings.local.json` the hooks of Steadfast were limited: PostToolUse (async), PreToolUse (matcher Read)
    hint: Steadfast cannot refuse calls that it does not see; remove the limit, or run `steadfast uninstall` and `steadfast init`
    ");
}
