//! A complete approval: the signed record, the plan at its path, its seal, the gate. Each step can be repeated.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use steadfast_model::{Channel, DraftLine, GateScope, Millis, Profile, SessionId};
use steadfast_system::{Access, replace_durably};

use super::record::{ApprovalRecord, Signer, SigningError, valid_approval, write_approval};
use crate::draft::{Draft, draft};
use crate::gate::{gates, open_and_unseal};
use crate::marker::{with_marker, without_marker};
use crate::place::Place;
use crate::seal::{LockedSeal, copy_aside, target_of};

/// A human's yes: to which plan, where and when.
#[derive(Clone, Copy, Debug)]
pub struct Consent<'a> {
    /// The gate that opens.
    pub scope: &'a GateScope,
    /// The hash of the draft.
    pub hash: &'a str,
    pub channel: Channel,
    pub session: Option<&'a SessionId>,
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The path of the written plan.
    pub path: PathBuf,
    pub record: ApprovalRecord,
    /// The copy of the previous file at that path, if its content was different.
    pub kept: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    #[error("there is no draft with the hash `{}`", short(.0))]
    NoDraft(String),
    #[error("the draft with the hash `{}` was changed after it was proposed", short(.0))]
    OtherDraft(String),
    #[error("the approval profile is `hardened`: run `steadfast plan approve {}` in a terminal", short(.0))]
    Terminal(String),
    #[error("the approval key cannot be found: the user's state folder is unknown")]
    NoUserState,
    #[error(transparent)]
    Signing(#[from] SigningError),
    #[error(
        "a plan cannot be written to `{0}`: it is outside the checkout, behind a link that leads outside, or in `.git`"
    )]
    Outside(String),
    #[error("the approved plan cannot be written to `{}`: {source}", path.display())]
    Plan { path: PathBuf, source: io::Error },
    #[error("the seal cannot be renewed: {0}")]
    Seal(#[source] io::Error),
    #[error("the gate cannot be opened: {0}")]
    Gate(#[source] io::Error),
}

fn short(hash: &str) -> &str {
    hash.get(..DraftLine::SHORT).unwrap_or(hash)
}

/// Approves a draft in the default profile, for a yes that a hook saw. In the hardened profile it returns an error, because
/// only a yes signed in a terminal counts there.
///
/// `hash_of` computes the hash from a draft's text, so that the approved text is the one that was read, not just a file with
/// the right name.
pub fn grant(
    place: &Place,
    profile: Profile,
    user_state: Option<&Path>,
    yes: &Consent<'_>,
    hash_of: &dyn Fn(&Draft) -> String,
) -> Result<Granted, GrantError> {
    match profile {
        Profile::Hardened => Err(GrantError::Terminal(yes.hash.to_owned())),
        Profile::Default => {
            let user_state = user_state.ok_or(GrantError::NoUserState)?;
            grant_signed(place, yes, &Signer::Default { user_state }, hash_of)
        }
    }
}

/// Approves a draft: signs it, writes the plan with its marker, renews its seal, opens the gate. If the process dies in
/// between, the gate stays closed and the approval can be repeated: an existing valid record is kept.
pub fn grant_signed(
    place: &Place,
    yes: &Consent<'_>,
    signer: &Signer<'_>,
    hash_of: &dyn Fn(&Draft) -> String,
) -> Result<Granted, GrantError> {
    let draft = draft(place, yes.hash).ok_or_else(|| GrantError::NoDraft(yes.hash.to_owned()))?;
    if hash_of(&draft) != yes.hash {
        return Err(GrantError::OtherDraft(yes.hash.to_owned()));
    }
    let root = PathBuf::from(&draft.worktree);
    // Check the path before signing: a signed approval of a plan that cannot be written would be half an approval.
    let target = target_of(&root, &draft.path).filter(|target| is_outside_git_dir(&target.path));
    let target = target.ok_or_else(|| GrantError::Outside(draft.path.clone()))?;
    let known = signer.verifier().and_then(|verifier| valid_approval(place, yes.hash, &verifier));
    let record = match known {
        Some(record) => record,
        None => write_approval(place, record(&draft, yes, signer.profile()), signer)?,
    };
    let path = root.join(&target.path);
    // Until the seals are renewed, the new plan looks like a forbidden change, and another process could undo it.
    let seals = lock_seals(place, &root, yes.scope);
    let kept =
        write_plan(place, &path, &draft, &record).map_err(|source| GrantError::Plan { path: path.clone(), source })?;
    for seal in &seals {
        seal.reseal(&root, &target.path).map_err(GrantError::Seal)?;
    }
    drop(seals);
    open_and_unseal(place, yes.scope).map_err(GrantError::Gate)?;
    Ok(Granted { path, record, kept })
}

/// Rejects paths inside `.git`, where a plan could become a git hook.
fn is_outside_git_dir(path: &str) -> bool {
    !path.split('/').any(|part| part.eq_ignore_ascii_case(".git"))
}

fn record(draft: &Draft, yes: &Consent<'_>, profile: Profile) -> ApprovalRecord {
    ApprovalRecord {
        hash: draft.hash.clone(),
        path: draft.path.clone(),
        worktree: draft.worktree.clone(),
        at: yes.at,
        channel: yes.channel,
        session: yes.session.cloned(),
        profile,
        signature: String::new(),
    }
}

/// Locks the seals of all gates of this checkout, because another gate may have sealed the same path.
fn lock_seals(place: &Place, root: &Path, scope: &GateScope) -> Vec<LockedSeal> {
    let others = gates(place).into_iter().filter(|gate| Path::new(&gate.root) == root).map(|gate| gate.scope);
    others.filter(|other| other != scope).chain([scope.clone()]).map(|scope| LockedSeal::lock(place, &scope)).collect()
}

/// Writes the plan. Keeps a copy of the previous file, unless it is this plan.
fn write_plan(place: &Place, path: &Path, draft: &Draft, record: &ApprovalRecord) -> io::Result<Option<PathBuf>> {
    let text = with_marker(&draft.text, draft.format, record.at);
    let Some(found) = metadata_if_exists(path)? else {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        return replace_durably(path, text.as_bytes(), Access::Usual).map(|()| None);
    };
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the path exists and is not a file"));
    }
    // A much longer file cannot be this plan.
    let is_near = found.len() <= text.len() as u64 + 256;
    let existing = if is_near { fs::read(path)? } else { Vec::new() };
    if is_near && existing == text.as_bytes() {
        return Ok(None);
    }
    let is_this = is_near && without_marker(&String::from_utf8_lossy(&existing)) == without_marker(&text);
    let kept = if is_this { None } else { copy_aside(place, path, record.at)? };
    replace_durably(path, text.as_bytes(), Access::Mode(found.mode())).map(|()| kept)
}

fn metadata_if_exists(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
