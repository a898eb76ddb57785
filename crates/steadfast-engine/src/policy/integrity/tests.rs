use steadfast_model::{
    Gate, GateScope, GateState, Host, Millis, Outcome, PromptOrigin, SessionId, Stopping, ToolCall, ToolResult,
};

use super::*;
use crate::decide;

fn refused(line: &str) -> Option<String> {
    read(line, false)
}

fn denied(verdict: Option<Verdict>) -> Option<String> {
    match verdict {
        Some(Verdict::Deny { reason }) => Some(reason),
        _ => None,
    }
}

#[test]
fn what_no_seal_watches_is_asked_about_where_an_unknown_program_is_given_it() {
    let asked = |line: &str, gated| {
        let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(line), words: Vec::new() };
        match shell(&ParsedEvent::of(&event(EventKind::PreTool(call))), line, gated, &Facts::default()) {
            Some(Verdict::Ask { reason }) => Some(reason),
            _ => None,
        }
    };
    assert_eq!(
        asked("tidy -m .claude/settings.json", false).as_deref(),
        Some("`tidy` is given `.claude/settings.json`, and Steadfast does not know whether it writes it.")
    );
    for line in
        ["./migrate.sh .git/steadfast/state.db", "python3 fix.py ~/.codex/config.toml", "ttyrec .codex/hooks.json"]
    {
        assert!(asked(line, false).is_some(), "{line}");
    }
    for line in
        ["cat .claude/settings.json", "jq .hooks .claude/settings.json", "frob .claude/agents/a.md", "make test"]
    {
        assert_eq!(asked(line, false), None, "{line}");
    }
    // What is known to write is refused, not asked about.
    assert_eq!(asked("frob --output .claude/settings.json", false), None);
}

fn read(line: &str, gated: bool) -> Option<String> {
    let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(line), words: Vec::new() };
    denied(shell(&ParsedEvent::of(&event(EventKind::PreTool(call))), line, gated, &Facts::default()))
}

#[test]
fn a_humans_command_is_seen_in_every_dressing() {
    for line in [
        "steadfast uninstall",
        "cd /repo && /usr/local/bin/steadfast uninstall --purge",
        "'steadfast' task unblock 2",
        "true; steadfast  off",
        "steadfast pause --for 10m",
        "env -u CLAUDECODE steadfast config set stop.enabled false",
        "steadfast doctor --fix",
        "bash -c \"steadfast clean\"",
        "x=$(steadfast \"off\")",
        "A=1 sudo -E timeout 5 ./bin/steadfast init --yes",
        "{ steadfast off; }",
        "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID steadfast off",
        "s=steadfast; $s task unblock 1",
        "w='task unblock 1'; steadfast $w",
        "echo task unblock 1 | xargs steadfast",
        "f() { steadfast \"$1\" \"$2\" \"$3\"; }; f task unblock 1",
        "eval \"$(printf 'stead%s' 'fast task unblock 1')\"",
        "bash <<'X'\nsteadfast task unblock 1\nX",
        "printf 'steadfast off' > x.sh; sh x.sh",
        "python3 -c \"import os; os.system('steadfast off')\"",
        "setsid -f env -i steadfast plan approve --yes",
        "alias s=steadfast; s plan unlock",
    ] {
        assert!(refused(line).is_some(), "{line}");
    }
}

#[test]
fn what_an_agent_may_run_is_left_alone() {
    for line in [
        "steadfast task done 1",
        "steadfast plan approve --help",
        "steadfast plan -h; steadfast uninstall -h",
        "steadfast task list && echo off",
        "steadfast doctor",
        "steadfast status | grep off",
        "steadfast task add 'uninstall the old parser'",
        "grep -rn uninstall crates/steadfast/src",
        "cat steadfast.toml; echo init",
        "git commit -m 'steadfast: off by one'",
        "git commit -m \"Document steadfast off and steadfast uninstall\"",
        "echo run steadfast init first",
        "grep -rn 'steadfast off' docs",
    ] {
        assert_eq!(refused(line), None, "{line}");
    }
}

