//! Reads and replaces whole files.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use steadfast_system::{Access, replace_durably, replace_link};

use super::error::InstallError;

/// Returns the content of a file, or `None` if it does not exist. Fails if the path is not a file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(source) => return Err(InstallError::Read { path: path.to_owned(), source }),
    };
    if !metadata.is_file() {
        return Err(InstallError::NotAFile { path: path.to_owned() });
    }
    fs::read(path).map(Some).map_err(|source| InstallError::Read { path: path.to_owned(), source })
}

pub(super) fn is_read_only(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
}

/// Lists the folders that must be created for a file, the innermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    folders.map(Path::to_owned).collect()
}

/// Creates or replaces a file atomically. A link stays a link, and an existing file keeps its owner and its mode.
pub(super) fn replace(path: &Path, content: &[u8], access: Access) -> io::Result<()> {
    let target = behind_links(path)?;
    make_folder(&target)?;
    let access = if target.exists() { Access::Kept } else { access };
    replace_durably(&target, content, access)
}

fn make_folder(path: &Path) -> io::Result<()> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), fs::create_dir_all)
}

/// Returns the target of a link as bytes, or `None` if there is no link.
pub(super) fn read_link(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    match fs::read_link(path) {
        Ok(target) => Ok(Some(target.into_os_string().into_encoded_bytes())),
        // `InvalidInput`: the path is not a link; a link will replace it.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput) =>
        {
            Ok(None)
        }
        Err(source) => Err(InstallError::Read { path: path.to_owned(), source }),
    }
}

pub(super) fn link(path: &Path, target: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    replace_link(path, OsStr::from_bytes(target))
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(behind_links(path)?)
}

/// Returns the end of a chain of links; the file there need not exist.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&end) {
            Ok(target) => end = end.parent().unwrap_or(Path::new("")).join(target),
            // Not a link, or it does not exist.
            Err(_) => return Ok(end),
        }
    }
    // Too many links: let the system report which.
    fs::canonicalize(path)
}

pub(super) fn utf8<'a>(path: &Path, content: &'a [u8]) -> Result<&'a str, InstallError> {
    let at_error =
        |error: std::str::Utf8Error| InstallError::Encoding { path: path.to_owned(), at: error.valid_up_to() };
    std::str::from_utf8(content).map_err(at_error)
}
