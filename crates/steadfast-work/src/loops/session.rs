//! Binding of sessions to a loop, and the limits of a loop.

use steadfast_hook::is_gone;
use steadfast_model::{Loop, LoopLimits, LoopView, Millis, OwnerEnd};
use steadfast_plan::loop_view;
use steadfast_store::SessionFiles;

use super::{LoopError, Loops};
use crate::Caller;
use crate::error::WorkError;

/// The rule for another session that is bound to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingRule {
    /// It stays bound while it is alive.
    UnlessHeld,
    /// It is released: the session that moves the loop works on it now.
    TakeOver,
}

impl Loops<'_> {
    /// Sets the limits of the loop's sessions. An agent cannot raise them.
    pub fn limit(&mut self, caller: &Caller, looped: &Loop, limits: LoopLimits) -> Result<Loop, WorkError> {
        let LoopLimits { iterations, micro_usd } = looped.limits;
        let is_more = exceeds(limits.iterations, iterations) || exceeds(limits.micro_usd, micro_usd);
        if caller.is_agent() && is_more {
            return Err(LoopError::RaisedByAgent.into());
        }
        self.set_limits(looped, limits)
    }

    /// Sets the limits when a loop starts.
    pub fn set_limits(&mut self, looped: &Loop, limits: LoopLimits) -> Result<Loop, WorkError> {
        self.ledger.limit_loop(&looped.id, limits, self.now())?;
        // After a raise the loop may continue.
        if !limits.is_reached(looped) {
            self.ledger.keep_waiting(&looped.id, None)?;
        }
        self.written(&looped.id)
    }

    /// Binds the session of this call to the loop, so that the stop gate applies from the stage after intent on. A
    /// human's call binds no session, nor does a loop that a run works on.
    pub fn bind(&mut self, caller: &Caller, looped: &Loop, binding: BindingRule) -> Result<(), WorkError> {
        let Some(session) = caller.session.as_ref().filter(|_| caller.is_agent()) else { return Ok(()) };
        let is_bound = looped.session.as_ref() == Some(session);
        if is_bound || looped.run.is_some() || looped.ended.is_some() {
            return Ok(());
        }
        if binding == BindingRule::UnlessHeld && self.is_bound_to_living_session()? {
            return Ok(());
        }
        Ok(self.ledger.bind_loop(&looped.id, session)?)
    }

    /// The unfinished loop of this checkout, as a session sees it.
    pub fn view(&self) -> Result<Option<LoopView>, WorkError> {
        let Some(found) = self.ledger.unfinished_with_counts(&self.worktree)? else { return Ok(None) };
        let mut view = loop_view(&found.looped, &self.reviews(&found.looped)?, found.counts, found.session_ended);
        if let (Some(session), None) = (&view.session, &view.session_ended) {
            let files = SessionFiles::of(&self.repository.place, session);
            if is_gone(&files) {
                let at = files.peek().map_or(Millis(0), |state| state.last_at);
                view.session_ended = Some(OwnerEnd { reason: OwnerEnd::SILENT.into(), at });
            }
        }
        Ok(Some(view))
    }

    /// Returns true if a session that is bound to the unfinished loop is still alive.
    fn is_bound_to_living_session(&self) -> Result<bool, WorkError> {
        Ok(self.view()?.is_some_and(|view| view.session.is_some() && view.session_ended.is_none()))
    }
}

/// `None` is no limit, so it is more than any number.
fn exceeds<T: Ord>(new: Option<T>, old: Option<T>) -> bool {
    match (new, old) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(new), Some(old)) => new > old,
    }
}
