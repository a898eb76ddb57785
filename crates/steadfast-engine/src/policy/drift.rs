//! Judges whether the agent still does what the human asked for.
//!
//! A step is scored when its call has returned, and the agent hears of it at once, if at all. Only with `enforce` is a
//! call refused, and only at the last level.

mod batch;
mod text;

use std::borrow::Cow;

use steadfast_model::{
    Attempt, Change, Course, Direction, Drift as Memory, DriftChange, Event, EventKind, Fact, Facts, Level, Mode,
    Needs, Neighbours, Outcome, PolicyName, Rules, Score, State, Step, StepKind, ToolUseId, Verbosity, Verdict,
};

use super::{Judgement, Policy};
use crate::ParsedEvent;
use crate::drift::{
    Leads, StepScore, ToolEffects, Without, WorkScope, failure, folder, learn_reading, mark, prompt_changes,
    read_changes, score, unix, write_changes,
};

/// The number of writing steps that the agent has to answer a correction before it hears the next level. The calls of
/// one model answer were all made before the first of them was corrected.
const QUIET: u8 = 3;

/// The same after a halt, the highest level.
const QUIET_AFTER_HALT: u8 = 24;

#[derive(Debug)]
pub(super) struct Drift;

impl Policy for Drift {
    fn name(&self) -> PolicyName {
        PolicyName::Drift
    }

    fn direction(&self) -> Direction {
        Direction::Advice
    }

    fn mode(&self, rules: &Rules) -> Mode {
        rules.drift_mode
    }

    /// Effects that a call does not show have to be looked up. The current task or the history may name a file that
    /// would otherwise lead away.
    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        let Some(effects) = finished_effects(state, event) else { return Needs::default() };
        let astray = leads_away(state, &effects);
        Needs {
            plan: astray || effects.changes_files() && is_undeclared(state),
            neighbours: astray,
            // Before the first write nothing leads away, so git is not asked.
            changed: effects.unknown && (state.drift.at_work || effects.kind == Some(StepKind::Delegate)),
            ..Needs::default()
        }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
        follow(state, event, facts, Without::default())
    }
}

/// Returns true if this is the first write and no text named the place of the work.
fn is_undeclared(state: &State) -> bool {
    let named = state.goal.as_ref().is_some_and(|goal| !goal.scope.is_empty()) || !state.rules.drift.scope.is_empty();
    !named && !state.drift.begun && !state.drift.said_undeclared
}

/// Judges an event, without the signals that are left out.
pub fn follow(state: &State, event: &ParsedEvent<'_>, facts: &Facts, without: Without<'_>) -> Judgement {
    match &event.kind {
        EventKind::PostTool(_) | EventKind::SubagentStop(_) => After::of(state, event, facts, without).judge(),
        EventKind::PreTool(_) if state.rules.drift_mode == Mode::Enforce => before(state, event, without),
        EventKind::Prompt { origin, .. } if origin.sets_work() && event.agent.is_none() => {
            on_prompt(state, event, without)
        }
        EventKind::ToolBatch { .. } => {
            let batch::Told { verdict, line, change } = batch::on_end(&state.drift, event);
            Judgement { verdict, line, changes: changes(change), ..Judgement::default() }
        }
        EventKind::Stop(_) if state.drift.course != Course::Normal => {
            Judgement::of(Verdict::Note(text::at_stop(&state.drift)))
        }
        _ => Judgement { changes: changes(prompt_changes(state, event, without)), ..Judgement::default() },
    }
}

fn root<'a>(state: &'a State, event: &'a Event) -> Cow<'a, str> {
    if state.drift.root.is_empty() { unix(&event.cwd, &event.cwd) } else { Cow::Borrowed(&state.drift.root) }
}

fn effects(state: &State, event: &ParsedEvent<'_>) -> ToolEffects {
    ToolEffects::of(event, &root(state, event), state.rules.approval.scratch())
}

/// Returns the effects of a finished call or subagent.
fn finished_effects(state: &State, event: &ParsedEvent<'_>) -> Option<ToolEffects> {
    match &event.kind {
        EventKind::PostTool(_) => Some(effects(state, event)),
        EventKind::SubagentStop(_) => Some(ToolEffects::delegated()),
        _ => None,
    }
}

/// Adds the files that changed while a call ran to its writes. Files that the session wrote before are left out (a
/// formatter that runs over them is no news), and so are folders for which the agent was already corrected.
fn add_changed(effects: &mut ToolEffects, state: &State, event: &Event, changed: &[String]) {
    let places = &state.drift.places;
    let is_new = |path: &&String| {
        !places.known.contains(path)
            && !places.fresh.contains(path)
            && !places.told.iter().any(|told| told == folder(path))
    };
    effects.changed(changed.iter().filter(is_new), &root(state, event), state.rules.approval.scratch());
}

