use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use steadfast_model::{Check, Plan, PlannedTask, TaskId, TaskKind};

/// Hashes the authored part of a plan: goal, tasks, files, checks, must-nots. Generated tasks are left out: they follow
/// from the authored ones and from the configuration, and are not part of what a human approved.
pub fn hash(plan: &Plan) -> String {
    let mains = || plan.tasks.iter().filter(|task| task.kind == TaskKind::Main);
    let ids: BTreeSet<&str> = mains().map(|task| task.id.as_str()).collect();
    let waits = waits(plan, &ids);
    let authored: Vec<_> = mains().map(|task| authored(task, waits.get(task.id.as_str()))).collect();
    // The author's check may be on a generated task: the last one of the chain.
    let commands = plan.tasks.iter().filter_map(|task| Some((&task.id, task.verify.as_ref()?.as_command()?)));
    let mut words = serde_json::json!([
        plan.feature,
        plan.description,
        plan.constraints,
        plan.criteria,
        plan.promise,
        plan.phases,
        authored,
        commands.collect::<Vec<_>>(),
    ]);
    // A plan without stated checks keeps the hash it had before they existed.
    let stated: Vec<&str> = plan.checks.iter().map(|check| check.command.as_str()).collect();
    if let (false, Some(words)) = (stated.is_empty(), words.as_array_mut()) {
        words.push(stated.into());
    }
    Sha256::digest(words.to_string().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the authored dependencies of each authored task. In a chain `1.2a → 1.2 → 1.2b` the first task has the
/// dependencies of the chain, and others depend on the last. Dependencies on decision tasks are not authored.
fn waits<'a>(plan: &'a Plan, ids: &BTreeSet<&'a str>) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let main = |id: &'a TaskId| {
        let bare = id.as_str().trim_end_matches(|c: char| c.is_ascii_lowercase());
        [id.as_str(), bare].into_iter().find(|id| ids.contains(id))
    };
    let mut waits: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for link in &plan.tasks {
        let Some(task) = main(&link.id) else { continue };
        let before = link.blocked_by.iter().filter_map(main).filter(|before| *before != task);
        waits.entry(task).or_default().extend(before);
    }
    waits
}

fn authored(task: &PlannedTask, waits: Option<&BTreeSet<&str>>) -> serde_json::Value {
    let check = task.verify.as_ref().and_then(Check::as_command);
    serde_json::json!([
        task.id,
        task.title,
        task.task_type,
        task.phase,
        task.item,
        task.files,
        task.notes,
        check,
        waits
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompileOptions, compile};

    const SPEC: &str = "# Sign in\n\n## Phase 1: Codes\n### 1.1 Make codes\n- Type: backend\n- Files: src/code.rs\n\
                        - Verify: `cargo test`\n### 1.2 Show them\n- Type: ui\n- Files: src/show.tsx\n- Depends on: 1.1\n";

    fn of(text: &str, options: &CompileOptions) -> String {
        hash(&compile(text, "SPEC.md", options).unwrap().plan)
    }

    #[test]
    fn it_covers_what_was_authored() {
        let plain = of(SPEC, &CompileOptions::default());
        for (from, to) in [
            ("Sign in", "Sign out"),
            ("Make codes", "Make keys"),
            ("src/code.rs", "src/key.rs"),
            ("cargo test", "true"),
            ("backend", "func"),
            ("- Depends on: 1.1\n", ""),
        ] {
            assert_ne!(of(&SPEC.replace(from, to), &CompileOptions::default()), plain, "{from} → {to}");
        }
    }

    #[test]
    fn it_does_not_cover_what_is_generated() {
        let plain = of(SPEC, &CompileOptions::default());
        assert_eq!(of(SPEC, &CompileOptions { ui_skills: Vec::new(), ..CompileOptions::default() }), plain);
        assert_eq!(of(SPEC, &CompileOptions { ui_skills: vec!["brand".into()], ..CompileOptions::default() }), plain);
    }
}
