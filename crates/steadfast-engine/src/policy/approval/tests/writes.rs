use super::*;

fn mcp(tool: &str, path: &str) -> Action {
    Action::Mcp { server: "files".into(), tool: tool.into(), paths: vec![path.into()] }
}

#[test]
fn a_protected_path_is_not_written_whatever_the_tool() {
    let refused = [
        write("/repo/.tdd-progress.md"),
        write(".tdd-progress.md"),
        write("/repo/docs/../.tdd-progress.md"),
        write("/repo/.TDD-progress.md"),
        write("/repo/src/auth/code.rs"),
        write("/repo/PLAN.md"),
        Action::Write { paths: vec!["/repo/README.md".into(), "/repo/src/a.rs".into()] },
        mcp("write_file", "/repo/src/a.rs"),
        mcp("search_replace", "/repo/src/a.rs"),
        mcp("find_and_replace", "src/a.rs"),
        mcp("get_and_update", "/repo/PLAN.md"),
        mcp("listen", "/repo/src/a.rs"),
        Action::shell("echo x > .tdd-progress.md"),
        Action::shell("cat plan | tee .tdd-progress.md"),
        Action::shell("perl -i -pe s/a/b/ src/a.rs"),
        Action::shell("cd src && rm a.rs"),
        Action::shell("bash -c 'cp /tmp/x PLAN.md'"),
        Action::Shell { command: "echo x > src/a.rs".into(), background: true },
    ];
    for action in refused {
        assert!(is_refused(&gated(), &pre("1", action.clone())), "{action:?}");
        assert!(is_refused(&gated(), &by("worker", pre("1", action.clone()))), "a subagent: {action:?}");
    }
}

#[test]
fn what_is_not_protected_is_left_alone() {
    let free = [
        write("/repo/README.md"),
        write("/repo/docs/src/notes.md"),
        write("/elsewhere/.tdd-progress.md"),
        mcp("read_file", "/repo/src/a.rs"),
        mcp("list_directory", "/repo/src"),
        Action::Mcp { server: "other".into(), tool: "search_replace".into(), paths: Vec::new() },
        mcp("unheard_of", "/repo/docs/notes.md"),
        Action::Mcp { server: "steadfast".into(), tool: "plan_propose".into(), paths: vec!["PLAN.md".into()] },
        Action::Read { paths: vec!["/repo/src/a.rs".into()] },
        Action::shell("cat .tdd-progress.md 2>/dev/null"),
        Action::shell("grep -rn 'x > src/a.rs' docs"),
        Action::shell("cargo test"),
        Action::shell("git commit -m 'PLAN.md > src'"),
    ];
    for action in free {
        assert!(!is_refused(&gated(), &pre("1", action.clone())), "{action:?}");
    }
}

/// An alias of git's configuration, at a gate without any constraint.
#[test]
fn an_alias_is_what_it_stands_for() {
    let aliases = || {
        let alias = |name: &str, body: &str| GitAlias { name: name.into(), body: body.into() };
        vec![
            alias("undo", "checkout HEAD~1 --"),
            alias("back", "undo"),
            alias("take", "restore --source=HEAD~1"),
            alias("gen", "!cat > src/gen.rs"),
            alias("put", "!f() { cp x \"$1\"; }; f"),
            alias("st", "status --short"),
            alias("wip", "stash push"),
            alias("ci", "commit"),
            alias("loop", "!git loop; git loop; git loop; git loop; git loop; git loop; git loop; git loop"),
            alias("wt", "worktree add"),
        ]
    };
    let facts = || Facts { aliases: aliases(), ..behind(gate()) };
    let refused = |state: &State, line: &str, facts: &Facts| {
        refusal(&decide(state, &pre("1", Action::shell(line)), facts)).is_some()
    };
    for line in [
        "git undo PLAN.md",
        "git back PLAN.md",
        "git -C src take a.rs",
        "cd docs && git gen",
        "git put PLAN.md",
        "git st && git undo src/a.rs",
        "git wt ../x && cd ../x && echo x > PLAN.md",
    ] {
        let needs = crate::needs(&gated(), &pre("1", Action::shell(line)));
        assert!(needs.aliases, "{line}");
        assert!(refused(&gated(), line, &facts()), "{line}");
    }
    for line in ["git st", "git undo README.md", "git ci -m x", "git loop", "git put docs/x.md", "git wip"] {
        assert!(!refused(&gated(), line, &facts()), "{line}");
    }
    // What is not committed is not stashed away, whatever that is called.
    let uncommitted = Facts { uncommitted: vec!["PLAN.md".into()], ..facts() };
    assert!(crate::needs(&gated(), &pre("1", Action::shell("git wip"))).uncommitted);
    assert!(refused(&gated(), "git wip", &uncommitted) && !refused(&gated(), "git st", &uncommitted));
    // No gate is closed: what it stands for may still concern our own files.
    assert!(!crate::needs(&fresh(), &pre("1", Action::shell("git status"))).aliases);
    assert!(!refused(&fresh(), "git undo PLAN.md", &Facts { aliases: aliases(), ..Facts::default() }));
    // A planner commits by no name.
    let commits = by("planner", pre("1", Action::shell("git ci -m x")));
    assert!(refusal(&decide(&gated(), &commits, &facts())).is_some());
}

