//! A loop in a session: it holds the session that is bound to it, waits for its human, and goes on in another one.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use steadfast_model::{Loop, LoopLimits};
use steadfast_store::ledger::Ledger;

use crate::run::git;
use crate::sandbox::Sandbox;

const SPEC: &str = "# Codes\n\nPeople sign in with a code instead of a password.\n\n## Constraints\n- Don't touch migrations/.\n\n\
    ## Success criteria\n- A code is valid once.\n\n## Phase 1: Codes\n\n- [ ] 1.1 Make codes\n  - Files: src/code.txt\n  \
    - Verify: `test -f src/code.txt`\n";

impl Sandbox {
    fn agent_ok(&self, session: &str, arguments: &[&str]) -> String {
        let output = self.as_agent(session, arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a stop with these last words is answered: the reason of a refusal, else nothing.
    fn refusal(&self, session: &str, message: &str) -> Option<String> {
        let stop = json!({"stop_hook_active": false, "background_tasks": [], "last_assistant_message": message});
        // A call in between: it is no agent that only talks.
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let call = format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        self.hook("PreToolUse", session, json!({"tool_name": "Read", "tool_use_id": call, "tool_input": {}}));
        let said = self.hook("Stop", session, stop);
        let answer: Value = serde_json::from_str(if said.is_empty() { "{}" } else { &said }).unwrap();
        let is_refused = answer["decision"] == "block";
        is_refused.then(|| self.without_id(answer["reason"].as_str().unwrap()))
    }

    fn unfinished(&self) -> Loop {
        let ledger = Ledger::open_read_only(&self.place().state).unwrap().unwrap();
        ledger.unfinished_loop(&self.place().worktree()).unwrap().unwrap()
    }

    fn without_id(&self, text: &str) -> String {
        let id = Ledger::open_read_only(&self.place().state).unwrap().unwrap();
        let id = id.loops_of(&self.place().worktree()).unwrap().remove(0).id;
        text.replace(id.as_str(), "L")
    }

    /// Session `me` has begun a loop, with its spec at hand.
    fn in_loop() -> Self {
        let sandbox = Self::new();
        sandbox.write("SPEC.md", SPEC);
        git(&sandbox, &["add", "."]);
        git(&sandbox, &["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "a spec"]);
        sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
        sandbox.agent_ok("me", &["loop", "start", "SPEC.md"]);
        sandbox
    }

    fn to_executing(&self) {
        for step in [
            &["loop", "advance", "shape"][..],
            &["loop", "shape", "SPEC.md"],
            &["loop", "advance", "decompose"],
            &["plan", "load", "SPEC.md"],
            &["loop", "advance", "executing"],
        ] {
            self.agent_ok("me", step);
        }
    }

    fn close_all(&self) {
        for id in ["1.0", "1.1"] {
            self.ok(&["task", "done", id, "--force"]);
        }
    }
}

#[test]
fn a_session_is_held_from_the_stage_after_intent_to_the_gate() {
    let sandbox = Sandbox::in_loop();
    let mut said = vec![format!("{:?}", sandbox.refusal("me", "a"))];
    let mut held = |sandbox: &Sandbox| said.push(sandbox.refusal("me", "b").unwrap());
    sandbox.agent_ok("me", &["loop", "advance", "shape"]);
    held(&sandbox);
    sandbox.agent_ok("me", &["loop", "shape", "SPEC.md"]);
    sandbox.agent_ok("me", &["loop", "advance", "decompose"]);
    held(&sandbox);
    sandbox.agent_ok("me", &["plan", "load", "SPEC.md"]);
    sandbox.agent_ok("me", &["loop", "advance", "executing"]);
    held(&sandbox);
    sandbox.close_all();
    held(&sandbox);
    sandbox.agent_ok("me", &["loop", "advance", "review"]);
    held(&sandbox);
    insta::assert_snapshot!(said.join("\n"), @"
    None
    loop L: stage shape, criteria, must-nots and verification are not recorded yet; next: `steadfast loop shape SPEC.md` records those of the spec. `<promise>BLOCKED - NEEDS USER</promise>` makes it wait for the user.
    loop L: stage decompose, no plan is loaded; next: `steadfast plan load SPEC.md`, then `steadfast loop advance executing`. `<promise>BLOCKED - NEEDS USER</promise>` makes it wait for the user.
    2 of 2 tasks are open: 1.0 Decisions of Phase 1: Codes: its goal and the choices made; and 1 more. Next is 1.0. `steadfast task done 1.0` closes it when its check passes, `steadfast task block 1.0 --why REASON` sets it aside.
    loop L: stage executing, 2 of 2 tasks are done; next: `steadfast loop advance review`. `<promise>BLOCKED - NEEDS USER</promise>` makes it wait for the user.
    loop L: stage review, the thorough review has not run yet; next: `steadfast loop review`. `<promise>BLOCKED - NEEDS USER</promise>` makes it wait for the user.
    ");
    assert_eq!(sandbox.refusal("other", "b"), None, "it is another session's");
    sandbox.ok(&["loop", "archive"]);
    assert_eq!(sandbox.refusal("me", "c"), None);
}

#[test]
fn needs_user_makes_the_loop_wait_and_the_human_ends_that() {
    let sandbox = Sandbox::in_loop();
    sandbox.to_executing();
    sandbox.close_all();
    sandbox.agent_ok("me", &["loop", "advance", "review"]);
    assert_eq!(sandbox.refusal("me", "Which account pays?\n<promise>BLOCKED - NEEDS USER</promise>"), None);
    assert_eq!(sandbox.unfinished().waits.as_deref(), Some("Which account pays?"));
    assert_eq!(sandbox.refusal("me", "d"), None);
    let status = sandbox.without_id(&sandbox.ok(&["status"]));
    let needed = "needs a human: loop L waits: Which account pays?; `steadfast resume` continues it";
    assert!(status.contains(needed), "{status}");
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "The one of the team."}));
    assert_eq!(sandbox.unfinished().waits, None);
    assert!(sandbox.refusal("me", "e").is_some());
}

#[test]
fn the_human_binds_another_session_and_releases_it() {
    let sandbox = Sandbox::in_loop();
    sandbox.agent_ok("me", &["loop", "advance", "shape"]);
    for prompt in ["What is the loop about?", "Explain the loop."] {
        sandbox.hook("UserPromptSubmit", "other", json!({ "prompt": prompt }));
    }
    assert_eq!(sandbox.refusal("other", "a"), None);
    sandbox.hook("UserPromptSubmit", "other", json!({"prompt": "/steadfast-loop"}));
    assert!(sandbox.refusal("other", "b").is_some());
    assert_eq!(sandbox.refusal("me", "b"), None, "one session is bound");
    sandbox.hook("UserPromptSubmit", "other", json!({"prompt": "Stop the loop."}));
    assert_eq!(sandbox.refusal("other", "c"), None);
    // Who only asks where it stands takes it from nobody who lives.
    sandbox.agent_ok("me", &["loop", "next"]);
    assert!(sandbox.refusal("me", "d").is_some());
    sandbox.agent_ok("other", &["loop", "next"]);
    assert_eq!((sandbox.refusal("me", "e").is_some(), sandbox.refusal("other", "e")), (true, None));
}

#[test]
fn status_names_the_loop_and_resume_continues_it_in_a_session() {
    let sandbox = Sandbox::in_loop();
    sandbox.agent_ok("me", &["loop", "advance", "shape"]);
    // No plan yet, and yet it is no run's: a session began it.
    insta::assert_snapshot!(sandbox.without_id(&sandbox.ok(&["resume", "--print"])), @r"claude -- 'Go on with the loop L: stage shape, criteria, must-nots and verification are not recorded yet. Next: `steadfast loop shape SPEC.md` records those of the spec.'");
    sandbox.agent_ok("me", &["loop", "shape", "SPEC.md"]);
    sandbox.agent_ok("me", &["loop", "advance", "decompose"]);
    sandbox.agent_ok("me", &["plan", "load", "SPEC.md"]);
    sandbox.agent_ok("me", &["loop", "advance", "executing"]);
    insta::assert_snapshot!(sandbox.without_id(&sandbox.ok(&["resume", "--print"])), @r#"claude -- 'Go on with the loop L and the plan "Codes": stage executing, 0 of 2 tasks are done. Next is 1.0 Decisions of Phase 1: Codes: its goal and the choices made.'"#);
    sandbox.close_all();
    let status = sandbox.without_id(&sandbox.ok(&["status"]));
    let lines: Vec<&str> = status.lines().skip_while(|line| !line.starts_with("loop")).take(2).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    loop L: stage executing, 2 of 2 tasks are done; session me is bound to it
    next: `steadfast loop advance review`
    ");
    insta::assert_snapshot!(sandbox.without_id(&sandbox.ok(&["resume", "--print"])), @r"claude -- 'Go on with the loop L: stage executing, 2 of 2 tasks are done. Next: `steadfast loop advance review`.'");
    let status: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!((&status["loop"]["stage"], &status["loop"]["session"]), (&json!("executing"), &json!("me")));
    sandbox.ok(&["resume", "--give-up"]);
    let status: Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!(status["loop"], Value::Null);
}

#[test]
fn resume_names_what_is_blocked() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox.ok(&["task", "block", "1.0", "--why", "nobody decided it"]);
    insta::assert_snapshot!(sandbox.fails(&["resume"]).1, @r"
    error: nothing to continue: 1 task is blocked: 1.0 (nobody decided it); 1 task depends on them

    hint: `steadfast task unblock 1.0` reopens it; `steadfast task list` shows all
    ");
    let sandbox = Sandbox::in_loop();
    sandbox.to_executing();
    for id in ["1.0", "1.1"] {
        sandbox.ok(&["task", "block", id, "--why", "no key"]);
    }
    assert_eq!(sandbox.refusal("me", "a"), None, "what is blocked waits for a human");
    let (code, said) = sandbox.fails(&["resume", "--print"]);
    assert_eq!(code, 3);
    insta::assert_snapshot!(sandbox.without_id(&said), @r"
    error: nothing to continue: loop L (stage executing): 2 tasks are blocked: 1.0 (no key), 1.1 (no key)

    hint: `steadfast task unblock 1.0` reopens it; `steadfast task list` shows all

    hint: `steadfast loop advance review` continues without them
    ");
}

#[test]
fn at_a_terminal_the_questions_of_an_unclear_request_are_asked() {
    let answers = "pages open at once\nsrc/page.rs\nno new dependency\nbelow 200 ms\n`make bench` exits 0\n";
    let sandbox = Sandbox::new();
    let (code, said) = sandbox.at_terminal("loop start 'Make the app faster.'", "> ", answers);
    assert_eq!(code, 0, "{said}");
    let asked = ["outcome: What", "scope: Which", "constraints: What", "success: Which", "done: Which"];
    assert!(asked.iter().all(|question| said.contains(question)), "{said}");
    let looped = sandbox.unfinished();
    assert!(!looped.is_unclear() && looped.request.contains("- no new dependency"), "{}", looped.request);
    // What is already said is not asked.
    let sandbox = Sandbox::new();
    let (_, said) = sandbox.at_terminal("loop start 'Make src/page.rs faster.'", "> ", "\n\n\n\n");
    assert!(!said.contains("scope: Which"), "{said}");
}

#[test]
fn an_unlimited_number_is_none_and_a_wrong_one_is_said_plainly() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    for command in [&["loop", "start", "SPEC.md"][..], &["run", "SPEC.md"], &["resume"]] {
        let (code, said) = sandbox.fails(&[command, &["--max-iterations", "0"]].concat());
        assert_eq!(code, 64, "{said}");
        assert!(said.contains("`0` is not a number of 1 or more, and not `none` for no limit"), "{said}");
    }
    sandbox.ok(&["loop", "start", "SPEC.md", "--max-iterations", "none", "--budget", "none"]);
    assert_eq!(sandbox.unfinished().limits, LoopLimits::default());
    let said = sandbox.ok(&["loop", "start", "--resume", "--max-iterations", "10", "--budget", "2.5"]);
    assert!(said.contains("[LOOP RESUME]"), "{said}");
    assert_eq!(sandbox.unfinished().limits, LoopLimits { iterations: Some(10), micro_usd: Some(2_500_000) });
}

#[test]
fn without_a_word_the_settings_limit_a_loop() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.set_own("[run]\niterations = 7\nbudget_usd = 0\n");
    sandbox.agent_ok("me", &["loop", "start", "SPEC.md"]);
    assert_eq!(sandbox.unfinished().limits, LoopLimits { iterations: Some(7), micro_usd: None });
}

#[test]
fn at_its_limit_a_loop_in_a_session_waits_for_a_human_and_only_one_raises_it() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC.to_owned() + "- [ ] 1.2 Mail codes\n  - Files: src/mail.txt\n  - Verify: `true`\n");
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.agent_ok("me", &["loop", "start", "SPEC.md", "--max-iterations", "1"]);
    sandbox.to_executing();
    sandbox.ok(&["task", "done", "1.0", "--force"]);
    sandbox.agent_ok("me", &["task", "start", "1.1"]);
    assert_eq!(sandbox.unfinished().iterations, 1);
    sandbox.agent_ok("me", &["task", "start", "1.1"]);
    assert_eq!(sandbox.unfinished().iterations, 1, "it is the same unit");
    sandbox.ok(&["task", "done", "1.1", "--force"]);
    for verb in ["start", "done"] {
        let refused = sandbox.as_agent("me", &["task", verb, "1.2"]);
        let said = sandbox.without_id(&String::from_utf8_lossy(&refused.stderr));
        assert_eq!(refused.status.code(), Some(3), "{said}");
        assert!(said.contains("loop L reached its limit: 1 of 1 iterations are used"), "{said}");
    }
    assert_eq!(sandbox.refusal("me", "a"), None, "it waits for its human");
    let raised = sandbox.as_agent("me", &["loop", "start", "--resume", "--max-iterations", "5"]);
    assert_eq!(raised.status.code(), Some(2), "{raised:?}");
    sandbox.ok(&["loop", "start", "--resume", "--max-iterations", "5"]);
    assert_eq!(sandbox.unfinished().waits, None);
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Go on with the loop."}));
    assert!(sandbox.refusal("me", "b").is_some());
    sandbox.agent_ok("me", &["task", "start", "1.2"]);
}

