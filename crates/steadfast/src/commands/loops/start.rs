use std::io::{self, IsTerminal};

use clap::Args;
use serde_json::{Value, json};
use steadfast_model::{Limits, Loop, LoopLimits};
use steadfast_store::SessionFiles;
use steadfast_store::ledger::{Recalled, RecalledItem};
use steadfast_work::Caller;
use steadfast_work::Repository;
use steadfast_work::loops::{Author, BindingRule, Loops, Request, StartedLoop, how, question};

use super::score::{missing, questions, scores_json, show_marks};
use super::status::{limits_json, limits_line};
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::limit::LimitFlags;
use crate::output::{answer, ask, note, tell};
use crate::recalled;

/// Start a loop from a request or a spec: recall related learnings, and judge its clarity.
///
/// If a loop is unfinished, offers to resume it, to archive it and start afresh, or to show it.
#[derive(Debug, Args)]
pub(in crate::commands) struct Start {
    /// Request in a sentence, or the file of a spec; `-` is standard input.
    request: Option<String>,
    /// Continue the unfinished loop.
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    /// Archive the unfinished loop, and start this one.
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    limits: LimitFlags,
    /// Print JSON with stable keys: `{loop, stage, spec_score, fit_score, shape_chosen, familiar, limits: {iterations,
    /// budget_usd}, marks: [{dimension, points, rule, line, text}], missing: [{dimension, question}], recalled: [{id,
    /// text, why, kind, status, reason}], next: {stage, standing, action}}`; a null limit means no limit.
    #[arg(long)]
    json: bool,
}

/// The choice about an unfinished loop.
enum Choice {
    Resume,
    Fresh,
    Status,
}

impl Start {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let caller = here::caller(&repository, "loop start");
        let mut loops = Loops::of(&repository)?;
        // A loop that waits for a clearer request is replaced by that request.
        let is_replaced = |looped: &Loop| looped.is_unclear() && self.request.is_some() && !self.resume;
        match loops.unfinished()?.filter(|looped| !is_replaced(looped)) {
            None if self.resume => {
                loops.current()?;
            }
            None => {}
            Some(found) => match self.choice(&caller, &found)? {
                Choice::Resume => {
                    let found = self.limited(&mut loops, &caller, found)?;
                    loops.bind(&caller, &found, BindingRule::TakeOver)?;
                    return resume(&loops, &found, self.json);
                }
                Choice::Status => return super::status::show(&loops, &found, self.json),
                Choice::Fresh => {
                    loops.archive(&found)?;
                    note!("loop {} is archived; its plan and its work are kept", found.id);
                }
            },
        }
        let Some(request) = &self.request else {
            return Err(CommandError::usage("no request given")
                .hint("`steadfast loop start \"REQUEST\"`, or `steadfast loop start SPEC.md`"));
        };
        let mut request = Request::read(request, &repository.place.root, &repository.environment)?;
        request.author = Author::of(&caller, &repository.place);
        let is_asked = !caller.is_agent() && !self.json;
        let request = if is_asked { request.clarified(|dimension| ask(&question(dimension))) } else { request };
        let mut begun = loops.begin(&request)?;
        let limits = self.limits.of_loop(of_settings(&repository.config.load()?.run.limits()));
        begun.looped = loops.set_limits(&begun.looped, limits)?;
        loops.bind(&caller, &begun.looped, BindingRule::TakeOver)?;
        if self.json {
            tell!("{}", to_json(&loops, &begun)?)?;
        } else {
            show(&loops, &begun)?;
        }
        if begun.looped.is_unclear() { Err(not_clear(&begun, is_attended(&repository, &caller))) } else { Ok(()) }
    }

    fn limited(&self, loops: &mut Loops<'_>, caller: &Caller, looped: Loop) -> Result<Loop, CommandError> {
        let limits = self.limits.of_loop(looped.limits);
        if limits == looped.limits { Ok(looped) } else { Ok(loops.limit(caller, &looped, limits)?) }
    }

    fn choice(&self, caller: &Caller, found: &Loop) -> Result<Choice, CommandError> {
        if self.resume {
            return Ok(Choice::Resume);
        }
        if self.fresh {
            return Ok(Choice::Fresh);
        }
        let unfinished = format!("loop {} is not finished: {} ({})", found.id, found.request, found.stage.as_str());
        if caller.is_agent() || self.json || !io::stdin().is_terminal() {
            return Err(CommandError::needs_human(unfinished)
                .hint("`steadfast loop start --resume` continues it")
                .hint("`steadfast loop start --fresh TEXT` archives it and starts another; only a human can run this")
                .hint("`steadfast loop status` shows its status"));
        }
        let answer =
            answer(&format!("{unfinished}\nresume it, archive it and start afresh, or show its status? [r/f/S] "));
        Ok(match answer.trim() {
            "r" | "R" | "resume" => Choice::Resume,
            "f" | "F" | "fresh" => Choice::Fresh,
            _ => Choice::Status,
        })
    }
}

