//! Whether a change weakened the tests, as far as tokens show it. `languages.toml` says what a test looks like in each
//! language, and `checks.toml` what a check and a threshold look like in settings and scripts.
//!
//! Assertions are compared, before and after and over the whole change, not words of a diff: one that moved to another
//! file, into a helper or into a table is still there. A false alarm closes a gate, so an assertion with another one in
//! its place is not lost. These are for the reviewers, who read the same change:
//!
//! - another expected value, a looser comparison, an assertion that cannot fail or is not reached,
//! - a test that goes with the code it tested: a name that it uses is defined no longer,
//! - fewer rows of a table, retries, a raised timeout, a mock in the place of what is tested,
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

/// Of everything that is compared with everything.
const MOST: usize = 300;

/// A file before and after a change. `was` is its path before, where that was another.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    pub path: &'a str,
    pub was: Option<&'a str>,
    pub before: Option<&'a str>,
    pub after: Option<&'a str>,
}

/// Something that made the tests of a change prove less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    pub kind: WeakeningKind,
    pub file: String,
    /// In the file as it is now; in the file as it was, where something is gone.
    pub line: usize,
    pub text: String,
}

labels! {
    #[derive(PartialOrd, Ord)]
    pub enum WeakeningKind {
        Skipped = "skipped",
        /// Only this test is run, and the others are not.
        Focused = "focused",
        TestDeleted = "test-deleted",
        AssertionDeleted = "assertion-deleted",
        ThresholdLowered = "threshold-lowered",
        /// A check fails, and its status is ignored.
        StatusIgnored = "status-ignored",
    }
}

/// The weakenings in the change of one file.
pub fn weakened(file: &str, before: Option<&str>, after: Option<&str>) -> Vec<Weakening> {
    weakened_by(&[FileChange { path: file, was: None, before, after }])
}

/// The weakenings in a whole change, in the order of its files and lines.
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
