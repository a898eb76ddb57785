//! A picture as evidence.
//!
//! The check covers the outside only: the file is a picture, it is large enough to show something, and it is newer
//! than the files that it shows. The reader of the evidence judges the content. An old picture with a new time passes;
//! its id is in the evidence, so using the same picture twice is visible. A PDF does not count as a picture, because
//! its appearance depends on the reader.

mod header;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::content::content_id;
use header::Header;
pub use header::PictureKind;

/// A larger file cannot be a picture of a page, and is not read.
const LARGEST: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The path as the caller gave it.
    pub path: PathBuf,
    pub kind: PictureKind,
    pub width: u32,
    pub height: u32,
    pub bytes: u64,
    /// The id of the content, in the SHA-256 format of git.
    pub id: String,
}

/// The reason why a picture is not evidence.
#[derive(Debug, thiserror::Error)]
pub enum NotAnArtifact {
    #[error("`{}` does not exist: give a path in the checkout, or a full path", .0.display())]
    Missing(PathBuf),
    #[error("`{}` is outside of the checkout: give its full path", .0.display())]
    Outside(PathBuf),
    #[error("`{}` is not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("`{}` is empty: take the picture again", .0.display())]
    Empty(PathBuf),
    #[error("`{}` is larger than {} MiB: take a smaller picture", .0.display(), LARGEST >> 20)]
    TooLarge(PathBuf),
    #[error("`{}` is not a PNG, JPEG, GIF or WebP image", .0.display())]
    NotAPicture(PathBuf),
    #[error("`{}` is a broken {kind}: {why}; take the picture again", path.display())]
    Broken { path: PathBuf, kind: PictureKind, why: &'static str },
    #[error("`{}` has only {width} × {height} pixels, too few to show anything", path.display())]
    TooSmall { path: PathBuf, width: u32, height: u32 },
    #[error("`{}` is older than `{}`: take the picture after the change", path.display(), changed.display())]
    Older { path: PathBuf, changed: PathBuf },
    #[error("`{}` cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
}

/// Checks a picture. `files` are the files that it shows; each must be older. Missing files and the picture itself are
/// skipped. A folder counts with its own time only, so name the files in it.
pub fn look(root: &Path, path: &Path, files: &[impl AsRef<Path>]) -> Result<Artifact, NotAnArtifact> {
    let owned = || path.to_owned();
    let unreadable = |error: io::Error| NotAnArtifact::Unreadable { path: owned(), why: error.to_string() };
    let place = root.join(path);
    let found = match fs::metadata(&place) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(NotAnArtifact::Missing(owned())),
        Err(error) => return Err(unreadable(error)),
    };
    let real = fs::canonicalize(&place).map_err(unreadable)?;
    if path.is_relative() && !fs::canonicalize(root).is_ok_and(|root| real.starts_with(root)) {
        return Err(NotAnArtifact::Outside(owned()));
    }
    if !found.is_file() {
        return Err(NotAnArtifact::NotAFile(owned()));
    }
    if found.len() == 0 {
        return Err(NotAnArtifact::Empty(owned()));
    }
    if found.len() > LARGEST {
        return Err(NotAnArtifact::TooLarge(owned()));
    }
    let mut bytes = Vec::new();
    File::open(&real).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes)).map_err(unreadable)?;
    let kind = PictureKind::of(&bytes).ok_or_else(|| NotAnArtifact::NotAPicture(owned()))?;
    let Header { width, height } =
        header::read(kind, &bytes).map_err(|why| NotAnArtifact::Broken { path: owned(), kind, why })?;
    if width < 2 || height < 2 {
        return Err(NotAnArtifact::TooSmall { path: owned(), width, height });
    }
    let taken = found.modified().map_err(unreadable)?;
    if let Some(changed) = files.iter().map(AsRef::as_ref).find(|file| is_newer(&root.join(file), &real, taken)) {
        return Err(NotAnArtifact::Older { path: owned(), changed: changed.to_owned() });
    }
    let id = content_id(&real).map_err(|why| NotAnArtifact::Unreadable { path: owned(), why })?;
    Ok(Artifact { path: owned(), kind, width, height, bytes: found.len(), id })
}

/// A file of the same age counts as newer, if the file system's clock is fine enough to tell.
fn is_newer(file: &Path, picture: &Path, taken: SystemTime) -> bool {
    let Ok(changed) = fs::metadata(file).and_then(|found| found.modified()) else { return false };
    let itself = fs::canonicalize(file).is_ok_and(|file| file == picture);
    let coarse = |time: SystemTime| {
        time.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| Duration::from_secs(since.as_secs()) == since)
    };
    !itself && (changed > taken || changed == taken && !coarse(taken))
}
