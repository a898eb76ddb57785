//! No secret is kept or shown, whatever text it came in.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::run::git;
use crate::sandbox::Sandbox;

mod kinds;
mod others;

pub(crate) use kinds::kinds;

/// What the redaction knowingly misses in lower case and unquoted (`redact/tests/misses.rs`) is none of these.
#[test]
fn each_of_them_is_one_that_is_known() {
    assert_eq!(kinds().len(), 36);
    for (said, secret) in kinds() {
        let text = said.replace("{}", &secret);
        assert!(!steadfast_redact::redact(&text).contains(&secret), "{text}");
    }
}

/// Every file below a folder in which one of them stands, with which.
pub(crate) fn found_in(folder: &Path, secrets: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in walkdir(folder) {
        let bytes = fs::read(&entry).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let held = secrets.iter().filter(|secret| text.contains(secret.as_str()));
        found.extend(held.map(|secret| format!("{}: {secret}", entry.display())));
    }
    found
}

fn walkdir(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { files.extend(walkdir(&path)) } else { files.push(path) }
    }
    files
}

/// The ledger in one file: a database that nobody closed has the last writes beside it.
fn settle(sandbox: &Sandbox) {
    sandbox.ok(&["status"]);
    sandbox.wait_until_quiet();
}

/// Each command once with each of them: what is kept is searched once at the end, what is shown each time.
#[test]
fn through_no_text_of_a_command_or_an_event_comes_a_secret() {
    let sandbox = Sandbox::new();
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "--allow-empty", "-m", "One"]);
    sandbox.ok(&["task", "add", "The first"]);
    let secrets: Vec<String> = kinds().into_iter().map(|(_, secret)| secret).collect();
    let all: Vec<String> = kinds().into_iter().map(|(said, secret)| said.replace("{}", &secret)).collect();
    let mut shown = String::new();
    // Four at once: what a text of ours may be long is longer than that, and 36 calls of each command take a minute.
    for (number, some) in all.chunks(4).enumerate() {
        let said = some.join("\n");
        let said = said.as_str();
        let session = format!("s-{number}");
        shown += &sandbox.hook("SessionStart", &session, json!({"source": "startup"}));
        shown += &sandbox.hook(
            "UserPromptSubmit",
            &session,
            json!({"prompt": format!("Do the tasks. Don't commit. {said}")}),
        );
        for (event, more) in [("PreToolUse", json!({})), ("PostToolUse", json!({"tool_response": {"stdout": said}}))] {
            let mut call = json!({"tool_name": "Bash", "tool_use_id": format!("t-{number}"), "tool_input": {"command": format!("git commit -m '{said}'; {said}")}});
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            shown += &sandbox.hook(event, &session, call);
        }
        let failed = json!({"tool_name": "Bash", "tool_use_id": format!("u-{number}"), "tool_input": {"command": said}, "error": said});
        shown += &sandbox.hook("PostToolUseFailure", &session, failed);
        shown += &sandbox.hook("Stop", &session, json!({"last_assistant_message": said, "stop_hook_active": false}));
        let title = format!("Task {number} {}", some.join(" "));
        for words in [
            vec!["task", "add", &title],
            vec!["decide", said, "--why", said],
            vec!["learn", "add", said, "--why", said],
            vec!["goal", "set", said],
            vec!["goal", "forbid", &format!("Don't push. {said}")],
            vec!["recall", said],
        ] {
            let mut words = words;
            if words[0] == "goal" {
                words.extend(["--session", &session]);
            }
            shown += &told(&sandbox, &words);
        }
        let id = format!("{}", number + 2);
        shown += &told(&sandbox, &["task", "note", &id, said]);
        shown += &told(&sandbox, &["task", "start", &id]);
        shown += &told(&sandbox, &["task", "block", &id, "--why", said]);
        shown += &sandbox.hook("SessionEnd", &session, json!({"reason": "other"}));
    }
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["task", "list"],
        &["task", "list", "--json"],
        &["log"],
        &["why"],
        &["learn", "list", "--json"],
        &["plan", "show"],
        &["plan", "export", "--to", "json"],
        &["plan", "export", "--to", "beads"],
    ] {
        shown += &told(&sandbox, words);
    }
    settle(&sandbox);
    assert!(shown.contains("[redacted:"));
    let seen: Vec<&String> = secrets.iter().filter(|secret| shown.contains(secret.as_str())).collect();
    assert_eq!(seen, Vec::<&String>::new());
    assert_eq!(found_in(&sandbox.place().state, &secrets), Vec::<String>::new());
    assert_eq!(found_in(&sandbox.root().join(".steadfast"), &secrets), Vec::<String>::new());
}

