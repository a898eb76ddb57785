use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast_model::{Channel, Millis, Profile, SessionId};

use super::key::{Key, approval_key};
use crate::file::{file_name, replace_in_folder};
use crate::place::Place;

/// A human's yes to the plan of one hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// Over what was authored, in hexadecimal.
    pub hash: String,
    /// Where the plan is written, from the root of the checkout.
    pub path: String,
    pub worktree: String,
    pub at: Millis,
    pub channel: Channel,
    /// Where it was said; in a terminal of one's own there is no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub profile: Profile,
    /// Over everything above: in hexadecimal, or as `ssh-keygen` writes it.
    #[serde(default)]
    pub signature: String,
}

/// What is signed of a record, in this order. A field more is another signature.
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
    /// The bytes that are signed: the record as JSON, without its signature.
    pub fn signed_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let Self { hash, path, worktree, at, channel, session, profile, signature: _ } = self;
        let (at, channel, profile) = (*at, *channel, *profile);
        serde_json::to_vec(&Signed { hash, path, worktree, at, channel, session: session.as_ref(), profile })
    }

    /// Whether its signature is real, of the profile that is asked for. The default key cannot stand in for the
    /// hardened profile, nor the other way round.
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

/// Who signs. Processes are started elsewhere: the hardened profile brings what `ssh-keygen -Y sign` is asked with.
#[derive(Clone, Copy)]
pub enum Signer<'a> {
    /// With the key in the user's own state, which is made at first need.
    Default { user_state: &'a Path },
    /// Given the bytes, the signature.
    Hardened(&'a dyn Fn(&[u8]) -> io::Result<String>),
}

/// Who can tell a signature.
#[derive(Clone, Copy)]
pub enum Verifier<'a> {
    Default {
        user_state: &'a Path,
    },
    /// Given the bytes and the signature, whether it is real.
    Hardened(&'a dyn Fn(&[u8], &str) -> bool),
}

impl<'a> Signer<'a> {
    pub fn profile(&self) -> Profile {
        match self {
            Self::Default { .. } => Profile::Default,
            Self::Hardened(_) => Profile::Hardened,
        }
    }

    /// Who can tell its signatures; of the hardened profile it is somebody else.
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
        match self {
            Self::Default { .. } => Profile::Default,
            Self::Hardened(_) => Profile::Hardened,
        }
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

/// Signs a record and keeps it, in the signer's profile. It is on the disk when this returns.
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

/// What is kept about this hash, real or not.
pub fn approval_record(place: &Place, hash: &str) -> Option<ApprovalRecord> {
    let bytes = fs::read(path(place, hash)).ok()?;
    // A real record under the name of another plan is none of that plan.
    serde_json::from_slice::<ApprovalRecord>(&bytes).ok().filter(|record| record.hash == hash)
}

/// The approval of this hash, if its signature is real.
pub fn valid_approval(place: &Place, hash: &str, verifier: &Verifier<'_>) -> Option<ApprovalRecord> {
    approval_record(place, hash).filter(|record| record.is_valid(verifier))
}

pub(super) fn path(place: &Place, hash: &str) -> PathBuf {
    place.state.join("approvals").join(file_name(hash))
}
