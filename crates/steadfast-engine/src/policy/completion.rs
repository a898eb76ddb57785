//! The stop gate: a turn does not end while tasks of the session's plan are open.
//!
//! The gate always gives way in the end. Every refusal spends one of `max_cycles + earned`. `earned` grows by
//! [`GIVEN_BACK`] at most once for each task that a human put into the plan, and only a prompt of the human resets the
//! count. In addition, `max_idle` refusals in a row without a tool call end it at once. A session that stops this way
//! is `capped`, never `complete`.

mod binding;
mod brief;
mod loop_order;
mod loops;
mod promise;
mod subagent;
mod text;
mod tokens;
mod waiting;

use steadfast_model::{
    BindingChange, Change, Direction, DoneHere, Effect, Event, EventKind, ExitOn, Fact, Facts, Liveness, Mode, Needs,
    PlanView, PolicyName, PromptOrigin, Release, Rules, StartSource, State, Status, Stopping, TaskLine, TaskLines,
    Verdict,
};

use super::{Judgement, Policy};
use crate::{ParsedEvent, human_line};
use promise::Promise;
use text::Ways;

pub use brief::for_session as session_brief;

/// The refusals that a task gives back when it is closed for the first time.
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

    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        let asks = match &event.kind {
            EventKind::Stop(_) => event.agent.is_none(),
            EventKind::SessionStart { .. } | EventKind::Prompt { origin: PromptOrigin::Human, .. } => true,
            EventKind::SubagentStart => is_working(event),
            // A session that starts a task is bound by the must-nots of its plan from then on.
            EventKind::TaskChanged(changed) => changed.status == Status::InProgress,
            EventKind::SubagentStop(_) => event.agent.as_ref().is_some_and(|agent| state.tasks_of(&agent.id).is_some()),
            _ => false,
        };
        let enabled = state.rules.stop.enabled;
        Needs {
            plan: asks && enabled,
            task_files: asks && enabled && binding::needs_files(state, event),
            looped: enabled && loops::needs_loop(event),
            processes: asks && enabled && waiting::needs_processes(event),
            ..Needs::default()
        }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
        if !state.rules.stop.enabled {
            return Judgement::default();
        }
        // An agent without budget can do nothing more, so it may stop.
        if facts.spent.is_some() && matches!(event.kind, EventKind::Stop(_) | EventKind::SubagentStop(_)) {
            return Judgement::default();
        }
        match &event.kind {
            EventKind::Stop(stopping) if event.agent.is_none() => {
                let judged = loops::stop(state, event, stopping, facts, stop(state, event, stopping, facts));
                if owned_plan(state, facts).is_some() {
                    with_tracker_news(judged, facts, Verdict::Note)
                } else {
                    judged
                }
            }
            EventKind::SubagentStop(stopping) => subagent::stop(state, event, stopping, facts),
            EventKind::SubagentStart if is_working(event) => {
                let told = owned_plan(state, facts)
                    .filter(|plan| plan.counts.open() > 0 && plan.approval.is_enough())
                    .and_then(brief::for_subagent);
                told.map(|text| Judgement::of(Verdict::Context(text))).unwrap_or_default()
            }
            EventKind::SessionStart { source } => {
                let started = binding::inherit(state, facts, start(state, event, *source, facts));
                let started = loops::start(event, *source, facts, started);
                changed_spec(with_tracker_news(started, facts, Verdict::Context), *source, facts)
            }
            EventKind::Prompt { text, origin: PromptOrigin::Human, .. } => {
                loops::prompt(event, text, facts, binding::prompt(state, event, text, facts))
            }
            EventKind::Binding(word) => loops::on_command(event, word, facts, binding::on_command(state, event, word)),
            EventKind::PostTool(result) => binding::on_write(state, event, result, facts),
            EventKind::PreTool(_) | EventKind::Command { .. } if binding::is_own_call(state, event) => {
                Judgement { changes: vec![Change::Binding(BindingChange::Ordered)], ..Judgement::default() }
            }
            EventKind::TaskChanged(changed) if changed.earned => {
                Judgement { changes: vec![Change::Earned(GIVEN_BACK)], ..Judgement::default() }
            }
            _ => Judgement::default(),
        }
    }
}

