use steadfast_model::{
    Answer, Change, Direction, Effect, Event, EventKind, Facts, Mode, Needs, PolicyName, PolicyOpinion, Ruling, State,
    Verdict,
};

use crate::{POLICIES, ParsedEvent, claim, forged, goal, repeat, scheduled, session_changes};

/// All that follows from one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyDecision {
    pub opinions: Vec<PolicyOpinion>,
    pub answer: Answer,
    pub changes: Vec<Change>,
    pub effects: Vec<Effect>,
    /// What follows from the event and the rest of the decision whatever the policies say. No journal keeps it.
    pub upkeep: Vec<Effect>,
}

/// What has to be known before [`decide`]. Who asks both has the event [`ParsedEvent`] once.
pub fn needs(state: &State, event: &Event) -> Needs {
    ParsedEvent::of(event).needs(state)
}

/// What to answer, and what that changes.
///
/// Policies are asked in their order, each with the same view of the world; the strictest verdict wins.
pub fn decide(state: &State, event: &Event, facts: &Facts) -> PolicyDecision {
    ParsedEvent::of(event).decide(state, facts)
}

impl ParsedEvent<'_> {
    /// What has to be known before it is decided.
    pub fn needs(&self, state: &State) -> Needs {
        if repeat::answered(state, self).is_some() || matches!(self.kind, EventKind::Forged(_)) {
            return Needs::default();
        }
        POLICIES.iter().map(|policy| policy.needs(state, self)).fold(goal::needs(state, self), Needs::and)
    }

    /// What to answer, and what that changes.
    pub fn decide(&self, state: &State, facts: &Facts) -> PolicyDecision {
        let event = self;
        if let EventKind::Forged(sent) = &event.kind {
            return forged::noted(sent);
        }
        if let Some(answer) = repeat::answered(state, event) {
            return PolicyDecision { changes: repeat::again(state, event), answer, ..PolicyDecision::default() };
        }

        let mut decision = PolicyDecision {
            changes: session_changes::of_event(state, event, facts),
            effects: claim::effects(event),
            ..PolicyDecision::default()
        };
        // Policies judge the session as this event left it: a prompt of the human re-arms the stop gate, then it is asked.
        let mut state = state.clone();
        for change in &decision.changes {
            state.apply(change);
        }
        decision.effects.extend(goal::refining(&state, event, &decision.changes));

        for policy in POLICIES {
            let judgement = policy.judge(&state, event, facts);
            let mode = if state.is_paused(event.at) { Mode::Observe } else { policy.mode(&state.rules) };
            decision.changes.extend(judgement.changes);
            decision.effects.extend(judgement.effects.into_iter().filter(|effect| !effect.is_forbidden_in(mode)));
            if let Some(aside) = judgement.aside {
                decision.answer.add(tie(Verdict::Context(aside), mode), policy.direction());
            }
            if let Some(note) = judgement.note {
                decision.answer.add(tie(Verdict::Note(note), mode), policy.direction());
            }
            if judgement.verdict == Verdict::Pass {
                continue;
            }
            decision.answer.add(tie(judgement.verdict.clone(), mode), policy.direction());
            decision.opinions.push(PolicyOpinion { policy: policy.name(), mode, verdict: judgement.verdict });
        }
        if let Some(told) = scheduled::told(&state, event) {
            let mode = if state.is_paused(event.at) { Mode::Observe } else { Mode::Enforce };
            decision.answer.add(tie(Verdict::Note(told.clone()), mode), Direction::Advice);
            decision.opinions.push(PolicyOpinion { policy: PolicyName::Approval, mode, verdict: Verdict::Note(told) });
        }
        if let Some(told) = forged::told(&state, event) {
            let mode = if state.is_paused(event.at) { Mode::Observe } else { state.rules.integrity };
            decision.answer.add(tie(Verdict::Note(told), mode), Direction::Advice);
            decision.changes.push(Change::ForgedTold);
        }
        if !state.attended {
            decision.answer.ruling = unattended(decision.answer.ruling);
        }

        decision.changes.extend(repeat::remember(&state, event, &decision.answer));
        decision.changes.extend(session_changes::close(event, &decision.answer));
        decision.upkeep = session_changes::upkeep(event, facts, &decision);
        decision
    }
}

/// What is left of a verdict in a policy's mode.
fn tie(verdict: Verdict, mode: Mode) -> Verdict {
    match (mode, verdict) {
        (Mode::Observe, _) => Verdict::Pass,
        (Mode::Advise, Verdict::Deny { reason } | Verdict::Ask { reason }) => Verdict::Context(reason),
        // Said to the agent at its stop, it would keep the agent going.
        (Mode::Advise, Verdict::Continue { reason }) => Verdict::Note(reason),
        (Mode::Advise | Mode::Enforce, verdict) => verdict,
    }
}

/// Nobody is there to be asked.
fn unattended(ruling: Ruling) -> Ruling {
    match ruling {
        Ruling::Ask { reason, falls: Direction::Gate | Direction::Advice } => Ruling::Deny { reason },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observing_says_nothing_and_advising_never_refuses() {
        let reason = || "because".to_owned();
        let all = [
            Verdict::Note(reason()),
            Verdict::Context(reason()),
            Verdict::Ask { reason: reason() },
            Verdict::Continue { reason: reason() },
            Verdict::Deny { reason: reason() },
        ];
        let tied = |mode| all.clone().map(|verdict| tie(verdict, mode));
        assert_eq!(tied(Mode::Observe), [const { Verdict::Pass }; 5]);
        assert_eq!(
            tied(Mode::Advise),
            [
                Verdict::Note(reason()),
                Verdict::Context(reason()),
                Verdict::Context(reason()),
                Verdict::Note(reason()),
                Verdict::Context(reason()),
            ]
        );
        assert_eq!(tied(Mode::Enforce), all);
    }

    #[test]
    fn without_a_human_asking_is_denying() {
        let ask = Ruling::Ask { reason: "r".into(), falls: Direction::Advice };
        assert_eq!(unattended(ask), Ruling::Deny { reason: "r".into() });
        assert_eq!(unattended(Ruling::Continue { reason: "r".into() }), Ruling::Continue { reason: "r".into() });
    }
}
