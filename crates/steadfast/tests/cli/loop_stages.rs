//! A loop from its request through its stages: what is judged, kept, refused and told.

use std::fs;

use serde_json::{Value, json};

use crate::run::git;
use crate::sandbox::Sandbox;

/// All five dimensions, in a spec.
const SPEC: &str = "# Codes\n\nPeople sign in with a code instead of a password.\n\n## Constraints\n- Don't touch migrations/.\n\
    - Be kind to the reader.\n\n## Success criteria\n- A code is valid once.\n\n## Phase 1: Codes\n\n- [ ] 1.1 Make codes\n  \
    - Files: src/code.txt\n  - Verify: `test -f src/code.txt`\n";

/// Clear enough, in a sentence.
const SENTENCE: &str = "Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines. Do not \
    push to main. Done when `make check` exits 0.";

impl Sandbox {
    fn loop_json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[&["loop"], arguments, &["--json"]].concat())).unwrap()
    }

    fn loop_fails(&self, arguments: &[&str]) -> (i32, String) {
        let (code, said) = self.fails(&[&["loop"], arguments].concat());
        (code, self.without_loop_id(&said))
    }

    /// As an agent of `session`: the exit code and all that was said.
    fn loop_as_agent(&self, session: &str, arguments: &[&str]) -> (i32, String) {
        let output = self.as_agent(session, &[&["loop"], arguments].concat());
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), self.without_loop_id(&self.without_paths(&said)))
    }

    fn loop_id(&self) -> String {
        let loops = fs::read_dir(self.root().join(".steadfast/loops")).unwrap();
        let mut ids: Vec<String> =
            loops.flatten().map(|entry| entry.file_name().to_str().unwrap().to_owned()).collect();
        assert_eq!(ids.len(), 1, "{ids:?}");
        ids.pop().unwrap()
    }

    fn without_loop_id(&self, said: &str) -> String {
        let mut said = said.to_owned();
        while let Some(at) = said.find("l-").filter(|at| said[*at + 2..].len() >= 8) {
            let id = &said[at..at + 10];
            if !id[2..].chars().all(|c| c.is_ascii_hexdigit()) {
                break;
            }
            said = said.replace(id, "L");
        }
        said
    }

    fn page(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(".steadfast/loops").join(self.loop_id()).join(name)).unwrap()
    }

    /// At executing, with its plan loaded.
    fn executing() -> Self {
        let sandbox = Self::new();
        sandbox.write("SPEC.md", SPEC);
        sandbox.ok(&["loop", "start", "SPEC.md"]);
        sandbox.ok(&["loop", "advance", "shape"]);
        sandbox.ok(&["loop", "shape", "SPEC.md"]);
        sandbox.ok(&["loop", "advance", "decompose"]);
        sandbox.ok(&["plan", "load", "SPEC.md"]);
        sandbox.ok(&["loop", "advance", "executing"]);
        sandbox
    }
}

