//! Files that are put in place in one step, whoever else does the same at that moment: each writer has a draft of its
//! own, which nobody can have laid there before.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::file::{create_private_dir, private_options, rename};

/// Who may read a file that is put somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The user alone.
    Private,
    /// Whoever may read what the user makes.
    Usual,
    /// As it was before: the permissions of a file that stood there.
    Mode(u32),
}

/// Puts bytes at a path. They are on the disk when this returns.
pub(crate) fn put(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    put_unnamed(path, bytes, access)?;
    sync_folder(path)
}

/// As [`put`], but for its name, which is on the disk with the next one in the same folder.
pub(crate) fn put_unnamed(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let draft = draft_beside(path);
    let done = write_draft(&draft, bytes, access).and_then(|()| rename(&draft, path));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done
}

/// As [`put`], into a folder of ours, which is made where it is missing.
pub(crate) fn put_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    put(path, bytes, Access::Private)
}

/// Writes a file that is then given its name. It is on the disk when this returns.
pub(crate) fn write_draft(draft: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let mut options = match access {
        Access::Private | Access::Mode(_) => private_options(),
        Access::Usual => fs::OpenOptions::new(),
    };
    // A link that lies there is not followed: it is there, and that is an error.
    let mut file = options.write(true).create_new(true).open(draft)?;
    file.write_all(bytes)?;
    if let Access::Mode(mode) = access {
        set_mode(&file, mode)?;
    }
    file.sync_all()
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode & 0o7777))
}

#[cfg(not(unix))]
fn set_mode(_file: &fs::File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// The name is on the disk when its folder is. Not every system opens a folder.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().map(fs::File::open) {
        Some(Ok(folder)) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}

/// A name in the same folder that nobody else uses.
pub(crate) fn draft_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name may be as long as the system allows; ours is longer.
    let short = &name[..name.floor_char_boundary(100)];
    path.with_file_name(format!(".{short}.{}.new", unique()))
}

/// Once in every process, and no two processes at once have the same number.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
