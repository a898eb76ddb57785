//! Files that are replaced in one step: a reader sees the old or the new content, never half of it. Each writer has its own
//! draft, so two writers never write to the same one.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// The permissions of a replaced file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The user alone.
    Private,
    /// The default permissions of the user's files (their umask).
    Usual,
    Mode(u32),
    /// The permissions and owner of the existing file; `0644` for a new one. For files of the user.
    Kept,
}

/// Replaces a file. After a power cut, the file may be the old one, or empty.
pub fn replace(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    PendingFile::beside(path, bytes, access)?.persist(path)
}

/// Replaces a file like [`replace`]. When this returns, the new content is on the disk.
pub fn replace_durably(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let draft = PendingFile::beside(path, bytes, access)?;
    draft.sync()?;
    draft.persist(path)?;
    sync_folder(path)
}

/// Replaces a private file by exchanging it with its draft, without waiting for the disk. On ext4, a rename over a file
/// takes at least 220 µs, and milliseconds while a compiler runs; an exchange takes 29 µs.
///
/// The caller must hold a lock, because the draft has a fixed name. The draft is the version before the previous one and
/// gets overwritten: a process that still reads that version, or reads after a power cut, must be able to detect it.
pub fn exchange(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = private_options().write(true).create(true).truncate(false).open(&draft)?;
    file.write_all(bytes)?;
    // Truncate after writing: ext4 flushes a file at once when it was truncated to zero.
    file.set_len(bytes.len() as u64)?;
    drop(file);
    change_places(&draft, path).or_else(|_| fs::rename(&draft, path))
}

/// Fails where the file system has no exchange, or where one of the two files is missing.
fn change_places(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// A temporary file in the folder of its target. It is deleted unless it is moved into place.
#[derive(Debug)]
pub struct PendingFile(NamedTempFile);

impl PendingFile {
    /// `.NAME.PID-XXXXXX.new` beside `path`.
    pub fn beside(path: &Path, bytes: &[u8], access: Access) -> io::Result<Self> {
        let mut options = if access == Access::Usual { fs::OpenOptions::new() } else { private_options() };
        let mut draft = draft(path, |draft| options.read(true).write(true).create_new(true).open(draft))?;
        // Not through `draft`, whose errors name the draft instead of the target.
        draft.as_file_mut().write_all(bytes)?;
        match access {
            Access::Mode(mode) => set_mode(draft.as_file(), mode)?,
            Access::Kept => keep(&draft, path)?,
            Access::Private | Access::Usual => {}
        }
        Ok(Self(draft))
    }

    /// Moves the file or folder at `path` to a draft name beside it, and returns the new path.
    pub fn move_beside(path: &Path) -> io::Result<PathBuf> {
        let moved = draft(path, |aside| fs::rename(path, aside))?;
        moved.into_temp_path().keep().map_err(|error| error.error)
    }

    /// Recognises the name of a draft, which a killed process may leave behind.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let Some(rest) = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".new")) else { return false };
        let Some((_, (process, unique))) =
            rest.rsplit_once('.').and_then(|(name, id)| Some((name, id.split_once('-')?)))
        else {
            return false;
        };
        let is_all = |text: &str, wanted: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(wanted);
        is_all(process, u8::is_ascii_digit) && is_all(unique, u8::is_ascii_alphanumeric)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn sync(&self) -> io::Result<()> {
        self.0.as_file().sync_all()
    }

    /// Moves the draft into place and replaces an existing file.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        self.0.persist(path).map(drop).map_err(|error| error.error)
    }

    /// Moves the draft into place, unless something exists there.
    pub fn persist_new(self, path: &Path) -> io::Result<()> {
        match self.0.persist_noclobber(path) {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(failed.error),
            // Not every file system supports this in one step.
            Err(_) if fs::symlink_metadata(path).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(failed) => Self(failed.file).persist(path),
        }
    }
}

/// Calls `make` with an unused draft name in the folder of `path`.
fn draft<R>(path: &Path, mut make: impl FnMut(&Path) -> io::Result<R>) -> io::Result<NamedTempFile<R>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The name of the target may have the maximum length already, and the draft's name is longer.
    let prefix = format!(".{}.{}-", &name[..name.floor_char_boundary(100)], std::process::id());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // `tempfile` adds the draft's name to errors, which means nothing to the user.
    let mut code = None;
    let made = Builder::new()
        .prefix(&prefix)
        .suffix(".new")
        .make_in(folder, |draft| make(draft).inspect_err(|error| code = error.raw_os_error()));
    made.map_err(|error| code.map_or(error, io::Error::from_raw_os_error))
}

fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode & 0o7777))
}

fn keep(draft: &NamedTempFile, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    match fs::metadata(path) {
        Ok(there) => {
            let made = draft.as_file().metadata()?;
            // When root edits a file of the user, the user stays its owner.
            if (made.uid(), made.gid()) != (there.uid(), there.gid()) {
                fchown(draft.as_file(), Some(there.uid()), Some(there.gid()))?;
            }
            draft.as_file().set_permissions(there.permissions())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => set_mode(draft.as_file(), 0o644),
        Err(error) => Err(error),
    }
}

/// Creates a symbolic link, or changes its target, in one step.
pub fn replace_link(path: &Path, target: &OsStr) -> io::Result<()> {
    let make = |draft: &Path| std::os::unix::fs::symlink(target, draft);
    draft(path, make)?.into_temp_path().persist(path).map_err(|error| error.error)
}

/// Flushes the folder of a file, because a file's name is on the disk only when its folder is. Does nothing on file systems
/// that cannot open a folder.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent().map(fs::File::open) {
        Some(Ok(folder)) => folder.sync_all(),
        _ => Ok(()),
    }
}

/// Creates a folder, and its missing parents, that only the user can read.
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Options that create a file which only the user can read.
#[must_use]
pub fn private_options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).map_or(0, |file| file.permissions().mode() & 0o777)
    }

    #[test]
    fn a_file_is_replaced_and_no_draft_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        for (bytes, access, wanted) in
            [("one", Access::Private, 0o600), ("two", Access::Mode(0o640), 0o640), ("three", Access::Kept, 0o640)]
        {
            replace(&file, bytes.as_bytes(), access).unwrap();
            assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), (bytes, wanted));
        }
        replace_durably(&dir.path().join("new"), b"", Access::Kept).unwrap();
        assert_eq!(mode(&dir.path().join("new")), 0o644);
        exchange(&file, b"four").unwrap();
        exchange(&file, b"5").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "5");
        fs::remove_file(file.with_extension("new")).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_draft_that_does_not_get_to_its_place_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.md");
        fs::write(&file, "old").unwrap();
        let draft = PendingFile::beside(&file, b"new", Access::Private).unwrap();
        assert!(PendingFile::is_name(draft.path().file_name().unwrap().to_str().unwrap()));
        assert!(draft.persist_new(&file).is_err());
        assert!(PendingFile::beside(&file, b"new", Access::Private).unwrap().persist(dir.path()).is_err());
        let aside = PendingFile::move_beside(&file).unwrap();
        PendingFile::beside(&file, b"new", Access::Private).unwrap().persist_new(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        fs::rename(aside, &file).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
    }

    #[test]
    fn drafts_are_known_by_their_names() {
        let names = [".x.md.12-aB3x9z.new", ".x.md.12-0.new", ".x.new", "x.md.12-0.new", ".x.12.new", ".x.a-0.new"];
        assert_eq!(names.map(PendingFile::is_name), [true, true, false, false, false, false]);
    }
}
