//! Starts the next unit, or the next wave if a human reviews each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_model::{Millis, RunUnit, Status, TaskId, UnitStatus};
use steadfast_plan::{Moment, UnitState, next_wave};
use steadfast_store::ledger::{LeaseError, NewDispatch, StatusChange};

use super::super::begin::Until;
use super::super::budget::Share;
use super::super::event::{Activity, RunEvent};
use super::super::executor::{Job, work};
use super::super::prompt::Before;
use super::{Dispatcher, Live, Pausing, Phase};
use crate::error::RunError;

/// The length of a lease. Heartbeats renew it; without them another process may take the task.
pub(super) const LEASE_MS: u64 = 60_000;

impl Dispatcher {
    /// Starts units while places are free: those whose dependencies landed, and the longest chain first.
    pub(super) fn start_what_can(&mut self) -> Result<(), RunError> {
        self.write_decisions()?;
        if self.until == Until::Wave && !self.is_in_wave() {
            return Ok(());
        }
        while self.pausing.is_none() && self.is_place_free() {
            let Some(index) = self.next() else { break };
            if let Some(path) = self.context.worktrees.submodule_of(&self.units[index].files)? {
                self.refuse(index, &path)?;
                continue;
            }
            match self.may_start() {
                Ok(Share::Unlimited) => self.start(index, None)?,
                Ok(Share::MicroUsd(share)) => self.start(index, Some(share))?,
                // A running agent may leave part of its share.
                Ok(Share::None) if self.agents() > 0 => break,
                Ok(Share::None) => self.pausing = Some(Pausing::Drain(self.budget_spent())),
                Err(why) => self.pausing = Some(Pausing::Drain(why)),
            }
        }
        Ok(())
    }

    /// If a human reviews each unit, only one runs at a time, until it has landed.
    fn is_place_free(&self) -> bool {
        match self.until {
            Until::Unit => self.live.is_empty(),
            Until::End | Until::Gate | Until::Wave => self.agents() < self.run.limits.parallel.max(1) as usize,
        }
    }

    /// A unit with files in a submodule needs a human: a run lands commits of this repository only.
    fn refuse(&mut self, index: usize, submodule: &str) -> Result<(), RunError> {
        let unit = self.rows[index].unit.clone();
        let why = format!(
            "it changes the submodule `{submodule}`, which a run cannot change; start a run in the submodule itself"
        );
        self.block(&unit, &unit, why)
    }

    fn next(&self) -> Option<usize> {
        let worked = |place: usize| {
            let live = self.live.get(&self.units[place].id).filter(|live| live.phase == Phase::Agent)?;
            Some(millis(live.began.elapsed()))
        };
        let places = self.run.limits.parallel.max(1) as usize;
        self.schedule.next(&self.units, Moment { state: &|place| self.unit_state(place), worked: &worked, places })
    }

    /// Records how long an agent worked. This predicts the length of the unit's next attempt, and of other units.
    pub(super) fn measured(&mut self, unit: &TaskId, length: Duration) {
        let Some(place) = self.places.get(unit) else { return };
        self.lengths.measure(*place, millis(length));
        self.schedule.expect(self.lengths.expected());
    }

    /// The status in the ledger, except that a unit which may not start yet counts as blocked.
    fn unit_state(&self, index: usize) -> UnitState {
        let row = &self.rows[index];
        match state(row.status) {
            UnitState::Waiting if self.is_held_back(index, &row.unit) => UnitState::Blocked,
            state => state,
        }
    }

    fn is_held_back(&self, index: usize, unit: &TaskId) -> bool {
        self.waits(unit) || self.live.contains_key(unit) || self.until == Until::Wave && !self.wave.contains(&index)
    }

    /// Returns whether some unit waits only for a place or for time.
    pub(super) fn is_more_to_do(&self) -> bool {
        self.schedule.is_any_ready(&self.units, &|place| state(self.rows[place].status))
    }

    /// Returns whether the current wave has open units. The next wave starts only after the human saw this one.
    fn is_in_wave(&mut self) -> bool {
        if self.wave.iter().any(|index| !self.is_closed(*index)) {
            return true;
        }
        if !self.wave.is_empty() && self.is_more_to_do() {
            self.reached = true;
            return false;
        }
        self.wave = next_wave(&self.units, &|id| self.row(id).map_or(UnitState::Waiting, |row| state(row.status)));
        true
    }

    fn is_closed(&self, index: usize) -> bool {
        matches!(self.rows[index].status, UnitStatus::Done | UnitStatus::Blocked)
    }