/// A loop in a session gets the limits of a run from the settings.
fn of_settings(limits: &Limits) -> LoopLimits {
    LoopLimits { iterations: limits.iterations(), micro_usd: limits.micro_usd }
}

/// Returns true if a human can answer: at a terminal, or in an attended session.
fn is_attended(repository: &Repository, caller: &Caller) -> bool {
    if !caller.is_agent() {
        return io::stdin().is_terminal();
    }
    let state = caller.session.as_ref().and_then(|session| SessionFiles::of(&repository.place, session).peek());
    state.is_some_and(|state| state.attended)
}

/// The error about an unclear request: needs a human if one is there, else refused.
pub(crate) fn not_clear(begun: &StartedLoop, attended: bool) -> CommandError {
    let said =
        format!("the request is not clear enough: {} of 10 points, at least 5 are required", begun.judged.scores.spec);
    let error = if attended { CommandError::needs_human(said) } else { CommandError::refused(said) };
    let asked = questions(&begun.judged.score).into_iter().fold(error, CommandError::hint);
    asked
        .hint("add the answers to the request, and run `steadfast loop start TEXT` again")
        .hint("a human accepts the request with `steadfast loop override --why REASON`")
}

fn resume(loops: &Loops<'_>, found: &Loop, json: bool) -> Result<(), CommandError> {
    if json {
        return super::status::show(loops, found, json);
    }
    tell!("{}", loops.resume_text(found)?)
}

fn show(loops: &Loops<'_>, begun: &StartedLoop) -> Result<(), CommandError> {
    let StartedLoop { looped, judged, recalled, instead_of } = begun;
    if let Some(waiting) = instead_of {
        note!("replaced loop {waiting}, which waited for a clearer request");
    }
    tell!("loop {}: {}", looped.id, looped.request)?;
    show_recalled(recalled)?;
    show_marks(&judged.score)?;
    tell!("spec score {} of 10, fit to run alone {} of 75", judged.scores.spec, judged.scores.fit)?;
    tell!("{}", how(judged.scores.autonomy))?;
    for check in &looped.asked.checks {
        tell!("has to pass at the end: `{}`", check.command)?;
    }
    tell!("{}", limits_line(looped))?;
    if !looped.is_unclear() {
        tell!("next: {}", loops.next(looped)?.action)?;
    }
    Ok(())
}

fn show_recalled(recalled: &[Recalled]) -> Result<(), CommandError> {
    let now = environment::now();
    for one in recalled {
        if let RecalledItem::Learning(learning) = &one.memory {
            tell!("{} [learning {}]", recalled::line(one, now), learning.id)?;
        }
    }
    if !recalled.is_empty() {
        note!("a human confirms or dismisses learnings: `steadfast learn confirm ID`, `steadfast learn dismiss ID`");
    }
    Ok(())
}

fn to_json(loops: &Loops<'_>, begun: &StartedLoop) -> Result<Value, CommandError> {
    let StartedLoop { looped, judged, recalled, .. } = begun;
    let mut shown = scores_json(judged);
    shown["loop"] = json!(looped.id);
    shown["stage"] = json!(looped.stage);
    shown["limits"] = limits_json(looped.limits);
    shown["missing"] = missing(&judged.score);
    shown["recalled"] = recalled.iter().map(recalled::to_json).collect();
    shown["next"] = json!(loops.next(looped)?);
    Ok(shown)
}
