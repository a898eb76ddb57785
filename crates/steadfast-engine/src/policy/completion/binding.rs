//! Binding a session to a plan, from an order to work on it until its release.
//!
//! An order of the human binds at once. A skill or command of Steadfast binds at the next look at the plan, and a plain
//! go-ahead with the first edit of a task's file. Any other edit binds no session; the agent hears once to which task
//! the file belongs.

use steadfast_model::{
    Action, BindingChange, BindingWord, Change, Effect, Event, EventKind, Facts, Leased, Offered, Outcome, OwnerEnd,
    PlanId, PlanView, Release, State, Status, TaskFile, ToolResult, Verdict,
};

use super::{Judgement, brief, open_plan, released, text};
use crate::order::{self, Order, Topic};
use crate::{ParsedEvent, claim, goal};

/// Returns true if the files of the tasks are required: for a session that is not bound and may edit one of them.
pub(super) fn needs_files(state: &State, event: &Event) -> bool {
    let looks = matches!(event.kind, EventKind::Prompt { .. } | EventKind::SessionStart { .. });
    looks && event.agent.is_none() && state.binding.plans.is_empty()
}

/// Judges a prompt of the human.
pub(super) fn prompt(state: &State, event: &Event, text: &str, facts: &Facts) -> Judgement {
    let Some(plan) = open_plan(facts) else {
        // The skill loads the plan later.
        let own = order::is_own_command(text) && !state.binding.ordered;
        return if own { changed(BindingChange::Ordered) } else { Judgement::default() };
    };
    let (order, bound) = (order::read(text, Topic::of(plan)), state.is_bound(plan));
    let mut judgement = match order {
        Order::Bind if bound => return replace_gone_owner(state, event, plan),
        Order::Bind if !plan.approval.is_enough() => return Judgement::of(Verdict::Context(text::not_approved(plan))),
        Order::Bind => return ordered(state, event, plan, &facts.leased),
        Order::Release if bound => return release(event, plan),
        Order::GoAhead | Order::Release | Order::Nothing => offered(state, plan, facts),
    };
    let go_ahead = order == Order::GoAhead && !bound;
    if go_ahead != state.binding.go_ahead {
        judgement.changes.push(Change::Binding(BindingChange::GoAhead(go_ahead)));
    }
    judgement
}

/// Remembers a plan that was offered to an unbound session.
pub(super) fn offered(state: &State, plan: &PlanView, facts: &Facts) -> Judgement {
    if state.is_bound(plan) || !plan.approval.is_enough() {
        return Judgement::default();
    }
    let is_new = |file: &&TaskFile| !state.binding.named.contains(&file.path);
    let files: Vec<TaskFile> = facts.task_files.iter().filter(is_new).cloned().collect();
    let offered = Offered { plan: plan.id.clone(), files };
    let known = state.binding.offered.as_ref() == Some(&offered);
    let nothing = offered.files.is_empty() && state.binding.offered.is_none();
    if known || nothing { Judgement::default() } else { changed(BindingChange::Offered(offered)) }
}

/// Binds the session on an order of the human.
fn ordered(state: &State, event: &Event, plan: &PlanView, leased: &[Leased]) -> Judgement {
    let owner_is_gone = plan.owner_ended.is_some() && plan.owner.as_ref() != Some(&event.session);
    // Tasks in progress at a checkpoint are to be continued.
    let left = owner_is_gone && plan.counts.in_progress > 0 && plan.brief.checkpoints == 0;
    let mut judgement = if left {
        // The previous owner is gone, so its tasks in progress are free again.
        let mut judgement = bind(state, event, &given_up(plan, leased));
        judgement.effects.extend(give_up(plan, leased));
        judgement
    } else {
        bind(state, event, plan)
    };
    if !state.binding.told {
        judgement.line = Some(text::bound_note(plan));
        judgement.changes.push(Change::Binding(BindingChange::Told));
    }
    judgement
}

/// Binds this session to the plan and tells the agent how the work goes.
pub(super) fn bind(state: &State, event: &Event, plan: &PlanView) -> Judgement {
    let mut changes: Vec<Change> = plan_constraints(state, plan).into_iter().collect();
    if plan.brief.taking_back != state.taking_back {
        changes.push(Change::TakingBack(plan.brief.taking_back.clone()));
    }
    changes.push(Change::Binding(BindingChange::Bound(plan.id.clone())));
    Judgement {
        verdict: Verdict::Context(brief::for_session(plan, &state.rules.stop, event.host)),
        effects: vec![take_ownership(event, plan)],
        changes,
        ..Judgement::default()
    }
}

