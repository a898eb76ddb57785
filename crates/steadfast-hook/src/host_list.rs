//! The host's task list. A difference between the list on disk and our copy becomes an event of its own, before the
//! current one. The hook reads the list when a turn ends or a session continues, and before a tool only if the call is
//! about an item that this session has not seen.

use std::time::Duration;

use steadfast_engine::host_list::{Extent, difference};
use steadfast_hosts::{read_task_list, task_list_folder};
use steadfast_model::{
    Action, Answer, Event, EventKind, Host, HostList, ListCall, ListDiff, Ruling, StartSource, State, TaskSource, fnv,
};

use crate::checkout::HookContext;
use crate::redacted::clean_item;

/// The time limit for reading a list. Two thousand items take a fifth of it.
const READING: Duration = Duration::from_millis(200);

/// Treats a call to the list's tools as any other call, if the user does not follow the list.
pub(crate) fn pass_over(event: &mut Event, source: TaskSource) {
    let call = match &mut event.kind {
        EventKind::PreTool(call) | EventKind::Permission(call) => call,
        EventKind::PostTool(result) => &mut result.call,
        _ => return,
    };
    if matches!(call.action, Action::List(_)) && source != TaskSource::ClaudeTasks {
        call.action = Action::Other;
    }
}

/// Returns whether an event is only about a list that is not followed. Such an event is ignored.
pub(crate) fn is_of_unfollowed(event: &Event, source: TaskSource) -> bool {
    matches!(event.kind, EventKind::ItemCreated(_) | EventKind::ItemCompleted(_)) && source != TaskSource::ClaudeTasks
}

/// Returns the changes of the list on disk against our copy, as an event before this one. A session that never used
/// the list has no copy, so items that others left there do not block its stop.
pub(crate) fn changes(
    around: &HookContext<'_>,
    task_list: fn() -> Option<String>,
    state: &State,
    event: &Event,
) -> Option<Event> {
    let known = state.list.as_deref();
    let is_time = match &event.kind {
        EventKind::Stop(_) => known.is_some() && event.agent.is_none(),
        EventKind::SessionStart { source } => {
            known.is_some() && matches!(source, StartSource::Resume | StartSource::Compact)
        }
        EventKind::PreTool(call) => match &call.action {
            Action::List(ListCall::Edit(edit)) => known.is_none_or(|list| list.find(&edit.id).is_none()),
            _ => false,
        },
        _ => false,
    };
    if !is_time {
        return None;
    }
    let none = HostList::default();
    let ours = known.unwrap_or(&none);
    if state.rules.tasks_from != TaskSource::ClaudeTasks || event.host != Host::Claude {
        return None;
    }
    let named = state.rules.task_list.clone().or_else(task_list);
    let folder =
        task_list_folder(&(around.homes)()?.claude_dir(), named.as_deref(), ours.team.as_deref(), &event.session);
    let mut kept = read_task_list(&folder, READING)?;
    kept.items.iter_mut().for_each(clean_item);
    let extent = if kept.cut_short { Extent::Part } else { Extent::Whole };
    let mut diff = ListDiff { faults: kept.faults, ..difference(ours, &kept.items, &kept.unread, extent) };
    // Whatever the limit, the item of this call is followed.
    if let EventKind::PreTool(call) = &event.kind
        && let Action::List(ListCall::Edit(edit)) = &call.action
        && diff.items.iter().all(|item| item.id != edit.id)
    {
        diff.items.extend(kept.items.into_iter().find(|item| item.id == edit.id && item.is_open()));
    }
    is_news(ours, &diff).then(|| {
        let kind = EventKind::ListSeen(diff);
        Event::plain(event.session.clone(), event.host, event.cwd.clone(), event.at, kind)
    })
}

fn is_news(ours: &HostList, diff: &ListDiff) -> bool {
    let faults = if diff.faults.is_empty() { 0 } else { fnv(diff.faults.iter().map(String::as_bytes)) };
    !diff.items.is_empty() || !diff.gone.is_empty() || diff.beyond != ours.beyond || faults != ours.faults
}

/// Adds the changes to the answer. At a stop, the agent only reads them if the stop is refused.
pub(crate) fn merge_answers(event: &Event, noticed: Answer, mut answer: Answer) -> Answer {
    let join = |slot: &mut Option<String>, text: Option<String>| {
        if let Some(text) = text {
            *slot = Some(slot.take().map_or_else(|| text.clone(), |present| format!("{text}\n{present}")));
        }
    };
    match (&mut answer.ruling, noticed.context) {
        (Ruling::Continue { reason }, Some(text)) => *reason = format!("{text} {reason}"),
        (_, text) if matches!(event.kind, EventKind::Stop(_)) => join(&mut answer.note, text),
        (_, text) => join(&mut answer.context, text),
    }
    join(&mut answer.note, noticed.note);
    answer
}
