//! The stop gate: a turn does not end while tasks of the session's plan are open.
//!
//! It always ends. Every refusal spends one of `max_cycles + earned`, `earned` grows by [`GIVEN_BACK`] at most once per
//! task a human put into the plan, and only a prompt of the human fills the account again. Besides, `max_idle` refusals
//! in a row without a tool call end it at once. What ends this way is `capped`, never `complete`.

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
use crate::ParsedEvent;
use promise::Promise;
use text::Ways;

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

    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        let asks = match &event.kind {
            EventKind::Stop(_) => event.agent.is_none(),
            EventKind::SessionStart { .. } | EventKind::Prompt { origin: PromptOrigin::Human, .. } => true,
            EventKind::SubagentStart => is_working(event),
            // Whoever begins a task is held to what its plan says from then on.
            EventKind::TaskChanged(changed) => changed.status == Status::InProgress,
            EventKind::SubagentStop(_) => event.agent.as_ref().is_some_and(|agent| state.tasks_of(&agent.id).is_some()),
            _ => false,
        };
        let enabled = state.rules.stop.enabled;
        Needs {
            plan: asks && enabled,
            task_files: asks && enabled && binding::wants_files(state, event),
            looped: enabled && loops::is_asked(event),
            processes: asks && enabled && waiting::needs_processes(event),
            ..Needs::default()
        }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
        if !state.rules.stop.enabled {
            return Judgement::default();
        }
        // Whoever may not do anything any more is not kept from ending.
        if facts.spent.is_some() && matches!(event.kind, EventKind::Stop(_) | EventKind::SubagentStop(_)) {
            return Judgement::default();
        }
        match &event.kind {
            EventKind::Stop(stopping) if event.agent.is_none() => {
                let judged = loops::stop(state, event, stopping, facts, stop(state, event, stopping, facts));
                if owned_plan(state, facts).is_some() { told(judged, facts, Verdict::Note) } else { judged }
            }
            EventKind::SubagentStop(stopping) => subagent::stop(state, event, stopping, facts),
            EventKind::SubagentStart if is_working(event) => {
                let told = owned_plan(state, facts)
                    .filter(|plan| plan.counts.open() > 0 && plan.approval.is_enough())
                    .and_then(brief::subagents);
                told.map(|text| Judgement::of(Verdict::Context(text))).unwrap_or_default()
            }
            EventKind::SessionStart { source } => {
                let started = binding::inherit(state, facts, start(state, event, *source, facts));
                let started = loops::start(event, *source, facts, started);
                changed_spec(told(started, facts, Verdict::Context), *source, facts)
            }
            EventKind::Prompt { text, origin: PromptOrigin::Human, .. } => {
                loops::prompt(event, text, facts, binding::prompt(state, event, text, facts))
            }
            EventKind::Binding(word) => loops::word(event, word, facts, binding::word(state, event, word)),
            EventKind::PostTool(result) => binding::wrote(state, event, result, facts),
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

/// A subagent that somebody gave work, not an errand of the host's own.
fn is_working(event: &Event) -> bool {
    event.agent.as_ref().is_some_and(|agent| !agent.agent_type.is_empty())
}

/// With what happened in the list that the tasks are kept in; where nothing else is said, that alone.
fn told(mut judgement: Judgement, facts: &Facts, alone: fn(String) -> Verdict) -> Judgement {
    if facts.elsewhere.is_empty() {
        return judgement;
    }
    let lines = facts.elsewhere.join("\n");
    match &mut judgement.verdict {
        Verdict::Pass => judgement.verdict = alone(lines),
        // Neither a stop nor a start asks the human.
        Verdict::AskInstead(_) => {}
        Verdict::Context(text) | Verdict::Note(text) => text.push_str(&format!("\n{lines}")),
        Verdict::Deny { reason } | Verdict::Ask { reason } | Verdict::Continue { reason } => {
            reason.push_str(&format!("\n{lines}"));
        }
    }
    judgement
}

/// With what became of the spec since it was loaded: to the agent, and to the human once for each beginning.
fn changed_spec(mut judgement: Judgement, source: StartSource, facts: &Facts) -> Judgement {
    let (Some(change), Fact::Known(Some(plan))) = (facts.spec, &facts.plan) else { return judgement };
    let line = change.describe(plan.brief.spec.as_deref().unwrap_or_default(), &plan.id);
    match &mut judgement.verdict {
        Verdict::Pass => judgement.verdict = Verdict::Context(line.clone()),
        Verdict::Context(text) => text.push_str(&format!("\n{line}")),
        // A start has no other answers.
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
        return Judgement::of(Verdict::Note(format!("steadfast could not look at the tasks: {why}")));
    }
    let Fact::Known(Some(plan)) = &facts.plan else { return Judgement::default() };
    if let Some(dismissed) = binding::dismissed(state, plan) {
        return dismissed;
    }
    if !state.is_bound(plan) && !binding::is_due(state, plan) {
        return Judgement::default();
    }
    let healed = binding::heal(state, event, plan);
    let mut judgement = gate(state, event, stopping, plan, facts);
    judgement.changes.extend(healed.changes);
    judgement.effects.extend(healed.effects);
    if matches!(judgement.verdict, Verdict::Continue { .. }) && state.attended && !state.binding.told {
        judgement.note = Some(text::bound_note(plan));
        judgement.changes.push(Change::Binding(BindingChange::Told));
    }
    judgement
}

/// Whether a bound session may stop.
fn gate(state: &State, event: &Event, stopping: &Stopping, plan: &PlanView, facts: &Facts) -> Judgement {
    if !plan.approval.is_enough() {
        // Nobody is held by what nobody approved.
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

    // What is open and cannot be started waits for something that is blocked.
    if plan.open.is_empty() || plan.counts.open() == 0 {
        return gate.closed(stopping);
    }
    if gate.is_let_go() {
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
        _ if !gate.holds(plan) => Judgement::default(),
        Some(Promise::Completion) => gate.refuse(text::false_promise, plan),
        Some(Promise::Checkpoint | Promise::Waiting) | None => gate.refuse(text::open, plan),
    }
}

/// One stop of the session that works on the plan.
struct Gate<'a> {
    state: &'a State,
    event: &'a Event,
    plan: &'a PlanView,
    /// How what is done stands here, where nothing is open.
    done: &'a Fact<DoneHere>,
    said: Option<Promise>,
    processes: &'a [Liveness],
}

impl Gate<'_> {
    /// Nothing is left for the agent: all is done, or what is left is blocked, by itself or through another.
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
        if self.is_let_go() {
            return Judgement::default();
        }
        if self.waits(stopping) {
            return released(Release::Yielded, Verdict::Pass);
        }
        self.answer(&missing, plan)
    }

    /// Done tasks whose evidence does not hold any more. They hold like tasks that can be begun.
    fn stale(&self) -> Option<&TaskLines> {
        match self.done {
            Fact::Known(done) if self.state.rules.stop.check_ready_tasks => {
                Some(&done.stale).filter(|stale| !stale.is_empty())
            }
            _ => None,
        }
    }

    /// Nothing is open. That is `complete` only where what was done is here, and more than the agent's word says so.
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
        // The human reads it once, and not with every turn.
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

    /// Until the human speaks.
    fn is_let_go(&self) -> bool {
        self.state.stop.capped || self.state.stop.released == Some(Release::NeedsUser)
    }

    /// The session is not stopping but waiting: something will wake it, or the human has taken over.
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

    /// The context is full. A fresh session goes on.
    fn checkpoint(&self) -> Judgement {
        let Self { plan, .. } = self;
        let mut judgement = released(Release::Checkpoint, Verdict::Note(text::checkpoint_note(plan)));
        judgement.effects.push(Effect::Checkpoint { plan: plan.id.clone() });
        judgement
    }

    /// The agent asks for its human. What it was at is blocked; what else there is to do it is told once.
    fn needs_user(&self, message: &str) -> Judgement {
        let Self { state, plan, .. } = self;
        let in_progress = plan.open.iter().find(|task| task.status == Status::InProgress);
        // Asked again with nothing begun in between, it is still about the task that is blocked already.
        let current = in_progress.or_else(|| plan.open.first().filter(|_| !state.stop.asked));
        let reason = promise::reason(message);
        let rest = current.map_or_else(|| (*plan).clone(), |task| without(plan, task));

        let (may_go, more) = (state.rules.stop.allows(ExitOn::NeedsUser), self.holds(&rest));
        let mut judgement = if more && !(may_go && (state.stop.asked || self.spent().is_some())) {
            let mut refused = self.answer(&text::set_aside(current, &rest, self.ways()), &rest);
            refused.changes.push(Change::AskedForUser);
            refused
        } else if may_go {
            released(Release::NeedsUser, Verdict::Note(text::needs_user_note(current, &rest, &reason)))
        } else if !rest.open.is_empty() {
            Judgement::default()
        } else if state.rules.stop.allows(ExitOn::AllBlocked) {
            self.all_blocked(&rest)
        } else {
            self.answer(&text::all_blocked(&rest), &rest)
        };
        judgement.effects.extend(current.map(|task| Effect::BlockTask {
            plan: plan.id.clone(),
            task: task.id.clone(),
            reason,
        }));
        judgement
    }

    /// Whether anything open is looked at.
    fn holds(&self, plan: &PlanView) -> bool {
        let rules = &self.state.rules.stop;
        plan.open.iter().any(|task| match task.status {
            Status::InProgress => rules.check_in_progress,
            Status::Pending | Status::Done | Status::Blocked => rules.check_ready_tasks,
        })
    }

    fn refuse(&self, text: fn(&PlanView, Ways) -> String, plan: &PlanView) -> Judgement {
        self.answer(&text(plan, self.ways()), plan)
    }

    /// Refuses with the facts, or lets go where nothing is left on the account.
    fn answer(&self, facts: &str, plan: &PlanView) -> Judgement {
        if let Some(spent) = self.spent() {
            let left = match (plan.counts.open(), plan.counts.blocked) {
                _ if self.stale().is_some() => facts.to_owned(),
                (0, 0) => "all tasks are done, and nothing was promised".to_owned(),
                _ => text::how_many_open(plan),
            };
            return released(Release::Capped, Verdict::Note(text::capped_note(&left, &spent)));
        }
        let waiting = waiting::not_excused(self.event, self.processes);
        let reason = text::refusal(&format!("{facts}{waiting}"), self.state.stop.refused + 1, self.limit());
        Judgement { verdict: Verdict::Continue { reason }, changes: vec![Change::StopRefused], ..Judgement::default() }
    }

    fn limit(&self) -> u32 {
        limit(self.state)
    }

    fn spent(&self) -> Option<String> {
        spent(self.state)
    }

    fn ways(&self) -> Ways {
        Ways::of(self.state, self.event)
    }
}