/// Binds a session that begins with `/clear` to the plans of the session before it.
pub(super) fn inherit(state: &State, facts: &Facts, mut started: Judgement) -> Judgement {
    for plan in facts.inherited.iter().filter(|plan| !state.binding.plans.contains(plan)) {
        let bound = Change::Binding(BindingChange::Bound(plan.clone()));
        if !started.changes.contains(&bound) {
            // The current plan stays the last if it is one of them.
            started.changes.insert(0, bound);
        }
    }
    started
}

/// The ledger's owner becomes this session, unless a living session owns the plan: then that one stays the owner, and
/// both are bound.
fn take_ownership(event: &Event, plan: &PlanView) -> Effect {
    let silent = plan.owner_ended.as_ref().is_some_and(|end| end.reason == OwnerEnd::SILENT);
    Effect::TakePlan {
        plan: plan.id.clone(),
        session: event.session.clone(),
        silent: plan.owner.clone().filter(|_| silent),
    }
}

/// The must-nots of a plan apply from the first call of the session that takes it.
fn plan_constraints(state: &State, plan: &PlanView) -> Option<Change> {
    let must_nots = goal::must_nots(&plan.brief);
    (must_nots != state.must_nots).then_some(Change::MustNots(must_nots))
}

/// A bound session replaces an owner that is gone, so that the plan is not offered to others.
pub(super) fn replace_gone_owner(state: &State, event: &Event, plan: &PlanView) -> Judgement {
    let mut judgement = Judgement::default();
    if !state.is_bound(plan) {
        judgement.changes.push(Change::Binding(BindingChange::Bound(plan.id.clone())));
    }
    let is_free = plan.owner.is_none() || plan.owner_ended.is_some() && plan.owner.as_ref() != Some(&event.session);
    if is_free && plan.run.is_none() && plan.counts.open() > 0 {
        judgement.effects.push(take_ownership(event, plan));
    }
    judgement
}

/// Returns true if an order is pending that binds at this stop.
pub(super) fn is_due(state: &State, plan: &PlanView) -> bool {
    let waits = state.binding.ordered && state.binding.may_be_bound(state.prompts);
    waits && plan.counts.open() > 0 && plan.run.is_none() && plan.approval.is_enough()
}

/// Releases the session on a human's word.
fn release(event: &Event, plan: &PlanView) -> Judgement {
    let effect = Effect::LeavePlan { plan: plan.id.clone(), session: event.session.clone() };
    let mut judgement = changed(BindingChange::Released(plan.id.clone()));
    judgement.effects.push(effect);
    judgement
}

/// Judges a binding command.
pub(super) fn on_command(state: &State, event: &Event, word: &BindingWord) -> Judgement {
    match word {
        BindingWord::Taken(plan) if state.binding.may_be_bound(state.prompts) => {
            changed(BindingChange::Bound(plan.clone()))
        }
        BindingWord::Taken(_) => Judgement::default(),
        BindingWord::Released(plan) => {
            let plans = state.binding.plans.iter().filter(|other| *other != plan).chain([plan]);
            let leave = |plan: &PlanId| Effect::LeavePlan { plan: plan.clone(), session: event.session.clone() };
            Judgement { effects: plans.map(leave).collect(), ..changed(BindingChange::Released(plan.clone())) }
        }
    }
}

/// Judges a stop of a session that its human released.
pub(super) fn dismissed(state: &State, plan: &PlanView) -> Option<Judgement> {
    let before = state.binding.released.as_ref().filter(|before| before.plan == plan.id)?;
    if plan.counts.open() == 0 || state.stop.released == Some(Release::Dismissed) {
        return None;
    }
    let just_now = before.prompts == state.prompts;
    let verdict = if just_now { Verdict::Note(text::dismissed_note(plan)) } else { Verdict::Pass };
    Some(released(Release::Dismissed, verdict))
}

