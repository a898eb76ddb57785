//! Files of the user: replaces each in one step, so that a failure never leaves half a file, and follows links.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_system::Access;

/// Replaces or creates a file, with the folders above it. An existing file keeps its permissions.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The path may be a link to a file elsewhere, such as in a dotfiles repository.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    steadfast_system::replace(&path, bytes, Access::Kept)
}

/// Keeps a folder of rendered files out of commits. An empty `.gitignore` was left by a killed process and is replaced.
pub fn ignore_all(folder: &Path) -> io::Result<()> {
    let ignore = folder.join(".gitignore");
    if fs::metadata(&ignore).is_ok_and(|file| file.len() > 0) {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    replace(&ignore, b"*\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_half_made_is_ignored_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, ignore) = (dir.path().join("f"), dir.path().join("f/.gitignore"));
        ignore_all(&folder).unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        fs::write(&ignore, "").unwrap();
        ignore_all(&folder).unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        // The user's own content stays.
        fs::write(&ignore, "!decisions\n").unwrap();
        ignore_all(&folder).unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "!decisions\n");
    }
}
