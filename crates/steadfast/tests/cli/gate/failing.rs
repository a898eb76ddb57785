//! What goes wrong at a gate: what is said, and that it stays closed.

use std::process::{Command, Output};

use super::*;

fn failure(sandbox: &Sandbox, output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    format!("exit {}\n{}", output.status.code().unwrap(), plain(&sandbox.without_paths(&output.stderr)))
}

fn approval_fails(sandbox: &Sandbox) -> String {
    failure(sandbox, &sandbox.run(&["plan", "approve", "--yes"]))
}

/// What a human at a terminal is asked, and how it ends when they answer that.
fn answered(sandbox: &Sandbox, answer: &str) -> (i32, String) {
    let (code, said) = sandbox.at_terminal("plan approve >/dev/null", "[y/N] ", &format!("{answer}\n"));
    (code, plain(&said))
}

#[test]
fn a_human_who_is_asked_says_no_and_then_yes() {
    let sandbox = proposed();
    let (code, said) = answered(&sandbox, "n");
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @"

    approve plan HASH8? [y/N] n
    error: nothing is approved; the plan gate is unchanged

    hint: `steadfast plan approve HASH8` asks again,
      `steadfast plan reject HASH8` rejects it
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
    assert_eq!(answered(&sandbox, "y").0, 0);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn a_state_that_cannot_be_written_keeps_no_draft_and_closes_nothing() {
    let sandbox = with_spec();
    fs::write(sandbox.place().state.join("drafts"), "").unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "propose", "SPEC.md"])), @r"
    exit 1
    error: cannot save the draft: File exists (os error 17)

    hint: if a sandbox makes `.git` read-only, use the tool `plan_propose` of the MCP server `steadfast`
    ");
    fs::write(sandbox.place().state.join("gates"), "").unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "lock"])), @r"
    exit 1
    error: cannot close the gate: File exists (os error 17)

    hint: if a sandbox makes `.git` read-only, use the tool `plan_propose` of the MCP server `steadfast`; else check the disk and its permissions
    ");
}

#[test]
fn an_approval_that_cannot_be_kept_is_none() {
    let sandbox = proposed();
    fs::write(sandbox.place().state.join("approvals"), "").unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: nothing is approved: the approval cannot be written: File exists (os error 17)

    hint: check the disk and the permissions of the state folder, and try again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
    assert!(!sandbox.root().join("PLAN.md").exists());
}

#[test]
fn a_full_disk_approves_nothing() {
    let sandbox = proposed();
    assert_eq!(sandbox.full(&["plan", "approve", "--yes"]).status.code(), Some(1));
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn a_plan_that_cannot_be_written_leaves_the_gate_closed() {
    let sandbox = proposed();
    fs::create_dir(sandbox.root().join("PLAN.md")).unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: the approved plan cannot be written to `/repo/PLAN.md`: the path exists and is not a file

    hint: the approval is signed, but the gate stays closed; make `/repo/PLAN.md` a file that you can write, and try again
    ");
    assert_eq!(sandbox.position()["gate"], "locked");
    fs::remove_dir(sandbox.root().join("PLAN.md")).unwrap();
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn a_gate_that_cannot_be_opened_after_the_yes_stays_closed() {
    let sandbox = proposed();
    // A folder in the marker's place: nobody removes that like a file, not even root.
    let marker = fs::read_dir(&sandbox.markers()[0]).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&marker).unwrap();
    fs::create_dir(&marker).unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: the gate cannot be opened: Is a directory (os error 21)

    hint: the plan is signed and written; check the disk and try again: Steadfast repeats only the missing steps
    ");
    assert_eq!(sandbox.position()["gate"], "locked");
    fs::remove_dir(&marker).unwrap();
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn a_path_that_is_no_text_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let sandbox = with_spec();
    let odd = OsStr::from_bytes(b"od\xff.md");
    let propose = |arguments: &[&OsStr]| {
        let output = sandbox.command().args(["plan", "propose"]).args(arguments).output().unwrap();
        failure(&sandbox, &output)
    };
    insta::assert_snapshot!(propose(&[OsStr::new("SPEC.md"), OsStr::new("--path"), odd]), @r"
    exit 64
    error: invalid UTF-8 was detected in one or more arguments

    Usage: steadfast plan propose [OPTIONS] <FILE>

    For more information, try '--help'.
    ");
    fs::copy(sandbox.root().join("SPEC.md"), sandbox.root().join(odd)).unwrap();
    insta::assert_snapshot!(propose(&[odd]), @r"
    exit 64
    error: a plan cannot be written to `od�.md`: its name is not UTF-8 text

    hint: give another path for the plan: `--path docs/plan.md`
    ");
    let lock = sandbox.command().args(["plan", "lock", "--why"]).arg(odd).output().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &lock), @r"
    exit 64
    error: invalid UTF-8 was detected in one or more arguments

    Usage: steadfast plan lock [OPTIONS]

    For more information, try '--help'.
    ");
    let status = sandbox.ok(&["plan", "status"]);
    assert!(status.starts_with("no plan is loaded or drafted"), "{status}");
}

#[test]
fn a_path_that_came_to_lead_elsewhere_is_not_written() {
    let sandbox = with_spec();
    fs::create_dir(sandbox.root().join("docs")).unwrap();
    sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "docs/plan.md"]);
    fs::remove_dir(sandbox.root().join("docs")).unwrap();
    std::os::unix::fs::symlink(sandbox.home(), sandbox.root().join("docs")).unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: nothing is approved: a plan cannot be written to `docs/plan.md`: it is outside the checkout, behind a link that leads outside, or in `.git`

    hint: `steadfast plan propose FILE --path PATH` proposes it for another path
    ");
    assert!(!sandbox.home().join("plan.md").exists());
}

