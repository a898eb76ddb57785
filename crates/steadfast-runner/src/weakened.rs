//! Whether a change weakened the tests.
//!
//! Assertions are compared, before and after and over the whole change, not words of a diff: one that moved to another
//! file, into a helper or into a table is still there. What is found is said with its line.
//!
//! A false alarm closes somebody's gate, so what is not known to be weaker counts as strong. Not looked for, because it
//! cannot be told from work:
//!
//! - another expected value, another snapshot: the behaviour changed, and whether it should have is for a review,
//! - a test that goes with the code it tested: a name that it uses is defined no longer,
//! - a raised timeout, a condition around an assertion or a skip that is not a constant,
//! - a mock in the place of what is tested, a fixture that makes a test easy,
//! - patterns that collect fewer tests, rules of a linter that are turned off,
//! - what `unwrap`, `?` or a panic asserts by the way.

mod assertion;
mod command;
mod compare;
mod config;
mod count;
mod held;
mod language;
mod level;
mod lex;
mod mark;
mod reach;
mod routine;
mod setting;
mod snapshot;
mod source;
mod strength;
mod token;

use std::collections::HashMap;

use source::Source;

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
    pub kind: Kind,
    pub file: String,
    /// In the file as it is now; in the file as it was, where what was there is gone.
    pub line: usize,
    pub text: String,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    Skipped = "skipped",
    /// Only this test is run, and the others are not.
    Focused = "focused",
    ExpectedToFail = "expected-to-fail",
    TestDeleted = "test-deleted",
    AssertionDeleted = "assertion-deleted",
    CommentedOut = "commented-out",
    Loosened = "loosened",
    ToleranceWidened = "tolerance-widened",
    /// It holds whatever the program does.
    Vacuous = "vacuous",
    /// Its failure is caught.
    Swallowed = "swallowed",
    EarlyReturn = "early-return",
    DeadBranch = "dead-branch",
    /// The test is there, and no runner finds it.
    NotCollected = "not-collected",
    Retried = "retried",
    FewerCases = "fewer-cases",
    ThresholdLowered = "threshold-lowered",
    Excluded = "excluded",
    /// A check fails, and nobody hears of it.
    StatusIgnored = "status-ignored",
    CheckReplaced = "check-replaced",
    SnapshotDropped = "snapshot-dropped",
    SnapshotAccepted = "snapshot-accepted",
}

/// What the change of one file weakened.
pub fn weakened(file: &str, before: Option<&str>, after: Option<&str>) -> Vec<Weakening> {
    weakened_by(&[FileChange { path: file, was: None, before, after }])
}

/// What a whole change weakened, in the order of its files and lines.
pub fn weakened_by(changes: &[FileChange<'_>]) -> Vec<Weakening> {
    let old_path = |change: &FileChange<'_>| change.was.unwrap_or(change.path).to_owned();
    let renamed: HashMap<String, String> =
        changes.iter().map(|change| (old_path(change), change.path.to_owned())).collect();
    let before: Vec<Source> =
        changes.iter().filter_map(|change| Source::read(&old_path(change), change.before?)).collect();
    let after: Vec<Source> = changes.iter().filter_map(|change| Source::read(change.path, change.after?)).collect();
    let mut found = compare::compare(&before, &after, &renamed);
    found.extend(config::compare(changes));
    found.extend(snapshot::compare(changes, &before, &after));
    let place = |weakening: &Weakening| {
        let file =
            changes.iter().position(|change| change.path == weakening.file || change.was == Some(&weakening.file));
        (file, weakening.line, weakening.kind)
    };
    found.sort_by_key(place);
    found.dedup_by_key(|weakening| (weakening.file.clone(), weakening.line, weakening.kind));
    found
}
