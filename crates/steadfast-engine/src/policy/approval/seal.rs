//! What really changed, whatever the calls looked like.
//!
//! A break that is seen while a call of the agent's runs that may write, or behind one that left something running, is
//! the agent's, and is mended. Any other is somebody's own work (an editor, a pull): it is left, and told.

use steadfast_model::{Action, Change, Effect, SealBreak, ToolCall, ToolResult, Verdict};

use super::super::Judgement;
use super::{Closed, channel, text, write};

impl Closed<'_> {
    /// A call is about to run.
    pub(super) fn before_call(&self, call: &ToolCall) -> Judgement {
        let mut judgement = match &call.action {
            Action::Ask => self.asks(call).unwrap_or_default(),
            Action::LeavePlan => self.leaves(call),
            _ => self.writes(call),
        };
        let seen = self.mend(self.is_agents());
        join(&mut judgement, seen);
        let runs = !matches!(judgement.verdict, Verdict::Deny { .. });
        if let Some(id) = call.id.clone().filter(|_| runs && !channel::is_channel(&call.action))
            && let Some(background) = write::may_write(&call.action, &self.event.cwd)
        {
            judgement.changes.push(Change::CallOpened { call: id, background });
        }
        judgement
    }

    /// A call is back.
    pub(super) fn after_call(&self, result: &ToolResult) -> Judgement {
        let mut judgement = match &result.call.action {
            Action::Ask => self.answered(result),
            Action::LeavePlan => self.left(result),
            _ => None,
        }
        .unwrap_or_default();
        let seen = self.mend(self.is_agents());
        join(&mut judgement, seen);
        if let Some(id) = &result.call.id
            && self.known.is_some_and(|known| known.calls.contains(id))
        {
            judgement.changes.push(Change::CallClosed(id.clone()));
        }
        judgement
    }

    /// Nothing of the agent's runs in the foreground any more; calls that were interrupted said no farewell.
    pub(super) fn between_calls(&self) -> Judgement {
        let mut judgement = self.mend(self.is_agents());
        let open = self.known.iter().flat_map(|known| &known.calls);
        judgement.changes.extend(open.cloned().map(Change::CallClosed));
        judgement
    }

    /// Whether what changed since the last look is the agent's doing.
    fn is_agents(&self) -> bool {
        self.known.is_some_and(|known| known.background || !known.calls.is_empty())
    }

    fn mend(&self, is_agents: bool) -> Judgement {
        let broken: &[SealBreak] = &self.facts.seal;
        if broken.is_empty() {
            return Judgement::default();
        }
        let scope = || self.gate.scope.clone();
        let effects = broken.iter().map(|SealBreak { path, .. }| {
            let path = path.clone();
            if is_agents { Effect::Restore { scope: scope(), path } } else { Effect::Reseal { scope: scope(), path } }
        });
        let verdict =
            if is_agents { Verdict::Context(text::restored(broken)) } else { Verdict::Note(text::left(broken)) };
        Judgement { verdict, effects: effects.collect(), ..Judgement::default() }
    }
}

/// What was seen, beside what is said of the call. A refusal is not softened by it.
fn join(judgement: &mut Judgement, seen: Judgement) {
    if judgement.verdict == Verdict::Pass {
        judgement.verdict = seen.verdict;
    } else if let (Verdict::Deny { reason }, Verdict::Context(more)) = (&mut judgement.verdict, &seen.verdict) {
        reason.push(' ');
        reason.push_str(more);
    }
    judgement.changes.extend(seen.changes);
    judgement.effects.extend(seen.effects);
}
