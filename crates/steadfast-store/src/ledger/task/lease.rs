//! Leases: the right to work on a task for a limited time. Each new lease of a task has a higher token, so that a holder who
//! missed the end of its lease cannot overwrite its successor.

use steadfast_model::{Millis, PlanId, TaskId};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::{count, millis};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{LeaseError, Ledger, LedgerError, task};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub plan: PlanId,
    pub task: TaskId,
    pub holder: String,
    pub token: u64,
    pub expires_at: Millis,
}

impl Lease {
    pub fn fence(&self) -> Fence {
        Fence { token: self.token }
    }
}

/// The token under which a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    pub token: u64,
}

/// A row of the table: the last lease of a task.
struct Last {
    /// None if it was released.
    holder: Option<String>,
    token: u64,
    expires_at: Millis,
}

impl Ledger {
    /// Acquires all leases or none. The same holder also gets new tokens: it may be a process that was restarted after a
    /// crash.
    pub fn acquire_leases(
        &mut self,
        plan: &PlanId,
        tasks: &[TaskId],
        holder: &str,
        ttl_ms: u64,
        now: Millis,
    ) -> Result<Vec<Lease>, LeaseError> {
        self.write(|transaction| {
            for task in tasks {
                if let Some(held) = held_by_other(transaction, plan, task, holder, now)? {
                    return Ok(Err(held));
                }
            }
            let mut leases = Vec::with_capacity(tasks.len());
            for task in tasks {
                match acquire(transaction, plan, task, holder, now, after(now, ttl_ms))? {
                    Ok(lease) => leases.push(lease),
                    Err(held) => return Ok(Err(held)),
                }
            }
            Ok(Ok(leases))
        })?
    }

    /// Renews each lease separately, even expired ones that no other holder has acquired. Returns the lost ones.
    pub fn renew_leases(&mut self, leases: &mut [Lease], ttl_ms: u64, now: Millis) -> Result<Vec<Lease>, LedgerError> {
        let expires_at = after(now, ttl_ms);
        self.write(|transaction| {
            let mut lost = Vec::new();
            for lease in leases {
                if renew(transaction, lease, expires_at)? {
                    lease.expires_at = expires_at;
                } else {
                    lost.push(lease.clone());
                }
            }
            Ok(lost)
        })
    }

    /// Releases leases. Lost ones are skipped, because they belong to another holder. Releasing twice is no error.
    pub fn release_leases(&mut self, leases: &[Lease]) -> Result<(), LedgerError> {
        self.write(|transaction| {
            for lease in leases {
                give_back(transaction, &lease.plan, &lease.task, lease.token)?;
            }
            Ok(())
        })
    }
}

fn acquire(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    task: &TaskId,
    holder: &str,
    now: Millis,
    expires_at: Millis,
) -> Result<Result<Lease, LeaseError>, Fault> {
    if let Some(held) = held_by_other(transaction, plan, task, holder, now)? {
        return Ok(Err(held));
    }
    let token = match last(transaction, plan, task)? {
        None => {
            task::find(transaction, plan, task)?;
            1
        }
        Some(last) => last.token + 1,
    };
    transaction.run(
        "INSERT INTO lease (plan, task, holder, token, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (plan, task) DO UPDATE
             SET holder = excluded.holder, token = excluded.token, expires_at = excluded.expires_at",
        params![plan, task, holder, token, expires_at],
    )?;
    Ok(Ok(Lease { plan: plan.clone(), task: task.clone(), holder: holder.to_owned(), token, expires_at }))
}

fn held_by_other(
    connection: &Connection,
    plan: &PlanId,
    task: &TaskId,
    holder: &str,
    now: Millis,
) -> Result<Option<LeaseError>, Fault> {
    Ok(match last(connection, plan, task)? {
        Some(Last { holder: Some(other), expires_at, .. }) if other != holder && expires_at > now => {
            Some(LeaseError::Held { holder: other, until: expires_at })
        }
        _ => None,
    })
}

fn renew(transaction: &Transaction<'_>, lease: &Lease, expires_at: Millis) -> Result<bool, Fault> {
    let rows = transaction.change(
        "UPDATE lease SET expires_at = ?4 WHERE plan = ?1 AND task = ?2 AND token = ?3 AND holder IS NOT NULL",
        params![lease.plan, lease.task, lease.token, expires_at],
    )?;
    Ok(rows == 1)
}

pub(crate) fn give_back(transaction: &Transaction<'_>, plan: &PlanId, task: &TaskId, token: u64) -> Result<(), Fault> {
    transaction
        .run("UPDATE lease SET holder = NULL WHERE plan = ?1 AND task = ?2 AND token = ?3", params![plan, task, token])
}

/// Rejects a token that is not the current one. An expired lease is valid until another holder acquires it.
pub(crate) fn check(connection: &Connection, plan: &PlanId, task: &TaskId, fence: Fence) -> Result<(), Fault> {
    match last(connection, plan, task)? {
        Some(Last { holder: Some(_), token, .. }) if token == fence.token => Ok(()),
        _ => Err(LedgerError::StaleFence { task: task.clone(), token: fence.token }.into()),
    }
}

fn last(connection: &Connection, plan: &PlanId, task: &TaskId) -> Result<Option<Last>, Fault> {
    connection.first(
        "SELECT holder, token, expires_at FROM lease WHERE plan = ?1 AND task = ?2",
        params![plan, task],
        |row| Ok(Last { holder: row.get(0)?, token: count(row, 1)?, expires_at: millis(row, 2)? }),
    )
}

fn after(now: Millis, ttl_ms: u64) -> Millis {
    Millis(now.0.saturating_add_unsigned(ttl_ms))
}
