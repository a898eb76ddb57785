use steadfast_model::Waiting;

use super::*;

fn started_as(role: &str) -> Event {
    Event { role: Some(role.into()), ..event(EventKind::SessionStart { source: StartSource::Startup }) }
}

#[test]
fn a_main_thread_that_is_a_planner_closes_the_gate_and_only_reads() {
    let mut state = fresh();
    let decision = go(&mut state, &started_as("kit:tdd-planner"), &Facts::default());
    assert!(matches!(decision.effects[..], [Effect::CloseGate(_)]), "{decision:?}");
    let as_planner = |action| Event { role: Some("kit:tdd-planner".into()), ..pre("1", action) };
    assert!(is_refused(&state, &as_planner(write("/repo/README.md"))));
    assert!(!is_refused(&state, &as_planner(write("/repo/.steadfast/scratch/draft.md"))));
    // Opened by its human, it is not closed again by a compaction.
    go(&mut state, &event(EventKind::GateOpened(Opening::Rejected)), &Facts::default());
    let compacted = EventKind::SessionStart { source: StartSource::Compact };
    go(&mut state, &Event { kind: compacted, ..started_as("kit:tdd-planner") }, &Facts::default());
    assert_eq!(state.gate, None);
    // Another role closes nothing.
    assert_eq!(decide(&fresh(), &started_as("reviewer"), &Facts::default()).effects, []);
}

#[test]
fn a_planner_whose_start_was_not_told_is_one() {
    let mut state = fresh();
    let said = go(&mut state, &by("tdd-planner", pre("1", write("/repo/README.md"))), &Facts::default());
    assert!(refusal(&said).is_some() && state.gate.is_some());
}

#[test]
fn a_planner_changes_neither_the_repository_nor_what_is_installed() {
    let planner = |command: &str| is_refused(&gated(), &by("tdd-planner", pre("1", Action::shell(command))));
    for command in [
        "git commit -qm x",
        "git -C . commit -m x",
        "git tag v1",
        "git tag -a v1 -m x",
        "git branch new",
        "git stash",
        "git switch -c x",
        "git worktree add ../x",
        "git push",
        "git add -A",
        "npm install left-pad",
        "npm -w web i x",
        "pnpm --filter web add x",
        "yarn",
        "yarn add x",
        "cargo +nightly add x",
        "pip install x",
        "go get x",
        "sudo apt-get install x",
        "bash -c 'git commit -m x'",
    ] {
        assert!(planner(command), "{command}");
    }
    for command in [
        "git log --grep commit",
        "git status",
        "git tag",
        "git tag -l 'v*'",
        "git branch --list",
        "git stash list",
        "git worktree list",
        "git diff",
        "npm ls",
        "npm test",
        "npm run lint",
        "npm view left-pad",
        "cargo metadata",
        "cargo tree",
        "pip list",
        "npm install --help",
    ] {
        assert!(!planner(command), "{command}");
    }
}

#[test]
fn another_checkout_that_the_session_makes_is_protected_like_this_one() {
    let in_one_line = [
        "git worktree add ../x && cd ../x && echo built > src/auth/token.ts",
        "git worktree add -b topic /tmp/x HEAD && echo built > /tmp/x/src/token.ts",
        "git clone . ../x && cd ../x && echo built > src/a.rs",
        "git clone -q /repo /tmp/x; cp a /tmp/x/.tdd-progress.md",
    ];
    for command in in_one_line {
        assert!(is_refused(&gated(), &pre("1", Action::shell(command))), "{command}");
    }
    let mut state = gated();
    let made = go(&mut state, &pre("1", Action::shell("git worktree add ../x")), &behind(gate()));
    assert!(refusal(&made).is_none());
    assert!(is_refused(&state, &pre("2", write("/x/src/auth/token.ts"))));
    assert!(is_refused(&state, &by("worker", pre("2", Action::shell("cd ../x && echo built > src/auth/token.ts")))));
    assert!(!is_refused(&state, &pre("3", write("/x/README.md"))));
    // Another repository is another matter.
    assert!(!is_refused(
        &gated(),
        &pre("1", Action::shell("git clone https://example.org/a ../x && echo x > ../x/src/a.rs"))
    ));
}

#[test]
fn a_human_types_no_and_the_gate_opens_with_nothing_approved() {
    let typed = |text: &str| Event { attended: Some(true), ..typed(text) };
    let mut state = gated();
    for other in ["reject plan 00000000", "reject the plan", "no"] {
        go(&mut state, &typed(other), &behind(gate()));
        assert!(state.gate.is_some(), "{other}");
    }
    let decision = go(&mut state, &typed("reject plan 01234567"), &behind(gate()));
    assert_eq!((state.gate, state.approved), (None, None));
    assert_eq!(decision.effects, [Effect::OpenGate { scope: gate().scope }]);
    let alone = Event { attended: Some(false), ..typed("reject plan 01234567") };
    assert!(!decide(&gated(), &alone, &behind(gate())).effects.contains(&Effect::OpenGate { scope: gate().scope }));
}

/// As a session sees the draft of one before it.
fn anothers() -> Gate {
    let waiting = Some(Waiting { since: Millis(1), until: None });
    Gate { scope: GateScope::Session(SessionId::new("before")), waiting, ..gate() }
}

#[test]
fn a_later_session_reads_one_line_of_a_draft_that_waits_and_forgets_it_when_it_is_answered() {
    let mut state = fresh();
    let start = event(EventKind::SessionStart { source: StartSource::Clear });
    let said = go(&mut state, &start, &behind(anothers()));
    assert_eq!(
        said.answer.note.as_deref(),
        Some(
            "Plan 01234567 (Sign in) waits for your answer: `.tdd-progress.md`, `src/` cannot be written. Type `approve \
             plan 01234567` or `reject plan 01234567`."
        )
    );
    assert_eq!(go(&mut state, &typed("fix the link"), &behind(anothers())).answer.note, None);
    assert!(refusal(&decide(&state, &pre("1", write("/repo/src/a.rs")), &behind(anothers()))).is_some());
    // Answered elsewhere: nothing is closed again from memory.
    let after = go(&mut state, &pre("2", write("/repo/src/a.rs")), &Facts::default());
    assert_eq!((refusal(&after), after.effects.len(), state.gate), (None, 0, None));
}
