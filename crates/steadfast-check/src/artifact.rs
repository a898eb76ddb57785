//! A picture that is shown as evidence.
//!
//! It is looked at from outside: that it is one, that there is something on it, that it is newer than what it shows.
//! What is on it is for whoever reads the evidence. An old picture that was touched passes for a new one; its id is in
//! the evidence, so the same picture twice can be told. A PDF is no picture: what it shows depends on its reader.

mod header;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::content::content_id;
use header::Header;
pub use header::PictureKind;

/// No picture of a page is larger; what is, is not read.
const LARGEST: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// As it was given.
    pub path: PathBuf,
    pub kind: PictureKind,
    pub width: u32,
    pub height: u32,
    pub bytes: u64,
    /// The id of its content, as a SHA-256 repository names it.
    pub id: String,
}

/// Why a picture is no evidence.
#[derive(Debug, thiserror::Error)]
pub enum NotAnArtifact {
    #[error("`{}` is not there: name a picture in the checkout, or one by its full path", .0.display())]
    Missing(PathBuf),
    #[error("`{}` leads out of the checkout: name it by its full path", .0.display())]
    Outside(PathBuf),
    #[error("`{}` is no file", .0.display())]
    NotAFile(PathBuf),
    #[error("`{}` is empty: take the picture again", .0.display())]
    Empty(PathBuf),
    #[error("`{}` is larger than {} MiB: take a smaller picture", .0.display(), LARGEST >> 20)]
    TooLarge(PathBuf),
    #[error("`{}` is no PNG, JPEG, GIF or WebP, whatever its name says", .0.display())]
    NotAPicture(PathBuf),
    #[error("`{}` is a broken {kind}: {why}; take the picture again", path.display())]
    Broken { path: PathBuf, kind: PictureKind, why: &'static str },
    #[error("`{}` has {width} × {height} pixels, so nothing can be seen on it", path.display())]
    TooSmall { path: PathBuf, width: u32, height: u32 },
    #[error("`{}` is older than `{}`: take the picture after the change", path.display(), changed.display())]
    Older { path: PathBuf, changed: PathBuf },
    #[error("`{}` cannot be read: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
}

/// Looks at a picture. `files` are those it shows: each must be older. A file that is not there, and the picture
/// itself, are passed over; a folder counts with its own time only, so name the files in it.
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

/// Not older counts as newer, where the clock of the file system can tell two moments apart.
fn is_newer(file: &Path, picture: &Path, taken: SystemTime) -> bool {
    let Ok(changed) = fs::metadata(file).and_then(|found| found.modified()) else { return false };
    let itself = fs::canonicalize(file).is_ok_and(|file| file == picture);
    let coarse = |time: SystemTime| {
        time.duration_since(SystemTime::UNIX_EPOCH).is_ok_and(|since| Duration::from_secs(since.as_secs()) == since)
    };
    !itself && (changed > taken || changed == taken && !coarse(taken))
}
