//! Private files in Steadfast's state, with names made from ids.

use std::fs;
use std::io;
use std::path::Path;

use steadfast_model::{Millis, fnv};
use steadfast_system::{Access, create_private_dir, replace_durably};

/// Replaces a private file and creates its folder if needed. When this returns, the content is on the disk.
pub(crate) fn replace_in_folder(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        create_private_dir(folder)?;
    }
    replace_durably(path, bytes, Access::Private)
}

pub(crate) fn written_at(file: &fs::Metadata) -> Option<Millis> {
    let since = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Millis)
}

/// Turns an id from outside into a safe file name: ids may contain any character and have any length.
pub(crate) fn file_name(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !text.is_empty() && text.len() <= 100 && text.chars().all(plain) {
        return text.to_owned();
    }
    let readable: String = text.chars().rev().filter(|c| plain(*c)).take(40).collect();
    let readable: String = readable.chars().rev().collect();
    format!("{readable}_{:016x}", fnv([text.as_bytes()]))
}
