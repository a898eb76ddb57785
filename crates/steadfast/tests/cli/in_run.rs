//! The plan that a run works off, as the sessions and commands beside it see it.

use serde_json::json;
use steadfast_model::{Host, Limits, Millis, Run, RunId, RunState};
use steadfast_store::ledger::Ledger;

use crate::plans::loaded;
use crate::sandbox::Sandbox;

/// With a run that its plan belongs to.
fn running() -> (Sandbox, Ledger) {
    let sandbox = loaded();
    let worktree = sandbox.place().worktree();
    let mut ledger = Ledger::open(&sandbox.place().state).unwrap();
    let plan = ledger.plan_view(&worktree).unwrap().unwrap().id;
    let run = Run {
        id: RunId::new("r-1a2b3c4d"),
        plan,
        worktree,
        spec: "SPEC.json".into(),
        host: Host::Sim,
        base: "c0".into(),
        branch: "steadfast/r-1a2b3c4d".into(),
        state: RunState::Running,
        reason: None,
        limits: Limits::default(),
        started_at: Millis(1),
        updated_at: Millis(1),
        ended_at: None,
        runner: None,
    };
    ledger.create_run(&run).unwrap();
    (sandbox, ledger)
}

#[test]
fn its_tasks_are_changed_by_nobody_else() {
    let (sandbox, mut ledger) = running();
    let refused = "error: run `r-1a2b3c4d` is working on task `1.0`\n\nhint: `steadfast progress` shows the run, \
                   `steadfast resume` continues it, `steadfast resume --give-up` ends it\n";
    for arguments in
        [&["task", "start", "1.0"][..], &["task", "done", "1.0", "--force"], &["task", "block", "1.0", "--why", "so"]]
    {
        assert_eq!(sandbox.fails(arguments), (2, refused.to_owned()), "{arguments:?}");
    }
    ledger.set_run_state(&RunId::new("r-1a2b3c4d"), RunState::Stopped, None, Millis(2)).unwrap();
    sandbox.ok(&["task", "start", "1.0"]);
}

#[test]
fn a_session_beside_it_is_neither_told_of_it_nor_held_by_it() {
    let (sandbox, mut ledger) = running();
    let start = |session: &str| sandbox.hook("SessionStart", session, json!({"source": "startup"}));
    assert_eq!(start("s-1"), "");
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "go on with the plan"}));
    assert!(!sandbox.stop_is_refused("s-1"));
    sandbox.ok(&["task", "add", "something of my own"]);
    sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "go on with the tasks"}));
    assert!(sandbox.stop_is_refused("s-1"), "its own tasks hold it");
    sandbox.ok(&["task", "done", "1", "--force"]);
    ledger.set_run_state(&RunId::new("r-1a2b3c4d"), RunState::Stopped, None, Millis(2)).unwrap();
    assert!(start("s-2").contains("that no session works on"), "what nobody works off any more is offered");
}
