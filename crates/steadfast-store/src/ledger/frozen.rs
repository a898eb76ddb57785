//! What the command of a check stood for when its plan was loaded.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension;
use steadfast_model::{Millis, PlanId};

use super::error::Fault;
use super::{Ledger, LedgerError, plan};
use crate::ledger::bind::{AsGiven, params};
use crate::ledger::connection::Transaction;

impl Ledger {
    pub fn frozen(&self, plan: &PlanId, command: &str) -> Result<Option<String>, LedgerError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached("SELECT definition FROM frozen WHERE plan = ?1 AND command = ?2")?
                .query_row(params![plan.as_str(), AsGiven(command)], |row| row.get(0))
                .optional()?)
        })
    }

    /// Freezes what is not frozen yet.
    pub fn freeze(
        &mut self,
        plan: &PlanId,
        definitions: &BTreeMap<String, String>,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction, _| {
            plan::require(transaction, plan)?;
            for (command, definition) in definitions {
                put_first(transaction, plan, command, definition, now)?;
            }
            Ok(())
        })
    }

    /// A human said yes to what a command stands for now.
    pub fn accept_definition(
        &mut self,
        plan: &PlanId,
        command: &str,
        definition: &str,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction, _| put(transaction, plan, command, definition, now))
    }
}

/// What is frozen already stays so.
pub(super) fn put_first(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    command: &str,
    definition: &str,
    now: Millis,
) -> Result<(), Fault> {
    transaction
        .prepare_cached(
            "INSERT INTO frozen (plan, command, definition, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (plan, command) DO NOTHING",
        )?
        .execute(params![plan.as_str(), AsGiven(command), AsGiven(definition), now.0])?;
    Ok(())
}

pub(super) fn put(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    command: &str,
    definition: &str,
    now: Millis,
) -> Result<(), Fault> {
    transaction
        .prepare_cached(
            "INSERT INTO frozen (plan, command, definition, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (plan, command) DO UPDATE SET definition = excluded.definition, at = excluded.at",
        )?
        .execute(params![plan.as_str(), AsGiven(command), AsGiven(definition), now.0])?;
    Ok(())
}
