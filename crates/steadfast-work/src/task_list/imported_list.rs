//! Plans that are also lists of other tools: imports and exports the statuses of their tasks.

use std::collections::HashMap;

use steadfast_model::{Evidence, EvidenceClass, Plan, PlanId, PlannedTask, Reported, Status, Task, TaskId};
use steadfast_plan::{ExportTarget, Outgoing, export};
use steadfast_store::ledger::REPORTED;

use super::TaskList;
use crate::error::WorkError;

/// The numbers of tasks by the status that was imported.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TakenOver {
    pub done: usize,
    pub in_progress: usize,
    pub blocked: usize,
    /// Done there, but still open here until their checks pass.
    pub unproven: usize,
}

impl TaskList {
    /// Imports the statuses of tasks from the list that they come from. A human may vouch that work is done. From an
    /// agent it is only a claim, which does not close a task with a check.
    pub fn take_over(&mut self, plan: &PlanId, reported: &[Reported], source: &str) -> Result<TakenOver, WorkError> {
        if reported.is_empty() {
            return Ok(TakenOver::default());
        }
        let checked: HashMap<TaskId, bool> =
            self.ledger.tasks(plan)?.into_iter().map(|task| (task.id, task.verify.is_some())).collect();
        let needs_proof = |reported: &&Reported| {
            self.caller.is_agent() && reported.status == Status::Done && checked.get(&reported.task) == Some(&true)
        };
        let unproven = reported.iter().filter(needs_proof).count();
        let taken: Vec<Reported> = reported.iter().filter(|one| !needs_proof(one)).cloned().collect();
        let moved = self.ledger.take_over(plan, &taken, source, self.now())?;
        self.render_decisions();
        let count = |status: Status| moved.iter().filter(|one| one.status == status).count();
        Ok(TakenOver {
            done: count(Status::Done),
            in_progress: count(Status::InProgress),
            blocked: count(Status::Blocked),
            unproven,
        })
    }

    /// Exports the plan of this worktree in a format of other tools.
    pub fn exported(&self, to: ExportTarget) -> Result<String, WorkError> {
        let row = self.plan_row()?;
        let tasks = self.all()?;
        let mut reasons: HashMap<TaskId, String> =
            self.blocked()?.into_iter().filter_map(|blocked| Some((blocked.task, blocked.reason?))).collect();
        for (task, evidence) in self.ledger.evidence(&row.id)? {
            if let Some(reason) = closed_by(&evidence) {
                reasons.insert(task, reason);
            }
        }
        let reported: Vec<Reported> = tasks
            .iter()
            .map(|task| Reported { task: task.id.clone(), status: task.status, reason: reasons.remove(&task.id) })
            .map(|one| Reported { reason: one.reason.filter(|_| one.status.is_closed()), ..one })
            .collect();
        let plan = Plan {
            feature: row.title,
            description: row.head.description,
            constraints: row.head.constraints,
            criteria: row.head.criteria,
            checks: row.head.checks,
            promise: row.head.promise,
            phases: row.head.phases,
            estimates: row.head.estimates,
            tasks: tasks.into_iter().map(planned).collect(),
        };
        let at = self.now().to_string();
        Ok(export(Outgoing { plan: &plan, reported: &reported, at: &at }, to))
    }
}

/// The evidence that closed a task, in one line. An imported reason is returned as it was.
fn closed_by(evidence: &Evidence) -> Option<String> {
    match (evidence.passed, evidence.class) {
        (false, _) => None,
        (true, EvidenceClass::Claimed) => {
            evidence.note.as_deref()?.split_once(REPORTED).map(|(_, reason)| reason.to_owned())
        }
        (true, class) => Some(format!("{} by Steadfast at {}", class.as_str(), evidence.at)),
    }
}

fn planned(task: Task) -> PlannedTask {
    PlannedTask {
        id: task.id,
        title: task.title,
        kind: task.kind,
        task_type: task.task_type,
        phase: task.phase,
        item: task.item,
        files: task.files,
        notes: task.notes,
        verify: task.verify,
        blocked_by: task.blocked_by,
    }
}
