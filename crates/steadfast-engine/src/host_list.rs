//! Follows the task list that a host keeps for its agent. Steadfast's copy is the canonical one: it notices open items
//! that leave the list, are renamed, or are completed outside this session.

mod notice;

use steadfast_model::{
    Action, Event, EventKind, HostList, ItemTold, ListCall, ListChange, ListDiff, ListEdit, ListItem, ListStatus,
    Listed, Outcome, State, TaskId, TaskSource,
};

pub(crate) use notice::{Notice, describe, name};

/// The changes of an event to our copy.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    pub(crate) items: Vec<ListItem>,
    pub(crate) gone: Vec<TaskId>,
    pub(crate) beyond: u32,
    pub(crate) noticed: Vec<Notice>,
}

impl Followed {
    pub(crate) fn change(&self) -> ListChange {
        ListChange::Moved { items: self.items.clone(), gone: self.gone.clone(), beyond: self.beyond }
    }
}

/// Returns the list call of an event, if the settings follow the host's list. A list that is written as a whole belongs
/// to the agent that writes it, so a subagent's is not the session's.
pub(crate) fn call<'e>(state: &State, event: &'e Event) -> Option<&'e ListCall> {
    let call = match &event.kind {
        EventKind::PreTool(call) => call,
        EventKind::PostTool(result) if result.outcome == Outcome::Ok => &result.call,
        _ => return None,
    };
    let Action::List(list) = &call.action else { return None };
    let own = event.agent.is_none() || !matches!(list, ListCall::Write { .. });
    (state.rules.tasks_from == TaskSource::ClaudeTasks && own).then_some(list)
}

/// Returns the changes to our copy by a successful call or by a reading of the list. `None`: no change.
pub(crate) fn follow(state: &State, event: &Event) -> Option<Followed> {
    let none = HostList::default();
    let ours = state.list.as_deref().unwrap_or(&none);
    let mut followed = match &event.kind {
        EventKind::ListSeen(diff) => seen(ours, diff),
        EventKind::ItemCompleted(told) => seen(ours, &with_new_text(ours, &told.item)),
        EventKind::PostTool(_) => match call(state, event)? {
            ListCall::Look => return None,
            ListCall::Write { items, beyond } => written(ours, items, *beyond),
            ListCall::Add { id, item } => added(ours, id.as_ref(), item),
            ListCall::Edit(edit) => edited(ours, edit)?,
            ListCall::Told { items, beyond } => seen(ours, &difference(ours, items, &[], whole(*beyond))),
        },
        _ => return None,
    };
    if ours.beyond == 0 && followed.beyond > 0 {
        followed.noticed.push(Notice::Beyond(followed.beyond));
    }
    let nothing = followed.items.is_empty() && followed.gone.is_empty() && followed.beyond == ours.beyond;
    (!nothing).then_some(followed)
}

/// The extent to which a list was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// Missing items may be in the part that was not read.
    Part,
}

fn whole(beyond: u32) -> Extent {
    if beyond == 0 { Extent::Whole } else { Extent::Part }
}

/// Returns the differences between the list and our copy. Items that could not be read count as unchanged.
pub fn difference(ours: &HostList, seen: &[ListItem], unread: &[TaskId], extent: Extent) -> ListDiff {
    let mut diff = ListDiff::default();
    let open = ours.items.iter().filter(|item| item.is_open()).count();
    let mut room = HostList::FOLLOWED.saturating_sub(open);
    for item in seen {
        match ours.find(&item.id) {
            Some(known) if is_same(known, item) => {}
            Some(_) => diff.items.push(item.clone()),
            // An item that was closed before it was first seen is not tracked.
            None if !item.is_open() => {}
            None if room > 0 => {
                room -= 1;
                diff.items.push(item.clone());
            }
            None => diff.beyond += 1,
        }
    }
    if extent == Extent::Whole {
        let is_there = |id: &TaskId| seen.iter().any(|item| item.id == *id) || unread.contains(id);
        diff.gone = ours.items.iter().filter(|item| !is_there(&item.id)).map(|item| item.id.clone()).collect();
    }
    diff
}

/// Returns an item that is about to be completed with its present text and its former status.
fn with_new_text(ours: &HostList, item: &ListItem) -> ListDiff {
    let now = match ours.find(&item.id) {
        Some(known) => ListItem {
            subject: item.subject.clone(),
            owner: item.owner.clone().or_else(|| known.owner.clone()),
            check: item.check.clone(),
            ..known.clone()
        },
        None => item.clone(),
    };
    let is_known = ours.find(&item.id).is_some_and(|known| is_same(known, &now));
    ListDiff { items: if is_known { Vec::new() } else { vec![now] }, beyond: ours.beyond, ..ListDiff::default() }
}

fn is_same(known: &ListItem, seen: &ListItem) -> bool {
    known.subject == seen.subject
        && known.status == seen.status
        && known.blocked_by == seen.blocked_by
        && known.owner == seen.owner
        && (known.check.is_some() || seen.check.is_none())
}

fn seen(ours: &HostList, diff: &ListDiff) -> Followed {
    let mut followed = Followed { beyond: diff.beyond, ..Followed::default() };
    for item in &diff.items {
        let Some(known) = ours.find(&item.id) else {
            followed.items.push(item.clone());
            continue;
        };
        let now = ListItem {
            // An item keeps the check that it came with.
            check: known.check.clone().or_else(|| item.check.clone()),
            proven: known.proven,
            ..item.clone()
        };
        if known.subject != now.subject {
            followed.noticed.push(Notice::Renamed {
                id: now.id.clone(),
                was: known.subject.clone(),
                is: now.subject.clone(),
            });
        }
        if known.is_open() && !now.is_open() && !now.proven {
            followed.noticed.push(Notice::Completed(now.clone()));
        }
        followed.items.push(now);
    }
    remove(ours, diff.gone.iter(), &mut followed);
    followed
}

