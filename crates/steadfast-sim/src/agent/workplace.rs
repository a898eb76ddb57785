//! The folder the agent works in: which paths belong to it.

use std::path::{Component, Path, PathBuf};

#[derive(Debug, Clone)]
pub(super) struct Workplace {
    root: PathBuf,
}

impl Workplace {
    pub(super) fn new(root: &Path) -> std::io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute path without reading the disk.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        let mut plain = PathBuf::new();
        for component in self.root.join(path).components() {
            match component {
                Component::ParentDir => {
                    plain.pop();
                }
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                    plain.push(component);
                }
            }
        }
        plain
    }

    /// Returns the absolute path if the path and all its links lead into the folder.
    pub(super) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let absolute = self.absolute(path);
        let existing = absolute.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
        let inside =
            absolute.starts_with(&self.root) && existing.is_some_and(|ancestor| ancestor.starts_with(&self.root));
        if inside { Ok(absolute) } else { Err(format!("{path} is outside {}", self.root.display())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_and_absolute_paths_inside_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let place = Workplace::new(folder.path()).unwrap();
        let expected = place.root().join("a/b.txt");
        assert_eq!(place.resolve("a/./x/../b.txt").unwrap(), expected);
        assert_eq!(place.resolve(expected.to_str().unwrap()).unwrap(), expected);
    }

    #[test]
    fn what_leads_outside_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = Workplace::new(folder.path()).unwrap();
        for path in ["../x", "a/../../x", "/etc/passwd"] {
            assert!(place.resolve(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_link_that_leads_outside_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        let place = Workplace::new(folder.path()).unwrap();
        assert!(place.resolve("link/new.txt").is_err());
    }
}