#[test]
fn state_wiring_and_key_are_not_written_whatever_the_tool() {
    let write = |path: &str| written([path.to_owned()].iter(), "/repo", false, &Facts::default());
    for path in [
        "/repo/.git/steadfast/state.db",
        ".git/steadfast/gates/x",
        ".git/steadfast.gates/x",
        "/home/a/.claude/settings.json",
        ".claude/settings.local.json",
        "docs/../.claude/settings.json",
        "/home/a/.codex/config.toml",
        "/home/a/.local/state/steadfast/approval.key",
    ] {
        assert!(write(path).is_some(), "{path}");
    }
    for path in [
        "/repo/steadfast.toml",
        "/repo/project.yaml",
        "docs/.git-steadfast/x",
        "/repo/.steadfast/decisions/spec.md",
        ".claude/agents/a.md",
    ] {
        assert_eq!(write(path), None, "{path}");
    }
    for line in [
        "echo '{}' > .claude/settings.json",
        "cat x | tee ~/.claude/settings.json",
        "cd .claude && rm settings.local.json",
        "rm -rf .git/steadfast",
        "python3 -c \"open('.claude/settings.json','w').write('{}')\"",
        "sed -i s/a/b/ ~/.codex/config.toml",
        "cat ~/.local/state/steadfast/approval.key",
    ] {
        assert!(read(line, false).is_some(), "{line}");
    }
    for line in ["cat .claude/settings.json", "git status", "ls ~/.codex", "rm -rf target", "rm -f $FILE"] {
        assert_eq!(read(line, false), None, "{line}");
    }
}

#[test]
fn while_a_gate_is_closed_what_may_be_written_is_not() {
    assert!(read("cd .claude; rm -f $FILE", true).is_some());
    assert_eq!(read("cd .claude; rm -f $FILE", false), None);
    assert_eq!(read("rm -f $FILE", true), None);
    for config in ["steadfast.toml", "project.yaml"] {
        assert_eq!(
            read(&format!("echo >> {config}"), true),
            Some(format!("`{config}` cannot be changed while the plan gate is closed."))
        );
        assert_eq!(read(&format!("echo >> {config}"), false), None);
        assert_eq!(read(&format!("cat {config}"), true), None);
    }
    assert_eq!(read("cargo test 2>&1 | tail -5", true), None);
}

fn event(kind: EventKind) -> Event {
    Event::plain(SessionId::new("me"), Host::Claude, "/repo", Millis(1), kind)
}

fn prompt() -> Event {
    event(EventKind::prompt("go on", PromptOrigin::Human))
}

fn stop() -> Event {
    event(EventKind::Stop(Stopping { again: false, last_message: None, background: None, wakeups: 0 }))
}

fn reading() -> Event {
    let action = Action::Read { paths: vec!["a".into()] };
    event(EventKind::PreTool(ToolCall { id: None, tool: "Read".into(), action, words: Vec::new() }))
}

#[test]
fn a_run_that_spent_its_budget_gets_no_tool_call_through() {
    let state = State::new(SessionId::new("me"), Host::Claude, Millis(0));
    let spent = |text: &str| Facts { spent: Some(text.to_owned()), ..Facts::default() };
    let said = |facts: &Facts| Integrity.judge(&state, &ParsedEvent::of(&reading()), facts).verdict;
    assert_eq!(said(&Facts::default()), Verdict::Pass);
    let reason = "The budget of this run is spent (26 of 25 US dollars): Steadfast refuses every further tool call. \
                  The work so far is kept.";
    assert_eq!(said(&spent("26 of 25 US dollars")), Verdict::Deny { reason: reason.into() });
    assert!(said(&spent("")).text().starts_with("The budget of this run is spent: Steadfast refuses"));
    assert_eq!(Integrity.judge(&state, &ParsedEvent::of(&stop()), &spent("")).verdict, Verdict::Pass);
    let asked =
        [reading(), stop(), prompt(), ran("ls")].map(|event| Integrity.needs(&state, &ParsedEvent::of(&event)).budget);
    assert_eq!(asked, [true, true, false, false]);
}

fn ran(command: &str) -> Event {
    let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(command), words: Vec::new() };
    event(EventKind::PostTool(ToolResult {
        call,
        outcome: Outcome::Ok,
        millis: None,
        answers: Vec::new(),
        names: Vec::new(),
    }))
}

