//! The stop gate: a turn does not end while tasks of the session's plan are open.
//!
//! It always ends. Every refusal spends one of `max_cycles + earned`, `earned` grows by [`GIVEN_BACK`] at most once per
//! task a human put into the plan, and only a prompt of the human fills the account again. Besides, `max_idle` refusals
//! in a row without a tool call end it at once. What ends this way is `capped`, never `complete`.

use steadfast_model::{
    Background, Change, Direction, Effect, Event, EventKind, Fact, Facts, Host, Mode, Needs, OwnerEnd, PlanView,
    PolicyName, PromptOrigin, Release, Rules, StartSource, State, Status, Stopping, TaskLine, Verdict,
};

use super::{Judgement, Policy};

/// How many refusals a task gives back when it is closed for the first time.
const GIVEN_BACK: u32 = 3;

/// `/clear` ends a session and starts the next within moments.
const CLEARED_MS: i64 = 60_000;

#[derive(Debug)]
pub(super) struct Completion;

impl Policy for Completion {
    fn name(&self) -> PolicyName {
        PolicyName::Completion
    }

    fn direction(&self) -> Direction {
        Direction::Advice
    }

    fn mode(&self, rules: &Rules) -> Mode {
        rules.completion
    }

    fn needs(&self, state: &State, event: &Event) -> Needs {
        let asks = match &event.kind {
            EventKind::Stop(_) => event.agent.is_none(),
            EventKind::SessionStart { .. } | EventKind::Prompt { origin: PromptOrigin::Human, .. } => true,
            _ => false,
        };
        Needs { plan: asks && state.rules.stop.enabled }
    }

    fn judge(&self, state: &State, event: &Event, facts: &Facts) -> Judgement {
        if !state.rules.stop.enabled {
            return Judgement::default();
        }
        match &event.kind {
            EventKind::Stop(stopping) if event.agent.is_none() => stop(state, event, stopping, facts),
            EventKind::SessionStart { source } => start(event, *source, facts),
            EventKind::Prompt { text, origin: PromptOrigin::Human } => prompt(event, text, facts),
            EventKind::TaskChanged(changed) if changed.earned => {
                Judgement { changes: vec![Change::Earned(GIVEN_BACK)], ..Judgement::default() }
            }
            _ => Judgement::default(),
        }
    }
}

fn stop(state: &State, event: &Event, stopping: &Stopping, facts: &Facts) -> Judgement {
    let plan = match &facts.plan {
        Fact::Known(Some(plan)) if plan.owner.as_ref() == Some(&event.session) => plan,
        Fact::Known(_) | Fact::NotAsked => return Judgement::default(),
        Fact::Unknown(why) => {
            return Judgement::of(Verdict::Note(format!("steadfast could not look at the tasks: {why}")));
        }
    };
    // What is open and cannot be started waits for something that is blocked.
    if plan.counts.open() == 0 || plan.open.is_empty() {
        return closed(state, plan);
    }
    if state.stop.released == Some(Release::Capped) {
        return Judgement::default();
    }
    if waits(state, event, stopping) {
        return released(Release::Yielded, Verdict::Pass);
    }

    let limit = state.rules.stop.max_cycles.saturating_add(state.stop.earned);
    let capped = if state.stop.idle >= state.rules.stop.max_idle {
        Some(format!("{} refusals in a row without a tool call", state.stop.idle))
    } else if state.stop.refused >= limit {
        Some(format!("{} refusals since the last prompt", state.stop.refused))
    } else {
        None
    };
    if let Some(spent) = capped {
        let note = format!(
            "steadfast lets this session stop as capped, not complete: {}, after {spent}. `steadfast task list` shows \
             them; the next prompt arms the stop gate again.",
            how_many_open(plan)
        );
        return released(Release::Capped, Verdict::Note(note));
    }

    let reason = refusal(plan, event.host, state.stop.refused + 1, limit);
    Judgement { verdict: Verdict::Continue { reason }, changes: vec![Change::StopRefused], effects: Vec::new() }
}

/// Nothing is left for the agent: all is done, or what is left is blocked, by itself or through another.
fn closed(state: &State, plan: &PlanView) -> Judgement {
    let left = plan.counts.all() - plan.counts.done;
    if left == 0 {
        return released(Release::Complete, Verdict::Pass);
    }
    if state.stop.released == Some(Release::AllBlocked) {
        return Judgement::default();
    }
    let note = format!(
        "steadfast lets this session stop as all blocked: {left} of {} tasks are blocked, {} done. `steadfast task \
         list` shows why.",
        plan.counts.all(),
        plan.counts.done
    );
    released(Release::AllBlocked, Verdict::Note(note))
}

fn released(release: Release, verdict: Verdict) -> Judgement {
    Judgement { verdict, changes: vec![Change::StopReleased(release)], effects: Vec::new() }
}

