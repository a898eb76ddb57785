//! Parts that cannot run on this machine.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::Result;

/// Returns true in CI, where every part must run.
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Appends a skip to the list, in the form that the tests write (`steadfast_testkit::skip`).
pub fn record(skips: &Path, part: &str, why: &str) -> Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(skips)?;
    writeln!(file, "{part}\t{}", why.replace(['\t', '\n'], " "))?;
    Ok(())
}

/// Returns every reason once, with the number of skipped tests or stages.
pub fn counted(skips: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(skips).unwrap_or_default();
    let mut reasons: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let reason = line.replacen('\t', ": ", 1);
        match reasons.iter_mut().find(|(_, known)| *known == reason) {
            Some((count, _)) => *count += 1,
            None => reasons.push((1, reason)),
        }
    }
    reasons
}
