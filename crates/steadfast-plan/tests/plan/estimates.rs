//! How long an author says that tasks take, and what follows from it.

use std::collections::BTreeMap;

use steadfast_model::{AddedBy, Millis, PlanId, Status, Task, TaskId, TaskKind};
use steadfast_plan::{Code, CompileOptions, Compiled, Lengths, compile, hash, units};

const MINUTE: u64 = 60_000;

const SPEC: &str = "# Sign in

## Phase 1: Codes

### 1.1 Make codes
- Files: `a.rs`
- Verify: `true`
- Estimate: 20 min

### 1.2 Show codes (~1.5 h)
- Type: ui
- Files: `b.rs`
- Verify: `true`

### 1.3 Send codes
- Files: `c.rs`
- Verify: `true`
- Effort: soon
";

fn read(text: &str, name: &str) -> Compiled {
    compile(text, name, &CompileOptions::default()).unwrap()
}

fn minutes(compiled: &Compiled) -> Vec<(&str, u64)> {
    compiled.plan.estimates.iter().map(|(task, length)| (task.as_str(), length / MINUTE)).collect()
}

#[test]
fn a_field_and_the_end_of_a_title_are_estimates() {
    let compiled = read(SPEC, "SPEC.md");
    assert_eq!(minutes(&compiled), [("1.1", 20), ("1.2", 90)]);
    let titles: Vec<&str> =
        compiled.plan.tasks.iter().filter(|task| task.kind == TaskKind::Main).map(|task| task.title.as_str()).collect();
    assert_eq!(titles, ["Make codes", "Show codes (~1.5 h)", "Send codes"], "a title stays as it is");
    // What is no length of time is kept for the agent, and reported.
    let third = compiled.plan.tasks.iter().find(|task| task.id.as_str() == "1.3").unwrap();
    assert_eq!(third.notes.as_deref(), Some("estimate: soon"));
    assert!(compiled.warnings.iter().any(|one| one.code == Code::UnreadEstimate && one.line == 18), "{compiled:?}");
}

#[test]
fn an_estimate_is_no_part_of_what_is_approved() {
    let other = SPEC.replace("Estimate: 20 min", "Estimate: 40 min");
    assert_ne!(minutes(&read(&other, "SPEC.md")), minutes(&read(SPEC, "SPEC.md")));
    assert_eq!(hash(&read(&other, "SPEC.md").plan), hash(&read(SPEC, "SPEC.md").plan));
}

#[test]
fn tables_json_checklists_and_issues_have_them_too() {
    let table = "# T\n\n| ID | Task | Estimate | Files | Verify |\n|---|---|---|---|---|\n\
                 | 1.1 | Make codes | 2 h | a.rs | `true` |\n| 1.2 | Show codes | | b.rs | `true` |\n";
    assert_eq!(minutes(&read(table, "SPEC.md")), [("1.1", 120)]);
    let json = r#"{"feature": "Sign in", "phases": [{"id": "phase-1", "tasks": [
        {"id": "1.1", "task": "Make codes", "estimate": 45, "verification": "true"},
        {"id": "1.2", "task": "Show codes", "estimate": "1h30m", "verification": "true"},
        {"id": "1.3", "task": "Send codes", "estimate": "soon", "verification": "true"}]}]}"#;
    let compiled = read(json, "SPEC.json");
    assert_eq!(minutes(&compiled), [("1.1", 45), ("1.2", 90)]);
    assert!(compiled.warnings.iter().any(|one| one.code == Code::UnreadEstimate), "{compiled:?}");
    let issues = "{\"id\": \"bd-1\", \"title\": \"Make codes\", \"status\": \"open\", \"estimated_minutes\": 30}\n";
    assert_eq!(minutes(&read(issues, "issues.jsonl")), [("bd-1", 30)]);
}

#[test]
fn they_come_back_from_an_export() {
    let first = read(SPEC, "SPEC.md");
    for (to, name) in
        [(steadfast_plan::ExportTarget::Json, "SPEC.json"), (steadfast_plan::ExportTarget::Markdown, "PLAN.md")]
    {
        let outgoing = steadfast_plan::Outgoing { plan: &first.plan, reported: &[], at: "2026-01-01T00:00:00Z" };
        let text = steadfast_plan::export(outgoing, to);
        assert_eq!(read(&text, name).plan.estimates, first.plan.estimates, "{text}");
    }
}

fn tasks_of(compiled: &Compiled) -> Vec<Task> {
    let task = |planned: &steadfast_model::PlannedTask| Task {
        plan: PlanId::new("p"),
        id: planned.id.clone(),
        title: planned.title.clone(),
        kind: planned.kind,
        task_type: planned.task_type,
        phase: planned.phase.clone(),
        item: None,
        files: planned.files.clone(),
        notes: planned.notes.clone(),
        verify: planned.verify.clone(),
        blocked_by: planned.blocked_by.clone(),
        status: Status::Pending,
        stuck_count: 0,
        wave: None,
        added_by: AddedBy::Human,
        created_at: Millis(0),
        updated_at: Millis(0),
    };
    compiled.plan.tasks.iter().map(task).collect()
}

#[test]
fn what_was_measured_counts_first_and_scales_the_rest() {
    let compiled = read(SPEC, "SPEC.md");
    let tasks = tasks_of(&compiled);
    let units = units(&tasks).unwrap();
    let place = |id: &str| units.iter().position(|unit| unit.id.as_str() == id).unwrap();
    let mut lengths = Lengths::of(&units, &tasks, &compiled.plan.estimates);
    let minutes = |lengths: &Lengths| {
        let expected = lengths.expected();
        ["1.0", "1.1", "1.2", "1.3"].map(|id| expected[place(id)] / MINUTE)
    };
    // Nothing is said of 1.3: the median. The runner writes 1.0 itself.
    assert_eq!(minutes(&lengths), [0, 20, 90, 90]);
    // Agents take a tenth of what the author said.
    lengths.measure(place("1.1"), 2 * MINUTE);
    assert_eq!(minutes(&lengths), [0, 2, 9, 9]);
    lengths.measure(place("1.3"), 50 * MINUTE);
    assert_eq!(minutes(&lengths)[3], 50);
}

#[test]
fn without_any_estimate_more_work_is_expected_to_take_longer() {
    let text = SPEC.replace("- Estimate: 20 min\n", "").replace(" (~1.5 h)", "").replace("- Effort: soon\n", "");
    let compiled = read(&text, "SPEC.md");
    assert_eq!(compiled.plan.estimates, BTreeMap::<TaskId, u64>::new());
    let tasks = tasks_of(&compiled);
    let units = units(&tasks).unwrap();
    let expected = Lengths::of(&units, &tasks, &BTreeMap::new()).expected();
    let of = |id: &str| expected[units.iter().position(|unit| unit.id.as_str() == id).unwrap()];
    assert!(of("1.2") > of("1.1"), "a ui task has three links");
    assert_eq!(of("1.1"), of("1.3"));
}
