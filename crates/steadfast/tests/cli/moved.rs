//! Repositories that are moved or copied, with their plans.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::run::git;
use crate::sandbox::Sandbox;

const SPEC: &str = "# Greeting\n\n## Phase 1: Words\n\n- [ ] 1.1 Greet people\n  - verify: `true`\n- [ ] 1.2 Wave\n  - verify: `true`\n";

fn begun() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "-m", "The spec"]);
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    sandbox.ok(&["task", "done", "1.0", "--force"]);
    sandbox.ok(&["task", "done", "1.1"]);
    sandbox
}

/// Another folder beside the repository, seen through the same user.
struct There<'s> {
    sandbox: &'s Sandbox,
    root: PathBuf,
}

impl<'s> There<'s> {
    fn of(sandbox: &'s Sandbox, name: &str) -> Self {
        Self { sandbox, root: sandbox.root().parent().unwrap().join(name) }
    }

    fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.sandbox.command().current_dir(&self.root).args(arguments).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    /// How many tasks are done, and how many there are.
    fn counts(&self) -> (u64, u64) {
        let output = self.sandbox.command().current_dir(&self.root).args(["status", "--json"]).output().unwrap();
        let view: Value = serde_json::from_slice(&output.stdout).unwrap();
        let counts = &view["plan"]["counts"];
        let of = |key: &str| counts[key].as_u64().unwrap_or_default();
        (of("done"), of("done") + of("pending") + of("in_progress") + of("blocked"))
    }

    fn hook(&self, event: &str, session: &str, mut more: Value) -> String {
        more["session_id"] = session.into();
        more["cwd"] = self.root.to_str().into();
        let mut command = self.sandbox.command();
        command.current_dir(&self.root).args(["hook", "--host", "claude", "--via", "local", event]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(more.to_string().as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }
}

#[test]
fn a_moved_repository_keeps_its_plan_and_what_was_done() {
    let sandbox = begun();
    let there = There::of(&sandbox, "elsewhere");
    fs::rename(sandbox.root(), &there.root).unwrap();
    let (_, said) = there.run(&["status"]);
    assert!(said.contains("its plans, gates and drafts were moved too"), "{said}");
    assert_eq!(there.counts(), (2, 3));
    // Once it is told; and loading the spec again begins nothing anew.
    assert!(!there.run(&["status"]).1.contains("were moved too"));
    let (_, said) = there.run(&["plan", "load", "SPEC.md"]);
    assert!(said.contains("is already loaded and unchanged"), "{said}");
    assert!(there.run(&["task", "done", "1.2"]).0);
    assert_eq!(there.counts(), (3, 3));
}

#[test]
fn hooks_know_the_plan_after_the_move_and_a_closed_gate_stays_closed() {
    let sandbox = begun();
    sandbox.ok(&["plan", "lock", "--why", "wait for me"]);
    let there = There::of(&sandbox, "elsewhere");
    fs::rename(sandbox.root(), &there.root).unwrap();
    // The first that happens is a session: nobody ran a command.
    let start = there.hook("SessionStart", "moved-1", json!({"source": "startup"}));
    assert!(start.contains("wait for me") || start.contains("1.2"), "{start}");
    let write = json!({"tool_name": "Write", "tool_use_id": "t-1",
        "tool_input": {"file_path": there.root.join(".tdd-progress.md"), "content": "x"}});
    let answer = there.hook("PreToolUse", "moved-1", write);
    assert!(answer.contains("deny"), "the gate opened by the move: {answer}");
    assert!(there.run(&["plan", "unlock"]).0);

    there.hook("UserPromptSubmit", "moved-1", json!({"prompt": "Do all open tasks of the plan."}));
    let stop = json!({"stop_hook_active": false, "background_tasks": []});
    let answer = there.hook("Stop", "moved-1", stop);
    assert!(answer.contains("\"decision\":\"block\"") && answer.contains("1.2"), "{answer}");
}

#[test]
fn a_copy_and_its_original_have_plans_that_do_not_touch_each_other() {
    let sandbox = begun();
    sandbox.hook("SessionStart", "copied-1", json!({"source": "startup"}));
    assert!(sandbox.as_agent("copied-1", &["task", "start", "1.2"]).status.success());
    let (there, here) = (There::of(&sandbox, "copy"), There::of(&sandbox, "repo"));
    assert!(Command::new("cp").arg("-a").args([sandbox.root(), there.root.clone()]).status().unwrap().success());
    let (_, said) = there.run(&["status"]);
    assert!(said.contains("is a copy of") && said.contains("its own plans, gates and drafts now"), "{said}");
    assert_eq!((there.counts(), here.counts()), ((2, 3), (2, 3)));
    // The session that works in the original does not hold the copy's task.
    let (ok, said) = there.run(&["task", "done", "1.2"]);
    assert!(ok, "{said}");
    assert_eq!((there.counts(), here.counts()), ((3, 3), (2, 3)));
    assert!(!here.run(&["status"]).1.contains("copy of"));
    // A new plan of the copy is not the original's.
    fs::write(there.root.join("OTHER.md"), "# Other\n- [ ] 1.1 Count\n").unwrap();
    assert!(there.run(&["plan", "load", "OTHER.md"]).0);
    assert!(!here.run(&["plan", "list"]).1.contains("Other"));
}

#[test]
fn a_linked_worktree_that_git_moves_keeps_its_plan() {
    let sandbox = begun();
    git(&sandbox, &["worktree", "add", "--quiet", "../side"]);
    let (side, away) = (There::of(&sandbox, "side"), There::of(&sandbox, "away"));
    assert_eq!(side.counts(), (0, 0), "the plan is the main checkout's");
    assert!(side.run(&["plan", "load", "SPEC.md"]).0);
    git(&sandbox, &["worktree", "move", "../side", "../away"]);
    assert_eq!((away.counts(), There::of(&sandbox, "repo").counts()), ((0, 3), (2, 3)));
}

#[test]
fn a_plain_list_comes_along_and_stays_one_list() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["task", "add", "Sweep"]);
    let there = There::of(&sandbox, "elsewhere");
    fs::rename(sandbox.root(), &there.root).unwrap();
    assert!(there.run(&["task", "add", "Dust"]).0);
    assert_eq!(there.counts(), (0, 2));
    assert_eq!(there.run(&["plan", "list"]).1.matches("of 2 done").count(), 1);
}
