//! Steadfast's own state, its wiring in the hosts' settings, who may run which command, and the budget of a run.
//!
//! A command line is read for what it would write and whom it would call. What cannot be seen there (a script, a program
//! that was built for it) is refused by the command itself, which looks at its environment, its ancestors and the claim
//! of its call, and found by `doctor`. What becomes of the wiring is looked for at prompts and stops.

mod sweep;

use std::borrow::Cow;

use steadfast_model::{
    Action, Change, Direction, Event, EventKind, Fact, Facts, Mode, Needs, PolicyName, RemovedFile, Rules, State,
    Verdict, WiringTold, fnv, human_command,
};
use steadfast_shell::{Argument, Context, Decision, Op, Reading, is_plain, judge};

use super::approval::may_do_anything;
use super::{Judgement, Policy, target};
use crate::Heard;

/// What holds our state, wherever it is found.
const STATE: [&str; 4] = [".git/steadfast/", ".git/steadfast.gates/", "steadfast/places/", "steadfast/install/"];

/// The hosts' settings our hooks stand in, or could be switched off in.
const WIRING: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json"];

/// What approvals are signed with. Nobody but us reads it.
const KEY: &str = "approval.key";

/// The project's configuration, while a gate is closed; the second is others' as well.
const CONFIG: [&str; 2] = ["steadfast.toml", "project.yaml"];

/// Each of these paths has one of these names in it, and so has who runs us.
const NAMES: [&str; 5] = ["steadfast", "steadfast.gates", ".claude", ".codex", KEY];

/// What a line has in it that speaks of them.
const SPOKEN: [&str; 4] = [".claude", ".codex", "settings", "steadfast"];

/// Ourselves.
const PROGRAM: &str = "steadfast";

#[derive(Debug)]
pub(super) struct Integrity;

impl Policy for Integrity {
    fn name(&self) -> PolicyName {
        PolicyName::Integrity
    }

    fn direction(&self) -> Direction {
        Direction::Gate
    }

    fn mode(&self, rules: &Rules) -> Mode {
        rules.integrity
    }

    /// What no reading of a call sees is looked for where there is time for it; and, while a gate is closed, behind every
    /// call that may have done it.
    fn needs(&self, state: &State, event: &Heard<'_>) -> Needs {
        let wiring = match &event.kind {
            EventKind::Prompt { .. } | EventKind::Stop(_) => true,
            EventKind::PostTool(result) => state.gate.is_some() && may_do_anything(event, &result.call.action),
            _ => false,
        };
        let budget = matches!(event.kind, EventKind::PreTool(_) | EventKind::Stop(_) | EventKind::SubagentStop(_));
        let (mut wired, mut removed, mut programs) = (false, false, false);
        match &event.kind {
            EventKind::PreTool(call) => match &call.action {
                Action::Shell { command, .. } => {
                    wired = sweep::may_sweep(command);
                    programs = command.contains(PROGRAM);
                }
                Action::Write { paths } | Action::Mcp { paths, .. } => {
                    programs = paths.iter().any(|path| path.contains(PROGRAM));
                }
                _ => {}
            },
            EventKind::PostTool(result) => {
                let refuses = state.rules.integrity == Mode::Enforce && !state.is_paused(event.at);
                removed = refuses && may_do_anything(event, &result.call.action);
            }
            _ => {}
        }
        Needs { wiring, budget, wired, removed, programs, ..Needs::default() }
    }

    fn judge(&self, state: &State, event: &Heard<'_>, facts: &Facts) -> Judgement {
        if !facts.removed.is_empty() {
            return removed(&facts.removed);
        }
        if let Fact::Known(changed) = &facts.wiring {
            return wiring(state, event, changed);
        }
        let EventKind::PreTool(call) = &event.kind else { return Judgement::default() };
        if let Some(spent) = &facts.spent {
            return Judgement::of(Verdict::Deny { reason: over_budget(spent) });
        }
        let gated = state.gate.is_some() || facts.gate.is_some();
        let refused = match &call.action {
            Action::Shell { command, .. } => shell(event, command, gated, facts),
            Action::Write { paths } => written(paths.iter().chain(&facts.behind_links), &event.cwd, gated, facts),
            Action::Mcp { tool, paths, .. } if !target::only_reads(tool) => {
                written(paths.iter().chain(&facts.behind_links), &event.cwd, gated, facts)
            }
            Action::Read { paths } => paths.iter().any(|path| is_key(path)).then(key),
            _ => None,
        };
        refused.map_or_else(Judgement::default, |reason| Judgement::of(Verdict::Deny { reason }))
    }
}

