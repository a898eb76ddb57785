//! A small list of each kind, and what is read from it.

use std::collections::BTreeMap;

use steadfast_plan::{CompileOptions, compile};

use crate::said;

const BEADS: &str = r##"{"id":"bd-e","title":"The epic","issue_type":"epic","status":"open","priority":1,"labels":["a","b"]}
{"id":"bd-e.1","title":"First","description":"What it is.","status":"closed","close_reason":"shipped","dependencies":[{"issue_id":"bd-e.1","depends_on_id":"bd-e","type":"parent-child"}]}
{"id":"bd-e.2","title":"Second","status":"in_progress","dependencies":[{"issue_id":"bd-e.2","depends_on_id":"bd-e","type":"parent-child"},{"issue_id":"bd-e.2","depends_on_id":"bd-e.1","type":"blocks"},{"issue_id":"bd-e.2","depends_on_id":"bd-9","type":"discovered-from"}]}
{"id":"bd-9","title":"Later","status":"deferred","defer_until":"2027-01-01"}
{"id":"bd-8","title":"Waits","status":"blocked","dependencies":[{"issue_id":"bd-8","depends_on_id":"bd-e","type":"blocks"}]}
{"id":"bd-7","title":"Gone","status":"tombstone"}
{"id":"bd-6","title":"Odd","status":"hooked","dependencies":[{"issue_id":"bd-6","depends_on_id":"bd-7","type":"blocks"}]}
"##;

const OPENSPEC: &str = "## 1. Model\n\n- [x] 1.1 Add the field\n- [ ] 1.2 Keep the old ones\n  - with their names\n\n\
                        ## 2. Verification\n\n- [ ] 2.1 Run `pnpm test`\n- [ ] Look at it\n";

const SPEC_KIT: &str = "# Tasks: Sign in\n\n## Phase 1: Setup\n\n- [x] T001 Create the project\n- [ ] T002 [P] Lint\n\
                        - [ ] T003 [P] Format\n\n## Phase 2: User Story 1\n\n### Tests\n\n\
                        - [ ] T004 [US1] Create the model in src/models/user.py\n- [~] T005 [P] [US1] Serve it\n";

const TASK_MASTER: &str = r#"{"master": {"tasks": [
  {"id": 1, "title": "Set up", "description": "All of it", "status": "done", "dependencies": [], "priority": "high"},
  {"id": 2, "title": "Build", "status": "in-progress", "dependencies": [1], "details": "Long\ntext", "testStrategy": "Run it",
   "subtasks": [
     {"id": 1, "title": "Walls", "status": "done", "dependencies": []},
     {"id": 2, "title": "Roof", "status": "pending", "dependencies": [1]}]},
  {"id": 3, "title": "Paint", "status": "cancelled", "dependencies": ["2.2"]}],
  "metadata": {"description": "A house"}}, "shed": {"tasks": [{"id": 1, "title": "Dig", "status": "review"}]}}"#;

const GSD: &str = "---\nphase: 01-foundation\nplan: 02\n---\n\n<objective>\nPeople sign in.\n\nMore.\n</objective>\n\n<tasks>\n\n\
                   <task type=\"auto\">\n  <name>Task 1: Make codes</name>\n  <files>src/code.rs, src/lib.rs</files>\n  \
                   <action>Six digits.</action>\n  <verify><automated>cargo test</automated></verify>\n  \
                   <done>Codes are made.</done>\n</task>\n\n\
                   <task type=\"auto\">\n  <name>Task 2: Send them</name>\n  <verify>Look into the mail box</verify>\n</task>\n\n\
                   <task type=\"checkpoint:human-verify\">\n  <what-built>A <b>mail</b></what-built>\n</task>\n</tasks>\n\n\
                   <success_criteria>\n- [ ] People are in\n</success_criteria>\n";

const BREAKDOWN: &str = "# Task Breakdown: Hooks\n\n## Overview\nAll of it.\n\n## Phase 1: Base\n\n### Task 1.1: Loader\n\
                         **Description**: Loads.\n**Dependencies**: None\n\n```ts\ncode();\n```\n\n**Acceptance Criteria**:\n\
                         - [ ] It loads\n\n### Task 1.2: Runner\n**Dependencies**: Task 1.1 (the loader)\n**Status**: Completed\n\n\
                         ## Success Criteria\n- [ ] All of it works\n";

