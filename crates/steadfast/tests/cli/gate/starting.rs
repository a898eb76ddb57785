//! An approved plan is loaded at once, and "Approve and start" also binds the session; `status`, `why` and `plan status`
//! agree.

use super::*;

const START: &str = "Approve and start";

/// A session with a human, whose agent proposed the spec.
fn attended() -> Sandbox {
    let sandbox = with_spec();
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Plan the sign-in.", "source": "user"}));
    let (code, said) = sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]);
    assert_eq!(code, 0, "{said}");
    sandbox
}

fn parsed(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap_or_default()
}

/// The agent asks, Steadfast's question takes its place, and the human gives this answer.
fn answer(sandbox: &Sandbox, label: &str) -> Value {
    let asks = json!({"questions": [{"question": "Do you approve the plan?", "header": "Plan", "options": []}]});
    let call = json!({"tool_name": "AskUserQuestion", "tool_use_id": "q-1", "tool_input": asks});
    let asked = parsed(&sandbox.hook("PreToolUse", "me", call.clone()));
    let question = &asked["hookSpecificOutput"]["updatedInput"]["questions"][0];
    let mut answered = call;
    answered["tool_response"] = json!({"answers": {question["question"].as_str().unwrap(): label}});
    parsed(&sandbox.hook("PostToolUse", "me", answered))
}

fn note(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or_default()
}

fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

/// What `status`, `plan status` and `why` say of it.
fn told(sandbox: &Sandbox) -> [String; 3] {
    [&["status"][..], &["plan", "status"], &["why"]].map(|command| sandbox.ok(command))
}

#[test]
fn approve_and_start_loads_the_plan_and_the_session_works_on_it() {
    let sandbox = attended();
    let said = answer(&sandbox, START);
    let short = sandbox.short();
    assert_eq!(
        note(&said),
        format!(
            "Steadfast: plan {short} is approved, and the plan gate is open. It is loaded: 2 tasks, next is 1.0 Decisions \
             of Phase 1: Codes: its goal and the choices made. This session works on it."
        )
    );
    let context = context(&said);
    assert!(
        context.contains("asked to start. It is written to `PLAN.md`. It is loaded, and this session works on it.\n")
    );
    assert!(context.contains("`steadfast task next` shows one"), "{context}");
    assert_eq!(sandbox.gate(), is("approved", "open"));

    let [status, plan, why] = told(&sandbox);
    assert!(status.contains("0 of 2 tasks done, 2 open, 0 blocked; session me works on them"), "{status}");
    assert!(!status.contains("No tasks") && !status.contains("not loaded"), "{status}");
    assert!(
        plan.contains("0 of 2 tasks done, 2 open") && plan.contains(&format!("plan {short} is approved")),
        "{plan}"
    );
    assert!(!plan.contains("plan load"), "{plan}");
    for line in [
        format!("a human approved plan {short} in the dialog, just now"),
        "the session works on plan sign-in-with-a-code".to_owned(),
        "now: 0 of 2 tasks done, 2 open, 0 blocked".to_owned(),
        "`steadfast task done 1.0` closes 1.0".to_owned(),
    ] {
        assert!(why.contains(&line), "{line:?} is not in {why}");
    }
    assert!(!why.contains("nothing yet"), "{why}");
    let since = parsed(&sandbox.ok(&["why", "--json"]))["since"]["opened"].clone();
    assert_eq!(since["approved"]["channel"], "question");

    assert!(sandbox.stop_is_refused("me"), "the very session");
}

#[test]
fn approve_loads_the_plan_and_starts_nothing() {
    let sandbox = attended();
    let said = answer(&sandbox, &format!("Approve plan {}", sandbox.short()));
    assert!(note(&said).ends_with("To start, say: do the tasks"), "{}", note(&said));
    assert!(context(&said).contains("This session works on them only if the user asks for that."));
    let [status, ..] = told(&sandbox);
    assert!(status.contains("0 of 2 tasks done, 2 open, 0 blocked; no session works on them"), "{status}");
    assert!(!sandbox.stop_is_refused("me"));
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Do the tasks.", "source": "user"}));
    assert!(sandbox.stop_is_refused("me"), "the human's order binds it");
}

#[test]
fn the_message_approves_and_loads() {
    let sandbox = attended();
    let words = format!("approve plan {}", sandbox.short());
    let said = parsed(&sandbox.hook("UserPromptSubmit", "me", json!({"prompt": words, "source": "user"})));
    assert!(note(&said).contains("It is loaded: 2 tasks"), "{said}");
    assert_eq!(sandbox.gate(), is("approved", "open"));
    assert!(!sandbox.stop_is_refused("me"));
}

