//! Plans: how they are loaded, shown, worked through and put away.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const SPEC: &str = r#"{
  "feature": "Greeting",
  "description": "People are greeted.",
  "constraints": ["No new dependency"],
  "success_criteria": ["Everybody is greeted"],
  "phases": [
    {"id": "words", "name": "Words", "tasks": [
      {"id": "1.1", "task": "Greet people", "type": "backend", "files": ["greet.txt"],
       "verification": "grep -q hello greet.txt"},
      {"id": "1.2", "task": "Describe it", "type": "docs", "files": ["greet.md"]}]},
    {"id": "page", "name": "Page", "depends_on": [], "tasks": [
      {"id": "2.1", "task": "Draw the page", "type": "ui", "files": ["page.html"]}]},
    {"id": "languages", "name": "Languages", "depends_on": [], "loop": {"items": ["de", "fr", "it"], "tasks": [
      {"id": "3.1", "task": "Translate", "verification": "true"}]}}
  ]
}"#;

fn with_spec() -> Sandbox {
    let sandbox = Sandbox::new().with_ui_skills();
    sandbox.write("SPEC.json", SPEC);
    sandbox
}

pub(crate) fn loaded() -> Sandbox {
    let sandbox = with_spec();
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    sandbox
}

/// The same, with what the chains of its phases wait for decided.
pub(crate) fn decided() -> Sandbox {
    let sandbox = loaded();
    for id in ["1.0", "2.0", "3.0"] {
        sandbox.ok(&["task", "done", id, "--force"]);
    }
    sandbox
}

impl Sandbox {
    pub(crate) fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::write(self.root().join(file), text).unwrap();
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }

    pub(crate) fn task(&self, id: &str) -> Value {
        self.json(&["task", "show", id])["tasks"][0].clone()
    }

    /// Its status, and what that rests on.
    pub(crate) fn stands(&self, id: &str) -> (String, String) {
        let task = self.task(id);
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        (word(&task["status"]), word(&task["evidence"]["class"]))
    }

    pub(crate) fn decisions(&self, plan: &str) -> String {
        fs::read_to_string(self.decisions_file(plan)).unwrap()
    }

    pub(crate) fn decisions_file(&self, plan: &str) -> std::path::PathBuf {
        self.root().join(format!(".steadfast/decisions/{plan}.md"))
    }

    /// What an agent's command says and how it ends.
    pub(crate) fn agent(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.as_agent("me", arguments);
        (output.status.code().unwrap(), self.without_paths(&[output.stdout, output.stderr].concat()))
    }
}

pub(crate) fn is(status: &str, class: &str) -> (String, String) {
    (status.to_owned(), class.to_owned())
}

