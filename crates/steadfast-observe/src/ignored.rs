//! Reads git's ignore rules from their files, because a stop event starts no git. Does not read the user's own list
//! (`core.excludesFile`); files ignored only there count as not ignored.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_text::glob;

/// The ignore rules for a folder, the weakest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignored(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    /// The folder of the rule's file, relative to the root.
    base: PathBuf,
    pattern: String,
    /// The pattern contains a slash: it matches the path from `base`, not any name below it.
    anchored: bool,
    folders_only: bool,
    /// `!pattern`
    wanted: bool,
}

impl Ignored {
    /// Collects the rules for the entries of a folder.
    pub(crate) fn within(root: &Path, common_dir: Option<&Path>, folder: &Path) -> Self {
        let mut rules = Self::default();
        if let Some(common) = common_dir {
            rules.read(&common.join("info/exclude"), Path::new(""));
        }
        let mut ancestors: Vec<&Path> = folder.ancestors().collect();
        ancestors.reverse();
        for above in ancestors {
            rules = rules.below(root, above);
        }
        rules
    }

    /// Adds the rules of a subfolder.
    pub(crate) fn below(&self, root: &Path, folder: &Path) -> Self {
        let mut rules = self.clone();
        rules.read(&root.join(folder).join(".gitignore"), folder);
        rules
    }

    pub(crate) fn has(&self, folder: &Path, name: &str, is_folder: bool) -> bool {
        let path = folder.join(name);
        let applies = |rule: &&Rule| {
            if rule.folders_only && !is_folder {
                return false;
            }
            let within = path.strip_prefix(&rule.base).map(|path| path.to_string_lossy()).unwrap_or_default();
            glob::git_path(&rule.pattern, if rule.anchored { &within } else { name })
        };
        self.0.iter().rev().find(applies).is_some_and(|rule| !rule.wanted)
    }

    fn read(&mut self, file: &Path, base: &Path) {
        let text = fs::read_to_string(file).unwrap_or_default();
        self.0.extend(text.lines().filter_map(|line| Rule::of(line, base)));
    }
}

impl Rule {
    fn of(line: &str, base: &Path) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (wanted, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (folders_only, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let anchored = line.contains('/');
        let pattern = line.strip_prefix('/').unwrap_or(line).to_owned();
        Some(Self { base: base.to_owned(), pattern, anchored, folders_only, wanted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignores(rules: &str, path: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(".gitignore"), rules).unwrap();
        let (is_folder, path) = path.strip_suffix('/').map_or((false, path), |path| (true, path));
        let path = Path::new(path);
        let folder = path.parent().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        Ignored::within(dir.path(), None, folder).has(folder, name, is_folder)
    }

    #[test]
    fn rules_are_read_as_git_reads_them() {
        for (rules, path) in [
            ("*.pyc", "src/a.pyc"),
            ("__pycache__/", "src/__pycache__/"),
            ("/build", "build"),
            ("src/out", "src/out/"),
            ("src/**/gen", "src/a/b/gen/"),
            ("**/x", "a/b/x"),
            ("a/**", "a/b"),
            ("[Tt]emp?", "temp1"),
            ("[!a]b", "cb"),
            ("*\n!keep.txt", "other.txt"),
            ("# no\n\n\\#yes", "#yes"),
        ] {
            assert!(ignores(rules, path), "{rules:?} {path}");
        }
        for (rules, path) in [
            ("*.pyc", "src/a.py"),
            ("__pycache__/", "src/__pycache__"),
            ("/build", "src/build"),
            ("src/out", "lib/src/out"),
            ("*\n!keep.txt", "keep.txt"),
            ("src/*", "src/a/b"),
            ("[!a]b", "ab"),
        ] {
            assert!(!ignores(rules, path), "{rules:?} {path}");
        }
    }

    #[test]
    fn a_pattern_that_takes_too_long_matches_nothing() {
        let pattern = "*a".repeat(40);
        assert!(ignores(&pattern, &"a".repeat(200)));
        assert!(!ignores(&pattern, &format!("{}b", "a".repeat(200))));
    }

    #[test]
    fn a_file_further_down_has_the_last_word() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::create_dir_all(dir.path().join("git/info")).unwrap();
        fs::write(dir.path().join("git/info/exclude"), "*.swp").unwrap();
        fs::write(dir.path().join(".gitignore"), "*.log").unwrap();
        fs::write(dir.path().join("a/.gitignore"), "!b.log\n/here").unwrap();
        let rules = Ignored::within(dir.path(), Some(&dir.path().join("git")), Path::new("a/b"));
        let has = |name| rules.has(Path::new("a/b"), name, false);
        assert_eq!(["a.log", "b.log", "x.swp", "here"].map(has), [true, false, true, false]);
    }
}
