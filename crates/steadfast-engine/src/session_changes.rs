//! What every event does to a session, whatever the policies say.

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
        // A compaction is no new start: what ran before it runs on.
        EventKind::SessionStart { source: StartSource::Compact } => {}
        EventKind::SessionStart { .. } => changes.push(Change::Started),
        EventKind::SessionEnd { reason } => changes.push(Change::Ended { reason: reason.clone() }),
        EventKind::Prompt { origin: PromptOrigin::Human, typed, .. } => {
            changes.push(Change::HumanSpoke);
            if *typed && !state.attended && event.attended.is_none() {
                changes.push(Change::Attended(true));
            }
        }
        // A background subagent that works does not make a main thread that only talks any busier.
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
        // Whoever looked up the plan gave the ledger what it lacked of the list.
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

/// What may be written to take it back: as the plan says, and no longer than its task is in progress.
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

/// What the plan of this session says must not happen, as of this look at it. Another's plan holds nobody else.
fn must_nots(state: &State, facts: &Facts) -> Option<Change> {
    let Fact::Known(plan) = &facts.plan else { return None };
    let own = plan.as_ref().filter(|plan| state.is_bound(plan));
    let found = own.map(|plan| goal::must_nots(&plan.brief)).unwrap_or_default();
    (found != state.must_nots).then_some(Change::MustNots(found))
}

/// A journal this long is brought into the ledger, and so bounded, also in a session that never ends. A lone writer pays
/// for two `fsync` when it closes the database, so a stop does so only past this size.
const LONG_JOURNAL: u64 = 1 << 20;

/// The upkeep after a decision: claims, journal, the files beside it, another session's gate.
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

/// The human answered here what another session had proposed.
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

/// What the answer makes of the event: a subagent that may not stop has not stopped.
pub(crate) fn close(event: &Event, answer: &Answer) -> Option<Change> {
    let agent = event.agent.as_ref()?;
    let stopped = matches!(event.kind, EventKind::SubagentStop(_)) && !matches!(answer.ruling, Ruling::Continue { .. });
    stopped.then(|| Change::SubagentStopped(agent.id.clone()))
}
