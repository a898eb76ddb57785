//! Protects Steadfast's own state, its wiring in the hosts' settings, the commands that only a human can run, and the
//! budget of a run.
//!
//! A command line is read for the paths that it would write and the commands that it would call. Calls that it does not
//! show (a script, a program built for the purpose) are refused by the command itself, which checks its environment,
//! its ancestors and the claim of its call; `doctor` finds the rest. Changes of the wiring are looked for at prompts
//! and stops.

mod sweep;

use std::borrow::Cow;

use steadfast_model::{
    Action, Change, Direction, Event, EventKind, Fact, Facts, Mode, Needs, PolicyName, RemovedFile, Rules, State,
    Verdict, WiringTold, fnv, human_command,
};
use steadfast_shell::{Argument, Context, GuardDecision, Op, Reading, effects, is_plain, judge};

use super::approval::may_do_anything;
use super::constraint::alias_lines;
use super::{Judgement, Policy, target};
use crate::ParsedEvent;

/// The folders of our state, wherever they are.
const STATE: [&str; 4] = [".git/steadfast/", ".git/steadfast.gates/", "steadfast/places/", "steadfast/install/"];

/// The hosts' settings that contain our hooks or could disable them.
const WIRING: [&str; 4] =
    [".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json"];

/// The key that signs approvals. Only Steadfast reads it.
const KEY: &str = "approval.key";

/// The project's configuration, protected while a gate is closed. Other tools use the second file, too.
const CONFIG: [&str; 2] = ["steadfast.toml", "project.yaml"];

/// Each of these paths contains one of these names, and so does every call of Steadfast.
const NAMES: [&str; 5] = ["steadfast", "steadfast.gates", ".claude", ".codex", KEY];

/// Words in a line that refer to these paths.
const SPOKEN: [&str; 4] = [".claude", ".codex", "settings", "steadfast"];

