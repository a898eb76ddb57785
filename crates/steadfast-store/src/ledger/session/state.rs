//! The goal and the drift of a session, computed from the drained part of its journal.

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use steadfast_model::{
    Change, Course, DriftChange, EventKind, Goal, Host, Level, Millis, Record, Release, Ruling, Score, SessionId,
    State, Tally, labels,
};

use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::column::{json, millis, session_id, text, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::{Ledger, LedgerError};

/// The number of scored steps to keep.
const HISTORY: usize = 50;

/// A session's goal and its drift.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionState {
    /// Goal, words, tally and course, folded by the same rules as in the session's own state. Its other fields are unused.
    state: State,
    /// The newest last.
    pub drift_history: Vec<ScoredStep>,
    pub last_checked_at: Option<Millis>,
    pub status: SessionStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoredStep {
    pub score: Score,
    pub level: Level,
    pub timestamp: Millis,
}

labels! {
    pub enum SessionStatus {
    /// Working.
        Active = "active",
    /// The last turn was completed.
        Completed = "completed",
    /// It ended in the middle of a turn, or after a budget was used up.
        Abandoned = "abandoned",
    }
}

const COURSES: [Course; 3] = [Course::Normal, Course::Drifted, Course::Forced];

const COLUMNS: &str = "session_id, project_path, original_goal, expected_scope, constraints, numbered, keywords, \
                       drift_history, escalation_count, last_checked_at, status, course, tally, created_at, updated_at";

impl Ledger {
    /// Returns the states, the most recently changed first.
    pub fn session_states(&self) -> Result<Vec<SessionState>, LedgerError> {
        self.read(|connection| {
            connection.rows(
                &format!("SELECT {COLUMNS} FROM session_states ORDER BY updated_at DESC, session_id"),
                (),
                from_row,
            )
        })
    }

    pub fn session_state(&self, session: &SessionId) -> Result<Option<SessionState>, LedgerError> {
        self.read(|connection| find(connection, session))
    }
}

impl SessionState {
    pub fn session(&self) -> &SessionId {
        &self.state.session
    }

    /// The folder to which the paths of its steps are relative.
    pub fn project_path(&self) -> &str {
        &self.state.drift.root
    }

    pub fn goal(&self) -> Goal {
        self.state.goal.clone().unwrap_or_default()
    }

    /// The keywords of the human's prompts.
    pub fn keywords(&self) -> &[String] {
        &self.state.drift.words
    }

    pub fn escalation_count(&self) -> u8 {
        self.state.drift.escalation
    }

    pub fn course(&self) -> Course {
        self.state.drift.course
    }

    pub fn tally(&self) -> Tally {
        self.state.drift.tally
    }

    pub fn tags(&self) -> Vec<&'static str> {
        self.tally().tags(self.course())
    }

    fn new(session: &SessionId, at: Millis) -> Self {
        // Host and start are in the session's own row, so these values are not used.
        let state = State::new(session.clone(), Host::Claude, at);
        Self { state, drift_history: Vec::new(), last_checked_at: None, status: SessionStatus::Active }
    }

    /// Takes the state from a rotated journal's snapshot, which replaced the lines before it.
    pub(crate) fn take_over(known: Option<Self>, state: &State) -> Option<Self> {
        if state.goal.is_none() && state.drift.is_empty() {
            return known;
        }
        let mut updated = Self::new(&state.session, state.started_at);
        updated.state.goal.clone_from(&state.goal);
        updated.state.drift = state.drift.clone();
        updated.state.last_at = state.last_at;
        updated.status = match (&state.ended, state.stop.released) {
            (_, Some(release)) if release != Release::Capped => SessionStatus::Completed,
            (Some(_), _) => SessionStatus::Abandoned,
            (None, _) => SessionStatus::Active,
        };
        if let Some(known) = known {
            updated.state.started_at = known.state.started_at;
            updated.drift_history = known.drift_history;
            updated.last_checked_at = known.last_checked_at;
        }
        Some(updated)
    }

    /// Applies a record, and returns true if a stored value changed. A session gets a row with its first goal or drift.
    pub(crate) fn fold(known: &mut Option<Self>, session: &SessionId, record: &Record) -> bool {
        let event = &record.event;
        let mut changed = false;
        for change in &record.changes {
            if is_kept(change) {
                known.get_or_insert_with(|| Self::new(session, event.at)).apply(change, event.at);
                changed = true;
            }
        }
        let Some(known) = known else { return false };
        if let Some(status) = known.status_after(record).filter(|status| *status != known.status) {
            known.status = status;
            changed = true;
        }
        if changed {
            known.state.last_at = known.state.last_at.max(event.at);
        }
        changed
    }

    fn apply(&mut self, change: &Change, at: Millis) {
        self.state.apply(change);
        if let Change::Drift(DriftChange::Stepped(step)) = change {
            self.drift_history.push(ScoredStep { score: step.score, level: step.level, timestamp: at });
            let over = self.drift_history.len().saturating_sub(HISTORY);
            self.drift_history.drain(..over);
            self.last_checked_at = Some(at);
        }
    }

    fn status_after(&self, record: &Record) -> Option<SessionStatus> {
        let has = |wanted: fn(&Change) -> bool| record.changes.iter().any(wanted);
        match &record.event.kind {
            EventKind::SessionStart { .. } if self.status == SessionStatus::Abandoned => Some(SessionStatus::Active),
            EventKind::SessionEnd { .. } if self.status == SessionStatus::Active => Some(SessionStatus::Abandoned),
            EventKind::Stop(_) => {
                let capped = has(|change| matches!(change, Change::StopReleased(Release::Capped)));
                let refused = matches!(record.answer.ruling, Ruling::Continue { .. });
                (!capped && !refused).then_some(SessionStatus::Completed)
            }
            _ => {
                let works =
                    |change: &Change| matches!(change, Change::HumanSpoke | Change::Drift(DriftChange::Stepped(_)));
                has(works).then_some(SessionStatus::Active)
            }
        }
    }
}