const CHECKLIST: &str = "# Before the release\n\nWhat is left.\n\n- [x] Tag it\n- [ ] Tell people\n  - [x] by mail\n  - [ ] by post\n\
                         - [!] Pay\n- [ ] Tell people\n";

pub(crate) const ALL: [(&str, &str); 7] = [
    (BEADS, ".beads/issues.jsonl"),
    (OPENSPEC, "openspec/changes/add-field/tasks.md"),
    (SPEC_KIT, "specs/001-sign-in/tasks.md"),
    (TASK_MASTER, ".taskmaster/tasks/tasks.json"),
    (GSD, ".planning/phases/01-foundation/01-02-PLAN.md"),
    (BREAKDOWN, "specs/hooks-tasks.md"),
    (CHECKLIST, "RELEASE.md"),
];

/// Every task in a line: status, id, title, what it waits for, and what is known of it.
fn shown((text, name): (&str, &str)) -> String {
    let compiled = match compile(text, name, &CompileOptions::default()) {
        Ok(compiled) => compiled,
        Err(_) => panic!("{}", said(text, name)),
    };
    let stands: BTreeMap<&str, String> = compiled
        .reported
        .iter()
        .map(|reported| {
            let why = reported.reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            (reported.task.as_str(), format!("{}{why}", reported.status.as_str()))
        })
        .collect();
    let mut shown = format!("{}: {}\n", compiled.format.describe(), compiled.plan.feature);
    for task in &compiled.plan.tasks {
        let status = stands.get(task.id.as_str()).map_or("pending", String::as_str);
        let after: Vec<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
        shown += &format!("{} {} | {status} | after {}", task.id, task.title, after.join(" "));
        if !task.files.is_empty() {
            shown += &format!(" | {}", task.files.join(" "));
        }
        if let Some(check) = &task.verify {
            shown += &format!(" | {}", check.describe());
        }
        if let Some(notes) = &task.notes {
            shown += &format!(" | {}", notes.replace('\n', "⏎"));
        }
        shown += "\n";
    }
    for warning in &compiled.warnings {
        shown += &format!("{}: {}\n", warning.code.as_str(), warning.message);
    }
    shown
}