#[test]
fn half_a_key_signs_nothing() {
    let sandbox = proposed();
    let folder = sandbox.home().join(".local/state/steadfast");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("approval.key"), "half").unwrap();
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: nothing is approved: the key `/home/.local/state/steadfast/approval.key` cannot be used: it is not 32 bytes long

    hint: check `/home/.local/state/steadfast/approval.key`; if the key is lost, move the file away: Steadfast creates a new key, and its old approvals must be given again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn without_a_home_there_is_no_key() {
    let sandbox = proposed();
    let output = sandbox.command().args(["plan", "approve", "--yes"]).env_remove("HOME").output().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: `HOME` is not set, so there is no folder for the approval key

    hint: set `HOME` to your home folder and try again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn another_draft_at_the_checkouts_gate_stands_in_the_way() {
    let sandbox = proposed();
    let first = sandbox.short();
    sandbox.ok(&["plan", "reject"]);
    sandbox.write("OTHER.md", SPEC.replace("# Sign in", "# Sign out"));
    sandbox.ok(&["plan", "propose", "OTHER.md"]);
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "approve", &first, "--yes"])), @r"
    exit 1
    error: another draft waits at the gate of this checkout: HASH8

    hint: reject that draft first: `steadfast plan reject HASH8`
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn a_session_that_is_at_work_is_told_the_next_time() {
    let sandbox = proposed();
    let lock = fs::File::open(sandbox.session("me").dir().join("lock")).unwrap();
    lock.lock().unwrap();
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "unlock"])), @r"
    exit 1
    error: another process holds the lock of session me

    hint: a hook of this session is running; try again in a moment
    ");
    lock.unlock().unwrap();
    sandbox.ok(&["plan", "unlock"]);
    assert_eq!(sandbox.gate(), is("not_required", "open"));
}

#[test]
fn a_marker_that_cannot_be_removed_is_said() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    // A folder in the marker's place: nobody removes that like a file, not even root.
    let marker = fs::read_dir(&sandbox.markers()[0]).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&marker).unwrap();
    fs::create_dir(&marker).unwrap();
    assert_eq!(sandbox.position()["gate"], "locked");
    insta::assert_snapshot!(failure(&sandbox, &sandbox.run(&["plan", "unlock"])), @r"
    exit 1
    error: cannot remove the marker of the gate: Is a directory (os error 21)

    hint: make the files in `/repo/.git/steadfast/gates` removable and try again: Steadfast repeats only the missing steps
    ");
}

