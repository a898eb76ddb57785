//! The key of the default profile: 32 random bytes in the user's own state, outside every repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use steadfast_system::{Access, PendingFile, create_private_dir, sync_folder};
use steadfast_text::{from_hex, hex};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const LENGTH: usize = 32;

/// Where the key of the default profile is, made or not. No agent needs it.
pub fn approval_key(user_state: &Path) -> PathBuf {
    user_state.join("approval.key")
}

pub(super) struct Key([u8; LENGTH]);

impl Key {
    /// The key as it is; an error of kind `NotFound` where there is none.
    pub(super) fn read(user_state: &Path) -> io::Result<Self> {
        let bytes = fs::read(approval_key(user_state))?;
        // One that was cut off is not replaced silently: every approval hangs on it.
        let key =
            bytes.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not 32 bytes long"))?;
        Ok(Self(key))
    }

    /// The key, made at first need. Of two who make it at once, one does.
    pub(super) fn make(user_state: &Path) -> io::Result<Self> {
        match Self::read(user_state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            known => return known,
        }
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        create_private_dir(user_state)?;
        let path = approval_key(user_state);
        let draft = PendingFile::beside(&path, &bytes, Access::Private)?;
        draft.sync()?;
        match draft.persist_new(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        sync_folder(&path)?;
        Self::read(user_state)
    }

    fn mac(&self, bytes: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        mac.update(bytes);
        Some(mac)
    }

    pub(super) fn sign(&self, bytes: &[u8]) -> Option<String> {
        self.mac(bytes).map(|mac| hex(&mac.finalize().into_bytes()))
    }

    /// In a time that says nothing about the right one.
    pub(super) fn is_signed(&self, bytes: &[u8], signature: &str) -> bool {
        let said = from_hex(signature);
        self.mac(bytes).zip(said).is_some_and(|(mac, said)| mac.verify_slice(&said).is_ok())
    }
}
