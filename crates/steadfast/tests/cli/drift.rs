//! What a session changed without showing it, and what goes with what.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use steadfast_model::{Entry, Fact};
use steadfast_store::read_lines;
use steadfast_testkit::wait_for;

use crate::sandbox::Sandbox;

const SESSION: &str = "s-1";

impl Sandbox {
    fn tool(&self, id: &str, tool: &str, input: &Value) -> String {
        let call = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input, "duration_ms": 20});
        self.hook("PostToolUse", SESSION, call)
    }

    /// Asked to fix one thing, it read it and wrote it.
    fn at_work(&self) {
        self.hook("UserPromptSubmit", SESSION, json!({"prompt": "Fix the expiry of tokens."}));
        let file = json!({"file_path": self.root().join("src/auth/token.rs")});
        self.tool("read", "Read", &file);
        self.put("src/auth/token.rs");
        self.tool("edit", "Edit", &file);
    }

    /// Writes a file, and the folder around it.
    pub(crate) fn put(&self, path: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text\n").unwrap();
    }

    /// A script that nobody reads writes a file; what the agent hears of it. On a busy machine git may take longer than the
    /// hook waits for it, and then the script runs again.
    fn generate(&self, id: &str, path: &str) -> String {
        let mut attempt = 0;
        wait_for("an answer of git within the hook's time", || {
            attempt += 1;
            self.put(path);
            let said = self.tool(&format!("{id}-{attempt}"), "Bash", &json!({"command": "python3 gen.py"}));
            match self.found() {
                Fact::Unknown(why) if why.starts_with("no answer within") => Err(why),
                _ => Ok(said),
            }
        })
    }

    pub(crate) fn commit(&self) {
        let who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"];
        for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--message=x"]] {
            let mut git = Command::new("git");
            git.current_dir(self.root()).args(who).args(arguments);
            assert!(git.status().unwrap().success());
        }
    }

    /// The table of neighbours, as soon as it is there.
    fn table(&self) -> String {
        let file = self.place().state.join("neighbours");
        wait_for("the table of neighbours", || fs::read_to_string(&file).map_err(|error| error.to_string()))
    }

    /// What the last event found changed.
    fn found(&self) -> Fact<Vec<String>> {
        let (_, mut lines) = read_lines(self.session(SESSION).dir(), 0).unwrap();
        match lines.pop().unwrap().entry {
            Entry::Record(record) => record.facts.changed,
            Entry::Snapshot(_) => panic!("no event"),
        }
    }
}

#[test]
fn what_a_script_writes_outside_the_work_is_told_by_its_name() {
    let sandbox = Sandbox::new();
    sandbox.at_work();
    let first = sandbox.generate("one", "web/menu.ts");
    assert!(
        first.contains("Is this part of the goal? `web/menu.ts` has nothing to do with the work so far."),
        "{first}"
    );
    let second = sandbox.generate("two", "web/footer.ts");
    assert!(second.contains("This leads away from the goal: `web/footer.ts`"), "{second}");
    assert_eq!(sandbox.generate("three", "target/out.ts"), "");
}

#[test]
fn without_git_nothing_is_known_and_nothing_lost() {
    let sandbox = Sandbox::new();
    sandbox.at_work();
    fs::remove_file(sandbox.root().join(".git/HEAD")).unwrap();
    assert_eq!(sandbox.generate("one", "web/menu.ts"), "");
    assert_eq!(sandbox.found(), Fact::Unknown("not a git repository".into()));
    let shown = sandbox.tool("two", "Bash", &json!({"command": "echo x > web/menu.ts"}));
    assert!(shown.contains("`web/menu.ts`"), "{shown}");
}

#[test]
fn what_another_session_does_meanwhile_is_not_taken_for_its_own() {
    let sandbox = Sandbox::new();
    sandbox.at_work();
    let file = json!({"file_path": sandbox.root().join("web/menu.ts")});
    sandbox.hook("PostToolUse", "s-2", json!({"tool_name": "Edit", "tool_use_id": "x", "tool_input": file}));
    assert_eq!(sandbox.generate("one", "web/menu.ts"), "");
    assert_eq!(sandbox.found(), Fact::Unknown("another session was at work here".into()));
}

#[test]
fn what_history_changes_with_the_work_is_not_spoken_of() {
    let sandbox = Sandbox::new();
    for number in 0..3 {
        for file in ["src/auth/token.rs", "web/menu.ts"] {
            sandbox.put(file);
            fs::write(sandbox.root().join(file), number.to_string()).unwrap();
        }
        sandbox.commit();
    }
    sandbox.hook("SessionStart", SESSION, json!({"source": "startup"}));
    let table = sandbox.table();
    let lines = table.split_once('\n').map(|(_, lines)| lines);
    assert_eq!(lines, Some("src/auth/token.rs\tweb/menu.ts\nweb/menu.ts\tsrc/auth/token.rs\n"), "{table}");
    sandbox.at_work();
    assert_eq!(sandbox.generate("one", "web/menu.ts"), "");
    let other = sandbox.generate("two", "ops/list.yaml");
    assert!(other.contains("Is this part of the goal? `ops/list.yaml`"), "{other}");
}

