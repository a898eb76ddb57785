//! Texts about changes of the host's list: facts, ids first, one line.

use steadfast_model::{HostList, ListItem, TaskId};
use steadfast_text::truncate;

/// The most changes in one line.
const NAMED: usize = 3;

/// The longest subject of an item, in characters.
const SUBJECT: usize = 60;

/// A change of an item that no work on it explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// It was open and is gone from the list.
    Removed(ListItem),
    Renamed {
        id: TaskId,
        was: String,
        is: String,
    },
    /// It is completed, but no call of this session did that.
    Completed(ListItem),
    /// The number of items beyond those that Steadfast tracks.
    Beyond(u32),
}

pub(crate) fn describe(noticed: &[Notice]) -> Option<String> {
    if noticed.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = noticed.iter().take(NAMED).map(Notice::part).collect();
    if noticed.len() > NAMED {
        parts.push(format!("and {} more", noticed.len() - NAMED));
    }
    Some(format!("The task list changed: {}.", parts.join("; ")))
}

impl Notice {
    fn part(&self) -> String {
        match self {
            Self::Removed(item) => {
                let stays =
                    if item.check.is_some() { ", and stays a task of the ledger until its check passes" } else { "" };
                format!("{} was open and is no longer on it{stays}", name(item))
            }
            Self::Renamed { id, was, is } => {
                format!("{id} was `{}` and is `{}` now", truncate(was, SUBJECT), truncate(is, SUBJECT))
            }
            Self::Beyond(more) => {
                format!("it has {more} more than the {} items that Steadfast tracks", HostList::FOLLOWED)
            }
            Self::Completed(item) => {
                let check =
                    if item.needs_evidence() { "; its check has not passed, so it stays open here" } else { "" };
                format!("{} was completed outside this session{check}", name(item))
            }
        }
    }
}

/// Returns the name of an item for the agent: its id and subject, or only its subject if it has no id yet.
pub(crate) fn name(item: &ListItem) -> String {
    let subject = truncate(&item.subject, SUBJECT);
    if item.id.as_str().is_empty() { format!("`{subject}`") } else { format!("{} `{subject}`", item.id) }
}