/// Returns true for a subagent with work of the session, false for one of the host's own.
fn is_working(event: &Event) -> bool {
    event.agent.as_ref().is_some_and(|agent| !agent.agent_type.is_empty())
}

/// Adds the news of the external tracker to a judgement.
fn with_tracker_news(mut judgement: Judgement, facts: &Facts, alone: fn(String) -> Verdict) -> Judgement {
    if facts.elsewhere.is_empty() {
        return judgement;
    }
    let lines = facts.elsewhere.join("\n");
    match &mut judgement.verdict {
        Verdict::Pass => judgement.verdict = alone(lines),
        // Stops and starts never ask the human.
        Verdict::AskInstead(_) => {}
        Verdict::Context(text) | Verdict::Note(text) => text.push_str(&format!("\n{lines}")),
        Verdict::Deny { reason } | Verdict::Ask { reason } | Verdict::Continue { reason } => {
            reason.push_str(&format!("\n{lines}"));
        }
    }
    judgement
}

/// Adds how the spec changed since it was loaded: for the agent, and once per session start for the human.
fn changed_spec(mut judgement: Judgement, source: StartSource, facts: &Facts) -> Judgement {
    let (Some(change), Fact::Known(Some(plan))) = (facts.spec, &facts.plan) else { return judgement };
    let line = change.describe(plan.brief.spec.as_deref().unwrap_or_default(), &plan.id);
    match &mut judgement.verdict {
        Verdict::Pass => judgement.verdict = Verdict::Context(line.clone()),
        Verdict::Context(text) => text.push_str(&format!("\n{line}")),
        // A session start has no other verdicts.
        _ => return judgement,
    }
    if source != StartSource::Compact {
        judgement.note = Some(judgement.note.map_or(line.clone(), |note| format!("{note}\n{line}")));
    }
    judgement
}

fn owned_plan<'a>(state: &State, facts: &'a Facts) -> Option<&'a PlanView> {
    match &facts.plan {
        Fact::Known(Some(plan)) if state.is_bound(plan) => Some(plan),
        _ => None,
    }
}

fn stop(state: &State, event: &Event, stopping: &Stopping, facts: &Facts) -> Judgement {
    if let Fact::Unknown(why) = &facts.plan {
        return Judgement::of(Verdict::Note(format!("Steadfast could not read the tasks: {why}")));
    }
    let Fact::Known(Some(plan)) = &facts.plan else { return Judgement::default() };
    if let Some(dismissed) = binding::dismissed(state, plan) {
        return dismissed;
    }
    if !state.is_bound(plan) && !binding::is_due(state, plan) {
        return Judgement::default();
    }
    let healed = binding::replace_gone_owner(state, event, plan);
    let mut judgement = gate(state, event, stopping, plan, facts);
    judgement.changes.extend(healed.changes);
    judgement.effects.extend(healed.effects);
    if matches!(judgement.verdict, Verdict::Continue { .. }) && state.attended && !state.binding.told {
        if let Some(line) = judgement.line.take() {
            // The same line without the hint would be no news.
            judgement.changes.push(Change::HumanTold(human_line::mark(&line)));
            judgement.line = Some(text::with_release(&line));
        }
        judgement.changes.push(Change::Binding(BindingChange::Told));
    }
    judgement
}

