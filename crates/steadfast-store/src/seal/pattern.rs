//! Patterns of protected paths, and the files that they match.

use std::fs;
use std::path::Path;

use steadfast_system::PendingFile;
use steadfast_text::glob;

/// The maximum number of directory entries to visit in a hook.
const VISITED: usize = 10_000;

/// The pattern part that matches any number of folders.
const ANY_FOLDERS: &str = "**";

/// Steadfast's rendered files for people, at the root of a checkout. They are protected only if a pattern names them.
pub(super) const OURS: &str = ".steadfast";

/// The files that match a pattern, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) paths: Vec<String>,
    /// Nothing was left out.
    pub(super) all: bool,
    /// A file name is not valid UTF-8 and cannot be reported.
    pub(super) unnamed: bool,
}

/// Checks if a pattern matches exactly one path.
pub(super) fn is_single(pattern: &str) -> bool {
    !pattern.ends_with('/') && !pattern.contains(['*', '?'])
}

/// Lists the files that match a pattern now, at most `limit`. A folder matches the files in it, without git repositories and
/// Steadfast's own files. Links are listed, not followed.
pub(super) fn files(root: &Path, pattern: &str, limit: usize) -> Files {
    let mut walk = Walk { root, limit, visited: 0, files: Files { all: true, ..Files::default() } };
    let parts: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    walk.parts(String::new(), &parts);
    // Two `**` may match the same file.
    walk.files.paths.sort_unstable();
    walk.files.paths.dedup();
    walk.files
}

struct Walk<'a> {
    root: &'a Path,
    limit: usize,
    visited: usize,
    files: Files,
}

impl Walk<'_> {
    fn parts(&mut self, beneath: String, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else { return };
        if *part == ANY_FOLDERS {
            return self.any_folders(beneath, rest);
        }
        let names = match part.contains(['*', '?']) {
            true => self.names(&beneath).into_iter().filter(|name| glob::name(part, name)).collect(),
            false => vec![(*part).to_owned()],
        };
        for name in names {
            let path = join(&beneath, &name);
            let Ok(found) = fs::symlink_metadata(self.root.join(&path)) else { continue };
            match (found.is_dir(), rest.is_empty()) {
                (true, true) => self.folder(&path),
                (true, false) => self.parts(path, rest),
                (false, true) => self.take(path),
                // A link inside a path is listed instead of followed.
                (false, false) if found.is_symlink() => self.take(path),
                (false, false) => {}
            }
        }
    }

    /// Matches the parts after a `**` in a folder and in all folders below it.
    fn any_folders(&mut self, beneath: String, parts: &[&str]) {
        if parts.is_empty() {
            return self.folder(&beneath);
        }
        for name in self.names(&beneath) {
            let path = join(&beneath, &name);
            if fs::symlink_metadata(self.root.join(&path)).is_ok_and(|found| found.is_dir()) {
                self.any_folders(path, parts);
            }
        }
        self.parts(beneath, parts);
    }

    fn folder(&mut self, path: &str) {
        for name in self.names(path) {
            let below = join(path, &name);
            match fs::symlink_metadata(self.root.join(&below)) {
                Ok(found) if found.is_dir() => self.folder(&below),
                Ok(_) => self.take(below),
                Err(_) => {}
            }
        }
    }

    fn take(&mut self, path: String) {
        if self.files.paths.len() < self.limit {
            self.files.paths.push(path);
        } else {
            self.files.all = false;
        }
    }

    /// Lists the names in a folder, sorted, so that the limit always cuts at the same files.
    fn names(&mut self, folder: &str) -> Vec<String> {
        let Ok(listed) = fs::read_dir(self.root.join(folder)) else { return Vec::new() };
        let mut names = Vec::new();
        for file in listed.flatten() {
            self.visited += 1;
            if self.visited > VISITED {
                self.files.all = false;
                break;
            }
            match file.file_name().into_string() {
                Ok(name) if is_passed_over(folder, &name) => {}
                Ok(name) => names.push(name),
                Err(_) => (self.files.all, self.files.unnamed) = (false, true),
            }
        }
        names.sort_unstable();
        names
    }
}

/// Git repositories, Steadfast's own files, and drafts of files.
fn is_passed_over(folder: &str, name: &str) -> bool {
    name == ".git" || PendingFile::is_name(name) || folder.is_empty() && name == OURS
}

/// Checks if a pattern matches a path, with the same result as [`files`].
pub(super) fn covers(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    covers_parts(&pattern, &path, true)
}