/// Returns the paths that an event wrote, shown or not.
pub fn written(state: &State, event: &ParsedEvent<'_>, changed: &Fact<Vec<String>>) -> Vec<String> {
    let mut effects = finished_effects(state, event).unwrap_or_default();
    if let Fact::Known(changed) = changed {
        add_changed(&mut effects, state, event, changed);
    }
    effects.writes
}

/// Returns true if the files that a command really changed lead away from the goal. The current task and the history
/// are then required as for a call that shows its writes.
pub fn leads_astray(state: &State, event: &ParsedEvent<'_>, changed: &[String]) -> bool {
    let Some(mut effects) = finished_effects(state, event).filter(|effects| effects.unknown) else { return false };
    add_changed(&mut effects, state, event, changed);
    leads_away(state, &effects)
}

/// Returns true if these writes would cause a correction.
fn leads_away(state: &State, effects: &ToolEffects) -> bool {
    let scope = WorkScope { goal: state.goal.as_ref(), always: &state.rules.drift.scope, ..WorkScope::default() };
    let scored = || score(&state.drift, scope, effects, None, Without::default());
    effects.changes_files() && scored().is_some_and(|scored| scored.score.level() > Level::None)
}

fn changes(all: impl IntoIterator<Item = DriftChange>) -> Vec<Change> {
    all.into_iter().map(Change::Drift).collect()
}

/// Judges a human's prompt: it ends the drift, and the agent hears where it stood.
fn on_prompt(state: &State, event: &Event, without: Without<'_>) -> Judgement {
    let mut said = prompt_changes(state, event, without);
    let memory = &state.drift;
    said.extend(batch::dropped(memory));
    let mut verdict = Verdict::Pass;
    if memory.course != Course::Normal {
        verdict = Verdict::Context(text::at_prompt(memory));
    }
    if memory.course != Course::Normal || memory.escalation > 0 || memory.corrected {
        said.push(DriftChange::Steered {
            astray: 0,
            quiet: 0,
            escalation: 0,
            course: Course::Normal,
            awaited: None,
            corrected: false,
        });
    }
    Judgement { verdict, changes: changes(said), ..Judgement::default() }
}

/// With `enforce`, refuses a call that would be answered with the last level.
fn before(state: &State, event: &ParsedEvent<'_>, without: Without<'_>) -> Judgement {
    let effects = effects(state, event);
    if !effects.changes_files() {
        return Judgement::default();
    }
    let scope = WorkScope { goal: state.goal.as_ref(), always: &state.rules.drift.scope, ..WorkScope::default() };
    let scored = score(&state.drift, scope, &effects, None, without);
    let Some(scored) = scored else { return Judgement::default() };
    if level(&state.drift, scored.score) < Level::Halt {
        return Judgement::default();
    }
    let verdict = Verdict::Deny { reason: text::refusal(state, &scored, recovery(state, &[]).as_deref()) };
    Judgement { verdict, changes: changes([DriftChange::Halted]), ..Judgement::default() }
}

/// Returns the level of a score. After an ignored correction it rises by one, once the agent had time to answer. It
/// never falls before a step is on course.
fn level(memory: &Memory, score: Score) -> Level {
    let level = score.level();
    if !memory.corrected || level == Level::None {
        return level.after(memory.escalation);
    }
    let told = memory.told.max(Level::Correct);
    if memory.quiet > 0 { told } else { told.after(1) }
}

/// Returns a path that would be back on course: of the current task, of the work, or of the goal.
fn recovery(state: &State, of_task: &[String]) -> Option<String> {
    let named = state.goal.as_ref().and_then(|goal| goal.scope.first());
    of_task.first().or(state.drift.places.known.last()).or(named).cloned()
}

/// A call that has returned.
struct After<'a> {
    without: Without<'a>,
    state: &'a State,
    event: &'a ParsedEvent<'a>,
    call: Option<ToolUseId>,
    effects: ToolEffects,
    /// The hash of the error, which distinguishes it from others.
    error: Option<u32>,
    interrupted: bool,
    /// Files changed that the call did not show.
    changed: bool,
    /// All files that changed while it ran, new or not.
    all_changed: &'a Fact<Vec<String>>,
    always: Vec<String>,
    of_task: Vec<String>,
    /// The session works on a plan, which defines the work.
    has_tasks: bool,
    neighbours: &'a [Neighbours],
}

