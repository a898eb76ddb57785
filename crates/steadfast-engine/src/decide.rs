use steadfast_model::{
    Answer, Change, Direction, Effect, Event, EventKind, Facts, Mode, Needs, PolicyName, PolicyOpinion, Ruling, State,
    Verdict,
};

use crate::{POLICIES, ParsedEvent, claim, forged, goal, human_line, repeat, scheduled, session_changes};

/// The result of one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyDecision {
    pub opinions: Vec<PolicyOpinion>,
    pub answer: Answer,
    pub changes: Vec<Change>,
    pub effects: Vec<Effect>,
    /// Effects that follow from the event and from this decision, not from a policy. The journal does not store them.
    pub upkeep: Vec<Effect>,
}

/// Returns the facts that [`decide`] requires. A caller of both parses the event once, as a [`ParsedEvent`].
pub fn needs(state: &State, event: &Event) -> Needs {
    ParsedEvent::of(event).needs(state)
}

/// Decides how to answer an event, and which changes and effects follow.
///
/// The policies run in their order, each with the same state and facts. The strictest verdict wins.
pub fn decide(state: &State, event: &Event, facts: &Facts) -> PolicyDecision {
    ParsedEvent::of(event).decide(state, facts)
}

impl ParsedEvent<'_> {
    /// Returns the facts that `decide` requires.
    pub fn needs(&self, state: &State) -> Needs {
        if repeat::earlier_answer(state, self).is_some() || matches!(self.kind, EventKind::Forged(_)) {
            return Needs::default();
        }
        POLICIES.iter().map(|policy| policy.needs(state, self)).fold(goal::needs(state, self), Needs::and)
    }

    pub fn decide(&self, state: &State, facts: &Facts) -> PolicyDecision {
        let event = self;
        if let EventKind::Forged(sent) = &event.kind {
            return forged::record(sent);
        }
        if let Some(answer) = repeat::earlier_answer(state, event) {
            return PolicyDecision {
                changes: repeat::changes_of_repeat(state, event),
                answer,
                ..PolicyDecision::default()
            };
        }

        let mut decision = PolicyDecision {
            changes: session_changes::of_event(state, event, facts),
            effects: claim::effects(event),
            ..PolicyDecision::default()
        };
        // Policies see the state after this event: a human's prompt resets the stop gate before the gate judges it.
        let mut state = state.clone();
        for change in &decision.changes {
            state.apply(change);
        }
        decision.effects.extend(goal::refining(&state, event, &decision.changes));

        let mut lines = Vec::new();
        for policy in POLICIES {
            let judgement = policy.judge(&state, event, facts);
            let mode = if state.is_paused(event.at) { Mode::Observe } else { policy.mode(&state.rules) };
            decision.changes.extend(judgement.changes);
            decision.effects.extend(judgement.effects.into_iter().filter(|effect| !effect.is_forbidden_in(mode)));
            if let Some(aside) = judgement.aside {
                decision.answer.add(apply_mode(Verdict::Context(aside), mode), policy.direction());
            }
            if let Some(note) = judgement.note {
                decision.answer.add(apply_mode(Verdict::Note(note), mode), policy.direction());
            }
            if mode != Mode::Observe {
                lines.extend(judgement.line.clone().map(|line| human_line::counted(&state, line, judgement.count)));
            }
            if judgement.verdict == Verdict::Pass {
                continue;
            }
            let told = match (&judgement.verdict, judgement.line, mode) {
                // As the human's own line says it already.
                (Verdict::Continue { .. }, Some(_), Mode::Advise) => Verdict::Pass,
                (Verdict::Continue { reason }, _, _) => {
                    Verdict::Continue { reason: human_line::counted(&state, reason.clone(), judgement.count) }
                }
                (verdict, _, _) => verdict.clone(),
            };
            decision.answer.add(apply_mode(told, mode), policy.direction());
            let verdict = match (judgement.verdict, judgement.count) {
                (Verdict::Continue { reason }, Some(count)) => {
                    Verdict::Continue { reason: human_line::with_count(&reason, count) }
                }
                (verdict, _) => verdict,
            };
            decision.opinions.push(PolicyOpinion { policy: policy.name(), mode, verdict });
        }
        if let Some(told) = scheduled::note(&state, event) {
            let mode = if state.is_paused(event.at) { Mode::Observe } else { Mode::Enforce };
            decision.answer.add(apply_mode(Verdict::Note(told.clone()), mode), Direction::Advice);
            decision.opinions.push(PolicyOpinion { policy: PolicyName::Approval, mode, verdict: Verdict::Note(told) });
        }
        if let Some(told) = forged::note(&state, event) {
            let mode = if state.is_paused(event.at) { Mode::Observe } else { state.rules.integrity };
            decision.answer.add(apply_mode(Verdict::Note(told), mode), Direction::Advice);
            decision.changes.push(Change::ForgedTold);
        }
        if !state.attended {
            decision.answer.ruling = deny_without_human(decision.answer.ruling);
        }

        human_line::tell(&state, event, &mut decision, lines);
        decision.changes.extend(repeat::remember(&state, event, &decision.answer));
        decision.changes.extend(session_changes::close(event, &decision.answer));
        decision.upkeep = session_changes::upkeep(event, facts, &decision);
        decision
    }
}

/// Weakens a verdict to what the mode of its policy allows.
fn apply_mode(verdict: Verdict, mode: Mode) -> Verdict {
    match (mode, verdict) {
        (Mode::Observe, _) => Verdict::Pass,
        (Mode::Advise, Verdict::Deny { reason } | Verdict::Ask { reason }) => Verdict::Context(reason),
        // As text for the agent at its stop, this would keep the agent going.
        (Mode::Advise, Verdict::Continue { reason }) => Verdict::Note(reason),
        (Mode::Advise | Mode::Enforce, verdict) => verdict,
    }
}

/// Without a human to ask, a question becomes a refusal.
fn deny_without_human(ruling: Ruling) -> Ruling {
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
        let tied = |mode| all.clone().map(|verdict| apply_mode(verdict, mode));
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
        assert_eq!(deny_without_human(ask), Ruling::Deny { reason: "r".into() });
        assert_eq!(
            deny_without_human(Ruling::Continue { reason: "r".into() }),
            Ruling::Continue { reason: "r".into() }
        );
    }
}
