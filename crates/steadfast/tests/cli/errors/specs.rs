//! Everything that can be wrong with a spec, as `spec lint` says it.

use std::collections::BTreeSet;

use serde_json::Value;
use steadfast_plan::Code;

use crate::sandbox::Sandbox;

/// Every problem of this text: its code, what is wrong, and what to do.
fn problems(file: &str, text: impl AsRef<[u8]>) -> Vec<[String; 3]> {
    let sandbox = Sandbox::bare();
    sandbox.write(file, text);
    let output = sandbox.run(&["spec", "lint", file, "--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |problem: &Value, key: &str| problem[key].as_str().unwrap().to_owned();
    let all = said["problems"].as_array().unwrap();
    all.iter().map(|problem| ["code", "message", "help"].map(|key| word(problem, key))).collect()
}

/// A spec of one phase with these tasks, each with a check of its own unless it says otherwise.
fn tasks(tasks: &str) -> String {
    format!(r#"{{"feature": "F", "phases": [{{"id": "p", "tasks": [{tasks}]}}]}}"#)
}

fn task(id: &str, more: &str) -> String {
    format!(r#"{{"id": "{id}", "task": "T", "verification": "make"{more}}}"#)
}

#[test]
fn all_that_can_be_wrong_is_said_with_what_to_do() {
    let long = "x".repeat(5_000);
    let many: Vec<String> = (0..401).map(|n| task(&n.to_string(), "")).collect();
    let too_many: Vec<String> = (0..100).map(|n| task(&n.to_string(), "")).collect();
    let items: Vec<String> = (0..2_001).map(|n| format!("\"{n}\"")).collect();
    let loops = format!(
        r#"{{"feature": "F", "phases": [{{"id": "p", "loop": {{"items": [{}], "tasks": [{}]}}}}]}}"#,
        items.join(","),
        too_many.join(",")
    );
    let specs = [
        ("SPEC.md", "\n".to_owned()),
        ("SPEC.md", "# F\0".to_owned()),
        ("SPEC.md", "# F\n".to_owned()),
        ("SPEC.json", "{\"feature\": ".to_owned()),
        ("SPEC.json", "{ // why\n}".to_owned()),
        ("SPEC.json", "[]".to_owned()),
        ("SPEC.json", "{}".to_owned()),
        ("SPEC.json", r#"{"feature": 7, "phases": 8, "verification_commands": "make", "quite_else": 1}"#.to_owned()),
        (
            "SPEC.json",
            r#"{"feature": "F", "feature": "G", "constraints": [1], "success_criteria": {}, "verification_commands":
               {"test": true, "a": "$verification_commands.b", "b": "$verification_commands.a"}, "phases": [
               {}, {"id": []}, {"id": "p"}, {"id": "p", "loop": {}},
               {"id": "q", "loop": {"items": [{}, {"id": 1}, 2], "tasks": [{}]}},
               {"id": "r", "loop": {"items": [], "tasks": [{"id": 1, "task": [], "verification": "make"}]}}]}"#
                .to_owned(),
        ),
        ("SPEC.json", tasks(&[task("1 1", ""), task("1.1", ""), task("1.1", "")].join(","))),
        ("SPEC.json", tasks(&[task("1.1", r#", "type": "ui""#), task("1.1a", ""), task("1.0", "")].join(","))),
        ("SPEC.json", tasks(&task("1.1", r#", "type": "poem", "depends_on": ["zzz"]"#))),
        ("SPEC.json", tasks(&[task("1", r#", "depends_on": ["2"]"#), task("2", r#", "depends_on": ["1"]"#)].join(","))),
        ("SPEC.json", tasks(r#"{"id": "1", "task": "T", "verification": "$verification_commands.test"}"#)),
        (
            "SPEC.json",
            r#"{"feature": "F", "verification_commands": {"other": "make"}, "phases": [{"id": "p", "tasks": [
               {"id": "1", "task": "T", "verification": "$verification_commands.test"}]}]}"#
                .to_owned(),
        ),
        ("SPEC.json", tasks(&task(&long, &format!(r#", "files": ["{long}"], "notes": "{long}""#)))),
        ("SPEC.json", tasks(&format!(r#"{{"id": "1", "task": "{long}", "verification": "{long}"}}"#))),
        ("SPEC.json", tasks(r#"{"id": "1", "task": "T"}, {"id": "2", "task": "T", "type": "docs"}"#)),
        (
            "SPEC.json",
            tasks(
                &["make &", "make || true", "make; true", "make | tail -1"]
                    .iter()
                    .enumerate()
                    .map(|(n, check)| format!(r#"{{"id": "{n}", "task": "T", "verification": "{check}"}}"#))
                    .collect::<Vec<_>>()
                    .join(","),
            ),
        ),
        (
            "SPEC.json",
            tasks(
                &["", "ui", "", "ui"]
                    .iter()
                    .enumerate()
                    .map(|(n, kind)| {
                        let more = if kind.is_empty() {
                            String::new()
                        } else {
                            format!(r#", "type": "{kind}", "files": ["a"]"#)
                        };
                        task(&n.to_string(), &more)
                    })
                    .collect::<Vec<_>>()
                    .join(","),
            ),
        ),
        ("SPEC.json", tasks(r#"{"id": "1.1", "task": "T", "verification": "curl -u bob:Tr0ub4dor3 https://a.example"}"#)),
        ("SPEC.json", tasks(&many.join(","))),
        ("SPEC.json", loops),
        (
            "SPEC.md",
            "# F\n\n## Phase 1: P\n\n- [x] 1.1 One\n  - verify: `make`\n  - depends on: the weather\n- [ ] 1.1 Other\n"
                .to_owned(),
        ),
        ("package.json", r#"{"name": "greet"}"#.to_owned()),
        ("tasks.md", "## 1. One\n\n- [ ] 1.1 A\n- [ ] 1.1 B\n  - depends on: 7.7\n".to_owned()),
        (
            "issues.jsonl",
            "{\"id\": \"a-1\", \"title\": \"A\", \"status\": \"odd\"}\n{\"id\": \"a-2\", \"status\": \"tombstone\"}\n{}\n"
                .to_owned(),
        ),
        (
            "SPEC.md",
            "# F\n\n## Phase 1: P\n\n- [ ] 1.1 One\n  - verify: `make`\n  - verify: `make\n- Write two\n- [ ] 1.3 Three\n  \
             - verify: `make`\n  - verify: all is well\n\n```\n"
                .to_owned(),
        ),
        ("SPEC.md", "# F\n\n## Phase 1: P\n\n- [ ] 1.1 One\n  - verify: `make`\n  - estimate: soon\n".to_owned()),
    ];
    let mut codes = BTreeSet::new();
    let mut all = Vec::new();
    for (file, text) in specs {
        let found = problems(file, text);
        assert!(!found.is_empty());
        for [code, message, help] in found {
            let line = format!("{code}: {}\n    {help}", message.replace(&long, "<long>"));
            codes.insert(code);
            if !all.contains(&line) {
                all.push(line);
            }
        }
    }
    insta::assert_snapshot!(all.join("\n"));
    // What only running the checks tells is not in a text.
    let said = Code::ALL.iter().filter(|code| **code != Code::PassesAlready);
    let known: BTreeSet<String> = said.map(|code| code.as_str().to_owned()).collect();
    assert_eq!(codes, known);
}