/// A plan's every text, and the command of a check: that is kept where it is run from, and nowhere else.
#[test]
fn of_a_plan_nothing_is_kept_but_the_command_that_is_run() {
    let sandbox = Sandbox::new();
    let mut secrets = Vec::new();
    let mut tasks = String::new();
    for (number, (said, secret)) in kinds().into_iter().enumerate() {
        let text = said.replace("{}", &secret);
        let quoted = text.replace('\'', "\"");
        tasks += &format!(
            "- [ ] 1.{} Say {text}\n  - verify: `: '{quoted}'; test -f ok.txt`\n  - notes: {text}\n",
            number + 1
        );
        secrets.push(secret);
    }
    let criteria: String = kinds().iter().map(|(said, secret)| format!("- {}\n", said.replace("{}", secret))).collect();
    let spec = format!(
        "# F\n\n{}\n\n## Constraints\n{criteria}\n## Success criteria\n{criteria}\n## Phase 1: P\n\n{tasks}",
        secrets[2]
    );
    fs::write(sandbox.root().join("SPEC.md"), spec).unwrap();
    git(&sandbox, &["-c", "user.name=U", "-c", "user.email=u@u", "commit", "--quiet", "--allow-empty", "-m", "One"]);
    let linted = told(&sandbox, &["spec", "lint", "SPEC.md"]);
    assert!(linted.contains("warning[secret]: the check of `1.1` contains a secret"), "{linted}");
    let mut shown = linted + &told(&sandbox, &["spec", "compile", "SPEC.md", "--json"]);
    shown += &told(&sandbox, &["plan", "load", "SPEC.md"]);
    shown += &told(&sandbox, &["task", "start", "1.0"]);
    shown += &told(&sandbox, &["decide", "It stays.", "--why", "It is good."]);
    for id in ["1.0", "1.1", "1.2"] {
        shown += &told(&sandbox, &["task", "start", id]);
        shown += &told(&sandbox, &["task", "done", id]);
    }
    fs::write(sandbox.root().join("ok.txt"), "").unwrap();
    shown += &told(&sandbox, &["task", "done", "1.1"]);
    for words in [
        &["task", "list", "--json"][..],
        &["task", "show", "1.1"],
        &["task", "show", "1.2", "--json"],
        &["plan", "show"],
        &["plan", "show", "--json"],
        &["status", "--json"],
        &["plan", "export", "--to", "markdown"],
        &["plan", "export", "--to", "beads"],
    ] {
        shown += &told(&sandbox, words);
    }
    let ran = told(&sandbox, &["task", "show", "1.1"]);
    assert!(ran.contains("executed"), "the command ran as it was given: {ran}");
    // Loaded again it is the same plan, though its texts are kept otherwise than they are written.
    let again = told(&sandbox, &["plan", "load", "SPEC.md"]);
    assert!(again.contains("is already loaded and unchanged"), "{again}");
    shown += &sandbox.hook("SessionStart", "s-1", json!({"source": "startup"}));
    shown += &sandbox.hook("UserPromptSubmit", "s-1", json!({"prompt": "Do the tasks."}));
    shown += &sandbox.hook("Stop", "s-1", json!({"last_assistant_message": "Later.", "stop_hook_active": false}));
    settle(&sandbox);
    let seen: Vec<&String> = secrets.iter().filter(|secret| shown.contains(secret.as_str())).collect();
    assert_eq!(seen, Vec::<&String>::new());
    let database = |line: &&String| !line.contains("state.db");
    let kept = found_in(&sandbox.place().state, &secrets);
    assert_eq!(kept.iter().filter(database).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(found_in(&sandbox.root().join(".steadfast"), &secrets), Vec::<String>::new());
    // In the database they stand in the two columns that are executed and compared.
    let dump = Command::new("sqlite3").arg(sandbox.place().state.join("state.db")).arg(".dump").output();
    if let Ok(dump) = dump.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()) {
        for line in dump.lines().filter(|line| secrets.iter().any(|secret| line.contains(secret.as_str()))) {
            let table = line.split_whitespace().nth(2).unwrap_or_default();
            assert!(table == "task" || table.starts_with("frozen"), "{line}");
        }
    }
}

/// What a command says on both channels.
fn told(sandbox: &Sandbox, words: &[&str]) -> String {
    let output = sandbox.run(words);
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
