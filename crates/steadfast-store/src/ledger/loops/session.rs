//! A loop in a session: who is bound to it, whether it waits for a human, and what it used up.

use steadfast_model::{Counts, Loop, LoopId, LoopLimits, Millis, OwnerEnd, SessionId};

use super::super::column::text;
use super::super::error::Fault;
use super::super::task::within;
use super::super::{Ledger, LedgerError, plan};
use super::{WHY, going, row};
use crate::ledger::bind::params;
use crate::ledger::connection::{Connection, Transaction};

/// The unfinished loop of a worktree, with what a stop asks of it.
#[derive(Clone, Debug)]
pub struct Unfinished {
    pub looped: Loop,
    /// Of its plan; all zero where it has none.
    pub counts: Counts,
    /// How the session that is bound to it ended.
    pub session_ended: Option<OwnerEnd>,
}

impl Ledger {
    /// The unfinished loop of this worktree, its tasks counted. Cheap: every stop asks for it.
    pub fn unfinished_with_counts(&self, worktree: &str) -> Result<Option<Unfinished>, LedgerError> {
        self.read(|connection| {
            let Some(looped) = row::unfinished(connection, worktree)? else { return Ok(None) };
            let counts = match &looped.plan {
                Some(plan) => plan::counts(connection, plan)?,
                None => Counts::default(),
            };
            let session_ended = match &looped.session {
                Some(session) => ended(connection, session)?,
                None => None,
            };
            Ok(Some(Unfinished { looped, counts, session_ended }))
        })
    }

    /// From now on this session is bound to it, and no other.
    pub fn bind_loop(&mut self, id: &LoopId, session: &SessionId) -> Result<(), LedgerError> {
        self.write(|transaction| bind(transaction, id, Some(session)))
    }

    /// It waits for a human, and why. `None`: it waits no longer.
    pub fn keep_waiting(&mut self, id: &LoopId, why: Option<&str>) -> Result<(), LedgerError> {
        within("the reason for waiting", why.unwrap_or_default(), WHY)?;
        self.write(|transaction| wait(transaction, id, why))
    }

    pub fn limit_loop(&mut self, id: &LoopId, limits: LoopLimits, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            going(transaction, id)?;
            transaction
                .run("UPDATE loop SET limits = ?2, updated_at = ?3 WHERE id = ?1", params![id, text(&limits), now])
        })
    }

    /// A session began a unit of it.
    pub fn count_iteration(&mut self, id: &LoopId) -> Result<(), LedgerError> {
        self.write(|transaction| transaction.run("UPDATE loop SET iterations = iterations + 1 WHERE id = ?1", [id]))
    }

    /// What a session cost since the loop began. A cost that was seen before is replaced.
    pub fn keep_spent(&mut self, id: &LoopId, session: &SessionId, micro_usd: u64) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = going(transaction, id)?;
            if looped.spent.insert(session.clone(), micro_usd) == Some(micro_usd) {
                return Ok(());
            }
            transaction.run("UPDATE loop SET spent = ?2 WHERE id = ?1", params![id, text(&looped.spent)])
        })
    }
}

/// A loop that is over binds no session.
pub(in super::super) fn bind(
    transaction: &Transaction<'_>,
    id: &LoopId,
    session: Option<&SessionId>,
) -> Result<(), Fault> {
    transaction.run("UPDATE loop SET session = ?2 WHERE id = ?1 AND ended IS NULL", params![id, session])
}

/// A loop that is over waits for nobody.
pub(in super::super) fn wait(transaction: &Transaction<'_>, id: &LoopId, why: Option<&str>) -> Result<(), Fault> {
    transaction.run("UPDATE loop SET waits = ?2 WHERE id = ?1 AND ended IS NULL", params![id, why])
}

fn ended(connection: &Connection, session: &SessionId) -> Result<Option<OwnerEnd>, Fault> {
    let found = connection.first("SELECT ended_at, end_reason FROM session WHERE id = ?1", [session], |row| {
        let reason = row.get::<_, Option<String>>(1)?.unwrap_or_default();
        Ok(row.get::<_, Option<i64>>(0)?.map(|at| OwnerEnd { reason, at: Millis(at) }))
    })?;
    Ok(found.flatten())
}
