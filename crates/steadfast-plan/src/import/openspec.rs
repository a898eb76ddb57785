//! `openspec/changes/NAME/tasks.md`: numbered boxes below numbered headings.

use super::checklist;
use crate::draft::Draft;
use crate::problem::Findings;

pub(super) fn read(text: &str, name: &str, findings: &mut Findings) -> Draft {
    let mut draft = checklist::read(text, name, findings);
    if let Some(change) = change(name) {
        change.clone_into(&mut draft.feature);
    }
    draft
}

/// `NAME` of `changes/NAME/tasks.md`.
fn change(name: &str) -> Option<&str> {
    let mut folders = name.rsplit(['/', '\\']).skip(1);
    let change = folders.next()?;
    folders.any(|folder| folder == "changes").then_some(change)
}
