//! A check that is asked for in a Codex session with a sandbox: the words between us and `codex sandbox`, with programs in
//! its place. What the real one keeps in is in `tests/e2e/sandbox.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp::{Server, complaint, text};
use crate::sandbox::{Sandbox, write_program};

/// Leaves what it was told, and runs the command elsewhere than it was called, as Codex does.
const OBEDIENT: &str = r#"[ "$1 $2 $4" = "sandbox --sandbox-state-json --" ] || exit 64
printf '%s' "$3" > "$0.told"
shift 4
cd /
exec "$@""#;

fn state() -> Value {
    json!({
        "permissionProfile": {"type": "managed", "file_system": {"type": "restricted", "entries": []}},
        "codexLinuxSandboxExe": "/no/such/codex-linux-sandbox",
        "sandboxCwd": "file:///work",
    })
}

struct Session {
    sandbox: Sandbox,
    codex: PathBuf,
}

impl Session {
    /// Of a Codex that is this script, with one task.
    fn with(check: &str, codex: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.ok(&["task", "add", "One", "--verify", check]);
        let path = sandbox.home().join("the codex");
        write_program(&path, codex);
        Self { sandbox, codex: path }
    }

    fn closes(&self, state: &Value, codex: Option<&Path>) -> Value {
        let mut meta = json!({"callId": "call-1", "codex/sandbox-state": state});
        if let Some(codex) = codex {
            meta["codex/sandbox-launcher"] = json!({"codexExecutable": codex});
        }
        let params = json!({"name": "task_done", "arguments": {"id": "1"}, "_meta": meta});
        Server::start(&self.sandbox).ask("tools/call", params)["result"].clone()
    }

    fn told(&self) -> Option<Value> {
        let told = fs::read_to_string(self.codex.with_extension("told")).ok()?;
        Some(serde_json::from_str(&told).unwrap())
    }

    /// The task stays open, and its check did not run.
    fn is_not_run(&self, state: &Value, codex: Option<&Path>) -> String {
        let said = complaint(&self.closes(state, codex));
        assert!(!self.sandbox.root().join("ran").exists(), "{said}");
        let list: Value = serde_json::from_str(&self.sandbox.ok(&["task", "list", "--json"])).unwrap();
        let task = &list["tasks"][0];
        assert_eq!((&task["status"], &task["evidence"]["passed"]), (&json!("pending"), &json!(false)), "{task}");
        self.sandbox.without_paths(said.as_bytes())
    }
}

#[test]
fn the_check_is_started_by_the_codex_of_the_session_with_the_state_it_sent() {
    let session = Session::with("pwd; test -f ./.git/HEAD && touch ran", OBEDIENT);
    let said = text(&session.closes(&state(), Some(&session.codex)));
    assert!(said.starts_with("1 One: done (`pwd; test -f ./.git/HEAD && touch ran` passed in "), "{said}");
    assert!(said.contains(" s; in Codex's sandbox)\n"), "{said}");
    assert_eq!(session.told(), Some(state()));
    assert!(session.sandbox.root().join("ran").exists());
    let list: Value = serde_json::from_str(&session.sandbox.ok(&["task", "list", "--json"])).unwrap();
    assert_eq!(list["tasks"][0]["evidence"]["note"], "in Codex's sandbox");
}

#[test]
fn how_the_check_ends_in_there_is_how_it_ended() {
    let session = Session::with("echo no; exit 42", OBEDIENT);
    let said = complaint(&session.closes(&state(), Some(&session.codex)));
    insta::assert_snapshot!(said, @r"
    error: task `1` stays open: `echo no; exit 42` exited with 42 (in Codex's sandbox)
      last lines of output:
        no

    hint: `steadfast task done 1` runs the check again
    ");
}

#[test]
fn with_full_access_nothing_is_different() {
    let session = Session::with("touch ran", OBEDIENT);
    let said = text(&session.closes(&json!({"permissionProfile": {"type": "disabled"}}), Some(&session.codex)));
    assert!(session.sandbox.root().join("ran").exists() && !said.contains("sandbox"), "{said}");
    assert_eq!(session.told(), None);
}

#[test]
fn a_state_that_codex_refuses_leaves_the_task_open() {
    let session = Session::with(
        "touch ran",
        "echo 'WARNING: no aliases'; echo 'Error: invalid value: missing field' >&2; exit 1",
    );
    insta::assert_snapshot!(session.is_not_run(&json!("?"), Some(&session.codex)), @r"
    error: task `1` stays open: `touch ran` could not be started (Codex's sandbox cannot be applied, so the check was not run: Error: invalid value: missing field)

    hint: a human can run it in a terminal: `steadfast task done 1`
    ");
    // Which is true.
    assert!(session.sandbox.ok(&["task", "done", "1"]).contains("1 One: done"));
}

#[test]
fn without_a_codex_to_apply_it_the_task_stays_open() {
    let session = Session::with("touch ran", "");
    let gone = session.is_not_run(&state(), Some(Path::new("/no/such/codex")));
    assert!(gone.contains("the check was not run: ") && gone.contains("/no/such/codex: not found"), "{gone}");
    // None on the `PATH`.
    let nowhere = session.is_not_run(&state(), None);
    assert!(nowhere.contains("codex: not found"), "{nowhere}");
}

#[test]
fn a_program_that_runs_nothing_is_no_sandbox() {
    for (codex, expected) in [
        ("exit 0", "`codex sandbox` exited with 0 and printed no reason"),
        ("kill -9 $$", "`codex sandbox` ended as Signalled(9)"),
        ("sleep 60", "`codex sandbox` did not respond within 10 s"),
    ] {
        let said = Session::with("touch ran", codex);
        let said = said.is_not_run(&state(), Some(&said.codex));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn what_the_session_may_do_is_no_word_of_the_supervisor_and_no_news_to_the_check() {
    let session = Session::with("ps -o args= -p $PPID > words; printf %s \"$STEADFAST_SANDBOX\" > variable", OBEDIENT);
    text(&session.closes(&state(), Some(&session.codex)));
    let left = |name: &str| fs::read_to_string(session.sandbox.root().join(name)).unwrap();
    let words = left("words");
    assert!(words.contains("steadfast supervise --plan") && !words.contains("permissionProfile"), "{words}");
    assert_eq!(left("variable"), "");
}

#[test]
fn a_state_too_long_to_pass_on_leaves_the_task_open() {
    let session = Session::with("touch ran", OBEDIENT);
    let mut long = state();
    long["more"] = "x".repeat(3 << 20).into();
    let said = complaint(&session.closes(&long, Some(&session.codex)));
    assert!(said.starts_with("error: cannot start the check of task `1`: "), "{said}");
    assert!(!session.sandbox.root().join("ran").exists());
}