/// Who hears of it, agent and human, when the wiring is found so.
fn told(state: &mut State, event: &Event, changed: &[&str]) -> [bool; 2] {
    let wiring = Fact::Known(changed.iter().map(|line| (*line).to_owned()).collect());
    let decision = decide(state, event, &Facts { wiring, ..Facts::default() });
    for change in &decision.changes {
        state.apply(change);
    }
    [decision.answer.context, decision.answer.note].map(|text| text.is_some_and(|text| text.contains("`a`")))
}

#[test]
fn a_changed_wiring_is_told_once_to_each_and_again_when_it_is_another_change() {
    let mut state = State::new(SessionId::new("me"), Host::Claude, Millis(0));
    let (one, other) = (["`a` does not call"], ["`a` does not call", "`b` neither"]);
    assert_eq!(told(&mut state, &stop(), &one), [false, true]);
    assert_eq!(told(&mut state, &stop(), &one), [false, false]);
    assert_eq!(told(&mut state, &prompt(), &one), [true, false]);
    assert_eq!(told(&mut state, &prompt(), &one), [false, false]);
    assert_eq!(told(&mut state, &prompt(), &other), [true, true]);
    assert_eq!(told(&mut state, &prompt(), &[]), [false, false]);
    assert_eq!(state.wiring, WiringTold::default());
    assert_eq!(told(&mut state, &prompt(), &one), [true, true]);
}

#[test]
fn tool_events_do_not_look_at_the_wiring_unless_a_gate_is_closed() {
    let mut state = State::new(SessionId::new("me"), Host::Claude, Millis(0));
    let looks = |state: &State| {
        [prompt(), stop(), ran("make"), ran("ls")].map(|event| Integrity.needs(state, &ParsedEvent::of(&event)).wiring)
    };
    assert_eq!(looks(&state), [true, true, false, false]);
    state.gate = Some(GateState::of(&Gate::new(GateScope::Worktree("/repo".into()), "closed", Millis(0))));
    assert_eq!(looks(&state), [true, true, true, false]);
}

fn pre(line: &str, facts: &Facts, gated: bool) -> Option<String> {
    let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(line), words: Vec::new() };
    denied(shell(&ParsedEvent::of(&event(EventKind::PreTool(call))), line, gated, facts))
}

#[test]
fn a_sweep_that_takes_the_hooks_is_refused_and_the_spelling_that_keeps_them_passes_also_at_a_closed_gate() {
    let wired = steadfast_model::WiredFile {
        path: "/repo/.claude/settings.local.json".into(),
        within: ".claude/settings.local.json".into(),
        tracked: false,
        folder_tracked: false,
        ignored: true,
    };
    let facts = Facts { wired: vec![wired], ..Facts::default() };
    for gated in [false, true] {
        assert!(pre("git clean -fdx", &facts, gated).is_some());
        assert_eq!(pre("git clean -e /.claude -fdx", &facts, gated), None);
        assert_eq!(pre("git clean -xdf -e .env -e .claude", &facts, gated), None);
        assert_eq!(pre("git clean -fdxe .claude", &facts, gated), None);
        assert_eq!(pre("git clean -fdx", &Facts::default(), gated), None, "nothing of ours is in the checkout");
        assert!(pre("git clean -e /.claude -fdx; rm -rf .claude", &facts, gated).is_some());
    }
}

#[test]
fn the_program_itself_is_not_removed_moved_or_overwritten() {
    let programs =
        ["/home/a/.cargo/bin/steadfast", "~/.cargo/bin/steadfast", "/opt/x/steadfast-hook-claude-local-Stop"];
    let facts = Facts { programs: programs.map(str::to_owned).to_vec(), ..Facts::default() };
    for line in [
        "rm /home/a/.cargo/bin/steadfast",
        "rm -f ~/.cargo/bin/steadfast",
        "cd ~/.cargo/bin && rm steadfast",
        "mv /tmp/steadfast /home/a/.cargo/bin/steadfast",
        "mv ~/.cargo/bin/steadfast ~/.cargo/bin/steadfast.old",
        "cp target/release/steadfast ~/.cargo/bin/steadfast",
        "cp target/release/steadfast ~/.cargo/bin/",
        "echo > /home/a/.cargo/bin/steadfast",
        "ln -sf /bin/true ~/.cargo/bin/steadfast",
        "install -m755 x/steadfast /home/a/.cargo/bin/steadfast",
        "chmod 644 ~/.cargo/bin/steadfast",
        "truncate -s 0 /opt/x/steadfast-hook-claude-local-Stop",
    ] {
        let refused = pre(line, &facts, false);
        assert!(refused.is_some_and(|text| text.contains("is Steadfast itself")), "{line}");
    }
    for line in [
        "ls -l ~/.cargo/bin/steadfast",
        "cp ~/.cargo/bin/steadfast /tmp/copy",
        "rm -rf target/debug/steadfast",
        "steadfast task done 1",
        "cargo build -p steadfast",
    ] {
        assert_eq!(pre(line, &facts, false), None, "{line}");
    }
    let write = |path: &str| written([path.to_owned()].iter(), "/repo", false, &facts);
    assert!(write("/home/a/.cargo/bin/steadfast").is_some());
    assert_eq!(write("/repo/docs/steadfast"), None);
}

