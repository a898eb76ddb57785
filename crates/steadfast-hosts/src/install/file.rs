//! Reading and replacing whole files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::InstallError;

/// Who may read a file that we make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Only the user.
    Private,
    /// Whoever may read the repository.
    Open,
}

/// Another program (an indexer, a virus scanner) may hold a file for a moment.
const RENAME_TRIES: u32 = 5;
const RENAME_PAUSE: Duration = Duration::from_millis(40);

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

/// Replaces or makes a file in one step: whoever reads it sees the old content or the new. A link stays a link.
pub(super) fn replace(path: &Path, content: &[u8], access: Access) -> io::Result<()> {
    let target = behind_links(path)?;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.steadfast-{}", std::process::id()));
    let written = write_new(&temporary, content, access, &target).and_then(|()| rename(&temporary, &target));
    if written.is_err() {
        // What it held is lost either way; the error that matters is the first.
        let _ = fs::remove_file(&temporary);
    }
    written
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
#[cfg(unix)]
pub(super) fn link(path: &Path, target: &[u8]) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.steadfast-{}", std::process::id()));
    let _ = fs::remove_file(&temporary);
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), &temporary)?;
    rename(&temporary, path)
}

#[cfg(not(unix))]
pub(super) fn link(_path: &Path, _target: &[u8]) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(behind_links(path)?)
}

fn write_new(temporary: &Path, content: &[u8], access: Access, target: &Path) -> io::Result<()> {
    let mut file = create(temporary, access)?;
    file.write_all(content)?;
    match fs::metadata(target) {
        Ok(metadata) => keep_owner(temporary, &metadata).and_then(|()| file.set_permissions(metadata.permissions()))?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.sync_all()
}

#[cfg(unix)]
fn create(path: &Path, access: Access) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = match access {
        Access::Private => 0o600,
        Access::Open => 0o644,
    };
    OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path, _access: Access) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

/// A file of the user stays theirs when root edits it.
#[cfg(unix)]
fn keep_owner(temporary: &Path, of: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let made = fs::metadata(temporary)?;
    if (made.uid(), made.gid()) == (of.uid(), of.gid()) {
        return Ok(());
    }
    std::os::unix::fs::chown(temporary, Some(of.uid()), Some(of.gid()))
}

#[cfg(not(unix))]
fn keep_owner(_temporary: &Path, _of: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let mut tries = 1;
    loop {
        match fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied && tries < RENAME_TRIES => {
                tries += 1;
                thread::sleep(RENAME_PAUSE);
            }
            done => return done,
        }
    }
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
