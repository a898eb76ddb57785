//! A loop in a session: who is bound to it.

use steadfast_hook::is_gone;
use steadfast_model::{Loop, LoopLimits, LoopView, Millis, OwnerEnd};
use steadfast_plan::loop_view;
use steadfast_store::SessionFiles;

use super::{LoopError, Loops};
use crate::Caller;
use crate::error::WorkError;

/// What happens to another session that is bound to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingRule {
    /// It stays bound while it lives.
    UnlessHeld,
    /// It is released: who moves the loop works on it.
    TakeOver,
}

impl Loops<'_> {
    /// What its sessions may use up from now on. An agent does not give itself more than it has.
    pub fn limit(&mut self, caller: &Caller, looped: &Loop, limits: LoopLimits) -> Result<Loop, WorkError> {
        let LoopLimits { iterations, micro_usd } = looped.limits;
        let is_more = exceeds(limits.iterations, iterations) || exceeds(limits.micro_usd, micro_usd);
        if caller.is_agent() && is_more {
            return Err(LoopError::RaisedByAgent.into());
        }
        self.set_limits(looped, limits)
    }

    /// What its sessions may use up, said as it begins.
    pub fn set_limits(&mut self, looped: &Loop, limits: LoopLimits) -> Result<Loop, WorkError> {
        self.ledger.limit_loop(&looped.id, limits, self.now())?;
        // A limit that was reached may be none any more.
        if !limits.is_reached(looped) {
            self.ledger.keep_waiting(&looped.id, None)?;
        }
        self.written(&looped.id)
    }

    /// Binds the session of this call to the loop: its stops are held from the stage after intent on. A human's call, and a
    /// loop that a run works on, bind nobody.
    pub fn bind(&mut self, caller: &Caller, looped: &Loop, binding: BindingRule) -> Result<(), WorkError> {
        let Some(session) = caller.session.as_ref().filter(|_| caller.is_agent()) else { return Ok(()) };
        let is_bound = looped.session.as_ref() == Some(session);
        if is_bound || looped.run.is_some() || looped.ended.is_some() {
            return Ok(());
        }
        if binding == BindingRule::UnlessHeld && self.is_held()? {
            return Ok(());
        }
        Ok(self.ledger.bind_loop(&looped.id, session)?)
    }

    /// The unfinished loop of this checkout as a session finds it.
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

    /// Whether a session that is bound to the unfinished loop still lives.
    fn is_held(&self) -> Result<bool, WorkError> {
        Ok(self.view()?.is_some_and(|view| view.session.is_some() && view.session_ended.is_none()))
    }
}

/// `None` is more than any number.
fn exceeds<T: Ord>(new: Option<T>, old: Option<T>) -> bool {
    match (new, old) {
        (_, None) => false,
        (None, Some(_)) => true,
        (Some(new), Some(old)) => new > old,
    }
}
