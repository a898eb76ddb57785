//! Finds files that the same commits changed, in the history of the checkout.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Duration;

use steadfast_model::Fact;

use crate::checkout::Checkout;
use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::Git;
use crate::git::object_id::ObjectId;

const COMMITS: &str = "1000";
/// A commit with more files is a move, a reformatting or an import, and says nothing about pairs of files.
const LARGEST: usize = 40;
/// The fewest commits that must contain both files.
const OFTEN: usize = 3;
const MOST: usize = 8;
const FILES: usize = 5_000;
const LONGEST: usize = 1 << 20;

/// A text table of files and their neighbours: the files that were changed in the same commits. A line has the file and
/// its neighbours, the nearest first, separated by tabs. The first line names the commit at which the table was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourTable(String);

impl NeighbourTable {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns a table without entries that says why it is empty.
    pub fn empty(why: &str) -> Self {
        Self(format!("# {}\n", why.replace(['\n', '\t'], " ")))
    }

    fn of(head: &ObjectId, neighbours: &BTreeMap<&str, Vec<&str>>) -> Self {
        let mut text = format!("# {head}\n");
        for (file, with) in neighbours.iter().take(FILES) {
            let long = text.len() + file.len() + with.iter().map(|other| other.len() + 1).sum::<usize>();
            if long >= LONGEST {
                break;
            }
            let _ = writeln!(text, "{file}\t{}", with.join("\t"));
        }
        Self(text)
    }
}

impl Checkout {
    /// Returns the neighbours of all files over the last 1,000 commits. Leaves out files that are deleted or were
    /// renamed since, and names that contain a tab or a line break.
    pub fn neighbours(&self, budget: Duration) -> Fact<NeighbourTable> {
        fact(self.read_neighbours(Deadline::after(budget)))
    }

    fn read_neighbours(&self, deadline: Deadline) -> Result<NeighbourTable, ObserveError> {
        self.checkout()?;
        let head = Git::at(&self.root).call("rev-parse").args(["--verify", "HEAD"]).answer(deadline)?;
        let unreadable = || ObserveError::unreadable("rev-parse", &head);
        let head = ObjectId::from_git(head.trim_ascii()).ok_or_else(unreadable)?;
        let tracked = Git::at(&self.root).call("ls-files").args(["-z", "--full-name"]).answer(deadline)?;
        let tracked: HashSet<&str> = names(&tracked).collect();
        let log = Git::at(&self.root)
            .call("log")
            .args(["--name-only", "--no-merges", "--no-renames", "-z", "--format=%x01", "-n", COMMITS])
            .args([head.as_str(), "--"])
            .answer(deadline)?;
        deadline.left()?;
        Ok(NeighbourTable::of(&head, &together(&log, &tracked)))
    }
}

/// Yields the UTF-8 names without a tab or a line break.
fn names(answer: &[u8]) -> impl Iterator<Item = &str> {
    let parts = answer.split(|byte| *byte == 0).filter_map(|part| str::from_utf8(part).ok());
    parts.filter(|name| !name.is_empty() && !name.contains(['\n', '\t']))
}

/// For each file, the files that are in at least three of its commits and in half of them.
fn together<'a>(log: &'a [u8], tracked: &HashSet<&str>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    let mut pairs: HashMap<(&str, &str), usize> = HashMap::new();
    for commit in log.split(|byte| *byte == 1) {
        let files: Vec<&str> = commit
            .split(|byte| matches!(byte, 0 | b'\n'))
            .filter(|part| !part.is_empty())
            .filter_map(|part| str::from_utf8(part).ok())
            .collect();
        if files.len() > LARGEST {
            continue;
        }
        for file in files.iter().copied().filter(|file| tracked.contains(file)) {
            *times.entry(file).or_default() += 1;
            for other in files.iter().copied().filter(|other| *other != file && tracked.contains(other)) {
                *pairs.entry((file, other)).or_default() += 1;
            }
        }
    }
    let mut found: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for ((file, other), both) in pairs {
        if both >= OFTEN && 2 * both >= times[file] {
            found.entry(file).or_default().push((both, other));
        }
    }
    let nearest = |mut all: Vec<(usize, &'a str)>| {
        all.sort_by_key(|(both, other)| (std::cmp::Reverse(*both), *other));
        all.into_iter().take(MOST).map(|(_, other)| other).collect()
    };
    found.into_iter().map(|(file, all)| (file, nearest(all))).collect()
}
