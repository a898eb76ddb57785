//! What is remembered that has to do with a task.

use steadfast_model::{Status, Task};
use steadfast_store::ledger::{Query, Reason, Recalled, RecalledItem};
use steadfast_store::log_line;

use super::TaskList;
use crate::error::WorkError;

/// How many learnings an agent is told as it starts a task, and how many steps and decisions.
const TOLD: usize = 3;

/// One word in common is a coincidence.
const WORDS: usize = 2;

impl TaskList {
    /// What is near enough to be told unasked. A memory that cannot be read is no reason to fail: the task is started.
    pub fn related(&self, task: &Task) -> Vec<Recalled> {
        let files = task.files.clone();
        // Of what is not near enough there may be much.
        let query = Query { files, words: task.title.clone(), limit: 10 * TOLD, without: self.caller.session.clone() };
        let found = self.ledger.recall(&query).unwrap_or_else(|error| {
            log_line(&self.repository.place, self.now(), &format!("nothing was recalled: {error}"));
            Vec::new()
        });
        let is_near = |recalled: &Recalled| match recalled.reason {
            Reason::SameFile | Reason::SameFolder => true,
            Reason::Keyword(shared) => shared >= WORDS,
            Reason::KeyDecision => false,
        };
        let (learnings, others): (Vec<Recalled>, Vec<Recalled>) = found
            .into_iter()
            .filter(is_near)
            .partition(|recalled| matches!(recalled.memory, RecalledItem::Learning(_)));
        learnings.into_iter().take(TOLD).chain(others.into_iter().take(TOLD)).collect()
    }

    /// What the session that works on a task is marked with.
    pub fn tags(&self, task: &Task) -> Result<Vec<&'static str>, WorkError> {
        if task.status != Status::InProgress {
            return Ok(Vec::new());
        }
        let session = self.ledger.started(&task.plan, &task.id)?.and_then(|started| started.session);
        let Some(session) = session else { return Ok(Vec::new()) };
        Ok(self.ledger.session_state(&session)?.map(|state| state.tags()).unwrap_or_default())
    }
}