#[test]
fn what_a_session_cost_is_taken_from_its_transcript() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    let transcript = sandbox.home().join("me.jsonl");
    let usage = |at: &str, tokens: u64| {
        let usage = json!({"input_tokens": 0, "output_tokens": tokens});
        let message = json!({"id": at, "model": "claude-opus-5", "usage": usage});
        json!({"timestamp": format!("2099-01-01T{at}:00.000Z"), "message": message}).to_string() + "\n"
    };
    std::fs::write(&transcript, usage("10:00", 10_000)).unwrap();
    sandbox.hook("SessionStart", "me", json!({"source": "startup", "transcript_path": transcript.to_str()}));
    sandbox.agent_ok("me", &["loop", "start", "SPEC.md", "--budget", "1"]);
    sandbox.to_executing();
    sandbox.ok(&["task", "done", "1.0", "--force"]);
    sandbox.agent_ok("me", &["task", "start", "1.1"]);
    assert_eq!(sandbox.unfinished().micro_usd(), 250_000);
    assert!(sandbox.refusal("me", "a").is_some());
    std::fs::write(&transcript, usage("10:00", 10_000) + &usage("10:01", 40_000)).unwrap();
    assert_eq!(sandbox.refusal("me", "b"), None, "the budget is spent");
    assert_eq!(sandbox.unfinished().waits.as_deref(), Some("the budget is spent: $1.25 of $1.00"));
    // The human's next word does not raise it; a new limit does.
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Go on with the loop."}));
    assert_eq!(sandbox.refusal("me", "c"), None);
    sandbox.ok(&["loop", "start", "--resume", "--budget", "none"]);
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Go on with the loop."}));
    assert!(sandbox.refusal("me", "d").is_some());
}

#[test]
fn a_run_in_words_asks_at_a_terminal_and_refuses_without_one() {
    let sandbox = Sandbox::new();
    sandbox.write("README.md", "An app.\n");
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "an app"]);
    let (code, said) = sandbox.fails(&["run", "Make the app faster.", "--host", "sim"]);
    assert_eq!((code, said.contains("> ")), (2, false), "{said}");
    let call = "run 'Make the app faster.' --host sim";
    let (code, said) = sandbox.at_terminal(call, "> ", "pages open at once\nsrc/page.rs\n\n\n\n");
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("done: Which command"), "{said}");
    assert!(said.contains("not clear enough: 4 of 10 points"), "{said}");
    assert!(sandbox.unfinished().request.contains("## Goal\n- pages open at once"));
}

#[test]
fn a_run_without_a_limit_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "a spec"]);
    sandbox.run(&["run", "SPEC.md", "--host", "sim", "--max-iterations", "none", "--budget", "none"]);
    let progress: Value = serde_json::from_str(&sandbox.ok(&["progress", "--json"])).unwrap();
    assert_eq!((&progress["iterations_limit"], &progress["budget_usd"]), (&Value::Null, &Value::Null), "{progress}");
}
