//! A loop in a session: who is bound to it.

use steadfast_hook::is_gone;
use steadfast_model::Loop;
use steadfast_store::SessionFiles;

use super::Loops;
use crate::Caller;
use crate::error::WorkError;

/// What happens to another session that is bound to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// It stays bound while it lives.
    UnlessHeld,
    /// It is released: who moves the loop works on it.
    TakeOver,
}

impl Loops<'_> {
    /// Binds the session of this call to the loop: its stops are held from the stage after intent on. A human's call, and a
    /// loop that a run works on, bind nobody.
    pub fn bind(&mut self, caller: &Caller, looped: &Loop, binding: Binding) -> Result<(), WorkError> {
        let Some(session) = caller.session.as_ref().filter(|_| caller.is_agent()) else { return Ok(()) };
        let is_bound = looped.session.as_ref() == Some(session);
        if is_bound || looped.run.is_some() || looped.ended.is_some() {
            return Ok(());
        }
        if binding == Binding::UnlessHeld && self.is_held(looped)? {
            return Ok(());
        }
        Ok(self.ledger.bind_loop(&looped.id, session)?)
    }

    /// Whether a session that is bound to the loop still lives.
    pub fn is_held(&self, looped: &Loop) -> Result<bool, WorkError> {
        let Some(session) = &looped.session else { return Ok(false) };
        let found = self.ledger.unfinished_with_counts(&self.worktree)?;
        let ended = found.is_some_and(|found| found.session_ended.is_some());
        Ok(!ended && !is_gone(&SessionFiles::of(&self.repository.place, session)))
    }
}
