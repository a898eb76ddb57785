//! The list of tasks that a host keeps for its agent. Its contents are claims; the ledger decides.

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::{is_default, sparse};
use crate::{PlanId, SessionId, TaskId};

/// An item of a host's list, with the host's id. In a list without ids, Steadfast numbers the items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListItem {
    pub id: TaskId,
    pub subject: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: ListStatus,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The command line that its text names as its check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The ledger has evidence that the item is done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub proven: bool,
}

labels! {
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum ListStatus {
        #[default]
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }
}

/// An item of a list without ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub subject: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: ListStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// The effect of a tool call on the host's list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListCall {
    /// Reads the list, or has no readable effect.
    #[default]
    Look,
    /// Replaces the whole list.
    Write {
        items: Vec<Listed>,
        /// Number of items past [`HostList::FOLLOWED`].
        #[serde(default, skip_serializing_if = "is_default")]
        beyond: u32,
    },
    Add {
        /// The host assigns it and reports it with the result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<TaskId>,
        item: Listed,
    },
    Edit(ListEdit),
    /// The host reports the current list.
    Told {
        items: Vec<ListItem>,
        /// Number of items past [`HostList::FOLLOWED`].
        #[serde(default, skip_serializing_if = "is_default")]
        beyond: u32,
    },
}

/// A call's change of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListEdit {
    pub id: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ListStatus>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub removed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<TaskId>,
}

/// The host's report about one item that it adds or completes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemTold {
    /// The item, without a reliable status.
    pub item: ListItem,
    /// The team that owns the list, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

sparse! {
    /// The differences between the host's list and our copy.
    #[derive(Eq)]
    pub struct ListDiff {
        items: Vec<ListItem>,
        gone: Vec<TaskId>,
        /// Number of open items that are not followed.
        beyond: u32,
        /// The unreadable files, each with the reason.
        faults: Vec<String>,
    }
}

/// Our copy of a host's list, from the changes that this session saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostList {
    pub items: Vec<ListItem>,
    /// The last number assigned to an item without an id.
    #[serde(default, skip_serializing_if = "is_default")]
    pub numbered: u32,
    /// Number of items that are not followed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub beyond: u32,
    /// The journal has changes of the list that the ledger does not have.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unkept: bool,
    /// Hash of the last report about unreadable files. Zero: none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub faults: u64,
    /// The team that owns the list, as the host reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

/// One change of our copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListChange {
    /// Changed and new items, and removed ones.
    Moved {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<ListItem>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<TaskId>,
        #[serde(default, skip_serializing_if = "is_default")]
        beyond: u32,
    },
    /// The ledger has all items.
    Kept,
    /// The ledger's evidence for an item.
    Proven {
        task: TaskId,
        proven: bool,
    },
    FaultsTold(u64),
    /// The session uses the list, of this team if there is one.
    Used {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team: Option<String>,
    },
}

impl ListEdit {
    /// Returns an edit without changes.
    pub fn of(id: TaskId) -> Self {
        Self { id, status: None, removed: false, subject: None, check: None, owner: None, blocked_by: Vec::new() }
    }
}

impl ListItem {
    /// Returns a pending item with nothing but its text.
    pub fn new(id: TaskId, subject: impl Into<String>) -> Self {
        let (status, blocked_by) = (ListStatus::Pending, Vec::new());
        Self { id, subject: subject.into(), status, blocked_by, owner: None, check: None, proven: false }
    }

    pub fn is_open(&self) -> bool {
        self.status != ListStatus::Completed
    }

    /// Returns true if the item's text names a check that has not passed.
    pub fn needs_evidence(&self) -> bool {
        self.check.is_some() && !self.proven
    }
}

impl HostList {
    /// The limit of followed items, since the state is read and written with every event.
    pub const FOLLOWED: usize = 500;

    /// Returns the plan for the items of this session's list.
    pub fn plan(session: &SessionId) -> PlanId {
        PlanId::new(format!("{}{session}", Self::PLAN))
    }

    /// The prefix of such a plan's id.
    pub const PLAN: &str = "host-";

    /// Returns true if a new item would replace an open one.
    pub fn is_full(&self) -> bool {
        self.items.len() >= Self::FOLLOWED && self.items.iter().all(ListItem::is_open)
    }

