use std::fs;

use serde_json::json;

use super::fake_bd::{Beads, part};

/// What only people with a tracker read.
const WORDS: [&str; 6] = ["beads", "epic bd", "tracker", "bd list", "followed", "tdd-progress"];

#[test]
fn who_has_no_tracker_sees_no_word_of_it_and_no_program_is_started() {
    // The program is there, and so are its issues; only the settings do not name it.
    let beads = Beads::new(&[part("bd-1.1", "bd-1", "open")]);
    let sandbox = &beads.sandbox;
    fs::remove_file(sandbox.root().join("steadfast.toml")).unwrap();
    fs::create_dir(sandbox.root().join(".beads")).unwrap();
    sandbox.write(".beads/issues.jsonl", format!("{}\n", part("bd-1.1", "bd-1", "open")));

    let mut seen = beads.begin("me");
    for arguments in [
        &["task", "add", "Write it"][..],
        &["task", "list"],
        &["task", "ready", "--json"],
        &["task", "next"],
        &["task", "start", "1"],
        &["plan", "status"],
        &["status"],
        &["task", "block", "1", "--why", "no key"],
        &["task", "unblock", "1"],
        &["task", "done", "1"],
        &["plan", "export"],
        &["doctor"],
        &["log"],
    ] {
        seen.push_str(&beads.said(arguments));
    }
    seen.push_str(&sandbox.hook("UserPromptSubmit", "me", json!({"prompt": "Go on with the tasks."})));
    seen.push_str(&beads.stop("me", "Done.").to_string());
    for word in WORDS {
        let line = seen.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "{word}");
    }
    assert_eq!(beads.calls(), Vec::<String>::new());
}
