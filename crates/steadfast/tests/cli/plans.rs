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
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.json", SPEC);
    sandbox
}

fn loaded() -> Sandbox {
    let sandbox = with_spec();
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    sandbox
}

/// The same, with what the chains of its phases wait for decided.
fn decided() -> Sandbox {
    let sandbox = loaded();
    for id in ["1.0", "2.0", "3.0"] {
        sandbox.ok(&["task", "done", id, "--force"]);
    }
    sandbox
}

impl Sandbox {
    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::write(self.root().join(file), text).unwrap();
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }

    fn task(&self, id: &str) -> Value {
        self.json(&["task", "show", id])["tasks"][0].clone()
    }

    /// Its status, and what that rests on.
    fn stands(&self, id: &str) -> (String, String) {
        let task = self.task(id);
        let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        (word(&task["status"]), word(&task["evidence"]["class"]))
    }

    fn decisions(&self, plan: &str) -> String {
        fs::read_to_string(self.decisions_file(plan)).unwrap()
    }

    fn decisions_file(&self, plan: &str) -> std::path::PathBuf {
        self.root().join(format!(".steadfast/decisions/{plan}.md"))
    }

    /// What an agent's command says and how it ends.
    fn agent(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.as_agent("me", arguments);
        (output.status.code().unwrap(), self.without_paths(&[output.stdout, output.stderr].concat()))
    }
}

fn is(status: &str, class: &str) -> (String, String) {
    (status.to_owned(), class.to_owned())
}

#[test]
fn a_plan_is_loaded_and_loading_it_again_changes_nothing() {
    let sandbox = with_spec();
    insta::assert_snapshot!(sandbox.fails(&["plan", "show"]).1, @"");
    insta::assert_snapshot!(sandbox.ok(&["plan", "load", "SPEC.json"]), @"");
    sandbox.ok(&["task", "start", "1.0"]);
    insta::assert_snapshot!(sandbox.ok(&["plan", "load", "SPEC.json"]), @"");
    assert_eq!(sandbox.stands("1.0"), is("in_progress", "-"));
}

#[test]
fn one_file_is_one_plan_however_it_is_named() {
    let sandbox = loaded();
    let full = sandbox.root().join("SPEC.json");
    for name in ["./SPEC.json", full.to_str().unwrap()] {
        assert!(sandbox.ok(&["plan", "load", name]).starts_with("plan greeting is loaded already"), "{name}");
    }
    assert_eq!(sandbox.json(&["plan", "show"])["spec"], "SPEC.json");
}

#[test]
fn warnings_and_what_has_no_check_are_said_when_it_is_loaded() {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", "# F\n\n## Phase 1\n\n- [ ] 1.1 One\n- [ ] 1.2 Two\n  - verify: `make | tail -1`\n");
    let output = sandbox.run(&["plan", "load", "SPEC.md"]);
    assert!(output.status.success());
    insta::assert_snapshot!(sandbox.without_paths(&output.stderr), @"");
}

#[test]
fn a_spec_that_changed_keeps_what_did_not() {
    let sandbox = decided();
    sandbox.write("greet.txt", "hello");
    sandbox.ok(&["task", "done", "1.1"]);
    sandbox.ok(&["task", "done", "1.1a"]);
    sandbox.ok(&["task", "block", "3.1.1", "--why", "nobody speaks it"]);
    sandbox.write("SPEC.json", SPEC.replace("grep -q hello greet.txt", "grep -q hallo greet.txt"));
    insta::assert_snapshot!(sandbox.ok(&["plan", "load", "SPEC.json"]), @"");
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
    insta::assert_snapshot!(said, @"");
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
    insta::assert_snapshot!(sandbox.ok(&["plan", "show"]), @"");
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
    assert!(sandbox.ok(&["plan", "show"]).contains("  through; 2 of 3 items completed, 1 failed\n"));
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
    insta::assert_snapshot!(sandbox.ok(&["plan", "status"]), @"");
}

#[test]
fn a_plan_is_put_away_with_its_decisions_by_a_human() {
    let sandbox = loaded();
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    let (code, said) = sandbox.agent(&["plan", "clear"]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @"");
    let before = sandbox.decisions("greeting");
    let said = sandbox.without_paths(sandbox.ok(&["plan", "clear"]).as_bytes());
    insta::assert_snapshot!(said, @"");
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
    insta::assert_snapshot!(sandbox.ok(&["decide", "Plain text", "--why", "no\ndependency"]), @"");
    insta::assert_snapshot!(sandbox.decisions("greeting"), @"");
    assert_eq!(sandbox.fails(&["decide", " ", "--why", "x"]).0, 64);
    insta::assert_snapshot!(sandbox.fails(&["decide", "x", "--why", ""]).1, @"");
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
fn a_spec_that_changed_keeps_its_decisions() {
    let sandbox = loaded();
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    sandbox.write("SPEC.json", SPEC.replace("Translate", "Translate it"));
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    assert!(sandbox.decisions("greeting-2").contains("## Words Decisions\n- Plain text: no dependency\n"));
}

#[test]
fn a_decision_task_is_closed_by_what_stands_in_its_section() {
    let sandbox = loaded();
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.0"]).1, @"");
    sandbox.ok(&["decide", "Plain text", "--why", "no dependency"]);
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1.0"]), @"");
    // Another phase has a section of its own.
    assert_eq!(sandbox.fails(&["task", "done", "2.0"]).0, 1);
    let text = sandbox.decisions("greeting").replace("## Page Decisions\n", "## Page Decisions\n- One page: enough\n");
    fs::write(sandbox.decisions_file("greeting"), text).unwrap();
    sandbox.ok(&["task", "done", "2.0"]);
    assert_eq!(sandbox.stands("2.0"), is("done", "observed"));
}

#[test]
fn a_chain_is_done_in_its_order_and_its_work_before_its_test() {
    let sandbox = decided();
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.1a"]).1, @"");
    let said = sandbox.fails(&["task", "done", "1.1"]).1;
    assert!(said.starts_with("error: task `1.1` stays open: none of its files changed since "), "{said}");
    sandbox.write("greet.txt", "good day");
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1.1"]), @"");
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.1a"]).1, @"");
    sandbox.write("greet.txt", "hello");
    sandbox.ok(&["task", "done", "1.1a"]);
    assert_eq!(sandbox.stands("1.1a"), is("done", "executed"));
}

#[test]
fn docs_are_there_and_written() {
    let sandbox = decided();
    sandbox.ok(&["task", "start", "1.2"]);
    sandbox.write("greet.md", "# How people are greeted");
    sandbox.ok(&["task", "done", "1.2"]);
    fs::remove_file(sandbox.root().join("greet.md")).unwrap();
    insta::assert_snapshot!(sandbox.fails(&["task", "done", "1.2a"]).1, @"");
    sandbox.write("greet.md", "# How people are greeted");
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "1.2a"]), @"");
    assert_eq!(sandbox.task("1.2a")["check"], "written");
}

