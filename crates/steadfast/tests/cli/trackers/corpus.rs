//! The issues of real projects, where they are to be had.

use std::fs;

use serde_json::{Value, json};
use steadfast_testkit::unpacked_corpus;

use super::fake_bd::Beads;

/// As the script finds them: a line each, what they depend on in two words.
fn plain(line: &str) -> Value {
    let mut issue: Value = serde_json::from_str(line).unwrap();
    let on: Vec<Value> = issue["dependencies"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .map(|on| json!({"depends_on_id": on["depends_on_id"], "type": on["type"]}))
        .collect();
    issue["dependencies"] = on.into();
    issue
}

/// How an issue of beads stands here.
fn status(issue: &Value) -> &'static str {
    match issue["status"].as_str().unwrap() {
        "closed" => "done",
        "in_progress" | "hooked" => "in_progress",
        "open" => "pending",
        _ => "blocked",
    }
}

/// Each project, its largest epic, and how many issues that has.
const EPICS: [(&str, &str, usize); 3] = [
    ("Dicklesworthstone+beads_rust", "beads_rust-ag35", 43),
    ("marot+spotter", "spotter-8yj", 9),
    ("cognesy+instructor-php", "instructor-g5v", 21),
];

#[test]
fn the_epics_of_real_projects_are_followed_as_they_stand() {
    let Some(dir) = unpacked_corpus("tasks.tar.zst") else { return };
    let (mut all, mut epics) = (Vec::new(), Vec::new());
    for (project, epic, count) in EPICS {
        let text = fs::read_to_string(dir.path().join(project).join(".beads/issues.jsonl")).unwrap();
        let issues: Vec<Value> = text.lines().map(plain).collect();
        let there: Vec<&Value> = issues.iter().filter(|issue| issue["status"] != "tombstone").collect();
        let beads = Beads::new(&issues);
        let settings = format!("[ledger]\nsource = \"beads\"\nepic = \"{epic}\"\n");
        beads.sandbox.write("steadfast.toml", settings);
        epics.push(beads.tasks().len());
        assert_eq!(beads.tasks().len(), count, "{project}");

        beads.sandbox.write("steadfast.toml", "[ledger]\nsource = \"beads\"\n");
        let mut tasks = beads.tasks();
        tasks.sort_unstable();
        let mut expected: Vec<String> =
            there.iter().map(|issue| format!("{} {}", issue["id"].as_str().unwrap(), status(issue))).collect();
        expected.sort_unstable();
        assert_eq!(tasks, expected, "{project}");
        all.push(tasks.len());
        assert_eq!(beads.writes(), Vec::<String>::new());
    }
    assert_eq!((all, epics), (vec![512, 342, 689], vec![43, 9, 21]));
}