#[test]
fn a_line_of_an_issue_may_say_how_it_is_checked() {
    let check = |issue: &str| {
        let line = format!("{{\"id\":\"bd-1\",\"title\":\"a\",\"status\":\"open\",{issue}}}");
        let compiled = compile(&line, "issues.jsonl", &CompileOptions::default()).unwrap();
        compiled.plan.tasks[0].verify.as_ref().and_then(|check| check.as_command()).map(str::to_owned)
    };
    let said = |issue: &str, command: &str| assert_eq!(check(issue).as_deref(), Some(command), "{issue}");
    said(r#""description":"Mend it.\n- verify: `cargo test -p a`\n""#, "cargo test -p a");
    said(r#""acceptance_criteria":"Verify: `true`""#, "true");
    said(r#""description":"Verify: `a`","metadata":{"steadfast":{"verify":"b"}}"#, "b");
    for prose in ["Verify: it looks right", "Verify: `a` and `b`", "Then verify: `a`", "Verify: ``"] {
        assert_eq!(check(&format!("\"description\":\"{prose}\"")), None, "{prose}");
    }
}

#[test]
fn issues_of_beads_are_tasks() {
    insta::assert_snapshot!(shown(ALL[0]), @r"
    the issues of beads: bd
    bd-6 Odd | in_progress | after 
    bd-8 Waits | blocked | after bd-e
    bd-9 Later | blocked (deferred until 2027-01-01) | after 
    bd-e The epic | pending | after bd-e.1 bd-e.2 | epic, priority 1, labels: a, b
    bd-e.1 First | done (shipped) | after  | What it is.
    bd-e.2 Second | in_progress | after bd-e.1 | discovered-from: bd-9
    no-check: 6 tasks have no check: they close as `claimed`, without proof
    left-out: `bd-7` is deleted; it is not imported
    ");
}

#[test]
fn the_tasks_of_an_openspec_change_are_tasks() {
    insta::assert_snapshot!(shown(ALL[1]), @r"
    the tasks of an OpenSpec change: add-field
    1.1 Add the field | done | after 
    1.2 Keep the old ones | pending | after  | - with their names
    2.1 Run `pnpm test` | pending | after 
    2.2 Look at it | pending | after 
    no-check: 4 tasks have no check: they close as `claimed`, without proof
    ");
}

#[test]
fn what_spec_kit_does_not_mark_comes_after_what_is_before_it() {
    insta::assert_snapshot!(shown(ALL[2]), @r"
    the tasks of spec-kit: Sign in
    T001 Create the project | done | after 
    T002 [P] Lint | pending | after T001
    T003 [P] Format | pending | after T001
    T004 [US1] Create the model in src/models/user.py | pending | after T002 T003 | src/models/user.py
    T005 [P] [US1] Serve it | in_progress | after T004
    no-check: 5 tasks have no check: they close as `claimed`, without proof
    ");
}

#[test]
fn subtasks_of_task_master_come_before_their_task() {
    insta::assert_snapshot!(shown(ALL[3]), @r"
    the tasks of Task Master: tasks
    1 Set up | done | after  | All of it⏎priority: high
    2 Build | in_progress | after 1 2.1 2.2 | Long⏎text⏎test strategy: Run it
    2.1 Walls | done | after 1
    2.2 Roof | pending | after 1 2.1
    3 Paint | blocked (cancelled in the list it comes from) | after 2.2
    shed:1 Dig | in_progress | after 
    no-check: 6 tasks have no check: they close as `claimed`, without proof
    ");
}

#[test]
fn the_tags_of_gsd_are_tasks() {
    insta::assert_snapshot!(shown(ALL[4]), @r#"
    a plan of GSD: 01-02-PLAN
    1 Make codes | pending | after  | src/code.rs src/lib.rs | `cargo test` exits with 0 | Six digits.
    2 Send them | pending | after  | verify: Look into the mail box
    3 Task 3 | pending | after  | type="checkpoint:human-verify"⏎what-built: A <b>mail</b>
    no-check: 2 tasks have no check: they close as `claimed`, without proof
    "#);
}

#[test]
fn headings_that_are_called_tasks_are_tasks_and_boxes_say_when_they_are_done() {
    insta::assert_snapshot!(shown(ALL[5]), @r"
    a breakdown into tasks: Hooks
    1.1 Loader | pending | after  | **Description**: Loads.⏎```ts⏎code();⏎```⏎**Acceptance Criteria**:⏎done when: It loads
    1.2 Runner | done | after 1.1
    no-check: 2 tasks have no check: they close as `claimed`, without proof
    ");
}

#[test]
fn a_box_in_a_box_is_a_part_of_it() {
    insta::assert_snapshot!(shown(ALL[6]), @r"
    a checklist: Before the release
    1.1 Tag it | done | after 
    1.2 Tell people | pending | after 1.2.1 1.2.2
    1.2.1 by mail | done | after 
    1.2.2 by post | pending | after 
    1.3 Pay | blocked | after 
    1.4 Tell people | pending | after 
    no-check: 6 tasks have no check: they close as `claimed`, without proof
    ");
}

#[test]
fn what_is_no_list_is_named_with_its_place() {
    insta::assert_snapshot!(said("{\"name\": \"a package\"}", "package.json"), @r#"
    package.json:1:1: error[unknown-format]: unknown format: JSON that is not a known task list
      |
    1 | {"name": "a package"}
      | ^
      = help: a SPEC.json has `feature` and `phases`, Task Master's file has `tasks`, and beads an issue in each line
    "#);
    let issues = "{\"id\": \"a-1\", \"title\": \"A\", \"status\": \"open\"}\n<<<<<<< HEAD\n{\"title\": \"B\"}\n";
    insta::assert_snapshot!(said(issues, "issues.jsonl"), @r#"
    issues.jsonl:2:1: error[syntax]: not JSON: expected value
      |
    2 | <<<<<<< HEAD
      | ^
      = help: each line must be one issue in JSON: fix this line, or export the issues again

    issues.jsonl:3:1: error[missing-key]: an issue has no `id`
      |
    3 | {"title": "B"}
      | ^
      = help: each issue in beads has an id: `"id": "bd-1"`
    "#);
}

/// What does not fit into a ledger is in the file, and the note says where.
#[test]
fn a_long_description_names_its_line() {
    let issue = serde_json::json!({"id": "a-1", "title": "A", "status": "open", "description": "é".repeat(9_000)});
    let text = format!("\n{issue}\n");
    let compiled = compile(&text, "x/issues.jsonl", &CompileOptions::default()).unwrap();
    let notes = compiled.plan.tasks[0].notes.clone().unwrap();
    assert_eq!(notes.chars().count(), 4_000);
    assert!(notes.ends_with("é… (full text: issues.jsonl:2)"));
}
