//! The steps of sessions, and the keys to find them.

use rusqlite::Row;
use steadfast_model::{Level, Millis, SessionId, Step, fnv};

use crate::ledger::database::bind::params;
use crate::ledger::database::column::{count, json, millis, session_id, text, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::keyword::keywords;
use crate::ledger::{Ledger, LedgerError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRow {
    pub id: String,
    pub session: SessionId,
    /// `edit`, `write`, `bash`, `delegate` or `mcp`.
    pub action_type: String,
    pub files: Vec<String>,
    pub command: Option<String>,
    /// The reasons for the score, and what the model visibly thought before, if a proxy saw it.
    pub reasoning: String,
    pub drift_score: u64,
    /// `none`, `minor`, `major` or `critical`.
    pub drift_type: String,
    pub level: Level,
    pub correction_given: Option<String>,
    /// Other sessions may use it as an example.
    pub is_validated: bool,
    pub keywords: Vec<String>,
    pub at: Millis,
}

const COLUMNS: &str = "id, session_id, action_type, files, command, reasoning, drift_score, drift_type, level, \
                       correction_given, is_validated, keywords, timestamp";

/// The kind of a step's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    File,
    Folder,
    Word,
}

impl Key {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Word => "word",
        }
    }
}

impl Ledger {
    /// Returns the steps of a session, the newest first.
    pub fn steps_of(&self, session: &SessionId, limit: usize) -> Result<Vec<StepRow>, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM steps WHERE session_id = ?1 ORDER BY timestamp DESC, number DESC LIMIT ?2"
            ))?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![session, limit], from_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    session: &SessionId,
    sequence: u64,
    step: &Step,
    at: Millis,
) -> Result<(), Fault> {
    let mut folders: Vec<&str> = step.paths.iter().filter_map(|path| folder(path)).collect();
    folders.sort_unstable();
    folders.dedup();
    let words = keywords(step.paths.iter().map(String::as_str).chain(step.command.as_deref()));
    transaction.run(
        "INSERT INTO steps (id, session_id, action_type, files, folders, command, reasoning, drift_score, drift_type,
                 level, correction_given, is_validated, keywords, timestamp)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            // The journal sequence is part of the id, because step numbers repeat after a state was lost.
            format!("{session}/{sequence}/{}", step.number),
            session,
            step.kind,
            text(&step.paths),
            text(&folders),
            step.command,
            reasoning(step),
            step.score.get(),
            step.score.severity().as_str(),
            step.level,
            step.correction,
            step.score.is_validated(),
            text(&words),
            at,
        ],
    )?;
    if !step.score.is_validated() {
        return Ok(());
    }
    let number = transaction.last_insert_rowid();
    let mut statement = transaction.prepare_cached(
        "INSERT INTO step_key (kind, key, action, session_id, timestamp, step) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (kind, key, action, session_id) DO UPDATE SET timestamp = excluded.timestamp, step = excluded.step",
    )?;
    let action = action(step);
    let files = step.paths.iter().map(|path| (Key::File, path.as_str()));
    let folders = folders.into_iter().map(|folder| (Key::Folder, folder));
    let words = words.iter().map(|word| (Key::Word, word.as_str()));
    for (kind, key) in files.chain(folders).chain(words) {
        statement.execute(params![kind, key, action, session, at, number])?;
    }
    Ok(())
}

/// The reasons for the score, and what the model thought.
fn reasoning(step: &Step) -> String {
    let thought = step.thinking.as_ref().map(|thinking| format!("it thought: {thinking}"));
    step.reasons.iter().cloned().chain(thought).collect::<Vec<_>>().join("; ")
}

/// Hashes the action, so that repeated actions are recognised.
fn action(step: &Step) -> i64 {
    let parts = [step.kind.as_str(), step.command.as_deref().unwrap_or_default()];
    fnv(parts.into_iter().chain(step.paths.iter().map(String::as_str)).map(str::as_bytes)).cast_signed()
}

/// Returns the steps with a key and their times: each action once, the newest first, without those of one session.
pub(crate) fn with_key(
    connection: &Connection,
    kind: Key,
    key: &str,
    without: Option<&SessionId>,
    most: usize,
) -> Result<Vec<(Millis, i64)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT MAX(timestamp), step FROM step_key WHERE kind = ?1 AND key = ?2 AND (?3 IS NULL OR session_id <> ?3)
         GROUP BY action ORDER BY 1 DESC, step DESC LIMIT ?4",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let values = params![kind, key, without, most];
    let rows = statement.query_map(values, |row| Ok((millis(row, 0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn find(connection: &Connection, number: i64) -> Result<Option<StepRow>, Fault> {
    connection.first(&format!("SELECT {COLUMNS} FROM steps WHERE number = ?1"), [number], from_row)
}

/// Deletes the keys of deleted steps.
pub(crate) fn sweep_keys(transaction: &Transaction<'_>) -> Result<(), Fault> {
    transaction.run("DELETE FROM step_key WHERE step NOT IN (SELECT number FROM steps)", ())
}

/// Returns the folder of a file; none at the top level.
pub(crate) fn folder(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<StepRow> {
    Ok(StepRow {
        id: row.get(0)?,
        session: session_id(row, 1)?,
        action_type: row.get(2)?,
        files: json(3, &row.get::<_, String>(3)?)?,
        command: row.get(4)?,
        reasoning: row.get(5)?,
        drift_score: count(row, 6)?,
        drift_type: row.get(7)?,
        level: word(row, 8, &Level::ALL, Level::as_str)?,
        correction_given: row.get(9)?,
        is_validated: row.get(10)?,
        keywords: json(11, &row.get::<_, String>(11)?)?,
        at: millis(row, 12)?,
    })
}