#[test]
fn the_same_plan_in_another_worktree_is_approved_there() {
    let sandbox = proposed();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(sandbox.root());
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["add", "SPEC.md"]);
    git(&["commit", "--quiet", "-m", "x"]);
    git(&["worktree", "add", "--quiet", "../side"]);
    let there = || {
        let mut command = sandbox.command();
        command.current_dir(sandbox.root().join("../side"));
        command
    };
    assert!(there().args(["plan", "propose", "SPEC.md", "--path", "PLAN.md"]).status().unwrap().success());
    insta::assert_snapshot!(approval_fails(&sandbox), @r"
    exit 1
    error: draft `HASH8` was proposed again in `/side` and would be written there

    hint: run `steadfast plan propose FILE` here, or approve it there
    ");
    assert!(there().args(["plan", "approve", "--yes"]).status().unwrap().success());
    assert!(sandbox.root().join("../side/PLAN.md").exists() && !sandbox.root().join("PLAN.md").exists());
    assert_eq!(sandbox.position()["gate"], "locked", "it waits here, too");
}

/// The state's folder of that name, where nothing can be written.
fn read_only(sandbox: &Sandbox, folder: &str) -> String {
    let path = sandbox.place().state.join(folder).display().to_string();
    format!("mount --bind {path} {path} && mount -o remount,bind,ro {path} && exec \"$0\" \"$@\"")
}

