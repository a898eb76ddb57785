//! What is said of a list that is not as it was: facts, ids first, one line.

use steadfast_model::{HostList, ListItem, TaskId};
use steadfast_text::truncate;

/// How many are named in one line.
const NAMED: usize = 3;

/// Longest subject that is said, in characters.
const SUBJECT: usize = 60;

/// Something that happened to an item besides being worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// It was open, and is no longer on the list.
    Removed(ListItem),
    Renamed {
        id: TaskId,
        was: String,
        is: String,
    },
    /// It is completed, and no call of this session did that.
    Completed(ListItem),
    /// There are so many more than are followed.
    Beyond(u32),
}

pub(crate) fn said(noticed: &[Notice]) -> Option<String> {
    if noticed.is_empty() {
        return None;
    }
    let mut parts: Vec<String> = noticed.iter().take(NAMED).map(Notice::part).collect();
    if noticed.len() > NAMED {
        parts.push(format!("and {} more", noticed.len() - NAMED));
    }
    Some(format!("The task list is not as it was: {}.", parts.join("; ")))
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
            Self::Beyond(more) => format!("it has {more} more than the {} that are followed", HostList::FOLLOWED),
            Self::Completed(item) => {
                let check =
                    if item.needs_evidence() { "; its check has not passed, so it stays open here" } else { "" };
                format!("{} was completed by no call of this session{check}", name(item))
            }
        }
    }
}

/// An item as it is named to an agent. One that has no id yet goes by its words.
pub(crate) fn name(item: &ListItem) -> String {
    let subject = truncate(&item.subject, SUBJECT);
    if item.id.as_str().is_empty() { format!("`{subject}`") } else { format!("{} `{subject}`", item.id) }
}