impl<'a> After<'a> {
    fn of(state: &'a State, event: &'a ParsedEvent<'a>, facts: &'a Facts, without: Without<'a>) -> Self {
        let plan = match &facts.plan {
            Fact::Known(Some(plan)) if state.is_bound(plan) => Some(plan),
            _ => None,
        };
        let current = plan.and_then(|plan| plan.brief.current.as_ref());
        let of_task = current.map(|current| current.files.clone()).unwrap_or_default();
        let always = state.rules.drift.scope.iter().chain(&of_task).cloned().collect();
        let result = if let EventKind::PostTool(result) = &event.kind { Some(result) } else { None };
        let error = result.and_then(|result| match &result.outcome {
            Outcome::Failed { error } => Some(failure(error)),
            Outcome::Ok | Outcome::Interrupted => None,
        });
        let mut effects = finished_effects(state, event).unwrap_or_default();
        let shown = effects.writes.len();
        if let Fact::Known(changed) = &facts.changed {
            add_changed(&mut effects, state, event, changed);
        }
        Self {
            without,
            state,
            event,
            call: result.and_then(|result| result.call.id.clone()),
            changed: effects.writes.len() > shown,
            all_changed: &facts.changed,
            effects,
            error,
            interrupted: result.is_some_and(|result| result.outcome == Outcome::Interrupted),
            always,
            of_task,
            has_tasks: plan.is_some(),
            neighbours: &facts.neighbours,
        }
    }

    fn judge(self) -> Judgement {
        let wrote = self.writes();
        let mut judged = self.score();
        judged.changes.extend(wrote);
        judged
    }

    /// Returns the writes of the call, shown or not. A script may write before it fails; an edit that failed wrote
    /// nothing.
    fn writes(&self) -> Option<Change> {
        let ToolEffects { kind, writes, deletes, unknown, .. } = &self.effects;
        let is_edit = matches!(kind, Some(StepKind::Edit | StepKind::Write));
        if is_edit && (self.error.is_some() || self.interrupted) {
            return None;
        }
        let mut paths: Vec<String> = writes.iter().chain(deletes).cloned().collect();
        match self.all_changed {
            Fact::Known(changed) => paths.extend(changed.iter().filter(|path| !writes.contains(path)).cloned()),
            // The call may have written anything.
            _ if *unknown => return Some(Change::Wrote { at: self.event.at, paths: Vec::new() }),
            _ => {}
        }
        (!paths.is_empty()).then_some(Change::Wrote { at: self.event.at, paths })
    }

    fn score(self) -> Judgement {
        let memory = &self.state.drift;
        let mut said = prompt_changes(self.state, self.event, self.without);
        if self.interrupted {
            return Judgement { changes: changes(said), ..Judgement::default() };
        }
        let scope = WorkScope { goal: self.state.goal.as_ref(), always: &self.always, neighbours: self.neighbours };
        let attempt = self.attempt();
        if self.error.is_none() {
            said.extend(read_changes(memory, scope, &self.effects, self.without));
        }
        said.extend(learn_reading(memory, self.event, &self.effects, self.without));
        let scored = score(memory, scope, &self.effects, attempt, self.without);
        said.extend(attempt.map(DriftChange::Tried));
        let Some(scored) = scored.filter(|scored| self.is_step(scored)) else {
            said.extend(self.back_on_course());
            return Judgement { changes: changes(said), ..Judgement::default() };
        };
        if self.error.is_none() || self.changed {
            said.extend(write_changes(memory, &self.effects, &scored));
        }
        let (verdict, line, more) = self.answer(&scored);
        said.extend(more);
        Judgement { verdict, changes: changes(said), line, ..Judgement::default() }
    }

    /// Returns false for calls that only read and for commands that failed for the first time.
    fn is_step(&self, scored: &StepScore) -> bool {
        if self.error.is_some() && !self.changed { scored.score < Score::BEST } else { self.effects.changes_files() }
    }

    /// Returns the attempt to remember: a failure, or a call that ends a series of failures.
    fn attempt(&self) -> Option<Attempt> {
        let target = self.effects.target().filter(|_| self.effects.kind.is_some())?;
        let failed_before = || self.state.drift.window.iter().any(|earlier| earlier.target == target);
        (self.error.is_some() || failed_before()).then_some(Attempt { target, error: self.error })
    }

    /// Returns the change back on course, if the agent was only to read the awaited file again.
    fn back_on_course(&self) -> Option<DriftChange> {
        let memory = &self.state.drift;
        let awaited = memory.awaited.as_ref().filter(|path| self.effects.reads.contains(path))?;
        (memory.course == Course::Forced && !awaited.is_empty()).then(|| self.steered(memory, Course::Normal, 0))
    }

    fn steered(&self, memory: &Memory, course: Course, astray: u8) -> DriftChange {
        DriftChange::Steered {
            astray,
            quiet: memory.quiet,
            escalation: memory.escalation.saturating_sub(1),
            course,
            awaited: None,
            corrected: false,
        }
    }

