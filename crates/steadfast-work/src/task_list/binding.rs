//! The sessions that work on a plan. The journal of a session has its bindings; the ledger has the last session of a
//! plan.

use steadfast_hook::{handle_event, is_silent};
use steadfast_model::{BindingWord, Event, EventKind, Leased, PlanId, SessionId, State, Status, Task};
use steadfast_store::ledger::{Claiming, Taken};
use steadfast_store::{SessionFiles, log_line};

use super::TaskList;
use super::error::{PlanError, TaskError};
use crate::error::{WorkError, chain};

impl TaskList {
    /// Binds the session of the caller to a plan whose tasks it changes.
    pub(super) fn take(&mut self, plan: &PlanId, claiming: Claiming<'_>) -> Result<(), WorkError> {
        let Some(session) = self.caller.session.clone() else { return Ok(()) };
        let taken = self.ledger.take_plan(plan, &session, claiming, self.now())?;
        let known = SessionFiles::of(&self.repository.place, &session).peek();
        let is_new = known.filter(|state| !state.binding.plans.contains(plan));
        if let (Taken::Yes | Taken::Already, Some(state)) = (taken, is_new) {
            self.bind_or_log(&state, BindingWord::Taken(plan.clone()));
        }
        Ok(())
    }

    /// Binds the sessions of a plan to its new id after it was loaded again.
    pub(super) fn rebind(&self, before: &PlanId, after: &PlanId) {
        let bound = |state: &State| state.binding.plans.contains(before) && !state.binding.plans.contains(after);
        for state in self.sessions().filter(bound) {
            self.bind_or_log(&state, BindingWord::Taken(after.clone()));
        }
    }

    /// Ends the bindings of all sessions that work on the plan of this worktree, and returns these sessions.
    pub fn release(&self) -> Result<Vec<SessionId>, WorkError> {
        let Some(plan) = self.view()? else { return Err(PlanError::NoPlan.into()) };
        let mut released = Vec::new();
        for state in self.sessions().filter(|state| state.is_bound(&plan)) {
            self.tell_binding(&state, BindingWord::Released(plan.id.clone()))?;
            released.push(state.session);
        }
        Ok(released)
    }

    /// The other living session that has started the task.
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

    /// Refuses to take over a task from another session.
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

    fn bind_or_log(&self, state: &State, word: BindingWord) {
        if let Err(error) = self.tell_binding(state, word) {
            let line = format!("cannot tell session {} about its plan: {}", state.session, chain(&error));
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
