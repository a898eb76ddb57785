use super::{Ledger, LedgerError};

impl Ledger {
    /// Reads the whole file and says what is wrong with it.
    pub fn check(&self) -> Result<(), LedgerError> {
        let said: String =
            self.read(|connection| Ok(connection.query_row("PRAGMA quick_check(1)", (), |row| row.get(0))?))?;
        if said == "ok" {
            return Ok(());
        }
        Err(LedgerError::Damaged { path: self.path.clone(), source: said.into() })
    }
}
