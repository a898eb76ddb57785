//! The marker of a closed gate: a hook can still enforce the gate from it when nothing else can be read.
//!
//! Each marker exists twice: in the state, and next to the state folder. So deleting the state, or restoring an old one,
//! does not open the gate.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_model::{Gate, GateScope, Millis, SessionId};
use steadfast_system::{Access, create_private_dir, replace_durably};

use crate::file::file_name;
use crate::hook_log::log_now;
use crate::place::Place;
use crate::seal::{Sealed, seal, unseal};

/// The treatment of the existing marker of a gate that is already closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldMarker {
    /// Another process wrote it meanwhile, and it may contain a proposal.
    Keep,
    Replace,
}

/// Closes a gate. The seal comes first, because a gate counts as closed only when its protected files are on record. `tree`
/// is the time limit for git, which seals patterns with too many files for per-file entries.
pub fn close_and_seal(place: &Place, gate: &Gate, old: OldMarker, tree: Duration) -> io::Result<Sealed> {
    let sealed = seal(place, gate, tree)?;
    if old == OldMarker::Replace || gate_of(place, &gate.scope).is_none() {
        close_gate(place, gate)?;
    }
    Ok(sealed)
}

/// Opens a gate: removes its markers, then its seal. If a seal remains, its time tells it from the seal of the next gate.
pub fn open_and_unseal(place: &Place, scope: &GateScope) -> io::Result<()> {
    match scope {
        GateScope::Worktree(path) if path.is_empty() => remove_unreadable(place)?,
        scope => open_gate(place, scope)?,
    }
    if let Err(error) = unseal(place, scope) {
        log_now(&place.state, &format!("cannot remove the seal of an opened gate: {error}"));
    }
    Ok(())
}

