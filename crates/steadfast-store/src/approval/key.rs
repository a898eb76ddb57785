//! The key of the default profile: 32 random bytes in the user's own state, outside every repository.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use steadfast_system::{Access, PendingFile, create_private_dir, sync_folder};
use steadfast_text::{from_hex, hex};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const LENGTH: usize = 32;

/// The path of the default profile's key, which may not exist yet. No agent needs to read it.
pub fn approval_key(user_state: &Path) -> PathBuf {
    user_state.join("approval.key")
}

pub(super) struct Key([u8; LENGTH]);

impl Key {
    /// Reads the key. Returns an error of kind `NotFound` if there is none.
    pub(super) fn read(user_state: &Path) -> io::Result<Self> {
        let bytes = fs::read(approval_key(user_state))?;
        // A damaged key is an error and is not replaced silently: every approval depends on it.
        let key =
            bytes.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not 32 bytes long"))?;
        Ok(Self(key))
    }

    /// Returns the key and creates it if needed. If two processes create it at the same time, both get the same key.
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

    /// Compares in constant time, so that the duration says nothing about the expected signature.
    pub(super) fn is_signed(&self, bytes: &[u8], signature: &str) -> bool {
        let given = from_hex(signature);
        self.mac(bytes).zip(given).is_some_and(|(mac, given)| mac.verify_slice(&given).is_ok())
    }
}
