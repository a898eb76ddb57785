//! Detects changes of the file that a plan was loaded from.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use steadfast_model::{Event, EventKind, Fact, PlanView, SpecChange, fnv};
use steadfast_plan::{CompileOptions, MAX_BYTES, compile, hash};
use steadfast_store::ledger::{Ledger, PlanRow};
use steadfast_store::{Place, without_marker};

/// The longest spec that the start of a session reads: about 3,000 tasks.
const AT_START: usize = 1 << 20;

/// Returns the digest of a spec's text, to store with its plan.
pub fn text_digest(root: &Path, source: &str) -> Option<String> {
    read(&root.join(source), MAX_BYTES).map(|text| digest(&text))
}

/// Returns how the spec of a plan changed since it was loaded. Ticked boxes, white space and text outside of tasks do
/// not count; only what would change the loaded plan does. `None`: no change, or unknown.
pub fn spec_change(root: &Path, plan: &PlanRow) -> Option<SpecChange> {
    changed(root, plan, MAX_BYTES)
}

/// Does the same at the start of a session.
pub(super) fn at_start(place: &Place, event: &Event, plan: &Fact<Option<PlanView>>) -> Option<SpecChange> {
    let Fact::Known(Some(plan)) = plan else { return None };
    if event.agent.is_some() || !matches!(event.kind, EventKind::SessionStart { .. }) || plan.brief.spec.is_none() {
        return None;
    }
    let ledger = Ledger::open_read_only(&place.state).ok().flatten()?;
    // A missing spec is often just on another branch, so only `status` reports it.
    changed(&place.root, &ledger.plan_row(&plan.id).ok()?, AT_START).filter(|change| *change != SpecChange::Gone)
}

fn changed(root: &Path, plan: &PlanRow, most: usize) -> Option<SpecChange> {
    let (source, kept, before) = (plan.source.as_ref()?, plan.head.text.as_ref()?, plan.head.hash.as_ref()?);
    let file = root.join(source);
    if fs::symlink_metadata(&file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Some(SpecChange::Gone);
    }
    let text = read(&file, most)?;
    if digest(&text) == *kept {
        return None;
    }
    // The approval line is not part of the plan.
    match compile(&without_marker(&text), source, &CompileOptions::default()) {
        Ok(compiled) => (hash(&compiled.plan) != *before).then_some(SpecChange::Changed),
        Err(_) => Some(SpecChange::Broken),
    }
}

fn digest(text: &str) -> String {
    format!("{:016x}", fnv([text.as_bytes()]))
}

/// `None`: not a file, or too long.
fn read(file: &Path, most: usize) -> Option<String> {
    // Reading a pipe or a device could block.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() > most { None } else { String::from_utf8(bytes).ok() }
}