/// What the human who began the run let it cost is used up.
fn over_budget(spent: &str) -> String {
    let how_much = if spent.is_empty() { String::new() } else { format!(" ({spent})") };
    format!("The budget of this run is spent{how_much}: no tool call is let through any more. The work so far is kept.")
}

/// What is said of a wiring that is not as it was: once to each, and again when it is another change. At its stop an agent
/// cannot be told, without keeping it going; it hears of it with the next prompt.
fn wiring(state: &State, event: &Event, changed: &[String]) -> Judgement {
    let words = if changed.is_empty() { 0 } else { fnv(changed.iter().map(String::as_bytes)) | 1 };
    let is_stop = matches!(event.kind, EventKind::Stop(_));
    let told = WiringTold { human: words, agent: if is_stop && words != 0 { state.wiring.agent } else { words } };
    if told == state.wiring {
        return Judgement::default();
    }
    let line = changed.join("; ");
    let to_human = (words != 0 && state.wiring.human != words)
        .then(|| format!("{line}. `steadfast init` writes the hooks again; `steadfast doctor` looks at all of them."));
    let to_agent = (words != 0 && !is_stop && state.wiring.agent != words)
        .then(|| format!("{line}. What Steadfast is not called for it does not see. `steadfast init` is for a human."));
    let (verdict, aside) = match (to_human, to_agent) {
        (Some(note), aside) => (Verdict::Note(note), aside),
        (None, Some(context)) => (Verdict::Context(context), None),
        (None, None) => (Verdict::Pass, None),
    };
    Judgement { verdict, changes: vec![Change::WiringTold(told)], aside, ..Judgement::default() }
}

/// What is said of settings that a call removed, to agent and human.
fn removed(files: &[RemovedFile]) -> Judgement {
    let line = |file: &RemovedFile| match &file.failed {
        None => format!("This call removed `{}`, which holds the hooks of Steadfast. It is back as it was.", file.path),
        Some(why) => format!(
            "This call removed `{}`, which holds the hooks of Steadfast, and it could not be put back ({why}). \
             `steadfast init` writes it again; that is for a human.",
            file.path
        ),
    };
    let text = files.iter().map(line).collect::<Vec<_>>().join(" ");
    Judgement { verdict: Verdict::Note(text.clone()), aside: Some(text), ..Judgement::default() }
}

/// What a command line would do that is not an agent's to do.
fn shell(event: &Heard<'_>, command: &str, gated: bool, facts: &Facts) -> Option<String> {
    if is_key(command) {
        return Some(key());
    }
    let context = Context { cwd: event.cwd.clone(), home: "~".to_owned() };
    let config = gated.then_some(CONFIG).into_iter().flatten();
    let names: Vec<&str> = NAMES.into_iter().chain(config).collect();
    let sweeps = !facts.wired.is_empty() && sweep::may_sweep(command);
    if !sweeps && is_plain(command, &context, &names) {
        return None;
    }
    let mut reading = Cow::Borrowed(event.reading()?);
    if sweeps {
        if let Some(refused) = sweep::refused(&reading, &facts.wired) {
            return Some(refused);
        }
        reading.to_mut().effects.retain(|effect| !sweep::is_sweep(effect));
    }
    let reading = &*reading;
    // What only may be ours is refused while a gate is closed, and where the line speaks of it at all.
    let least = if gated && SPOKEN.iter().any(|name| command.contains(name)) { Decision::Ask } else { Decision::Deny };
    humans_command(reading).or_else(|| program(reading, facts)).or_else(|| reached(reading, least, gated, false))
}

/// Ourselves, as installed: without it the hosts let everything through.
fn program(reading: &Reading, facts: &Facts) -> Option<String> {
    // A reading leaves `~` in a path as it is, wherever that stands.
    let guarded = |path: &str| if path.starts_with('~') { format!("./{path}") } else { path.to_owned() };
    let program = facts.programs.iter().find(|path| judge(reading, &[guarded(path)]).decision == Decision::Deny)?;
    Some(format!("`{program}` is Steadfast itself. A human installs, replaces or removes it."))
}

fn written<'a>(paths: impl Iterator<Item = &'a String>, cwd: &str, gated: bool, facts: &Facts) -> Option<String> {
    // Every call comes through here: what has none of the names in it is not taken apart.
    let mut named = paths.filter(|path| {
        let is_ours = |part: &str| NAMES.iter().chain(&CONFIG).any(|name| part.eq_ignore_ascii_case(name));
        let named = |text: &str| text.split('/').any(is_ours);
        named(path) || (!path.starts_with('/') && named(cwd))
    });
    named.find_map(|path| {
        let reading = Reading::of_write(&target::absolute(path, cwd), cwd);
        program(&reading, facts).or_else(|| reached(&reading, Decision::Ask, gated, facts.keeps_hooks && !gated))
    })
}

