//! The status of a plan: done tasks by evidence, stale tasks, running checks, and what needs a human.

use std::collections::BTreeMap;

use steadfast_model::{CheckEnd, EvidenceClass, Status, TaskId};
use steadfast_text::one_line;

use steadfast_work::TaskList;

use crate::error::CommandError;

/// After this many equal failures, another try will fail the same way.
const HOPELESS: u32 = 3;

#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Number of done tasks by class of evidence.
    pub(crate) done_by: BTreeMap<&'static str, usize>,
    /// Done tasks whose files changed later.
    pub(crate) stale: Vec<TaskId>,
    /// Tasks whose check is running.
    pub(crate) checking: Vec<TaskId>,
    pub(crate) needs_human: Vec<String>,
}

pub(crate) fn summary(list: &TaskList) -> Result<Summary, CommandError> {
    let mut summary = Summary::default();
    let Some(view) = list.view()? else { return Ok(summary) };
    let tasks = list.all()?;
    let evidence = list.ledger().evidence(&view.id)?;
    for task in &tasks {
        let last = evidence.get(&task.id);
        match (task.status, last) {
            (Status::Done, last) => {
                let class = last.map_or(EvidenceClass::Claimed, |evidence| evidence.class);
                *summary.done_by.entry(class.as_str()).or_default() += 1;
            }
            (Status::Blocked, _) => {}
            (_, Some(last)) if last.end == CheckEnd::Redefined => summary.needs_human.push(format!(
                "the check of task {} changed; `steadfast task done {} --accept-check` accepts it",
                task.id, task.id
            )),
            (_, Some(last)) if !last.passed && list.ledger().same_failure(&view.id, &task.id)? >= HOPELESS => {
                summary.needs_human.push(format!("the check of task {} keeps failing in the same way", task.id));
            }
            _ => {}
        }
    }
    for blocked in list.blocked()? {
        let why = blocked.reason.map(|reason| format!(": {}", one_line(&reason))).unwrap_or_default();
        summary.needs_human.push(format!("task {} is blocked{why}", blocked.task));
    }
    let claimed = list.ledger().claimed(&view.id)?;
    if !claimed.is_empty() && view.counts.open() == 0 {
        summary.needs_human.push(format!(
            "{claimed} closed on the agent's word alone; `steadfast task done ID --force` confirms a task"
        ));
    }
    let stale = tasks.iter().zip(list.proofs(&tasks)?);
    summary.stale = stale
        .filter(|(_, proof)| proof.as_ref().is_some_and(|proof| proof.stale == Some(true)))
        .map(|(task, _)| task.id.clone())
        .collect();
    summary.checking = view
        .checking
        .into_iter()
        .filter(|check| steadfast_store::is_check_running(list.place(), &check.run))
        .map(|check| check.task)
        .collect();
    Ok(summary)
}
