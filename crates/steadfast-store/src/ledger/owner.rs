use rusqlite::{Connection, OptionalExtension, Transaction, params};
use steadfast_model::{Millis, PlanId, SessionId};

use super::error::Fault;
use super::slice::Touched;
use super::{Ledger, LedgerError};

/// Whether a living session loses its plan to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claiming {
    UnlessHeld,
    /// Someone started a task of it, or loaded it: whoever works on it has it.
    EvenIfHeld,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// It was this session's before.
    Already,
    HeldBy(SessionId),
}

impl Ledger {
    pub fn take_plan(
        &mut self,
        plan: &PlanId,
        session: &SessionId,
        claiming: Claiming,
        now: Millis,
    ) -> Result<Taken, LedgerError> {
        self.write(|transaction, touched| {
            take(transaction, touched, plan, session, claiming, now)?
                .ok_or_else(|| LedgerError::UnknownPlan { plan: plan.clone() }.into())
        })
    }
}

/// `None`: there is no such plan.
pub(super) fn take(
    transaction: &Transaction<'_>,
    touched: &mut Touched,
    plan: &PlanId,
    session: &SessionId,
    claiming: Claiming,
    now: Millis,
) -> Result<Option<Taken>, Fault> {
    let Some(owner) = owner(transaction, plan)? else { return Ok(None) };
    match owner {
        Owner::Living(id) | Owner::Ended(id) if id == *session => return Ok(Some(Taken::Already)),
        Owner::Living(other) if claiming == Claiming::UnlessHeld => return Ok(Some(Taken::HeldBy(other))),
        Owner::Living(_) | Owner::Ended(_) | Owner::Nobody => {}
    }
    transaction.prepare_cached("UPDATE plan SET owner = ?2, owner_since = ?3 WHERE id = ?1")?.execute(params![
        plan.as_str(),
        session.as_str(),
        now.0
    ])?;
    touched.plan(plan);
    Ok(Some(Taken::Yes))
}

enum Owner {
    Nobody,
    /// Its end was not seen. A session whose journal was never drained lives too.
    Living(SessionId),
    Ended(SessionId),
}

fn owner(connection: &Connection, plan: &PlanId) -> Result<Option<Owner>, Fault> {
    Ok(connection
        .prepare_cached(
            "SELECT plan.owner, session.ended_at FROM plan LEFT JOIN session ON session.id = plan.owner WHERE plan.id = ?1",
        )?
        .query_row([plan.as_str()], |row| {
            let owner = row.get::<_, Option<String>>(0)?.map(SessionId::new);
            let ended_at: Option<i64> = row.get(1)?;
            Ok(match (owner, ended_at) {
                (None, _) => Owner::Nobody,
                (Some(owner), None) => Owner::Living(owner),
                (Some(owner), Some(_)) => Owner::Ended(owner),
            })
        })
        .optional()?)
}
