use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::InstallError;
use super::permissions::PermissionChoice;
use super::scope::InstallPaths;
use super::slot::{Keeper, Remembered};

/// The earlier content of one slot in one file, and the checkouts that use the slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) path: PathBuf,
    pub(super) slot: String,
    pub(super) before: Before,
    /// The file as we left it. Absent for a file that its host rewrites all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
    /// The folders created for the file, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
    /// The answer to the offer of permissions. Absent in records of a file without permissions, and in older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) permissions: Option<PermissionChoice>,
    /// The checkouts that rely on the slot.
    pub(super) users: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Before {
    Absent,
    Text(String),
    /// Only the containers around our entry: the rest of the file may hold secrets.
    Outline(String),
}

impl Record {
    pub(super) fn read(file: &Path) -> Result<Option<Self>, InstallError> {
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(source) => return Err(InstallError::Read { path: file.to_owned(), source }),
        };
        let record = serde_json::from_slice(&bytes);
        record.map(Some).map_err(|source| InstallError::Record { path: file.to_owned(), source })
    }

    pub(super) fn to_text(&self, file: &Path) -> Result<String, InstallError> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|source| InstallError::Record { path: file.to_owned(), source })
    }

    /// Returns a record for a file that did not exist before us.
    pub(super) fn of_ours(path: &Path, slot: &str, users: Vec<PathBuf>) -> Self {
        let (path, slot) = (path.to_owned(), slot.to_owned());
        Self { path, slot, before: Before::Absent, after: None, folders: Vec::new(), permissions: None, users }
    }

    /// The checkouts that still rely on it when this one does not.
    pub(super) fn without(&self, root: &Path, in_use: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        self.users.iter().filter(|user| *user != root && in_use(user)).cloned().collect()
    }

    pub(super) fn remembered(&self) -> Remembered<'_> {
        let before = match &self.before {
            Before::Absent => None,
            Before::Text(text) | Before::Outline(text) => Some(text.as_str()),
        };
        Remembered { before, after: self.after.as_deref() }
    }
}

/// Returns the path of the record for one slot of a file.
pub(super) fn file_of(path: &Path, slot: &str, keeper: Keeper, place: &InstallPaths) -> PathBuf {
    let folder = match keeper {
        Keeper::Repository => &place.repository_records,
        Keeper::User => &place.user_records,
    };
    let key = format!("{}\n{slot}", path.display());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    folder.join(format!("{}-{:016x}.json", name.trim_start_matches('.'), fnv1a(key.as_bytes())))
}

/// A stable hash for file names; the hashers of the standard library may change between versions.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
