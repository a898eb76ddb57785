//! Files of ours: nobody else may read them, they are replaced in one step, and their names come from ids.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_model::{Millis, fnv};

/// A directory nobody else may look into.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// A file nobody else may look into, when it is created.
pub(crate) fn private_options() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Replaces a file in one step: a reader sees the old or the new, never half of one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = private_options().write(true).create(true).truncate(true).open(&draft)?;
    io::Write::write_all(&mut file, bytes)?;
    drop(file);
    rename(&draft, path)
}

/// As [`replace`], without waiting for the disk: the file and its draft change places.
///
/// The draft is the file of the time before last, and is written over. Who opened it then and still reads it, or reads the
/// file after a power cut, has to notice.
pub(crate) fn exchange(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = private_options().write(true).create(true).truncate(false).open(&draft)?;
    io::Write::write_all(&mut file, bytes)?;
    // Not cut before: where a file was empty, bringing it to the disk is waited for, too.
    file.set_len(bytes.len() as u64)?;
    drop(file);
    change_places(&draft, path).or_else(|_| rename(&draft, path))
}

/// Not every file system can, and there may be only one of the two.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn change_places(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn change_places(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// As [`replace`], and on the disk when this returns: it outlives the power.
pub(crate) fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = private_options().write(true).create(true).truncate(true).open(&draft)?;
    io::Write::write_all(&mut file, bytes)?;
    file.sync_all()?;
    drop(file);
    rename(&draft, path)?;
    // The name is on the disk when its folder is. Not every system opens a folder.
    match path.parent().map(fs::File::open) {
        Some(Ok(folder)) if cfg!(unix) => folder.sync_all(),
        _ => Ok(()),
    }
}

/// When a file was last written.
pub(crate) fn written_at(file: &fs::Metadata) -> Option<Millis> {
    let since = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Millis)
}

/// The beginning of a text, at most `bytes` long.
pub(crate) fn cut(text: &str, bytes: usize) -> std::borrow::Cow<'_, str> {
    if text.len() <= bytes {
        return text.into();
    }
    let end = text.floor_char_boundary(bytes.saturating_sub('…'.len_utf8()));
    format!("{}…", &text[..end]).into()
}

/// Renames, and tries again where somebody has the target open: Windows refuses then, for a moment.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::rename(from, to) {
            Err(error) if cfg!(windows) && error.kind() == io::ErrorKind::PermissionDenied && tries < 20 => {
                tries += 1;
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            done => return done,
        }
    }
}

/// A name that came from outside as the name of a file: others choose their ids, the file system its characters.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.is_empty() && text.len() <= 100 && text.chars().all(plain) {
        return text.to_owned();
    }
    let readable: String = text.chars().rev().filter(|c| plain(*c)).take(40).collect();
    let readable: String = readable.chars().rev().collect();
    format!("{readable}_{:016x}", fnv([text.as_bytes()]))
}
