//! The limits of a run, its heartbeat and its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use steadfast_model::{RunState, Status, TaskId, TaskLines, UnitStatus};
use steadfast_store::ledger::{Ledger, LedgerError, StatusChange};
use steadfast_work::chain;

use super::super::RunOutcome;
use super::super::begin::Until;
use super::super::budget::{Budget, Reserved, Share};
use super::super::event::RunEvent;
use super::start::LEASE_MS;
use super::verify::Verified;
use super::{Dispatcher, Live, Pausing, Phase, TICK};
use crate::error::RunError;

/// The longest wait for the ledger before a pause is given up.
const WRITE_DOWN: Duration = Duration::from_secs(20);

const BEAT: Duration = Duration::from_millis(LEASE_MS / 4);

impl Dispatcher {
    /// Returns the share of an agent that starts now. `Err`: no agent may start.
    pub(super) fn may_start(&self) -> Result<Share, String> {
        let (limits, sums) = (self.run.limits, self.sums());
        if let Some(limit) = limits.iterations().filter(|limit| sums.iterations >= *limit) {
            return Err(format!("{} of {limit} iterations are used", sums.iterations));
        }
        if let Some(tokens) = limits.tokens.filter(|tokens| sums.tokens >= *tokens) {
            return Err(format!("{} of {tokens} tokens are used", sums.tokens));
        }
        if let Some(account) = self.context.launcher.account() {
            return Ok(Budget { limit: limits.micro_usd }.of_account(account.left()));
        }
        let running: Vec<Reserved> = self.agents_of_budget().map(Live::reserved).collect();
        // In a loop, experts review waves meanwhile, and take a share like an agent.
        let experts = usize::from(self.until == Until::Gate);
        let free = (limits.parallel.max(1) as usize).saturating_sub(running.len()) + experts;
        Ok(Budget { limit: limits.micro_usd }.share(self.before.micro_usd, &running, free))
    }

    fn agents_of_budget(&self) -> impl Iterator<Item = &Live> {
        self.live.values().filter(|live| live.phase == Phase::Agent)
    }

    pub(super) fn budget_spent(&self) -> String {
        let limit = self.run.limits.micro_usd.unwrap_or(0);
        format!("the budget is spent: {} of {}", usd(self.sums().micro_usd), usd(limit))
    }

    /// Stops an agent whose share is spent before its next model call. Until then its hooks refuse its tools.
    pub(super) fn stop_if_spent(&mut self, unit: &TaskId) {
        let all_tokens = self.run.limits.tokens.is_some_and(|tokens| self.sums().tokens >= tokens);
        let name = self.context.worktrees.unit_folder(unit.as_str());
        let Some(live) = self.live.get_mut(unit) else { return };
        if live.over_budget || !(live.reserved().is_spent() || all_tokens) {
            return;
        }
        live.over_budget = true;
        live.stop.store(true, Ordering::Relaxed);
        if let Some(name) = name.file_name() {
            // Best effort: the agent is being ended anyway.
            let _ = std::fs::write(self.folder.join(format!("{}.spent", name.to_string_lossy())), "");
        }
    }

    /// Once a second: the human's stop, the clock, the ledger.
    pub(super) fn tick(&mut self) -> Result<(), RunError> {
        if self.stop.load(Ordering::Relaxed) && !matches!(self.pausing, Some(Pausing::Now(_))) {
            self.pausing = Some(Pausing::Now("a human stopped it".to_owned()));
            self.halt.store(true, Ordering::Relaxed);
            self.events.push(RunEvent::Stopping { units: self.live.keys().cloned().collect() });
        }
        let wall = self.run.limits.wall_ms.map(Duration::from_millis);
        if self.pausing.is_none() && wall.is_some_and(|wall| self.began.elapsed() >= wall) {
            self.pausing = Some(Pausing::Now("its time is up".to_owned()));
        }
        if matches!(self.pausing, Some(Pausing::Now(_))) {
            for live in self.live.values() {
                live.stop.store(true, Ordering::Relaxed);
            }
        }
        if self.ticked_at.elapsed() < TICK {
            return Ok(());
        }
        self.ticked_at = Instant::now();
        self.events.push(RunEvent::Tick);
        self.ledger.catch_up();
        if self.until == Until::Gate {
            self.count_asides()?;
        }
        for live in self.live.values_mut().filter(|live| live.unsaved) {
            live.unsaved = false;
            self.ledger.spend(&self.run.id, live.dispatch, live.spent, live.turns)?;
        }
        if self.beat_at.elapsed() >= BEAT {
            self.beat_at = Instant::now();
            self.beat()?;
        }
        Ok(())
    }

