//! The changes that an event makes to a session under every policy.

use steadfast_model::{
    Action, Answer, Change, Effect, Event, EventKind, Fact, Facts, GateScope, HostList, ListChange, Outcome,
    PromptOrigin, Ruling, StartSource, State, Status,
};

use crate::{ParsedEvent, PolicyDecision, goal};

pub(crate) fn of_event(state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(facts.rules.clone().map(Change::RulesChanged));
    if let Some(attended) = event.attended.filter(|attended| *attended != state.attended) {
        changes.push(Change::Attended(attended));
    }
    changes.extend(facts.hosts.clone().filter(|hosts| *hosts != state.hosts).map(Change::Hosted));
    match &event.kind {
        // A compaction does not start a session: everything continues.
        EventKind::SessionStart { source: StartSource::Compact } => {}
        EventKind::SessionStart { .. } => changes.push(Change::Started),
        EventKind::SessionEnd { reason } => changes.push(Change::Ended { reason: reason.clone() }),
        EventKind::Prompt { origin: PromptOrigin::Human, typed, .. } => {
            changes.push(Change::HumanSpoke);
            if *typed && !state.attended && event.attended.is_none() {
                changes.push(Change::Attended(true));
            }
        }
        // Calls of a background subagent do not make a main thread that only talks busy.
        EventKind::PreTool(_) if event.agent.is_none() => changes.push(Change::ToolCalled),
        EventKind::PostTool(result) => match (&result.outcome, &result.call.action) {
            (Outcome::Interrupted, _) => changes.push(Change::Interrupted),
            (Outcome::Ok, Action::Ask) if !state.attended => changes.push(Change::Attended(true)),
            _ => {}
        },
        EventKind::SubagentStart => {
            changes.extend(event.agent.as_ref().map(|agent| Change::SubagentStarted(agent.id.clone())));
        }
        EventKind::TaskChanged(changed) => {
            let task = changed.task.clone();
            let held = state.held.iter().any(|held| held.tasks.contains(&task));
            match &event.agent {
                Some(agent) if changed.status == Status::InProgress => {
                    changes.push(Change::TaskHeld { agent: agent.id.clone(), task });
                }
                _ if held => changes.push(Change::TaskLeft(task)),
                _ => {}
            }
            if let Some(list) = state.list.as_ref().filter(|_| changed.plan == HostList::plan(&event.session)) {
                let (task, proven) = (changed.task.clone(), changed.status == Status::Done);
                if list.find(&task).is_some_and(|item| item.proven != proven) {
                    changes.push(Change::List(ListChange::Proven { task, proven }));
                }
            }
        }
        // The lookup of the plan also updated the ledger from the list.
        EventKind::Stop(_) if matches!(facts.plan, Fact::Known(_)) => {
            if state.list.as_ref().is_some_and(|list| list.unkept) {
                changes.push(Change::List(ListChange::Kept));
            }
        }
        EventKind::Interrupt => changes.push(Change::Interrupted),
        EventKind::Paused { until } => changes.push(Change::Paused(*until)),
        EventKind::Prompt { .. }
        | EventKind::Command { .. }
        | EventKind::PreTool(_)
        | EventKind::Permission(_)
        | EventKind::ToolBatch { .. }
        | EventKind::Stop(_)
        | EventKind::SubagentStop(_)
        | EventKind::StopFailed { .. }
        | EventKind::PreCompact { .. }
        | EventKind::PostCompact { .. }
        | EventKind::Notification { .. }
        | EventKind::Binding(_)
        | EventKind::GateClosed(_)
        | EventKind::GateOpened(_)
        | EventKind::Goal(_)
        | EventKind::ListSeen(_)
        | EventKind::ItemCreated(_)
        | EventKind::ItemCompleted(_)
        | EventKind::Forged(_)
        | EventKind::ConfigChange { .. } => {}
    }
    changes.extend(goal::changes(state, event, facts));
    changes.extend(must_nots(state, facts));
    changes.extend(taking_back(state, event, facts));
    changes
}

/// Returns the paths that may be written to undo a breach of a must-not: those in the plan, while their task is in
/// progress.
fn taking_back(state: &State, event: &Event, facts: &Facts) -> Option<Change> {
    let mut found = match &facts.plan {
        Fact::Known(plan) => {
            let own = plan.as_ref().filter(|plan| state.is_bound(plan));
            own.map(|plan| plan.brief.taking_back.clone()).unwrap_or_default()
        }
        Fact::Unknown(_) | Fact::NotAsked => state.taking_back.clone(),
    };
    if let EventKind::TaskChanged(changed) = &event.kind
        && changed.status != Status::InProgress
    {
        found.retain(|taking| taking.task != changed.task);
    }
    (found != state.taking_back).then_some(Change::TakingBack(found))
}

/// Returns the must-nots of this session's plan. They bind no other session.
fn must_nots(state: &State, facts: &Facts) -> Option<Change> {
    let Fact::Known(plan) = &facts.plan else { return None };
    let own = plan.as_ref().filter(|plan| state.is_bound(plan));
    let found = own.map(|plan| goal::must_nots(&plan.brief)).unwrap_or_default();
    (found != state.must_nots).then_some(Change::MustNots(found))
}

/// Bytes of a journal at which a stop drains it into the ledger, which bounds the journal of a session that never ends.
/// A lone writer pays two `fsync` when it closes the database, so a stop drains only a journal of this size.
const LONG_JOURNAL: u64 = 1 << 20;

/// Returns the effects after a decision: claims, journal, the files beside it, another session's gate.
pub(crate) fn upkeep(event: &Event, facts: &Facts, decision: &PolicyDecision) -> Vec<Effect> {
    let mut effects = Vec::new();
    if let EventKind::SessionStart { .. } = &event.kind {
        effects.extend(facts.transcript.clone().map(|path| Effect::NoteTranscript { path }));
        effects.push(Effect::FindNeighbours);
    }
    effects.extend(facts.hosts.clone().map(|hosts| Effect::NoteProcess { hosts }));
    effects.extend(tell_owner(event, decision));
    let ends = matches!(event.kind, EventKind::SessionEnd { .. });
    let stops = matches!(event.kind, EventKind::Stop(_));
    if ends || stops {
        effects.push(Effect::DropClaims);
    }
    if ends || decision.effects.iter().any(Effect::is_applied_by_ledger) {
        effects.push(Effect::DrainJournal { over_bytes: 0 });
    } else if stops {
        effects.push(Effect::DrainJournal { over_bytes: LONG_JOURNAL });
    }
    effects
}

/// The human answered here about another session's draft.
fn tell_owner(event: &Event, decision: &PolicyDecision) -> Option<Effect> {
    let opening = decision.changes.iter().find_map(|change| match change {
        Change::GateOpened(opening) => Some(opening.clone()),
        _ => None,
    })?;
    let owner = decision.effects.iter().find_map(|effect| match effect {
        Effect::OpenGate { scope: GateScope::Session(owner) }
        | Effect::Approve { scope: GateScope::Session(owner), .. } => Some(owner.clone()),
        _ => None,
    })?;
    (owner != event.session).then_some(Effect::TellOwner { session: owner, opening })
}

/// Returns the change that depends on the answer: a subagent that may not stop has not stopped.
pub(crate) fn close(event: &Event, answer: &Answer) -> Option<Change> {
    let agent = event.agent.as_ref()?;
    let stopped = matches!(event.kind, EventKind::SubagentStop(_)) && !matches!(answer.ruling, Ruling::Continue { .. });
    stopped.then(|| Change::SubagentStopped(agent.id.clone()))
}