#[test]
fn what_was_approved_in_a_terminal_is_offered_to_the_next_session_and_starts_none() {
    let sandbox = attended();
    let said = sandbox.ok(&["plan", "approve", "--yes"]);
    assert!(said.contains("it is loaded as plan sign-in-with-a-code: 2 tasks, 2 open"), "{said}");
    assert!(!sandbox.stop_is_refused("me"), "the approval names no session");
    let started = parsed(&sandbox.hook("SessionStart", "next", json!({"source": "startup"})));
    assert_eq!(
        note(&started),
        "Steadfast: 2 open tasks wait here, next: 1.0 Decisions of Phase 1: Codes: its goal and the choices made. To \
         start, say: do the tasks"
    );
    assert!(context(&started).starts_with("Steadfast holds tasks for this worktree"), "{started}");
    assert!(!sandbox.stop_is_refused("next"));
}

#[test]
fn after_clear_the_started_plan_goes_on() {
    let sandbox = attended();
    answer(&sandbox, START);
    sandbox.hook("SessionEnd", "me", json!({"reason": "clear"}));
    let started = parsed(&sandbox.hook("SessionStart", "cleared", json!({"source": "clear"})));
    assert!(note(&started).starts_with("Steadfast: this session works on 2 open tasks"), "{started}");
    assert!(sandbox.stop_is_refused("cleared"));
}

#[test]
fn a_draft_that_is_approved_after_clear_is_loaded_and_started_there() {
    let sandbox = attended();
    sandbox.hook("SessionEnd", "me", json!({"reason": "clear"}));
    sandbox.hook("SessionStart", "cleared", json!({"source": "clear"}));
    let words = format!("approve plan {}", sandbox.short());
    let said = parsed(&sandbox.hook("UserPromptSubmit", "cleared", json!({"prompt": words, "source": "user"})));
    assert!(note(&said).contains("It is loaded: 2 tasks"), "{said}");
    assert!(sandbox.ok(&["status"]).contains("2 open"));
}

#[test]
fn a_rejected_or_expired_draft_loads_nothing() {
    let rejected = attended();
    let said = answer(&rejected, "Reject the plan");
    assert_eq!(note(&said), "Steadfast: the plan is rejected, and the plan gate is open.");
    assert!(rejected.ok(&["status"]).contains("No tasks."));
    assert!(rejected.ok(&["why"]).contains("a human rejected the plan, and the plan gate opened"));

    let not_yet = attended();
    assert_eq!(note(&answer(&not_yet, "Not yet")), "");
    assert_eq!(not_yet.gate(), is("required", "locked"));
    assert!(not_yet.ok(&["status"]).contains("No tasks."));
}

#[test]
fn a_plan_that_was_approved_but_never_loaded_is_named() {
    let sandbox = proposed();
    sandbox.ok(&["plan", "approve", "--yes"]);
    // As older versions left it.
    let ledger = rusqlite::Connection::open(sandbox.place().state.join("state.db")).unwrap();
    ledger.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM task; DELETE FROM plan;").unwrap();
    let short = sandbox.short();
    let line = format!(
        "plan {short} is approved, but not loaded: Sign in with a code; `steadfast plan load PLAN.md` loads it"
    );
    let status = sandbox.ok(&["status"]);
    assert!(status.contains(&format!("needs a human: {line}")), "{status}");
    sandbox.ok(&["task", "add", "Another"]);
    let plan = sandbox.ok(&["plan", "status"]);
    assert!(plan.contains(&line), "{plan}");
    sandbox.ok(&["plan", "load", "PLAN.md"]);
    assert!(!sandbox.ok(&["status"]).contains("not loaded"));
    sandbox.ok(&["plan", "clear"]);
    assert!(!sandbox.ok(&["status"]).contains("not loaded"), "a cleared plan was loaded");
}

#[test]
fn a_plan_that_cannot_be_loaded_is_approved_and_the_human_hears_why() {
    let sandbox = attended();
    let ledger = rusqlite::Connection::open(sandbox.place().state.join("state.db")).unwrap();
    ledger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let said = answer(&sandbox, START);
    assert!(
        note(&said).contains("It is not loaded: ") && note(&said).ends_with("`steadfast plan load PLAN.md` loads it.")
    );
    assert!(context(&said).contains("It is not loaded: "), "{said}");
    drop(ledger);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    assert!(sandbox.ok(&["status"]).contains("is approved, but not loaded"));
    sandbox.ok(&["plan", "load", "PLAN.md"]);
    assert!(sandbox.stop_is_refused("me"), "the order to start still holds");
}

#[test]
fn quiet_says_nothing_of_an_approval_that_went_well() {
    let sandbox = attended();
    sandbox.ok(&["config", "set", "ui.verbosity", "quiet"]);
    let said = answer(&sandbox, START);
    assert_eq!(note(&said), "");
    assert!(context(&said).contains("this session works on it"), "{said}");
}
