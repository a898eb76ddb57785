//! Runs in a repository with submodules: units find their content, and what would change one is refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::run::{progress, task};
use crate::sandbox::Sandbox;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let named = ["-c", "user.name=U", "-c", "user.email=u@u", "-c", "protocol.file.allow=always"];
    let output = Command::new("git").args(named).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// A repository with `libs/words`, a submodule that has a submodule itself, and these tasks.
fn with_submodule(tasks: &[Value]) -> Sandbox {
    let sandbox = Sandbox::new();
    let (deep, words) = (sandbox.home().join("deep"), sandbox.home().join("words"));
    for folder in [&deep, &words] {
        fs::create_dir(folder).unwrap();
        git(folder, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(folder.join("word.txt"), "hello\n").unwrap();
        git(folder, &["add", "."]);
        git(folder, &["commit", "--quiet", "-m", "One"]);
    }
    git(&words, &["submodule", "--quiet", "add", &deep.to_string_lossy(), "deep"]);
    git(&words, &["commit", "--quiet", "-m", "Two"]);
    let root = sandbox.root();
    git(&root, &["submodule", "--quiet", "add", &words.to_string_lossy(), "libs/words"]);
    git(&root, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    // The server they came from is gone: what a run needs is in the checkout.
    fs::remove_dir_all(&deep).unwrap();
    fs::remove_dir_all(&words).unwrap();
    let spec = json!({"feature": "Greetings", "phases": [{"id": "1", "name": "P", "tasks": tasks}]});
    fs::write(root.join("SPEC.json"), spec.to_string()).unwrap();
    sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "spec"]);
    sandbox
}

/// Its settings, and its submodules with theirs.
fn own(sandbox: &Sandbox) -> Vec<String> {
    let root = sandbox.root();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    vec![
        git(&root, &["status", "--porcelain", "--ignore-submodules=none"]),
        git(&root, &["submodule", "status", "--recursive"]),
        git(&root.join("libs/words"), &["for-each-ref"]),
        read(".git/config"),
        read(".git/modules/libs/words/config"),
    ]
}

fn unit(sandbox: &Sandbox, id: &str) -> Value {
    let progress = progress(sandbox);
    progress["units"].as_array().unwrap().iter().find(|unit| unit["id"] == id).unwrap().clone()
}

#[test]
fn units_find_the_content_of_submodules_and_land_beside_them() {
    let check = |file: &str| format!("test -s {file} && grep -q hello libs/words/word.txt libs/words/deep/word.txt");
    let sandbox = with_submodule(&[task("1.1", &check("1.1.txt")), task("1.2", &check("1.2.txt"))]);
    let before = own(&sandbox);
    let report = sandbox.ok(&["run", "SPEC.json", "--host", "sim"]);
    assert!(report.contains("3 of 3 tasks done"), "{report}");
    let branch = progress(&sandbox)["branch"].as_str().unwrap().to_owned();
    let pointer = |name: &str| git(&sandbox.root(), &["rev-parse", &format!("{name}:libs/words")]);
    assert_eq!(pointer(&branch), pointer("HEAD"));
    assert_eq!(own(&sandbox), before, "what is the user's is as it was");
    let worktrees = sandbox.home().join(".local/state/steadfast/worktrees");
    let left = fs::read_dir(worktrees).unwrap().flatten().flat_map(|entry| fs::read_dir(entry.path()).unwrap()).count();
    assert_eq!(left, 0);
}

#[test]
fn a_unit_that_names_a_file_of_a_submodule_waits_for_a_human_and_no_agent_is_sent() {
    let mut inside = task("1.1", "true");
    inside["files"] = json!(["libs/words/word.txt"]);
    let sandbox = with_submodule(&[inside, task("1.2", "test -s 1.2.txt")]);
    let output = sandbox.run(&["run", "SPEC.json", "--host", "sim"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let why = "it changes the submodule `libs/words`, which a run cannot change; start a run in the submodule itself";
    assert!(report.contains(why), "{report}");
    let (refused, other) = (unit(&sandbox, "1.1"), unit(&sandbox, "1.2"));
    assert_eq!((&refused["status"], &refused["attempts"]), (&"blocked".into(), &0.into()));
    assert_eq!(other["status"], "done");
}

#[test]
fn a_unit_that_changes_a_submodule_all_the_same_does_not_land() {
    let also = |path: &str| {
        json!({"id": "1.1", "task": format!("Write it [sim:also {path}]"), "files": ["1.1.txt"],
        "verification": {"type": "command", "command": "test -s 1.1.txt"}})
    };
    for path in ["libs/words/word.txt", "libs/words/new.txt", "libs/words/deep/word.txt"] {
        let sandbox = with_submodule(&[also(path)]);
        let before = own(&sandbox);
        let output = sandbox.run(&["run", "SPEC.json", "--host", "sim"]);
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{path}: {said}");
        assert!(said.contains("a run cannot change submodules, and this unit changed libs/words"), "{path}: {said}");
        let refused = unit(&sandbox, "1.1");
        assert_eq!((&refused["status"], &refused["merged"]), (&"blocked".into(), &Value::Null), "{path}");
        assert_eq!(own(&sandbox), before, "{path}");
    }
}