#[test]
fn what_the_plan_names_that_was_read_first_is_not_spoken_of() {
    let sandbox = Sandbox::new();
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": "Do what docs/plan.md says."}));
    let plan = sandbox.root().join("docs/plan.md");
    let answer = json!({"type": "text", "file": {"filePath": plan, "content": "# Plan\n\n- `web/menu.ts`: sorted\n"}});
    let read =
        json!({"tool_name": "Read", "tool_use_id": "r", "tool_input": {"file_path": plan}, "tool_response": answer});
    sandbox.hook("PostToolUse", SESSION, read);
    let edit = |id: &str, path: &str| sandbox.tool(id, "Edit", &json!({"file_path": sandbox.root().join(path)}));
    assert_eq!([edit("one", "src/auth/token.rs"), edit("two", "web/menu.ts")], ["", ""]);
    let other = edit("three", "ops/list.yaml");
    assert!(other.contains("Is this part of the goal? `ops/list.yaml`"), "{other}");
}

#[test]
fn the_calls_of_one_answer_are_told_of_once() {
    let sandbox = Sandbox::new();
    sandbox.at_work();
    let all_back = || sandbox.hook("PostToolBatch", SESSION, json!({"tool_calls": [{}, {}]}));
    assert_eq!(all_back(), "");
    let edit = |id: &str, path: &str| sandbox.tool(id, "Edit", &json!({"file_path": sandbox.root().join(path)}));
    assert_eq!([edit("one", "web/menu.ts"), edit("two", "web/footer.ts")], ["", ""]);
    let told: Value = serde_json::from_str(&all_back()).unwrap();
    let text = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.starts_with("This leads away from the goal: `web/footer.ts`"), "{text}");
    assert_eq!(all_back(), "");
}

#[test]
fn what_the_human_calls_by_its_name_is_where_the_work_is() {
    let sandbox = Sandbox::new();
    for file in ["crates/billing/src/tax.rs", "src/token_store.rs", "web/menu.ts"] {
        sandbox.put(file);
    }
    sandbox.commit();
    let prompt = "Let the billing module round up, with TokenStore as it is in the side_bar";
    sandbox.hook("UserPromptSubmit", SESSION, json!({"prompt": prompt}));
    assert_eq!(
        sandbox.ok(&["goal", "show"]),
        format!(
            "session s-1: goal: {prompt} (scope: crates/billing/ for \"billing\", src/token_store.rs for \"TokenStore\"); \
             forbidden: nothing\n"
        )
    );
    let edit = |id: &str, path: &str| sandbox.tool(id, "Edit", &json!({"file_path": sandbox.root().join(path)}));
    for (id, path) in [("a", "crates/billing/src/tax.rs"), ("b", "src/token_store.rs"), ("c", "crates/billing/new.rs")]
    {
        assert_eq!(edit(id, path), "", "{path}");
    }
    let other = edit("d", "web/menu.ts");
    assert!(other.contains("Is this part of the goal? `web/menu.ts`"), "{other}");
}

#[test]
fn a_name_said_in_a_subfolder_is_looked_for_there() {
    let sandbox = Sandbox::new();
    for file in ["api/src/billing.rs", "web/billing.ts"] {
        sandbox.put(file);
    }
    sandbox.commit();
    let payload = json!({"session_id": SESSION, "cwd": sandbox.root().join("web"), "prompt": "Mend `billing` here"});
    assert!(sandbox.start_hook("UserPromptSubmit", &payload).wait_with_output().unwrap().status.success());
    let said = sandbox.ok(&["goal", "show"]);
    assert!(said.contains("(scope: billing.ts for \"billing\")"), "{said}");
}

#[test]
fn a_table_is_made_once_in_an_hour() {
    let sandbox = Sandbox::new();
    sandbox.hook("SessionStart", SESSION, json!({"source": "startup"}));
    assert!(sandbox.table().starts_with("# `git rev-parse` failed"), "{}", sandbox.table());
    let file = sandbox.place().state.join("neighbours");
    fs::write(&file, "# mine\n").unwrap();
    sandbox.hook("SessionStart", SESSION, json!({"source": "resume"}));
    sandbox.wait_until_quiet();
    assert_eq!(sandbox.table(), "# mine\n");
    fs::File::options().write(true).open(&file).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    sandbox.hook("SessionStart", SESSION, json!({"source": "clear"}));
    sandbox.wait_until_quiet();
    assert_ne!(sandbox.table(), "# mine\n", "an old table was left");
}

#[test]
fn where_nobody_ran_init_nothing_is_started_and_nothing_left() {
    let sandbox = Sandbox::bare();
    sandbox.put("a.rs");
    sandbox.commit();
    sandbox.hook("SessionStart", SESSION, json!({"source": "startup"}));
    // What does not run now does not come later either.
    assert!(sandbox.processes().is_empty());
    assert!(!sandbox.place().state.exists());
}
