//! Who may work on a task for a while. Every lease has a higher token than all before it on that task, so that one who
//! slept through its end cannot write over its successor.

use steadfast_model::{Millis, PlanId, TaskId};

use super::column::{count, millis};
use super::error::Fault;
use super::{LeaseError, Ledger, LedgerError, task};
use crate::ledger::bind::params;
use crate::ledger::connection::{Connection, Transaction};

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

/// The token a change is made under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    pub token: u64,
}

/// A row of the table: the last lease that was given.
struct Last {
    /// None: given back.
    holder: Option<String>,
    token: u64,
    expires_at: Millis,
}

impl Ledger {
    /// All of them or none. The same holder asking again gets new tokens too: it may be the one that came back after a
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

    /// Also after it ran out, as long as nobody else has it. Each for itself: what comes back are those that were lost.
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

    /// What was lost is another's and stays so. Twice is once.
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

pub(super) fn give_back(transaction: &Transaction<'_>, plan: &PlanId, task: &TaskId, token: u64) -> Result<(), Fault> {
    transaction
        .run("UPDATE lease SET holder = NULL WHERE plan = ?1 AND task = ?2 AND token = ?3", params![plan, task, token])
}

/// Refuses a token that is not the one the task is held with. One that ran out still counts while nobody else asked.
pub(super) fn check(connection: &Connection, plan: &PlanId, task: &TaskId, fence: Fence) -> Result<(), Fault> {
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
