//! A loop blocks stops like a task: after the stage `intent`, a stop of the bound session is refused, within the same
//! number of refusals. A loop that waits for a human blocks no stop.

use steadfast_model::{
    AddedBy, Approval, BindingWord, Brief, Change, Counts, Effect, Event, EventKind, ExitOn, Fact, Facts, LoopView,
    PlanId, PlanView, PromptOrigin, Release, Stage, StartSource, State, Stopping, Verdict,
};

use super::loop_order::{LoopOrder, loop_order};
use super::promise::{self, Promise};
use super::{CLEARED_MS, Gate, Judgement, owned_plan, released, text};
use crate::ParsedEvent;
use crate::order::{self, Order, Topic};

/// Returns true if this event requires the unfinished loop.
pub(super) fn needs_loop(event: &ParsedEvent<'_>) -> bool {
    match &event.kind {
        EventKind::Stop(_) => event.agent.is_none(),
        EventKind::SessionStart { .. } | EventKind::Prompt { origin: PromptOrigin::Human, .. } => true,
        EventKind::Binding(word) => matches!(word, BindingWord::Released(_)),
        _ => false,
    }
}

/// Returns the unfinished loop that sessions work on.
fn unfinished(facts: &Facts) -> Option<&LoopView> {
    match &facts.unfinished {
        Fact::Known(Some(looped)) if looped.run.is_none() => Some(looped),
        _ => None,
    }
}

fn is_bound(event: &Event, looped: &LoopView) -> bool {
    looped.session.as_ref() == Some(&event.session)
}

/// Judges a stop by the loop, after the tasks were judged.
pub(super) fn stop(state: &State, event: &Event, stopping: &Stopping, facts: &Facts, tasks: Judgement) -> Judgement {
    let Some(looped) = unfinished(facts).filter(|looped| is_bound(event, looped)) else { return tasks };
    if matches!(looped.stage, Stage::Intent | Stage::Complete) {
        return tasks;
    }
    let message = stopping.last_message.as_deref().unwrap_or_default();
    let of_loop = owned_plan(state, facts).is_some_and(|plan| looped.plan.as_ref() == Some(&plan.id));
    match (&tasks.verdict, release(&tasks)) {
        // A loop that waits for a human does not block a stop, and neither do its tasks.
        (Verdict::Continue { .. }, _) if of_loop && waiting_reason(looped).is_some() => {
            return release_waiting(looped, tasks.effects);
        }
        // No task of this session is open, so the loop decides.
        (Verdict::Pass, None)
        | (_, Some(Release::Complete | Release::NeedsReview | Release::Unmerged | Release::Unverified)) => {}
        (_, Some(Release::NeedsUser)) => return waiting(looped, promise::reason(message), tasks),
        _ => return tasks,
    }
    // A plan waits for the human's approval.
    if facts.gate.is_some() || state.gate.is_some() {
        return Judgement::default();
    }
    if is_of_others(event, facts, looped) || are_not_looked_at(state, facts, looped) {
        return Judgement::default();
    }
    let none = no_plan(event);
    let rules = &state.rules.stop;
    let plan = owned_plan(state, facts).unwrap_or(&none);
    let said = promise::promised(message, rules, plan.brief.promise.as_deref());
    let gate = Gate { state, event, plan, done: &facts.done, said, processes: &facts.processes };
    if gate.is_released() {
        return Judgement::default();
    }
    if waiting_reason(looped).is_some() {
        return release_waiting(looped, tasks.effects);
    }
    match said {
        Some(Promise::Checkpoint) if rules.allows(ExitOn::ContextCheckpoint) => {
            return released(Release::Checkpoint, Verdict::Note(text::loop_checkpoint_note(looped)));
        }
        Some(Promise::NeedsUser) if rules.allows(ExitOn::NeedsUser) => {
            let why = promise::reason(message);
            let note = text::loop_waits_note(looped, &why);
            return waiting(looped, why, released(Release::NeedsUser, Verdict::Note(note)));
        }
        _ => {}
    }
    if gate.waits(stopping) {
        return released(Release::Yielded, Verdict::Pass);
    }
    if let Some(spent) = gate.reached_limit() {
        let note = text::loop_capped_note(looped, &spent);
        return released(Release::Capped, Verdict::Note(note));
    }
    let promised = said == Some(Promise::Completion);
    Judgement {
        verdict: Verdict::Continue { reason: text::loop_unfinished(looped, promised) },
        changes: vec![Change::StopRefused],
        line: Some(text::loop_not_done(looped)),
        count: Some((state.stop.refused + 1, gate.limit())),
        ..Judgement::default()
    }
}

/// Returns the reason why it waits for a human.
fn waiting_reason(looped: &LoopView) -> Option<&str> {
    looped.waits.as_deref().or(looped.limit.as_deref())
}

