//! What would change in a file, as `diff -u` shows it.

use std::path::Path;

use similar::TextDiff;
use steadfast_hosts::install::FileChange;

use crate::error::CommandError;
use crate::output::{put, tell};

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
pub(crate) fn print_whole(change: &FileChange, verb: &str, text: &[u8]) -> Result<(), CommandError> {
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    tell!("{verb} {} {} ({lines} lines)", change.what, change.path.display())
}
