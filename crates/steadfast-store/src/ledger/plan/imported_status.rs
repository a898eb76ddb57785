//! Statuses of tasks from an imported list. They are taken over when the list is loaded, as claims.

use steadfast_model::{Evidence, EvidenceClass, Millis, PlanId, Reported, Status};
use steadfast_text::truncate_line;

use crate::ledger::database::bind::params;
use crate::ledger::database::connection::Transaction;
use crate::ledger::error::Fault;
use crate::ledger::task::evidence;
use crate::ledger::task::status::{self, StatusChange};
use crate::ledger::{Ledger, LedgerError};

/// The text in the note of a claim, before the reason from the list.
pub const REPORTED: &str = " when that was loaded: ";

/// The maximum length of a stored reason, in characters.
const REASON: usize = 300;

impl Ledger {
    /// Moves tasks to their status in `source`, and returns the moved ones. Tasks that were closed here before, or are
    /// further than the list says, stay unchanged. Nothing is earned, because the work was not done here.
    pub fn take_over(
        &mut self,
        plan: &PlanId,
        reported: &[Reported],
        source: &str,
        now: Millis,
    ) -> Result<Vec<Reported>, LedgerError> {
        if reported.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction| {
            let mut moved = Vec::new();
            for reported in reported {
                if take_over(transaction, plan, reported, source, now)? {
                    moved.push(reported.clone());
                }
            }
            Ok(moved)
        })
    }
}

fn take_over(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    reported: &Reported,
    source: &str,
    now: Millis,
) -> Result<bool, Fault> {
    let open: Option<String> = transaction.first(
        "SELECT status FROM task WHERE plan = ?1 AND id = ?2 AND first_closed_at IS NULL
                AND status IN ('pending', 'in_progress')",
        params![plan, reported.task],
        |row| row.get(0),
    )?;
    let Some(from) = open else { return Ok(false) };
    if reported.status == Status::Pending || reported.status.as_str() == from {
        return Ok(false);
    }
    let reason = reported.reason.as_deref();
    if reported.status == Status::Done {
        evidence::insert(transaction, plan, &reported.task, &claim(reason, source, now))?;
    }
    let reason = (reported.status == Status::Blocked).then(|| blocked(reason, source));
    let change = StatusChange { to: reported.status, reason, fence: None, now };
    status::change(transaction, plan, &reported.task, &change)?;
    Ok(true)
}

/// Makes evidence for a task that is done in the list. This is only a claim.
pub(crate) fn claim(reason: Option<&str>, source: &str, now: Millis) -> Evidence {
    let how = match reason {
        Some(reason) => format!("{REPORTED}{}", truncate_line(reason, REASON)),
        None => " when that was loaded".to_owned(),
    };
    word(format!("it was done in {source}{how}"), now)
}

/// Makes evidence from a statement that Steadfast did not check.
pub(crate) fn word(note: String, at: Millis) -> Evidence {
    Evidence::without_run(EvidenceClass::Claimed, true, note, at)
}

/// Returns the reason of the block.
pub(crate) fn blocked(reason: Option<&str>, source: &str) -> String {
    reason.map_or_else(|| format!("it was blocked in {source}"), |reason| truncate_line(reason, REASON))
}
