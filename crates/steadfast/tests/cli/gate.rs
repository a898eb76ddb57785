//! The plan gate from the command line: closed, proposed to, opened by a human and nobody else.

mod approving;
mod doctor;
mod failing;
mod links;
mod loading;
mod proposing;
mod starting;
mod telling;
mod timing;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use steadfast_model::{STATE_VERSION, State};

use crate::sandbox::{Sandbox, as_just_now, check_session};

pub(crate) const SPEC: &str = "# Sign in with a code

People sign in with a code.

## Constraints
- The old endpoint stays.

## Phase 1: Codes
### 1.1 Make and check codes
- Files: src/code.rs
- Verify: `test -f src/code.rs`
";

impl Sandbox {
    /// How the plan stands, to a human.
    fn position(&self) -> Value {
        serde_json::from_str(&self.ok(&["plan", "status", "--json"])).unwrap()
    }

    /// Whether it is approved, and whether the gate is closed.
    fn gate(&self) -> (String, String) {
        let position = self.position();
        let word = |key: &str| position[key].as_str().unwrap().to_owned();
        (word("approval"), word("gate"))
    }

    /// What a session's agent hears before it writes that file.
    fn write_tool(&self, session: &str, file: &str) -> String {
        // The same call twice is answered the same.
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let (path, id) = (self.root().join(file), format!("w-{}", CALLS.fetch_add(1, Ordering::Relaxed)));
        let input = json!({"file_path": path, "content": "x"});
        self.hook("PreToolUse", session, json!({"tool_name": "Write", "tool_use_id": id, "tool_input": input}))
    }

    /// Where markers stand: in the state, and beside it.
    fn markers(&self) -> [PathBuf; 2] {
        let state = self.place().state;
        [state.join("gates"), state.with_extension("gates")]
    }

    /// Takes all markers away, as a program could that knows of them.
    fn unmark(&self) {
        for folder in self.markers() {
            fs::remove_dir_all(folder).unwrap();
        }
    }

    /// Damages all markers.
    fn damage(&self) {
        for marker in self.markers().iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
            fs::write(marker.unwrap().path(), "half").unwrap();
        }
    }

    /// The beginning of the hash of what is loaded, or drafted.
    fn short(&self) -> String {
        self.position()["hash"].as_str().unwrap()[..8].to_owned()
    }

    fn state(&self, session: &str) -> State {
        check_session(&self.session(session))
    }
}

fn with_spec() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("SPEC.md", SPEC);
    sandbox
}

/// A spec that the agent of session `me` proposed.
fn proposed() -> Sandbox {
    let sandbox = with_spec();
    let (code, said) = sandbox.agent(&["plan", "propose", "SPEC.md", "--path", "PLAN.md"]);
    assert_eq!(code, 0, "{said}");
    sandbox
}

fn is(approval: &str, gate: &str) -> (String, String) {
    (approval.to_owned(), gate.to_owned())
}

/// Without times, which are never the same twice, and hashes.
fn plain(text: &str) -> String {
    let is_time = |word: &str| word.len() > 19 && word.starts_with("20") && word.as_bytes()[10] == b'T';
    let is_hash = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = |word: &str| {
        let bare = word.trim_matches(['`', ',', ';', ':', '.', '?']);
        match bare {
            _ if is_time(bare) => word.replace(bare, "TIME"),
            _ if is_hash(bare) => word.replace(bare, "HASH8"),
            _ => word.to_owned(),
        }
    };
    let line = |line: &str| line.trim_end().split(' ').map(word).collect::<Vec<_>>().join(" ");
    let said = as_just_now(text).lines().map(line).collect::<Vec<_>>().join("\n");
    // `2026-11-20 14:05 UTC`
    match said.find(" UTC").and_then(|end| Some((end, end.checked_sub("2026-11-20 14:05".len())?))) {
        Some((end, start)) if said[start..].starts_with("20") => format!("{}TIME{}", &said[..start], &said[end + 4..]),
        _ => said,
    }
}

