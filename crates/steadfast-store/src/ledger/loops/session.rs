//! The session of a loop: its binding, its waiting for a human, and its cost.

use steadfast_model::{Counts, Loop, LoopId, LoopLimits, Millis, OwnerEnd, SessionId};

use super::{WHY, find_unfinished, row};
use crate::ledger::database::bind::params;
use crate::ledger::database::column::text;
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::task::within;
use crate::ledger::{Ledger, LedgerError, plan};

/// The unfinished loop of a worktree, with the facts that a stop needs.
#[derive(Clone, Debug)]
pub struct Unfinished {
    pub looped: Loop,
    /// The counts of its plan; zero without a plan.
    pub counts: Counts,
    /// The end of the session that is bound to it, if that has ended.
    pub session_ended: Option<OwnerEnd>,
}

impl Ledger {
    /// Returns the unfinished loop of this worktree with the counts of its plan. Cheap, because every stop asks for it.
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

    /// Binds this session to the loop, instead of the previous one.
    pub fn bind_loop(&mut self, id: &LoopId, session: &SessionId) -> Result<(), LedgerError> {
        self.write(|transaction| bind(transaction, id, Some(session)))
    }

    /// Records that the loop waits for a human, and why. `None` means that it no longer waits.
    pub fn keep_waiting(&mut self, id: &LoopId, why: Option<&str>) -> Result<(), LedgerError> {
        within("the reason for waiting", why.unwrap_or_default(), WHY)?;
        self.write(|transaction| wait(transaction, id, why))
    }

    pub fn limit_loop(&mut self, id: &LoopId, limits: LoopLimits, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            find_unfinished(transaction, id)?;
            transaction
                .run("UPDATE loop SET limits = ?2, updated_at = ?3 WHERE id = ?1", params![id, text(&limits), now])
        })
    }

    /// Counts a unit that a session began.
    pub fn count_iteration(&mut self, id: &LoopId) -> Result<(), LedgerError> {
        self.write(|transaction| transaction.run("UPDATE loop SET iterations = iterations + 1 WHERE id = ?1", [id]))
    }

    /// Stores the cost of a session since the loop began, and replaces the previous value.
    pub fn keep_spent(&mut self, id: &LoopId, session: &SessionId, micro_usd: u64) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let mut looped = find_unfinished(transaction, id)?;
            if looped.spent.insert(session.clone(), micro_usd) == Some(micro_usd) {
                return Ok(());
            }
            transaction.run("UPDATE loop SET spent = ?2 WHERE id = ?1", params![id, text(&looped.spent)])
        })
    }
}

/// Binds a session, unless the loop has ended.
pub(in super::super) fn bind(
    transaction: &Transaction<'_>,
    id: &LoopId,
    session: Option<&SessionId>,
) -> Result<(), Fault> {
    transaction.run("UPDATE loop SET session = ?2 WHERE id = ?1 AND ended IS NULL", params![id, session])
}

/// Records why a loop waits, unless it has ended.
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
