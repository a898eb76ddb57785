//! The repositories in which the examples of the help run.

use std::fs;

use serde_json::json;

use crate::run::git;
use crate::sandbox::{Sandbox, write_program};
use crate::transcript::session;

const SPEC: &str = "\
# Greetings

Write greetings that `cat hello.txt world.txt` prints, for readers of the manual.

## Constraints
- do not touch `legacy/`
- no new dependencies

## Success criteria
- `test -s hello.txt` exits with 0

## Phase 1: Hello

- [ ] 1.1 Write hello
  - files: `hello.txt`
  - verify: `test -s hello.txt`

## Phase 2: World

- [ ] 2.1 Write world
  - files: `world.txt`
  - verify: `test -s world.txt`
";

/// What takes a loop from its start to its review, step by step.
const TO_REVIEW: [(&str, &[&str]); 10] = [
    ("intent", &["loop", "start", "SPEC.md"]),
    ("", &["loop", "advance", "shape"]),
    ("shape", &["loop", "shape", "SPEC.md"]),
    ("", &["loop", "advance", "decompose"]),
    ("", &["plan", "load", "SPEC.md"]),
    ("loop", &["loop", "advance", "executing"]),
    ("", &["task", "done", "1.0", "--force"]),
    ("", &["task", "done", "1.1"]),
    ("", &["task", "done", "2.0", "--force"]),
    ("", &["task", "done", "2.1"]),
];

/// The repository of a scene. `repository` has one commit and a host to find; in every other scene, a human ran `init`.
pub(super) fn prepared(scene: &str) -> Sandbox {
    let sandbox = if scene == "repository" { Sandbox::bare() } else { Sandbox::new() };
    commit(&sandbox);
    match scene {
        "repository" => write_program(&sandbox.binary().with_file_name("claude"), "echo '2.1.0 (Claude Code)'"),
        "set-up" => simulated(&sandbox),
        "host" => {
            write_program(&sandbox.binary().with_file_name("claude"), "echo 'How can I help?'");
            fs::create_dir_all(sandbox.home().join(".claude")).unwrap();
            // Without it, the proxy would need the certificates of this machine.
            let settings = json!({"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}});
            fs::write(sandbox.home().join(".claude/settings.json"), settings.to_string()).unwrap();
        }
        "plan" => loaded(&sandbox),
        "blocked" => {
            loaded(&sandbox);
            sandbox.ok(&["task", "block", "2.1", "--why", "the API key is missing"]);
        }
        "checking" => checking(&sandbox),
        "draft" => {
            sandbox.ok(&["plan", "propose", "SPEC.md"]);
        }
        "moved" => moved(&sandbox),
        "run" => {
            simulated(&sandbox);
            sandbox.ok(&["run", "SPEC.md"]);
        }
        "session" => talked(&sandbox),
        "learning" => {
            let words = ["learn", "add", "The tests need a database"];
            assert!(sandbox.as_agent("me", &words).status.success());
        }
        "transcript" => recorded(&sandbox),
        "unclear" => {
            assert_eq!(sandbox.run(&["loop", "start", "Make the app faster."]).status.code(), Some(2));
        }
        "intent" | "shape" | "loop" | "review" | "finding" | "gate" | "objection" => looped(&sandbox, scene),
        _ => panic!("no scene `{scene}`"),
    }
    sandbox
}

fn commit(sandbox: &Sandbox) {
    for folder in ["docs", "legacy"] {
        fs::create_dir(sandbox.root().join(folder)).unwrap();
    }
    for (file, text) in
        [("SPEC.md", SPEC), ("README.md", "Greetings\n"), ("docs/api.md", "An API\n"), ("legacy/old.txt", "old\n")]
    {
        sandbox.write(file, text);
    }
    for file in ["hello.txt", "world.txt"] {
        sandbox.write(file, file);
    }
    git(sandbox, &["add", "."]);
    git(sandbox, &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "A spec"]);
}

/// The agents of runs and reviews are simulated.
fn simulated(sandbox: &Sandbox) {
    sandbox.set_own("[run]\nhost = \"sim\"\narguments = [\"--max-turns\", \"30\"]\n");
}

/// The plan is loaded, and task 2.1 comes next.
fn loaded(sandbox: &Sandbox) {
    sandbox.ok(&["plan", "load", "SPEC.md"]);
    for words in [&["1.0", "--force"][..], &["1.1"], &["2.0", "--force"]] {
        sandbox.ok(&[&["task", "done"], words].concat());
    }
}

/// The check of task 2.1 runs, and passes soon.
fn checking(sandbox: &Sandbox) {
    let check = "test -s world.txt";
    sandbox.write("SPEC.md", SPEC.replace(check, &format!("{check} && until test -e go; do sleep 0.05; done")));
    loaded(sandbox);
    assert_eq!(sandbox.run(&["task", "done", "2.1", "--wait", "0"]).status.code(), Some(1));
    sandbox.write("go", "");
}

/// An agent has changed a protected file while the plan gate was closed.
fn moved(sandbox: &Sandbox) {
    sandbox.write("steadfast.toml", "[approval]\nprotected = [\"docs/api.md\"]\n");
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    assert!(sandbox.as_agent("me", &["plan", "propose", "SPEC.md", "--path", "PLAN.md"]).status.success());
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "sh write.sh"},
        "tool_response": {}});
    sandbox.hook("PreToolUse", "me", call.clone());
    sandbox.write("docs/api.md", "Another API\n");
    sandbox.hook("PostToolUse", "me", call);
}

/// A session with a goal and a constraint, of which a call was refused.
fn talked(sandbox: &Sandbox) {
    sandbox.hook("SessionStart", "me", json!({"source": "startup"}));
    sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Fix hello.txt, but don't commit."}));
    let call = json!({"tool_name": "Bash", "tool_use_id": "t-1", "tool_input": {"command": "git commit -m x"}});
    assert!(sandbox.hook("PreToolUse", "me", call).contains("\"deny\""));
}

/// A session of Claude Code, where the host keeps it and in the repository.
fn recorded(sandbox: &Sandbox) {
    let root = fs::canonicalize(sandbox.root()).unwrap().display().to_string();
    let named: String = root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = sandbox.home().join(".claude/projects").join(named);
    let transcript = session(&root, &["ls", "cargo test"]);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("s-1.jsonl"), &transcript).unwrap();
    sandbox.write("session.jsonl", transcript);
}

/// A loop at the stage that the scene names, and behind it what reviews and the gate say.
fn looped(sandbox: &Sandbox, scene: &str) {
    simulated(sandbox);
    for (reached, words) in TO_REVIEW {
        sandbox.ok(words);
        if reached == scene {
            return;
        }
    }
    match scene {
        "finding" => sandbox.write("hello.txt", "hello [sim:blocker]\n"),
        "objection" => sandbox.write("legacy/new.txt", "new\n"),
        _ => sandbox.write("hello.txt", "hello\n"),
    }
    if scene != "finding" {
        sandbox.ok(&["task", "check"]);
    }
    sandbox.ok(&["loop", "advance", "review"]);
    if scene == "review" {
        return;
    }
    let reviewed = sandbox.run(&["loop", "review"]);
    assert!(reviewed.status.success() || scene == "finding", "{reviewed:?}");
    if scene == "objection" {
        let gate = sandbox.run(&["loop", "gate"]);
        assert_eq!(gate.status.code(), Some(2), "{gate:?}");
    }
}