#[test]
fn a_seal_or_a_gate_that_cannot_be_changed_is_said_and_a_second_try_ends_it() {
    let sandbox = proposed();
    let approve = ["plan", "approve", "--yes"];
    let Some(output) = sandbox.elsewhere(&read_only(&sandbox, "seals"), &approve) else { return };
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: the seal cannot be renewed: Read-only file system (os error 30)

    hint: the plan is signed and written; check the disk and try again: Steadfast repeats only the missing steps
    ");
    let output = sandbox.elsewhere(&read_only(&sandbox, "gates"), &approve).unwrap();
    insta::assert_snapshot!(failure(&sandbox, &output), @r"
    exit 1
    error: the gate cannot be opened: Read-only file system (os error 30)

    hint: the plan is signed and written; check the disk and try again: Steadfast repeats only the missing steps
    ");
    sandbox.ok(&approve);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

/// What was written down of hooks that could not do something, without its time.
fn logged(sandbox: &Sandbox) -> String {
    let log = fs::read_to_string(sandbox.place().state.join("hook.log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    plain(&sandbox.without_paths(lines.join("\n").as_bytes()))
}

/// A message of a human who sits before the session, in a host with that home.
fn typed(sandbox: &Sandbox, prompt: &Value, home: &str) {
    let mut payload = prompt.clone();
    payload["session_id"] = "me".into();
    payload["cwd"] = sandbox.root().to_str().into();
    fs::write(sandbox.home().join("payload"), payload.to_string()).unwrap();
    let mut command = sandbox.command();
    command.args(["hook", "--host", "claude", "--via", "local", "UserPromptSubmit"]).env("HOME", home);
    command.env("CLAUDE_CODE_SESSION_ATTENDED", "1").stdin(fs::File::open(sandbox.home().join("payload")).unwrap());
    assert!(command.status().unwrap().success());
}

#[test]
fn a_message_that_approves_what_is_not_there_is_written_down() {
    let sandbox = proposed();
    let prompt = json!({"prompt": format!("approve plan {}", sandbox.short())});
    let file = fs::read_dir(sandbox.place().state.join("drafts")).unwrap().next().unwrap().unwrap().path();
    let draft = fs::read_to_string(&file).unwrap();
    let home = sandbox.home();
    typed(&sandbox, &prompt, "");
    fs::write(&file, draft.replace("Make and check", "Fake and check")).unwrap();
    typed(&sandbox, &prompt, home.to_str().unwrap());
    fs::remove_file(&file).unwrap();
    typed(&sandbox, &prompt, home.to_str().unwrap());
    insta::assert_snapshot!(logged(&sandbox), @r"
    session me: cannot carry out the human's approval: the approval key cannot be found: the user's state folder is unknown
    session me: cannot carry out the human's approval: the draft with the hash `HASH8` was changed after it was proposed
    session me: cannot carry out the human's approval: there is no draft with the hash `HASH8`
    ");
    assert_eq!(sandbox.gate().1, "locked");
}

#[test]
fn a_gate_that_plan_mode_cannot_mark_is_written_down_and_closed_all_the_same() {
    let sandbox = Sandbox::new();
    let payload = json!({"session_id": "me", "cwd": sandbox.root(), "prompt": "how would you do it",
        "permission_mode": "plan"});
    fs::write(sandbox.home().join("payload"), payload.to_string()).unwrap();
    let mut script = String::new();
    for folder in sandbox.markers() {
        fs::create_dir(&folder).unwrap();
        let path = folder.display();
        script += &format!("mount --bind {path} {path} && mount -o remount,bind,ro {path} && ");
    }
    script += "exec \"$0\" \"$@\" <\"$HOME/payload\"";
    let hook = ["hook", "--host", "claude", "--via", "local", "UserPromptSubmit"];
    let Some(output) = sandbox.elsewhere(&script, &hook) else { return };
    assert!(output.status.success(), "{output:?}");
    insta::assert_snapshot!(logged(&sandbox), @r"
    session me: the plan gate is closed, but its marker and its seal were not written: Read-only file system (os error 30)
    ");
    assert!(sandbox.write_tool("me", ".tdd-progress.md").contains("\"deny\""));
}

/// Why messages approved nothing, as the log has it.
fn refused(sandbox: &Sandbox) -> Vec<String> {
    let log = sandbox.ok(&["log", "--json"]);
    let reasons = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["reason"].clone());
    let refused = reasons.filter_map(|reason| Some(reason.as_str()?.strip_prefix("Nothing is approved: ")?.to_owned()));
    refused.map(|reason| plain(&reason)).collect()
}

#[test]
fn a_message_that_approves_nothing_says_why_in_the_log() {
    let sandbox = proposed();
    let approve = |hash: &str| json!({"prompt": format!("approve plan {hash}")});
    let home = sandbox.home().display().to_string();
    sandbox.hook("UserPromptSubmit", "me", approve(&sandbox.short()));
    typed(&sandbox, &approve("0123abcd"), &home);
    sandbox.ok(&["config", "set", "approval.profile", "hardened"]);
    sandbox.hook("SessionStart", "me", json!({"source": "resume"}));
    typed(&sandbox, &approve(&sandbox.short()), &home);
    let mut all = refused(&sandbox);
    assert_eq!(sandbox.gate(), is("required", "locked"));
    let locked = Sandbox::new();
    locked.agent(&["plan", "lock"]);
    typed(&locked, &approve("0123abcd"), &home);
    all.extend(refused(&locked));
    insta::assert_snapshot!(all.join("\n"), @r#"
    Steadfast does not know whether a human is at this session. `steadfast plan approve` in a terminal approves it.
    the draft is HASH8, not HASH8. To approve "Sign in with a code", type this and nothing else: approve plan HASH8
    in the hardened profile only `steadfast plan approve` in a terminal approves it.
    no plan is drafted.
    "#);
}

#[test]
fn what_is_nearly_a_yes_is_answered_on_the_humans_channel() {
    let sandbox = proposed();
    let message = |answer: &str| {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        answer["systemMessage"].as_str().unwrap_or_default().to_owned()
    };
    let short = sandbox.short();
    for said in
        ["yes, approved", "ok approve it", &format!("`approve plan {short}`"), &format!("approve plan {short}!")]
    {
        let told = message(&sandbox.hook("UserPromptSubmit", "me", json!({"prompt": said})));
        assert!(told.starts_with("Steadfast: Nothing is approved: "), "{said}: {told}");
        assert!(told.contains("`steadfast plan approve` in a terminal"), "{said}: {told}");
    }
    for said in ["they approved the budget", "how do I approve a plan?"] {
        let told = message(&sandbox.hook("UserPromptSubmit", "me", json!({"prompt": said})));
        assert_eq!(told, "", "{said}");
    }
    let question =
        json!({"question": "Ready to build?", "header": "Go", "options": [{"label": "Approve"}, {"label": "Wait"}]});
    let answered = |id: &str, label: &str| {
        json!({"tool_name": "AskUserQuestion", "tool_use_id": id, "tool_input": {"questions": [question]},
            "tool_response": {"answers": {"Ready to build?": label}}})
    };
    let told = message(&sandbox.hook("PostToolUse", "me", answered("q-1", "Approve")));
    assert!(told.starts_with("Steadfast: Nothing is approved: the agent asked its own question"), "{told}");
    assert_eq!(message(&sandbox.hook("PostToolUse", "me", answered("q-2", "Wait"))), "");
    assert_eq!(sandbox.gate(), is("required", "locked"));
    // Its help is for everyone.
    let call = |command: &str| json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": {"command": command}});
    assert!(!sandbox.hook("PreToolUse", "me", call("steadfast plan approve --help")).contains("deny"));
    assert!(sandbox.hook("PreToolUse", "me", call("steadfast plan approve -- --help")).contains("deny"));
}
