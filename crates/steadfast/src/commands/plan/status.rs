use steadfast_model::{Approval, DraftLine};
use steadfast_store::Draft;
use steadfast_work::task_list::{Position, TaskList, short_of};
use steadfast_work::why::gate_line;

use super::draft::tasks;
use crate::error::CommandError;
use crate::here;
use crate::output::tell;
use crate::report;

pub(super) fn show(list: &TaskList, as_json: bool) -> Result<(), CommandError> {
    let position = list.position()?;
    if as_json {
        return tell!("{}", report::position_json(&position));
    }
    let Position { plan, approval, gates, draft, unloaded: never_loaded, counts, hash } = &position;
    if let Some(plan) = plan {
        tell!("{} ({})", plan.title, plan.id)?;
        tell!("{} of {} tasks done, {} open, {} blocked", counts.done, counts.all(), counts.open(), counts.blocked)?;
        let short = hash.as_deref().and_then(|hash| hash.get(..DraftLine::SHORT)).unwrap_or_default();
        if let Some(said) = words(*approval, short) {
            tell!("{said}")?;
        }
    }
    if let Some(missing) = here::missing_hooks(list.place()) {
        tell!("{missing}")?;
    }
    for closed_gate in gates {
        tell!("{}", gate_line(list.place(), closed_gate, &list.repository().environment))?;
        if let Some(broken) = closed_gate.seal(list.place()).line() {
            tell!("{broken}; `steadfast doctor` reports the consequences")?;
        }
    }
    if let Some(draft) = never_loaded.as_ref().filter(|_| plan.is_some()) {
        tell!("{}", unloaded(draft))?;
    }
    match draft {
        Some(draft) if *approval == Approval::Approved && plan.is_none() => {
            tell!("plan {} is approved: {}", short_of(draft), described(draft))?;
            if draft.tasks == 0 { Ok(()) } else { tell!("`steadfast plan load {}` loads it", draft.path) }
        }
        Some(draft) => {
            if hash.as_ref() != Some(&draft.hash) || plan.is_none() {
                tell!("plan {} is not approved: {}", short_of(draft), described(draft))?;
            }
            tell!("`steadfast plan show --draft` shows it")
        }
        None if plan.is_none() && !gates.is_empty() => {
            tell!("no plan is loaded or drafted; `steadfast plan propose FILE` stores a draft for a human to read")
        }
        None if plan.is_none() => tell!("no plan is loaded or drafted; `steadfast plan load SPEC.md` loads one"),
        None => Ok(()),
    }
}

/// A line about an approved plan that was never loaded.
pub(in crate::commands) fn unloaded(draft: &Draft) -> String {
    format!(
        "plan {} is approved, but not loaded: {}; `steadfast plan load {}` loads it",
        short_of(draft),
        draft.title,
        draft.path
    )
}

fn described(draft: &Draft) -> String {
    format!("{}, {}, for {}", draft.title, tasks(draft.tasks), draft.path)
}

/// The approval of a plan in words, if it needs one.
pub(in crate::commands) fn words(approval: Approval, short: &str) -> Option<String> {
    match approval {
        Approval::NotRequired => None,
        Approval::Approved => Some(format!("plan {short} is approved")),
        Approval::Required => Some(format!("plan {short} is not approved: its tasks cannot start")),
        Approval::Unsigned => {
            Some(format!("plan {short} is not approved: its file claims approval, but no signature confirms it"))
        }
        Approval::Forged => Some(format!(
            "plan {short} is not approved: its file began to claim approval while the plan gate was closed"
        )),
    }
}
