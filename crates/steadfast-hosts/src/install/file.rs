//! Reading and replacing whole files.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use steadfast_system::{Access, replace_durably, replace_link};

use super::error::InstallError;

/// The content of a file that may be edited, or nothing where there is none.
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

/// The folders that have to be made for a file, the innermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    folders.map(Path::to_owned).collect()
}

/// Replaces or makes a file in one step. A link stays a link, and a file that is there keeps its owner and its mode.
pub(super) fn replace(path: &Path, content: &[u8], access: Access) -> io::Result<()> {
    let target = behind_links(path)?;
    make_folder(&target)?;
    let access = if target.exists() { Access::Kept } else { access };
    replace_durably(&target, content, access)
}

fn make_folder(path: &Path) -> io::Result<()> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or(Ok(()), fs::create_dir_all)
}

/// Where a link leads, as bytes, or nothing where there is none.
pub(super) fn read_link(path: &Path) -> Result<Option<Vec<u8>>, InstallError> {
    match fs::read_link(path) {
        Ok(target) => Ok(Some(target.into_os_string().into_encoded_bytes())),
        // `InvalidInput`: it is something else, which a link replaces.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput) =>
        {
            Ok(None)
        }
        Err(source) => Err(InstallError::Read { path: path.to_owned(), source }),
    }
}

/// Makes a link, or lets it lead elsewhere, in one step.
pub(super) fn link(path: &Path, target: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    replace_link(path, OsStr::from_bytes(target))
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(behind_links(path)?)
}

/// Where a chain of links ends, whether or not there is a file.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&end) {
            Ok(target) => end = end.parent().unwrap_or(Path::new("")).join(target),
            // Not a link, or nothing there.
            Err(_) => return Ok(end),
        }
    }
    // As many as a system follows, or more: it says which.
    fs::canonicalize(path)
}

pub(super) fn utf8<'a>(path: &Path, content: &'a [u8]) -> Result<&'a str, InstallError> {
    let at_error =
        |error: std::str::Utf8Error| InstallError::Encoding { path: path.to_owned(), at: error.valid_up_to() };
    std::str::from_utf8(content).map_err(at_error)
}