#[test]
fn a_clear_sentence_begins_a_loop_and_says_what_earned_each_point() {
    let sandbox = Sandbox::new();
    let said = sandbox.without_loop_id(&sandbox.ok(&["loop", "start", SENTENCE]));
    insta::assert_snapshot!(said, @r#"
    loop L: Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines. Do not push to main. Done when `make check` exits 0.
      2  outcome      says what a user or the program does afterwards: "Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines."
      2  scope        names a file, a folder or a route: "Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines."
      2  constraints  forbids something: "Do not push to main."
      2  success      is an example with its result: "Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines."
      2  done         says when it is finished: "Done when `make check` exits 0."
    spec score 10 of 10, fit to run alone 65 of 75
    tool: runs without a pause
    has to pass at the end: `make check`
    limits: 0 of 25 iterations; $0 of $25
    next: `steadfast loop advance shape`
    "#);
    let state: Value = serde_json::from_str(&sandbox.page("workflow-state.json")).unwrap();
    assert_eq!(
        [
            &state["version"],
            &state["stage"],
            &state["task"],
            &state["spec_score"],
            &state["fit_score"],
            &state["shape_chosen"]
        ],
        [&json!(1), &json!("intent"), &json!(SENTENCE), &json!(10), &json!(65), &json!("tool")]
    );
}

#[test]
fn an_unclear_request_is_refused_without_anybody_there_and_asked_about_with_somebody() {
    let sandbox = Sandbox::new();
    let (code, said) = sandbox.loop_fails(&["start", "Make the app faster."]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r"
    error: the request is not clear enough: 0 of 10 points, at least 5 are required

    hint: outcome: What can a user do afterwards, or what does the program do, that it does not do today?

    hint: scope: Which files, folders or commands does it affect, and what is out of scope?

    hint: constraints: What must not happen or change on the way?

    hint: success: Which numbers, examples or cases show that the result is right?

    hint: done: Which command or checklist shows that the work is finished?

    hint: add the answers to the request, and run `steadfast loop start TEXT` again

    hint: a human accepts the request with `steadfast loop override --why REASON`
    ");
    let (alone, _) = sandbox.loop_as_agent("nobody", &["start", "Make the app faster."]);
    // Somebody answered a dialog in this one.
    let answered = json!({"tool_name": "AskUserQuestion", "tool_use_id": "t-1", "tool_input": {}, "tool_response": {}});
    sandbox.hook("PostToolUse", "me", answered);
    let (attended, said) = sandbox.loop_as_agent("me", &["start", "Make the app faster."]);
    assert_eq!((alone, attended), (2, 3), "{said}");
    let (code, said) = sandbox.at_terminal("loop start 'Make the app faster.'", "> ", "\n\n\n\n\n");
    assert_eq!((code, said.contains("not clear enough: 0 of 10 points")), (3, true), "{said}");
    let (code, said) = sandbox.loop_fails(&["advance", "shape"]);
    assert_eq!(code, 2);
    assert!(said.contains("not clear enough: 0 of 10"), "{said}");
}

#[test]
fn a_clearer_request_takes_the_place_of_one_that_waited_for_it() {
    let sandbox = Sandbox::new();
    sandbox.loop_fails(&["start", "Make the app faster."]);
    let said = sandbox.ok(&["loop", "start", SENTENCE]);
    assert!(said.contains("spec score 10 of 10"), "{said}");
    assert_eq!(sandbox.loop_json(&["status"])["request"], json!(SENTENCE));
}

#[test]
fn a_human_takes_an_unclear_request_as_it_is_and_an_agent_does_not() {
    let sandbox = Sandbox::new();
    sandbox.loop_fails(&["start", "Make the app faster."]);
    let (code, said) = sandbox.loop_as_agent("me", &["override", "--why", "because"]);
    assert_eq!((code, said.contains("only a human can run")), (2, true), "{said}");
    assert_eq!(sandbox.fails(&["loop", "override", "--why", " "]).0, 64);
    sandbox.ok(&["loop", "override", "--why", "a trial"]);
    let status = sandbox.loop_json(&["status"]);
    assert_eq!(
        [&status["spec_score"], &status["shape_chosen"], &status["overridden"]],
        [&json!(0), &json!("colleague"), &json!("a trial")]
    );
    sandbox.ok(&["loop", "advance", "shape"]);
}

#[test]
fn a_loop_that_is_not_finished_is_offered() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["loop", "start", SENTENCE]);
    let (code, said) = sandbox.loop_fails(&["start", "Another thing in src/other.rs, please."]);
    assert_eq!(code, 3);
    insta::assert_snapshot!(said, @r"
    error: loop L is not finished: Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines. Do not push to main. Done when `make check` exits 0. (intent)

    hint: `steadfast loop start --resume` continues it

    hint: `steadfast loop start --fresh TEXT` archives it and starts another; only a human can run this

    hint: `steadfast loop status` shows its status
    ");

    let resumed = sandbox.ok(&["loop", "start", "--resume"]);
    insta::assert_snapshot!(resumed, @r"
    [LOOP RESUME] Active loop detected
    Stage: intent | Spec: 10/10 | Fit: 65
    Progress: 0/0 tasks | Wave: -
    Reviews: none
    Next: `steadfast loop advance shape`
    ");
    let (code, _) = sandbox.loop_as_agent("me", &["start", "--fresh", SENTENCE]);
    assert_eq!(code, 2, "an agent does not put a loop away");

    let (code, said) = sandbox.at_terminal("loop start", "[r/f/S] ", "s\n");
    assert_eq!((code, said.contains("next: `steadfast loop advance shape`")), (0, true), "{said}");
    let before = sandbox.loop_json(&["status"])["loop"].clone();
    sandbox.ok(&["loop", "start", "--fresh", SENTENCE]);
    assert_ne!(sandbox.loop_json(&["status"])["loop"], before);
    assert!(
        sandbox.root().join(".steadfast/loops").join(before.as_str().unwrap()).join("workflow-state.json").exists()
    );
}

#[test]
fn nothing_to_resume_is_said() {
    let sandbox = Sandbox::new();
    let (code, said) = sandbox.loop_fails(&["start", "--resume"]);
    assert_eq!((code, said.contains("no loop is under way")), (1, true), "{said}");
    assert_eq!(sandbox.loop_json(&["status"]), json!({"loop": null}));
    assert_eq!(sandbox.loop_json(&["next"]), json!({"loop": null}));
    assert_eq!(sandbox.fails(&["loop", "start"]).0, 64);
    assert_eq!(sandbox.fails(&["loop", "start", "SPEC.md"]).0, 1, "a file that is not there is no sentence");
}

#[test]
fn no_stage_is_skipped_and_each_says_what_it_needs() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.ok(&["loop", "start", "SPEC.md"]);
    let mut said: Vec<String> = Vec::new();
    let mut refused = |stage: &str| {
        let (code, text) = sandbox.loop_fails(&["advance", stage]);
        said.push(format!("{stage}: exit {code}, {}", text.lines().next().unwrap_or_default()));
    };
    refused("executing");
    sandbox.ok(&["loop", "advance", "shape"]);
    refused("decompose");
    sandbox.ok(&["loop", "shape", "SPEC.md"]);
    sandbox.ok(&["loop", "advance", "decompose"]);
    refused("executing");
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox.ok(&["loop", "advance", "executing"]);
    refused("review");
    let status = sandbox.loop_json(&["status"]);
    assert_eq!((&status["plan"], &status["tasks"]["all"]), (&json!("codes"), &json!(2)));
    for id in ["1.0", "1.1"] {
        sandbox.ok(&["task", "done", id, "--force"]);
    }
    sandbox.ok(&["loop", "advance", "review"]);
    refused("complete");
    refused("executing");
    sandbox.ok(&["task", "add", "Mend the first finding"]);
    sandbox.ok(&["loop", "advance", "executing"]);
    insta::assert_snapshot!(said.join("\n"), @r"
    executing: exit 2, error: the loop is at stage `intent`, and `executing` does not follow it
    decompose: exit 2, error: the loop has no shape: the expected result is not described yet
    executing: exit 2, error: the loop has no plan, so there are no tasks to work on
    review: exit 2, error: 2 of 2 tasks are open
    complete: exit 2, error: a loop cannot be set to complete: only its gate completes it
    executing: exit 2, error: no task is open, so there is no work to go back to
    ");
    assert_eq!(sandbox.fails(&["loop", "advance", "somewhere"]).0, 64);
}

#[test]
fn a_shape_keeps_what_request_and_spec_say_and_says_what_no_call_shows() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.ok(&["loop", "start", SENTENCE]);
    sandbox.ok(&["loop", "advance", "shape"]);
    let output = sandbox.run(&["loop", "shape", "SPEC.md"]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("\"Be kind to the reader\" is not a single action"),
        "{output:?}"
    );
    insta::assert_snapshot!(sandbox.page("SHAPE.md"), @r"
    # Shape: Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines. Do not push to main. Done when `make check` exits 0.

    ## Criteria
    - Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines
    - A code is valid once

    ## Must not
    - Do not push to main
    - Don't touch migrations/
    - Be kind to the reader

    ## Verification
    - make check
    - test -f src/code.txt

    ## Run at the gate
    - `make check`

    ## Not executed
    - A code is valid once
    ");
}

#[test]
fn from_decompose_on_only_a_human_changes_the_shape() {
    let sandbox = Sandbox::executing();
    sandbox.write("SPEC.md", SPEC.replace("- Don't touch migrations/.\n", ""));
    let (code, said) = sandbox.loop_as_agent("me", &["shape", "SPEC.md"]);
    assert_eq!((code, said.contains("only a human can change its must-nots")), (2, true), "{said}");
    let (code, _) = sandbox.loop_as_agent("me", &["archive"]);
    assert_eq!(code, 2);
}

#[test]
fn what_must_not_happen_is_refused_to_the_session_that_works_on_the_plan_until_the_loop_is_put_away() {
    let sandbox = Sandbox::executing();
    let writes = |session: &str, call: &str| {
        let path = sandbox.root().join("migrations/1.sql");
        let input = json!({"file_path": path.to_str(), "content": "x"});
        let call = json!({"tool_name": "Write", "tool_use_id": call, "tool_input": input});
        sandbox.hook("PreToolUse", session, call)
    };
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.hook("SessionStart", "other", json!({"source": "startup"}));
    assert_eq!(writes("me", "t-1"), "", "it does not work on the plan yet");
    let started = sandbox.as_agent("me", &["task", "start", "1.0"]);
    assert!(started.status.success(), "{started:?}");
    assert!(writes("me", "t-2").contains("The plan says: \\\"Don't touch migrations/\\\""), "{}", writes("me", "t-2"));
    assert_eq!(writes("other", "t-3"), "");
    sandbox.ok(&["loop", "archive"]);
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Go on with the tasks."}));
    assert_eq!(writes("me", "t-4"), "");
}

/// What takes a loop from its start to its review.
const TO_REVIEW: [&[&str]; 8] = [
    &["loop", "advance", "shape"],
    &["loop", "shape", "SPEC.md"],
    &["loop", "advance", "decompose"],
    &["plan", "load", "SPEC.md"],
    &["loop", "advance", "executing"],
    &["task", "done", "1.0", "--force"],
    &["task", "done", "1.1", "--force"],
    &["loop", "advance", "review"],
];

#[test]
fn a_new_session_is_told_of_the_loop_at_every_stage_and_not_when_it_is_over() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    let mut number = 0;
    let mut told = || {
        number += 1;
        let said = sandbox.hook("SessionStart", &format!("s-{number}"), json!({"source": "startup"}));
        let said: Value = serde_json::from_str(&said).unwrap_or_default();
        let context = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
        context.find("[LOOP RESUME]").map(|at| context[at..].lines().take(5).collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(told(), None);
    sandbox.ok(&["loop", "start", "SPEC.md"]);
    let mut seen = vec![told().unwrap()];
    for step in TO_REVIEW {
        sandbox.ok(step);
        if step[1] == "advance" {
            seen.push(told().unwrap());
        }
    }
    insta::assert_snapshot!(seen.join("\n\n"), @r"
    [LOOP RESUME] Active loop detected
    Stage: intent | Spec: 9/10 | Fit: 55
    Progress: 0/0 tasks | Wave: -
    Reviews: none
    Next: `steadfast loop advance shape`

    [LOOP RESUME] Active loop detected
    Stage: shape | Spec: 9/10 | Fit: 55
    Progress: 0/0 tasks | Wave: -
    Reviews: none
    Next: `steadfast loop shape SPEC.md` records those of the spec

    [LOOP RESUME] Active loop detected
    Stage: decompose | Spec: 9/10 | Fit: 55
    Progress: 0/0 tasks | Wave: -
    Reviews: none
    Next: `steadfast plan load SPEC.md`, then `steadfast loop advance executing`

    [LOOP RESUME] Active loop detected
    Stage: executing | Spec: 9/10 | Fit: 55
    Progress: 0/2 tasks | Wave: -
    Reviews: none
    Next: `steadfast task next` shows the next task

    [LOOP RESUME] Active loop detected
    Stage: review | Spec: 9/10 | Fit: 55
    Progress: 2/2 tasks | Wave: -
    Reviews: none
    Next: `steadfast loop review`
    ");
    sandbox.ok(&["loop", "archive"]);
    assert_eq!(told(), None);
}

#[test]
fn the_gate_asks_nobody_and_needs_no_host() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "spec"]);
    sandbox.ok(&["loop", "start", "SPEC.md"]);
    for step in TO_REVIEW {
        sandbox.ok(step);
    }
    let (code, said) = sandbox.fails(&["loop", "gate"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the gate does not open: ") && said.contains("review"), "{said}");
    let (code, said) = sandbox.fails(&["loop", "review"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("is not on the PATH"), "{said}");
}

#[test]
fn the_page_of_a_loop_follows_its_tasks() {
    let sandbox = Sandbox::executing();
    sandbox.ok(&["task", "done", "1.0", "--force"]);
    sandbox.ok(&["task", "start", "1.1"]);
    insta::assert_snapshot!(sandbox.page("PROGRESS.md"), @r"
    # Loop Progress: Codes

    **Status:** executing | Iteration 0 of 25 | Cost: $0.00 of $25.00

    ## ✅ Completed
    - [x] 1.0: Decisions of Phase 1: Codes: its goal and the choices made

    ## 🔄 In Progress
    - [ ] 1.1: Make codes

    ## 📊 Metrics
    - Tasks: 1/2 complete
    - Stuck count: 0
    - Counsel consulted: 0 times
    ");
}

#[test]
fn what_was_learned_is_shown_and_kept_with_the_loop() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["learn", "add", "log dates are UTC", "--kind", "discovery", "--file", "src/log.rs"]);
    sandbox.ok(&["learn", "add", "pizza is round"]);
    let said = sandbox.ok(&["loop", "start", SENTENCE]);
    assert!(said.contains("learned: log dates are UTC (discovery, confirmed; same file) [learning 1]"), "{said}");
    assert!(!said.contains("pizza"), "{said}");
    assert_eq!(sandbox.loop_json(&["status"])["recall_surfaced"], json!(["log dates are UTC"]));
    let state: Value = serde_json::from_str(&sandbox.page("workflow-state.json")).unwrap();
    assert_eq!(state["recall_surfaced"], json!(["log dates are UTC"]));
}

#[test]
fn a_score_is_shown_anywhere_and_keeps_nothing() {
    let sandbox = Sandbox::new();
    let shown = sandbox.loop_json(&["score", "I want a dark mode."]);
    assert_eq!([&shown["spec_score"], &shown["shape_chosen"]], [&json!(1), &json!("blocked")]);
    assert_eq!(
        shown["marks"][0],
        json!({"dimension": "outcome", "points": 1, "rule": "says what to build or change", "line": 1,
            "text": "I want a dark mode."})
    );
    assert_eq!(shown["missing"].as_array().unwrap().len(), 4);
    assert_eq!(sandbox.loop_json(&["status"]), json!({"loop": null}));
    let elsewhere = Sandbox::bare();
    assert!(elsewhere.ok(&["loop", "score", SENTENCE]).contains("spec score 10 of 10"));
}

#[test]
fn what_was_judged_is_read_and_not_judged_again() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox.ok(&["loop", "start", "SPEC.md"]);
    sandbox.write("SPEC.md", "# Nothing\n");
    let shown = sandbox.loop_json(&["score"]);
    assert_eq!([&shown["spec_score"], &shown["marks"]], [&json!(9), &Value::Null]);
}

/// A loop that came to its end with a plan in the same folder makes the next one familiar.
#[test]
fn past_loops_in_the_same_folders_count() {
    let sandbox = Sandbox::executing();
    let (before, id) = (sandbox.loop_json(&["score", SENTENCE]), sandbox.loop_id());
    let mut ledger = steadfast_store::ledger::Ledger::open(&sandbox.place().state).unwrap();
    let id = steadfast_model::LoopId::new(id);
    use steadfast_model::Stage;
    for (from, to) in [(Stage::Executing, Stage::Review), (Stage::Review, Stage::Complete)] {
        assert!(ledger.advance_loop(&id, from, to, steadfast_model::Millis(9)).unwrap());
    }
    let after = sandbox.loop_json(&["score", SENTENCE]);
    assert_eq!(
        [&before["familiar"], &before["fit_score"], &after["familiar"], &after["fit_score"]],
        [&json!(0), &json!(65), &json!(1), &json!(67)]
    );
}