/// Returns true for a slash command or a call of the agent that is an order by itself.
pub(super) fn is_own_call(state: &State, event: &Event) -> bool {
    if state.binding.ordered || !state.binding.plans.is_empty() {
        return false;
    }
    match &event.kind {
        EventKind::Command { name } => order::is_own(name),
        EventKind::PreTool(call) => match &call.action {
            Action::Skill { name } => order::is_own(name),
            Action::Shell { command, .. } => advances(command),
            _ => false,
        },
        _ => false,
    }
}

/// `steadfast loop advance`.
fn advances(command: &str) -> bool {
    claim::calls(command).any(|(_, after)| {
        let mut words = after.trim_start_matches(['\'', '"']).split_whitespace().filter(|word| !word.starts_with('-'));
        words.next() == Some("loop") && words.next().is_some_and(|word| word.trim_end_matches([';', '&']) == "advance")
    })
}

/// Judges a finished call that may have written a file of an open task.
pub(super) fn on_write(state: &State, event: &ParsedEvent<'_>, result: &ToolResult, facts: &Facts) -> Judgement {
    let Some(offered) = state.binding.offered.as_ref().filter(|offered| !offered.files.is_empty()) else {
        return Judgement::default();
    };
    if result.outcome != Outcome::Ok {
        return Judgement::default();
    }
    let written = super::super::written(state, event, &facts.changed);
    let Some(file) = offered.files.iter().find(|file| written.iter().any(|path| is_of(file, path))) else {
        return Judgement::default();
    };
    let mut judgement = changed(BindingChange::Named(file.path.clone()));
    if state.binding.go_ahead {
        judgement.changes.push(Change::Binding(BindingChange::Bound(offered.plan.clone())));
    }
    judgement.verdict = Verdict::Context(text::whose_file(file, state.binding.go_ahead));
    judgement
}

/// A folder contains the files below it.
fn is_of(file: &TaskFile, path: &str) -> bool {
    let named = file.path.trim_start_matches("./");
    let path = path.trim_start_matches("./");
    path == named || path.strip_prefix(named.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the plan without the tasks that other living sessions started. `None`: no task is left.
pub(super) fn own_share(plan: &PlanView, leased: &[Leased]) -> Option<PlanView> {
    let is_leased = |task: &steadfast_model::TaskLine| leased.iter().any(|lease| lease.task == task.id);
    let mut share = plan.clone();
    share.open.retain(|task| !is_leased(task));
    let taken = u32::try_from(leased.len()).unwrap_or(u32::MAX);
    share.counts.in_progress = share.counts.in_progress.saturating_sub(taken);
    (!share.open.is_empty()).then_some(share)
}

/// Lets the session stop when other sessions work on all the rest.
pub(super) fn elsewhere(plan: &PlanView, leased: &[Leased]) -> Judgement {
    released(Release::Yielded, Verdict::Note(text::elsewhere_note(plan, leased)))
}

fn given_up(plan: &PlanView, leased: &[Leased]) -> PlanView {
    let mut plan = plan.clone();
    let kept = u32::try_from(leased.len()).unwrap_or(u32::MAX).min(plan.counts.in_progress);
    plan.counts.pending += plan.counts.in_progress - kept;
    plan.counts.in_progress = kept;
    let is_left = |task: &&mut steadfast_model::TaskLine| {
        task.status == Status::InProgress && !leased.iter().any(|lease| lease.task == task.id)
    };
    for task in plan.open.iter_mut().filter(is_left) {
        task.status = Status::Pending;
    }
    if let Some(current) = plan.brief.current.as_mut().filter(|current| !current.counted) {
        current.stuck_count += 1;
    }
    plan
}

/// Tasks that a living session started stay with it.
fn give_up(plan: &PlanView, leased: &[Leased]) -> Vec<Effect> {
    let all = |task| Effect::GiveUp { plan: plan.id.clone(), task };
    if leased.is_empty() {
        return vec![all(None)];
    }
    let is_left = |task: &&steadfast_model::TaskLine| {
        task.status == Status::InProgress && !leased.iter().any(|lease| lease.task == task.id)
    };
    plan.open.iter().filter(is_left).map(|task| all(Some(task.id.clone()))).collect()
}

fn changed(change: BindingChange) -> Judgement {
    Judgement { changes: vec![Change::Binding(change)], ..Judgement::default() }
}
