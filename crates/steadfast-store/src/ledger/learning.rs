//! Learnings from past sessions, and a human's opinion of them.

use std::borrow::Cow;

use rusqlite::Row;
use steadfast_model::{Millis, SessionId, labels};

use super::database::column::{count, json, millis, text, word};
use super::error::Fault;
use super::keyword::keywords;
use super::task::within;
use super::{Ledger, LedgerError};
use crate::ledger::database::bind::params;
use crate::ledger::database::connection::{Connection, Transaction};
use steadfast_redact::redact;

/// The maximum lengths in characters. A learning should be readable at a glance.
const TEXT: usize = 500;
const WHY: usize = 1_000;
const PATH: usize = 4_096;
const FILES: usize = 20;

/// The maximum number of open learnings. A human with more would review none of them.
const OPEN: usize = 500;

/// The confidence in an agent's statement, and the increase for each repetition.
const STATED: u8 = 50;
const PER_REPETITION: u8 = 10;
const MOST_STATED: u8 = 90;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learning {
    pub id: u64,
    pub kind: LearningKind,
    pub text: String,
    /// The reason, which may be empty.
    pub why: String,
    pub files: Vec<String>,
    pub keywords: Vec<String>,
    /// 0 to 100.
    pub confidence: u8,
    pub status: LearningStatus,
    /// The session in which it was learned.
    pub session: Option<SessionId>,
    pub source: LearningSource,
    pub created_at: Millis,
    pub updated_at: Millis,
}

labels! {
    pub enum LearningKind {
    /// An approach that does not work.
        Failure = "failure",
    /// A fact.
        Discovery = "discovery",
    /// A rule to follow.
        Constraint = "constraint",
    }
}

labels! {
/// A human's opinion of a learning.
    pub enum LearningStatus {
    /// No human has reviewed it yet.
        Open = "open",
        Confirmed = "confirmed",
    /// Wrong. It is kept so that agents cannot add it again.
        Dismissed = "dismissed",
    }
}

impl LearningStatus {
    /// A human's opinion is certain.
    fn confidence(self) -> u8 {
        match self {
            Self::Open => STATED,
            Self::Confirmed => 100,
            Self::Dismissed => 0,
        }
    }
}

labels! {
    /// The author of a learning.
    pub enum LearningSource {
        Agent = "agent",
        Human = "human",
        Steadfast = "steadfast",
    }
}

