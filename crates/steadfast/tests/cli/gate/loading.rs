//! What may be loaded and worked on, and what waits for a yes.

use steadfast_store::approval_record;

use super::*;

#[test]
fn an_agent_loads_nothing_at_a_closed_gate() {
    let sandbox = proposed();
    let (code, said) = sandbox.agent(&["plan", "load", "SPEC.md"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(plain(&said), @r"
    error: cannot load `SPEC.md`: the plan gate is closed

    hint: `steadfast plan propose SPEC.md` stores it for a human, whose approval opens the gate

    hint: `steadfast plan status` shows its status
    ");
}

#[test]
fn an_approved_plan_is_the_humans_whoever_loads_it() {
    let sandbox = proposed();
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.agent(&["plan", "load", "PLAN.md"]).0, 0);
    let status: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!((&status["plan"]["added_by"], &status["approval"]), (&json!("human"), &json!("approved")));
    assert_eq!(sandbox.agent(&["task", "start", "1.1"]).0, 0);
}

#[test]
fn a_plan_that_was_drafted_is_not_built_before_the_yes() {
    let sandbox = with_spec();
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 0);
    assert_eq!(sandbox.gate(), is("not_required", "open"));
    sandbox.agent(&["plan", "propose", "SPEC.md"]);
    assert_eq!(sandbox.gate(), is("required", "locked"));
    for command in [["task", "start", "1.1"], ["task", "done", "1.1"]] {
        let (code, said) = sandbox.agent(&command);
        assert_eq!(code, 2);
        assert!(
            said.starts_with("error: cannot work on task `1.1`: plan `sign-in-with-a-code` is not approved"),
            "{said}"
        );
    }
    insta::assert_snapshot!(plain(&sandbox.agent(&["task", "start", "1.1"]).1), @r"
    error: cannot work on task `1.1`: plan `sign-in-with-a-code` is not approved: a human has to approve it first

    hint: a human runs `steadfast plan approve HASH8`, or sends the message `approve plan HASH8`
    ");
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "status"])), @r"
    Sign in with a code (sign-in-with-a-code)
    0 of 2 tasks done, 2 open, 0 blocked
    plan HASH8 is not approved: its tasks cannot start
    the plan gate of session me is closed: .tdd-progress.md, SPEC.md cannot be written
    `steadfast plan show --draft` shows it
    ");
    let (code, said) = sandbox.fails(&["resume", "--print"]);
    assert_eq!(code, 2);
    assert!(said.starts_with("error: cannot start a session: plan `sign-in-with-a-code` is not approved"), "{said}");
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.agent(&["task", "start", "1.1"]).0, 0);
    sandbox.ok(&["resume", "--print"]);
}

#[test]
fn a_changed_plan_does_not_inherit_the_yes() {
    let sandbox = proposed();
    sandbox.ok(&["plan", "approve", "--yes"]);
    // The marker is taken out, so that the file claims nothing.
    sandbox.write("PLAN.md", SPEC.replace("test -f src/code.rs", "true"));
    let (code, said) = sandbox.agent(&["plan", "load", "PLAN.md"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(plain(&said), @r"
    error: cannot load `PLAN.md`: it differs from plan HASH8, which was proposed for that file

    hint: `steadfast plan propose PLAN.md` stores it for a human to approve; or a human loads it
    ");
    sandbox.agent(&["plan", "propose", "PLAN.md"]);
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.agent(&["plan", "load", "PLAN.md"]).0, 0);
}

#[test]
fn a_marker_without_a_signature_is_unsigned() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC.replacen('\n', "\n**Approved:** 2026-01-01T00:00:00Z\n", 1));
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 0);
    assert_eq!(sandbox.gate(), is("unsigned", "open"));
    insta::assert_snapshot!(plain(&sandbox.agent(&["task", "start", "1.1"]).1), @r"
    error: cannot work on task `1.1`: plan `sign-in-with-a-code` is not approved: its file says that it is, but no signature confirms it

    hint: a human runs `steadfast plan load SPEC.md`; or `steadfast plan propose SPEC.md` stores it for a human to approve
    ");
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "status"])), @r"
    Sign in with a code (sign-in-with-a-code)
    0 of 2 tasks done, 2 open, 0 blocked
    plan HASH8 is not approved: its file claims approval, but no signature confirms it
    ");
}