/// Decides whether a bound session may stop.
fn gate(state: &State, event: &Event, stopping: &Stopping, plan: &PlanView, facts: &Facts) -> Judgement {
    if !plan.approval.is_enough() {
        // A plan that is not approved does not block a stop.
        return released(Release::NotApproved, Verdict::Note(text::not_approved(plan)));
    }
    let message = stopping.last_message.as_deref().unwrap_or_default();
    let said = promise::promised(message, &state.rules.stop, plan.brief.promise.as_deref());
    let share = if facts.leased.is_empty() { None } else { Some(binding::own_share(plan, &facts.leased)) };
    let plan = match &share {
        None => plan,
        Some(Some(share)) => share,
        Some(None) => return binding::elsewhere(plan, &facts.leased),
    };
    let gate = Gate { state, event, plan, done: &facts.done, said, processes: &facts.processes };

    // Open tasks that cannot start depend on a blocked task.
    if plan.open.is_empty() || plan.counts.open() == 0 {
        return gate.closed(stopping);
    }
    if gate.is_released() {
        return Judgement::default();
    }
    if said == Some(Promise::Checkpoint) && state.rules.stop.allows(ExitOn::ContextCheckpoint) {
        return gate.checkpoint();
    }
    if gate.waits(stopping) {
        return released(Release::Yielded, Verdict::Pass);
    }
    match said {
        Some(Promise::NeedsUser) => gate.needs_user(message),
        _ if !gate.blocks_stop(plan) => Judgement::default(),
        Some(Promise::Completion) => {
            let wrote = promise::written(message).unwrap_or_default();
            let facts = text::false_promise(plan, gate.ways(), wrote);
            gate.refuse_or_release(&facts, text::not_done(plan, true), plan)
        }
        Some(Promise::Checkpoint | Promise::Waiting) | None => {
            gate.refuse_or_release(&text::open(plan, gate.ways()), text::not_done(plan, false), plan)
        }
    }
}

/// A stop of the session that works on the plan.
struct Gate<'a> {
    state: &'a State,
    event: &'a Event,
    plan: &'a PlanView,
    /// The state of the done tasks here; asked only when no task is open.
    done: &'a Fact<DoneHere>,
    said: Option<Promise>,
    processes: &'a [Liveness],
}