#[test]
fn a_link_to_it_is_it() {
    let facts = Facts { behind_links: vec!["/repo/.tdd-progress.md".into()], ..behind(gate()) };
    let decision = decide(&gated(), &pre("1", write("/repo/notes.md")), &facts);
    assert!(refusal(&decision).is_some());
}

#[test]
fn another_way_to_a_refused_path_is_named() {
    let mut state = gated();
    let first = go(&mut state, &pre("1", write("/repo/.tdd-progress.md")), &behind(gate()));
    let second = go(&mut state, &pre("2", Action::shell("cat x | tee .tdd-progress.md")), &behind(gate()));
    assert_eq!(
        refusal(&first),
        Some(
            "The plan is not approved. `.tdd-progress.md` cannot be written until a human approves it. Plan 01234567 \
             is drafted; after a human's approval Steadfast writes it to `PLAN.md`."
        )
    );
    assert!(
        refusal(&second)
            .unwrap()
            .ends_with("Steadfast refused this path before; another command does not change that."),
        "{second:?}"
    );
}

#[test]
fn what_may_write_it_is_watched_or_asked_for_as_configured() {
    let maybe = pre("1", Action::shell("rm -f $TARGET"));
    let with = |possible| {
        let mut state = gated();
        state.rules.approval.possible = possible;
        decide(&state, &maybe, &behind(gate())).answer.ruling
    };
    assert_eq!(with(Possible::Watch), Ruling::Pass);
    assert!(matches!(with(Possible::Ask), Ruling::Ask { .. }));
    assert!(matches!(with(Possible::Deny), Ruling::Deny { .. }));
}

#[test]
fn a_planner_only_reads() {
    let planner = |action| by("kit:tdd-planner", pre("1", action));
    let refused = [
        write("/repo/README.md"),
        write("/tmp/notes.md"),
        Action::shell("echo x > notes.md"),
        Action::shell("rm -f $TARGET"),
        Action::shell("git log | tee log.txt"),
        Action::shell("echo ${"),
        mcp("create_issue", "a/b"),
    ];
    for action in refused {
        assert!(is_refused(&gated(), &planner(action.clone())), "{action:?}");
    }
    let free = [
        write("/repo/.steadfast/scratch/draft.md"),
        Action::shell("grep -rn auth src 2>/dev/null | head -20"),
        Action::shell("echo x > .steadfast/scratch/draft.md"),
        Action::shell("ls 2>&1 >/dev/null"),
        mcp("search_code", "src/a.rs"),
        Action::Read { paths: vec!["/repo/src/a.rs".into()] },
    ];
    for action in free {
        assert!(!is_refused(&gated(), &planner(action.clone())), "{action:?}");
    }
}

#[test]
fn the_main_thread_is_no_planner() {
    assert!(!is_refused(&gated(), &pre("1", write("/repo/README.md"))));
    assert!(!is_refused(&gated(), &by("", pre("1", write("/repo/README.md")))));
}