    /// Reports a wave when its first unit starts.
    fn report_wave(&mut self, number: u32) {
        if self.begun_waves.insert(number) {
            let open = |row: &&RunUnit| row.wave == number && row.status != UnitStatus::Done;
            let units = self.rows.iter().filter(open).map(|row| row.unit.clone()).collect();
            self.events.push(RunEvent::Wave { number, units });
        }
    }

    fn waits(&self, unit: &TaskId) -> bool {
        self.not_before.get(unit).is_some_and(|until| *until > self.now())
    }

    pub(super) fn agents(&self) -> usize {
        self.live.values().filter(|live| live.phase == Phase::Agent).count()
    }

    /// Pauses the run, because another one works on the unit.
    pub(super) fn wait_for_lease(&mut self, unit: &TaskId, holder: &str, until: Millis) {
        let until = self.context.tasks.moment(until);
        self.pausing = Some(Pausing::Drain(format!("{holder} has a lease on unit {unit} until {until}")));
    }

    fn start(&mut self, index: usize, share: Option<u64>) -> Result<(), RunError> {
        let now = self.now();
        let unit = self.rows[index].unit.clone();
        let leases = match self.lease(index) {
            Ok(leases) => leases,
            Err(RunError::Lease(LeaseError::Held { holder, until })) => {
                self.wait_for_lease(&unit, &holder, until);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let host = self.run.host;
        let new = NewDispatch { run: &self.run.id, unit: &unit, host, session: None };
        let dispatch = self.ledger.begin_dispatch(new, now)?;
        let tokens = leases.iter().map(|lease| (lease.task.clone(), lease.token)).collect();
        let worktrees = &self.context.worktrees;
        let (branch, directory) = (worktrees.unit_branch(unit.as_str()), worktrees.unit_folder(unit.as_str()));
        self.change(&unit, |row| {
            row.status = UnitStatus::Running;
            row.attempts = row.attempts.saturating_add(1);
            row.branch = Some(branch);
            row.directory = Some(directory.to_string_lossy().into_owned());
            row.leases = tokens;
            row.note = None;
        })?;
        if let Some(lease) = leases.iter().find(|lease| lease.task == unit) {
            let to = StatusChange { to: Status::InProgress, reason: None, fence: Some(lease.fence()), now };
            self.ledger.set_status(&self.run.plan, &unit, to)?;
        }
        let row = self.rows[index].clone();
        self.report_wave(row.wave);
        self.events.push(RunEvent::Started { unit: unit.clone(), attempt: row.attempts });
        let before: Before =
            row.last_failure.as_deref().and_then(|kept| serde_json::from_str(kept).ok()).unwrap_or_default();
        let name = directory_name(&self.context.worktrees.unit_folder(unit.as_str()));
        let job = Job {
            unit: row,
            bring_in: before.bring_in,
            before,
            share,
            spent: self.folder.join(format!("{name}.spent")),
            log: self.folder.join(format!("{name}.log")),
        };
        let stop = Arc::new(AtomicBool::new(self.stop.load(Ordering::Relaxed)));
        let thread = thread::Builder::new().name(format!("unit {unit}")).spawn({
            let (context, stop, tell) = (Arc::clone(&self.context), Arc::clone(&stop), self.tell.clone());
            move || work(&context, job, &stop, &tell)
        });
        self.watch_over(thread.map_err(RunError::Thread)?);
        self.activity.insert(unit.clone(), Activity { doing: "starts".to_owned(), ..Activity::default() });
        let live = Live {
            dispatch,
            began: Instant::now(),
            phase: Phase::Agent,
            share,
            spent: steadfast_model::Spent::default(),
            turns: 0,
            unsaved: false,
            over_budget: false,
            stop,
            leases,
            plan: None,
        };
        self.live.insert(unit, live);
        Ok(())
    }

    /// Leases all open tasks of a unit for this run.
    pub(in crate::run) fn lease(&mut self, index: usize) -> Result<Vec<steadfast_store::ledger::Lease>, RunError> {
        let now = self.now();
        let mut open = Vec::new();
        for task in &self.rows[index].tasks {
            if self.ledger.task(&self.run.plan, task)?.status != Status::Done {
                open.push(task.clone());
            }
        }
        let holder = self.run.id.to_string();
        Ok(self.ledger.acquire_leases(&self.run.plan, &open, &holder, LEASE_MS, now)?)
    }
}

pub(super) fn state(status: UnitStatus) -> UnitState {
    match status {
        UnitStatus::Done => UnitState::Done,
        UnitStatus::Blocked => UnitState::Blocked,
        UnitStatus::Running | UnitStatus::Merging => UnitState::Running,
        UnitStatus::Waiting => UnitState::Waiting,
    }
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

fn directory_name(folder: &std::path::Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
