use std::collections::BTreeMap;

use steadfast_model::{Evidence, Millis, PlanId, RunId, Status, TaskId, UnitStatus};

use super::{row, unit, unit_plan};
use crate::ledger::database::connection::Transaction;
use crate::ledger::decision::{self, Decision};
use crate::ledger::error::Fault;
use crate::ledger::task::lease::{self, Fence};
use crate::ledger::task::status::{self, StatusChange};
use crate::ledger::task::{self, evidence};
use crate::ledger::{Ledger, LedgerError};

/// A merged unit that is to be closed.
#[derive(Clone, Copy, Debug)]
pub struct UnitClosing<'a> {
    pub run: &'a RunId,
    pub unit: &'a TaskId,
    /// Passed evidence for each of its tasks that is not done yet.
    pub evidence: &'a [(TaskId, Evidence)],
    pub decisions: &'a [Decision],
    /// The lease token of each task. One lost lease fails the whole closing.
    pub fences: &'a BTreeMap<TaskId, u64>,
    /// The merge commit on the run's branch.
    pub merged: &'a str,
    pub now: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitClosed {
    Now,
    /// The same merge was recorded before; nothing changed.
    Already,
}

impl Ledger {
    /// Records evidence, statuses, decisions and the merge in one transaction, which also releases the leases and archives
    /// the plan of the unit's worktree. Repeating it does nothing. A lost lease makes it fail.
    pub fn close_unit(&mut self, closing: &UnitClosing<'_>) -> Result<UnitClosed, LedgerError> {
        self.write(|transaction| {
            let plan = row::find(transaction, closing.run)?.plan;
            let mut unit = unit::find(transaction, closing.run, closing.unit)?;
            match &unit.merged {
                Some(merged) if merged == closing.merged => return Ok(UnitClosed::Already),
                Some(merged) => {
                    let (unit, merged) = (closing.unit.clone(), merged.clone());
                    return Err(LedgerError::MergedBefore { unit, merged }.into());
                }
                None => {}
            }
            for (task, token) in closing.fences {
                lease::check(transaction, &plan, task, Fence { token: *token })?;
            }
            for (task, evidence) in closing.evidence {
                close_task(transaction, &plan, task, evidence, closing.fences)?;
            }
            if let Some(open) = first_open(transaction, &plan, &unit.tasks)? {
                return Err(LedgerError::LeftOpen { unit: closing.unit.clone(), task: open }.into());
            }
            decision::add_missing(transaction, &plan, closing.decisions)?;
            transaction.touch(&plan);
            for (task, token) in closing.fences {
                lease::give_back(transaction, &plan, task, *token)?;
            }
            if let Some(own) = &unit.plan {
                unit_plan::archive(transaction, own, closing.now)?;
            }
            unit.status = UnitStatus::Done;
            unit.merged = Some(closing.merged.to_owned());
            unit.stuck = 0;
            unit.agent = None;
            unit.note = None;
            unit.last_failure = None;
            unit.updated_at = closing.now;
            unit::keep(transaction, closing.run, &unit)?;
            Ok(UnitClosed::Now)
        })
    }
}

fn close_task(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    evidence: &Evidence,
    fences: &BTreeMap<TaskId, u64>,
) -> Result<(), Fault> {
    let fence = Fence { token: fences.get(id).copied().unwrap_or(0) };
    lease::check(transaction, plan, id, fence)?;
    // The task was blocked before this attempt, but now its work is merged.
    if task::find(transaction, plan, id)?.status == Status::Blocked {
        let change = StatusChange { to: Status::InProgress, reason: None, fence: Some(fence), now: evidence.at };
        status::change(transaction, plan, id, &change)?;
    }
    evidence::keep(transaction, plan, id, evidence)?;
    Ok(())
}

fn first_open(transaction: &Transaction<'_>, plan: &PlanId, tasks: &[TaskId]) -> Result<Option<TaskId>, Fault> {
    for id in tasks {
        if task::find(transaction, plan, id)?.status != Status::Done {
            return Ok(Some(id.clone()));
        }
    }
    Ok(None)
}
