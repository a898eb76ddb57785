//! A human's yes and no in a terminal.

use std::process::Command;

use steadfast_store::{approval_record, kept_aside};
use steadfast_testkit::skip;

use super::*;

/// The whole hash of the draft that waits.
fn hash(sandbox: &Sandbox) -> String {
    sandbox.position()["hash"].as_str().unwrap().to_owned()
}

#[test]
fn a_yes_signs_writes_and_opens() {
    let sandbox = proposed();
    let hash = hash(&sandbox);
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "approve", "--yes"])), @r#"
    plan HASH8, proposed just now by session me, 2 tasks, to be written to PLAN.md

    Sign in with a code
    People sign in with a code.
    must hold: The old endpoint stays.

    Phase 1: Codes
      1.0      Decisions of Phase 1: Codes: its goal and the choices made  (generated)
      1.1      Make and check codes
               files: src/code.rs
               check: test -f src/code.rs
    plan HASH8 is approved and written to PLAN.md
    it is loaded as plan sign-in-with-a-code: 2 tasks, 2 open
    the next session is offered its tasks; say "do the tasks" to start
    "#);
    let written = fs::read_to_string(sandbox.root().join("PLAN.md")).unwrap();
    let (first, rest) = written.split_once('\n').unwrap();
    let (marker, rest) = rest.split_once('\n').unwrap();
    assert!(marker.starts_with("**Approved:** 20") && marker.ends_with('Z'), "{marker}");
    assert_eq!(format!("{first}\n{rest}"), SPEC);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    assert!(fs::read_dir(sandbox.place().state.join("gates")).unwrap().next().is_none());
    let state = sandbox.state("me");
    assert_eq!((state.gate, state.approved), (None, Some(hash.clone())));
    let record = approval_record(&sandbox.place(), &hash).unwrap();
    assert_eq!((record.channel.as_str(), record.session), ("terminal", None));
    assert!(!sandbox.write_tool("me", ".tdd-progress.md").contains("\"deny\""));
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "status"])), @"
    Sign in with a code (sign-in-with-a-code)
    0 of 2 tasks done, 2 open, 0 blocked
    plan HASH8 is approved
    ");
}

