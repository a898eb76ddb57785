//! A plan that is somebody's list as well: how its tasks stood there, and how they stand here.

use std::collections::HashMap;

use steadfast_model::{Evidence, EvidenceClass, Plan, PlanId, PlannedTask, Reported, Status, Task, TaskId};
use steadfast_plan::{ExportTarget, Outgoing, export};
use steadfast_store::ledger::REPORTED;

use super::TaskList;
use crate::error::WorkError;

/// What was taken over from a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TakenOver {
    pub done: usize,
    pub in_progress: usize,
    pub blocked: usize,
    /// Done there, and still open here: their checks decide.
    pub unproven: usize,
}

impl TaskList {
    /// Takes over how tasks stood in the list they come from. A human may say that work is done; from an agent that is
    /// no more than its word, which does not close what has a check.
    pub fn take_over(&mut self, plan: &PlanId, reported: &[Reported], source: &str) -> Result<TakenOver, WorkError> {
        if reported.is_empty() {
            return Ok(TakenOver::default());
        }
        let checked: HashMap<TaskId, bool> =
            self.ledger.tasks(plan)?.into_iter().map(|task| (task.id, task.verify.is_some())).collect();
        let is_proof_asked = |reported: &&Reported| {
            self.caller.is_agent() && reported.status == Status::Done && checked.get(&reported.task) == Some(&true)
        };
        let unproven = reported.iter().filter(is_proof_asked).count();
        let taken: Vec<Reported> = reported.iter().filter(|one| !is_proof_asked(one)).cloned().collect();
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

    /// The plan of this worktree as a list that others read.
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

/// What a task's end rests on, in a line. What was taken over is said as it was said there.
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
