//! Finds at a stop which done tasks of a plan still hold in this checkout, from the ledger's records of their files,
//! without git.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use steadfast_model::{
    DoneHere, Event, EvidenceClass, EvidenceSubject, Fact, Freshness, OnBranch, PlanId, State, TaskId, freshness,
};
use steadfast_observe::Checkout;
use steadfast_store::Place;
use steadfast_store::ledger::{Ledger, LedgerError, RunWork, StoredProof};

/// After this time the gate lets the session stop as `unverified`.
const BUDGET: Duration = Duration::from_millis(30);

pub(super) fn here(place: &Place, ledger: &Ledger, plan: &PlanId, state: &State, event: &Event) -> Fact<DoneHere> {
    match look(place, ledger, plan, state, event) {
        Ok(fact) => fact,
        Err(error) => Fact::Unknown(error.to_string()),
    }
}

fn look(
    place: &Place,
    ledger: &Ledger,
    plan: &PlanId,
    state: &State,
    event: &Event,
) -> Result<Fact<DoneHere>, LedgerError> {
    let proofs = ledger.stored_proofs(plan)?;
    let checkout = Checkout::find(&place.root);
    let changed = match checkout.changed_since_seen(proofs.iter().flat_map(|proof| &proof.files), BUDGET) {
        Fact::Known(changed) => changed,
        Fact::Unknown(why) => return Ok(Fact::Unknown(why)),
        Fact::NotAsked => Vec::new(),
    };
    let mut changed = changed.into_iter();
    let mut stale: BTreeSet<TaskId> = BTreeSet::new();
    for proof in &proofs {
        let files_changed = changed.by_ref().take(proof.files.len()).fold(false, |any, one| any | one);
        let subject = EvidenceSubject::of(EvidenceClass::Executed, !proof.files.is_empty());
        let look = |subject| match subject {
            EvidenceSubject::Files => Fact::Known(files_changed),
            EvidenceSubject::Everything => Fact::Known(wrote_since(&checkout, state, event, proof)),
            EvidenceSubject::Nothing => Fact::Known(false),
        };
        if proof.failed || freshness(subject, look) == Freshness::Stale {
            stale.insert(proof.task.clone());
        }
    }
    let mut here = DoneHere { claimed: ledger.claimed(plan)?, ..DoneHere::default() };
    if let Some(RunWork { branch, tasks }) = ledger.work_of_last_run(plan)?
        && !tasks.is_empty()
        && is_unmerged(&checkout, &branch)
    {
        stale.retain(|task| !tasks.contains(task));
        here.elsewhere = Some(OnBranch { branch, tasks: u32::try_from(tasks.len()).unwrap_or(u32::MAX) });
    }
    if !stale.is_empty() {
        here.stale = ledger.done_lines(plan, &stale)?;
    }
    Ok(Fact::Known(here))
}

/// For a task without files: returns whether the session wrote anything after its check started.
fn wrote_since(checkout: &Checkout, state: &State, event: &Event, proof: &StoredProof) -> bool {
    let root = if state.drift.root.is_empty() { &event.cwd } else { &state.drift.root };
    let touched = |path: &str| checkout.is_touched_after(&Path::new(root).join(path), proof.since);
    state.last_write.as_ref().is_some_and(|last| last.is_after(proof.since, touched))
}

/// Returns whether the branch of a run exists and was never merged into the current checkout. It reads the reflog of
/// `HEAD`, which names every merge and every checked out commit.
fn is_unmerged(checkout: &Checkout, branch: &str) -> bool {
    let (Some(common), Some(git_dir)) = (checkout.common_dir(), checkout.git_dir()) else { return false };
    let Some(tip) = tip_of(common, &format!("refs/heads/{branch}")) else { return false };
    let log = fs::read_to_string(git_dir.join("logs/HEAD")).unwrap_or_default();
    let is_merge = |line: &str| line.contains(&format!(" {tip} ")) || line.contains(&format!("\tmerge {branch}:"));
    !log.lines().any(is_merge)
}

/// Returns the commit of a reference.
fn tip_of(common: &Path, name: &str) -> Option<String> {
    if let Ok(text) = fs::read_to_string(common.join(name)) {
        return Some(text.trim().to_owned());
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
}
