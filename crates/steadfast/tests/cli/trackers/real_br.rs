//! The real `br`, where there is one: on the PATH, or named by `STEADFAST_BR`. Building it takes a quarter of an hour and a
//! nightly compiler (`cargo install beads_rust`), so these tests do without where it is not there, and say so.

use std::path::PathBuf;
use std::{env, fs};

use serde_json::{Value, json};
use steadfast_testkit::skip_optional;

use super::fake_bd::Beads;

/// A repository with a database of the real program, and an epic in it.
pub(super) struct Real {
    pub(super) beads: Beads,
    pub(super) epic: String,
}

/// `None`: there is no such program here.
fn program() -> Option<PathBuf> {
    let named = env::var_os("STEADFAST_BR").map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| env::split_paths(&path).map(|folder| folder.join("br")).find(|br| br.is_file()));
    if found.is_none() {
        skip_optional("br", &"there is no `br` on the PATH, and `STEADFAST_BR` names none");
    }
    found
}

impl Real {
    pub(super) fn new() -> Option<Self> {
        let program = program()?;
        let beads = Beads::new(&[]);
        fs::remove_file(beads.file("bd")).unwrap();
        fs::copy(program, beads.file("br")).unwrap();
        let mut real = Self { beads, epic: String::new() };
        real.br(&["init", "--prefix", "it"]);
        real.epic = real.create("All of it", &["--type", "epic"]);
        real.beads.sandbox.write("steadfast.toml", format!("[ledger]\nsource = \"beads\"\nepic = \"{}\"\n", real.epic));
        Some(real)
    }

    pub(super) fn br(&self, arguments: &[&str]) -> String {
        let mut command = self.beads.sandbox.command_of(&self.beads.file("br"));
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn create(&self, title: &str, more: &[&str]) -> String {
        let created = self.br(&[&["create", title, "--json"], more].concat());
        let created: Value = serde_json::from_str(&created).unwrap();
        created["id"].as_str().unwrap().to_owned()
    }

    fn part(&self, title: &str, description: &str) -> String {
        self.create(title, &["--parent", &self.epic, "--description", description])
    }

    fn shown(&self, id: &str) -> Value {
        let shown: Value = serde_json::from_str(&self.br(&["show", "--json", id])).unwrap();
        shown[0].clone()
    }

    fn status(&self, id: &str) -> String {
        self.shown(id)["status"].as_str().unwrap().to_owned()
    }

    pub(super) fn ok(&self, arguments: &[&str]) -> String {
        self.beads.sandbox.ok(arguments)
    }
}

#[test]
fn what_an_epic_of_br_has_is_followed_and_told() {
    let Some(real) = Real::new() else { return };
    let first = real.part("First", "Verify: `test -s a.txt`");
    let second = real.part("Second", "");
    let waits = real.part("Waits", "");
    let outside = real.create("Outside", &[]);
    let undotted = real.create("Undotted", &[]);
    real.br(&["dep", "add", &second, &first]);
    real.br(&["dep", "add", &waits, &outside]);
    real.br(&["dep", "add", &undotted, &real.epic, "--type", "parent-child"]);
    let listed: Value = serde_json::from_str(&real.ok(&["task", "list", "--json"])).unwrap();
    let task = |id: &str| listed["tasks"].as_array().unwrap().iter().find(|task| task["id"] == *id).unwrap().clone();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 4);
    assert_eq!(task(&second)["blocked_by"], json!([first]));
    assert_eq!([&first, &waits, &undotted].map(|id| task(id)["status"].clone()), ["pending", "blocked", "pending"]);

    real.ok(&["task", "start", &first]);
    assert_eq!(real.status(&first), "in_progress");
    real.beads.sandbox.write("a.txt", "a");
    real.ok(&["task", "done", &first]);
    let shown = real.shown(&first);
    let reason = shown["close_reason"].as_str().unwrap();
    assert!(reason.starts_with("executed by steadfast: `test -s a.txt` passed"), "{reason}");
    real.ok(&["task", "block", &second, "--why", "no key"]);
    assert_eq!(
        (real.status(&second), real.shown(&second)["notes"].as_str()),
        ("blocked".into(), Some("blocked: no key"))
    );
    real.ok(&["task", "unblock", &second]);
    assert_eq!(real.status(&second), "open");

    let nowhere = format!("[ledger]\nsource = \"beads\"\nepic = \"{}x\"\n", real.epic);
    let settings = fs::read_to_string(real.beads.sandbox.root().join("steadfast.toml")).unwrap();
    real.beads.sandbox.write("steadfast.toml", &nowhere);
    let said = real.beads.said(&["task", "list"]);
    assert!(said.contains(&format!("of beads: there is no issue `{}x`", real.epic)), "{said}");
    real.beads.sandbox.write("steadfast.toml", &settings);

    for status in ["deferred", "pinned", "draft"] {
        real.br(&["update", &second, "--status", status]);
        let listed = real.beads.tasks();
        assert!(listed.contains(&format!("{second} blocked")), "{status}: {listed:?}");
    }
    real.br(&["update", &second, "--status", "open"]);

    // What others do there.
    real.br(&["close", &outside]);
    real.br(&["update", &undotted, "--claim", "--actor", "bob"]);
    let said = real.beads.said(&["task", "list"]);
    assert!(said.contains(&format!("{waits} is open there")), "{said}");
    assert!(said.contains(&format!("{undotted} is in progress there")), "{said}");
    real.br(&["update", &waits, "--assignee", "bob"]);
    let said = real.beads.said(&["task", "start", &waits]);
    assert!(said.contains("already assigned to bob"), "what is another's is not taken: {said}");
    assert_eq!(real.status(&waits), "open");
}

#[test]
fn a_run_tells_br_of_each_unit() {
    let Some(real) = Real::new() else { return };
    let [first, second] = ["First", "Second"].map(|title| real.part(title, "Verify: `test -s steadfast.toml`"));
    real.br(&["dep", "add", &second, &first]);
    real.beads.sandbox.set_own("[run]\narguments = [\"--max-turns\", \"30\"]\n");
    super::run::commit(&real.beads.sandbox);
    let report = real.ok(&["run", "--epic", &real.epic, "--host", "sim"]);
    assert!(report.contains("complete\n2 of 2 tasks done"), "{report}");
    for id in [&first, &second] {
        let shown = real.shown(id);
        assert_eq!((shown["status"].as_str(), shown["assignee"].is_string()), (Some("closed"), true), "it was claimed");
        assert!(shown["close_reason"].as_str().unwrap().starts_with("executed by steadfast"), "{shown}");
    }
}
