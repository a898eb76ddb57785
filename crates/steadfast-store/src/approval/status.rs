use std::fs;

use steadfast_model::{AddedBy, Approval, GateScope, Millis};

use super::record::{Verifier, valid_approval};
use crate::draft::draft;
use crate::gate::gates;
use crate::marker::has_marker;
use crate::place::Place;
use crate::seal::{SealedText, sealed_text};

/// A plan's file that is larger is not looked into.
const BOUND: u64 = 4 << 20;

/// The plan that is asked about.
#[derive(Clone, Debug)]
pub struct ApprovalQuery<'a> {
    /// Over what was authored; a plain list of tasks has none.
    pub hash: Option<&'a str>,
    /// Its file, if it has one, from the root of the checkout or of the system.
    pub path: Option<&'a str>,
    pub added_by: AddedBy,
    /// `[approval] required`.
    pub required: bool,
    pub now: Millis,
}

/// How a plan stands with its human: by the signed record, and without one by what its file says.
pub fn approval_of(place: &Place, asked: &ApprovalQuery<'_>, verifier: &Verifier<'_>) -> Approval {
    if asked.hash.is_some_and(|hash| valid_approval(place, hash, verifier).is_some()) {
        return Approval::Approved;
    }
    if let Some(path) = asked.path.filter(|path| file_has_marker(place, path)) {
        return match began_while_closed(place, path, asked.now) {
            true => Approval::Forged,
            false => Approval::Unsigned,
        };
    }
    let by_agent = asked.required && asked.added_by == AddedBy::Agent;
    match by_agent || asked.hash.is_some_and(|hash| draft(place, hash).is_some()) {
        true => Approval::Required,
        false => Approval::NotRequired,
    }
}

fn file_has_marker(place: &Place, path: &str) -> bool {
    let path = place.root.join(path);
    let is_read = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= BOUND);
    is_read && fs::read(path).is_ok_and(|bytes| has_marker(&String::from_utf8_lossy(&bytes)))
}

/// Whether a gate of this checkout is closed, and had sealed the file without a marker.
fn began_while_closed(place: &Place, path: &str, now: Millis) -> bool {
    let worktree = place.worktree();
    let is_here = |scope: &GateScope, root: &str| match scope {
        GateScope::Session(_) => root == worktree,
        GateScope::Worktree(path) => *path == worktree,
    };
    let closed = gates(place).into_iter().filter(|gate| !gate.has_expired(now) && is_here(&gate.scope, &gate.root));
    closed.map(|gate| sealed_text(place, &gate.scope, path)).any(|sealed| match sealed {
        SealedText::Unknown => false,
        SealedText::Absent => true,
        SealedText::Text(text) => !has_marker(&text),
    })
}