impl Gate<'_> {
    /// Judges a stop with nothing left for the agent: all tasks are done, or the rest is blocked, directly or through
    /// its dependencies.
    fn closed(&self, stopping: &Stopping) -> Judgement {
        let Self { state, plan, said, .. } = self;
        let rules = &state.rules.stop;
        let missing = if let Some(stale) = self.stale() {
            text::stale(stale, *said == Some(Promise::Completion))
        } else if plan.counts.all() == plan.counts.done {
            let wanted = promise::of_completion(rules, plan.brief.promise.as_deref());
            match wanted {
                Some(promise) if !rules.allows(ExitOn::AllComplete) && *said != Some(Promise::Completion) => {
                    text::unpromised(plan, promise)
                }
                _ => return self.all_done(),
            }
        } else if rules.allows(ExitOn::AllBlocked) {
            return self.all_blocked(plan);
        } else {
            text::all_blocked(plan)
        };
        if self.is_released() {
            return Judgement::default();
        }
        if self.waits(stopping) {
            return released(Release::Yielded, Verdict::Pass);
        }
        self.refuse_or_release(&missing, text::not_done_because(&missing), plan)
    }

    /// Returns the done tasks whose evidence is stale. They block the stop like ready tasks.
    fn stale(&self) -> Option<&TaskLines> {
        match self.done {
            Fact::Known(done) if self.state.rules.stop.check_ready_tasks => {
                Some(&done.stale).filter(|stale| !stale.is_empty())
            }
            _ => None,
        }
    }

    /// Judges a stop with all tasks done. It is `complete` only if the work is in this checkout and more than the
    /// agent's word confirms it.
    fn all_done(&self) -> Judgement {
        let (release, note) = match self.done {
            Fact::Unknown(why) => (Release::Unverified, text::unverified_note(why)),
            Fact::Known(done) if !done.stale.is_empty() => (Release::Unverified, text::stale_note(&done.stale)),
            Fact::Known(DoneHere { elsewhere: Some(on), .. }) => (Release::Unmerged, text::unmerged_note(on)),
            Fact::Known(done) if !done.claimed.is_empty() => {
                (Release::NeedsReview, text::needs_review_note(&done.claimed))
            }
            Fact::Known(_) | Fact::NotAsked => return released(Release::Complete, Verdict::Pass),
        };
        // The human reads the note once, not with every turn.
        let verdict = if self.state.stop.released == Some(release) { Verdict::Pass } else { Verdict::Note(note) };
        released(release, verdict)
    }

    fn all_blocked(&self, plan: &PlanView) -> Judgement {
        if matches!(self.state.stop.released, Some(Release::AllBlocked | Release::NeedsUser)) {
            return Judgement::default();
        }
        let promised = self.said == Some(Promise::Completion);
        released(Release::AllBlocked, Verdict::Note(text::all_blocked_note(plan, promised)))
    }

    /// Returns true if Steadfast lets the session stop until the human's next prompt.
    fn is_released(&self) -> bool {
        self.state.stop.capped || self.state.stop.released == Some(Release::NeedsUser)
    }

    /// Returns true if the session waits rather than stops: something will wake it, or the human has taken over.
    fn waits(&self, stopping: &Stopping) -> bool {
        let Self { state, event, plan, said, processes, .. } = self;
        let background = match &stopping.background {
            Some(background) => background.iter().any(|task| task.is_running() && task.is_agent()),
            None => !state.subagents.is_empty(),
        };
        event.planning
            || state.interrupted
            || background
            || (*said == Some(Promise::Waiting) && waiting::is_real(stopping, processes))
            || stopping.wakeups > 0
            || !plan.checking.is_empty()
            || (*said == Some(Promise::Waiting) && plan.counts.blocked > 0)
    }

    /// Lets a session with a full context stop; a fresh session continues.
    fn checkpoint(&self) -> Judgement {
        let Self { plan, .. } = self;
        let mut judgement = released(Release::Checkpoint, Verdict::Note(text::checkpoint_note(plan)));
        judgement.effects.push(Effect::Checkpoint { plan: plan.id.clone() });
        judgement
    }

    /// Judges a stop at which the agent asks for the human. The current task is blocked, and the agent hears once of
    /// the other open tasks.
    fn needs_user(&self, message: &str) -> Judgement {
        let Self { state, plan, .. } = self;
        let in_progress = plan.open.iter().find(|task| task.status == Status::InProgress);
        // If the agent asks again without starting a task, it asks about the task that is already blocked.
        let current = in_progress.or_else(|| plan.open.first().filter(|_| !state.stop.asked));
        let reason = promise::reason(message);
        let rest = current.map_or_else(|| (*plan).clone(), |task| with_blocked(plan, task));

        let (may_go, more) = (state.rules.stop.allows(ExitOn::NeedsUser), self.blocks_stop(&rest));
        let mut judgement = if more && !(may_go && (state.stop.asked || self.reached_limit().is_some())) {
            let facts = text::set_aside(current, &rest, self.ways());
            let mut refused = self.refuse_or_release(&facts, text::not_done(&rest, false), &rest);
            refused.changes.push(Change::AskedForUser);
            refused
        } else if may_go {
            released(Release::NeedsUser, Verdict::Note(text::needs_user_note(current, &rest, &reason)))
        } else if !rest.open.is_empty() {
            Judgement::default()
        } else if state.rules.stop.allows(ExitOn::AllBlocked) {
            self.all_blocked(&rest)
        } else {
            let facts = text::all_blocked(&rest);
            self.refuse_or_release(&facts, text::not_done_because(&facts), &rest)
        };
        judgement.effects.extend(current.map(|task| Effect::BlockTask {
            plan: plan.id.clone(),
            task: task.id.clone(),
            reason,
        }));
        judgement
    }

    /// Returns true if an open task blocks a stop under these settings.
    fn blocks_stop(&self, plan: &PlanView) -> bool {
        let rules = &self.state.rules.stop;
        plan.open.iter().any(|task| match task.status {
            Status::InProgress => rules.check_in_progress,
            Status::Pending | Status::Done | Status::Blocked => rules.check_ready_tasks,
        })
    }

    /// Refuses with these facts, and a line for the human, or lets the session stop if no refusals are left.
    fn refuse_or_release(&self, facts: &str, line: String, plan: &PlanView) -> Judgement {
        if let Some(spent) = self.reached_limit() {
            let left = match (plan.counts.open(), plan.counts.blocked) {
                _ if self.stale().is_some() => facts.to_owned(),
                (0, 0) => "all tasks are done, but the agent wrote no promise".to_owned(),
                _ => text::how_many_open(plan),
            };
            return released(Release::Capped, Verdict::Note(text::capped_note(&left, &spent)));
        }
        let waiting = waiting::not_excused(self.event, self.processes);
        Judgement {
            verdict: Verdict::Continue { reason: format!("{facts}{waiting}") },
            changes: vec![Change::StopRefused],
            line: Some(line),
            count: Some((self.state.stop.refused + 1, self.limit())),
            ..Judgement::default()
        }
    }

    fn limit(&self) -> u32 {
        limit(self.state)
    }

    fn reached_limit(&self) -> Option<String> {
        reached_limit(self.state)
    }

    fn ways(&self) -> Ways {
        Ways::of(self.state, self.event)
    }
}

