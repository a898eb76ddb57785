//! Paths without `.` and `..`, computed from their text: links are not followed.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Removes `.`, empty parts, and `..` together with the folder before it. A `..` above the beginning is dropped.
#[must_use]
pub fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Makes a path absolute (from `/` or `~`) and [`clean`]s it. A slash at its end stays.
#[must_use]
pub fn absolute(path: &str, folder: &str) -> String {
    let whole: Cow<'_, str> =
        if path.starts_with(['/', '~']) { path.into() } else { format!("{folder}/{path}").into() };
    let clean = clean(&whole);
    if whole.ends_with('/') && clean != "/" { clean + "/" } else { clean }
}

/// Checks if a path is this folder or is inside it.
#[must_use]
pub fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Cleans a [`Path`] like [`clean`].
#[must_use]
pub fn clean_path(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(["a/../b/./c", "./a//b/", "../a", "/../a", ".", "/"].map(clean), ["b/c", "a/b", "a", "/a", "", "/"]);
        assert_eq!(clean_path(Path::new("/r/./a/../b")), Path::new("/r/b"));
    }

    #[test]
    fn a_relative_path_begins_in_its_folder() {
        let from = |path| absolute(path, "/r");
        assert_eq!(["a/../b", "/x/./y", "~/a/", "src/", "../.."].map(from), ["/r/b", "/x/y", "~/a/", "/r/src/", "/"]);
    }
}