#[test]
fn a_lock_in_a_terminal_is_the_checkouts_and_expires() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.ok(&["plan", "status"]), @"no plan is loaded or drafted; `steadfast plan load SPEC.md` loads one");
    let nothing = json!({"plan": null, "hash": null, "approval": "not_required", "gate": "open", "open": 0, "done": 0,
        "blocked": 0});
    assert_eq!(sandbox.position(), nothing);
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "lock"])), @r"
    the plan gate of this checkout is closed
    protected until a human approves a plan: .tdd-progress.md
    the gate opens by itself at TIME
    `steadfast plan propose FILE` stores a draft for the human to read
    ");
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "status"])), @r"
    the plan gate of this checkout is closed until TIME at the latest: .tdd-progress.md cannot be written
    no plan is loaded or drafted; `steadfast plan propose FILE` stores a draft for a human to read
    ");
    let expected = json!({"plan": null, "hash": null, "approval": "not_required", "gate": "locked", "open": 0, "done": 0,
        "blocked": 0});
    assert_eq!(sandbox.position(), expected);
    assert!(sandbox.ok(&["plan", "lock"]).starts_with("the plan gate of this checkout was already closed\n"));
    for session in ["one", "other"] {
        assert!(sandbox.write_tool(session, ".tdd-progress.md").contains("\"deny\""), "{session}");
        assert!(!sandbox.write_tool(session, "src/a.rs").contains("\"deny\""), "{session}");
    }
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "unlock"])), @r"
    the plan gate of this checkout is open; no plan is approved
    ");
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "unlock"])), @r"
    the plan gate is already open
    ");
    assert!(!sandbox.write_tool("one", ".tdd-progress.md").contains("\"deny\""));
    assert_eq!(sandbox.state("one").gate, None);
}

#[test]
fn a_lock_in_an_agents_call_is_its_sessions() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(plain(&sandbox.agent(&["plan", "lock", "--why", "research\nfirst"]).1), @r"
    the plan gate of session me is closed
    protected until a human approves a plan: .tdd-progress.md
    `steadfast plan propose FILE` stores a draft for the human to read
    ");
    assert_eq!(sandbox.state("me").gate.map(|gate| gate.expires_at), Some(None));
    assert!(sandbox.write_tool("me", ".tdd-progress.md").contains("\"deny\""));
    assert!(!sandbox.write_tool("other", ".tdd-progress.md").contains("\"deny\""));
    assert_eq!(sandbox.gate(), is("not_required", "locked"));
    let other = sandbox.as_agent("other", &["plan", "status", "--json"]).stdout;
    assert_eq!(
        serde_json::from_slice::<Value>(&other).unwrap()["gate"],
        "open",
        "it stands before the other session not"
    );
}

#[test]
fn a_lock_of_zero_hours_stays_until_it_is_opened() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["config", "set", "approval.expires_hours", "0"]);
    assert!(!sandbox.ok(&["plan", "lock"]).contains("opens by itself"));
}

#[test]
fn only_a_human_opens_it() {
    let sandbox = proposed();
    for command in [&["plan", "approve"][..], &["plan", "approve", "--yes"], &["plan", "reject"], &["plan", "unlock"]] {
        let (code, said) = sandbox.agent(command);
        assert_eq!(code, 2, "{said}");
        assert!(said.starts_with(&format!("error: only a human can run `steadfast plan {}`", command[1])), "{said}");
    }
    assert_eq!(sandbox.gate(), is("required", "locked"));
}

#[test]
fn taking_the_marker_away_is_no_exit() {
    let sandbox = proposed();
    sandbox.unmark();
    assert_eq!(sandbox.position()["gate"], "locked");
    insta::assert_snapshot!(plain(&sandbox.ok(&["plan", "status"])), @r"
    the plan gate of session me is closed: PLAN.md cannot be written (its marker was removed, but it stays closed)
    plan HASH8 is not approved: Sign in with a code, 2 tasks, for PLAN.md
    `steadfast plan show --draft` shows it
    ");
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 2);
    sandbox.ok(&["plan", "unlock"]);
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 0);
}

#[test]
fn a_marker_that_was_written_again_still_waits_for_the_same_yes() {
    let sandbox = proposed();
    sandbox.unmark();
    assert!(sandbox.write_tool("me", ".tdd-progress.md").contains("\"deny\""));
    assert!(sandbox.place().state.join("gates").is_dir(), "the hook wrote it again");
    sandbox.ok(&["plan", "approve", "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
    assert!(!sandbox.write_tool("me", ".tdd-progress.md").contains("\"deny\""));
}

#[test]
fn a_gate_is_remembered_by_the_journal_alone() {
    let sandbox = proposed();
    sandbox.unmark();
    fs::remove_file(sandbox.session("me").dir().join("state")).unwrap();
    assert_eq!(sandbox.position()["gate"], "locked");
}

#[test]
fn a_marker_that_cannot_be_read_is_a_closed_gate() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["plan", "lock"]);
    sandbox.damage();
    assert_eq!(sandbox.position()["gate"], "locked");
    assert!(sandbox.write_tool("one", ".tdd-progress.md").contains("\"deny\""));
    sandbox.ok(&["plan", "unlock"]);
    assert_eq!(sandbox.gate(), is("not_required", "open"));
}

