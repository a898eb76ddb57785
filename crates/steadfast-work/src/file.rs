//! Files of the user: replaced in one step, so that no failure leaves half of one, and where a link leads.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file or makes it, with the folders above it. What was there keeps its permissions.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // People keep such files elsewhere.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut draft = tempfile::Builder::new().prefix(".steadfast-").tempfile_in(folder)?;
    // Not by the draft itself, which would put its own name into an error.
    draft.as_file_mut().write_all(bytes)?;
    match fs::metadata(&path) {
        Ok(file) => fs::set_permissions(draft.path(), file.permissions())?,
        #[cfg(unix)]
        Err(_) => {
            fs::set_permissions(draft.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
        }
        #[cfg(not(unix))]
        Err(_) => {}
    }
    draft.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// Keeps a folder of rendered files out of everybody's commits. An empty file was left by a process that was killed.
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
        // What somebody wrote there is theirs.
        fs::write(&ignore, "!decisions\n").unwrap();
        ignore_all(&folder).unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "!decisions\n");
    }
}
