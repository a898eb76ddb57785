//! A plan that follows an external tracker.

use std::time::Duration;

use steadfast_model::{AddedBy, Status};
use steadfast_store::ledger::{Claiming, PlanRow};

use super::{PlanError, TaskList};
use crate::error::WorkError;
use crate::tracker::{self, COMMAND, TimeBudget, Tracker, TrackerError, TrackerNotice};

impl TaskList {
    /// Updates the plan from its tracker, if it has one. Adds a line for each change, or for the error; the plan stays
    /// as it is in that case.
    pub fn follow(&mut self, time: Duration) {
        let Some((tracker, settings)) = self.tracker() else { return };
        let place = &self.repository.place;
        let patience = TimeBudget::of(time);
        let surroundings = (&settings, self.repository.environment.homes.as_ref());
        match tracker::follow(place, tracker.as_ref(), surroundings, AddedBy::Agent, patience, self.now()) {
            Ok(report) => self.lines.extend(report.lines()),
            Err(error) => self.lines.push(tracker::unread(tracker.as_ref(), &error)),
        }
        self.tracker = Some(tracker);
    }

    /// Loads the tasks of a tracker. A human who does so approves them.
    pub fn load_tracked(&mut self, tracker: Box<dyn Tracker>) -> Result<PlanRow, WorkError> {
        if self.caller.is_agent() && !self.gates().is_empty() {
            return Err(PlanError::GateClosed { name: tracker.name(), source_file: None }.into());
        }
        let settings = self.repository.config.load()?;
        let place = &self.repository.place;
        let patience = TimeBudget::of(COMMAND);
        let surroundings = (&settings, self.repository.environment.homes.as_ref());
        let report = tracker::follow(place, tracker.as_ref(), surroundings, self.caller.by, patience, self.now())
            .map_err(|source| WorkError::Tracker { name: tracker.name(), source })?;
        let source = tracker.source();
        let Some(plan) = self.ledger.plan_of(&self.worktree, &source)? else {
            return Err(PlanError::NothingTracked(tracker.name()).into());
        };
        self.lines.extend(report.lines());
        self.tracker = Some(tracker);
        self.ledger.use_plan(&plan.id, self.caller.by, self.now())?;
        self.join_list(&plan.id)?;
        self.take(&plan.id, Claiming::EvenIfHeld)?;
        self.render_decisions();
        self.approve_loaded(plan.head.hash.as_deref().unwrap_or_default(), &source)?;
        Ok(plan)
    }

    /// The tracker that the settings name. `None` in a run, whose agents work only on their units.
    pub fn named_tracker(&self) -> Option<Box<dyn Tracker>> {
        self.tracker().map(|(tracker, _)| tracker)
    }

    fn tracker(&self) -> Option<(Box<dyn Tracker>, steadfast_model::Settings)> {
        if self.repository.environment.in_run {
            return None;
        }
        // Commands that need the configuration report an unreadable file.
        let settings = self.repository.config.load().ok()?;
        tracker::of(&settings, &self.repository.place, self.now()).map(|tracker| (tracker, settings))
    }

    /// Sends the changed statuses to the tracker. Adds a line for those that could not be sent; they are sent the next
    /// time.
    pub fn tell_tracker(&mut self) {
        let Some(tracker) = &self.tracker else { return };
        let told = || -> Result<TrackerNotice, TrackerError> {
            let Some(plan) = self.ledger.plan_of(&self.worktree, &tracker.source())? else {
                return Ok(TrackerNotice::default());
            };
            tracker::tell(&self.repository.place, tracker.as_ref(), &plan.id, TimeBudget::of(COMMAND))
        };
        match told() {
            // Replace the line from `follow` about unsent statuses.
            Ok(notice) => {
                self.lines.retain(|line| !line.contains(tracker::NOT_TOLD));
                self.lines.extend(notice.lines());
            }
            Err(error) => self.lines.push(format!("cannot send statuses to {}: {error}", tracker.name())),
        }
    }

    /// Takes the lines to print, so that each is printed once.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// The number of open tasks of a plan, and of all its tasks.
    pub fn open_of(&self, plan: &PlanRow) -> Result<(usize, usize), WorkError> {
        let tasks = self.ledger.tasks(&plan.id)?;
        let open = tasks.iter().filter(|task| matches!(task.status, Status::Pending | Status::InProgress)).count();
        Ok((open, tasks.len()))
    }
}
