//! Drafts: proposed plans that wait for a human, stored by their hash. The checkout contains nothing of a draft until a
//! human approves it.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use steadfast_model::{DraftLine, Millis, SessionId};

use crate::file::{file_name, replace_in_folder};
use crate::marker::DraftFormat;
use crate::place::Place;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The hash of the authored text, in hexadecimal.
    pub hash: String,
    pub text: String,
    pub format: DraftFormat,
    pub title: String,
    pub tasks: u32,
    /// The path to write it to after the approval, from the root of the checkout.
    pub path: String,
    /// The checkout in which it was proposed.
    pub worktree: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    pub proposed_at: Millis,
    /// The hash of the previous draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

impl Draft {
    /// Returns the short form that decisions and gate markers need.
    pub fn line(&self) -> DraftLine {
        DraftLine {
            hash: self.hash.clone(),
            title: self.title.clone(),
            tasks: self.tasks,
            path: self.path.clone(),
            call: None,
        }
    }
}

/// Stores a draft. When this returns, it is on the disk.
pub fn keep_draft(place: &Place, draft: &Draft) -> io::Result<()> {
    replace_in_folder(&path(place, &draft.hash), &serde_json::to_vec(draft)?)
}

/// Returns the draft with this hash, if it can be read.
pub fn draft(place: &Place, hash: &str) -> Option<Draft> {
    let bytes = fs::read(path(place, hash)).ok()?;
    serde_json::from_slice::<Draft>(&bytes).ok().filter(|draft| draft.hash == hash)
}

/// Lists all readable drafts, the newest first.
pub fn drafts(place: &Place) -> Vec<Draft> {
    let Ok(folder) = fs::read_dir(place.state.join("drafts")) else { return Vec::new() };
    let files = folder.flatten().filter(|file| file.path().extension().is_none());
    let read = |file: fs::DirEntry| serde_json::from_slice(&fs::read(file.path()).ok()?).ok();
    let mut drafts: Vec<Draft> = files.filter_map(read).collect();
    drafts.sort_by(|one, other| (other.proposed_at, &one.hash).cmp(&(one.proposed_at, &other.hash)));
    drafts
}

fn path(place: &Place, hash: &str) -> PathBuf {
    place.state.join("drafts").join(file_name(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::temporary as place;

    fn sample(hash: &str, proposed_at: Millis) -> Draft {
        Draft {
            hash: hash.to_owned(),
            text: "# A plan\n".to_owned(),
            format: DraftFormat::Markdown,
            title: "A plan".to_owned(),
            tasks: 0,
            path: "plan.md".to_owned(),
            worktree: "/w".to_owned(),
            session: None,
            proposed_at,
            replaces: None,
        }
    }

    #[test]
    fn drafts_are_found_by_their_hash_and_listed_newest_first() {
        let (_dir, place) = place();
        assert_eq!((draft(&place, "aa"), drafts(&place)), (None, Vec::new()));
        let (old, new) = (sample("aa", Millis(1)), sample("bb", Millis(2)));
        for kept in [&old, &new, &old] {
            keep_draft(&place, kept).unwrap();
        }
        assert_eq!(draft(&place, "aa"), Some(old.clone()));
        assert_eq!(drafts(&place), [new, old]);
    }

    #[test]
    fn a_torn_draft_and_one_under_another_name_are_none() {
        let (_dir, place) = place();
        keep_draft(&place, &sample("aa", Millis(1))).unwrap();
        fs::copy(path(&place, "aa"), path(&place, "bb")).unwrap();
        fs::write(path(&place, "aa"), "{\"hash\":").unwrap();
        assert_eq!((draft(&place, "aa"), draft(&place, "bb")), (None, None));
        assert_eq!(draft(&place, "../drafts/bb"), None);
    }
}
