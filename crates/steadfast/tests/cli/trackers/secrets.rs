//! What is told to a tracker, and kept of what it says, holds no secret.

use std::fs;

use super::fake_bd::{Beads, part};
use crate::secrets::{found_in, kinds};

#[test]
fn no_secret_goes_to_a_tracker_or_is_kept_of_it() {
    let (said, secrets): (Vec<String>, Vec<String>) =
        kinds().into_iter().map(|(said, secret)| (said.replace("{}", &secret), secret)).unzip();
    let issues = said.iter().enumerate().map(|(number, said)| {
        let mut issue = part(&format!("bd-1.{}", number + 1), "bd-1", "open");
        issue["description"] = said.clone().into();
        issue["title"] = format!("Work with {said}").into();
        issue
    });
    let beads = Beads::new(&issues.collect::<Vec<_>>());
    beads.begin("tracker-secrets");
    let mut shown = String::new();
    for (number, said) in said.iter().enumerate().step_by(5) {
        let id = format!("bd-1.{}", number + 1);
        shown += &beads.said(&["task", "start", &id]);
        shown += &beads.said(&["task", "note", &id, said]);
        shown += &beads.said(&["task", "block", &id, "--why", said]);
    }
    shown += &beads.said(&["task", "done", "bd-1.2", "--force"]);
    shown += &beads.said(&["task", "list", "--json"]);
    shown += &beads.stop("tracker-secrets", &said.join("\n")).to_string();
    let told = fs::read_to_string(beads.file("calls")).unwrap();
    assert!(told.contains("[redacted:"), "{told}");
    let seen = secrets.iter().filter(|secret| shown.contains(secret.as_str()) || told.contains(secret.as_str()));
    assert_eq!(seen.collect::<Vec<_>>(), Vec::<&String>::new());
    beads.sandbox.wait_until_quiet();
    assert_eq!(found_in(&beads.sandbox.place().state, &secrets), Vec::<String>::new());
}
