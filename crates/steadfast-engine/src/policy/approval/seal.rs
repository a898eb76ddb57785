//! What really changed, whatever the calls looked like.
//!
//! A break that is seen while a call of the agent's runs that may write, or behind one that left something running, is
//! the agent's, and is mended. Any other is somebody's own work (an editor, a pull): it is left, and told.
//!
//! What is sealed as a tree is not looked at each time, and git may take longer than there is. What is found there is the
//! agent's, too, if a call that may have done anything came back since the last look that saw it all.

use steadfast_model::{Action, Change, Effect, Fact, GateState, SealBreak, ToolCall, ToolResult, Verdict};

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
        join(&mut judgement, self.mend());
        let runs = !matches!(judgement.verdict, Verdict::Deny { .. });
        if let Some(id) = call.id.clone().filter(|_| runs && !channel::is_channel(&call.action))
            && let Some(background) = write::may_write(self.event, &call.action)
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
        join(&mut judgement, self.mend());
        if let Some(id) = &result.call.id
            && self.known.is_some_and(|known| known.calls.contains(id))
        {
            judgement.changes.push(Change::CallClosed(id.clone()));
        }
        judgement
    }

    /// Nothing of the agent's runs in the foreground any more; calls that were interrupted said no farewell.
    pub(super) fn between_calls(&self) -> Judgement {
        let mut judgement = self.mend();
        let open = self.known.iter().flat_map(|known| &known.calls);
        judgement.changes.extend(open.cloned().map(Change::CallClosed));
        judgement
    }

    /// What is not as it was sealed, and what is done about it.
    pub(super) fn mend(&self) -> Judgement {
        let is_agents = self.known.is_some_and(GateState::is_agents);
        let unseen = self.known.is_some_and(|known| known.unseen);
        let unmended = self.known.is_some_and(|known| known.unmended);
        let mut judgement = self.mended(&self.facts.seal, is_agents || unmended);
        let still_unmended = (is_agents || unmended) && self.facts.seal.len() > SealBreak::AT_ONCE;
        if still_unmended != unmended {
            judgement.changes.push(Change::Unmended(still_unmended));
        }
        let still_unseen = match &self.facts.tree {
            Fact::NotAsked => return judgement,
            Fact::Unknown(_) => unseen || is_agents,
            Fact::Known(broken) => {
                let (is_agents, more) = (is_agents || unseen, broken.len() >= SealBreak::AT_ONCE);
                let mut seen = self.mended(broken, is_agents);
                if more && !is_agents {
                    seen.effects = vec![Effect::ResealTree { scope: self.gate.scope.clone() }];
                }
                join(&mut judgement, seen);
                more && is_agents
            }
        };
        if still_unseen != unseen {
            judgement.changes.push(Change::TreeUnseen(still_unseen));
        }
        judgement
    }

    fn mended(&self, broken: &[SealBreak], is_agents: bool) -> Judgement {
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
    let Judgement { verdict, changes, effects, aside: _, note: _ } = seen;
    match (&mut judgement.verdict, verdict) {
        (present @ Verdict::Pass, seen) => *present = seen,
        (Verdict::Deny { reason: text }, Verdict::Context(more))
        | (Verdict::Context(text), Verdict::Context(more) | Verdict::Note(more))
        | (Verdict::Note(text), Verdict::Note(more)) => {
            text.push(' ');
            text.push_str(&more);
        }
        (present @ Verdict::Note(_), Verdict::Context(more)) => {
            *present = Verdict::Context(format!("{} {more}", present.text()));
        }
        _ => {}
    }
    judgement.changes.extend(changes);
    judgement.effects.extend(effects);
}
