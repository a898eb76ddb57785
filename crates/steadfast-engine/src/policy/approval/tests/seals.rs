use super::*;

fn broken() -> Facts {
    let seal = vec![SealBreak { path: ".tdd-progress.md".into(), what: SealChange::Changed }];
    Facts { seal, ..behind(gate()) }
}

fn restores(decision: &Decision) -> bool {
    decision.effects.contains(&Effect::Restore { scope: gate().scope, path: ".tdd-progress.md".into() })
}

fn leaves(decision: &Decision) -> bool {
    decision.effects.contains(&Effect::Reseal { scope: gate().scope, path: ".tdd-progress.md".into() })
}

#[test]
fn what_a_call_of_the_agent_changed_is_put_back_at_its_end() {
    let mut state = gated();
    go(&mut state, &pre("1", Action::shell("make")), &behind(gate()));
    let after = go(&mut state, &post("1", Action::shell("make")), &broken());
    assert!(restores(&after));
    assert_eq!(
        after.answer.context.as_deref(),
        Some(
            "The plan is not approved. `.tdd-progress.md` was changed, and put back as it was; what was there is kept \
             aside (`steadfast why` says where)."
        )
    );
    assert_eq!(state.gate.unwrap().calls, []);
}

#[test]
fn what_changed_between_calls_is_somebodys_own_work() {
    let mut state = gated();
    for event in [pre("1", Action::shell("make")), typed("go on")] {
        let decision = decide(&state, &event, &broken());
        assert!(leaves(&decision) && !restores(&decision), "{event:?}");
        assert!(decision.answer.note.unwrap().contains("left as it is"));
    }
    // While it only looked.
    go(&mut state, &pre("1", Action::shell("grep -rn x src")), &behind(gate()));
    assert!(leaves(&go(&mut state, &post("1", Action::shell("grep -rn x src")), &broken())));
}

#[test]
fn what_the_agent_left_running_may_change_it_later() {
    for action in [
        Action::Shell { command: "make watch".into(), background: true },
        Action::shell("nohup ./later.sh >/dev/null 2>&1 &"),
        Action::shell("(./later.sh &)"),
    ] {
        let mut state = gated();
        go(&mut state, &pre("1", action.clone()), &behind(gate()));
        go(&mut state, &post("1", action.clone()), &behind(gate()));
        assert!(restores(&decide(&state, &typed("go on"), &broken())), "{action:?}");
    }
    let mut state = gated();
    let plain = Action::shell("make 2>&1 >&2 && ./run.sh &>/dev/null");
    go(&mut state, &pre("1", plain.clone()), &behind(gate()));
    go(&mut state, &post("1", plain), &behind(gate()));
    assert!(leaves(&decide(&state, &typed("go on"), &broken())));
}

#[test]
fn a_call_that_was_interrupted_is_over_when_the_human_speaks() {
    let mut state = gated();
    go(&mut state, &pre("1", Action::shell("make")), &behind(gate()));
    assert!(restores(&go(&mut state, &typed("stop that"), &broken())), "it may have been the call's");
    assert!(leaves(&decide(&state, &typed("go on"), &broken())));
}

#[test]
fn who_advises_puts_nothing_back() {
    let mut state = gated();
    state.rules.approval_mode = Mode::Advise;
    go(&mut state, &pre("1", Action::shell("make")), &behind(gate()));
    assert!(!restores(&go(&mut state, &post("1", Action::shell("make")), &broken())));
}
