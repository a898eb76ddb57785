//! Lists of boxes with more meaning: `openspec/changes/NAME/tasks.md`, whose folder names the change, and spec-kit's
//! `specs/NAME/tasks.md`: `- [ ] T012 [P] [US1] Create the model in src/models/user.py`.

use crate::draft::{Draft, DraftTask, Text};

/// The limit for parallel tasks. Beyond it, the dependencies of a list would grow with its square.
const WIDEST: usize = 200;

/// Names the change after its folder: `NAME` of `changes/NAME/tasks.md`.
pub(super) fn openspec(mut draft: Draft, name: &str) -> Draft {
    let mut folders = name.rsplit(['/', '\\']).skip(1);
    if let Some(change) = folders.next().filter(|_| folders.any(|folder| folder == "changes")) {
        change.clone_into(&mut draft.feature);
    }
    draft
}

/// A task with `[P]` may run in parallel with others; any other depends on all before it, and a phase on the one
/// before.
pub(super) fn spec_kit(mut draft: Draft) -> Draft {
    if let Some(feature) = draft.feature.strip_prefix("Tasks: ") {
        draft.feature = feature.trim().to_owned();
    }
    let mut before: Vec<String> = Vec::new();
    let mut beside: Vec<String> = Vec::new();
    for phase in &mut draft.phases {
        if !beside.is_empty() {
            before = std::mem::take(&mut beside);
        }
        for task in &mut phase.tasks {
            task.files.extend(files(&task.title));
            let is_beside = task.title.value.contains("[P]");
            if !is_beside && !beside.is_empty() {
                before = std::mem::take(&mut beside);
            }
            wait(task, &before);
            if is_beside {
                beside.push(task.id.value.clone());
            } else {
                before = vec![task.id.value.clone()];
            }
        }
    }
    draft
}

fn wait(task: &mut DraftTask, before: &[String]) {
    let last = &before[before.len().saturating_sub(WIDEST)..];
    let new = last.iter().filter(|id| !task.after.iter().any(|known| known.value == **id));
    let new: Vec<Text> = new.map(|id| task.id.with(id)).collect();
    task.after.extend(new);
}

/// Returns the paths that a title names.
fn files(title: &Text) -> Vec<Text> {
    let words =
        title.value.split_whitespace().map(|word| word.trim_matches(['`', ',', ';', '.', '(', ')', '"', '\'', '*']));
    let is_path = |word: &&str| {
        word.contains('/')
            && !word.contains("://")
            && word.rsplit('/').next().is_some_and(|last| last.contains('.'))
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '[' | ']'))
    };
    words.filter(is_path).map(|word| title.with(word)).collect()
}
