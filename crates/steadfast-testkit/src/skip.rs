//! Tests that this machine cannot run. The test command lists them at its end. In CI a skip is a failure.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// The environment variable for the file of skips that `cargo xtask test` reads: one line per skip, part and reason
/// with a tab between.
pub const SKIPS: &str = "STEADFAST_SKIPS";

/// Records that a test cannot run here.
///
/// # Panics
///
/// If `CI=true`, because CI must run every test.
pub fn skip(part: &str, why: &dyn Display) {
    #[expect(clippy::disallowed_methods, reason = "the environment says whether this is CI")]
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(!ci, "{part} cannot run here, and in CI nothing is skipped: {why}");
    skip_optional(part, why);
}

/// Records a test that did not run because its subject cannot be installed by name. That is no failure, even in CI.
pub fn skip_optional(part: &str, why: &dyn Display) {
    // `eprintln` would be captured: the test harness shows the output of failed tests only.
    let _ = writeln!(std::io::stderr(), "SKIPPED {part}: {why}");
    #[expect(clippy::disallowed_methods, reason = "the test command names its file in the environment")]
    let Some(file) = std::env::var_os(SKIPS) else { return };
    let reason = why.to_string().replace(['\t', '\n'], " ");
    let line = format!("{part}\t{reason}\n");
    let written = OpenOptions::new().append(true).create(true).open(&file).and_then(|mut file| {
        // One write, because tests of several processes append to this file.
        file.write_all(line.as_bytes())
    });
    assert!(written.is_ok(), "cannot write {}: {written:?}", file.display());
}
