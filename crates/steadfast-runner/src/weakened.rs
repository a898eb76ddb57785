//! Finds changes that weaken the tests, as far as tokens show it. `languages.toml` describes tests in each language,
//! and `checks.toml` describes checks and thresholds in settings and scripts.
//!
//! It compares all assertions before and after the whole change, not the words of a diff: an assertion that moved to
//! another file, a helper or a table still counts. A false alarm closes a gate, so an assertion that another one
//! replaces does not count as lost. These are left to the reviewers, who read the same change:
//!
//! - another expected value, a looser comparison, an assertion that cannot fail or is not reached,
//! - a test that goes with the code it tested: one of its names is no longer defined,
//! - fewer rows of a table, retries, a longer timeout, a mock instead of the tested code,
//! - files and rules that a check leaves out, a check that is replaced, snapshots.

mod assertion;
mod compare;
mod language;
mod lex;
mod region;
mod settings;
mod source;

use steadfast_model::labels;
use steadfast_text::truncate_line;

use source::Source;

/// The most items of a kind that are compared pair by pair.
const MOST: usize = 300;

/// A file before and after a change. `was` is its former path, if it was renamed.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    pub path: &'a str,
    pub was: Option<&'a str>,
    pub before: Option<&'a str>,
    pub after: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    pub kind: WeakeningKind,
    pub file: String,
    /// The line in the file after the change; in the file before it, if something is gone.
    pub line: usize,
    pub text: String,
}

labels! {
    #[derive(PartialOrd, Ord)]
    pub enum WeakeningKind {
        Skipped = "skipped",
        /// Only this test runs.
        Focused = "focused",
        TestDeleted = "test-deleted",
        AssertionDeleted = "assertion-deleted",
        ThresholdLowered = "threshold-lowered",
        /// A check fails, and its status is ignored.
        StatusIgnored = "status-ignored",
    }
}

/// Returns the weakenings in the change of one file.
pub fn weakened(file: &str, before: Option<&str>, after: Option<&str>) -> Vec<Weakening> {
    weakened_by(&[FileChange { path: file, was: None, before, after }])
}

/// Returns the weakenings in a whole change, in the order of its files and lines.
pub fn weakened_by(changes: &[FileChange<'_>]) -> Vec<Weakening> {
    let before: Vec<Source<'_>> = changes.iter().filter_map(Source::before).collect();
    let after: Vec<Source<'_>> = changes.iter().filter_map(Source::after).collect();
    let mut found = compare::compare(&before, &after);
    found.extend(settings::compare(changes));
    let place = |weakening: &Weakening| {
        let is_of = |change: &FileChange<'_>| change.path == weakening.file || change.was == Some(&weakening.file);
        (changes.iter().position(is_of), weakening.line, weakening.kind)
    };
    found.sort_by_key(place);
    found.dedup_by_key(|weakening| (weakening.file.clone(), weakening.line, weakening.kind));
    found
}

fn say(kind: WeakeningKind, file: &str, line: usize, text: &str) -> Weakening {
    const LONGEST: usize = 200;
    Weakening { kind, file: file.to_owned(), line, text: truncate_line(text, LONGEST) }
}
