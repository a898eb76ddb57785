use steadfast_model::{Millis, PlanId, RunId, SessionId};

use crate::ledger::database::bind::params;
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError, run};

/// The conditions under which a session may take a plan from a running session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claiming<'a> {
    UnlessHeld,
    /// Unless held, except by this owner, which has been silent for so long that it counts as gone.
    FromSilent(&'a SessionId),
    /// Even if held: the session started a task of the plan, or loaded it.
    EvenIfHeld,
}

impl<'a> Claiming<'a> {
    /// Takes a plan only from an owner that counts as gone.
    pub fn of(silent: Option<&'a SessionId>) -> Self {
        silent.map_or(Self::UnlessHeld, Self::FromSilent)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// This session already owned it.
    Already,
    HeldBy(SessionId),
    HeldByRun(RunId),
}

impl Ledger {
    pub fn take_plan(
        &mut self,
        plan: &PlanId,
        session: &SessionId,
        claiming: Claiming<'_>,
        now: Millis,
    ) -> Result<Taken, LedgerError> {
        self.write(|transaction| {
            take(transaction, plan, session, claiming, now)?
                .ok_or_else(|| LedgerError::UnknownPlan { plan: plan.clone() }.into())
        })
    }
}

/// Returns `None` if there is no such plan.
pub(crate) fn take(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    session: &SessionId,
    claiming: Claiming<'_>,
    now: Millis,
) -> Result<Option<Taken>, Fault> {
    let Some((owner, _)) = owner(transaction, plan)? else { return Ok(None) };
    if let Some(run) = run::of_plan(transaction, plan)? {
        return Ok(Some(Taken::HeldByRun(run)));
    }
    match owner {
        Owner::Living(id) | Owner::Ended(id) if id == *session => return Ok(Some(Taken::Already)),
        Owner::Living(other) if keeps(claiming, &other) => return Ok(Some(Taken::HeldBy(other))),
        Owner::Living(_) | Owner::Ended(_) | Owner::Nobody => {}
    }
    transaction.run("UPDATE plan SET owner = ?2, owner_since = ?3 WHERE id = ?1", params![plan, session, now])?;
    transaction.touch(plan);
    Ok(Some(Taken::Yes))
}

/// Takes a plan at a past time, from a journal. Draining late must not undo later changes.
pub(crate) fn take_late(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    session: &SessionId,
    claiming: Claiming<'_>,
    then: Millis,
) -> Result<Option<Taken>, Fault> {
    match owner(transaction, plan)? {
        Some((Owner::Living(other) | Owner::Ended(other), since)) if since > then && other != *session => {
            Ok(Some(Taken::HeldBy(other)))
        }
        _ => take(transaction, plan, session, claiming, then),
    }
}

/// Removes a session from its plan at a past time, from a journal. A later owner keeps it.
pub(crate) fn leave_late(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    session: &SessionId,
    then: Millis,
) -> Result<(), Fault> {
    let left = transaction.change(
        "UPDATE plan SET owner = NULL, owner_since = NULL WHERE id = ?1 AND owner = ?2 AND owner_since <= ?3",
        params![plan, session, then],
    )?;
    if left > 0 {
        transaction.touch(plan);
    }
    Ok(())
}

/// Returns true if a running owner keeps its plan.
fn keeps(claiming: Claiming<'_>, owner: &SessionId) -> bool {
    match claiming {
        Claiming::UnlessHeld => true,
        Claiming::FromSilent(silent) => silent != owner,
        Claiming::EvenIfHeld => false,
    }
}

enum Owner {
    Nobody,
    /// No end was seen. A session whose journal was never drained counts as running.
    Living(SessionId),
    Ended(SessionId),
}

/// Returns the owner, and the time since which it owns the plan.
fn owner(connection: &Connection, plan: &PlanId) -> Result<Option<(Owner, Millis)>, Fault> {
    connection.first("SELECT plan.owner, session.ended_at, plan.owner_since FROM plan LEFT JOIN session ON session.id = plan.owner WHERE plan.id = ?1", [plan], |row| {
            let owner = row.get::<_, Option<String>>(0)?.map(SessionId::new);
            let ended_at: Option<i64> = row.get(1)?;
            let since = Millis(row.get::<_, Option<i64>>(2)?.unwrap_or(0));
            let owner = match (owner, ended_at) {
                (None, _) => Owner::Nobody,
                (Some(owner), None) => Owner::Living(owner),
                (Some(owner), Some(_)) => Owner::Ended(owner),
            };
            Ok((owner, since))
        })
}
