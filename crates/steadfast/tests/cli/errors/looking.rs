//! A task that is closed by looking at it, where there is nothing to be seen.

use std::fs;

use serde_json::{Value, json};

use crate::plans::decided;
use crate::sandbox::Sandbox;

/// Two tasks, the first of which is about these files.
fn with_files(sandbox: &Sandbox, files: &str) {
    let spec = format!(
        r#"{{"feature": "F", "phases": [{{"id": "p", "tasks": [
        {{"id": "1.1", "task": "Look", "type": "func"{files}}}, {{"id": "1.2", "task": "Look again", "type": "func"}}]}}]}}"#
    );
    fs::write(sandbox.root().join("SPEC.json"), spec).unwrap();
    sandbox.ok(&["plan", "load", "SPEC.json"]);
    sandbox.ok(&["task", "done", "1.0", "--force"]);
}

/// Tries to close a task that is closed by looking at it: what became of it.
fn looked_at(sandbox: &Sandbox, id: &str) -> String {
    sandbox.run(&["task", "done", id]);
    note(sandbox, id)
}

fn note(sandbox: &Sandbox, id: &str) -> String {
    let task: Value = sandbox.task(id);
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let evidence = &task["evidence"];
    let note = sandbox.without_paths(word(&evidence["note"]).as_bytes());
    let note = match note.split_once("/trees/") {
        Some((before, after)) => format!("{before}/trees/<worktree>{}", after.trim_start_matches(|c| c != '/')),
        None => note,
    };
    format!("{}, {}: {note}", word(&task["status"]), word(&evidence["class"]))
}

#[test]
fn work_of_which_nothing_is_to_be_seen() {
    let sandbox = Sandbox::new();
    with_files(&sandbox, "");
    let mut all = vec![looked_at(&sandbox, "1.1")];
    sandbox.ok(&["task", "start", "1.1"]);
    all.push(looked_at(&sandbox, "1.1"));
    let trees = sandbox.place().state.join("trees");
    fs::remove_dir_all(&trees).unwrap();
    fs::write(&trees, "a file").unwrap();
    all.push(looked_at(&sandbox, "1.1"));
    sandbox.ok(&["task", "start", "1.2"]);
    fs::remove_file(&trees).unwrap();
    sandbox.write("new.txt", "new");
    all.push(looked_at(&sandbox, "1.1"));
    all.push(looked_at(&sandbox, "1.2"));
    insta::assert_snapshot!(all.join("\n"), @r"
    pending, observed: nothing changed since it was added
    in_progress, observed: nothing changed since it was started
    in_progress, observed: cannot read the tree: `/repo/.git/steadfast/trees/<worktree>/objects`: Not a directory (os error 20)
    done, observed: the tree changed
    done, claimed: it names no files, and the tree at its start is unknown
    ");
}

#[test]
fn files_that_cannot_be_looked_at() {
    let sandbox = Sandbox::new();
    with_files(&sandbox, r#", "files": ["../elsewhere.txt"]"#);
    sandbox.ok(&["task", "start", "1.1"]);
    insta::assert_snapshot!(looked_at(&sandbox, "1.1"), @"in_progress, observed: cannot read its files: `../elsewhere.txt` is outside the checkout");
}

#[test]
fn a_check_that_passed_on_a_tree_that_is_not_known() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "One", "--verify", "true"]);
    fs::write(sandbox.place().state.join("trees"), "a file").unwrap();
    insta::assert_snapshot!(looked_at(&sandbox, "1"), @"done, executed: the tree is unknown: `/repo/.git/steadfast/trees/<worktree>/objects`: Not a directory (os error 20)");
}

#[test]
fn skills_of_which_a_session_does_not_tell() {
    let claimed = |prepare: &dyn Fn(&Sandbox)| {
        let sandbox = decided();
        prepare(&sandbox);
        assert!(sandbox.as_agent("me", &["task", "done", "2.1a"]).status.success());
        note(&sandbox, "2.1a")
    };
    let of_codex = claimed(&|sandbox| {
        let payload = sandbox.home().join("payload");
        fs::write(&payload, json!({"session_id": "me", "cwd": sandbox.root(), "source": "startup"}).to_string())
            .unwrap();
        let mut hook = sandbox.command();
        hook.args(["hook", "--host", "codex", "--via", "local", "SessionStart"]);
        assert!(hook.stdin(fs::File::open(payload).unwrap()).status().unwrap().success());
    });
    insta::assert_snapshot!([of_codex, claimed(&|_| ())].join("\n"), @r"
    done, claimed: Codex does not report which skills it used
    done, claimed: the journal of the session does not reach back far enough
    ");
}
