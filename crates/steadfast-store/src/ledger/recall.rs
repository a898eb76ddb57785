//! Finds learnings, steps and decisions that are related to a piece of work.

use std::cmp::Reverse;
use std::collections::HashMap;

use steadfast_model::{Millis, PlanId, SessionId};

use super::database::column::{millis, plan_id};
use super::error::Fault;
use super::keyword::keywords;
use super::learning::{self, Learning, LearningStatus};
use super::session::step::{self, Key, StepRow, folder};
use super::{Ledger, LedgerError};
use crate::ledger::database::connection::Connection;

/// The maximum number of files in a query.
const FILES: usize = 20;

/// The number of steps to read per key, the newest first.
const CANDIDATES: usize = 50;

/// The number of decisions to read, the newest first.
const DECISIONS: usize = 500;

/// A piece of work to find related memories for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Paths from the root of the checkout. A path ending in `/` is a folder.
    pub files: Vec<String>,
    /// Any text; its keywords are used.
    pub words: String,
    /// The maximum number of learnings, and of steps and decisions.
    pub limit: usize,
    /// A session whose steps are left out, because it knows them.
    pub without: Option<SessionId>,
}

/// A found memory, and its relation to the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    pub reason: Reason,
    pub memory: RecalledItem,
}

/// The relation between a memory and the query, the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    SameFile,
    SameFolder,
    /// The number of common keywords, at least one.
    Keyword(usize),
    /// An unrelated decision: a decision applies to all later work.
    KeyDecision,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameFile => "same file",
            Self::SameFolder => "same folder",
            Self::Keyword(_) => "keyword",
            Self::KeyDecision => "key decision",
        }
    }

    /// The sort key: more common keywords are closer.
    fn distance(self) -> (u8, Reverse<usize>) {
        match self {
            Self::SameFile => (0, Reverse(0)),
            Self::SameFolder => (1, Reverse(0)),
            Self::Keyword(shared) => (2, Reverse(shared)),
            Self::KeyDecision => (3, Reverse(0)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecalledItem {
    Learning(Learning),
    Step(StepRow),
    Decision(KeyDecision),
}

/// A decision of any plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDecision {
    pub plan: PlanId,
    pub what: String,
    pub why: String,
    pub at: Millis,
}

impl Ledger {
    /// Returns learnings that were not dismissed, then validated steps and decisions; the closest first, and the newest
    /// first among equally close ones.
    pub fn recall(&self, query: &Query) -> Result<Vec<Recalled>, LedgerError> {
        let keys = RecallKeys::of(query);
        self.read(|connection| {
            let mut recalled = keys.learnings(connection)?;
            recalled.extend(keys.steps_and_decisions(connection)?);
            Ok(recalled)
        })
    }
}

/// A query in the form of the stored keys.
struct RecallKeys<'a> {
    files: Vec<&'a str>,
    folders: Vec<&'a str>,
    words: Vec<String>,
    limit: usize,
    without: Option<&'a SessionId>,
}

/// A step or decision that may be returned.
enum RecallCandidate {
    Step(i64),
    Decision(KeyDecision),
}

impl<'a> RecallKeys<'a> {
    fn of(query: &'a Query) -> Self {
        let given = || query.files.iter().map(String::as_str).take(FILES);
        let files: Vec<&str> = given().filter(|path| !path.ends_with('/')).collect();
        let mut folders: Vec<&str> =
            given().filter_map(|path| path.strip_suffix('/').or_else(|| folder(path))).collect();
        folders.sort_unstable();
        folders.dedup();
        let words = keywords([query.words.as_str()]);
        Self { files, folders, words, limit: query.limit, without: query.without.as_ref() }
    }

    fn learnings(&self, connection: &Connection) -> Result<Vec<Recalled>, Fault> {
        let mut found: Vec<(Reason, Learning)> = Vec::new();
        for status in [LearningStatus::Confirmed, LearningStatus::Open] {
            let all = learning::with_status(connection, status)?;
            found.extend(all.into_iter().filter_map(|learning| Some((self.reason_of(&learning)?, learning))));
        }
        found.sort_by_key(|(reason, learning)| {
            (reason.distance(), Reverse(learning.confidence), Reverse(learning.updated_at))
        });
        found.truncate(self.limit);
        Ok(found
            .into_iter()
            .map(|(reason, learning)| Recalled { reason, memory: RecalledItem::Learning(learning) })
            .collect())
    }

    fn reason_of(&self, learning: &Learning) -> Option<Reason> {
        let is_in = |path: &String| {
            let place = path.strip_suffix('/').or_else(|| folder(path));
            place.is_some_and(|folder| self.folders.contains(&folder))
        };
        if learning.files.iter().any(|path| self.files.contains(&path.as_str())) {
            Some(Reason::SameFile)
        } else if learning.files.iter().any(is_in) {
            Some(Reason::SameFolder)
        } else {
            self.shared(&learning.keywords)
        }
    }

    fn shared(&self, words: &[String]) -> Option<Reason> {
        let shared = self.words.iter().filter(|word| words.contains(word)).count();
        (shared > 0).then_some(Reason::Keyword(shared))
    }

    fn steps_and_decisions(&self, connection: &Connection) -> Result<Vec<Recalled>, Fault> {
        let mut found = self.steps(connection)?;
        found.extend(self.decisions(connection)?);
        found.sort_by_key(|(reason, at, _)| (reason.distance(), Reverse(*at)));
        let mut recalled: Vec<Recalled> = Vec::new();
        for (reason, _, found) in found {
            if recalled.len() == self.limit {
                break;
            }
            let memory = match found {
                RecallCandidate::Decision(decision) => RecalledItem::Decision(decision),
                RecallCandidate::Step(number) => match step::find(connection, number)? {
                    Some(step) => RecalledItem::Step(step),
                    None => continue,
                },
            };
            if !recalled.iter().any(|known| known.memory.is_same_as(&memory)) {
                recalled.push(Recalled { reason, memory });
            }
        }
        Ok(recalled)
    }

    /// Returns each step once, with its closest relation.
    fn steps(&self, connection: &Connection) -> Result<Vec<(Reason, Millis, RecallCandidate)>, Fault> {
        let mut found: HashMap<i64, (Reason, Millis)> = HashMap::new();
        for file in &self.files {
            for (at, number) in self.with_key(connection, Key::File, file)? {
                found.insert(number, (Reason::SameFile, at));
            }
        }
        for folder in &self.folders {
            for (at, number) in self.with_key(connection, Key::Folder, folder)? {
                found.entry(number).or_insert((Reason::SameFolder, at));
            }
        }
        for word in &self.words {
            for (at, number) in self.with_key(connection, Key::Word, word)? {
                match &mut found.entry(number).or_insert((Reason::Keyword(0), at)).0 {
                    Reason::Keyword(shared) => *shared += 1,
                    Reason::SameFile | Reason::SameFolder | Reason::KeyDecision => {}
                }
            }
        }
        let mut steps: Vec<_> =
            found.into_iter().map(|(number, (reason, at))| (reason, at, RecallCandidate::Step(number))).collect();
        // A map has no order. Among steps of the same time, the later line is the newer one.
        steps.sort_by_key(|(_, _, found)| match found {
            RecallCandidate::Step(number) => Reverse(*number),
            RecallCandidate::Decision(_) => Reverse(0),
        });
        Ok(steps)
    }

    fn with_key(&self, connection: &Connection, kind: Key, key: &str) -> Result<Vec<(Millis, i64)>, Fault> {
        step::with_key(connection, kind, key, self.without, CANDIDATES)
    }

    fn decisions(&self, connection: &Connection) -> Result<Vec<(Reason, Millis, RecallCandidate)>, Fault> {
        let sql = "SELECT plan, what, why, at FROM decision ORDER BY at DESC, number DESC LIMIT ?1";
        connection.rows(sql, [i64::try_from(DECISIONS).unwrap_or(i64::MAX)], |row| {
            let decision =
                KeyDecision { plan: plan_id(row, 0)?, what: row.get(1)?, why: row.get(2)?, at: millis(row, 3)? };
            Ok((self.reason_of_decision(&decision), decision.at, RecallCandidate::Decision(decision)))
        })
    }

    fn reason_of_decision(&self, decision: &KeyDecision) -> Reason {
        let names = |path: &&str| [&decision.what, &decision.why].into_iter().any(|text| text.contains(*path));
        if self.files.iter().any(names) {
            return Reason::SameFile;
        }
        self.shared(&keywords([decision.what.as_str(), decision.why.as_str()])).unwrap_or(Reason::KeyDecision)
    }
}

impl RecalledItem {
    pub fn at(&self) -> Millis {
        match self {
            Self::Learning(learning) => learning.updated_at,
            Self::Step(step) => step.at,
            Self::Decision(decision) => decision.at,
        }
    }

    /// Compares the content: a file that was edited ten times is returned once.
    fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Step(one), Self::Step(other)) => {
                (&one.action_type, &one.files, &one.command) == (&other.action_type, &other.files, &other.command)
            }
            (Self::Decision(one), Self::Decision(other)) => (&one.what, &one.why) == (&other.what, &other.why),
            (one, other) => one == other,
        }
    }
}
