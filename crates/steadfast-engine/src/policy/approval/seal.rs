//! Finds the real changes of sealed files, whatever the calls looked like.
//!
//! The author of a break is a matter of evidence ([`Writer`]). If a call or process of the agent could have written
//! since the previous check, the agent did it, and Steadfast restores the file. Otherwise it is the human's own work
//! (an editor, a pull), and Steadfast leaves it. If that is unknown, the sealed content stays in place, and the human
//! hears how to take the other. The human reads about all three on their own channel.
//!
//! Paths that are sealed as a tree are not checked each time, and git may take too long. A break found there is the
//! agent's, too, if a call that may have done anything returned since the previous complete check.

use steadfast_model::{
    Action, Change, Effect, EventKind, Fact, GateState, SealBreak, SealCause, ToolCall, ToolResult, ToolUseId, Verdict,
};

use super::super::Judgement;
use super::{Closed, channel, text, write};

impl Closed<'_> {
    /// Judges a call that is about to run.
    pub(super) fn before_call(&self, call: &ToolCall) -> Judgement {
        let mut judgement = match &call.action {
            Action::Ask => self.ask_own_question(call).unwrap_or_default(),
            Action::LeavePlan => self.on_leaving_plan_mode(call),
            _ => self.judge_write(call),
        };
        join(&mut judgement, self.check_seal());
        let runs = !matches!(judgement.verdict, Verdict::Deny { .. });
        if let Some(id) = call.id.clone().filter(|_| runs && !channel::is_channel(&call.action))
            && let Some(background) = write::may_write(self.event, &call.action)
        {
            let agent = self.event.agent.as_ref().map(|agent| agent.id.clone());
            judgement.changes.push(Change::CallOpened { call: id, background, agent });
            judgement.changes.extend(self.copies().into_iter().map(Change::Copied));
        }
        judgement
    }

    /// Judges a call that has returned.
    pub(super) fn after_call(&self, result: &ToolResult) -> Judgement {
        let mut judgement = match &result.call.action {
            Action::Ask => self.on_answer(result),
            Action::LeavePlan => self.on_left_plan_mode(result),
            _ => None,
        }
        .unwrap_or_default();
        join(&mut judgement, self.check_seal());
        if let Some(id) = &result.call.id
            && self.open_calls().any(|open| open == id)
        {
            judgement.changes.push(Change::CallClosed(id.clone()));
        }
        judgement
    }

    /// Closes the calls of the main thread, none of which runs in the foreground now; interrupted calls do not report
    /// their end. Subagents, with their calls, may continue.
    pub(super) fn between_calls(&self) -> Judgement {
        let mut judgement = self.check_seal();
        let Some(known) = self.known else { return judgement };
        let runs = |agent| self.state.subagents.contains(agent) && !self.says_no_agent_runs();
        let ended = known.agent_calls.iter().filter(|open| !runs(&open.agent)).map(|open| &open.call);
        judgement.changes.extend(known.calls.iter().chain(ended).cloned().map(Change::CallClosed));
        judgement
    }

    /// Closes the calls of a subagent that has ended.
    pub(super) fn subagent_ends(&self) -> Judgement {
        let mut judgement = self.check_seal();
        let (Some(known), Some(agent)) = (self.known, &self.event.agent) else { return judgement };
        let its = known.agent_calls.iter().filter(|open| open.agent == agent.id);
        judgement.changes.extend(its.map(|open| Change::CallClosed(open.call.clone())));
        judgement
    }

    /// Returns true if the host listed the background work at this stop and the list has no agent.
    fn says_no_agent_runs(&self) -> bool {
        let EventKind::Stop(stopping) = &self.event.kind else { return false };
        let Some(background) = &stopping.background else { return false };
        !background.iter().any(|task| task.is_agent() && task.is_running())
    }

    fn open_calls(&self) -> impl Iterator<Item = &ToolUseId> {
        let of_agents = self.known.into_iter().flat_map(|known| &known.agent_calls).map(|open| &open.call);
        self.known.into_iter().flat_map(|known| &known.calls).chain(of_agents)
    }

    /// Returns who could have written since the previous check.
    fn writer(&self) -> Writer {
        let called = self.known.is_some_and(GateState::agent_may_write);
        match (&self.facts.running, self.known) {
            (Fact::Known(true), _) => Writer::Agent,
            _ if called => Writer::Agent,
            // A service that works for the agent is not among the agent's processes.
            (_, Some(known)) if known.background => Writer::Unknown,
            (Fact::Unknown(_), _) => Writer::Unknown,
            (Fact::Known(false) | Fact::NotAsked, _) => Writer::Human,
        }
    }

    /// Compares the files with the seal, and restores or reseals them.
    pub(super) fn check_seal(&self) -> Judgement {
        let writer = self.writer();
        let unseen = self.known.is_some_and(|known| known.unseen);
        let unmended = self.known.is_some_and(|known| known.unmended);
        let at_once = if unmended { Writer::Agent } else { writer };
        let mut judgement = self.judge_breaks(&self.facts.seal, at_once);
        let still_unmended = at_once == Writer::Agent && self.facts.seal.len() > SealBreak::AT_ONCE;
        if still_unmended != unmended {
            judgement.changes.push(Change::Unmended(still_unmended));
        }
        if let (Fact::Known(running), Some(known)) = (&self.facts.running, self.known)
            && *running != known.running
        {
            judgement.changes.push(Change::Running(*running));
        }
        let still_unseen = match &self.facts.tree {
            Fact::NotAsked => return judgement,
            Fact::Unknown(_) => unseen || writer == Writer::Agent,
            Fact::Known(broken) => {
                let (writer, more) = (if unseen { Writer::Agent } else { writer }, broken.len() >= SealBreak::AT_ONCE);
                let mut seen = self.judge_breaks(broken, writer);
                if more && writer == Writer::Human {
                    seen.effects = vec![Effect::ResealTree { scope: self.gate.scope.clone() }];
                }
                join(&mut judgement, seen);
                if more && writer != Writer::Human {
                    let told = text::MORE.to_owned();
                    let note = Some(told.clone());
                    join(&mut judgement, Judgement { verdict: Verdict::Context(told), note, ..Judgement::default() });
                }
                more && writer == Writer::Agent
            }
        };
        if still_unseen != unseen {
            judgement.changes.push(Change::TreeUnseen(still_unseen));
        }
        judgement
    }

    fn judge_breaks(&self, broken: &[SealBreak], writer: Writer) -> Judgement {
        let (stuck, others): (Vec<_>, Vec<_>) =
            broken.iter().cloned().partition(|broken| broken.cause == SealCause::Stuck);
        let (switched, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|broken| broken.cause == SealCause::Checkout);
        let mut judgement = self.judge_breaks_by(&stuck, Writer::Agent);
        join(&mut judgement, self.judge_breaks_by(&others, writer));
        if !switched.is_empty() {
            let reseal =
                |broken: &SealBreak| Effect::Reseal { scope: self.gate.scope.clone(), path: broken.path.clone() };
            let told = text::switched(&switched);
            join(
                &mut judgement,
                Judgement {
                    verdict: Verdict::Context(told.clone()),
                    note: Some(told),
                    effects: switched.iter().map(reseal).collect(),
                    ..Judgement::default()
                },
            );
        }
        judgement
    }

    fn judge_breaks_by(&self, broken: &[SealBreak], writer: Writer) -> Judgement {
        if broken.is_empty() {
            return Judgement::default();
        }
        let (scope, paths) = (&self.gate.scope, broken.iter().map(|broken| broken.path.clone()));
        match writer {
            Writer::Human => Judgement {
                verdict: Verdict::Note(text::left(broken)),
                effects: paths.map(|path| Effect::Reseal { scope: scope.clone(), path }).collect(),
                ..Judgement::default()
            },
            // The effect reports whether restoring succeeded.
            Writer::Agent | Writer::Unknown => Judgement {
                verdict: Verdict::Context(text::broken(broken)),
                note: Some(text::broken_by(broken, writer)),
                effects: paths.map(|path| Effect::Restore { scope: scope.clone(), path }).collect(),
                ..Judgement::default()
            },
        }
    }
}

/// The possible author of a change to a sealed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// A call of the agent, or a process that one of its calls started.
    Agent,
    /// No call and no process of the agent can have written it.
    Human,
    /// The process table cannot be read, or something was handed to a service that is not in it.
    Unknown,
}

/// Adds the judgement of the seal to the judgement of the call. It never weakens a refusal.
fn join(judgement: &mut Judgement, seen: Judgement) {
    let Judgement { verdict, changes, effects, note, .. } = seen;
    match (&mut judgement.note, note) {
        (Some(present), Some(more)) => {
            present.push(' ');
            present.push_str(&more);
        }
        (present @ None, note) => *present = note,
        (Some(_), None) => {}
    }
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
