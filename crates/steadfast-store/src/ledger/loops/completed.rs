use std::collections::BTreeSet;

use crate::ledger::database::column::json;
use crate::ledger::session::step::folder;
use crate::ledger::{Ledger, LedgerError};

/// The number of past plans to search, the newest first.
const PLANS: usize = 200;

impl Ledger {
    /// Counts the plans that were completed, by a run or in a loop, and had a task in one of these folders. A path ending in
    /// `/` is a folder; for any other path its folder counts.
    pub fn completed_in(&self, paths: &[String]) -> Result<u32, LedgerError> {
        let wanted: BTreeSet<&str> = paths.iter().filter_map(|path| place(path)).collect();
        if wanted.is_empty() {
            return Ok(0);
        }
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT plan FROM (
                     SELECT plan, ended_at AS at FROM run WHERE state = 'complete'
                     UNION ALL SELECT plan, updated_at FROM loop WHERE ended = 'complete' AND plan IS NOT NULL)
                 GROUP BY plan ORDER BY MAX(at) DESC LIMIT ?1",
            )?;
            let plans = statement
                .query_map([i64::try_from(PLANS).unwrap_or(i64::MAX)], |row| row.get::<_, String>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            let mut files = connection.prepare_cached("SELECT files FROM task WHERE plan = ?1")?;
            let mut count = 0;
            for plan in plans {
                let mut rows = files.query([plan])?;
                while let Some(row) = rows.next()? {
                    let files: Vec<String> = json(0, &row.get::<_, String>(0)?)?;
                    if files.iter().filter_map(|path| place(path)).any(|folder| wanted.contains(folder)) {
                        count += 1;
                        break;
                    }
                }
            }
            Ok(count)
        })
    }
}

fn place(path: &str) -> Option<&str> {
    path.strip_suffix('/').or_else(|| folder(path)).filter(|folder| !folder.is_empty())
}
