//! The program is missing, slow, locked, of another version or says something else: nobody is held, and nothing is lost.

use serde_json::Value;

use super::fake_bd::{Beads, part};

pub(super) fn two() -> Vec<Value> {
    vec![part("bd-1.1", "bd-1", "open"), part("bd-1.2", "bd-1", "open")]
}

#[test]
fn a_command_says_why_and_goes_on_with_what_is_known() {
    let beads = Beads::new(&two());
    beads.tasks();
    beads.mode("fails");
    let said = beads.said(&["task", "ready"]);
    assert!(said.contains("bd-1.1"), "{said}");
    let why = "cannot read epic bd-1 of beads: `bd list` failed: Error: no beads database found\n";
    assert!(said.contains(why), "{said}");
    assert_eq!(said.matches("cannot read epic").count(), 1);
}

#[test]
fn doctor_says_that_a_list_cannot_be_read() {
    let beads = Beads::new(&two());
    assert!(!beads.said(&["doctor"]).contains("beads"));
    beads.mode("fails");
    let said = beads.said(&["doctor"]);
    assert!(said.contains("cannot read epic bd-1 of beads: `bd list` failed: Error: no beads"), "{said}");
}

#[test]
fn what_could_not_be_told_is_told_the_next_time() {
    let beads = Beads::new(&two());
    beads.begin("me");
    beads.mode("refuses-writes");
    let said = beads.said(&["task", "done", "bd-1.1", "--force"]);
    let line = "epic bd-1 of beads: 1 status is not sent yet; Steadfast tries again the \
                next time (bd-1.1: `bd close` failed: Error: read-only file system)\n";
    assert!(said.contains(line), "{said}");
    assert_eq!(beads.status("bd-1.1"), "open");
    // What is read meanwhile does not undo it.
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 pending"]);
    let refused = beads.stop("me", "Done.");
    assert!(refused["reason"].as_str().unwrap().contains("not sent yet"), "{refused}");
    beads.mode("");
    beads.calls();
    let refused = beads.stop("me", "Done.");
    assert_eq!(refused["decision"], "block");
    assert_eq!(beads.writes(), ["close --reason=forced by steadfast: a human closed it --json -- bd-1.1"]);
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
    assert!(note.contains("it has no tasks any more, but 2 were open"), "{note}");
    beads.put(&two());
    assert_eq!(beads.stop("me", "Done.")["decision"], "block");
}
