//! What would change in a file, as `diff -u` shows it.

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

/// A file that comes or goes as a whole, in one line.
fn print_whole(change: &FileEdit, verb: &str, text: &[u8]) -> Result<(), CommandError> {
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    tell!("{verb} {} {} ({lines} lines)", change.what, change.path.display())
}

/// What a plan would change, and what it leaves. The whole text of a skill that comes or goes is in a dry run only: it is
/// ours from the first line to the last, and would bury the lines that go into the user's files.
pub(crate) fn show_plan(plan: &InstallPlan, whole: bool) -> Result<(), CommandError> {
    for change in &plan.changes {
        match (&change.before, &change.after) {
            (None, Some(text)) if change.is_skill() && !whole => print_whole(change, "new", text)?,
            (Some(text), None) if change.is_skill() && !whole => print_whole(change, "removed", text)?,
            (before, after) => print(&change.path, before.as_deref(), after.as_deref())?,
        }
    }
    for path in &plan.left {
        note!("note: `{}` is not as `init` writes it, and stays as it is", path.display());
    }
    Ok(())
}
