//! Reads the files that define a command, within limits.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::content::content_id;

const LARGEST_FILE: u64 = 4 << 20;
pub(crate) const MOST_PARTS: usize = 500;

/// The reason why the definition of a command is unknown.
#[derive(Debug, thiserror::Error)]
pub enum DefineError {
    #[error("`{}` cannot be read: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("`{}` is larger than {} MiB, too large for a script or a manifest", .0.display(), LARGEST_FILE >> 20)]
    TooLarge(PathBuf),
    #[error("`{command}` leads to more than {MOST_PARTS} scripts: use a more specific command")]
    TooMany { command: String },
    #[error("`{}` cannot be hashed: {why}", path.display())]
    NotHashed { path: PathBuf, why: String },
}

pub(crate) fn text_of(path: &Path) -> Result<Option<String>, DefineError> {
    Ok(bytes_of(path)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

pub(crate) fn bytes_of(path: &Path) -> Result<Option<Vec<u8>>, DefineError> {
    let failed = |source| DefineError::File { path: path.to_owned(), source };
    match fs::metadata(path) {
        // A folder or a pipe is not a script.
        Ok(found) if !found.is_file() => return Ok(None),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(DefineError::TooLarge(path.to_owned()));
    }
    Ok(Some(bytes))
}

/// Returns the content id of the file. A link counts as its target, because that runs.
pub(crate) fn id_of(path: &Path) -> Result<String, DefineError> {
    content_id(path).map_err(|why| DefineError::NotHashed { path: path.to_owned(), why })
}

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Removes `.` and `..`, so that each file has one name.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(tidy.pop()),
            other => tidy.push(other),
        }
    }
    tidy
}