/// The session is not stopping but waiting: something will wake it, or the human has taken over.
fn waits(state: &State, event: &Event, stopping: &Stopping) -> bool {
    let background = match &stopping.background {
        Some(background) => background.iter().any(Background::is_running),
        None => !state.subagents.is_empty(),
    };
    event.planning || state.interrupted || background || stopping.wakeups > 0
}

/// A new session: its own plan is put back into its context, one without a living owner is offered.
fn start(event: &Event, source: StartSource, facts: &Facts) -> Judgement {
    let Some(plan) = open_plan(facts) else { return Judgement::default() };
    if plan.owner.as_ref() == Some(&event.session) {
        return Judgement::of(Verdict::Context(owned(plan)));
    }
    if plan.owner.is_none() || plan.owner_ended.is_some() {
        let cleared = source == StartSource::Clear
            && plan
                .owner_ended
                .as_ref()
                .is_some_and(|end| end.reason == "clear" && event.at.since(end.at) < CLEARED_MS);
        return if cleared { take(event, plan) } else { Judgement::of(Verdict::Context(offer(plan))) };
    }
    Judgement::default()
}

/// The human names the plan: this session works on it.
fn prompt(event: &Event, text: &str, facts: &Facts) -> Judgement {
    let Some(plan) = open_plan(facts) else { return Judgement::default() };
    let free = plan.owner.is_none() || plan.owner_ended.is_some();
    if free && names(text, plan) { take(event, plan) } else { Judgement::default() }
}

fn take(event: &Event, plan: &PlanView) -> Judgement {
    let silent = plan.owner_ended.as_ref().is_some_and(|end| end.reason == OwnerEnd::SILENT);
    Judgement {
        verdict: Verdict::Context(owned(plan)),
        changes: Vec::new(),
        effects: vec![Effect::TakePlan {
            plan: plan.id.clone(),
            session: event.session.clone(),
            silent: plan.owner.clone().filter(|_| silent),
        }],
    }
}

fn open_plan(facts: &Facts) -> Option<&PlanView> {
    match &facts.plan {
        Fact::Known(Some(plan)) if plan.counts.open() > 0 => Some(plan),
        _ => None,
    }
}

/// Whether a prompt speaks of the plan. One that only asks something never holds a session.
fn names(text: &str, plan: &PlanView) -> bool {
    let text = text.trim().to_lowercase();
    if text.ends_with('?') {
        return false;
    }
    let title = plan.title.to_lowercase();
    ["the plan", "the tasks", "the task list", "steadfast task"].iter().any(|name| text.contains(name))
        || (title.chars().count() > 3 && text.contains(&title))
}

fn how_many_open(plan: &PlanView) -> String {
    let (open, all) = (plan.counts.open(), plan.counts.all());
    if open == 1 { format!("1 of {all} tasks is open") } else { format!("{open} of {all} tasks are open") }
}

fn refusal(plan: &PlanView, host: Host, refusal: u32, limit: u32) -> String {
    // In Codex's sandbox the shell cannot write the ledger; the MCP server can.
    let tools = match host {
        Host::Codex => " The MCP tools `task_done` and `task_block` do the same where the shell is read-only.",
        Host::Claude | Host::Sim => "",
    };
    let next = plan.open.first().map(|task| {
        format!(
            " Next is {id}. `steadfast task done {id}` closes it, `steadfast task block {id} --why REASON` sets it \
             aside.{tools}",
            id = task.id
        )
    });
    format!("{}{}{} (refusal {refusal} of {limit})", how_many_open(plan), list(plan), next.unwrap_or_default())
}

fn owned(plan: &PlanView) -> String {
    format!(
        "Steadfast holds the tasks of this session: {}{} `steadfast task list` shows all, `steadfast task done ID` \
         closes one. The turn can end when none is open.",
        how_many_open(plan),
        list(plan)
    )
}

fn offer(plan: &PlanView) -> String {
    format!(
        "Steadfast holds tasks for this worktree that no session works on: {}{} They concern this session only if it \
         is asked for them; `steadfast task start ID` takes them.",
        how_many_open(plan),
        list(plan)
    )
}

fn list(plan: &PlanView) -> String {
    let mut text = String::from(": ");
    for (index, task) in plan.open.iter().enumerate() {
        if index > 0 {
            text.push_str("; ");
        }
        line(&mut text, task);
    }
    let shown = u32::try_from(plan.open.len()).unwrap_or(u32::MAX);
    let more = plan.counts.open().saturating_sub(shown);
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text.push('.');
    text
}

fn line(text: &mut String, task: &TaskLine) {
    /// Longer titles are cut: a refusal is read many times.
    const TITLE: usize = 80;
    text.push_str(task.id.as_str());
    text.push(' ');
    if task.title.chars().count() > TITLE {
        text.extend(task.title.chars().take(TITLE - 1));
        text.push('…');
    } else {
        text.push_str(&task.title);
    }
    if task.status == Status::InProgress {
        text.push_str(" (in progress)");
    }
}

#[cfg(test)]
mod tests;
