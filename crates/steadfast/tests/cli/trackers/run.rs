use std::process::Command;

use serde_json::{Value, json};

use super::fake_bd::{Beads, part};
use crate::sandbox::Sandbox;

fn checked(id: &str, file: &str, status: &str) -> Value {
    let mut issue = part(id, "bd-1", status);
    issue["metadata"] = json!({"steadfast": {"verify": format!("test -s {file}"), "files": [file]}});
    issue
}

pub(super) fn commit(sandbox: &Sandbox) {
    for arguments in [&["add", "."][..], &["-c", "user.name=T", "-c", "user.email=t@t", "commit", "-qm", "all"]] {
        assert!(Command::new("git").args(arguments).current_dir(sandbox.root()).status().unwrap().success());
    }
}

#[test]
fn a_run_works_an_epic_off_and_closes_it_there() {
    let beads = Beads::new(&[
        checked("bd-1.1", "a.txt", "open"),
        checked("bd-1.2", "b.txt", "open"),
        part("bd-1.3", "bd-1", "closed"),
    ]);
    beads.sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    beads.sandbox.write("steadfast.toml", "");
    commit(&beads.sandbox);
    let report = beads.sandbox.ok(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert!(report.contains("complete\n3 of 3 tasks done"), "{report}");
    assert_eq!(["bd-1.1", "bd-1.2"].map(|id| beads.status(id)), ["closed", "closed"]);

    let (code, said) = beads.sandbox.fails(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert_eq!((code, said.contains("there are no open tasks in epic bd-1 of beads")), (1, true), "{said}");
    let (code, said) = beads.sandbox.fails(&["run", "--epic", "bd-1", "SPEC.md"]);
    assert_eq!((code, said.contains("cannot be used with")), (64, true), "{said}");
}

/// What it was told, in short: `claim 1`, `close 2`.
fn told(beads: &Beads) -> Vec<String> {
    let short = |call: String| {
        let id = call.rsplit_once("bd-1.").unwrap().1.to_owned();
        if call.starts_with("update --claim") {
            return format!("claim {id}");
        }
        assert!(call.starts_with("close --reason=executed by steadfast: `test -s "), "{call}");
        format!("close {id}")
    };
    beads.writes().into_iter().map(short).collect()
}

/// Two units, of which one waits for the other.
fn one_after_the_other() -> Beads {
    let mut second = checked("bd-1.2", "b.txt", "open");
    second["dependencies"].as_array_mut().unwrap().push(json!({"depends_on_id": "bd-1.1", "type": "blocks"}));
    let beads = Beads::new(&[checked("bd-1.1", "a.txt", "open"), second]);
    beads.sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    commit(&beads.sandbox);
    beads
}

#[test]
fn beads_is_told_of_each_unit_when_it_is_begun_and_when_it_lands() {
    let beads = one_after_the_other();
    beads.sandbox.ok(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert_eq!(told(&beads), ["claim 1", "close 1", "claim 2", "close 2"]);
}

#[test]
fn a_program_that_cannot_be_told_stops_no_run_and_is_told_later() {
    let beads = one_after_the_other();
    beads.mode("refuses-writes");
    let said = beads.said(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert!(said.contains("complete\n2 of 2 tasks done"), "{said}");
    assert_eq!(said.matches("2 statuses are not sent yet; Steadfast tries again the next time").count(), 1, "{said}");
    assert_eq!(["bd-1.1", "bd-1.2"].map(|id| beads.status(id)), ["open", "open"]);
    beads.mode("");
    beads.writes();
    assert_eq!(beads.tasks(), ["bd-1.1 done", "bd-1.2 done"]);
    assert_eq!(told(&beads), ["close 1", "close 2"]);
}

#[test]
fn an_agent_of_a_run_does_not_follow_the_epic_in_its_own_worktree() {
    let beads = Beads::new(&[checked("bd-1.1", "a.txt", "open")]);
    beads.sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    commit(&beads.sandbox);
    beads.sandbox.ok(&["run", "--epic", "bd-1", "--host", "sim"]);
    let lists = beads.calls().into_iter().filter(|call| call.starts_with("list ")).count();
    assert_eq!(lists, 1);
}

#[test]
fn an_issue_that_a_run_has_done_on_a_claim_stays_in_progress_there_and_is_not_handed_out_again() {
    let unchecked = |id: &str, file: &str| {
        let mut issue = part(id, "bd-1", "open");
        issue["metadata"] = json!({"steadfast": {"files": [file]}});
        issue
    };
    let beads = Beads::new(&[unchecked("bd-1.1", "a.txt"), checked("bd-1.2", "b.txt", "open")]);
    beads.sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    beads.sandbox.write("steadfast.toml", "");
    commit(&beads.sandbox);
    let report = beads.said(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert_eq!(["bd-1.1", "bd-1.2"].map(|id| beads.status(id)), ["in_progress", "closed"], "{report}");
    let told = beads.writes();
    let noted = told.iter().find(|call| call.contains("--append-notes")).unwrap();
    let (told, look) =
        ("--append-notes=steadfast: an agent says that it is done, but no check confirms it", "Review a.txt on branch");
    assert!(noted.contains(told) && noted.contains(&format!("{look} steadfast/r-")), "{noted}");

    // The run waits for a human; whatever becomes of it, the issue is not handed out again.
    beads.sandbox.run(&["resume", "--give-up"]);
    let (code, said) = beads.sandbox.fails(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert_eq!((code, said.contains("there are no open tasks in epic bd-1 of beads")), (1, true), "{said}");
    assert_eq!((beads.status("bd-1.1"), beads.writes()), ("in_progress".to_owned(), Vec::new()));
    beads.sandbox.write("steadfast.toml", "[ledger]\nsource = \"beads\"\nepic = \"bd-1\"\n");
    beads.sandbox.ok(&["task", "done", "bd-1.1", "--force"]);
    assert_eq!(beads.status("bd-1.1"), "closed");
}
