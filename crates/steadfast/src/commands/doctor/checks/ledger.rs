use steadfast_store::ledger::{Ledger, LedgerError};

use super::super::finding::Finding;
use super::super::here::Here;
use crate::error::chain;

pub(super) fn ledger_damaged(here: &Here) -> Vec<Finding> {
    let looked = Ledger::open_read_only(&here.place().state).and_then(|ledger| match ledger {
        Some(ledger) => ledger.check(),
        None => Ok(()),
    });
    looked.err().map(|error| finding(&error)).into_iter().flatten().collect()
}

fn finding(error: &LedgerError) -> Option<Finding> {
    match error {
        // The next command that writes migrates it.
        LedgerError::Older { .. } => None,
        LedgerError::Newer { .. } => Some(Finding::error(
            "ledger-newer",
            chain(error),
            "the stop gate reads the last slice of the plan meanwhile; commands refuse",
        )),
        LedgerError::Damaged { path, .. } => Some(Finding::error(
            "ledger-damaged",
            chain(error),
            format!(
                "move `{}` away and run `steadfast status`: a new ledger is made, sessions and journals are kept, tasks \
                 have to be added again",
                path.display()
            ),
        )),
        _ => Some(Finding::error(
            "ledger-unreadable",
            chain(error),
            "look at the path, its permissions and the disk; where another steadfast is writing, try again",
        )),
    }
}