#[test]
fn a_marker_that_came_while_the_gate_was_closed_is_forged() {
    let sandbox = with_spec();
    sandbox.agent(&["plan", "load", "SPEC.md"]);
    sandbox.agent(&["plan", "propose", "SPEC.md"]);
    sandbox.write("SPEC.md", SPEC.replacen('\n', "\n**Approved:** 2026-01-01T00:00:00Z\n", 1));
    assert_eq!(sandbox.gate(), is("forged", "locked"));
    insta::assert_snapshot!(plain(&sandbox.agent(&["task", "start", "1.1"]).1), @r"
    error: cannot work on task `1.1`: plan `sign-in-with-a-code` is not approved: its file began to say that it is while the plan gate was closed

    hint: a human runs `steadfast plan approve HASH8`, or sends the message `approve plan HASH8`
    ");
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "status"])), @r"
    Sign in with a code (sign-in-with-a-code)
    0 of 2 tasks done, 2 open, 0 blocked
    plan HASH8 is not approved: its file began to claim approval while the plan gate was closed
    the plan gate of session me is closed: .tdd-progress.md, SPEC.md cannot be written
    while the plan gate is closed, `SPEC.md` was changed; `steadfast doctor` reports the consequences
    `steadfast plan show --draft` shows it
    ");
}

#[test]
fn where_approval_is_required_an_agents_plan_waits_and_a_humans_load_is_a_yes() {
    let sandbox = with_spec();
    sandbox.ok(&["config", "set", "approval.required", "true"]);
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 0);
    assert_eq!(sandbox.gate(), is("required", "open"));
    insta::assert_snapshot!(plain(&sandbox.agent(&["task", "start", "1.1"]).1), @r"
    error: cannot work on task `1.1`: plan `sign-in-with-a-code` is not approved: a human has to approve it first

    hint: a human runs `steadfast plan load SPEC.md`; or `steadfast plan propose SPEC.md` stores it for a human to approve
    ");
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    let hash = sandbox.position()["hash"].as_str().unwrap().to_owned();
    assert_eq!(approval_record(&sandbox.place(), &hash).unwrap().channel.as_str(), "load");
    assert_eq!(sandbox.agent(&["task", "start", "1.1"]).0, 0);
}

#[test]
fn where_nothing_is_required_nothing_is_signed() {
    let sandbox = with_spec();
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert_eq!(sandbox.gate(), is("not_required", "open"));
    assert!(!sandbox.place().state.join("approvals").exists());
}

#[test]
fn a_plain_list_of_an_agents_waits_where_approval_is_required() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "approval.required", "true"]);
    sandbox.agent(&["task", "add", "One"]);
    let (code, said) = sandbox.agent(&["task", "start", "1"]);
    assert_eq!(code, 2, "{said}");
    sandbox.ok(&["task", "start", "1"]);
}

#[test]
fn a_human_who_loads_what_waits_has_said_yes() {
    let sandbox = proposed();
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    assert_eq!(sandbox.state("me").gate, None);
    assert!(!sandbox.root().join("PLAN.md").exists(), "they have it where they want it");
}

#[test]
fn a_human_who_loads_another_plan_has_said_nothing_of_the_draft() {
    let sandbox = proposed();
    sandbox.write("OTHER.md", SPEC.replace("# Sign in", "# Sign out"));
    sandbox.ok(&["plan", "load", "OTHER.md"]);
    assert_eq!(sandbox.gate(), is("not_required", "locked"));
}
