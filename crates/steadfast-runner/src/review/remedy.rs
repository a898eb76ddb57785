use steadfast_model::{
    AddedBy, Check, Evidence, EvidenceClass, Loop, Millis, Objected, PlanId, Status, Task, TaskId, TaskKind,
};
use steadfast_store::ledger::{Ledger, NewTask, StatusChange};

use crate::error::RunError;
use crate::gate::{Objection, Remedy};

/// Creates a task for each objection that an agent can answer, unless an open task for it exists. Returns all open
/// ones.
pub fn add_remedies(
    ledger: &mut Ledger,
    plan: &PlanId,
    objections: &[Objection],
    now: Millis,
) -> Result<Vec<TaskId>, RunError> {
    let tasks = ledger.tasks(plan)?;
    let mut open = Vec::new();
    for remedy in objections.iter().filter_map(Objection::remedy) {
        let is_it = |task: &&Task| {
            task.kind == TaskKind::Remediation
                && task.verify.as_ref() == Some(&remedy.check)
                && task.status != Status::Done
        };
        open.push(match tasks.iter().find(is_it) {
            Some(task) => task.id.clone(),
            None => add_remedy(ledger, plan, &tasks, remedy, now)?,
        });
    }
    Ok(open)
}

/// Adds the task at the end, in a wave of its own.
pub fn add_remedy(
    ledger: &mut Ledger,
    plan: &PlanId,
    tasks: &[Task],
    remedy: Remedy,
    now: Millis,
) -> Result<TaskId, RunError> {
    let Remedy { title, files, notes, check } = remedy;
    let new = NewTask {
        kind: TaskKind::Remediation,
        files,
        verify: Some(check),
        notes: Some(notes),
        blocked_by: tasks.last().map(|task| task.id.clone()).into_iter().collect(),
        // The gate acts on behalf of the human.
        ..NewTask::new(title, AddedBy::Human)
    };
    Ok(ledger.add_task(plan, new, now)?.id)
}

/// Converts an objection for the ledger.
pub fn objected(objection: &Objection) -> Objected {
    let check = objection.remedy().and_then(|remedy| remedy.check.as_command().map(str::to_owned));
    Objected { id: objection.id(), text: objection.to_string(), check }
}

/// The check of a blocker's task: the named file has changed. The next review decides whether that helped.
pub fn changed_file() -> Check {
    Check::Changed
}

/// Closes the open tasks for this objection alone, as forced by the human who waived it.
pub fn close_remedies(
    ledger: &mut Ledger,
    looped: &Loop,
    objected: &Objected,
    why: &str,
    now: Millis,
) -> Result<Vec<TaskId>, RunError> {
    let (Some(plan), Some(check)) = (&looped.plan, &objected.check) else { return Ok(Vec::new()) };
    let is_it = |task: &Task| {
        task.kind == TaskKind::Remediation
            && task.status != Status::Done
            && task.verify.as_ref().and_then(Check::as_command) == Some(check)
    };
    let mut closed = Vec::new();
    for task in ledger.tasks(plan)?.into_iter().filter(is_it) {
        if task.status == Status::Blocked {
            let change = StatusChange { to: Status::InProgress, reason: None, fence: None, now };
            ledger.set_status(plan, &task.id, change)?;
        }
        let note = format!("a human waived the objection: {why}");
        let evidence = Evidence::without_run(EvidenceClass::Forced, true, note, now);
        ledger.record(plan, &task.id, &evidence)?;
        closed.push(task.id);
    }
    Ok(closed)
}
