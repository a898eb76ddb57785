//! The whole of an approval: the signed record, the plan at its path, its seal, the gate. Each step may be done again.

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
use crate::seal::{Held, copy_aside, target_of};

/// What a human said yes to, where and when.
#[derive(Clone, Copy, Debug)]
pub struct Consent<'a> {
    /// The gate that opens.
    pub scope: &'a GateScope,
    /// Of the draft.
    pub hash: &'a str,
    pub channel: Channel,
    pub session: Option<&'a SessionId>,
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Where the plan is now.
    pub path: PathBuf,
    pub record: ApprovalRecord,
    /// Where a copy is of what stood there before, if that was something else.
    pub kept: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    #[error("no draft of the hash `{}` is kept", short(.0))]
    NoDraft(String),
    #[error("the draft of the hash `{}` is not what was proposed any more", short(.0))]
    OtherDraft(String),
    #[error("the approval's profile is `hardened`: run `steadfast plan approve {}` in a terminal", short(.0))]
    Terminal(String),
    #[error("the user's state folder is not known, and with it the key")]
    NoUserState,
    #[error(transparent)]
    Signing(#[from] SigningError),
    #[error("`{0}` is no place for a plan: it is not in the checkout, a link leads it elsewhere, or it is git's")]
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

/// Approves the draft of a hash in the default profile, for a yes that was seen by a hook. In the hardened profile
/// nothing is done: a yes counts there only when it is signed in a terminal.
///
/// `hash_of` says which hash a draft has by its text: what is approved is what was read, not what bears its name.
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

/// Approves the draft of a hash: signs, writes the plan with its marker, renews its seal, opens the gate. Whoever dies
/// in between leaves the gate closed and may begin again: a record that is real stays as it is.
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
    // Before anything is signed: a yes to a plan that cannot be written would be half a yes.
    let target = target_of(&root, &draft.path).filter(|target| is_theirs(&target.path));
    let target = target.ok_or_else(|| GrantError::Outside(draft.path.clone()))?;
    let known = signer.verifier().and_then(|verifier| valid_approval(place, yes.hash, &verifier));
    let record = match known {
        Some(record) => record,
        None => write_approval(place, record(&draft, yes, signer.profile()), signer)?,
    };
    let path = root.join(&target.path);
    // Until the seals know of it, it is a change like any other, and somebody could put back what was there before.
    let seals = hold_seals(place, &root, yes.scope);
    let kept =
        write_plan(place, &path, &draft, &record).map_err(|source| GrantError::Plan { path: path.clone(), source })?;
    for seal in &seals {
        seal.reseal(&root, &target.path).map_err(GrantError::Seal)?;
    }
    drop(seals);
    open_and_unseal(place, yes.scope).map_err(GrantError::Gate)?;
    Ok(Granted { path, record, kept })
}

/// A plan is no hook of git's.
fn is_theirs(path: &str) -> bool {
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

/// Another gate of the same checkout may have sealed the path, too.
fn hold_seals(place: &Place, root: &Path, scope: &GateScope) -> Vec<Held> {
    let others = gates(place).into_iter().filter(|gate| Path::new(&gate.root) == root).map(|gate| gate.scope);
    others.filter(|other| other != scope).chain([scope.clone()]).map(|scope| Held::take(place, &scope)).collect()
}

/// A copy of what stood there is kept, if it is not this plan.
fn write_plan(place: &Place, path: &Path, draft: &Draft, record: &ApprovalRecord) -> io::Result<Option<PathBuf>> {
    let text = with_marker(&draft.text, draft.format, record.at);
    let Some(found) = there(path)? else {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        return replace_durably(path, text.as_bytes(), Access::Usual).map(|()| None);
    };
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "something stands there that is no file"));
    }
    // What is longer is not this plan.
    let is_near = found.len() <= text.len() as u64 + 256;
    let standing = if is_near { fs::read(path)? } else { Vec::new() };
    if is_near && standing == text.as_bytes() {
        return Ok(None);
    }
    let is_this = is_near && without_marker(&String::from_utf8_lossy(&standing)) == without_marker(&text);
    let kept = if is_this { None } else { copy_aside(place, path, record.at)? };
    replace_durably(path, text.as_bytes(), Access::Mode(found.mode())).map(|()| kept)
}

fn there(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
