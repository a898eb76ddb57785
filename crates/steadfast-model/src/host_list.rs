//! The list of tasks that a host keeps for its agent. What it says is a claim; what counts is in the ledger.

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::sparse::{is_default, sparse};
use crate::{PlanId, SessionId, TaskId};

/// One item of a host's list, under the id it has there. A list without ids has its items numbered here.
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
    /// The command line that its text says it is verified by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// The ledger has it as done.
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

/// An item as a list without ids has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    pub subject: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: ListStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// What a tool call does to the host's list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListCall {
    /// Looks at it, or nothing that can be read.
    #[default]
    Look,
    /// Writes all of it anew.
    Write {
        items: Vec<Listed>,
        /// How many there are past [`HostList::FOLLOWED`].
        #[serde(default, skip_serializing_if = "is_default")]
        beyond: u32,
    },
    Add {
        /// The host gives it, with the result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<TaskId>,
        item: Listed,
    },
    Edit(ListEdit),
    /// The host says how it is.
    Told {
        items: Vec<ListItem>,
        /// How many there are past [`HostList::FOLLOWED`].
        #[serde(default, skip_serializing_if = "is_default")]
        beyond: u32,
    },
}

/// What a call changes of one item.
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

/// What the host says of one item when it does something to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemTold {
    /// How it stands on the list is not said.
    pub item: ListItem,
    /// Whose list it is, where a team works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

sparse! {
    /// What a look at the host's list found to be otherwise than in our copy.
    #[derive(Eq)]
    pub struct ListDiff {
        items: Vec<ListItem>,
        gone: Vec<TaskId>,
        /// How many open ones there are that are not followed.
        beyond: u32,
        /// What could not be read, each with why.
        faults: Vec<String>,
    }
}

/// Our copy of a host's list, as far as this session saw it change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostList {
    pub items: Vec<ListItem>,
    /// The last number that an item without an id was given.
    #[serde(default, skip_serializing_if = "is_default")]
    pub numbered: u32,
    /// How many items there are that are not followed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub beyond: u32,
    /// Something of it is in the journal and not in the ledger.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unkept: bool,
    /// What was last said of files that cannot be read, by a number for the words. Zero: nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub faults: u64,
    /// The team whose list it is, as the host said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

/// One step of our copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListChange {
    /// These are so now, new ones among them, and those are gone.
    Moved {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<ListItem>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        gone: Vec<TaskId>,
        #[serde(default, skip_serializing_if = "is_default")]
        beyond: u32,
    },
    /// The ledger has been given all of it.
    Kept,
    /// What the ledger has of an item.
    Proven {
        task: TaskId,
        proven: bool,
    },
    FaultsTold(u64),
    /// The session uses the list, of a team where one is named.
    Used {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        team: Option<String>,
    },
}

impl ListEdit {
    /// Changes nothing yet.
    pub fn of(id: TaskId) -> Self {
        Self { id, status: None, removed: false, subject: None, check: None, owner: None, blocked_by: Vec::new() }
    }
}

impl ListItem {
    /// One that nothing is known of but its words.
    pub fn new(id: TaskId, subject: impl Into<String>) -> Self {
        let (status, blocked_by) = (ListStatus::Pending, Vec::new());
        Self { id, subject: subject.into(), status, blocked_by, owner: None, check: None, proven: false }
    }

    pub fn is_open(&self) -> bool {
        self.status != ListStatus::Completed
    }

    /// Its text says how it is verified, and that has not been seen to pass.
    pub fn wants_evidence(&self) -> bool {
        self.check.is_some() && !self.proven
    }
}

impl HostList {
    /// The most items that are followed. A state is read and written with every event.
    pub const FOLLOWED: usize = 500;

    /// The plan that the items of a session's list are tasks of.
    pub fn plan(session: &SessionId) -> PlanId {
        PlanId::new(format!("{}{session}", Self::PLAN))
    }

    /// How the id of such a plan begins.
    pub const PLAN: &str = "host-";

    /// Whoever comes now takes the place of one that is open.
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

    /// Which makes room: what is over, else what is taken at its agent's word, the last first. The ledger has it, and a
    /// call that is about it brings it back.
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
        assert!(list.unkept && list.items[0].wants_evidence());
        list.apply(&ListChange::Proven { task: TaskId::new("1"), proven: true });
        list.apply(&ListChange::Kept);
        assert!(!list.unkept && !list.items[0].wants_evidence());
    }
}
