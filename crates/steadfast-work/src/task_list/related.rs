//! Learnings, steps and decisions that are related to a task.

use steadfast_model::{Status, Task};
use steadfast_store::ledger::{Query, Reason, Recalled, RecalledItem};
use steadfast_store::log_line;

use super::TaskList;
use crate::error::WorkError;

/// Limit of learnings for an agent that starts a task, and of steps and decisions.
const SHOWN: usize = 3;

/// A single common word is a coincidence.
const WORDS: usize = 2;

impl TaskList {
    /// Memories that are close enough to show unasked. If they cannot be read, the task is started without them.
    pub fn related(&self, task: &Task) -> Vec<Recalled> {
        let files = task.files.clone();
        // Ask for more, because many may not be close enough.
        let query = Query { files, words: task.title.clone(), limit: 10 * SHOWN, without: self.caller.session.clone() };
        let found = self.ledger.recall(&query).unwrap_or_else(|error| {
            log_line(&self.repository.place, self.now(), &format!("cannot recall memories for a task: {error}"));
            Vec::new()
        });
        let is_near = |recalled: &Recalled| match recalled.reason {
            Reason::SameFile | Reason::SameFolder => true,
            Reason::Keyword(shared) => shared >= WORDS,
        };
        let (learnings, others): (Vec<Recalled>, Vec<Recalled>) = found
            .into_iter()
            .filter(is_near)
            .partition(|recalled| matches!(recalled.memory, RecalledItem::Learning(_)));
        learnings.into_iter().take(SHOWN).chain(others.into_iter().take(SHOWN)).collect()
    }

    /// The tags of the session that works on a task.
    pub fn tags(&self, task: &Task) -> Result<Vec<&'static str>, WorkError> {
        if task.status != Status::InProgress {
            return Ok(Vec::new());
        }
        let session = self.ledger.started(&task.plan, &task.id)?.and_then(|started| started.session);
        let Some(session) = session else { return Ok(Vec::new()) };
        Ok(self.ledger.session_state(&session)?.map(|state| state.tags()).unwrap_or_default())
    }
}
