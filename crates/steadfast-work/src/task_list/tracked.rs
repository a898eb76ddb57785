//! A plan that follows a list which is kept elsewhere.

use std::time::Duration;

use steadfast_model::{AddedBy, Status};
use steadfast_store::ledger::{Claiming, PlanRow};

use super::{PlanError, TaskList};
use crate::error::WorkError;
use crate::tracker::{self, COMMAND, TimeBudget, Tracker, TrackerError, TrackerNotice};

impl TaskList {
    /// Brings the plan up to date with the list that its tasks are kept in. What happened there, or why that is not known,
    /// is said: what is known here still holds. Where tasks are kept here, nothing is asked and nothing is said.
    pub fn follow(&mut self, time: Duration) {
        let Some((tracker, settings)) = self.tracker() else { return };
        let place = &self.repository.place;
        let patience = TimeBudget::of(time);
        let surroundings = (&settings, self.repository.environment.homes.as_ref());
        match tracker::follow(place, tracker.as_ref(), surroundings, AddedBy::Agent, patience, self.now()) {
            Ok(report) => self.said.extend(report.lines()),
            Err(error) => self.said.push(tracker::unread(tracker.as_ref(), &error)),
        }
        self.tracker = Some(tracker);
    }

    /// Loads what a list that is kept elsewhere has now: a human who does so has approved it.
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
        self.said.extend(report.lines());
        self.tracker = Some(tracker);
        self.ledger.use_plan(&plan.id, self.caller.by, self.now())?;
        self.join_list(&plan.id)?;
        self.take(&plan.id, Claiming::EvenIfHeld)?;
        self.render_decisions();
        self.approve_loaded(plan.head.hash.as_deref().unwrap_or_default(), &source)?;
        Ok(plan)
    }

    /// The list that the settings name. An agent of a run works on its unit, and on nothing else.
    pub fn named_tracker(&self) -> Option<Box<dyn Tracker>> {
        self.tracker().map(|(tracker, _)| tracker)
    }

    fn tracker(&self) -> Option<(Box<dyn Tracker>, steadfast_model::Settings)> {
        if self.repository.environment.in_run {
            return None;
        }
        // A file that cannot be read is said by whoever needs it.
        let settings = self.repository.config.load().ok()?;
        tracker::of(&settings, &self.repository.place, self.now()).map(|tracker| (tracker, settings))
    }

    /// Tells the list what changed here. What it could not be told is said, and told the next time.
    pub fn tell_tracker(&mut self) {
        let Some(tracker) = &self.tracker else { return };
        let told = || -> Result<TrackerNotice, TrackerError> {
            let Some(plan) = self.ledger.plan_of(&self.worktree, &tracker.source())? else {
                return Ok(TrackerNotice::default());
            };
            tracker::tell(&self.repository.place, tracker.as_ref(), &plan.id, TimeBudget::of(COMMAND))
        };
        match told() {
            // What was not told before was said before.
            Ok(told) => {
                self.said.retain(|said| !said.contains(tracker::NOT_TOLD));
                self.said.extend(told.lines());
            }
            Err(error) => self.said.push(format!("{} was told nothing: {error}", tracker.name())),
        }
    }

    /// What there is to say of the list, once.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    /// How many tasks of a plan are open, and how many there are.
    pub fn open_of(&self, plan: &PlanRow) -> Result<(usize, usize), WorkError> {
        let tasks = self.ledger.tasks(&plan.id)?;
        let open = tasks.iter().filter(|task| matches!(task.status, Status::Pending | Status::InProgress)).count();
        Ok((open, tasks.len()))
    }
}
