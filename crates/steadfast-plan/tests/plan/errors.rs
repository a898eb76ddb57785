use crate::said;

#[test]
fn all_errors_are_said_at_once_with_their_places() {
    insta::assert_snapshot!(said(
        r#"{
  "feature": "Login",
  "verification_commands": {"test": "npm test || true"},
  "phases": [
    {"id": "one", "tasks": [
      {"id": "1.1", "task": "First", "type": "backnd", "depends_on": ["1.9"]},
      {"id": "1.1", "task": "Again", "verification": {"command": "$verification_commands.tset"}},
      {"id": "1.2", "task": "Third", "type": "backend", "fiels": ["a"]},
      {"id": "1.2a", "task": "In the way", "verification": {"command": "npm test | tail -3"}},
      {"id": "1.3", "task": 7}
    ]},
    {"id": "two", "depends_on": ["on"], "tasks": []}
  ]
}"#,
        "SPEC.json"
    ));
}

#[test]
fn a_circle_is_printed() {
    let spec = |first: &str, second: &str| {
        format!(
            r#"{{"feature": "f", "phases": [{{"id": "p", "tasks": [
            {{"id": "1.1", "task": "a", "verification": "x", "depends_on": ["{first}"]}},
            {{"id": "1.2", "task": "b", "verification": "x", "depends_on": ["{second}"]}},
            {{"id": "1.3", "task": "c", "verification": "x", "depends_on": ["1.2"]}}]}}]}}"#
        )
    };
    assert!(said(&spec("1.3", "1.1"), "SPEC.json").contains("circular dependency: 1.1 → 1.3 → 1.2 → 1.1"));
    assert!(said(&spec("1.1", "1.1"), "SPEC.json").contains("1.1 → 1.1"));
    // Through the order of phases.
    let across = r##"{"feature": "f", "phases": [
        {"id": "p", "tasks": [{"id": "1.1", "task": "a", "verification": "x", "depends_on": ["2.1"]}]},
        {"id": "q", "tasks": [{"id": "2.1", "task": "b", "verification": "x"}]}]}"##;
    let said = said(across, "SPEC.json");
    assert!(said.contains("1.1 → 2.1 → phase q → 1.1"), "{said}");
}

#[test]
fn work_that_alternates_is_a_suggestion() {
    let text = "# F\n\n## Phase 2\n\n| ID | Task | Type | Files | Verify |\n|---|---|---|---|---|\n\
                | 2.1 | A | ui | a | x |\n| 2.2 | B | backend | b | x |\n| 2.3 | C | ui | c | x |\n\
                | 2.4 | D | backend | d | x |\n";
    insta::assert_snapshot!(said(text, "SPEC.md"));
}

#[test]
fn what_is_no_spec_is_named() {
    for (text, name) in [
        ("", "SPEC.md"),
        (" \n", "SPEC.json"),
        ("{", "SPEC.json"),
        ("[]", "SPEC.json"),
        ("{\"feature\": \"f\", // no\n\"phases\": []}", "SPEC.json"),
        ("# A title\n\nand words", "SPEC.md"),
        ("a\0b", "SPEC.md"),
    ] {
        let said = said(text, name);
        assert!(said.contains("error[") && said.contains("= help: "), "{text:?}: {said}");
    }
}
