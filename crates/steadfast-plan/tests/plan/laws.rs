use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use proptest::prelude::*;
use steadfast_model::Plan;
use steadfast_plan::{CompileOptions, compile, lint, render};

use crate::synthetic::synthetic_spec;
use steadfast_testkit::PATIENCE;

/// Ids are unique, everything that is waited for is there, and nothing waits for itself, through others or not.
fn is_sound(plan: &Plan) -> Result<(), TestCaseError> {
    let ids: BTreeSet<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    prop_assert_eq!(ids.len(), plan.tasks.len(), "an id is there twice");
    let mut waits: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in &plan.tasks {
        let after: BTreeSet<&str> = task.blocked_by.iter().map(|id| id.as_str()).collect();
        prop_assert!(after.is_subset(&ids), "{} waits for what is not there", task.id);
        waits.insert(task.id.as_str(), after);
    }
    while !waits.is_empty() {
        let ready: Vec<&str> = waits.iter().filter(|(_, after)| after.is_empty()).map(|(id, _)| *id).collect();
        prop_assert!(!ready.is_empty(), "a circle");
        for id in ready {
            waits.remove(id);
            for after in waits.values_mut() {
                after.remove(id);
            }
        }
    }
    Ok(())
}

fn spec() -> impl Strategy<Value = String> {
    let task =
        (0_u32..4, 1_u32..6, prop::sample::select(vec!["ui", "backend", "func", "docs", "none"]), 0_u32..4, 1_u32..6);
    prop::collection::vec((prop::collection::vec(task, 0..5), any::<bool>()), 1..4).prop_map(|phases| {
        let phases: Vec<String> = phases
            .iter()
            .enumerate()
            .map(|(index, (tasks, looped))| {
                let tasks: Vec<String> = tasks
                    .iter()
                    .map(|(phase, number, kind, on_phase, on)| {
                        format!(
                            r#"{{"id": "{phase}.{number}", "task": "t", "type": "{kind}", "files": ["f"], "depends_on": ["{on_phase}.{on}"]}}"#
                        )
                    })
                    .collect();
                let tasks = tasks.join(",");
                if *looped {
                    format!(r#"{{"id": "p{index}", "loop": {{"items": ["a", "b"], "tasks": [{tasks}]}}}}"#)
                } else {
                    format!(r#"{{"id": "p{index}", "tasks": [{tasks}]}}"#)
                }
            })
            .collect();
        format!(r#"{{"feature": "f", "phases": [{}]}}"#, phases.join(","))
    })
}

/// What makes a text one format or another, when it does not itself.
const NAMES: [&str; 7] =
    ["SPEC.md", "SPEC.json", "-", "issues.jsonl", "openspec/changes/c/tasks.md", "tasks.json", "PLAN.md"];

proptest! {
    #[test]
    fn whatever_compiles_is_sound(text in spec()) {
        if let Ok(compiled) = compile(&text, "SPEC.json", &CompileOptions::default()) {
            is_sound(&compiled.plan)?;
        }
    }

    #[test]
    fn any_text_is_read_without_harm(text in ".{0,400}", name in prop::sample::select(NAMES.to_vec())) {
        let report = lint(&text, name, &CompileOptions::default());
        render(&report.problems, &text, name, |line| line.into());
        if let Ok(compiled) = compile(&text, name, &CompileOptions::default()) {
            is_sound(&compiled.plan)?;
        }
    }

    #[test]
    fn any_lines_are_read_without_harm(lines in prop::collection::vec(
        prop::sample::select(vec![
            "# T", "## Phase 1", "## 2. Two", "### 1.1 A", "### Task 1.2: B", "- [ ] 1.1 A", "- [x] C", "- Type: ui",
            "- Verify: `x`", "**Depends on**: 1.1, Phase 1", "| ID | Task | Type |", "|---|---|---|", "| 1.3 | D | docs |",
            "```", "````md", "<!--", "-->", "- Files: a, b", "words", "", "Depends on: All previous tasks", "## Constraints",
            "Title\n===", "Part\n---", "---", "## Task 1: E", "## Step 2: F", "### Create it", "1. Write it", "2) [ ] G",
            "  - [ ] H", "- [] I", "\t- [x] J", "**Task 3: K**", "| Task |\n|---|\n| L |", "## Tasks", "### [ ] M", "**Files:**",
            "#### Acceptance criteria", "Verify: `x", "Verify: all is well", "- Create N", "1.1. O", "é | `|\n-|-", "- [ ] UTF-8: P",
        ]),
        0..30,
    )) {
        let text = lines.join("\n");
        let report = lint(&text, "SPEC.md", &CompileOptions::default());
        render(&report.problems, &text, "SPEC.md", |line| line.into());
        if let Ok(compiled) = compile(&text, "SPEC.md", &CompileOptions::default()) {
            is_sound(&compiled.plan)?;
        }
    }
}

proptest! {
    #[test]
    fn any_list_is_read_without_harm(name in prop::sample::select(NAMES.to_vec()), lines in prop::collection::vec(
        prop::sample::select(vec![
            "# T", "## 1. One", "## Phase 1", "### Task 1.1: A", "### Task 1.1: B", "- [x] 1.1 A", "- [ ] B", "  - [~] C",
            "    - [-] 1.1 D", "- [ ] T001 [P] E", "- [ ] T002 F in src/f.rs", "- Depends on: 1.1, C", "Status: done", "> q",
            "**Dependencies**: Task 1.1", "```", "<tasks>", "<task type=\"auto\">", "<name>Task 1: G</name>", "</task>", "<task>",
            "<verify><automated>x</automated></verify>", "{", "}", "[", "]", ",", "\"tasks\": [", "{\"id\": 1, \"title\": \"H\"}",
            "{\"id\": \"a-1\", \"title\": \"I\", \"status\": \"closed\"}", "- [ ] J {#a}", "## K {#k}", "Decisions: none",
            "{\"id\": \"a-2\", \"title\": 7, \"status\": \"odd\", \"dependencies\": [{\"depends_on_id\": \"a-2\"}, 1]}", "", "words",
        ]),
        0..30,
    )) {
        let text = lines.join("\n");
        let report = lint(&text, name, &CompileOptions::default());
        render(&report.problems, &text, name, |line| line.into());
        if let Ok(compiled) = compile(&text, name, &CompileOptions::default()) {
            is_sound(&compiled.plan)?;
        }
    }
}

/// Generous for a busy machine. In a text of one line, finding the columns of many problems grows with the square.
#[test]
fn ten_thousand_tasks_in_one_line_compile_within_a_minute() {
    let started = Instant::now();
    let compiled = compile(&synthetic_spec(10_000), "SPEC.json", &CompileOptions::default()).unwrap();
    assert!(compiled.plan.tasks.len() > 15_000);
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
}

mod timing {
    use std::time::Duration;

    use super::*;

    /// With each task in a line of its own.
    fn spec(tasks: usize) -> String {
        synthetic_spec(tasks).replace("{\"id\"", "\n{\"id\"")
    }

    fn takes(text: &str, at_least: usize) -> Duration {
        let started = Instant::now();
        let compiled = compile(text, "SPEC.json", &CompileOptions::default()).unwrap();
        let took = started.elapsed();
        assert!(compiled.plan.tasks.len() > at_least);
        took
    }

    /// What grows with the square takes a hundred times as long with ten times the tasks. The quickest of several rounds
    /// counts: a busy machine is slow now and then.
    #[test]
    fn ten_thousand_tasks_compile_in_no_time() {
        let (few, many) = (spec(1_000), spec(10_000));
        let (mut of_few, mut of_many) = (Duration::MAX, Duration::MAX);
        for _ in 0..5 {
            of_few = of_few.min(takes(&few, 1_500));
            of_many = of_many.min(takes(&many, 15_000));
        }
        assert!(of_many < of_few * 30, "{of_few:?}, {of_many:?}");
    }

    /// Whatever is repeated, in one line or in many.
    #[test]
    fn text_of_any_kind_is_read_in_linear_time() {
        let pieces = [
            "`",
            "|",
            "#",
            "- ",
            "[",
            "**",
            "__",
            "<!--",
            "-->",
            "1. ",
            "---\n",
            "x\n---\n",
            "- [ ] a\n",
            "  - [ ] a\n",
            "1. a\n",
            "| a | `\n",
            "### 1. a\n",
            "Task 1: a\n",
            "## Phase 1\n",
            "**Files:**\n- a\n",
            "Verify: `a\n",
            "a | b\n",
            "`` ` ",
            "\\|",
        ];
        for piece in pieces {
            let takes = |times: usize| {
                let text = piece.repeat(times);
                let started = Instant::now();
                let _ = compile(&text, "SPEC.md", &CompileOptions::default());
                started.elapsed()
            };
            let few = (0..3).map(|_| takes(2_000)).min().unwrap_or_default().max(Duration::from_millis(2));
            // Once is enough, unless something else had the processor.
            let is_linear = (0..3).any(|_| takes(20_000) < few * 40);
            assert!(is_linear, "{piece:?}: 2,000 of them take {few:?}");
        }
    }
}
