//! How a plan stands in the morning: what was done and what that rests on, and what waits for a human.

use std::collections::BTreeMap;

use serde_json::Value;
use steadfast_model::{CheckEnd, EvidenceClass, Status, TaskId};

use super::{TaskList, one_line};
use crate::error::CommandError;

/// A check that failed this often in the same way will fail again.
const HOPELESS: u32 = 3;

#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// How many tasks are done, by what that rests on.
    pub(crate) done_by: BTreeMap<&'static str, usize>,
    /// Done, but their files changed since.
    pub(crate) stale: Vec<TaskId>,
    /// Tasks whose check runs just now.
    pub(crate) checking: Vec<TaskId>,
    pub(crate) needs_human: Vec<String>,
}

impl TaskList {
    pub(crate) fn summary(&self) -> Result<Summary, CommandError> {
        let mut summary = Summary::default();
        let Some(view) = self.view()? else { return Ok(summary) };
        let tasks = self.all()?;
        let evidence = self.ledger.evidence(&view.id)?;
        for task in &tasks {
            let last = evidence.get(&task.id);
            match (task.status, last) {
                (Status::Done, last) => {
                    let class = last.map_or(EvidenceClass::Claimed, |evidence| evidence.class);
                    *summary.done_by.entry(class.as_str()).or_default() += 1;
                }
                (Status::Blocked, _) => {}
                (_, Some(last)) if last.end == CheckEnd::Redefined => summary.needs_human.push(format!(
                    "the check of task {} is not what it was; `steadfast task done {} --accept-check` says yes to it",
                    task.id, task.id
                )),
                (_, Some(last)) if !last.passed && self.ledger.same_failure(&view.id, &task.id)? >= HOPELESS => {
                    summary.needs_human.push(format!("the check of task {} fails again and again", task.id));
                }
                _ => {}
            }
        }
        for blocked in self.blocked()? {
            let why = blocked.reason.map(|reason| format!(": {}", one_line(&reason))).unwrap_or_default();
            summary.needs_human.push(format!("task {} is blocked{why}", blocked.task));
        }
        summary.stale = self.stale(&tasks)?;
        summary.checking = view
            .checking
            .into_iter()
            .filter(|check| steadfast_store::is_check_running(self.place(), &check.run))
            .map(|check| check.task)
            .collect();
        Ok(summary)
    }

    fn stale(&self, tasks: &[steadfast_model::Task]) -> Result<Vec<TaskId>, CommandError> {
        let shown = self.to_json(tasks)?;
        let all = shown["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_stale = |task: &&Value| task["evidence"]["stale"] == Value::Bool(true);
        Ok(all.iter().filter(is_stale).filter_map(|task| task["id"].as_str()).map(TaskId::new).collect())
    }
}