fn limit(state: &State) -> u32 {
    state.rules.stop.max_cycles.saturating_add(state.stop.earned)
}

/// Returns the limit that was reached, if no refusals are left.
pub(super) fn reached_limit(state: &State) -> Option<String> {
    let count = &state.stop;
    if count.idle >= state.rules.stop.max_idle {
        Some(format!("{} refusals in a row without a tool call", count.idle))
    } else if count.refused >= limit(state) {
        Some(format!("{} refusals since the last prompt", count.refused))
    } else {
        None
    }
}

fn released(release: Release, verdict: Verdict) -> Judgement {
    Judgement { verdict, changes: vec![Change::StopReleased(release)], ..Judgement::default() }
}

/// Returns the plan as it will be when that task is blocked.
fn with_blocked(plan: &PlanView, task: &TaskLine) -> PlanView {
    let mut rest = plan.clone();
    let counted = match task.status {
        Status::InProgress => &mut rest.counts.in_progress,
        Status::Pending | Status::Done | Status::Blocked => &mut rest.counts.pending,
    };
    *counted = counted.saturating_sub(1);
    rest.counts.blocked += 1;
    if rest.open.first().is_some_and(|first| first.id == task.id) {
        rest.brief.current = None;
    }
    rest.open.retain(|other| other.id != task.id);
    rest
}

/// Judges a session start: a bound session reads its plan again; a plan without a living owner is offered.
fn start(state: &State, event: &Event, source: StartSource, facts: &Facts) -> Judgement {
    let Some(plan) = open_plan(facts) else { return Judgement::default() };
    // After a compaction, the human is in the middle of the session.
    let line = |line: fn(&PlanView) -> String| (source != StartSource::Compact && !facts.of_run).then(|| line(plan));
    if !plan.approval.is_enough() {
        let line = line(text::unapproved_tasks);
        return Judgement { line, ..Judgement::of(Verdict::Context(text::not_approved(plan))) };
    }
    if state.is_bound(plan) {
        let brief = brief::for_session(plan, &state.rules.stop, event.host);
        return Judgement { line: line(text::continued_tasks), ..Judgement::of(Verdict::Context(brief)) };
    }
    if facts.inherited.contains(&plan.id) {
        return Judgement { line: line(text::continued_tasks), ..binding::bind(state, event, plan) };
    }
    if plan.owner.is_none() || plan.owner_ended.is_some() {
        let cleared = source == StartSource::Clear
            && plan
                .owner_ended
                .as_ref()
                .is_some_and(|end| end.reason == "clear" && event.at.since(end.at) < CLEARED_MS);
        // A session after `/clear` continues the work.
        if cleared {
            return Judgement { line: line(text::continued_tasks), ..binding::bind(state, event, plan) };
        }
        // The runner's prompt already tells its agents what to do.
        if facts.of_run {
            return Judgement::default();
        }
        let verdict = Verdict::Context(text::offer(plan));
        return Judgement { verdict, line: line(text::waiting_tasks), ..binding::offered(state, plan, facts) };
    }
    Judgement::default()
}

/// The plan with open tasks, unless a run works on it.
fn open_plan(facts: &Facts) -> Option<&PlanView> {
    match &facts.plan {
        Fact::Known(Some(plan)) if plan.counts.open() > 0 && plan.run.is_none() => Some(plan),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