#[test]
fn settings_are_written_where_our_part_stays_and_no_gate_is_closed() {
    let keeps = Facts { keeps_hooks: true, ..Facts::default() };
    let write = |gated, facts: &Facts| written([".claude/settings.json".to_owned()].iter(), "/repo", gated, facts);
    assert_eq!(write(false, &keeps), None);
    assert!(write(true, &keeps).is_some());
    assert!(write(false, &Facts::default()).is_some());
    let state = written([".git/steadfast/x".to_owned()].iter(), "/repo", false, &keeps);
    assert!(state.is_some());
}

#[test]
fn what_a_call_removed_is_told_to_agent_and_human_as_it_came_out() {
    let state = State::new(SessionId::new("me"), Host::Claude, Millis(0));
    let said = |failed: Option<&str>| {
        let file = RemovedFile { path: "a".into(), failed: failed.map(str::to_owned) };
        let facts = Facts { removed: vec![file], ..Facts::default() };
        let answer = decide(&state, &ran("make clean"), &facts).answer;
        assert_eq!(answer.context, answer.note);
        answer.note.unwrap_or_default()
    };
    assert!(said(None).contains("This call removed `a`") && said(None).contains("Steadfast put it back."));
    assert!(said(Some("disk full")).contains("could not be put back (disk full)"));
}

/// What an alias of git stands for, in its configuration or on the line itself.
#[test]
fn an_alias_of_git_is_what_it_stands_for() {
    let alias = |name: &str, body: &str| steadfast_model::GitAlias { name: name.into(), body: body.into() };
    let wired = vec![steadfast_model::WiredFile {
        path: "/repo/.claude/settings.local.json".into(),
        within: ".claude/settings.local.json".into(),
        tracked: false,
        folder_tracked: false,
        ignored: true,
    }];
    let facts = Facts {
        aliases: vec![
            alias("nuke", "clean -fdx"),
            alias("off", "!steadfast pause"),
            alias("wipe", "!rm -rf .git/steadfast"),
            alias("again", "nuke"),
            alias("st", "status --short"),
        ],
        wired,
        ..Facts::default()
    };
    let refused = |command: &str| {
        let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(command), words: Vec::new() };
        let event = event(EventKind::PreTool(call));
        let heard = ParsedEvent::of(&event);
        (
            shell(&heard, command, false, &facts).is_some(),
            Integrity.needs(&State::new(SessionId::new("me"), Host::Claude, Millis(0)), &heard).aliases,
        )
    };
    for command in ["git nuke", "git again", "git off", "cd src && git wipe", "git -C /repo nuke"] {
        assert_eq!(refused(command), (true, true), "{command}");
    }
    for command in [
        "git -c alias.x='clean -fdx' x",
        "git -c alias.x='!steadfast pause' x",
        "git -c alias.X='rm -f .claude/settings.json' x",
        "git config alias.x 'clean -fdx' && git x",
        "git config --global alias.x \"!rm -rf .git/steadfast\"; git x",
    ] {
        assert!(refused(command).0, "{command}");
    }
    for command in ["git st", "git -c alias.x='log --oneline' x", "git -c alias.y='clean -fdx' log", "git status"] {
        assert!(!refused(command).0, "{command}");
    }
    assert!(!refused("git status").1, "git knows it");
}
