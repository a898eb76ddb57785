use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_model::{Channel, Millis, Profile, SessionId};

use super::key::{Key, approval_key};
use crate::file::{file_name, replace_in_folder};
use crate::place::Place;

/// A human's signed yes to the plan with one hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// The hash of the authored text, in hexadecimal.
    pub hash: String,
    /// The path of the plan from the root of the checkout.
    pub path: String,
    pub worktree: String,
    pub at: Millis,
    pub channel: Channel,
    /// The session in which the human approved; none in the human's own terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub profile: Profile,
    /// The signature over all fields above: hexadecimal, or the output of `ssh-keygen`.
    #[serde(default)]
    pub signature: String,
}

/// The signed fields of a record, in this order. Adding a field makes old signatures invalid.
#[derive(Serialize)]
struct Signed<'a> {
    hash: &'a str,
    path: &'a str,
    worktree: &'a str,
    at: Millis,
    channel: Channel,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a SessionId>,
    profile: Profile,
}

impl ApprovalRecord {
    /// Returns the bytes to sign: the record as JSON, without its signature.
    pub fn signed_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let Self { hash, path, worktree, at, channel, session, profile, signature: _ } = self;
        let (at, channel, profile) = (*at, *channel, *profile);
        serde_json::to_vec(&Signed { hash, path, worktree, at, channel, session: session.as_ref(), profile })
    }

    /// Checks the signature in the profile of the verifier. A record of the default profile is invalid in the hardened one,
    /// and the reverse.
    pub fn is_valid(&self, verifier: &Verifier<'_>) -> bool {
        self.profile == verifier.profile()
            && self.signed_bytes().is_ok_and(|bytes| match verifier {
                Verifier::Default { user_state } => {
                    Key::read(user_state).is_ok_and(|key| key.is_signed(&bytes, &self.signature))
                }
                Verifier::Hardened(verify) => verify(&bytes, &self.signature),
            })
    }
}

/// Signs records. This crate starts no process: for the hardened profile the caller passes a function that runs
/// `ssh-keygen -Y sign`.
#[derive(Clone, Copy)]
pub enum Signer<'a> {
    /// Signs with the key in the user's own state, which is created if needed.
    Default { user_state: &'a Path },
    /// Returns the signature of the bytes.
    Hardened(&'a dyn Fn(&[u8]) -> io::Result<String>),
}

/// Verifies signatures.
#[derive(Clone, Copy)]
pub enum Verifier<'a> {
    Default {
        user_state: &'a Path,
    },
    /// Takes the bytes and the signature, and returns true if the signature is valid.
    Hardened(&'a dyn Fn(&[u8], &str) -> bool),
}

impl<'a> Signer<'a> {
    pub fn profile(&self) -> Profile {
        match self {
            Self::Default { .. } => Profile::Default,
            Self::Hardened(_) => Profile::Hardened,
        }
    }

    /// Returns the verifier of these signatures. The hardened profile has a separate one.
    pub(super) fn verifier(&self) -> Option<Verifier<'a>> {
        match *self {
            Self::Default { user_state } => Some(Verifier::Default { user_state }),
            Self::Hardened(_) => None,
        }
    }

    fn sign(&self, bytes: &[u8]) -> Result<String, SigningError> {
        match self {
            Self::Default { user_state } => {
                let wrong = |source| SigningError::Key { path: approval_key(user_state), source };
                let key = Key::make(user_state).map_err(wrong)?;
                key.sign(bytes).ok_or_else(|| wrong(io::ErrorKind::InvalidData.into()))
            }
            Self::Hardened(sign) => sign(bytes).map_err(SigningError::Ssh),
        }
    }
}

impl Verifier<'_> {
    pub fn profile(&self) -> Profile {
        if matches!(self, Self::Default { .. }) { Profile::Default } else { Profile::Hardened }
    }
}

impl fmt::Debug for Signer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.profile().as_str())
    }
}

impl fmt::Debug for Verifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verifier({})", self.profile().as_str())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    #[error("the key `{}` cannot be used", path.display())]
    Key { path: PathBuf, source: io::Error },
    #[error("`ssh-keygen` did not sign")]
    Ssh(#[source] io::Error),
    #[error("the approval cannot be written")]
    Record(#[source] io::Error),
}

/// Signs a record in the signer's profile and stores it. When this returns, the record is on the disk.
pub fn write_approval(
    place: &Place,
    record: ApprovalRecord,
    signer: &Signer<'_>,
) -> Result<ApprovalRecord, SigningError> {
    let mut record = ApprovalRecord { profile: signer.profile(), ..record };
    let bytes = record.signed_bytes().map_err(|error| SigningError::Record(error.into()))?;
    record.signature = signer.sign(&bytes)?;
    let written = serde_json::to_vec(&record).map_err(io::Error::from);
    let kept = written.and_then(|bytes| replace_in_folder(&path(place, &record.hash), &bytes));
    kept.map(|()| record).map_err(SigningError::Record)
}

/// Returns the stored record of this hash, with a valid signature or not.
pub fn approval_record(place: &Place, hash: &str) -> Option<ApprovalRecord> {
    let bytes = fs::read(path(place, hash)).ok()?;
    // A valid record that was copied under the name of another plan does not approve that plan.
    serde_json::from_slice::<ApprovalRecord>(&bytes).ok().filter(|record| record.hash == hash)
}

/// Returns the approval of this hash, if its signature is valid.
pub fn valid_approval(place: &Place, hash: &str, verifier: &Verifier<'_>) -> Option<ApprovalRecord> {
    approval_record(place, hash).filter(|record| record.is_valid(verifier))
}

pub(super) fn path(place: &Place, hash: &str) -> PathBuf {
    place.state.join("approvals").join(file_name(hash))
}
