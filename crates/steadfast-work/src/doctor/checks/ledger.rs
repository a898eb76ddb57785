use crate::chain;
use steadfast_store::ledger::{Ledger, LedgerError};
use steadfast_text::count;

use crate::doctor::Diagnostic;
use crate::doctor::{FixError, Installation};

pub(super) fn ledger_damaged(here: &Installation) -> Vec<Diagnostic> {
    let looked = Ledger::open_read_only(&here.place().state).and_then(|ledger| match ledger {
        Some(ledger) => ledger.check(),
        None => Ok(()),
    });
    looked.err().map(|error| finding(&error)).into_iter().flatten().collect()
}

pub(super) fn slice_stale(here: &Installation) -> Vec<Diagnostic> {
    // What is wrong with a ledger that cannot be read is a finding of its own.
    let Ok(Some(ledger)) = Ledger::open_read_only(&here.place().state) else { return Vec::new() };
    let stale = ledger.stale_slices().unwrap_or_default();
    let [first, ..] = &stale[..] else { return Vec::new() };
    let message = format!(
        "{} of a plan {} something else than the ledger: `{}`{}",
        count(stale.len(), "slice"),
        if stale.len() == 1 { "says" } else { "say" },
        first.display(),
        if stale.len() == 1 { "" } else { ", …" }
    );
    let hint = "the stop gate goes by it where the ledger cannot be read; `steadfast doctor --fix` writes it anew";
    vec![Diagnostic::warning("slice-stale", message, hint).mended_by(renew_slices)]
}

fn renew_slices(here: &Installation) -> Result<String, FixError> {
    Ledger::open(&here.place().state)?.renew_slices()?;
    Ok("every plan has its slice".to_owned())
}

fn finding(error: &LedgerError) -> Option<Diagnostic> {
    match error {
        // The next command that writes migrates it.
        LedgerError::Older { .. } => None,
        LedgerError::Newer { .. } => Some(Diagnostic::error(
            "ledger-newer",
            chain(error),
            "the stop gate reads the last slice of the plan meanwhile; commands refuse",
        )),
        LedgerError::Damaged { path, .. } => Some(Diagnostic::error(
            "ledger-damaged",
            chain(error),
            format!(
                "move `{}` away and run `steadfast status`: a new ledger is made, sessions and journals are kept, tasks \
                 have to be added again",
                path.display()
            ),
        )),
        _ => Some(Diagnostic::error(
            "ledger-unreadable",
            chain(error),
            "look at the path, its permissions and the disk; where another steadfast is writing, try again",
        )),
    }
}
