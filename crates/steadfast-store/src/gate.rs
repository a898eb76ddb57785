//! The marker of a closed gate: what a hook can still answer from when nothing else can be read.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use steadfast_model::{Millis, SessionId};

use crate::file::{create_private_dir, file_name, replace};
use crate::place::Place;

/// A closed gate, for one session or for a whole checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    pub scope: GateScope,
    /// What the agent is told.
    pub reason: String,
    pub closed_at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateScope {
    Session(SessionId),
    Worktree(String),
}

impl Gate {
    pub fn close(&self, place: &Place) -> io::Result<()> {
        let path = path(place, &self.scope);
        if let Some(folder) = path.parent() {
            create_private_dir(folder)?;
        }
        replace(&path, &serde_json::to_vec(self)?)
    }

    pub fn open(place: &Place, scope: &GateScope) -> io::Result<()> {
        match fs::remove_file(path(place, scope)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    /// Whether this very gate is closed.
    pub fn is_closed(place: &Place, scope: &GateScope) -> bool {
        path(place, scope).exists()
    }

    /// The gate that stands before this session, by the markers alone. `session` is unknown where the event could not
    /// be read: then any gate of this checkout stands. A marker that cannot be read is a closed gate.
    pub fn before(place: &Place, session: Option<&SessionId>) -> Option<Self> {
        let folder = fs::read_dir(place.state.join("gates")).ok()?;
        let mut worktree = None;
        folder.flatten().filter(|file| file.path().extension().is_none()).find_map(|file| {
            let marker = fs::read(file.path()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let Some(gate) = marker else { return Some(unreadable()) };
            let Self { scope, .. } = &gate;
            let stands = match scope {
                GateScope::Session(owner) => session.is_none_or(|session| session == owner),
                GateScope::Worktree(path) => worktree.get_or_insert_with(|| place.worktree()) == path,
            };
            stands.then_some(gate)
        })
    }
}

fn unreadable() -> Gate {
    Gate {
        scope: GateScope::Worktree(String::new()),
        reason: "a gate is closed, and its marker cannot be read".into(),
        closed_at: Millis(0),
    }
}

fn path(place: &Place, scope: &GateScope) -> PathBuf {
    let name = match scope {
        GateScope::Session(session) => format!("session-{}", file_name(session.as_str())),
        GateScope::Worktree(path) => format!("worktree-{}", file_name(path)),
    };
    place.state.join("gates").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Place) {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { state: dir.path().join("steadfast"), root: dir.path().to_owned() };
        (dir, place)
    }

    fn gate(scope: GateScope) -> Gate {
        Gate { scope, reason: "the plan is not approved".into(), closed_at: Millis(1) }
    }

    #[test]
    fn a_sessions_gate_stands_before_it_and_before_an_unknown_one() {
        let (_dir, place) = place();
        let (mine, other) = (SessionId::new("s/1"), SessionId::new("s-2"));
        let gate = gate(GateScope::Session(mine.clone()));
        assert_eq!(Gate::before(&place, Some(&mine)), None);
        gate.close(&place).unwrap();
        assert_eq!(Gate::before(&place, Some(&mine)), Some(gate.clone()));
        assert_eq!(Gate::before(&place, None), Some(gate.clone()));
        assert_eq!(Gate::before(&place, Some(&other)), None);
        Gate::open(&place, &gate.scope).unwrap();
        assert_eq!(Gate::before(&place, Some(&mine)), None);
    }

    #[test]
    fn a_worktrees_gate_stands_before_every_session_in_it_alone() {
        let (dir, place) = place();
        let gate = gate(GateScope::Worktree(place.worktree()));
        gate.close(&place).unwrap();
        assert_eq!(Gate::before(&place, Some(&SessionId::new("any"))), Some(gate));
        let elsewhere = Place { root: dir.path().join("steadfast"), ..place };
        assert_eq!(Gate::before(&elsewhere, None), None);
    }

    #[test]
    fn a_marker_that_cannot_be_read_is_a_closed_gate() {
        let (_dir, place) = place();
        let scope = GateScope::Session(SessionId::new("s-1"));
        gate(scope.clone()).close(&place).unwrap();
        fs::write(path(&place, &scope), "half").unwrap();
        assert!(Gate::before(&place, Some(&SessionId::new("s-2"))).is_some());
    }
}