#[test]
fn a_state_that_was_deleted_opens_no_gate_and_approves_nothing() {
    let sandbox = proposed();
    fs::remove_dir_all(sandbox.place().state).unwrap();
    assert!(sandbox.write_tool("me", "PLAN.md").contains("\"deny\""));
    assert_eq!(sandbox.position()["gate"], "locked");
    assert_eq!(sandbox.fails(&["plan", "approve", "--yes"]).0, 1, "the draft is gone, too");
    sandbox.ok(&["plan", "unlock"]);
    assert!(!sandbox.write_tool("me", "PLAN.md").contains("\"deny\""));
}

/// What is left when somebody deletes all that Steadfast knows: no approval either.
#[test]
fn with_the_whole_state_gone_nothing_is_approved_and_doctor_says_so() {
    let sandbox = proposed();
    sandbox.unmark();
    fs::remove_dir_all(sandbox.place().state).unwrap();
    assert_eq!(sandbox.write_tool("me", "PLAN.md"), "", "hooks act only where there is state");
    assert!(sandbox.fails(&["plan", "status"]).1.starts_with("error: steadfast is not set up for `/repo`"));
    let report: Value = serde_json::from_slice(&sandbox.run(&["doctor", "--json"]).stdout).unwrap();
    assert_eq!((&report["ok"], &report["findings"][0]["code"]), (&json!(false), &json!("not-set-up")));
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 0);
    assert_eq!(sandbox.gate(), is("not_required", "open"));
}

/// Puts back the state as it was before something was done.
fn undone(sandbox: &Sandbox, done: impl Fn()) {
    let (state, backup) = (sandbox.place().state, sandbox.home().join("backup"));
    let copy = |from: &Path, to: &Path| {
        assert!(std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
    };
    copy(&state, &backup);
    done();
    fs::remove_dir_all(&state).unwrap();
    copy(&backup, &state);
}

#[test]
fn a_state_from_before_the_yes_is_closed_again() {
    let sandbox = proposed();
    undone(&sandbox, || drop(sandbox.ok(&["plan", "approve", "--yes"])));
    assert_eq!(sandbox.gate(), is("required", "locked"));
    assert!(sandbox.write_tool("me", "PLAN.md").contains("\"deny\""));
}

#[test]
fn a_state_from_before_the_lock_opens_nothing() {
    let sandbox = with_spec();
    undone(&sandbox, || drop(sandbox.agent(&["plan", "propose", "SPEC.md"])));
    assert_eq!(sandbox.position()["gate"], "locked");
    assert!(sandbox.write_tool("me", "SPEC.md").contains("\"deny\""));
    assert_eq!(sandbox.agent(&["plan", "load", "SPEC.md"]).0, 2);
}

#[test]
fn an_uninstall_keeps_what_was_approved_and_what_waits() {
    let sandbox = proposed();
    sandbox.ok(&["plan", "approve", "--yes"]);
    sandbox.ok(&["uninstall"]);
    sandbox.ok(&["init", "--host", "claude", "--yes"]);
    assert_eq!(sandbox.gate(), is("approved", "open"));
}

#[test]
fn a_gate_of_another_worktree_is_none_here() {
    let sandbox = proposed();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(sandbox.root());
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    git(&["worktree", "add", "--quiet", "../side"]);
    let mut command = sandbox.command();
    command.args(["plan", "status", "--json"]).current_dir(sandbox.root().join("../side"));
    let there: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(there["gate"], "open", "{there}");
}

/// What an older binary does at a gate: the state says by its number that it could misread it. Here the number is one that
/// this binary does not know, which takes the same way; `cargo xtask faults` has real ones beside each other.
#[test]
fn a_binary_that_does_not_know_the_state_denies_at_a_closed_gate() {
    let sandbox = proposed();
    let files = sandbox.session("me");
    assert_eq!(sandbox.set_version("me", STATE_VERSION + 1), 2, "the number of a session behind a gate");
    let journal = fs::read(files.dir().join("journal")).unwrap();
    let said = sandbox.write_tool("me", "PLAN.md");
    assert!(said.contains("\"permissionDecision\":\"deny\"") && said.contains("The plan is not approved."), "{said}");
    // What it cannot look at it does not let through either.
    assert!(sandbox.write_tool("me", "notes.md").contains("\"permissionDecision\":\"deny\""));
    assert!(!sandbox.stop_is_refused("me"));
    assert_eq!(fs::read(files.dir().join("journal")).unwrap(), journal, "nothing is written over");
    // Another session, which has no gate before it, is not held up. Its human hears once that a plan waits.
    let said = sandbox.write_tool("other", "notes.md");
    assert!(said.starts_with(r#"{"systemMessage":"Steadfast: plan "#) && !said.contains("permission"), "{said}");
    assert_eq!(sandbox.write_tool("other", "notes.md"), "");
}
