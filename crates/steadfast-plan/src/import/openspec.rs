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

/// The folder that the file is in is the name of the change.
fn change(name: &str) -> Option<&str> {
    let (folders, _) = name.rsplit_once(['/', '\\'])?;
    let folder = folders.rsplit(['/', '\\']).next()?;
    (!matches!(folder, "" | "." | ".." | "changes" | "openspec")).then_some(folder)
}