/// So many grey pixels.
fn png(width: u8, height: u8) -> Vec<u8> {
    let part = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&length[..], name, content, &[0; 4]].concat()
    };
    let header = [0, 0, 0, width, 0, 0, 0, height, 8, 0, 0, 0, 0];
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        part(b"IHDR", &header),
        part(b"IDAT", &[0x78, 1, 3, 0, 0, 0, 0, 1]),
        part(b"IEND", &[]),
    ]
    .concat()
}

#[test]
fn a_page_is_closed_by_a_picture_that_is_newer_than_it() {
    let sandbox = decided();
    sandbox.ok(&["task", "done", "2.1a"]);
    sandbox.write("old.png", png(4, 3));
    std::thread::sleep(std::time::Duration::from_millis(20));
    sandbox.write("page.html", "<h1>hello</h1>");
    sandbox.ok(&["task", "done", "2.1"]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    sandbox.write("words.png", "no picture");
    sandbox.write("dot.png", png(1, 1));
    sandbox.write("new.png", png(4, 3));
    let mut all = sandbox.fails(&["task", "done", "2.1b"]).1;
    for file in ["old.png", "words.png", "dot.png", "none.png"] {
        all += &sandbox.fails(&["task", "done", "2.1b", "--artifact", file]).1;
    }
    insta::assert_snapshot!(all, @"");
    let said = sandbox.ok(&["task", "done", "2.1b", "--artifact", "new.png"]);
    assert!(
        said.starts_with("2.1b Look at it: Draw the page (page.html): done (artifact: new.png: PNG, 4 × 3, "),
        "{said}"
    );
    assert_eq!(sandbox.stands("2.1b"), is("done", "artifact"));
    sandbox.write("page.html", "<h1>good day</h1>");
    assert_eq!(sandbox.task("2.1b")["evidence"]["stale"], true);
}

#[test]
fn skills_are_claimed_where_no_session_tells() {
    let sandbox = decided();
    insta::assert_snapshot!(sandbox.ok(&["task", "done", "2.1a"]), @"");
    assert_eq!(sandbox.stands("2.1a"), is("done", "claimed"));
}

#[test]
fn skills_are_seen_where_a_session_uses_them() {
    let sandbox = decided();
    let skill = |name: &str| {
        let call = json!({"tool_name": "Skill", "tool_input": {"skill": name}, "tool_use_id": name});
        sandbox.hook("PreToolUse", "me", call);
    };
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    skill("vercel-design-guidelines");
    std::thread::sleep(std::time::Duration::from_millis(5));
    sandbox.agent(&["task", "start", "2.1a"]);
    skill("frontend-design");
    let (code, said) = sandbox.agent(&["task", "done", "2.1a"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(said, @"");
    skill("vercel-design-guidelines");
    insta::assert_snapshot!(sandbox.agent(&["task", "done", "2.1a"]).1, @"");
    assert_eq!(sandbox.stands("2.1a"), is("done", "observed"));
}

#[test]
fn the_next_session_is_printed_and_only_for_a_human() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.fails(&["resume", "--print"]).1, @"");
    sandbox.write("SPEC.json", SPEC.replace("\"Greeting\"", "\"Greet 'em\""));
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    insta::assert_snapshot!(sandbox.ok(&["resume", "--print"]), @"");
    insta::assert_snapshot!(sandbox.ok(&["resume", "--print", "--host", "codex", "--headless"]), @"");
    assert_eq!(sandbox.agent(&["resume", "--print"]).0, 2);
}

#[test]
fn a_note_is_kept_with_its_task_and_added_to() {
    let sandbox = loaded();
    insta::assert_snapshot!(sandbox.ok(&["task", "note", "1.1", "the words are in words.txt"]), @"");
    assert_eq!(sandbox.agent(&["task", "note", "1.1", "and in more.txt"]).0, 0);
    assert_eq!(sandbox.task("1.1")["notes"], "the words are in words.txt\nand in more.txt");
    assert_eq!(sandbox.fails(&["task", "note", "9.9", "x"]).0, 1);
    // A note is no change of the spec.
    assert!(sandbox.ok(&["plan", "load", "SPEC.json"]).starts_with("plan greeting is loaded already"));
}