/// What is ours and would be written. Settings are free where the write is known to leave our part as it is.
fn reached(reading: &Reading, least: Decision, gated: bool, keeps_hooks: bool) -> Option<String> {
    let config = gated.then_some(CONFIG).into_iter().flatten();
    let wiring = (!keeps_hooks).then_some(WIRING).into_iter().flatten();
    let guarded = STATE.into_iter().chain(wiring).chain([KEY]).chain(config);
    let found = guarded.into_iter().find(|path| judge(reading, &[(*path).to_owned()]).decision >= least)?;
    Some(match found {
        path if CONFIG.contains(&path) => format!("`{path}` is not changed while the plan gate is closed."),
        KEY => key(),
        path if WIRING.contains(&path) && removes(reading) => format!(
            "This removes `{path}`, which decides whether Steadfast is called. Name the other files of its folder instead."
        ),
        path if path.starts_with(".claude") && !gated => format!(
            "`{path}` decides whether Steadfast is called. The Write and Edit tools may change what is not about hooks in \
             it; a human changes the rest, or runs `steadfast pause` in a terminal."
        ),
        path if WIRING.contains(&path) => format!(
            "`{path}` decides whether Steadfast is called. A human changes it; `steadfast pause` in a terminal lets an \
             agent do it."
        ),
        path => format!("{path} is Steadfast's own state. `steadfast task` and `steadfast status` show what is in it."),
    })
}

fn removes(reading: &Reading) -> bool {
    reading.effects.iter().any(|effect| matches!(effect.op, Op::Delete | Op::Move))
}

fn is_key(text: &str) -> bool {
    text.contains(KEY)
}

fn key() -> String {
    "The key that approvals are signed with is for Steadfast alone.".to_owned()
}

/// What only a human runs, behind whatever it is dressed in. What is not known of it (`steadfast $WORDS`) is left to the
/// command, which refuses it.
fn humans_command(reading: &Reading) -> Option<String> {
    let ours = reading.runs().filter(|run| match run.argv.first().and_then(Argument::known) {
        Some(program) => program.rsplit('/').next() == Some(PROGRAM),
        None => false,
    });
    let command = ours.filter_map(|run| human_command(run.arguments().iter().filter_map(Argument::known))).next()?;
    Some(format!(
        "`steadfast {command}` is for a human. If it is needed, say so; a human runs it in a terminal of their own."
    ))
}

#[cfg(test)]
mod tests {
    use steadfast_model::{
        Gate, GateScope, GateState, Host, Millis, Outcome, PromptOrigin, SessionId, Stopping, ToolCall, ToolResult,
    };

    use super::*;
    use crate::decide;

    fn refused(line: &str) -> Option<String> {
        read(line, false)
    }

    fn read(line: &str, gated: bool) -> Option<String> {
        let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(line), words: Vec::new() };
        shell(&Heard::of(&event(EventKind::PreTool(call))), line, gated, &Facts::default())
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
                Some(format!("`{config}` is not changed while the plan gate is closed."))
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
        let said = |facts: &Facts| Integrity.judge(&state, &Heard::of(&reading()), facts).verdict;
        assert_eq!(said(&Facts::default()), Verdict::Pass);
        let reason = "The budget of this run is spent (26 of 25 US dollars): no tool call is let through any more. The \
                      work so far is kept.";
        assert_eq!(said(&spent("26 of 25 US dollars")), Verdict::Deny { reason: reason.into() });
        assert!(said(&spent("")).text().starts_with("The budget of this run is spent: no tool call"));
        assert_eq!(Integrity.judge(&state, &Heard::of(&stop()), &spent("")).verdict, Verdict::Pass);
        let asked =
            [reading(), stop(), prompt(), ran("ls")].map(|event| Integrity.needs(&state, &Heard::of(&event)).budget);
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
            [prompt(), stop(), ran("make"), ran("ls")].map(|event| Integrity.needs(state, &Heard::of(&event)).wiring)
        };
        assert_eq!(looks(&state), [true, true, false, false]);
        state.gate = Some(GateState::of(&Gate::new(GateScope::Worktree("/repo".into()), "closed", Millis(0))));
        assert_eq!(looks(&state), [true, true, true, false]);
    }

    fn pre(line: &str, facts: &Facts, gated: bool) -> Option<String> {
        let call = ToolCall { id: None, tool: "Bash".into(), action: Action::shell(line), words: Vec::new() };
        shell(&Heard::of(&event(EventKind::PreTool(call))), line, gated, facts)
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
        assert!(said(None).contains("This call removed `a`") && said(None).contains("It is back as it was."));
        assert!(said(Some("disk full")).contains("could not be put back (disk full)"));
    }
}
