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
    // `ledger_damaged` reports a ledger that cannot be read.
    let Ok(Some(ledger)) = Ledger::open_read_only(&here.place().state) else { return Vec::new() };
    let stale = ledger.stale_slices().unwrap_or_default();
    let [first, ..] = &stale[..] else { return Vec::new() };
    let message = format!(
        "{} of a plan {} from the ledger: `{}`{}",
        count(stale.len(), "slice"),
        if stale.len() == 1 { "differs" } else { "differ" },
        first.display(),
        if stale.len() == 1 { "" } else { ", …" }
    );
    let hint = "the stop gate reads slices when it cannot read the ledger; `steadfast doctor --fix` writes them again";
    vec![Diagnostic::warning("slice-stale", message, hint).with_fix(renew_slices)]
}

fn renew_slices(here: &Installation) -> Result<String, FixError> {
    Ledger::open(&here.place().state)?.renew_slices()?;
    Ok("every plan has a current slice".to_owned())
}

fn finding(error: &LedgerError) -> Option<Diagnostic> {
    match error {
        // The next command that writes migrates it.
        LedgerError::Older { .. } => None,
        LedgerError::Newer { .. } => Some(Diagnostic::error(
            "ledger-newer",
            chain(error),
            "commands refuse to work; the stop gate uses the last slice of the plan",
        )),
        LedgerError::Damaged { path, .. } => Some(Diagnostic::error(
            "ledger-damaged",
            chain(error),
            format!(
                "move `{}` away and run `steadfast status`: it creates a new ledger. Sessions and journals are \
                 kept; add the \
                 tasks again",
                path.display()
            ),
        )),
        _ => Some(Diagnostic::error(
            "ledger-unreadable",
            chain(error),
            "check the path, its permissions and the disk; if another `steadfast` is writing, try again",
        )),
    }
}
