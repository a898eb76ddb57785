use std::process::Command;

use serde_json::{Value, json};

use super::fake_bd::{Beads, part};
use crate::sandbox::Sandbox;

fn checked(id: &str, file: &str, status: &str) -> Value {
    let mut issue = part(id, "bd-1", status);
    issue["metadata"] = json!({"steadfast": {"verify": format!("test -s {file}"), "files": [file]}});
    issue
}

fn commit(sandbox: &Sandbox) {
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
    let told = beads.writes();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|call| call.starts_with("close --reason=executed by steadfast: `test -s ")), "{told:?}");

    let (code, said) = beads.sandbox.fails(&["run", "--epic", "bd-1", "--host", "sim"]);
    assert_eq!((code, said.contains("nothing is open in epic bd-1 of beads")), (1, true), "{said}");
    let (code, said) = beads.sandbox.fails(&["run", "--epic", "bd-1", "SPEC.md"]);
    assert_eq!((code, said.contains("cannot be used with")), (64, true), "{said}");
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
