//! An issue that is done on a claim stays in progress in the tracker, for a human to look at.

use serde_json::{Value, json};

use super::fake_bd::{Beads, issue, part};

const NOTE: &str = "update --status=in_progress --append-notes=steadfast: an agent says that it is done, but no check confirms it (it has no check";
const LOOK: &str = "). Review a.txt, b.txt; if it is right, close the issue or run `steadfast task done bd-1.1 --force` \
                    --json -- bd-1.1";

/// Two issues without a check, of which the second waits for the first.
fn two() -> Vec<Value> {
    let mut first = part("bd-1.1", "bd-1", "open");
    first["metadata"] = json!({"steadfast": {"files": ["a.txt", "b.txt"]}});
    vec![first, issue("bd-1.2", "open", &[("bd-1", "parent-child"), ("bd-1.1", "blocks")])]
}

/// An agent's work and its word for it.
fn claim(beads: &Beads, id: &str) -> String {
    assert!(beads.sandbox.as_agent("me", &["task", "start", id]).status.success());
    beads.sandbox.write("a.txt", id);
    let output = beads.sandbox.as_agent("me", &["task", "done", id]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_issue_that_is_done_on_a_claim_stays_in_progress_with_a_note_and_a_humans_word_closes_it() {
    let beads = Beads::new(&two());
    beads.begin("me");
    beads.writes();
    let said = claim(&beads, "bd-1.1");
    let told = beads.writes();
    let [claimed, noted] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(claimed, "update --claim --json -- bd-1.1");
    assert!(noted.starts_with(NOTE) && noted.ends_with(LOOK), "{noted}");
    assert_eq!(beads.status("bd-1.1"), "in_progress");
    assert!(
        said.contains("epic bd-1 of beads: bd-1.1 stays in progress there, because no check confirms that it is done"),
        "{said}"
    );

    // Here it is done: what waits for it can be begun, and it is not handed out again.
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 pending"]);
    let (ready, next) = (beads.sandbox.ok(&["task", "ready"]), beads.sandbox.ok(&["task", "next"]));
    assert!(ready.starts_with("bd-1.2") && next.starts_with("bd-1.2"), "{ready}{next}");
    claim(&beads, "bd-1.2");
    let released = beads.stop("me", "Done.");
    assert_ne!(released["decision"], "block", "{released}");
    // A note of ours is no change of the task.
    let noted = beads.said(&["task", "list"]);
    assert!(!noted.contains("epic bd-1"), "{noted}");
    beads.writes();
    assert_eq!(beads.sandbox.run(&["plan", "load"]).status.code(), Some(0));
    assert_eq!((beads.tasks(), beads.writes()), (vec!["bd-1.1 done".to_owned(), "bd-1.2 done".to_owned()], vec![]));

    beads.sandbox.ok(&["task", "done", "bd-1.1", "--force"]);
    assert_eq!(beads.writes(), ["close --reason=forced by steadfast: a human closed it --json -- bd-1.1"]);
    assert_eq!(["bd-1.1", "bd-1.2"].map(|id| beads.status(id)), ["closed", "in_progress"]);
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 done"]);
}

#[test]
fn what_a_human_does_with_a_claimed_issue_there_counts() {
    for (status, here) in [("closed", "done"), ("open", "pending")] {
        let beads = Beads::new(&two());
        beads.begin("me");
        claim(&beads, "bd-1.1");
        let mut issues = two();
        issues[0]["status"] = status.into();
        beads.put(&issues);
        beads.writes();
        assert_eq!(beads.tasks()[0], format!("bd-1.1 {here}"));
        assert_eq!(beads.writes(), Vec::<String>::new());
    }
}

#[test]
fn a_program_that_cannot_append_to_notes_gets_a_comment() {
    let beads = Beads::new(&two());
    beads.mode("old");
    beads.begin("me");
    claim(&beads, "bd-1.1");
    let told = beads.writes();
    let [.., status, comment] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(status, "update --status=in_progress --json -- bd-1.1");
    assert!(comment.starts_with("comments add -- bd-1.1 steadfast: an agent says that it is done"), "{comment}");
}

#[test]
fn a_note_of_ours_is_not_part_of_the_task() {
    let beads = Beads::new(&two());
    beads.sandbox.ok(&["plan", "load"]);
    let hash = |beads: &Beads| {
        let status: Value = serde_json::from_str(&beads.sandbox.ok(&["plan", "status", "--json"])).unwrap();
        status["hash"].clone()
    };
    let before = hash(&beads);
    let mut issues = two();
    issues[0]["notes"] = "steadfast: an agent says that it is done".into();
    beads.put(&issues);
    assert_eq!(hash(&beads), before);
    issues[0]["notes"] = "steadfast: an agent says that it is done\nAsk Ann.".into();
    beads.put(&issues);
    assert_ne!(hash(&beads), before);
    assert!(!beads.sandbox.ok(&["task", "show", "bd-1.1"]).contains("an agent says"));
}