/// The name of Steadfast's own program.
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

    /// Changes that no reading of a call shows are looked for when there is time for it; while a gate is closed, after
    /// every call that may have made them.
    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        let wiring = match &event.kind {
            EventKind::Prompt { .. } | EventKind::Stop(_) => true,
            EventKind::PostTool(result) => state.gate.is_some() && may_do_anything(event, &result.call.action),
            _ => false,
        };
        let budget = matches!(event.kind, EventKind::PreTool(_) | EventKind::Stop(_) | EventKind::SubagentStop(_));
        let (mut wired, mut removed, mut programs, mut aliases) = (false, false, false, false);
        match &event.kind {
            EventKind::PreTool(call) => match &call.action {
                Action::Shell { command, .. } => {
                    // An alias is not resolved yet and may be any of these.
                    aliases = command.contains("git") && !event.unknown_git_words().is_empty();
                    wired = aliases || sweep::may_sweep(command);
                    programs = aliases || command.contains(PROGRAM);
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
        Needs { wiring, budget, wired, removed, programs, aliases, ..Needs::default() }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
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
            Action::Shell { command, .. } => {
                return shell(event, command, gated, facts).map_or_else(Judgement::default, Judgement::of);
            }
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

/// The reason for a refusal when the budget of the run is spent.
fn over_budget(spent: &str) -> String {
    let how_much = if spent.is_empty() { String::new() } else { format!(" ({spent})") };
    format!(
        "The budget of this run is spent{how_much}: Steadfast refuses every further tool call. The work so far is kept."
    )
}

/// Reports a change of the wiring, once to the agent and once to the human, and again for another change. Text at its
/// stop would keep the agent going, so it hears of it with the next prompt.
fn wiring(state: &State, event: &Event, changed: &[String]) -> Judgement {
    let words = if changed.is_empty() { 0 } else { fnv(changed.iter().map(String::as_bytes)) | 1 };
    let is_stop = matches!(event.kind, EventKind::Stop(_));
    let told = WiringTold { human: words, agent: if is_stop && words != 0 { state.wiring.agent } else { words } };
    if told == state.wiring {
        return Judgement::default();
    }
    let line = changed.join("; ");
    let to_human = (words != 0 && state.wiring.human != words)
        .then(|| format!("{line}. `steadfast init` writes the hooks again; `steadfast doctor` checks all of them."));
    let to_agent = (words != 0 && !is_stop && state.wiring.agent != words).then(|| {
        format!(
            "{line}. Steadfast does not see events for which it is not called. Only a human can run `steadfast init`."
        )
    });
    let (verdict, aside) = match (to_human, to_agent) {
        (Some(note), aside) => (Verdict::Note(note), aside),
        (None, Some(context)) => (Verdict::Context(context), None),
        (None, None) => (Verdict::Pass, None),
    };
    Judgement { verdict, changes: vec![Change::WiringTold(told)], aside, ..Judgement::default() }
}

/// Reports settings that a call removed, to agent and human.
fn removed(files: &[RemovedFile]) -> Judgement {
    let line = |file: &RemovedFile| match &file.failed {
        None => {
            format!("This call removed `{}`, which holds the hooks of Steadfast. Steadfast put it back.", file.path)
        }
        Some(why) => format!(
            "This call removed `{}`, which holds the hooks of Steadfast, and it could not be put back ({why}). Only a \
             human can run `steadfast init`, which writes it again.",
            file.path
        ),
    };
    let text = files.iter().map(line).collect::<Vec<_>>().join(" ");
    Judgement { verdict: Verdict::Note(text.clone()), aside: Some(text), ..Judgement::default() }
}

/// Judges a command line, and the lines behind its git aliases, for effects that an agent may not have. A file without
/// a seal that is given to an unknown program leads to a question: nothing would restore it.
fn shell(event: &ParsedEvent<'_>, command: &str, gated: bool, facts: &Facts) -> Option<Verdict> {
    let context = Context { cwd: event.cwd.clone(), home: "~".to_owned() };
    let plainly = line(command, &context, || event.reading(), gated, facts);
    plainly.or_else(|| {
        let reading = event.reading().filter(|_| !facts.aliases.is_empty())?;
        alias_lines(reading, &facts.aliases).into_iter().find_map(|alias| {
            let read = effects(&alias.line, &context);
            line(&alias.line, &context, || Some(&read), gated, facts)
        })
    })
}

fn line<'a>(
    command: &str,
    context: &Context,
    reading: impl FnOnce() -> Option<&'a Reading>,
    gated: bool,
    facts: &Facts,
) -> Option<Verdict> {
    let deny = |reason| Verdict::Deny { reason };
    if is_key(command) {
        return Some(deny(key()));
    }
    let config = gated.then_some(CONFIG).into_iter().flatten();
    let names: Vec<&str> = NAMES.into_iter().chain(config).collect();
    let sweeps = !facts.wired.is_empty() && sweep::may_sweep(command);
    if !sweeps && facts.links.is_empty() && is_plain(command, context, &names) {
        return None;
    }
    let mut reading = Cow::Borrowed(reading()?);
    if let Some(through) = reading.through(target::links(facts)) {
        reading = Cow::Owned(through);
    }
    if sweeps {
        if let Some(refused) = sweep::refused(&reading, &facts.wired) {
            return Some(deny(refused));
        }
        reading.to_mut().effects.retain(|effect| !sweep::is_sweep(effect));
    }
    let reading = &*reading;
    // Possible writes of our files are refused, too, while a gate is closed and the line mentions them.
    let least = if gated && SPOKEN.iter().any(|name| command.contains(name)) {
        GuardDecision::Ask
    } else {
        GuardDecision::Deny
    };
    let refused =
        humans_command(reading).or_else(|| program(reading, facts)).or_else(|| reached(reading, least, gated, false));
    refused.map(deny).or_else(|| handed_over(reading))
}

fn handed_over(reading: &Reading) -> Option<Verdict> {
    let (program, path) = reading.handed_over(&[STATE.as_slice(), WIRING.as_slice()].concat())?;
    let reason = format!("`{program}` is given `{path}`, and Steadfast does not know whether it writes it.");
    Some(Verdict::Ask { reason })
}

/// Returns the refusal for writing the installed program: without it the hosts allow everything.
fn program(reading: &Reading, facts: &Facts) -> Option<String> {
    // A reading keeps `~` in a path wherever it is.
    let guarded = |path: &str| if path.starts_with('~') { format!("./{path}") } else { path.to_owned() };
    let program =
        facts.programs.iter().find(|path| judge(reading, &[guarded(path)]).decision == GuardDecision::Deny)?;
    Some(format!("`{program}` is Steadfast itself. A human installs, replaces or removes it."))
}

fn written<'a>(paths: impl Iterator<Item = &'a String>, cwd: &str, gated: bool, facts: &Facts) -> Option<String> {
    // Every call comes through here, so paths without any of these names are skipped.
    let mut named = paths.filter(|path| {
        let is_ours = |part: &str| NAMES.iter().chain(&CONFIG).any(|name| part.eq_ignore_ascii_case(name));
        let named = |text: &str| text.split('/').any(is_ours);
        named(path) || (!path.starts_with('/') && named(cwd))
    });
    named.find_map(|path| {
        let reading = Reading::of_write(&target::absolute(path, cwd), cwd);
        program(&reading, facts).or_else(|| reached(&reading, GuardDecision::Ask, gated, facts.keeps_hooks && !gated))
    })
}

/// Returns the refusal for a write of our files. Settings may be written if the write certainly keeps our hooks.
fn reached(reading: &Reading, least: GuardDecision, gated: bool, keeps_hooks: bool) -> Option<String> {
    let config = gated.then_some(CONFIG).into_iter().flatten();
    let wiring = (!keeps_hooks).then_some(WIRING).into_iter().flatten();
    let guarded = STATE.into_iter().chain(wiring).chain([KEY]).chain(config);
    let found = guarded.into_iter().find(|path| judge(reading, &[(*path).to_owned()]).decision >= least)?;
    Some(match found {
        path if CONFIG.contains(&path) => format!("`{path}` cannot be changed while the plan gate is closed."),
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

/// Returns the refusal for a command that only a human can run, behind any wrapper. An unknown argument (`steadfast
/// $WORDS`) is left to the command, which refuses it.
fn humans_command(reading: &Reading) -> Option<String> {
    let ours = reading.runs().filter(|run| match run.argv.first().and_then(Argument::known) {
        Some(program) => program.rsplit('/').next() == Some(PROGRAM),
        None => false,
    });
    let command = ours.filter_map(|run| human_command(run.arguments().iter().filter_map(Argument::known))).next()?;
    Some(format!(
        "Only a human can run `steadfast {command}`. If it is needed, say so; a human runs it in a terminal of their \
         own."
    ))
}

#[cfg(test)]
mod tests;
