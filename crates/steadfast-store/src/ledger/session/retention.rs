//! Deletes old sessions with their history and steps. Plans, tasks, evidence and learnings stay.

use steadfast_model::{Millis, SessionId};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::session_id;
use crate::ledger::error::Fault;
use crate::ledger::session::{self, step};
use crate::ledger::{Ledger, LedgerError};

/// The number of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub sessions: usize,
    /// Lines of the history.
    pub lines: usize,
}

/// The number of rows that a deletion of the whole ledger loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub plans: u32,
    pub tasks: u32,
    pub evidence: u32,
    pub sessions: u32,
    pub runs: u32,
    pub learnings: u32,
}

impl Ledger {
    /// Counts the rows that people know by name.
    pub fn totals(&self) -> Result<Totals, LedgerError> {
        self.read(|connection| {
            let counted = connection.query_row(
                "SELECT (SELECT COUNT(*) FROM plan), (SELECT COUNT(*) FROM task), (SELECT COUNT(*) FROM evidence),
                        (SELECT COUNT(*) FROM session), (SELECT COUNT(*) FROM run), (SELECT COUNT(*) FROM learnings)",
                (),
                |row| {
                    Ok(Totals {
                        plans: row.get(0)?,
                        tasks: row.get(1)?,
                        evidence: row.get(2)?,
                        sessions: row.get(3)?,
                        runs: row.get(4)?,
                        learnings: row.get(5)?,
                    })
                },
            );
            Ok(counted?)
        })
    }

    /// Lists the sessions without an event since then, as far as their journals are drained.
    pub fn silent_since(&self, since: Millis) -> Result<Vec<SessionId>, LedgerError> {
        self.read(|connection| {
            connection
                .rows("SELECT id FROM session WHERE last_at < ?1 ORDER BY id", [since.0], |row| session_id(row, 0))
        })
    }

    /// Counts the history lines of these sessions.
    pub fn history_of(&self, sessions: &[SessionId]) -> Result<usize, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT COUNT(*) FROM history WHERE session = ?1")?;
            let mut lines = 0;
            for id in sessions {
                lines += statement.query_row([id], |row| row.get::<_, u32>(0))? as usize;
            }
            Ok(lines)
        })
    }

    /// Deletes these sessions. Their plans lose their owner: an owner without a row would count as running.
    pub fn forget(&mut self, sessions: &[SessionId]) -> Result<Forgotten, LedgerError> {
        let mut forgotten = Forgotten::default();
        if sessions.is_empty() {
            return Ok(forgotten);
        }
        self.write(|transaction| {
            let delete = |table: &str, key: &str, id: &SessionId| {
                let sql = format!("DELETE FROM {table} WHERE {key} = ?1");
                transaction.change(&sql, [id])
            };
            for id in sessions {
                forgotten.lines += delete("history", "session", id)?;
                forgotten.sessions += delete("session", "id", id)?;
                delete("drained", "session", id)?;
                delete("steps", "session_id", id)?;
                delete("session_states", "session_id", id)?;
            }
            step::sweep_keys(transaction)?;
            for id in sessions {
                for plan in session::plans_of(transaction, id)? {
                    transaction.touch(&plan);
                }
                transaction.run("UPDATE plan SET owner = NULL, owner_since = NULL WHERE owner = ?1", params![id])?;
            }
            Ok(())
        })?;
        Ok(forgotten)
    }

    /// Frees the disk space of deleted rows, and removes their last bytes. Other writers wait meanwhile.
    pub fn compact(&mut self) -> Result<(), LedgerError> {
        let work = || {
            self.connection.execute_batch("VACUUM")?;
            // If another process is reading, the WAL remains until the last connection closes.
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
            Ok(())
        };
        work().map_err(|fault: Fault| fault.at(&self.path))
    }
}
