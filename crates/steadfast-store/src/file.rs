//! Files of ours: only the user may read them, and their names come from ids.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_model::{Millis, fnv};
use steadfast_system::{Access, create_private_dir, replace_durably};

/// Replaces a private file in a folder of ours, which is made where it is missing. It is on the disk when this returns.
pub(crate) fn replace_in_folder(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    replace_durably(path, bytes, Access::Private)
}

/// When a file was last written.
pub(crate) fn written_at(file: &fs::Metadata) -> Option<Millis> {
    let since = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Millis)
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
