//! Decisions of a plan, with their reasons.

use steadfast_model::{AddedBy, Millis, PlanId};

use super::database::column::{millis, word};
use super::error::Fault;
use super::task::within;
use super::{Ledger, LedgerError, plan};
use crate::ledger::database::bind::params;
use crate::ledger::database::connection::{Connection, Transaction};
use steadfast_redact::redact;

/// The maximum length of a decision and of its reason, in characters.
const BOUND: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub phase: Option<String>,
    pub what: String,
    pub why: String,
    pub added_by: AddedBy,
    pub at: Millis,
}

impl Ledger {
    pub fn decide(&mut self, plan: &PlanId, decision: &Decision) -> Result<(), LedgerError> {
        within("a decision", &decision.what, BOUND)?;
        within("the reason for a decision", &decision.why, BOUND)?;
        self.write(|transaction| {
            plan::require(transaction, plan)?;
            insert(transaction, plan, decision)?;
            transaction.touch(plan);
            Ok(())
        })
    }

    /// Returns the decisions of a plan, the oldest first.
    pub fn decisions(&self, plan: &PlanId) -> Result<Vec<Decision>, LedgerError> {
        self.read(|connection| {
            plan::require(connection, plan)?;
            all(connection, plan)
        })
    }
}

pub(super) fn all(connection: &Connection, plan: &PlanId) -> Result<Vec<Decision>, Fault> {
    connection.rows(
        "SELECT phase, what, why, added_by, at FROM decision WHERE plan = ?1 ORDER BY number",
        [plan],
        |row| {
            Ok(Decision {
                phase: row.get(0)?,
                what: row.get(1)?,
                why: row.get(2)?,
                added_by: word(row, 3, &AddedBy::ALL, AddedBy::as_str)?,
                at: millis(row, 4)?,
            })
        },
    )
}

/// Adds the decisions that the plan does not have yet.
pub(super) fn add_missing(transaction: &Transaction<'_>, plan: &PlanId, decisions: &[Decision]) -> Result<(), Fault> {
    let known = all(transaction, plan)?;
    for decision in decisions {
        let (what, why) = (redact(&decision.what).into_owned(), redact(&decision.why).into_owned());
        let decision = Decision { what, why, ..decision.clone() };
        if !known.contains(&decision) {
            insert(transaction, plan, &decision)?;
        }
    }
    Ok(())
}

fn insert(transaction: &Transaction<'_>, plan: &PlanId, decision: &Decision) -> Result<(), Fault> {
    transaction.run(
        "INSERT INTO decision (plan, number, phase, what, why, added_by, at)
             SELECT ?1, COALESCE(MAX(number), 0) + 1, ?2, ?3, ?4, ?5, ?6 FROM decision WHERE plan = ?1",
        params![plan, decision.phase, decision.what, decision.why, decision.added_by, decision.at],
    )
}

/// Returns the last decisions as one line each: those of this phase last, and within that the newest last.
pub(super) fn last_for(
    connection: &Connection,
    plan: &PlanId,
    phase: Option<&str>,
    most: usize,
) -> Result<Vec<String>, Fault> {
    let mut lines: Vec<String> = connection.rows(
        "SELECT what, why FROM decision WHERE plan = ?1 ORDER BY phase IS ?2 DESC, number DESC LIMIT ?3",
        params![plan, phase, most],
        |row| Ok(format!("{}: {}", row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
    )?;
    lines.reverse();
    Ok(lines)
}