    pub fn find(&self, id: &TaskId) -> Option<&ListItem> {
        self.items.iter().find(|item| item.id == *id)
    }

    pub(crate) fn apply(&mut self, change: &ListChange) {
        match change {
            ListChange::Moved { items, gone, beyond } => {
                self.items.retain(|item| !gone.contains(&item.id));
                items.iter().for_each(|item| self.put(item));
                self.beyond = *beyond;
                self.unkept = true;
            }
            ListChange::Kept => self.unkept = false,
            ListChange::Proven { task, proven } => {
                if let Some(item) = self.items.iter_mut().find(|item| item.id == *task) {
                    item.proven = *proven;
                }
            }
            ListChange::FaultsTold(faults) => self.faults = *faults,
            ListChange::Used { team } => {
                if team.is_some() {
                    self.team.clone_from(team);
                }
            }
        }
    }

    fn put(&mut self, item: &ListItem) {
        if let Ok(number) = item.id.as_str().parse() {
            self.numbered = self.numbered.max(number);
        }
        if let Some(present) = self.items.iter_mut().find(|present| present.id == item.id) {
            present.clone_from(item);
            return;
        }
        if self.items.len() >= Self::FOLLOWED {
            self.items.remove(self.least_needed());
        }
        self.items.push(item.clone());
    }

    /// Returns the item to drop: a completed one, else the last one without a check, else the last one without
    /// evidence. The ledger still has it, and a call about it brings it back.
    fn least_needed(&self) -> usize {
        let over = self.items.iter().position(|item| !item.is_open());
        let unchecked = || self.items.iter().rposition(|item| item.check.is_none());
        let unproven = || self.items.iter().rposition(|item| !item.proven);
        over.or_else(unchecked).or_else(unproven).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: usize, status: ListStatus) -> ListItem {
        ListItem { status, ..ListItem::new(TaskId::new(id.to_string()), format!("piece {id}")) }
    }

    fn moved(items: Vec<ListItem>) -> ListChange {
        ListChange::Moved { items, gone: Vec::new(), beyond: 0 }
    }

    #[test]
    fn however_many_items_come_a_bounded_number_is_followed_and_what_is_over_makes_room() {
        let mut list = HostList::default();
        list.apply(&moved((1..=HostList::FOLLOWED + 10).map(|id| item(id, ListStatus::Pending)).collect()));
        let has = |list: &HostList, id: usize| list.find(&TaskId::new(id.to_string())).is_some();
        assert_eq!((list.items.len(), list.is_full()), (HostList::FOLLOWED, true));
        assert_eq!([499, 500, 505, 510].map(|id| has(&list, id)), [true, false, false, true]);
        list.apply(&moved(vec![item(7, ListStatus::Completed)]));
        list.apply(&moved(vec![item(505, ListStatus::Pending)]));
        assert_eq!([7, 499, 505].map(|id| has(&list, id)), [false, true, true]);
        assert_eq!((list.items.len(), list.numbered), (HostList::FOLLOWED, 510));
    }

    #[test]
    fn an_item_whose_check_is_known_stays_longer_than_one_without() {
        let mut list = HostList::default();
        let checked = |id| ListItem { check: Some("true".into()), ..item(id, ListStatus::Pending) };
        list.apply(&moved(vec![item(1, ListStatus::Pending)]));
        list.apply(&moved((2..=HostList::FOLLOWED).map(checked).collect()));
        list.apply(&ListChange::Proven { task: TaskId::new("500"), proven: true });
        list.apply(&moved(vec![checked(501)]));
        list.apply(&moved(vec![checked(502)]));
        let has = |id: usize| list.find(&TaskId::new(id.to_string())).is_some();
        assert_eq!([1, 2, 499, 500, 501, 502].map(has), [false, true, true, true, false, true]);
    }

    #[test]
    fn what_the_ledger_proves_stays_with_the_item() {
        let mut list = HostList::default();
        list.apply(&moved(vec![ListItem { check: Some("true".into()), ..item(1, ListStatus::Pending) }]));
        assert!(list.unkept && list.items[0].needs_evidence());
        list.apply(&ListChange::Proven { task: TaskId::new("1"), proven: true });
        list.apply(&ListChange::Kept);
        assert!(!list.unkept && !list.items[0].needs_evidence());
    }
}