    /// Adds the cost of experts since the last call: they review waves while units run.
    pub(in crate::run) fn count_asides(&mut self) -> Result<(), RunError> {
        let all = self.ledger.asides(&self.run.id)?;
        let Self { before, asides, .. } = self;
        before.micro_usd = before.micro_usd.saturating_add(all.micro_usd.saturating_sub(asides.micro_usd));
        before.tokens = before.tokens.saturating_add(all.tokens.saturating_sub(asides.tokens));
        *asides = all;
        Ok(())
    }

    fn beat(&mut self) -> Result<(), RunError> {
        let now = self.now();
        if !self.ledger.beat(&self.run.id, self.runner, now)? {
            return Err(RunError::TakenOver);
        }
        for live in self.live.values_mut() {
            if !self.ledger.renew_leases(&mut live.leases, LEASE_MS, now)?.is_empty() {
                return Err(RunError::TakenOver);
            }
        }
        Ok(())
    }

    /// Decides, while nothing runs, whether the run ends or pauses.
    pub(super) fn outcome(&mut self) -> Result<Option<RunOutcome>, RunError> {
        // Even a pausing run is complete if every unit is done.
        if self.rows.iter().all(|row| row.status == UnitStatus::Done) {
            return self.all_done();
        }
        if let Some(Pausing::Drain(why) | Pausing::Now(why)) = self.pausing.take() {
            return self.pause(why).map(Some);
        }
        if self.reached {
            self.wait_for_threads();
            return Ok(Some(RunOutcome::Reached));
        }
        if self.is_more_to_do() {
            // Only a rate limit is in the way, so the run waits.
            return Ok(None);
        }
        let blocked: Vec<&str> = self.blocked().map(TaskId::as_str).collect();
        let open = self.rows.iter().filter(|row| row.status == UnitStatus::Waiting).count();
        let waits = match open {
            0 => String::new(),
            1 => ", and 1 more unit depends on that".to_owned(),
            open => format!(", and {open} more units depend on that"),
        };
        let why = match blocked.as_slice() {
            [one] => format!("unit {one} needs a human{waits}"),
            many => format!("units {} need a human{waits}", many.join(", ")),
        };
        self.pause(why).map(Some)
    }

    /// Every unit landed. Tasks that fail on the final tree are done again; tasks closed by a claim alone need a
    /// human's review. In a loop the gate decides instead.
    fn all_done(&mut self) -> Result<Option<RunOutcome>, RunError> {
        self.wait_for_threads();
        // If a human stopped the run earlier, the final checks still run, unless the human stops them, too.
        let stop = match self.pausing.take() {
            Some(_) => Arc::default(),
            None => Arc::clone(&self.stop),
        };
        let mut claimed = TaskLines::default();
        if self.until == Until::End {
            match self.verify_tip(&stop)? {
                Verified::Holds => {}
                Verified::Reopened => return Ok(None),
                Verified::Stopped => {
                    let why = "a human stopped the final checks; every task is done";
                    return self.pause(why.to_owned()).map(Some);
                }
            }
            claimed = self.ledger.claimed(&self.run.plan)?;
        }
        if let Some(why) = self.stated_checks_fail(&stop)? {
            return self.pause(why).map(Some);
        }
        // In a loop, experts may still be reading the worktrees.
        if self.until == Until::End {
            self.context.worktrees.clear()?;
        }
        let (state, outcome) = if claimed.is_empty() {
            (RunState::Complete, RunOutcome::Complete)
        } else {
            (RunState::NeedsReview, RunOutcome::NeedsReview(claimed))
        };
        self.ledger.set_run_state(&self.run.id, state, None, self.now())?;
        self.refresh()?;
        Ok(Some(outcome))
    }