#[test]
fn a_plan_is_loaded_and_loading_it_again_changes_nothing() {
    let sandbox = with_spec();
    insta::assert_snapshot!(sandbox.fails(&["plan", "show"]).1, @r"
    error: there is no plan in this worktree

    hint: `steadfast plan load SPEC.md` loads one
    ");
    insta::assert_snapshot!(sandbox.ok(&["plan", "load", "SPEC.json"]), @r"
    plan greeting: 13 tasks in 3 phases
    decisions are in .steadfast/decisions/greeting.md
    ");
    sandbox.ok(&["task", "start", "1.0"]);
    insta::assert_snapshot!(sandbox.ok(&["plan", "load", "SPEC.json"]), @r"
    plan greeting is already loaded and unchanged
    decisions are in .steadfast/decisions/greeting.md
    ");
    assert_eq!(sandbox.stands("1.0"), is("in_progress", "-"));
}

#[test]
fn one_file_is_one_plan_however_it_is_named() {
    let sandbox = loaded();
    let full = sandbox.root().join("SPEC.json");
    for name in ["./SPEC.json", full.to_str().unwrap()] {
        assert!(sandbox.ok(&["plan", "load", name]).starts_with("plan greeting is already loaded"), "{name}");
    }
    assert_eq!(sandbox.json(&["plan", "show"])["spec"], "SPEC.json");
}

#[test]
fn warnings_and_what_has_no_check_are_said_when_it_is_loaded() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", "# F\n\n## Phase 1\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  - verify: `make | tail -1`\n");
    let output = sandbox.run(&["plan", "load", "SPEC.md"]);
    assert!(output.status.success());
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @r"
    warning: SPEC.md:5: `1.1` has no check: it closes as `claimed`, without proof
    warning: SPEC.md:7: the check of `1.2` proves nothing: a pipe has the exit status of its last command, which always succeeds here
    `SPEC.md` was read as 2 tasks in 1 phase, 3 with generated ones
    1 task has no check: it closes on the agent's word, as `claimed`
    ");
}

#[test]
fn a_spec_that_changed_keeps_what_did_not() {
    let sandbox = decided();
    sandbox.write("greet.txt", "hello");
    sandbox.ok(&["task", "done", "1.1"]);
    sandbox.ok(&["task", "done", "1.1a"]);
    sandbox.ok(&["task", "block", "3.1.1", "--why", "nobody speaks it"]);
    sandbox.write("SPEC.json", SPEC.replace("grep -q hello greet.txt", "grep -q hallo greet.txt"));
    insta::assert_snapshot!(sandbox.ok(&["plan", "load", "SPEC.json"]), @r"
    plan greeting-2: 13 tasks, 5 of which keep their status; the previous plan is archived
    decisions are in .steadfast/decisions/greeting-2.md
    ");
    assert_eq!(sandbox.stands("1.0"), is("done", "forced"));
    assert_eq!(sandbox.stands("1.1"), is("done", "observed"));
    assert_eq!(sandbox.stands("1.1a"), is("pending", "-"), "its check is another");
    assert_eq!(sandbox.stands("3.1.1"), is("blocked", "-"));
    assert_eq!(sandbox.stands("1.2"), is("pending", "-"));
}

#[test]
fn an_agent_may_not_change_what_a_human_loaded() {
    let sandbox = loaded();
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.json"]).0, 0, "nothing changed");
    sandbox.write("SPEC.json", SPEC.replace("grep -q hello greet.txt", "true"));
    let (code, said) = sandbox.agent(&["plan", "load", "SPEC.json"]);
    assert_eq!(code, 3);
    insta::assert_snapshot!(said, @r"
    error: `SPEC.json` is loaded as plan `greeting` and has changed since; only a human can load it again

    hint: a human runs `steadfast plan load SPEC.json`; unchanged tasks keep their status
    ");
    assert_eq!(sandbox.agent(&["plan", "load", "./SPEC.json"]).0, 3);
    assert_eq!(sandbox.task("1.1a")["verify"], "grep -q hello greet.txt");
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    assert_eq!(sandbox.task("1.1a")["verify"], "true");
}

/// The checks are all there, at other tasks.
#[test]
fn an_agent_may_not_exchange_checks() {
    let two = |first: &str, second: &str| {
        format!(
            r#"{{"feature": "F", "phases": [{{"id": "1", "tasks": [
                {{"id": "1.1", "task": "A", "type": "func", "files": ["a"], "verification": "{first}"}},
                {{"id": "1.2", "task": "B", "type": "func", "files": ["b"], "verification": "{second}"}}]}}]}}"#
        )
    };
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.json", two("true", "false"));
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    sandbox.write("SPEC.json", two("false", "true"));
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.json"]).0, 3);
}

#[test]
fn an_agent_may_change_its_own_plan_until_it_is_begun() {
    let sandbox = with_spec();
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.json"]).0, 0);
    sandbox.write("SPEC.json", SPEC.replace("Greet people", "Greet everybody"));
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.json"]).0, 0);
    assert_eq!(sandbox.task("1.1")["title"], "Greet everybody");
    sandbox.agent(&["task", "start", "1.0"]);
    sandbox.write("SPEC.json", SPEC);
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.json"]).0, 3);
}