/// Lets the session stop and tells the human why the loop is paused. A limit that was reached is recorded, so that
/// later readers see it, too.
fn release_waiting(looped: &LoopView, effects: Vec<Effect>) -> Judgement {
    let note = text::loop_waits_note(looped, waiting_reason(looped).unwrap_or_default());
    let judgement = Judgement { effects, ..released(Release::NeedsUser, Verdict::Note(note)) };
    match &looped.limit {
        Some(limit) => waiting(looped, limit.clone(), judgement),
        None => judgement,
    }
}

/// Returns the reason for which the tasks let the session stop.
fn release(tasks: &Judgement) -> Option<Release> {
    tasks.changes.iter().find_map(|change| match change {
        Change::StopReleased(release) => Some(*release),
        _ => None,
    })
}

/// Records that the loop waits for a human.
fn waiting(looped: &LoopView, why: String, mut judgement: Judgement) -> Judgement {
    judgement.effects.push(Effect::LoopWaits { id: looped.id.clone(), why: Some(why) });
    judgement
}

/// Returns true if another living session works on its open tasks.
fn is_of_others(event: &Event, facts: &Facts, looped: &LoopView) -> bool {
    let Fact::Known(Some(plan)) = &facts.plan else { return false };
    let held = plan.owner.as_ref().is_some_and(|owner| *owner != event.session) && plan.owner_ended.is_none();
    held && looped.plan.as_ref() == Some(&plan.id) && plan.counts.open() > 0
}

/// Returns true if the settings let a session stop with open tasks.
fn are_not_looked_at(state: &State, facts: &Facts, looped: &LoopView) -> bool {
    let rules = &state.rules.stop;
    let owned = owned_plan(state, facts).is_some_and(|plan| looped.plan.as_ref() == Some(&plan.id));
    looped.stage == Stage::Executing && looped.counts.open() > 0 && (owned || !rules.check_ready_tasks)
}

/// A stand-in for the plan of a loop that has none yet.
fn no_plan(event: &Event) -> PlanView {
    PlanView {
        id: PlanId::new(""),
        title: String::new(),
        worktree: event.cwd.clone(),
        hash: None,
        added_by: AddedBy::Human,
        approval: Approval::NotRequired,
        owner: None,
        owner_ended: None,
        run: None,
        counts: Counts::default(),
        open: Vec::new(),
        checking: Vec::new(),
        brief: Brief::default(),
    }
}

/// Tells a new session of the loop. A session that began with `/clear` stays bound to it.
pub(super) fn start(event: &Event, source: StartSource, facts: &Facts, mut started: Judgement) -> Judgement {
    // The experts and spec writers of a loop cannot continue it.
    if facts.of_run {
        return started;
    }
    started.aside.clone_from(&facts.looped);
    if let Some(looped) = unfinished(facts) {
        let cleared = looped
            .session_ended
            .as_ref()
            .is_some_and(|end| end.reason == "clear" && event.at.since(end.at) < CLEARED_MS);
        if source == StartSource::Clear && cleared && !is_bound(event, looped) {
            started.effects.push(binding(event, looped));
        }
    }
    started
}

/// Judges a prompt: the human orders the loop or leaves it. Any prompt ends the waiting of a session that asked for the
/// human.
pub(super) fn prompt(event: &Event, text: &str, facts: &Facts, mut told: Judgement) -> Judgement {
    let Some(looped) = unfinished(facts) else { return told };
    let bound = is_bound(event, looped);
    let order = loop_order(text);
    let leaves = order == Some(LoopOrder::Leave) || order::read(text, Topic::default()) == Order::Release;
    if bound && leaves {
        told.effects.push(released_from(looped));
        return told;
    }
    match order {
        Some(LoopOrder::GoOn) if !bound => {
            told.effects.push(binding(event, looped));
            if told.line.is_none() {
                told.line = Some(text::loop_bound_note(looped));
            }
        }
        Some(LoopOrder::GoOn | LoopOrder::Leave) | None => {}
    }
    if looped.waits.is_some() && (bound || order == Some(LoopOrder::GoOn)) {
        told.effects.push(Effect::LoopWaits { id: looped.id.clone(), why: None });
    }
    told
}

/// A session that a human releases from its plan is released from its loop, too.
pub(super) fn on_command(event: &Event, word: &BindingWord, facts: &Facts, mut judged: Judgement) -> Judgement {
    if let (BindingWord::Released(_), Some(looped)) = (word, unfinished(facts))
        && is_bound(event, looped)
    {
        judged.effects.push(released_from(looped));
    }
    judged
}

fn released_from(looped: &LoopView) -> Effect {
    Effect::BindLoop { id: looped.id.clone(), session: None }
}

fn binding(event: &Event, looped: &LoopView) -> Effect {
    Effect::BindLoop { id: looped.id.clone(), session: Some(event.session.clone()) }
}