#[test]
fn nobody_to_ask_is_no_yes() {
    let sandbox = proposed();
    let (code, said) = sandbox.fails(&["plan", "approve"]);
    assert_eq!(code, 3);
    insta::assert_snapshot!(plain(&said), @r"
    error: plan HASH8 is not approved: there is no terminal to ask for confirmation

    hint: `steadfast plan approve HASH8 --yes` approves it without asking
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn a_yes_is_to_the_hash_that_was_named() {
    let sandbox = proposed();
    let (code, said) = sandbox.fails(&["plan", "approve", "00000000", "--yes"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(plain(&said), @r"
    error: there is no draft `HASH8` in this checkout

    hint: `HASH8` awaits approval: Sign in with a code
    ");
    let first = hash(&sandbox);
    sandbox.write("SPEC.md", SPEC.replace("1.1 Make", "1.1 Issue"));
    sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]);
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_ne!(hash(&sandbox), first);
    assert!(fs::read_to_string(sandbox.root().join("PLAN.md")).unwrap().contains("1.1 Issue"));
}

#[test]
fn of_several_drafts_one_is_named() {
    let sandbox = proposed();
    let short = sandbox.short();
    sandbox.write("OTHER.md", SPEC.replace("# Sign in", "# Sign out"));
    sandbox.as_agent("other", &["plan", "propose", "OTHER.md"]);
    let (code, said) = sandbox.fails(&["plan", "approve", "--yes"]);
    assert_eq!(code, 64);
    assert!(said.starts_with("error: several drafts wait in this checkout; name one of them\n"), "{said}");
    assert!(said.contains(&format!("hint: `{short}`: Sign in with a code\n")), "{said}");
    sandbox.ok(&["plan", "approve", &short, "--yes"]);
    assert!(!sandbox.write_tool("me", "PLAN.md").contains("\"deny\""));
    assert!(sandbox.write_tool("other", "OTHER.md").contains("\"deny\""), "the other gate stays closed");
}

#[test]
fn without_a_draft_there_is_nothing_to_approve() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    insta::assert_snapshot!(plain(&sandbox.fails(&["plan", "approve"]).1), @r"
    error: no draft waits for approval in this checkout

    hint: `steadfast plan propose FILE` stores a draft; `steadfast plan status` shows the plan
    ");
    insta::assert_snapshot!(plain(&sandbox.fails(&["plan", "reject"]).1), @r"
    error: no draft waits for approval in this checkout

    hint: `steadfast plan propose FILE` stores a draft; `steadfast plan status` shows the plan
    ");
}

#[test]
fn a_no_opens_and_approves_nothing() {
    let sandbox = proposed();
    let short = sandbox.short();
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "reject"])), @r"
    plan HASH8 is rejected, and the plan gate is open: Sign in with a code
    the draft is kept; `steadfast plan approve HASH8` still approves it
    ");
    assert_eq!(sandbox.gate(), is("not_required", "open"));
    assert!(!sandbox.root().join("PLAN.md").exists());
    assert_eq!(sandbox.state("me").gate, None);
    insta::assert_snapshot!(plain(&sandbox.fails(&["plan", "reject", &short]).1), @r"
    error: no plan gate waits for draft `HASH8`

    hint: `steadfast plan status` shows the plan
    ");
    sandbox.ok(&["plan", "approve", &short, "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn what_stood_where_the_plan_goes_is_kept() {
    let sandbox = proposed();
    sandbox.write("PLAN.md", "mine\n");
    let said = sandbox.ok(&["plan", "approve", "--yes"]);
    assert!(said.contains("\nthe file that was there is kept in "), "{said}");
    let kept = kept_aside(&sandbox.place());
    assert_eq!(kept.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>(), ["mine\n"]);
}

#[test]
fn a_draft_that_was_changed_in_the_state_is_not_approved() {
    let sandbox = proposed();
    let file = sandbox.place().state.join("drafts").join(hash(&sandbox));
    let text = fs::read_to_string(&file).unwrap().replace("Make and check", "Fake and check");
    fs::write(&file, text).unwrap();
    let (code, said) = sandbox.fails(&["plan", "approve", "--yes"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(plain(&said), @r"
    error: draft `HASH8` changed since it was proposed: its text has another hash

    hint: `steadfast plan propose FILE` proposes it again
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn a_record_that_somebody_wrote_is_none() {
    let sandbox = proposed();
    let hash = hash(&sandbox);
    let folder = sandbox.place().state.join("approvals");
    fs::create_dir_all(&folder).unwrap();
    let worktree = sandbox.place().worktree();
    let forged = json!({"hash": hash, "path": "PLAN.md", "worktree": worktree, "at": 1, "channel": "terminal",
        "profile": "default", "signature": "00".repeat(32)});
    fs::write(folder.join(&hash), forged.to_string()).unwrap();
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn an_approval_of_another_key_is_none() {
    let sandbox = proposed();
    sandbox.ok(&["plan", "approve", "--yes"]);
    sandbox.ok(&["plan", "load", "PLAN.md"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    let key = sandbox.home().join(".local/state/steadfast/approval.key");
    fs::write(key, [7; 32]).unwrap();
    assert_eq!(sandbox.gate(), is("unsigned", "open"));
}

/// An SSH key without a passphrase: what matters is that `ssh-keygen` signs, and not we.
fn hardened() -> Option<Sandbox> {
    let sandbox = with_spec();
    let key = sandbox.home().join("id");
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).output();
    match made {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => {
            skip("ssh-keygen", &format_args!("`ssh-keygen` cannot be started: {error}"));
            return None;
        }
    }
    sandbox.ok(&["config", "set", "approval.profile", "hardened"]);
    sandbox.ok(&["config", "set", "approval.key", "~/id"]);
    sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]);
    Some(sandbox)
}

#[test]
fn in_the_hardened_profile_ssh_signs_and_nothing_else_counts() {
    let Some(sandbox) = hardened() else { return };
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    let record = approval_record(&sandbox.place(), &hash(&sandbox)).unwrap();
    assert!(record.signature.starts_with("-----BEGIN SSH SIGNATURE-----"), "{}", record.signature);
    assert_eq!(sandbox.agent(&["plan", "load", "PLAN.md"]).0, 0);
    let other = sandbox.home().join("other");
    Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&other).output().unwrap();
    sandbox.ok(&["config", "set", "approval.key", "~/other"]);
    assert_eq!(sandbox.gate(), is("unsigned", "open"), "another key did not sign it");
}

#[test]
fn in_the_hardened_profile_a_message_approves_nothing() {
    let Some(sandbox) = hardened() else { return };
    let prompt = json!({"prompt": format!("approve plan {}", sandbox.short())});
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "hello"}));
    sandbox.hook("UserPromptSubmit", "me", prompt);
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn without_its_key_the_hardened_profile_approves_nothing() {
    let sandbox = proposed();
    sandbox.ok(&["config", "set", "approval.profile", "hardened"]);
    insta::assert_snapshot!(plain(&sandbox.fails(&["plan", "approve", "--yes"]).1), @r"
    error: `approval.profile` is `hardened`, but `approval.key` names no key

    hint: `steadfast config set --user approval.key ~/.ssh/id_ed25519_sk`
    ");
    sandbox.ok(&["config", "set", "approval.key", "~/none"]);
    let (code, said) = sandbox.fails(&["plan", "approve", "--yes"]);
    assert_eq!(code, 1);
    // What `ssh-keygen` says is its own.
    insta::assert_snapshot!(plain(&said[said.find("error: ").unwrap()..]), @r"
    error: nothing is approved: `ssh-keygen` did not sign: `ssh-keygen -Y sign` ended with exit status: 255

    hint: check the key that `approval.key` names: `ssh-keygen -Y sign` must be able to use it
    ");
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

/// Between sessions a message is only known by its text: the one that gets it did not send it.
#[test]
fn what_an_agent_sends_to_another_session_approves_nothing_there() {
    let sandbox = proposed();
    let words = format!("approve plan {}", sandbox.short());
    for (tool, id, input) in [
        ("SendMessage", "t-1", json!({"to": "session:me", "summary": "the plan", "message": words})),
        ("mcp__team__send_message", "t-2", json!({"recipient": "me", "message": {"text": words}})),
    ] {
        sandbox.hook("PreToolUse", "other", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
        let answer = sandbox.hook("UserPromptSubmit", "me", json!({"prompt": words}));
        assert!(answer.contains("steadfast plan approve"), "{tool}: {answer}");
        assert_eq!(sandbox.gate(), is("required", "locked"), "{tool}");
    }
}
