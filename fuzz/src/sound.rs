//! What holds of every text that is read as a spec.

use std::collections::BTreeMap;

use steadfast_model::{Plan, TaskId};
use steadfast_plan::{CompileOptions, compile, lint, render};

/// No panic, something is said about what does not compile, and what does is sound.
pub(crate) fn check(text: &str, name: &str) {
    let options = CompileOptions::default();
    match compile(text, name, &options) {
        Ok(compiled) => {
            assert!(!compiled.warnings.iter().any(|problem| problem.is_error()), "an error among the warnings");
            render(&compiled.warnings, text, name, |line| line.into());
            is_sound(&compiled.plan);
        }
        Err(report) => {
            assert!(report.errors() > 0, "no plan, and no reason");
            assert_eq!(lint(text, name, &options), report);
            render(&report.problems, text, name, |line| line.into());
        }
    }
}

/// Ids are there once, what is waited for is there, nothing waits for itself, and a phase is one of the plan's.
fn is_sound(plan: &Plan) {
    let mut waits: BTreeMap<&TaskId, usize> = BTreeMap::new();
    let mut waited_for: BTreeMap<&TaskId, Vec<&TaskId>> = BTreeMap::new();
    for task in &plan.tasks {
        assert!(waits.insert(&task.id, task.blocked_by.len()).is_none(), "{} is there twice", task.id);
        let phase = task.phase.as_deref().expect("a task of a spec has a phase");
        let phase = plan.phases.iter().find(|known| known.id == phase).expect("its phase is in the plan");
        assert!(task.item.is_none_or(|item| (item as usize) < phase.items.len()), "{} has no item", task.id);
        for before in &task.blocked_by {
            waited_for.entry(before).or_default().push(&task.id);
        }
    }
    for before in waited_for.keys() {
        assert!(waits.contains_key(before), "{before} is waited for, and not there");
    }
    let mut ready: Vec<&TaskId> = waits.iter().filter(|(_, left)| **left == 0).map(|(id, _)| *id).collect();
    let mut done = 0;
    while let Some(id) = ready.pop() {
        done += 1;
        for after in waited_for.get(id).into_iter().flatten() {
            let left = waits.get_mut(after).expect("it is there");
            *left -= 1;
            if *left == 0 {
                ready.push(after);
            }
        }
    }
    assert_eq!(done, plan.tasks.len(), "a circle");
}
