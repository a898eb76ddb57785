//! Whether a session still runs. A killed host sends no end, but its process is gone, and a run knows what became of its
//! agents.

use std::collections::BTreeSet;

use steadfast_hook::{HostProcess, host_process};
use steadfast_model::{OwnerEnd, PlanView, SessionId};
use steadfast_store::ledger::SessionRow;
use steadfast_store::{Place, SessionFiles};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    Running,
    /// Its process is of another machine or container, or the process table cannot be read.
    Unknown,
    /// Its process is gone, and it sent no end.
    Killed,
    /// Its run ended it or saw it end.
    EndedByRun,
    Ended,
}

impl Liveness {
    /// The reason of an end that the session did not report.
    pub const KILLED: &'static str = "killed";
    pub const BY_RUN: &'static str = "ended with its run";

    /// `by_runs`: the sessions whose runs saw them end.
    pub fn of(place: &Place, row: &SessionRow, by_runs: &BTreeSet<SessionId>) -> Self {
        if row.ended.is_some() {
            return Self::Ended;
        }
        if by_runs.contains(&row.id) {
            return Self::EndedByRun;
        }
        match host_process(&SessionFiles::of(place, &row.id)) {
            HostProcess::Gone => Self::Killed,
            HostProcess::Elsewhere => Self::Unknown,
            HostProcess::Alive | HostProcess::NotNoted => Self::Running,
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Killed | Self::EndedByRun | Self::Ended)
    }
}

/// Marks the owner of a plan as ended if its process is gone.
pub fn note_killed_owner(place: &Place, plan: &mut PlanView) {
    let Some(owner) = plan.owner.as_ref().filter(|_| plan.owner_ended.is_none()) else { return };
    let files = SessionFiles::of(place, owner);
    if host_process(&files) == HostProcess::Gone {
        let at = files.peek().map(|state| state.last_at).unwrap_or_default();
        plan.owner_ended = Some(OwnerEnd { reason: Liveness::KILLED.to_owned(), at });
    }
}