    fn blocked(&self) -> impl Iterator<Item = &TaskId> {
        self.rows.iter().filter(|row| row.status == UnitStatus::Blocked).map(|row| &row.unit)
    }

    fn pause(&mut self, why: String) -> Result<RunOutcome, RunError> {
        let now = self.now();
        for row in &self.rows {
            reset_tasks(&mut self.ledger, &self.run.plan, &row.tasks, now)?;
        }
        self.ledger.set_run_state(&self.run.id, RunState::Paused, Some(&why), now)?;
        self.refresh()?;
        Ok(RunOutcome::Paused(why))
    }

    /// Pauses a run after an error of the ledger, the disk or git in the dispatcher. If another process holds the
    /// ledger, it waits, because the pause must be recorded. Returns the error if it cannot be, or if another process
    /// runs the run.
    pub(in crate::run) fn pause_after(&mut self, error: RunError) -> Result<RunOutcome, RunError> {
        if matches!(error, RunError::TakenOver | RunError::Circle(_)) {
            return Err(error);
        }
        let why = chain(&error);
        let until = Instant::now() + WRITE_DOWN;
        loop {
            match self.reset_units().and_then(|()| self.pause(why.clone())) {
                Ok(outcome) => return Ok(outcome),
                Err(RunError::Ledger(LedgerError::Locked { .. })) if Instant::now() < until => thread::sleep(TICK),
                Err(_) => return Err(error),
            }
        }
    }

    /// Resets all units. The interrupted attempts do not count.
    fn reset_units(&mut self) -> Result<(), RunError> {
        let units: Vec<TaskId> = self.live.keys().cloned().collect();
        units.iter().try_for_each(|unit| self.reset_unit(unit))
    }

    /// Resets a unit without counting the attempt, because its end says nothing about the work.
    pub(super) fn reset_unit(&mut self, unit: &TaskId) -> Result<(), RunError> {
        self.change(unit, |row| {
            row.status = UnitStatus::Waiting;
            row.attempts = row.attempts.saturating_sub(1);
            row.agent = None;
        })?;
        self.release(unit)
    }

    fn refresh(&mut self) -> Result<(), RunError> {
        self.run = self.ledger.run(&self.run.id)?;
        Ok(())
    }
}

/// Resets these tasks from in progress to pending.
pub(in crate::run) fn reset_tasks(
    ledger: &mut Ledger,
    plan: &steadfast_model::PlanId,
    tasks: &[TaskId],
    now: steadfast_model::Millis,
) -> Result<(), RunError> {
    for task in tasks {
        if ledger.task(plan, task)?.status == Status::InProgress {
            ledger.set_status(plan, task, StatusChange { to: Status::Pending, reason: None, fence: None, now })?;
        }
    }
    Ok(())
}

impl Live {
    fn reserved(&self) -> Reserved {
        Reserved { share: self.share, spent: self.spent.micro_usd.unwrap_or(0) }
    }
}

fn usd(micro: u64) -> String {
    let (whole, rest) = (micro / 1_000_000, micro % 1_000_000);
    // A small budget needs more digits than cents.
    if micro < 1_000_000 && rest % 10_000 != 0 {
        format!("$0.{:04}", rest / 100)
    } else {
        format!("${whole}.{:02}", rest / 10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::usd;

    #[test]
    fn small_amounts_are_not_rounded_to_nothing() {
        let shown = [0, 4_300, 10_000, 12_345, 999_999, 1_000_000, 25_034_000].map(usd);
        assert_eq!(shown, ["$0.00", "$0.0043", "$0.01", "$0.0123", "$0.9999", "$1.00", "$25.03"]);
    }
}
