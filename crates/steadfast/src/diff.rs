//! Changes of files, in the format of `diff -u`.

use std::path::Path;

use similar::TextDiff;
use steadfast_hosts::install::{FileEdit, InstallPlan};

use crate::error::CommandError;
use crate::output::{note, put, tell};

pub(crate) fn print(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<(), CommandError> {
    let name = path.display().to_string();
    let nothing = "/dev/null".to_owned();
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (old, new) = (text(before), text(after));
    let header = (if before.is_some() { &name } else { &nothing }, if after.is_some() { &name } else { &nothing });
    let diff = TextDiff::from_lines(&old, &new);
    put(&diff.unified_diff().context_radius(2).header(header.0, header.1).to_string()).map(|_| ())
}

/// Prints one line for a file that is created or removed.
fn print_whole(change: &FileEdit, verb: &str, text: &[u8]) -> Result<(), CommandError> {
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    tell!("{verb} {} {} ({lines} lines)", change.what, change.path.display())
}

/// Prints the changes of an install plan and the files it leaves. Only a dry run prints the whole text of a created or
/// removed skill: Steadfast wrote all of it, and it would hide the changes in the user's own files.
pub(crate) fn show_plan(plan: &InstallPlan, whole: bool) -> Result<(), CommandError> {
    for change in &plan.changes {
        match (&change.before, &change.after) {
            (None, Some(text)) if change.is_skill() && !whole => print_whole(change, "new", text)?,
            (Some(text), None) if change.is_skill() && !whole => print_whole(change, "removed", text)?,
            (before, after) => print(&change.path, before.as_deref(), after.as_deref())?,
        }
    }
    for path in &plan.left {
        note!("note: `{}` differs from what `init` writes, so it stays as it is", path.display());
    }
    Ok(())
}
