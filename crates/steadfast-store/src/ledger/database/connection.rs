//! The connection for the rest of the ledger. Every bound value passes [`super::bind`], which redacts it.
//!
//! rusqlite's own connection is private to this file, so no text can be stored without redaction.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Deref;

use rusqlite::{CachedStatement, MappedRows, OptionalExtension, Params, Result, Row, Rows, params_from_iter};

use steadfast_model::PlanId;

use super::bind::{Bind, Bound};
use crate::ledger::error::Fault;

#[derive(Debug)]
pub(crate) struct Connection(rusqlite::Connection);

impl Connection {
    /// Wraps a connection that is already opened and migrated.
    pub(crate) fn new(connection: rusqlite::Connection) -> Self {
        Self(connection)
    }

    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        self.0.prepare_cached(sql).map(Statement)
    }

    pub(crate) fn execute(&self, sql: &str, parameters: impl Parameters) -> Result<usize> {
        parameters.bound(|bound| self.0.execute(sql, params(bound)))
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        self.0.execute_batch(sql)
    }

    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        parameters: impl Parameters,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        parameters.bound(|bound| self.0.query_row(sql, params(bound), map))
    }

    pub(crate) fn rows<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        parameters: impl Parameters,
        map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> std::result::Result<C, Fault> {
        let mut statement = self.prepare_cached(sql)?;
        let rows = statement.query_map(parameters, map)?;
        Ok(rows.collect::<Result<C>>()?)
    }

    /// Returns the only row of a query.
    pub(crate) fn row<T>(
        &self,
        sql: &str,
        parameters: impl Parameters,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> std::result::Result<T, Fault> {
        Ok(self.prepare_cached(sql)?.query_row(parameters, map)?)
    }

    pub(crate) fn first<T>(
        &self,
        sql: &str,
        parameters: impl Parameters,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> std::result::Result<Option<T>, Fault> {
        Ok(self.prepare_cached(sql)?.query_row(parameters, map).optional()?)
    }

    /// Changes rows, and returns their number.
    pub(crate) fn change(&self, sql: &str, parameters: impl Parameters) -> std::result::Result<usize, Fault> {
        Ok(self.prepare_cached(sql)?.execute(parameters)?)
    }

    /// Changes rows, and ignores their number.
    pub(crate) fn run(&self, sql: &str, parameters: impl Parameters) -> std::result::Result<(), Fault> {
        self.change(sql, parameters).map(drop)
    }

    pub(crate) fn last_insert_rowid(&self) -> i64 {
        self.0.last_insert_rowid()
    }

    /// Starts a read transaction: all its queries see the same state of the database.
    pub(crate) fn reading(&self) -> Result<Transaction<'_>> {
        Transaction::begin(self, "BEGIN DEFERRED")
    }

    /// Starts a write transaction and takes the lock of the only writer.
    pub(crate) fn writing(&mut self) -> Result<Transaction<'_>> {
        Transaction::begin(self, "BEGIN IMMEDIATE")
    }
}

/// A transaction. Dropping it without a commit rolls it back.
#[derive(Debug)]
pub(crate) struct Transaction<'c> {
    connection: &'c Connection,
    /// The plans that the transaction changed.
    touched: RefCell<BTreeSet<PlanId>>,
}

impl<'c> Transaction<'c> {
    fn begin(connection: &'c Connection, words: &str) -> Result<Self> {
        connection.0.execute_batch(words)?;
        Ok(Self { connection, touched: RefCell::default() })
    }

    /// Marks a plan as changed, so that its slice is replaced after the commit.
    pub(crate) fn touch(&self, plan: &PlanId) {
        let mut touched = self.touched.borrow_mut();
        if !touched.contains(plan) {
            touched.insert(plan.clone());
        }
    }

    /// Commits, and returns the changed plans.
    pub(crate) fn commit(self) -> Result<BTreeSet<PlanId>> {
        // If this fails, dropping rolls back.
        self.connection.0.execute_batch("COMMIT")?;
        Ok(self.touched.take())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.connection.0.is_autocommit() {
            // SQLite rolls back anyway when the connection closes.
            let _ = self.connection.0.execute_batch("ROLLBACK");
        }
    }
}

