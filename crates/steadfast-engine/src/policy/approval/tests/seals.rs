use super::*;

fn broken() -> Facts {
    let seal = vec![SealBreak::new(".tdd-progress.md", SealChange::Changed)];
    Facts { seal, ..behind(gate()) }
}

fn restores(decision: &PolicyDecision) -> bool {
    decision.effects.contains(&Effect::Restore { scope: gate().scope, path: ".tdd-progress.md".into() })
}

fn leaves(decision: &PolicyDecision) -> bool {
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
        Some("The plan is not approved. `.tdd-progress.md` was changed while the plan gate is closed.")
    );
    assert_eq!(
        after.answer.note.as_deref(),
        Some(
            "While the plan gate is closed, `.tdd-progress.md` was changed; a process of the agent could have done it."
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

/// What changed, and what the process table says.
fn broken_while(running: Fact<bool>) -> Facts {
    Facts { running, ..broken() }
}

fn unread() -> Fact<bool> {
    Fact::Unknown("no process table".into())
}

#[test]
fn what_a_process_of_the_agent_could_have_written_is_put_back() {
    let left = Facts { running: Fact::Known(true), ..behind(gate()) };
    let make = Action::shell("make");
    let mut state = gated();
    go(&mut state, &pre("1", make.clone()), &behind(gate()));
    go(&mut state, &post("1", make), &left);
    assert!(state.gate.as_ref().unwrap().running);
    // It runs, or has ended since the last look.
    assert!(restores(&decide(&state, &typed("go on"), &broken_while(Fact::Known(true)))));
    assert!(restores(&go(&mut state, &typed("go on"), &broken_while(Fact::Known(false)))));
    // It was gone at the last look: what changed since is no agent's.
    assert!(leaves(&decide(&state, &typed("go on"), &broken_while(Fact::Known(false)))));
    // One from before the gate closed is seen with its first look.
    assert!(restores(&decide(&fresh(), &typed("go on"), &broken_while(Fact::Known(true)))));
}

#[test]
fn where_it_is_not_known_who_wrote_the_sealed_content_stays_and_the_human_is_told() {
    let decision = decide(&gated(), &typed("go on"), &broken_while(unread()));
    assert!(restores(&decision));
    assert!(decision.answer.note.unwrap().contains("Steadfast does not know whether the agent did it"));
    // What a service runs for the agent is no process of the agent's.
    for command in
        ["echo ./later.sh | at now + 1 minute", "systemd-run --user ./later.sh", "docker run -d -v .:/w image"]
    {
        let mut state = gated();
        go(&mut state, &pre("1", Action::shell(command)), &behind(gate()));
        go(&mut state, &post("1", Action::shell(command)), &behind(gate()));
        let decision = decide(&state, &typed("go on"), &broken_while(Fact::Known(false)));
        assert!(restores(&decision), "{command}");
        assert!(decision.answer.note.unwrap().contains("does not know"), "{command}");
    }
    for command in ["docker run --rm image", "make; cat < notes", "./at-work.sh"] {
        let mut state = gated();
        go(&mut state, &pre("1", Action::shell(command)), &behind(gate()));
        go(&mut state, &post("1", Action::shell(command)), &behind(gate()));
        assert!(leaves(&decide(&state, &typed("go on"), &broken_while(Fact::Known(false)))), "{command}");
    }
}

#[test]
fn the_process_table_is_looked_at_behind_calls_and_while_something_runs() {
    let looks = |state: &State, event: &Event| Approval.needs(state, &ParsedEvent::of(event)).running;
    let mut busy = gated();
    busy.gate.as_mut().unwrap().running = true;
    assert!(looks(&gated(), &post("1", Action::shell("make"))));
    assert!(!looks(&gated(), &pre("1", Action::shell("make"))) && looks(&busy, &pre("1", Action::shell("make"))));
    assert!(!looks(&gated(), &post("1", Action::shell("ls"))) && looks(&busy, &post("1", Action::shell("ls"))));
    // What it may have left in the tree is looked at with it.
    assert!(Approval.needs(&busy, &ParsedEvent::of(&post("1", Action::shell("sleep 4")))).tree);
    // At an open gate nothing waits for it.
    assert!(!looks(&fresh(), &post("1", Action::shell("make"))) && !looks(&fresh(), &typed("go on")));
}

#[test]
fn a_subagents_call_is_open_until_it_is_back_whatever_the_main_thread_does() {
    let make = || Action::shell("make");
    let mut state = gated();
    state.apply(&Change::SubagentStarted(by("x", stop()).agent.unwrap().id));
    go(&mut state, &by("x", pre("1", make())), &behind(gate()));
    go(&mut state, &stop(), &behind(gate()));
    go(&mut state, &typed("go on"), &behind(gate()));
    assert!(restores(&decide(&state, &by("x", post("1", make())), &broken())));
    go(&mut state, &by("x", post("1", make())), &behind(gate()));
    assert!(leaves(&decide(&state, &typed("go on"), &broken())));
    // Its end ends its calls, and so does a host that says that no agent runs any more.
    go(&mut state, &by("x", pre("2", make())), &behind(gate()));
    let mut told = state.clone();
    let none = event(EventKind::Stop(Stopping { background: Some(Vec::new()), ..stopping() }));
    go(&mut told, &none, &behind(gate()));
    go(&mut state, &by("x", event(EventKind::SubagentStop(stopping()))), &behind(gate()));
    assert!([told, state].iter().all(|state| state.gate.as_ref().unwrap().agent_calls.is_empty()));
}

#[test]
fn a_program_looks_by_its_place_and_not_by_its_name() {
    let is_open = |command: &str| {
        let mut state = gated();
        go(&mut state, &pre("1", Action::shell(command)), &behind(gate()));
        !state.gate.unwrap().calls.is_empty()
    };
    for command in [
        "script/test",
        "bin/tree",
        "./ls",
        "PATH=$PWD/b:$PATH ls",
        "export PATH=b; ls",
        "alias ls=./w; ls",
        "hash -p ./w ls; ls",
        "/tmp/bin/ls",
        "/bin/../tmp/ls",
        "rg --pre ./w x",
        "sort --compress-program=./w x",
        "sed -n '1e ./w' x",
        "sed 's/a/b/e' x",
        "git diff --ext-diff",
        "GIT_EXTERNAL_DIFF=./w git diff",
        "find . -exec ./w {} ;",
    ] {
        assert!(is_open(command), "{command}");
    }
    for command in [
        "ls -l",
        "/bin/ls",
        "/usr/bin/test -f x",
        "tree src",
        "grep -rn x src | head -3",
        "git log -3",
        "sed -n 1,20p a.txt",
    ] {
        assert!(!is_open(command), "{command}");
    }
}

#[test]
fn what_could_not_be_put_back_is_still_the_agents() {
    let seal = vec![SealBreak { cause: SealCause::Stuck, ..broken().seal[0].clone() }];
    let facts = Facts { seal, running: Fact::Known(false), ..behind(gate()) };
    assert!(restores(&decide(&gated(), &typed("go on"), &facts)));
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
    let one = |number: usize| SealBreak::new(format!("src/{number:02}"), SealChange::Changed);
    Facts { tree: Fact::Known((0..paths).map(one).collect()), ..behind(gate()) }
}

fn too_slow() -> Facts {
    Facts { tree: Fact::Unknown("no answer within 120 ms".into()), ..behind(gate()) }
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
    let looks = |state: &State, event: &Event| Approval.needs(state, &ParsedEvent::of(event)).tree;
    let unknown = [Action::shell("make"), Action::shell("./x.sh"), Action::shell("rm -rf $X"), Action::Other];
    let known = [Action::shell("ls; cat x > notes.md"), Action::shell("grep -rn x ."), write("notes.md")];
    let both = |action: Action| [pre("1", action.clone()), post("1", action)].map(|event| looks(&gated(), &event));
    assert_eq!(unknown.map(both), [[true; 2]; 4]);
    assert_eq!(known.map(both), [[false; 2]; 3]);
    let ended = by("x", event(EventKind::SubagentStop(stopping())));
    assert_eq!([typed("go on"), stop(), ended.clone()].map(|event| looks(&gated(), &event)), [true; 3]);
    // Where no gate is known to stand, no call waits for it, and nothing more is looked for.
    assert!(!looks(&fresh(), &pre("1", Action::shell("make"))));
    assert_eq!(Approval.needs(&fresh(), &ParsedEvent::of(&ended)), Needs::default());
}

#[test]
fn what_a_call_changed_in_the_tree_is_put_back_and_what_was_there_before_it_is_left() {
    let [restore, reseal] = first_in_tree();
    let mut state = gated();
    let before = go(&mut state, &pre("1", Action::shell("make")), &in_tree(1));
    assert!(before.effects.contains(&reseal) && before.answer.note.is_some());
    let after = go(&mut state, &post("1", Action::shell("make")), &in_tree(1));
    assert!(after.effects.contains(&restore));
    assert!(after.answer.context.unwrap().contains("`src/00` was changed while"));
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
        let one = |number| SealBreak::new(format!("{number:02}"), SealChange::Changed);
        Facts { seal: (0..count).map(one).collect(), ..behind(gate()) }
    };
    let is_restored = |decision: &PolicyDecision| matches!(decision.effects[0], Effect::Restore { .. });
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

#[test]
fn changes_of_the_human_are_not_stashed_away() {
    let stashing = |command: &str| {
        let event = pre("1", Action::shell(command));
        let asks = Approval.needs(&gated(), &ParsedEvent::of(&event)).uncommitted;
        let facts = Facts { uncommitted: vec!["src/a.rs".into()], ..behind(gate()) };
        (asks, refusal(&decide(&gated(), &event, &facts)).is_some())
    };
    for command in ["git stash", "git stash -u", "git stash push -m wip", "git stash save wip", "git -C . stash --all"]
    {
        assert_eq!(stashing(command), (true, true), "{command}");
    }
    for command in ["git stash list", "git stash push -- README.md", "git stash pop", "git status", "echo git stash"] {
        assert_eq!(stashing(command), (false, false), "{command}");
    }
    // Where none are, nothing is in the way.
    assert!(refusal(&decide(&gated(), &pre("1", Action::shell("git stash")), &behind(gate()))).is_none());
}