fn covers_parts(pattern: &[&str], path: &[&str], at_root: bool) -> bool {
    let is_passed_over = |name: &str| is_passed_over(if at_root { "" } else { "/" }, name);
    match (pattern, path) {
        ([], names) => names.iter().all(|name| !is_passed_over(name)),
        ([ANY_FOLDERS, rest @ ..], _) if covers_parts(rest, path, at_root) => true,
        ([ANY_FOLDERS, ..], [name, below @ ..]) => !is_passed_over(name) && covers_parts(pattern, below, false),
        ([part, rest @ ..], [name, below @ ..]) => {
            let is_meant = match part.contains(['*', '?']) {
                true => glob::name(part, name) && !is_passed_over(name),
                false => part == name,
            };
            is_meant && covers_parts(rest, below, false)
        }
        ([_, ..], []) => false,
    }
}

/// Checks if a pattern can match something in this folder.
pub(super) fn reaches(pattern: &str, folder: &str) -> bool {
    let parts = pattern.trim_end_matches('/').split('/');
    // After `**`, anything can match.
    let parts = parts.take_while(|part| *part != ANY_FOLDERS);
    parts.zip(folder.trim_end_matches('/').split('/')).all(|(part, name)| glob::name(part, name))
}

/// Returns the part of a pattern before its first `*` or `?`. `None` for the root.
pub(super) fn fixed(pattern: &str) -> Option<String> {
    let parts: Vec<&str> =
        pattern.trim_end_matches('/').split('/').take_while(|part| !part.contains(['*', '?'])).collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_its_files_without_repositories_and_what_is_being_written() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["a/x.md", "a/b/y.md", "a/.git/config", "a/.x.md.12-0.new", "a/.x.new", "c/z.md", "z.txt"] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = |pattern: &str, limit| files(dir.path(), pattern, limit);
        let all = |paths: &[&str]| Files {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            all: true,
            unnamed: false,
        };
        assert_eq!(found("a/", 9), all(&["a/.x.new", "a/b/y.md", "a/x.md"]));
        assert_eq!(found("*/?.md", 9), all(&["a/x.md", "c/z.md"]));
        assert_eq!(found("a/b", 9), all(&["a/b/y.md"]));
        assert_eq!(found("**/?.md", 9), all(&["a/b/y.md", "a/x.md", "c/z.md"]));
        assert_eq!(found("**/b/**/*.md", 9), all(&["a/b/y.md"]));
        assert_eq!(found("a/**", 9), found("a/", 9));
        assert_eq!(found("nothing/", 9), all(&[]));
        assert_eq!(found("a/", 1), Files { all: false, ..all(&["a/.x.new"]) });
    }

    #[test]
    fn a_path_is_meant_where_it_would_be_found() {
        let meant =
            |pattern: &str, paths: &[&str]| -> Vec<bool> { paths.iter().map(|path| covers(pattern, path)).collect() };
        let paths = ["a/x.md", "a/b/y.md", "a", "ab/x.md", "a/.git/config", "a/.x.md.12-0.new"];
        assert_eq!(meant("a/", &paths), [true, true, true, false, false, false]);
        assert_eq!(
            meant("*/?.md", &["a/x.md", "a/xy.md", ".git/x.md", ".steadfast/x.md", "a/x.md/in"]),
            [true, false, false, false, true]
        );
        assert_eq!(meant("x.md", &["x.md", "x.mdx", "a/x.md"]), [true, false, false]);
        let locks = ["a.lock", "x/a.lock", "x/y/a.lock", "x/a.locked", ".git/a.lock", "x/.git/a.lock"];
        assert_eq!(meant("**/*.lock", &locks), [true, true, true, false, false, false]);
        assert_eq!(
            meant("src/**/gen/", &["src/gen/a", "src/x/y/gen/a", "gen/a", "src/gen"]),
            [true, true, false, true]
        );
    }

    #[test]
    fn a_folder_is_reached_by_what_may_be_in_it() {
        let reached = |pattern: &str| ["src", "src/gen/", "docs"].map(|folder| reaches(pattern, folder));
        assert_eq!(reached("src/"), [true, true, false]);
        assert_eq!(reached("*/gen/*.rs"), [true, true, true]);
        assert_eq!(reached("src/a.rs"), [true, false, false]);
        assert_eq!(reached("**/a.rs"), [true, true, true]);
        assert_eq!(["src/*.rs", "*.rs", "a/b/"].map(fixed), [Some("src".to_owned()), None, Some("a/b".to_owned())]);
    }
}
