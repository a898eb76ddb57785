//! `specs/NAME/tasks.md` of spec-kit: `- [ ] T012 [P] [US1] Create the model in src/models/user.py`.
//!
//! `[P]` may be done beside others; what has no such mark comes after all before it, and a phase after the one before.

use super::checklist;
use crate::draft::{Draft, DraftTask, Text};
use crate::problem::Findings;

/// More at once than anybody works on. A list this wide would otherwise wait for its square.
const WIDEST: usize = 200;

pub(super) fn read(text: &str, name: &str, findings: &mut Findings) -> Draft {
    let mut draft = checklist::read(text, name, findings);
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
    let span = task.id.span.clone();
    let last = &before[before.len().saturating_sub(WIDEST)..];
    let new = last.iter().filter(|id| !task.after.iter().any(|known| known.value == **id));
    let new: Vec<Text> = new.map(|id| Text::new(id, span.clone())).collect();
    task.after.extend(new);
}

/// The paths that a title names.
fn files(title: &Text) -> Vec<Text> {
    let words =
        title.value.split_whitespace().map(|word| word.trim_matches(['`', ',', ';', '.', '(', ')', '"', '\'', '*']));
    let is_path = |word: &&str| {
        word.contains('/')
            && !word.contains("://")
            && word.rsplit('/').next().is_some_and(|last| last.contains('.'))
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '[' | ']'))
    };
    words.filter(is_path).map(|word| Text::new(word, title.span.clone())).collect()
}