fn limit(state: &State) -> u32 {
    state.rules.stop.max_cycles.saturating_add(state.stop.earned)
}

/// What the account was spent on, if nothing is left of it.
pub(super) fn spent(state: &State) -> Option<String> {
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

/// The plan as it is when that task is blocked.
fn without(plan: &PlanView, task: &TaskLine) -> PlanView {
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

/// A new session: its own plan is put back into its context, one without a living owner is offered.
fn start(state: &State, event: &Event, source: StartSource, facts: &Facts) -> Judgement {
    let Some(plan) = open_plan(facts) else { return Judgement::default() };
    if !plan.approval.is_enough() {
        return Judgement::of(Verdict::Context(text::not_approved(plan)));
    }
    if state.is_bound(plan) {
        return Judgement::of(Verdict::Context(brief::owners(plan, &state.rules.stop, event.host)));
    }
    if facts.inherited.contains(&plan.id) {
        return binding::bind(state, event, plan);
    }
    if plan.owner.is_none() || plan.owner_ended.is_some() {
        let cleared = source == StartSource::Clear
            && plan
                .owner_ended
                .as_ref()
                .is_some_and(|end| end.reason == "clear" && event.at.since(end.at) < CLEARED_MS);
        // Whoever cleared the context goes on with what was begun.
        if cleared {
            return binding::bind(state, event, plan);
        }
        // A run tells its agents in their prompt what they are to do.
        if facts.of_run {
            return Judgement::default();
        }
        let verdict = Verdict::Context(text::offer(plan));
        return Judgement { verdict, ..binding::offered(state, plan, facts) };
    }
    Judgement::default()
}

/// What a run works off is not for anybody else.
fn open_plan(facts: &Facts) -> Option<&PlanView> {
    match &facts.plan {
        Fact::Known(Some(plan)) if plan.counts.open() > 0 && plan.run.is_none() => Some(plan),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
