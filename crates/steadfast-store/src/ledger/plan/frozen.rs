//! Frozen definitions of check commands: the content of a script, for example, when its plan was loaded.

use std::collections::BTreeMap;

use steadfast_model::{Millis, PlanId};

use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::connection::Transaction;
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError, plan};

impl Ledger {
    pub fn frozen(&self, plan: &PlanId, command: &str) -> Result<Option<String>, LedgerError> {
        self.read(|connection| {
            connection.first(
                "SELECT definition FROM frozen WHERE plan = ?1 AND command = ?2",
                params![plan, AsGiven(command)],
                |row| row.get(0),
            )
        })
    }

    /// Freezes the definitions that are not frozen yet.
    pub fn freeze(
        &mut self,
        plan: &PlanId,
        definitions: &BTreeMap<String, String>,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            plan::require(transaction, plan)?;
            for (command, definition) in definitions {
                put(transaction, plan, [command, definition], Frozen::Stays, now)?;
            }
            Ok(())
        })
    }

    /// Replaces a definition that a human has accepted.
    pub fn accept_definition(
        &mut self,
        plan: &PlanId,
        command: &str,
        definition: &str,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| put(transaction, plan, [command, definition], Frozen::Changes, now))
    }
}

/// Freezes a definition, unless one is frozen already.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frozen {
    Stays,
    Changes,
}

pub(crate) fn put(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    [command, definition]: [&str; 2],
    frozen: Frozen,
    now: Millis,
) -> Result<(), Fault> {
    let on_conflict = match frozen {
        Frozen::Stays => "NOTHING",
        Frozen::Changes => "UPDATE SET definition = excluded.definition, at = excluded.at",
    };
    transaction.run(
        &format!(
            "INSERT INTO frozen (plan, command, definition, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (plan, command) DO {on_conflict}"
        ),
        params![plan, AsGiven(command), AsGiven(definition), now],
    )
}
