//! The marker of a closed gate: what a hook can still answer from when nothing else can be read.
//!
//! There are two of it: in the state, and beside it. Who deletes the state or puts an old one back has opened nothing.

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

/// What becomes of the marker of a gate that is closed already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OldMarker {
    /// Another process wrote it meanwhile, and may know what was proposed.
    Keep,
    Replace,
}

/// Closes a gate: the seal first, because a gate is closed when what it protects is on record. Git gets `tree` to seal what
/// is too much for single files.
pub fn close_and_seal(place: &Place, gate: &Gate, old: OldMarker, tree: Duration) -> io::Result<Sealed> {
    let sealed = seal(place, gate, tree)?;
    if old == OldMarker::Replace || gate_of(place, &gate.scope).is_none() {
        close_gate(place, gate)?;
    }
    Ok(sealed)
}

/// Opens a gate: its markers go, then its seal. A seal that stays is told from that of the next gate by its time.
pub fn open_and_unseal(place: &Place, scope: &GateScope) -> io::Result<()> {
    match scope {
        GateScope::Worktree(path) if path.is_empty() => remove_unreadable(place)?,
        scope => open_gate(place, scope)?,
    }
    if let Err(error) = unseal(place, scope) {
        log_now(&place.state, &format!("a seal was not taken off: {error}"));
    }
    Ok(())
}

/// Removes the markers that cannot be read: they close the gate of every session.
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

/// Writes the marker. What it says is on the disk when this returns: a gate that was closed stays closed.
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
    // Empty, it stands before nobody.
    let _ = fs::remove_dir(beside);
    Ok(())
}

/// Takes every marker away that stands beside the state, where Steadfast leaves for good.
pub fn forget_gates(place: &Place) -> io::Result<()> {
    let [_, beside] = folders(place);
    match fs::remove_dir_all(beside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Where the markers are: in the state, and beside it.
pub(crate) fn folders(place: &Place) -> [PathBuf; 2] {
    [place.state.join("gates"), place.state.with_extension("gates")]
}

/// The marker of this very gate, if it is closed. One that cannot be read is a closed gate.
pub fn gate_of(place: &Place, scope: &GateScope) -> Option<Gate> {
    folders(place).into_iter().find_map(|folder| match fs::read(folder.join(scope_name(scope))) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap_or_else(|_| unreadable(scope.clone()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(unreadable(scope.clone())),
    })
}

/// The gate that stands before this session, by the markers alone. `session` is unknown where the event could not be
/// read: then any gate of this checkout stands. A marker that cannot be read is a closed gate; one that has expired
/// is none.
pub fn gate_before(place: &Place, session: Option<&SessionId>, now: Millis) -> Option<Gate> {
    own(&gates(place), place, session, now).cloned()
}

fn own<'g>(gates: &'g [Gate], place: &Place, session: Option<&SessionId>, now: Millis) -> Option<&'g Gate> {
    let mut worktree = None;
    gates.iter().find(|gate| match &gate.scope {
        _ if gate.has_expired(now) => false,
        GateScope::Session(owner) => session.is_none_or(|session| session == owner),
        GateScope::Worktree(path) => path.is_empty() || worktree.get_or_insert_with(|| place.worktree()) == path,
    })
}

/// Whether there is a marker of a gate that stands before this session, by its name alone. `session` is unknown where the
/// event could not be read: then any marker is one.
pub fn has_marker_before(place: &Place, session: Option<&SessionId>) -> bool {
    let Some(session) = session else {
        let files = folders(place).into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        return files.into_iter().any(|file| file.path().extension().is_none());
    };
    let scopes = [GateScope::Session(session.clone()), GateScope::Worktree(place.worktree())];
    let is_there = |folder: &PathBuf, scope| fs::symlink_metadata(folder.join(scope_name(scope))).is_ok();
    folders(place).iter().any(|folder| scopes.iter().any(|scope| is_there(folder, scope)))
}

/// A session as far as a draft of another one stands before it.
#[derive(Clone, Copy, Debug)]
pub struct Later<'a> {
    pub started_at: Millis,
    /// The gate that it knows already.
    pub known: Option<&'a GateScope>,
}

/// The gate that stands before a session: its own, the checkout's, or one of another session whose draft waits for the
/// human in this checkout. That one stands before every session that started after the proposal; one that ran already is
/// not disturbed.
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
    own(&gates, place, session, now).or_else(|| gates.iter().find(waits)).cloned()
}

/// All gates that are closed in this repository. A marker that cannot be read stands before everybody.
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

/// A scope as the name of a file.
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