#[test]
fn a_plan_is_shown_with_its_phases_and_where_its_loops_are() {
    let sandbox = decided();
    sandbox.ok(&["task", "done", "3.1.1"]);
    sandbox.ok(&["task", "block", "3.2.1", "--why", "nobody speaks it"]);
    sandbox.ok(&["task", "start", "1.1"]);
    insta::assert_snapshot!(sandbox.ok(&["plan", "show"]), @r"
    Greeting (greeting)
    People are greeted.
    must hold: No new dependency

    Words
      [x] 1.0      Decisions of Words: its goal and the choices made  (generated)
      [>] 1.1      Greet people  in progress
      [ ] 1.1a     Test: Greet people  (generated)  pending
      [ ] 1.2      Describe it  pending
      [ ] 1.2a     Verify that it is written: Describe it  (generated)  pending

    Page
      [x] 2.0      Decisions of Page: its goal and the choices made  (generated)
      [ ] 2.1a     Run /frontend-design and /vercel-design-guidelines for: Draw the page  (generated)  pending
      [ ] 2.1      Draw the page  pending
      [ ] 2.1b     Look at it: Draw the page (page.html)  (generated)  pending

    Languages
      at it; 1 of 3 items completed, 1 failed
      [x] 3.0      Decisions of Languages: its goal and the choices made  (generated)
      [x] 3.1.1    Translate [de]
      [!] 3.2.1    Translate [fr]
      [ ] 3.3.1    Translate [it]  pending
    ");
    let shown = sandbox.json(&["plan", "show"]);
    assert_eq!(shown["loops"], json!([{"phase": "languages", "position": 2, "completed": ["de"], "failed": ["fr"]}]));
    assert_eq!(shown["phases"][2], json!({"id": "languages", "name": "Languages", "items": ["de", "fr", "it"]}));
    let head = ["plan", "feature", "spec", "description", "constraints", "criteria", "promise"];
    assert_eq!(
        head.map(|key| shown[key].clone()),
        [
            json!("greeting"),
            json!("Greeting"),
            json!("SPEC.json"),
            json!("People are greeted."),
            json!(["No new dependency"]),
            json!(["Everybody is greeted"]),
            json!(null),
        ]
    );
    sandbox.ok(&["task", "done", "3.3.1"]);
    assert!(sandbox.ok(&["plan", "show"]).contains("  finished; 2 of 3 items completed, 1 failed\n"));
    assert_eq!(sandbox.json(&["plan", "show"])["loops"][0]["position"], 3);
}

#[test]
fn the_status_of_a_plan_has_the_keys_it_promises() {
    let sandbox = decided();
    sandbox.ok(&["task", "block", "3.2.1", "--why", "nobody speaks it"]);
    let mut status = sandbox.json(&["plan", "status"]);
    assert_eq!(status["hash"].take().as_str().unwrap().len(), 64);
    assert_eq!(
        status,
        json!({"plan": "greeting", "hash": null, "approval": "not_required", "gate": "open", "open": 9, "done": 3, "blocked": 1})
    );
    insta::assert_snapshot!(sandbox.ok(&["plan", "status"]), @r"
    Greeting (greeting)
    3 of 13 tasks done, 9 open, 1 blocked
    ");
}

#[test]
fn a_plan_is_put_away_with_its_decisions_by_a_human() {
    let sandbox = loaded();
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    let (code, said) = sandbox.agent(&["plan", "clear"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r"
    error: only a human can run `steadfast plan clear`, and this is an agent's call

    hint: a human runs `steadfast plan clear` in a separate terminal
    ");
    let before = sandbox.decisions("greeting");
    let said = sandbox.without_paths(sandbox.ok(&["plan", "clear"]).as_bytes());
    insta::assert_snapshot!(said, @r"
    plan greeting is archived; its tasks and evidence are kept
    its decisions are in /repo/.git/steadfast/archive/greeting.md
    ");
    assert!(!sandbox.decisions_file("greeting").exists());
    let archived = fs::read_to_string(sandbox.place().state.join("archive/greeting.md")).unwrap();
    assert_eq!(archived, before);
    assert_eq!(sandbox.fails(&["plan", "show"]).0, 1);
    // The name stays taken: what was decided under it is still told apart.
    assert!(sandbox.ok(&["plan", "load", "SPEC.json"]).starts_with("plan greeting-2: 13 tasks"));
}

#[test]
fn a_decision_is_in_the_file_under_its_phase() {
    let sandbox = loaded();
    insta::assert_snapshot!(sandbox.ok(&["decide", "Plain text", "--why", "no\ndependency"]), @"decided for Words: Plain text");
    insta::assert_snapshot!(sandbox.decisions("greeting"), @r"
    # Execution Context: Greeting

    ## Objective
    People are greeted.

    ## Key Constraints
    - No new dependency

    ## Success Criteria
    - Everybody is greeted

    ## Words Decisions
    - Plain text: no dependency

    ## Page Decisions

    ## Languages Decisions

    ## Current State
    Phase: Words
    Last completed: -
    Next: 1.0 Decisions of Words: its goal and the choices made
    0 of 13 tasks done, 0 blocked
    ");
    assert_eq!(sandbox.fails(&["decide", " ", "--why", "x"]).0, 64);
    insta::assert_snapshot!(sandbox.fails(&["decide", "x", "--why", ""]).1, @r"
    error: the decision or its reason (`--why`) is empty

    hint: `steadfast decide TEXT --why REASON` records it for later sessions
    ");
}

#[test]
fn what_is_written_into_the_decisions_file_by_hand_stays_and_is_known() {
    let sandbox = loaded();
    let mine = sandbox
        .decisions("greeting")
        .replace("## Words Decisions\n", "## Words Decisions\n- By hand: because\n- Without a reason\n")
        + "## My notes\nkeep me\n";
    fs::write(sandbox.decisions_file("greeting"), &mine).unwrap();
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    assert_eq!(sandbox.agent(&["task", "start", "1.0"]).0, 0);
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    let text = sandbox.decisions("greeting");
    let lines = "## Words Decisions\n- By hand: because\n- Without a reason\n- Plain text: no dependency\n\n";
    assert!(text.contains(lines) && text.ends_with("## My notes\nkeep me\n"), "{text}");
    let told = sandbox.hook("SessionStart", "me", json!({"source": "compact"}));
    assert_eq!(["By hand", "Without a reason", "Plain text"].map(|what| told.matches(what).count()), [1; 3], "{told}");
    // A file that is gone is written anew, with what was in it.
    fs::remove_file(sandbox.decisions_file("greeting")).unwrap();
    sandbox.ok(&["task", "done", "1.0"]);
    assert!(sandbox.decisions("greeting").contains(lines));
}

#[test]
fn a_spec_that_changed_keeps_its_decisions_and_what_was_written_beside_them() {
    let sandbox = loaded();
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    let mine = sandbox.decisions("greeting").replace("## Page Decisions\n", "## Page Decisions\n- One page: enough\n");
    fs::write(sandbox.decisions_file("greeting"), mine + "## My notes\nkeep me\n").unwrap();
    sandbox.write("SPEC.json", SPEC.replace("People are greeted.", "Everybody is greeted."));
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    let text = sandbox.decisions("greeting-2");
    assert!(text.contains("## Objective\nEverybody is greeted.\n"), "{text}");
    assert!(
        text.contains("## Words Decisions\n- Plain text: no dependency\n\n## Page Decisions\n- One page: enough\n"),
        "{text}"
    );
    assert!(text.ends_with("## My notes\nkeep me\n"), "{text}");
    assert!(!sandbox.decisions_file("greeting").exists());
    // The ledger knows it, too.
    fs::remove_file(sandbox.decisions_file("greeting-2")).unwrap();
    sandbox.ok(&["task", "start", "1.0"]);
    assert!(sandbox.decisions("greeting-2").contains("- One page: enough\n"));
}

#[test]
fn the_next_session_is_printed_and_only_for_a_human() {
    let sandbox = Sandbox::new().with_ui_skills();
    insta::assert_snapshot!(sandbox.fails(&["resume", "--print"]).1, @r"
    error: nothing to continue: no task is open in this worktree

    hint: `steadfast plan load SPEC.md` loads a plan; `steadfast status` shows tasks and sessions
    ");
    sandbox.write("SPEC.json", SPEC.replace("\"Greeting\"", "\"Greet 'em\""));
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    insta::assert_snapshot!(sandbox.ok(&["resume", "--print"]), @r#"claude -- "Go on with the plan \"Greet 'em\": 0 of 13 tasks are done. Next is 1.0 Decisions of Words: its goal and the choices made.""#);
    // Without a human, as much is allowed as to an agent of a run.
    let headless = |host: &str| {
        let said = sandbox.ok(&["resume", "--print", "--host", host, "--headless"]);
        let said = said.replace(&sandbox.binary().display().to_string(), "/steadfast");
        said.split_once(" -- ").unwrap().0.to_owned()
    };
    assert_eq!(
        headless("claude"),
        "claude -p --permission-mode acceptEdits --allowedTools 'Bash(steadfast:*)' 'Bash(/steadfast:*)' mcp__steadfast"
    );
    assert_eq!(headless("codex"), "codex exec --sandbox workspace-write -c 'approval_policy=\"never\"'");
    sandbox.set_own("[run]\npermissions = \"free\"\narguments = [\"--model\", \"m\"]\n");
    assert_eq!(headless("claude"), "claude -p --dangerously-skip-permissions --model m");
    assert_eq!(headless("codex"), "codex exec --dangerously-bypass-approvals-and-sandbox --model m");
    assert_eq!(sandbox.agent(&["resume", "--print"]).0, 2);
}

#[test]
fn a_note_is_kept_with_its_task_and_added_to() {
    let sandbox = loaded();
    insta::assert_snapshot!(sandbox.ok(&["task", "note", "1.1", "the words are in words.txt"]), @"1.1 Greet people: noted");
    assert_eq!(sandbox.agent(&["task", "note", "1.1", "and in more.txt"]).0, 0);
    assert_eq!(sandbox.task("1.1")["notes"], "the words are in words.txt\nand in more.txt");
    assert_eq!(sandbox.fails(&["task", "note", "9.9", "x"]).0, 1);
    // A note is no change of the spec.
    assert!(sandbox.ok(&["plan", "load", "SPEC.json"]).starts_with("plan greeting is already loaded"));
}

/// A spec of one phase with these tasks.
fn small(feature: &str, tasks: &[&str]) -> String {
    let boxes: String =
        tasks.iter().map(|id| format!("- [ ] {id} Write {id}\n  - verify: `test -f {id}.txt`\n")).collect();
    format!("# {feature}\n\n## Phase 1\n\n{boxes}")
}

/// Two plans, and an added task in the second.
fn with_two_plans() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("A.md", small("First", &["1.1"]));
    sandbox.write("B.md", small("Second", &["1.1", "1.2"]));
    sandbox.ok(&["plan", "load", "A.md"]);
    sandbox.ok(&["plan", "load", "B.md"]);
    assert_eq!(sandbox.ok(&["task", "add", "Also tidy up", "--verify", "test -f tidy"]), "+1 Also tidy up\n");
    sandbox
}

#[test]
fn the_plans_of_a_worktree_are_listed_and_one_is_put_in_force() {
    let sandbox = with_two_plans();
    insta::assert_snapshot!(sandbox.ok(&["plan", "list"]), @r"
    * second  0 of 4 done, 4 open, 0 blocked  Second  [B.md]
      first   0 of 2 done, 2 open, 0 blocked  First  [A.md]
    * in force
    ");
    let listed = sandbox.json(&["plan", "list"]);
    assert_eq!(
        listed["plans"][1],
        serde_json::json!({"id": "first", "title": "First", "spec": "A.md", "in_force": false, "open": 2, "done": 0,
            "blocked": 0, "run": null})
    );
    assert_eq!(sandbox.ok(&["plan", "use", "first"]), "plan first is in force: First\n");
    assert_eq!(sandbox.json(&["plan", "status"])["plan"], "first");
    assert_eq!(sandbox.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 2);
    assert!(sandbox.ok(&["status"]).contains("First"));

    let again = sandbox.ok(&["plan", "load", "B.md"]);
    assert!(again.starts_with("plan second is already loaded and unchanged\nplan second is now in force\n"));
    assert_eq!(sandbox.json(&["plan", "status"])["plan"], "second");
    insta::assert_snapshot!(sandbox.fails(&["plan", "use", "third"]).1, @r"
    error: there is no plan `third` in this worktree

    hint: `steadfast plan list` shows the plans of this worktree
    ");
    let refused = sandbox.as_agent("s-1", &["plan", "use", "first"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(sandbox.as_agent("s-1", &["plan", "list"]).status.success());
}

#[test]
fn an_added_task_is_part_of_the_plan_and_stays_when_the_spec_changes() {
    let sandbox = with_two_plans();
    let ids = |sandbox: &Sandbox| -> Vec<String> {
        let listed = sandbox.json(&["task", "list"]);
        listed["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&sandbox), ["1.0", "1.1", "1.2", "+1"]);
    let shown = sandbox.ok(&["plan", "show"]);
    assert!(shown.ends_with("\nAdded\n  [ ] +1       Also tidy up  pending\n"), "{shown}");
    sandbox.write("tidy", "");
    sandbox.ok(&["task", "done", "+1"]);
    sandbox.write("B.md", small("Second", &["1.1", "1.3", "1.4"]));
    sandbox.ok(&["plan", "load", "B.md"]);
    assert_eq!(ids(&sandbox), ["1.0", "1.1", "1.3", "1.4", "+1"]);
    assert_eq!(sandbox.stands("+1"), is("done", "executed"));
}

#[test]
fn tasks_without_a_plan_join_the_first_that_is_loaded() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ok(&["task", "add", "Tidy up"]), "1 Tidy up\n");
    sandbox.write("A.md", small("First", &["1.1"]));
    let said = sandbox.ok(&["plan", "load", "A.md"]);
    assert!(said.contains("task 1 of the list is now task +1 of plan first: Tidy up\n"), "{said}");
    let listed = sandbox.ok(&["plan", "list"]);
    assert!(listed.starts_with("* first  0 of 3 done") && listed.lines().count() == 2, "{listed}");
}

#[test]
fn where_plans_are_approved_an_agents_task_says_that_it_waits() {
    let sandbox = with_two_plans();
    sandbox.write("steadfast.toml", "[approval]\nrequired = true\n");
    let output = sandbox.as_agent("s-1", &["task", "add", "More"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "+2 More: blocked until a human approves it (`steadfast task unblock +2`)\n");
    sandbox.ok(&["task", "unblock", "+2"]);
    assert_eq!(sandbox.stands("+2"), is("pending", "-"));
}

#[test]
fn the_help_of_plan_load_says_what_its_file_is() {
    let help = Sandbox::bare().ok(&["plan", "load", "--help"]);
    assert!(
        help.contains("[FILE]") && help.contains("The spec or the list of tasks: Markdown, JSON or JSON lines"),
        "{help}"
    );
}
