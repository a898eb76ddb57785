use super::*;

#[test]
fn subagents_that_say_no_farewell_are_not_carried_forever() {
    let mut state = State::new(SessionId::new("s"), Host::Sim, Millis(0));
    for number in 0..1_000 {
        state.apply(&Change::SubagentStarted(AgentId::new(number.to_string())));
    }
    assert_eq!(state.subagents.len(), SUBAGENTS);
    assert_eq!(state.subagents.last(), Some(&AgentId::new("999")));
}

#[test]
fn a_state_with_constraints_is_of_a_version_that_keeps_them() {
    let mut state = State::new(SessionId::new("s"), Host::Sim, Millis(0));
    state.apply(&Change::GoalSet { text: "Mend it".into(), scope: Vec::new(), found: Vec::new() });
    assert_eq!(state.version, PLAIN);
    let constraint =
        Constraint { number: 0, kind: crate::ConstraintKind::Commit, of: Vec::new(), said: "don't commit".into() };
    state.apply(&Change::ConstraintAdded(constraint));
    assert_eq!(state.version, FORBIDDEN);
    state.apply(&Change::MustNots(state.constraints().to_vec()));
    assert_eq!(state.version, STATE_VERSION);
    state.apply(&Change::MustNots(Vec::new()));
    assert_eq!(state.version, FORBIDDEN);
    state.apply(&Change::ConstraintLifted(1));
    assert_eq!(state.version, PLAIN);
}
