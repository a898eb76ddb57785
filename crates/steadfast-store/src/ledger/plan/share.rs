//! Plans that several sessions share: which session started which task, and which files belong to a task.

use steadfast_model::{Leased, PlanId, PlanView, SessionId, TaskFile};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::{json, task_id};
use crate::ledger::database::connection::Transaction;
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError, plan};

impl Ledger {
    /// Lists the tasks in progress that other running sessions have started. Tasks that were put down at a checkpoint are
    /// free.
    pub fn leased_to_others(&self, plan: &PlanId, session: Option<&SessionId>) -> Result<Vec<Leased>, LedgerError> {
        self.read(|connection| {
            connection.rows(
                "SELECT task.id, json_extract(task.started, '$.session') AS holder FROM task
                 LEFT JOIN session ON session.id = holder
                 WHERE task.plan = ?1 AND task.status = 'in_progress' AND holder IS NOT NULL AND holder IS NOT ?2
                   AND session.ended_at IS NULL AND json_extract(task.started, '$.put_down') IS NULL
                 ORDER BY task.position, task.id",
                params![plan, session],
                |row| Ok(Leased { task: task_id(row, 0)?, session: SessionId::new(row.get::<_, String>(1)?) }),
            )
        })
    }

    /// Lists the files of the open tasks in task order, at most `most`.
    pub fn open_files(&self, plan: &PlanId, most: usize) -> Result<Vec<TaskFile>, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, files FROM task WHERE plan = ?1 AND status IN ('pending', 'in_progress') AND files <> '[]'
                 ORDER BY position, id LIMIT ?2",
            )?;
            let mut rows = statement.query(params![plan, most])?;
            let mut found: Vec<TaskFile> = Vec::new();
            while let Some(row) = rows.next()? {
                let (task, paths) = (task_id(row, 0)?, json::<Vec<String>>(1, &row.get::<_, String>(1)?)?);
                for path in paths {
                    // If two tasks name the same file, it belongs to the first.
                    if found.len() < most && !found.iter().any(|known| known.path == path) {
                        found.push(TaskFile { path, task: task.clone() });
                    }
                }
            }
            Ok(found)
        })
    }

    /// Returns this plan, unless it was cleared.
    pub fn view_of(&self, plan: &PlanId) -> Result<Option<PlanView>, LedgerError> {
        self.read(|connection| plan::view(connection, plan))
    }
}

/// Puts down the tasks that a session has started: another session can take them while this one is still running.
pub(crate) fn put_down(transaction: &Transaction<'_>, plan: &PlanId, session: &SessionId) -> Result<(), Fault> {
    transaction.run(
        "UPDATE task SET started = json_set(started, '$.put_down', 1) WHERE plan = ?1 AND status = 'in_progress'
                AND json_extract(started, '$.session') = ?2",
        params![plan, session],
    )
}