fn is_kept(change: &Change) -> bool {
    matches!(
        change,
        Change::GoalSet { .. }
            | Change::GoalCleared
            | Change::GoalRefined { .. }
            | Change::ConstraintAdded(_)
            | Change::ConstraintLifted(_)
            | Change::Drift(
                DriftChange::Began { .. }
                    | DriftChange::HumanSpoke { .. }
                    | DriftChange::Stepped(_)
                    | DriftChange::Steered { .. }
            )
    )
}

pub(crate) fn find(connection: &Connection, session: &SessionId) -> Result<Option<SessionState>, Fault> {
    connection.first(&format!("SELECT {COLUMNS} FROM session_states WHERE session_id = ?1"), [session], from_row)
}

pub(crate) fn put(transaction: &Transaction<'_>, row: &SessionState) -> Result<(), Fault> {
    let goal = row.goal();
    transaction.run(
        &format!(
            "INSERT INTO session_states ({COLUMNS}, tags)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (session_id) DO UPDATE SET project_path = excluded.project_path,
                 original_goal = excluded.original_goal, expected_scope = excluded.expected_scope,
                 constraints = excluded.constraints, numbered = excluded.numbered, keywords = excluded.keywords,
                 drift_history = excluded.drift_history, escalation_count = excluded.escalation_count,
                 last_checked_at = excluded.last_checked_at, status = excluded.status, course = excluded.course,
                 tally = excluded.tally, updated_at = excluded.updated_at, tags = excluded.tags"
        ),
        params![
            row.session().as_str(),
            AsGiven(row.project_path()),
            goal.text,
            text(&goal.scope),
            text(&goal.constraints),
            goal.numbered,
            text(&row.keywords()),
            text(&row.drift_history),
            row.escalation_count(),
            row.last_checked_at,
            row.status,
            row.course().as_str(),
            text(&row.tally()),
            row.state.started_at,
            row.state.last_at,
            text(&row.tags()),
        ],
    )
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionState> {
    let list = |index: usize| row.get::<_, String>(index);
    let goal = Goal {
        text: row.get(2)?,
        scope: json(3, &list(3)?)?,
        // Resolved names and the additions of the refine command are shown only while the session's own state exists.
        found: Vec::new(),
        refined: Vec::new(),
        constraints: json(4, &list(4)?)?,
        numbered: row.get(5)?,
    };
    let mut known = SessionState::new(&session_id(row, 0)?, millis(row, 13)?);
    known.state.goal = (goal != Goal::default()).then_some(goal);
    known.state.last_at = millis(row, 14)?;
    let drift = &mut known.state.drift;
    drift.root = row.get(1)?;
    drift.words = json(6, &list(6)?)?;
    drift.escalation = row.get(8)?;
    drift.course = word(row, 11, &COURSES, Course::as_str)?;
    drift.tally = json(12, &list(12)?)?;
    known.drift_history = json(7, &list(7)?)?;
    known.last_checked_at = row.get::<_, Option<i64>>(9)?.map(Millis);
    known.status = word(row, 10, &SessionStatus::ALL, SessionStatus::as_str)?;
    Ok(known)
}