    /// Returns the answer to a step, the line for the human, and the changes to the session's memory.
    fn answer(&self, scored: &StepScore) -> (Verdict, Option<String>, Vec<DriftChange>) {
        let memory = &self.state.drift;
        let level = level(memory, scored.score);
        let corrected = level >= Level::Correct;
        let writes = self.effects.changes_files();
        // The agent has heard this level and still has time to answer it.
        let again = memory.corrected && memory.quiet > 0 && level <= memory.told;
        let escalation = match (corrected && !again, scored.score >= Score::new(8)) {
            (true, _) => (memory.escalation + u8::from(memory.corrected)).min(Memory::ESCALATION),
            (false, true) => memory.escalation.saturating_sub(1),
            (false, false) => memory.escalation,
        };
        let follows = scored.score >= Score::new(8)
            || memory.awaited.as_ref().is_some_and(|awaited| self.effects.writes.contains(awaited));
        let course = match memory.course {
            _ if escalation >= Memory::ESCALATION => Course::Forced,
            Course::Forced if !self.does_awaited() => Course::Forced,
            _ if !scored.score.is_validated() => Course::Drifted,
            Course::Drifted if !follows => Course::Drifted,
            _ => Course::Normal,
        };
        let recovery = (level > Level::None).then(|| recovery(self.state, &self.of_task)).flatten();
        let text = text::correction(self.state, scored, level, recovery.as_deref()).filter(|text| {
            !again && level >= self.state.rules.drift.quiet_below() && !memory.said.contains(&mark(text))
        });
        let steered = DriftChange::Steered {
            astray: match scored.leads.filter(|_| writes && memory.at_work) {
                Some(Leads::Away) => memory.astray.saturating_add(1),
                Some(Leads::Near) => memory.astray,
                Some(Leads::Back) | None => 0,
            },
            quiet: if corrected && !again {
                if level == Level::Halt { QUIET_AFTER_HALT } else { QUIET }
            } else {
                memory.quiet.saturating_sub(batch::answer_weight(memory))
            },
            escalation,
            course,
            awaited: if course == Course::Normal { None } else { memory.awaited.clone().or(recovery.clone()) },
            corrected: corrected || (memory.corrected && scored.score < Score::new(8)),
        };
        let mut said = vec![DriftChange::Stepped(Box::new(self.step(scored, level, recovery, text.clone())))];
        if !self.is_where_it_was(&steered) {
            said.push(steered);
        }
        said.extend(text.as_deref().map(mark).map(DriftChange::Said));
        let verbosity = self.state.rules.verbosity;
        let is_first = verbosity == Verbosity::Detailed || memory.tally.of(level) == 0;
        let line = text.as_ref().filter(|_| is_first).and_then(|_| text::line(scored, level, verbosity));
        let Some(text) = text else {
            let verdict = self.undeclared(&mut said);
            return (verdict, None, said);
        };
        let told = batch::tell(memory, self.event, level, text, line);
        said.extend(told.change);
        (told.verdict, told.line, said)
    }

    fn does_awaited(&self) -> bool {
        let awaited = self.state.drift.awaited.as_ref();
        awaited.is_none_or(|path| self.effects.writes.contains(path) || self.effects.reads.contains(path))
    }

    fn is_where_it_was(&self, steered: &DriftChange) -> bool {
        let Memory { astray, quiet, escalation, course, awaited, corrected, .. } = &self.state.drift;
        *steered
            == DriftChange::Steered {
                astray: *astray,
                quiet: *quiet,
                escalation: *escalation,
                course: *course,
                awaited: awaited.clone(),
                corrected: *corrected,
            }
    }

    fn step(&self, scored: &StepScore, level: Level, recovery: Option<String>, correction: Option<String>) -> Step {
        Step {
            number: self.state.drift.tally.steps + 1,
            kind: scored.kind,
            call: self.call.clone(),
            paths: self.effects.writes.iter().take(Step::PATHS).cloned().collect(),
            command: self.effects.command.as_ref().map(|line| line.chars().take(Step::COMMAND).collect()),
            score: scored.score,
            level,
            reasons: scored.reasons.clone(),
            thinking: self.event.thinking.clone(),
            recovery,
            correction,
        }
    }

    /// Tells the human once that no text names the place of the work.
    fn undeclared(&self, said: &mut Vec<DriftChange>) -> Verdict {
        if !is_undeclared(self.state) || self.has_tasks || self.effects.writes.is_empty() {
            return Verdict::Pass;
        }
        said.push(DriftChange::SaidUndeclared);
        if self.state.rules.verbosity == Verbosity::Quiet {
            return Verdict::Pass;
        }
        Verdict::Note(text::undeclared(&self.state.drift, &self.effects))
    }
}

#[cfg(test)]
mod tests;
