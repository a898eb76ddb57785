use std::fs;

use steadfast_model::{AddedBy, Approval, GateScope, Millis};

use super::record::{Verifier, valid_approval};
use crate::draft::draft;
use crate::gate::gates;
use crate::marker::has_marker;
use crate::place::Place;
use crate::seal::{SealedText, sealed_text};

/// The maximum size of a plan file to search for a marker.
const BOUND: u64 = 4 << 20;

/// The plan whose approval the caller asks about.
#[derive(Clone, Debug)]
pub struct ApprovalQuery<'a> {
    /// The hash of the authored text; a plain list of tasks has none.
    pub hash: Option<&'a str>,
    /// The path of its file, if it has one: absolute, or from the root of the checkout.
    pub path: Option<&'a str>,
    pub added_by: AddedBy,
    /// The setting `approval.required`.
    pub required: bool,
    pub now: Millis,
}

/// Returns the approval status of a plan: from the signed record, else from the marker in its file.
pub fn approval_of(place: &Place, query: &ApprovalQuery<'_>, verifier: &Verifier<'_>) -> Approval {
    if query.hash.is_some_and(|hash| valid_approval(place, hash, verifier).is_some()) {
        return Approval::Approved;
    }
    if let Some(path) = query.path.filter(|path| file_has_marker(place, path)) {
        return match began_while_closed(place, path, query.now) {
            true => Approval::Forged,
            false => Approval::Unsigned,
        };
    }
    let by_agent = query.required && query.added_by == AddedBy::Agent;
    match by_agent || query.hash.is_some_and(|hash| draft(place, hash).is_some()) {
        true => Approval::Required,
        false => Approval::NotRequired,
    }
}

fn file_has_marker(place: &Place, path: &str) -> bool {
    let path = place.root.join(path);
    let is_read = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= BOUND);
    is_read && fs::read(path).is_ok_and(|bytes| has_marker(&String::from_utf8_lossy(&bytes)))
}

/// Checks for a closed gate of this checkout that sealed the file without a marker.
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