pub(crate) struct Statement<'c>(CachedStatement<'c>);

impl Statement<'_> {
    pub(crate) fn execute(&mut self, parameters: impl Parameters) -> Result<usize> {
        parameters.bound(|bound| self.0.execute(params(bound)))
    }

    pub(crate) fn exists(&mut self, parameters: impl Parameters) -> Result<bool> {
        parameters.bound(|bound| self.0.exists(params(bound)))
    }

    pub(crate) fn query(&mut self, parameters: impl Parameters) -> Result<Rows<'_>> {
        parameters.bound(|bound| self.0.query(params(bound)))
    }

    pub(crate) fn query_row<T>(
        &mut self,
        parameters: impl Parameters,
        map: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        parameters.bound(|bound| self.0.query_row(params(bound), map))
    }

    pub(crate) fn query_map<T, F: FnMut(&Row<'_>) -> Result<T>>(
        &mut self,
        parameters: impl Parameters,
        map: F,
    ) -> Result<MappedRows<'_, F>> {
        parameters.bound(|bound| self.0.query_map(params(bound), map))
    }
}

/// The values for a statement: none, an array of one type, or `params!`. Each of them passes [`Bind`].
pub(crate) trait Parameters {
    fn bound<T>(self, with: impl FnOnce(&[&dyn Bind]) -> T) -> T;
}

impl Parameters for () {
    fn bound<T>(self, with: impl FnOnce(&[&dyn Bind]) -> T) -> T {
        with(&[])
    }
}

impl<B: Bind, const N: usize> Parameters for [B; N] {
    fn bound<T>(self, with: impl FnOnce(&[&dyn Bind]) -> T) -> T {
        with(&self.each_ref().map(|value| value as &dyn Bind))
    }
}

/// The values made by `params!`.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) values: &'a [&'a dyn Bind],
}

impl Parameters for Values<'_> {
    fn bound<T>(self, with: impl FnOnce(&[&dyn Bind]) -> T) -> T {
        with(self.values)
    }
}

fn params<'a>(values: &'a [&'a dyn Bind]) -> impl Params + 'a {
    params_from_iter(values.iter().map(|value| Bound::of(*value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::database::bind::{AsGiven, params};

    const SECRET: &str = "AKIAIOSFODNN7QRSTUVW";

    /// However its values come, a text goes without its secrets, and is found by the text it was kept under.
    #[test]
    fn no_way_to_a_statement_keeps_a_secret() {
        let connection = Connection::new(rusqlite::Connection::open_in_memory().unwrap());
        connection.execute_batch("CREATE TABLE kept (text TEXT)").unwrap();
        let text = format!("the key {SECRET} of it");
        let insert = "INSERT INTO kept VALUES (?1)";
        connection.execute(insert, [&text]).unwrap();
        connection.execute(insert, params![text]).unwrap();
        connection.prepare_cached(insert).unwrap().execute([Some(text.as_str())]).unwrap();
        let find = "SELECT count(*) FROM kept WHERE text = ?1";
        let count = |found: &Row<'_>| found.get::<_, i64>(0);
        assert_eq!(connection.query_row(find, [&text], count).unwrap(), 3);
        assert_eq!(connection.query_row(find, [AsGiven(&text)], count).unwrap(), 0);
        let mut statement = connection.prepare_cached("SELECT text FROM kept").unwrap();
        let kept: Vec<String> = statement.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(kept.iter().all(|kept| kept.contains("[redacted:")), "{kept:?}");
    }

    #[test]
    fn what_is_not_committed_is_taken_back() {
        let mut connection = Connection::new(rusqlite::Connection::open_in_memory().unwrap());
        connection.execute_batch("CREATE TABLE kept (text TEXT)").unwrap();
        let write = |connection: &mut Connection, commits: bool| {
            let transaction = connection.writing().unwrap();
            transaction.execute("INSERT INTO kept VALUES (?1)", ["x"]).unwrap();
            if commits {
                transaction.commit().unwrap();
            }
        };
        write(&mut connection, false);
        write(&mut connection, true);
        assert_eq!(connection.query_row("SELECT count(*) FROM kept", (), |row| row.get::<_, i64>(0)).unwrap(), 1);
    }
}