/// Removes unreadable markers. Each of them closes the gate for every session.
fn remove_unreadable(place: &Place) -> io::Result<()> {
    for folder in folders(place) {
        for marker in fs::read_dir(folder).into_iter().flatten() {
            let path = marker?.path();
            let is_read = fs::read(&path).is_ok_and(|bytes| serde_json::from_slice::<Gate>(&bytes).is_ok());
            if !is_read {
                fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}

/// Writes the marker. When this returns, it is on the disk: a closed gate must stay closed after a power cut.
pub fn close_gate(place: &Place, gate: &Gate) -> io::Result<()> {
    let marker = serde_json::to_vec(gate)?;
    for folder in folders(place) {
        create_private_dir(&folder)?;
        replace_durably(&folder.join(scope_name(&gate.scope)), &marker, Access::Private)?;
    }
    Ok(())
}

pub fn open_gate(place: &Place, scope: &GateScope) -> io::Result<()> {
    let [within, beside] = folders(place);
    for path in [within.join(scope_name(scope)), beside.join(scope_name(scope))] {
        match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    // The empty folder closes no gate.
    let _ = fs::remove_dir(beside);
    Ok(())
}

/// Removes all markers next to the state, when Steadfast is uninstalled.
pub fn forget_gates(place: &Place) -> io::Result<()> {
    let [_, beside] = folders(place);
    match fs::remove_dir_all(beside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Returns the two folders with markers: in the state, and next to it.
pub(crate) fn folders(place: &Place) -> [PathBuf; 2] {
    [place.state.join("gates"), place.state.with_extension("gates")]
}

/// Returns the marker of this gate, if it is closed. An unreadable marker counts as a closed gate.
pub fn gate_of(place: &Place, scope: &GateScope) -> Option<Gate> {
    folders(place).into_iter().find_map(|folder| match fs::read(folder.join(scope_name(scope))) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap_or_else(|_| unreadable(scope.clone()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(unreadable(scope.clone())),
    })
}

/// Returns the gate that is closed for this session, from the markers alone. `session` is `None` if the event could not be
/// read; then any closed gate of this checkout counts. An unreadable marker counts as a closed gate, an expired one does
/// not.
pub fn gate_before(place: &Place, session: Option<&SessionId>, now: Millis) -> Option<Gate> {
    own_gate(&gates(place), place, session, now).cloned()
}

fn own_gate<'g>(gates: &'g [Gate], place: &Place, session: Option<&SessionId>, now: Millis) -> Option<&'g Gate> {
    let mut worktree = None;
    gates.iter().find(|gate| match &gate.scope {
        _ if gate.has_expired(now) => false,
        GateScope::Session(owner) => session.is_none_or(|session| session == owner),
        GateScope::Worktree(path) => path.is_empty() || worktree.get_or_insert_with(|| place.worktree()) == path,
    })
}

/// Checks by file name alone if there is a marker of a gate that is closed for this session. `session` is `None` if the
/// event could not be read; then any marker counts.
pub fn has_marker_before(place: &Place, session: Option<&SessionId>) -> bool {
    let Some(session) = session else {
        let files = folders(place).into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        return files.into_iter().any(|file| file.path().extension().is_none());
    };
    let scopes = [GateScope::Session(session.clone()), GateScope::Worktree(place.worktree())];
    let is_there = |folder: &PathBuf, scope| fs::symlink_metadata(folder.join(scope_name(scope))).is_ok();
    folders(place).iter().any(|folder| scopes.iter().any(|scope| is_there(folder, scope)))
}

/// The facts about a session that decide if another session's draft closes the gate for it.
#[derive(Clone, Copy, Debug)]
pub struct Later<'a> {
    pub started_at: Millis,
    /// The gate that this session already knows.
    pub known: Option<&'a GateScope>,
}

/// Returns the gate that is closed for a session: its own, the checkout's, or that of another session whose draft waits for
/// the human in this checkout. Such a draft closes the gate for every session that started after the proposal. Sessions that
/// were already running continue.
pub fn gate_for(place: &Place, session: Option<&SessionId>, later: Later<'_>, now: Millis) -> Option<Gate> {
    let gates = gates(place);
    let mut worktree = None;
    let waits = |gate: &&Gate| {
        let Some(waiting) = gate.waiting.filter(|_| gate.draft.is_some()) else { return false };
        matches!(gate.scope, GateScope::Session(_))
            && waiting.until.is_none_or(|until| now < until)
            && (later.started_at >= waiting.since || later.known == Some(&gate.scope))
            && *worktree.get_or_insert_with(|| place.worktree()) == gate.root
    };
    own_gate(&gates, place, session, now).or_else(|| gates.iter().find(waits)).cloned()
}

/// Lists all closed gates of this repository. An unreadable marker closes the gate for every session.
pub fn gates(place: &Place) -> Vec<Gate> {
    let mut gates: Vec<Gate> = Vec::new();
    for folder in folders(place) {
        let Ok(folder) = fs::read_dir(folder) else { continue };
        for file in folder.flatten().filter(|file| file.path().extension().is_none()) {
            let marker = fs::read(file.path()).ok().and_then(|bytes| serde_json::from_slice::<Gate>(&bytes).ok());
            let gate = marker.unwrap_or_else(|| unreadable(GateScope::Worktree(String::new())));
            if !gates.iter().any(|known| known.scope == gate.scope) {
                gates.push(gate);
            }
        }
    }
    gates
}

fn unreadable(scope: GateScope) -> Gate {
    Gate::new(scope, "a gate is closed, and its marker cannot be read", Millis(0))
}

pub(crate) fn scope_name(scope: &GateScope) -> String {
    match scope {
        GateScope::Session(session) => format!("session-{}", file_name(session.as_str())),
        GateScope::Worktree(path) => format!("worktree-{}", file_name(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::temporary as place;

    fn gate(scope: GateScope) -> Gate {
        Gate::new(scope, "the plan is not approved", Millis(1))
    }

    const NOW: Millis = Millis(10);

    #[test]
    fn a_sessions_gate_stands_before_it_and_before_an_unknown_one() {
        let (_dir, place) = place();
        let (mine, other) = (SessionId::new("s/1"), SessionId::new("s-2"));
        let gate = gate(GateScope::Session(mine.clone()));
        assert_eq!(gate_before(&place, Some(&mine), NOW), None);
        close_gate(&place, &gate).unwrap();
        assert_eq!(gate_before(&place, Some(&mine), NOW), Some(gate.clone()));
        assert_eq!(gate_before(&place, None, NOW), Some(gate.clone()));
        assert_eq!(gate_before(&place, Some(&other), NOW), None);
        open_gate(&place, &gate.scope).unwrap();
        assert_eq!(gate_before(&place, Some(&mine), NOW), None);
    }

    #[test]
    fn a_worktrees_gate_stands_before_every_session_in_it_alone_until_it_expires() {
        let (dir, place) = place();
        let gate = Gate { expires_at: Some(Millis(20)), ..gate(GateScope::Worktree(place.worktree())) };
        close_gate(&place, &gate).unwrap();
        let any = SessionId::new("any");
        assert_eq!(gate_before(&place, Some(&any), NOW), Some(gate));
        assert_eq!(gate_before(&place, Some(&any), Millis(20)), None);
        let elsewhere = Place { root: dir.path().join("steadfast"), ..place };
        assert_eq!(gate_before(&elsewhere, None, NOW), None);
    }

    #[test]
    fn a_marker_that_cannot_be_read_is_a_closed_gate() {
        let (_dir, place) = place();
        let scope = GateScope::Session(SessionId::new("s-1"));
        close_gate(&place, &gate(scope.clone())).unwrap();
        fs::write(folders(&place)[0].join(scope_name(&scope)), "half").unwrap();
        assert!(gate_before(&place, Some(&SessionId::new("s-2")), NOW).is_some());
        assert_eq!(gate_of(&place, &scope), Some(unreadable(scope)));
    }

    #[test]
    fn a_state_that_was_deleted_or_put_back_opens_no_gate() {
        let (_dir, place) = place();
        let gate = gate(GateScope::Session(SessionId::new("s-1")));
        close_gate(&place, &gate).unwrap();
        fs::remove_dir_all(&place.state).unwrap();
        assert_eq!(gate_before(&place, Some(&SessionId::new("s-1")), NOW), Some(gate.clone()));
        assert_eq!(gate_of(&place, &gate.scope), Some(gate.clone()));
        open_gate(&place, &gate.scope).unwrap();
        assert_eq!(gates(&place), []);
    }
}
