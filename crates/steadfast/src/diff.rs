//! Changes of files, in the format of `diff -u`.

use std::path::Path;

use similar::{ChangeTag, TextDiff};
use steadfast_hosts::install::InstallPlan;

use crate::terminal::{bad, faint, good, strong};

/// Returns the changes of a file, with styles.
pub(crate) fn of_file(path: &Path, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let name = path.display().to_string();
    let nothing = "/dev/null".to_owned();
    let (old, new) = (text(before), text(after));
    let header = (if before.is_some() { &name } else { &nothing }, if after.is_some() { &name } else { &nothing });
    let diff = TextDiff::from_lines(&old, &new);
    let lines = diff.unified_diff().context_radius(2).header(header.0, header.1).to_string();
    lines.split_inclusive('\n').map(styled).collect()
}

fn styled(line: &str) -> String {
    let text = line.trim_end_matches('\n');
    let end = &line[text.len()..];
    let text = match text.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => strong(text),
        [b'-', ..] => bad(text),
        [b'+', ..] => good(text),
        [b'@', ..] => faint(text),
        _ => text.to_owned(),
    };
    text + end
}

/// Returns every changed line of a plan.
pub(crate) fn of_plan(plan: &InstallPlan) -> String {
    plan.changes.iter().map(|change| of_file(&change.path, change.before.as_deref(), change.after.as_deref())).collect()
}

/// Counts the added and the removed lines.
pub(crate) fn changed_lines(before: Option<&[u8]>, after: Option<&[u8]>) -> (usize, usize) {
    let (old, new) = (text(before), text(after));
    let diff = TextDiff::from_lines(&old, &new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}
