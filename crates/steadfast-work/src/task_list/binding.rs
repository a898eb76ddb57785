//! Which sessions work on a plan. What a session is bound to is in its journal; the ledger has the one that took it last.

use steadfast_hook::{handle_event, is_silent};
use steadfast_model::{BindingWord, Event, EventKind, Leased, PlanId, SessionId, State, Status, Task};
use steadfast_store::ledger::{Claiming, Taken};
use steadfast_store::{SessionFiles, log_line};

use super::TaskList;
use super::error::{PlanError, TaskError};
use crate::error::{WorkError, chain};

impl TaskList {
    /// A session that touches the tasks works on them.
    pub(super) fn take(&mut self, plan: &PlanId, claiming: Claiming<'_>) -> Result<(), WorkError> {
        let Some(session) = self.caller.session.clone() else { return Ok(()) };
        let taken = self.ledger.take_plan(plan, &session, claiming, self.now())?;
        let known = SessionFiles::of(&self.repository.place, &session).peek();
        let is_new = known.filter(|state| !state.binding.plans.contains(plan));
        if let (Taken::Yes | Taken::Already, Some(state)) = (taken, is_new) {
            self.say(&state, BindingWord::Taken(plan.clone()));
        }
        Ok(())
    }

    /// A plan was loaded again and has a new id: who was bound to it still is.
    pub(super) fn rebind(&self, before: &PlanId, after: &PlanId) {
        let bound = |state: &State| state.binding.plans.contains(before) && !state.binding.plans.contains(after);
        for state in self.sessions().filter(bound) {
            self.say(&state, BindingWord::Taken(after.clone()));
        }
    }

    /// Ends the binding of the sessions that work on the plan of this worktree. Which they were.
    pub fn release(&self) -> Result<Vec<SessionId>, WorkError> {
        let Some(plan) = self.view()? else { return Err(PlanError::NoPlan.into()) };
        let mut released = Vec::new();
        for state in self.sessions().filter(|state| state.is_bound(&plan)) {
            self.tell_binding(&state, BindingWord::Released(plan.id.clone()))?;
            released.push(state.session);
        }
        Ok(released)
    }

    /// Whether another living session has started that task.
    pub(super) fn is_leased(&self, task: &Task) -> Result<Option<SessionId>, WorkError> {
        if task.status != Status::InProgress || self.caller.session.is_none() {
            return Ok(None);
        }
        let leased = self.leased(&task.plan)?;
        Ok(leased.into_iter().find(|lease| lease.task == task.id).map(|lease| lease.session))
    }

    /// The tasks that other living sessions have started.
    pub(super) fn leased(&self, plan: &PlanId) -> Result<Vec<Leased>, WorkError> {
        let mut leased = self.ledger.leased_to_others(plan, self.caller.session.as_ref())?;
        leased.retain(|lease| !is_silent(&self.repository.place, &lease.session, self.now()));
        Ok(leased)
    }

    /// A task that another session has started is not taken over.
    pub(super) fn may_start(&self, task: &Task) -> Result<(), WorkError> {
        match self.is_leased(task)? {
            Some(session) => Err(TaskError::Leased { task: task.id.clone(), session }.into()),
            None => Ok(()),
        }
    }

    fn sessions(&self) -> impl Iterator<Item = State> {
        let states: Vec<State> =
            SessionFiles::all(&self.repository.place).iter().filter_map(SessionFiles::peek).collect();
        states.into_iter().filter(|state| state.ended.is_none())
    }

    fn say(&self, state: &State, word: BindingWord) {
        if let Err(error) = self.tell_binding(state, word) {
            let line = format!("session {} was not told of its plan: {}", state.session, chain(&error));
            log_line(&self.repository.place, self.now(), &line);
        }
    }

    fn tell_binding(&self, state: &State, word: BindingWord) -> Result<(), WorkError> {
        let kind = EventKind::Binding(word);
        let event = Event::plain(state.session.clone(), state.host, self.worktree.clone(), self.now(), kind);
        handle_event(&self.repository.place, &self.repository.config, event)?;
        Ok(())
    }
}
