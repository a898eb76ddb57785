//! Requires evidence for completed items: an item of the host's list whose text names a check is not completed before
//! that check passed here. For an item without a check, the agent's word is enough.
//!
//! Only if the settings follow the host's list.

use steadfast_model::{
    Change, Direction, Effect, Event, EventKind, Facts, Host, HostList, ItemTold, ListChange, ListDiff, ListItem, Mode,
    Needs, PolicyName, Rules, State, TaskSource, Verdict, fnv,
};

use super::{Judgement, Policy};
use crate::ParsedEvent;
use crate::host_list::{self, Followed};

#[derive(Debug)]
pub(super) struct Evidence;

impl Policy for Evidence {
    fn name(&self) -> PolicyName {
        PolicyName::Evidence
    }

    fn direction(&self) -> Direction {
        Direction::Gate
    }

    /// Same mode as the stop gate: both decide when work is done.
    fn mode(&self, rules: &Rules) -> Mode {
        rules.completion
    }

    fn needs(&self, state: &State, event: &ParsedEvent<'_>) -> Needs {
        let follows = match &event.kind {
            EventKind::PostTool(_) => host_list::call(state, event).is_some(),
            EventKind::ListSeen(_) | EventKind::ItemCompleted(_) => true,
            _ => false,
        };
        Needs { checkout: follows, ..Needs::default() }
    }

    fn judge(&self, state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Judgement {
        match &event.kind {
            EventKind::PreTool(_) => host_list::call(state, event)
                .map(|call| host_list::unproven(state, call))
                .and_then(|items| refusal(event.host, &items))
                .map(|reason| Judgement::of(Verdict::Deny { reason }))
                .unwrap_or_default(),
            EventKind::PostTool(_) => host_list::follow(state, event)
                .map(|followed| {
                    let verdict = host_list::describe(&followed.noticed).map_or(Verdict::Pass, Verdict::Context);
                    update_copy(event, facts, &followed, Judgement::of(verdict))
                })
                .unwrap_or_default(),
            EventKind::ListSeen(diff) => on_list_seen(state, event, diff, facts),
            EventKind::ItemCreated(told) if is_followed(state) => note_list_used(state, told),
            EventKind::ItemCompleted(told) if is_followed(state) => completing(state, event, told, facts),
            _ => Judgement::default(),
        }
    }
}

fn is_followed(state: &State) -> bool {
    state.rules.tasks_from == TaskSource::ClaudeTasks
}

/// Records that the list is in use, and its team if the host names one. The item itself is added when its call has
/// returned, or when the list is read: until then another hook may refuse it.
fn note_list_used(state: &State, told: &ItemTold) -> Judgement {
    let known = state.list.as_ref();
    let is_news = known.is_none_or(|list| told.team.is_some() && list.team != told.team);
    let used = Change::List(ListChange::Used { team: told.team.clone() });
    Judgement { changes: is_news.then_some(used).into_iter().collect(), ..Judgement::default() }
}

/// Judges an item that the host is about to complete. The host asks about every completion, with the item's present
/// text, also for items that this session never saw. It asks again when a teammate ends its turn; that was answered
/// with the turn's end. If a subagent still works, the event may come from its call.
fn completing(state: &State, event: &Event, told: &ItemTold, facts: &Facts) -> Judgement {
    let mut judgement = note_list_used(state, told);
    let may_be_a_call = state.stop.last.is_none() || !state.subagents.is_empty();
    if may_be_a_call
        && super::completion::reached_limit(state).is_none()
        && let Some(reason) = host_list::unproven_item(state, told).and_then(|item| refusal(event.host, &[item]))
    {
        judgement.verdict = Verdict::Deny { reason };
        judgement.changes.push(Change::StopRefused);
    }
    match host_list::follow(state, event) {
        Some(followed) => update_copy(event, facts, &followed, judgement),
        None => judgement,
    }
}

/// Adds what a reading of the list found. Faults of the list are reported to the human once.
fn on_list_seen(state: &State, event: &Event, diff: &ListDiff, facts: &Facts) -> Judgement {
    let mut judgement = Judgement::default();
    let told = state.list.as_ref().map_or(0, |list| list.faults);
    let faults = if diff.faults.is_empty() { 0 } else { fnv(diff.faults.iter().map(String::as_bytes)) };
    if faults != told {
        judgement.changes.push(Change::List(ListChange::FaultsTold(faults)));
    }
    if faults != told && faults != 0 {
        let text = format!("Steadfast could not read all of the host's task list: {}.", diff.faults.join("; "));
        judgement.verdict = Verdict::Note(text);
    }
    let Some(followed) = host_list::follow(state, event) else { return judgement };
    let said = host_list::describe(&followed.noticed);
    match judgement.verdict {
        Verdict::Pass => judgement.verdict = said.map_or(Verdict::Pass, Verdict::Context),
        _ => judgement.aside = said,
    }
    update_copy(event, facts, &followed, judgement)
}

/// Updates our copy, and the ledger when it is opened next.
fn update_copy(event: &Event, facts: &Facts, followed: &Followed, mut judgement: Judgement) -> Judgement {
    judgement.changes.push(Change::List(followed.change()));
    judgement.effects.push(Effect::FollowList {
        plan: HostList::plan(&event.session),
        session: event.session.clone(),
        worktree: facts.checkout.clone().unwrap_or_else(|| event.cwd.clone()),
        items: followed.items.clone(),
        gone: followed.gone.clone(),
    });
    judgement
}

fn refusal(host: Host, items: &[ListItem]) -> Option<String> {
    let first = items.first()?;
    let check = first.check.as_deref().unwrap_or_default();
    let id = first.id.as_str();
    let runs = if id.is_empty() {
        "Once it is on the list as open it has an id, and `steadfast task done ID` runs it.".to_owned()
    } else {
        // In Codex's sandbox the shell cannot write the ledger; the MCP server can.
        let tool = match host {
            Host::Codex => ", as does the MCP tool `task_done`",
            Host::Claude | Host::Sim => "",
        };
        format!(
            "`steadfast task done {id}` runs it and closes the item{tool}; `steadfast task block {id} --why REASON` sets it aside."
        )
    };
    let more = match items.len() - 1 {
        0 => String::new(),
        more => format!(" The same is true of {more} more."),
    };
    Some(format!(
        "{} is not completed: its check `{check}` has not passed on this tree. {runs}{more}",
        host_list::name(first)
    ))
}

#[cfg(test)]
mod tests;