impl LearningSource {
    /// A learning written by a human is confirmed.
    fn status(self) -> LearningStatus {
        match self {
            Self::Human => LearningStatus::Confirmed,
            Self::Agent | Self::Steadfast => LearningStatus::Open,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLearning {
    pub kind: LearningKind,
    pub text: String,
    pub why: String,
    pub files: Vec<String>,
    pub session: Option<SessionId>,
    pub source: LearningSource,
}

/// The result of adding a learning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Learned {
    New(Learning),
    /// It existed. Repeating an open learning increases its confidence; a human who repeats it confirms it.
    Known(Learning),
    /// A human has dismissed it. Only a human can revert this.
    Dismissed(Learning),
}

const COLUMNS: &str =
    "id, kind, text, why, files, keywords, confidence, status, session, source, created_at, updated_at";

impl Ledger {
    pub fn learn(&mut self, new: &NewLearning, now: Millis) -> Result<Learned, LedgerError> {
        within("a learning", &new.text, TEXT)?;
        within("the reason for a learning", &new.why, WHY)?;
        if new.files.len() > FILES {
            return Err(LedgerError::LearningFiles { count: new.files.len(), bound: FILES });
        }
        for file in &new.files {
            within("a path of a learning", file, PATH)?;
        }
        let content = redact(&new.text);
        self.write(|transaction| match find_same(transaction, new.kind, &content)? {
            Some(known) => repeat(transaction, known, new.source, now),
            None => insert(transaction, new, content, now),
        })
    }

    /// Returns all learnings: first the open ones, then the confirmed, then the dismissed; each group with the newest first.
    pub fn learnings(&self) -> Result<Vec<Learning>, LedgerError> {
        self.read(|connection| {
            let mut all = Vec::new();
            for status in LearningStatus::ALL {
                all.extend(with_status(connection, status)?);
            }
            Ok(all)
        })
    }

    /// Stores a human's opinion of a learning.
    pub fn judge_learning(&mut self, id: u64, status: LearningStatus, now: Millis) -> Result<Learning, LedgerError> {
        self.write(|transaction| {
            let known = find(transaction, id)?.ok_or(LedgerError::UnknownLearning { id })?;
            let judged = Learning { status, confidence: status.confidence(), updated_at: now, ..known };
            put(transaction, &judged)?;
            Ok(judged)
        })
    }
}

/// Returns the learnings with one status, the newest first.
pub(super) fn with_status(connection: &Connection, status: LearningStatus) -> Result<Vec<Learning>, Fault> {
    connection.rows(
        &format!("SELECT {COLUMNS} FROM learnings WHERE status = ?1 ORDER BY updated_at DESC, id DESC"),
        [status],
        from_row,
    )
}

fn repeat(
    transaction: &Transaction<'_>,
    known: Learning,
    source: LearningSource,
    now: Millis,
) -> Result<Learned, Fault> {
    let (status, confidence) = match (source, known.status) {
        (LearningSource::Human, _) => (LearningStatus::Confirmed, LearningStatus::Confirmed.confidence()),
        (_, LearningStatus::Dismissed) => return Ok(Learned::Dismissed(known)),
        (_, LearningStatus::Confirmed) => (known.status, known.confidence),
        (_, LearningStatus::Open) => (known.status, known.confidence.saturating_add(PER_REPETITION).min(MOST_STATED)),
    };
    let known = Learning { status, confidence, updated_at: now, ..known };
    put(transaction, &known)?;
    Ok(Learned::Known(known))
}

fn insert(
    transaction: &Transaction<'_>,
    new: &NewLearning,
    content: Cow<'_, str>,
    now: Millis,
) -> Result<Learned, Fault> {
    let status = new.source.status();
    if status == LearningStatus::Open {
        let open: u64 =
            transaction.row("SELECT COUNT(*) FROM learnings WHERE status = ?1", [status], |row| count(row, 0))?;
        if open >= OPEN as u64 {
            return Err(LedgerError::OpenLearnings { bound: OPEN }.into());
        }
    }
    let (content, why) = (content.into_owned(), redact(&new.why).into_owned());
    let files: Vec<String> = new.files.iter().map(|file| redact(file).into_owned()).collect();
    let words = keywords([content.as_str(), why.as_str()].into_iter().chain(files.iter().map(String::as_str)));
    transaction.run(
        "INSERT INTO learnings (kind, text, why, files, keywords, confidence, status, session, source, created_at,
                 updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)",
        params![
            new.kind,
            content,
            why,
            text(&files),
            text(&words),
            status.confidence(),
            status,
            new.session,
            new.source,
            now,
        ],
    )?;
    let id = transaction.last_insert_rowid();
    Ok(Learned::New(Learning {
        id: id.unsigned_abs(),
        kind: new.kind,
        text: content,
        why,
        files,
        keywords: words,
        confidence: status.confidence(),
        status,
        session: new.session.clone(),
        source: new.source,
        created_at: now,
        updated_at: now,
    }))
}

fn put(transaction: &Transaction<'_>, learning: &Learning) -> Result<(), Fault> {
    transaction.run(
        "UPDATE learnings SET status = ?2, confidence = ?3, updated_at = ?4 WHERE id = ?1",
        params![learning.id, learning.status, learning.confidence, learning.updated_at],
    )
}

fn find(connection: &Connection, id: u64) -> Result<Option<Learning>, Fault> {
    let Ok(id) = i64::try_from(id) else { return Ok(None) };
    connection.first(&format!("SELECT {COLUMNS} FROM learnings WHERE id = ?1"), [id], from_row)
}

/// Finds a learning with the same text, ignoring case.
fn find_same(connection: &Connection, kind: LearningKind, content: &str) -> Result<Option<Learning>, Fault> {
    connection.first(
        &format!("SELECT {COLUMNS} FROM learnings WHERE kind = ?1 AND text = ?2 COLLATE NOCASE"),
        [kind.as_str(), content],
        from_row,
    )
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Learning> {
    Ok(Learning {
        id: count(row, 0)?,
        kind: word(row, 1, &LearningKind::ALL, LearningKind::as_str)?,
        text: row.get(2)?,
        why: row.get(3)?,
        files: json(4, &row.get::<_, String>(4)?)?,
        keywords: json(5, &row.get::<_, String>(5)?)?,
        confidence: row.get(6)?,
        status: word(row, 7, &LearningStatus::ALL, LearningStatus::as_str)?,
        session: row.get::<_, Option<String>>(8)?.map(SessionId::new),
        source: word(row, 9, &LearningSource::ALL, LearningSource::as_str)?,
        created_at: millis(row, 10)?,
        updated_at: millis(row, 11)?,
    })
}
