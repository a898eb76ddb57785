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

/// What a look at the tree found.
fn in_tree(paths: usize) -> Facts {
    let one = |number: usize| SealBreak { path: format!("src/{number:02}"), what: SealChange::Changed };
    Facts { tree: Fact::Known((0..paths).map(one).collect()), ..behind(gate()) }
}

fn too_slow() -> Facts {
    Facts { tree: Fact::Unknown("over its time budget of 120 ms".into()), ..behind(gate()) }
}

fn first_in_tree() -> [Effect; 2] {
    let (scope, path) = (gate().scope, "src/00".to_owned());
    [Effect::Restore { scope: scope.clone(), path: path.clone() }, Effect::Reseal { scope, path }]
}

fn stopping() -> Stopping {
    Stopping { again: false, last_message: None, background: None, wakeups: 0 }
}

fn stop() -> Event {
    event(EventKind::Stop(stopping()))
}

#[test]
fn the_tree_is_looked_at_around_calls_that_may_do_anything_and_where_there_is_time() {
    let looks = |state: &State, event: &Event| Approval.needs(state, &Heard::of(event)).tree;
    let unknown = [Action::shell("make"), Action::shell("./x.sh"), Action::shell("rm -rf $X"), Action::Other];
    let known = [Action::shell("ls; cat x > notes.md"), Action::shell("grep -rn x ."), write("notes.md")];
    let both = |action: Action| [pre("1", action.clone()), post("1", action)].map(|event| looks(&gated(), &event));
    assert_eq!(unknown.map(both), [[true; 2]; 4]);
    assert_eq!(known.map(both), [[false; 2]; 3]);
    let ended = by("x", event(EventKind::SubagentStop(stopping())));
    assert_eq!([typed("go on"), stop(), ended.clone()].map(|event| looks(&gated(), &event)), [true; 3]);
    // Where no gate is known to stand, no call waits for it, and nothing more is looked for.
    assert!(!looks(&fresh(), &pre("1", Action::shell("make"))));
    assert_eq!(Approval.needs(&fresh(), &Heard::of(&ended)), Needs::default());
}

#[test]
fn what_a_call_changed_in_the_tree_is_put_back_and_what_was_there_before_it_is_left() {
    let [restore, reseal] = first_in_tree();
    let mut state = gated();
    let before = go(&mut state, &pre("1", Action::shell("make")), &in_tree(1));
    assert!(before.effects.contains(&reseal) && before.answer.note.is_some());
    let after = go(&mut state, &post("1", Action::shell("make")), &in_tree(1));
    assert!(after.effects.contains(&restore));
    assert!(after.answer.context.unwrap().contains("`src/00` was changed, and put back as it was"));
    assert!(decide(&state, &stop(), &in_tree(1)).effects.contains(&reseal));
}

#[test]
fn what_nobody_saw_after_a_call_is_the_calls_when_it_is_found_at_the_stop() {
    let [restore, reseal] = first_in_tree();
    let mut state = gated();
    go(&mut state, &pre("1", Action::shell("make")), &in_tree(0));
    go(&mut state, &post("1", Action::shell("make")), &too_slow());
    assert!(state.gate.as_ref().unwrap().unseen);
    // Nor is it forgotten by a stop that had no time either.
    go(&mut state, &stop(), &too_slow());
    assert!(go(&mut state, &typed("go on"), &in_tree(1)).effects.contains(&restore));
    assert!(!state.gate.as_ref().unwrap().unseen);
    assert!(go(&mut state, &typed("go on"), &in_tree(1)).effects.contains(&reseal));
    // Where nothing of the agent's ran, there is nothing to have missed.
    go(&mut state, &stop(), &too_slow());
    assert!(!state.gate.unwrap().unseen);
}

#[test]
fn of_very_much_the_agents_is_put_back_step_by_step_and_a_humans_is_left_at_once() {
    let [restore, _] = first_in_tree();
    let mut state = gated();
    go(&mut state, &pre("1", Action::shell("make")), &in_tree(0));
    go(&mut state, &post("1", Action::shell("make")), &in_tree(SealBreak::AT_ONCE));
    assert!(go(&mut state, &stop(), &in_tree(SealBreak::AT_ONCE)).effects.contains(&restore));
    assert!(go(&mut state, &typed("go on"), &in_tree(2)).effects.contains(&restore));
    let left = go(&mut state, &typed("go on"), &in_tree(SealBreak::AT_ONCE));
    assert_eq!(left.effects, [Effect::ResealTree { scope: gate().scope }]);
}

#[test]
fn what_a_hook_could_not_put_back_in_its_time_is_still_the_agents() {
    let all = |count: usize| {
        let one = |number| SealBreak { path: format!("{number:02}"), what: SealChange::Changed };
        Facts { seal: (0..count).map(one).collect(), ..behind(gate()) }
    };
    let is_restored = |decision: &Decision| matches!(decision.effects[0], Effect::Restore { .. });
    let mut state = gated();
    go(&mut state, &pre("1", Action::shell("make")), &behind(gate()));
    assert!(is_restored(&go(&mut state, &post("1", Action::shell("make")), &all(64))));
    assert!(is_restored(&go(&mut state, &typed("go on"), &all(10))), "the hook was ended over the others");
    assert!(!is_restored(&go(&mut state, &typed("go on"), &all(10))));
}

#[test]
fn what_is_found_singly_and_in_the_tree_is_told_together() {
    let mut state = gated();
    go(&mut state, &pre("1", Action::shell("make")), &behind(gate()));
    let facts = Facts { seal: broken().seal, ..in_tree(1) };
    let said = go(&mut state, &post("1", Action::shell("make")), &facts).answer.context.unwrap();
    assert!(said.contains("`.tdd-progress.md` was changed") && said.contains("`src/00` was changed"), "{said}");
}
