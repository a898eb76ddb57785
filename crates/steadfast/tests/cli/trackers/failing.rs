//! The program is missing, slow, locked, of another version or says something else: nobody is held, and nothing is lost.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::fake_bd::{Beads, part};

fn two() -> Vec<Value> {
    vec![part("bd-1.1", "bd-1", "open"), part("bd-1.2", "bd-1", "open")]
}

/// What a hook has, and what a loaded machine adds to starting one.
const BUDGET: Duration = Duration::from_millis(1_500);

#[test]
fn a_stop_is_let_go_with_a_note_when_nobody_knows_how_the_tasks_stand() {
    let beads = Beads::new(&two());
    beads.begin("me");
    assert_eq!(beads.stop("me", "Done.")["decision"], "block");
    for (mode, why) in [
        ("slow", "`bd list` gave no answer within"),
        ("hangs", "`bd list` gave no answer within"),
        ("rubbish", "`bd list` gave no list of issues: Welcome to beads."),
        ("silent", "`bd list` gave no list of issues: nothing was said"),
        ("object", "`bd list` gave no list of issues: {\"ok\": true}"),
        ("fails", "`bd list` failed: Error: no beads database found"),
        ("locked", "`bd list` failed: Error: database is locked"),
    ] {
        beads.mode(mode);
        let began = Instant::now();
        let released = beads.stop("me", "Done.");
        assert!(began.elapsed() < BUDGET, "{mode}: {:?}", began.elapsed());
        assert_ne!(released["decision"], "block", "{mode}: {released}");
        let note = released["systemMessage"].as_str().unwrap_or_default();
        assert!(note.contains("epic bd-1 of beads could not be read") && note.contains(why), "{mode}: {note}");
    }
    std::fs::remove_file(beads.file("bd")).unwrap();
    let released = beads.stop("me", "Done.");
    let note = released["systemMessage"].as_str().unwrap();
    assert!(note.contains("`bd` and `br` are not on the PATH"), "{note}");
    // Nothing is lost: the tasks are as they were last.
    assert_eq!(beads.tasks(), ["bd-1.1 pending", "bd-1.2 pending"]);
}

#[test]
fn a_command_says_why_and_goes_on_with_what_is_known() {
    let beads = Beads::new(&two());
    beads.tasks();
    beads.mode("fails");
    let said = beads.said(&["task", "ready"]);
    assert!(said.contains("bd-1.1"), "{said}");
    let why = "epic bd-1 of beads could not be read: `bd list` failed: Error: no beads database found\n";
    assert!(said.contains(why), "{said}");
    assert_eq!(said.matches("could not be read").count(), 1);
}

#[test]
fn doctor_says_that_a_list_cannot_be_read() {
    let beads = Beads::new(&two());
    assert!(!beads.said(&["doctor"]).contains("beads"));
    beads.mode("fails");
    let said = beads.said(&["doctor"]);
    assert!(said.contains("epic bd-1 of beads could not be read: `bd list` failed: Error: no beads"), "{said}");
}

#[test]
fn what_could_not_be_told_is_told_the_next_time() {
    let beads = Beads::new(&two());
    beads.begin("me");
    beads.mode("refuses-writes");
    let said = beads.said(&["task", "done", "bd-1.1"]);
    let line = "epic bd-1 of beads: 1 status is not told to it yet, and will be the next time \
                (bd-1.1: `bd close` failed: Error: read-only file system)\n";
    assert!(said.contains(line), "{said}");
    assert_eq!(beads.status("bd-1.1"), "open");
    // What is read meanwhile does not undo it.
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 pending"]);
    let refused = beads.stop("me", "Done.");
    assert!(refused["reason"].as_str().unwrap().contains("not told to it yet"), "{refused}");
    beads.mode("");
    beads.calls();
    let refused = beads.stop("me", "Done.");
    assert_eq!(refused["decision"], "block");
    assert_eq!(beads.writes(), ["close --reason=claimed by steadfast: it has no check --json -- bd-1.1"]);
    assert_eq!((beads.status("bd-1.1").as_str(), beads.status("bd-1.2").as_str()), ("closed", "open"));
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 pending"]);
    assert_eq!(beads.writes(), Vec::<String>::new());
}

#[test]
fn a_list_that_is_empty_all_at_once_ends_nothing() {
    let beads = Beads::new(&two());
    beads.begin("me");
    beads.put(&[]);
    let released = beads.stop("me", "Done.");
    let note = released["systemMessage"].as_str().unwrap();
    assert!(note.contains("no task is in it any more, and 2 were open"), "{note}");
    beads.put(&two());
    assert_eq!(beads.stop("me", "Done.")["decision"], "block");
}

#[test]
fn an_epic_of_two_thousand_issues_is_looked_at_within_the_budget_of_a_stop() {
    let mut issues: Vec<Value> = (1..=2_000)
        .map(|number| {
            let mut issue = part(&format!("bd-1.{number}"), "bd-1", if number % 3 == 0 { "closed" } else { "open" });
            issue["description"] = "What is to be done, and why, in some words. ".repeat(20).into();
            issue
        })
        .collect();
    let beads = Beads::new(&issues);
    let settings = "[ledger]\nsource = \"beads\"\nepic = \"bd-1\"\n[stop]\nmax_idle = 100\n";
    beads.sandbox.write("steadfast.toml", settings);
    assert_eq!(beads.tasks().len(), 2_000);
    let began = Instant::now();
    beads.tasks();
    let reading = began.elapsed();
    beads.begin("me");
    let (mut took, mut held) = (Vec::new(), 0);
    for round in 0..4 {
        issues[round]["status"] = "closed".into();
        beads.put(&issues);
        for what in ["changed", "unchanged"] {
            let began = Instant::now();
            let said = beads.stop("me", "Done.");
            took.push((what, began.elapsed()));
            held += usize::from(said["decision"] == "block");
        }
    }
    eprintln!("a stop with 2,000 issues took {took:?}, reading them {reading:?}");
    assert!(took.iter().all(|(_, took)| *took < BUDGET), "{took:?}");
    // Where reading them takes longer than a stop may, nobody is held.
    let is_quick = reading < Duration::from_millis(250);
    assert!(held == took.len() || !is_quick, "{held} of {} were held, reading took {reading:?}", took.len());
}