fn remove<'a>(ours: &HostList, gone: impl Iterator<Item = &'a TaskId>, followed: &mut Followed) {
    for id in gone {
        followed.gone.push(id.clone());
        let open = ours.find(id).filter(|item| item.is_open() && !item.proven);
        followed.noticed.extend(open.cloned().map(Notice::Removed));
    }
}

/// Compares a list without ids by the texts of its items. If items are missing, the same number of new items counts as
/// these items renamed. In a list that was not read as a whole, missing items may be in the rest.
fn written(ours: &HostList, items: &[Listed], beyond: u32) -> Followed {
    let mut followed = Followed { beyond, ..Followed::default() };
    let mut left: Vec<&ListItem> = ours.items.iter().collect();
    let mut fresh = Vec::new();
    for listed in items {
        match left.iter().position(|item| item.subject == listed.subject) {
            Some(at) => {
                let known = left.remove(at);
                let now = ListItem {
                    status: listed.status,
                    check: known.check.clone().or_else(|| listed.check.clone()),
                    ..known.clone()
                };
                if now != *known {
                    followed.items.push(now);
                }
            }
            None => fresh.push(listed),
        }
    }
    let missing: Vec<&ListItem> = left.iter().copied().filter(|item| item.is_open()).collect();
    let is_whole = whole(beyond) == Extent::Whole;
    let renamed = if is_whole && missing.len() == fresh.len() { missing.as_slice() } else { &[] };
    let mut number = ours.numbered;
    for (index, listed) in fresh.into_iter().enumerate() {
        let now = match renamed.get(index) {
            Some(known) => {
                left.retain(|item| item.id != known.id);
                let (id, was) = (known.id.clone(), known.subject.clone());
                followed.noticed.push(Notice::Renamed { id, was, is: listed.subject.clone() });
                let check = known.check.clone().or_else(|| listed.check.clone());
                ListItem { subject: listed.subject.clone(), status: listed.status, check, ..(*known).clone() }
            }
            None => {
                number += 1;
                fresh_item(TaskId::new(number.to_string()), listed)
            }
        };
        followed.items.push(now);
    }
    if is_whole {
        remove(ours, left.iter().map(|item| &item.id), &mut followed);
    }
    followed
}

fn added(ours: &HostList, id: Option<&TaskId>, item: &Listed) -> Followed {
    let id = id.cloned().unwrap_or_else(|| TaskId::new((ours.numbered + 1).to_string()));
    let beyond = ours.beyond + u32::from(ours.find(&id).is_none() && ours.is_full());
    Followed { items: vec![fresh_item(id, item)], beyond, ..Followed::default() }
}

fn edited(ours: &HostList, edit: &ListEdit) -> Option<Followed> {
    let id = edit.id.clone();
    // An item from before this session is added when the list is read.
    let known = ours.find(&id)?;
    let mut followed = Followed { beyond: ours.beyond, ..Followed::default() };
    if edit.removed {
        remove(ours, std::iter::once(&id), &mut followed);
        return Some(followed);
    }
    let mut now = known.clone();
    now.status = edit.status.unwrap_or(known.status);
    if let Some(subject) = edit.subject.as_ref().filter(|subject| **subject != known.subject) {
        let (was, is) = (known.subject.clone(), subject.clone());
        followed.noticed.push(Notice::Renamed { id, was, is });
        now.subject.clone_from(subject);
    }
    now.check = now.check.or_else(|| edit.check.clone());
    now.owner = edit.owner.clone().or(now.owner);
    for before in &edit.blocked_by {
        if !now.blocked_by.contains(before) {
            now.blocked_by.push(before.clone());
        }
    }
    if now != *known {
        followed.items.push(now);
    }
    Some(followed)
}

fn fresh_item(id: TaskId, listed: &Listed) -> ListItem {
    ListItem { status: listed.status, check: listed.check.clone(), ..ListItem::new(id, listed.subject.clone()) }
}

/// Returns the item that is about to be completed if its check has not passed. The check that it came with counts
/// first; its present text may be someone else's.
pub(crate) fn unproven_item(state: &State, told: &ItemTold) -> Option<ListItem> {
    let known = state.list.as_deref().and_then(|list| list.find(&told.item.id));
    let item = match known {
        Some(known) => ListItem { check: known.check.clone().or_else(|| told.item.check.clone()), ..known.clone() },
        None => told.item.clone(),
    };
    Some(item).filter(ListItem::needs_evidence)
}

/// Returns the items that a call would complete although their checks have not passed.
pub(crate) fn unproven(state: &State, call: &ListCall) -> Vec<ListItem> {
    let none = HostList::default();
    let ours = state.list.as_deref().unwrap_or(&none);
    let completes = |item: &&ListItem| item.is_open() && item.needs_evidence();
    match call {
        ListCall::Edit(ListEdit { id, status: Some(ListStatus::Completed), .. }) => {
            ours.find(id).filter(completes).cloned().into_iter().collect()
        }
        ListCall::Write { items, .. } => {
            let completed = items.iter().filter(|listed| listed.status == ListStatus::Completed);
            completed
                .filter_map(|listed| match ours.items.iter().find(|item| item.subject == listed.subject) {
                    Some(item) => Some(item).filter(completes).cloned(),
                    // The item was never open.
                    None => listed.check.is_some().then(|| fresh_item(TaskId::new(""), listed)),
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
