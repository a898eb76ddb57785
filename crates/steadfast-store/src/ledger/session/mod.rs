pub(super) mod drain;
pub(super) mod history;
pub(super) mod retention;
pub(super) mod state;
pub(super) mod step;

use rusqlite::Row;
use steadfast_model::{Change, EventKind, Fact, Host, Millis, OwnerEnd, PlanId, Record, Ruling, SessionId, State};

use super::database::column::{count, millis, plan_id, session_id, word};
use super::error::Fault;
use super::{Ledger, LedgerError};
use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::connection::{Connection, Transaction};

/// A session, from the drained part of its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub id: SessionId,
    pub host: Host,
    /// The worktree of its plan; until the plan is known, the folder of its first event.
    pub worktree: Option<String>,
    pub started_at: Millis,
    pub last_at: Millis,
    pub ended: Option<OwnerEnd>,
    pub prompts: u64,
    pub tool_calls: u64,
    pub refusals: u64,
}

const COLUMNS: &str = "id, host, worktree, started_at, last_at, ended_at, end_reason, prompts, tool_calls, refusals";

impl Ledger {
    /// Returns the sessions, the most recently active first.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, LedgerError> {
        self.read(|connection| {
            connection.rows(&format!("SELECT {COLUMNS} FROM session ORDER BY last_at DESC, id"), (), from_row)
        })
    }
}

impl SessionRow {
    pub(super) fn new(id: &SessionId, host: Host, at: Millis) -> Self {
        Self {
            id: id.clone(),
            host,
            worktree: None,
            started_at: at,
            last_at: at,
            ended: None,
            prompts: 0,
            tool_calls: 0,
            refusals: 0,
        }
    }

    /// Takes the counts from a rotated journal's snapshot. It contains only the refusals since the last prompt.
    pub(super) fn from_state(id: &SessionId, state: &State) -> Self {
        let ended = state.ended.clone().map(|reason| OwnerEnd { reason, at: state.last_at });
        Self {
            last_at: state.last_at,
            ended,
            prompts: state.prompts,
            tool_calls: state.tool_calls,
            refusals: u64::from(state.stop.refused),
            ..Self::new(id, state.host, state.started_at)
        }
    }

    /// Applies a record. It counts changes, not events, because the same event may arrive through two wirings.
    pub(super) fn fold(&mut self, record: &Record) {
        let event = &record.event;
        self.last_at = self.last_at.max(event.at);
        if let Fact::Known(Some(plan)) = &record.facts.plan {
            self.worktree = Some(plan.worktree.clone());
        } else if self.worktree.is_none() {
            self.worktree = Some(event.cwd.clone());
        }
        match &event.kind {
            EventKind::SessionStart { .. } => self.ended = None,
            EventKind::SessionEnd { reason } => self.ended = Some(OwnerEnd { reason: reason.clone(), at: event.at }),
            _ => {}
        }
        let changed =
            |wanted: fn(&Change) -> bool| record.changes.iter().filter(|change| wanted(change)).count() as u64;
        self.prompts += changed(|change| matches!(change, Change::HumanSpoke));
        self.tool_calls += changed(|change| matches!(change, Change::ToolCalled));
        self.refusals += u64::from(is_refusal(record));
    }
}

/// A repeated answer has no opinions and does not count as a second refusal.
fn is_refusal(record: &Record) -> bool {
    match record.answer.ruling {
        Ruling::Deny { .. } | Ruling::Continue { .. } => !record.opinions.is_empty(),
        Ruling::Pass | Ruling::Ask { .. } | Ruling::AskInstead(_) => false,
    }
}

pub(super) fn find(connection: &Connection, id: &SessionId) -> Result<Option<SessionRow>, Fault> {
    connection.first(&format!("SELECT {COLUMNS} FROM session WHERE id = ?1"), [id], from_row)
}

pub(super) fn put(transaction: &Transaction<'_>, row: &SessionRow) -> Result<(), Fault> {
    transaction.run(
        &format!(
            "INSERT INTO session ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (id) DO UPDATE SET worktree = excluded.worktree, last_at = excluded.last_at,
                 ended_at = excluded.ended_at, end_reason = excluded.end_reason, prompts = excluded.prompts,
                 tool_calls = excluded.tool_calls, refusals = excluded.refusals"
        ),
        params![
            row.id,
            row.host,
            row.worktree.as_deref().map(AsGiven),
            row.started_at,
            row.last_at,
            row.ended.as_ref().map(|end| end.at),
            row.ended.as_ref().map(|end| &end.reason),
            row.prompts,
            row.tool_calls,
            row.refusals,
        ],
    )
}

pub(super) fn plans_of(connection: &Connection, id: &SessionId) -> Result<Vec<PlanId>, Fault> {
    connection.rows("SELECT id FROM plan WHERE owner = ?1", [id], |row| plan_id(row, 0))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let ended = match row.get::<_, Option<i64>>(5)? {
        Some(at) => Some(OwnerEnd { at: Millis(at), reason: row.get::<_, Option<String>>(6)?.unwrap_or_default() }),
        None => None,
    };
    Ok(SessionRow {
        id: session_id(row, 0)?,
        host: word(row, 1, &Host::ALL, Host::as_str)?,
        worktree: row.get(2)?,
        started_at: millis(row, 3)?,
        last_at: millis(row, 4)?,
        ended,
        prompts: count(row, 7)?,
        tool_calls: count(row, 8)?,
        refusals: count(row, 9)?,
    })
}
