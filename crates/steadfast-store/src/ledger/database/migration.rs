//! Migrations, forward only. The `user_version` of a database is the number of applied files.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};

use crate::ledger::LedgerError;
use crate::ledger::error::Fault;

pub(crate) const MIGRATIONS: [&str; 11] = [
    include_str!("../../../migrations/0001_plan.sql"),
    include_str!("../../../migrations/0002_session.sql"),
    include_str!("../../../migrations/0003_spec.sql"),
    include_str!("../../../migrations/0004_drift.sql"),
    include_str!("../../../migrations/0005_run.sql"),
    include_str!("../../../migrations/0006_loop.sql"),
    include_str!("../../../migrations/0007_followed.sql"),
    include_str!("../../../migrations/0008_proof.sql"),
    include_str!("../../../migrations/0009_use.sql"),
    include_str!("../../../migrations/0010_gate.sql"),
    include_str!("../../../migrations/0011_loop_session.sql"),
];

pub(crate) const KNOWN: i64 = MIGRATIONS.len() as i64;

pub(crate) fn version(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.query_row("PRAGMA user_version", (), |row| row.get(0))?)
}

/// Migrates the database to [`KNOWN`]. If several processes try at once, one does it and the others find it done.
pub(crate) fn migrate(connection: &mut Connection, path: &Path, busy: Duration) -> Result<(), Fault> {
    if missing(connection, path)?.is_empty() {
        return Ok(());
    }
    enter_wal(connection, busy)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for migration in missing(&transaction, path)? {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()?;
    Ok(())
}

fn missing(connection: &Connection, path: &Path) -> Result<&'static [&'static str], Fault> {
    let found = version(connection)?;
    let newer = || LedgerError::Newer { path: path.to_owned(), found, known: KNOWN };
    let from = usize::try_from(found).map_err(|_| newer())?;
    Ok(MIGRATIONS.get(from..).ok_or_else(newer)?)
}

/// Enters WAL mode. SQLite does not apply its busy timeout to a change of the journal mode, so we retry.
fn enter_wal(connection: &Connection, busy: Duration) -> Result<(), Fault> {
    let until = Instant::now() + busy;
    loop {
        let entered: Result<String, _> = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0));
        match entered.map_err(Fault::from) {
            Ok(_) => return Ok(()),
            Err(fault) if fault.is_locked() && Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            Err(fault) => return Err(fault),
        }
    }
}
