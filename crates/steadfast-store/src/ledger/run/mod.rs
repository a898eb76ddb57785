//! Runs: the plan and the runner of each run, the status of its units, and its cost.

mod closing;
mod dispatch;
mod row;
mod unit;
mod unit_plan;
mod view;

use steadfast_model::{Limits, Millis, PlanId, Process, Run, RunId, RunState};

pub use closing::{UnitClosed, UnitClosing};
pub use dispatch::{DispatchEnd, NewDispatch};
pub use unit_plan::{UnitLoading, UnitResult};

use super::database::column::text;
use super::error::Fault;
use super::plan::{self, added};
use super::{Ledger, LedgerError};
use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::connection::{Connection, Transaction};

impl Ledger {
    /// Creates a run. No session can own its plan until the run has ended.
    pub fn create_run(&mut self, run: &Run) -> Result<(), LedgerError> {
        self.write(|transaction| {
            plan::require(transaction, &run.plan)?;
            if let Some(other) = row::of_plan(transaction, &run.plan)? {
                return Err(LedgerError::InRun { plan: run.plan.clone(), run: other.id }.into());
            }
            transaction.execute("UPDATE plan SET owner = NULL, owner_since = NULL WHERE id = ?1", [&run.plan])?;
            transaction.touch(&run.plan);
            transaction.run(
                "INSERT INTO run (id, plan, worktree, spec, host, base, branch, state, reason, limits, started_at,
                                  updated_at, ended_at, pid, pid_started)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
                params![
                    run.id,
                    run.plan,
                    AsGiven(&run.worktree),
                    AsGiven(&run.spec),
                    run.host,
                    run.base,
                    AsGiven(&run.branch),
                    run.state,
                    run.reason,
                    text(&run.limits),
                    run.started_at,
                    run.updated_at,
                    run.ended_at,
                    run.runner.map(|process| process.pid),
                    run.runner.map(|process| process.started),
                ],
            )
        })
    }

    pub fn run(&self, id: &RunId) -> Result<Run, LedgerError> {
        self.read(|connection| row::find(connection, id))
    }

    /// Returns the runs of a worktree, the newest first.
    pub fn runs_of(&self, worktree: &str) -> Result<Vec<Run>, LedgerError> {
        self.read(|connection| {
            row::select(connection, "worktree = ?1 ORDER BY started_at DESC, id DESC", params![AsGiven(worktree)])
        })
    }

    /// Returns the running and paused runs of all worktrees, the newest first.
    pub fn unfinished_runs(&self) -> Result<Vec<Run>, LedgerError> {
        self.read(|connection| row::select(connection, "ended_at IS NULL ORDER BY started_at DESC, id DESC", params![]))
    }

    /// Returns the run that works on this plan.
    pub fn run_of_plan(&self, plan: &PlanId) -> Result<Option<Run>, LedgerError> {
        self.read(|connection| row::of_plan(connection, plan))
    }

    pub fn set_run_state(
        &mut self,
        id: &RunId,
        state: RunState,
        reason: Option<&str>,
        now: Millis,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            let run = row::find(transaction, id)?;
            transaction.execute(
                "UPDATE run SET state = ?2, reason = ?3, updated_at = ?4, ended_at = ?5 WHERE id = ?1",
                params![id, state, reason, now, state.is_over().then_some(now)],
            )?;
            transaction.touch(&run.plan);
            // Tasks that were added meanwhile join the rest of the plan.
            if state.is_over() && plan::has_open(transaction, &run.plan)? {
                added::join_list(transaction, &run.worktree, &run.plan, now)?;
            }
            Ok(())
        })
    }

    /// Changes the limits, as a human decided.
    pub fn set_limits(&mut self, id: &RunId, limits: Limits, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            row::find(transaction, id)?;
            transaction
                .run("UPDATE run SET limits = ?2, updated_at = ?3 WHERE id = ?1", params![id, text(&limits), now])
        })
    }

    /// Takes a run over from the process that the caller saw as its runner. `false` if another process took it meanwhile.
    pub fn take_run(
        &mut self,
        id: &RunId,
        from: Option<Process>,
        to: Process,
        now: Millis,
    ) -> Result<bool, LedgerError> {
        self.write(|transaction| {
            if row::find(transaction, id)?.runner != from {
                return Ok(false);
            }
            transaction.execute(
                "UPDATE run SET pid = ?2, pid_started = ?3, updated_at = ?4 WHERE id = ?1",
                params![id, to.pid, to.started, now],
            )?;
            Ok(true)
        })
    }

    /// Records that the runner is alive. `false` if another process took the run over, or a human ended it.
    pub fn beat(&mut self, id: &RunId, runner: Process, now: Millis) -> Result<bool, LedgerError> {
        self.write(|transaction| {
            let rows = transaction.change(
                "UPDATE run SET updated_at = ?4 WHERE id = ?1 AND pid = ?2 AND pid_started = ?3 AND ended_at IS NULL",
                params![id, runner.pid, runner.started, now],
            )?;
            Ok(rows == 1)
        })
    }
}

/// Returns the unfinished run of this plan. Only its id, because every stop asks for it.
pub(super) fn of_plan(connection: &Connection, plan: &PlanId) -> Result<Option<RunId>, Fault> {
    connection.first(
        "SELECT id FROM run WHERE plan = ?1 AND ended_at IS NULL ORDER BY started_at DESC, id DESC LIMIT 1",
        [plan],
        |row| row.get::<_, String>(0).map(RunId::new),
    )
}

/// Ends the run of a copied repository: the run continues only in the original.
pub(super) fn end_of_copied(transaction: &Transaction<'_>, plan: &PlanId, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "UPDATE run SET state = 'stopped', reason = 'the repository was copied while it ran', updated_at = ?2,
                    ended_at = ?2
             WHERE plan = ?1 AND ended_at IS NULL",
        params![plan, now],
    )
}

pub(super) fn end_of_plan(transaction: &Transaction<'_>, plan: &PlanId, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "UPDATE run SET state = 'stopped', reason = 'its plan was cleared', updated_at = ?2, ended_at = ?2
             WHERE plan = ?1 AND ended_at IS NULL",
        params![plan, now],
    )
}
