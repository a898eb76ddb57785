//! Overlap between the files of two units: the same path, a folder and its contents, a glob and its possible matches.

use std::collections::BTreeSet;
use std::ops::Bound;

use steadfast_text::clean;

/// A path as a task names it, up to the first part that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FilePattern {
    /// A file or folder. The root is empty.
    Path(String),
    /// All paths with this prefix: a glob up to its first special character.
    Prefix(String),
}

/// Files that the chosen units of a wave may write.
#[derive(Debug, Default)]
pub(crate) struct FileSet {
    paths: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl FilePattern {
    fn of(file: &str) -> Self {
        match file.find(['*', '?', '[', '{']) {
            None => Self::Path(clean(file)),
            Some(end) => {
                let literal = &file[..end];
                let folder = literal.rfind('/').map_or("", |slash| &literal[..slash]);
                let name = literal.rfind('/').map_or(literal, |slash| &literal[slash + 1..]);
                let folder = clean(folder);
                Self::Prefix(if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") })
            }
        }
    }
}

impl FileSet {
    pub(crate) fn add(&mut self, files: &[String]) {
        for file in files {
            match FilePattern::of(file) {
                FilePattern::Path(path) => self.paths.insert(path),
                FilePattern::Prefix(prefix) => self.prefixes.insert(prefix),
            };
        }
    }

    pub(crate) fn meets(&self, files: &[String]) -> bool {
        files.iter().any(|file| match FilePattern::of(file) {
            FilePattern::Path(path) => self.meets_path(&path),
            FilePattern::Prefix(prefix) => self.meets_prefix(&prefix),
        })
    }

    fn meets_path(&self, path: &str) -> bool {
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        self.paths.contains(path)
            || folders(path).any(|folder| self.paths.contains(folder))
            || begins(&self.paths, &below)
            || beginnings(path).any(|beginning| self.prefixes.contains(beginning))
            || begins(&self.prefixes, &below)
    }

    fn meets_prefix(&self, prefix: &str) -> bool {
        begins(&self.paths, prefix)
            || folders(prefix).any(|folder| self.paths.contains(folder))
            || begins(&self.prefixes, prefix)
            || beginnings(prefix).any(|beginning| self.prefixes.contains(beginning))
    }
}

/// Reports whether any path in the set has this prefix.
fn begins(set: &BTreeSet<String>, beginning: &str) -> bool {
    set.range::<str, _>((Bound::Included(beginning), Bound::Unbounded))
        .next()
        .is_some_and(|first| first.starts_with(beginning))
}

/// Returns all parent folders, the root first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    [""].into_iter().chain(path.match_indices('/').map(|(slash, _)| &path[..slash]))
}

/// Returns all prefixes of a text, including the text itself.
fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(end, _)| &text[..end]).chain([text])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn meet(left: &str, right: &str) -> bool {
        let mut reached = FileSet::default();
        reached.add(&[left.to_owned()]);
        reached.meets(&[right.to_owned()])
    }

    #[test]
    fn a_path_meets_itself_its_folders_and_globs_that_may_match_it() {
        let pairs = [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "./src//b/../a.rs", true),
            ("src/a.rs", "src/a.r", false),
            ("src/a.rs", "src/A.rs", false),
            ("src", "src/a.rs", true),
            ("src/", "src/auth/a.rs", true),
            ("src", "srcs/a.rs", false),
            (".", "anything", true),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.ts", true),
            ("src/*.rs", "src", true),
            ("src/a*", "src/b.rs", false),
            ("src/a*", "sr", false),
            ("src/a*", "src/ab/*.rs", true),
            ("src/*.rs", "tests/*.rs", false),
            ("**/mod.rs", "docs/a.md", true),
            ("src/{a,b}.rs", "src/a.rs", true),
            ("ü?.rs", "üb.rs", true),
        ];
        for (left, right, expected) in pairs {
            assert_eq!((meet(left, right), meet(right, left)), (expected, expected), "{left} and {right}");
        }
    }

    /// The same, told one pair at a time.
    fn told_plainly(left: &FilePattern, right: &FilePattern) -> bool {
        let below = |folder: &str, path: &str| folder.is_empty() || path.starts_with(&format!("{folder}/"));
        match (left, right) {
            (FilePattern::Path(left), FilePattern::Path(right)) => {
                left == right || below(left, right) || below(right, left)
            }
            (FilePattern::Prefix(left), FilePattern::Prefix(right)) => {
                left.starts_with(right) || right.starts_with(left)
            }
            (FilePattern::Path(path), FilePattern::Prefix(prefix))
            | (FilePattern::Prefix(prefix), FilePattern::Path(path)) => {
                path.starts_with(prefix) || path == prefix || below(path, prefix)
            }
        }
    }

    proptest! {
        #[test]
        fn many_are_looked_up_as_each_is_compared(
            claimed in prop::collection::vec("[ab/*é]{0,6}", 0..5),
            file in "[ab/*é]{0,6}",
        ) {
            let mut reached = FileSet::default();
            reached.add(&claimed);
            let expected = claimed.iter().any(|other| told_plainly(&FilePattern::of(other), &FilePattern::of(&file)));
            prop_assert_eq!(reached.meets(&[file]), expected);
        }
    }
}
