//! Copies journals into the ledger. The effect of the lines and the new read position are one commit, so each line is
//! applied exactly once, even if a process dies.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use steadfast_model::{Change, DriftChange, Effect, Entry, Record, SessionId, State};

use crate::hook_log::log_now;
use crate::ledger::database::bind::params;
use crate::ledger::database::column::count;
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::plan::owner::{self, Claiming};
use crate::ledger::plan::{self, host_list, share};
use crate::ledger::session::state::{self, SessionState};
use crate::ledger::session::{self, SessionRow, history, step};
use crate::ledger::task::progress;
use crate::ledger::{Ledger, LedgerError, loops};
use crate::session::Line;

/// The drained part of a session's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalCursor {
    pub sequence: u64,
    /// The first sequence of the journal file to which `offset` refers: rotation starts a new file.
    pub file_start: u64,
    pub offset: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    pub sequence: u64,
    pub offset: u64,
    /// The number of new lines.
    pub applied: u64,
}

impl Ledger {
    /// Returns `None` if nothing of this session is drained yet.
    pub fn drained(&self, session: &SessionId) -> Result<Option<JournalCursor>, LedgerError> {
        self.read(|connection| cursor(connection, session))
    }

    /// Returns the number of drained journal bytes for each session in the ledger.
    pub fn drained_bytes(&self) -> Result<BTreeMap<SessionId, u64>, LedgerError> {
        self.read(|connection| {
            connection.rows("SELECT session, \"offset\" FROM drained", (), |row| {
                Ok((SessionId::new(row.get::<_, String>(0)?), count(row, 1)?))
            })
        })
    }

    /// Applies the lines that the ledger lacks, in order and without a gap, or none of them. If the ledger was restored from
    /// a backup older than the last rotation, draining continues at the snapshot, and the log names the lost lines.
    pub fn drain(
        &mut self,
        session: &SessionId,
        file_start: u64,
        lines: impl IntoIterator<Item = Line>,
    ) -> Result<Drained, LedgerError> {
        let before = self.drained(session)?;
        // The last connection to close pays two fsyncs after a write: with nothing new, nothing is written.
        let mut lines =
            lines.into_iter().skip_while(|line| before.is_some_and(|c| c.covers(line, file_start))).peekable();
        if lines.peek().is_none() {
            let (sequence, offset) = before.map_or((0, 0), |cursor| (cursor.sequence, cursor.offset));
            return Ok(Drained { sequence, offset, applied: 0 });
        }
        let (drained, lost) = self.write(|transaction| {
            let mut drain = Drain::begin(transaction, session, file_start)?;
            for line in lines {
                drain.line(transaction, line)?;
            }
            let lost = drain.lost.clone();
            Ok((drain.finish(transaction)?, lost))
        })?;
        if let Some(lost) = lost {
            let (from, to) = (lost.start(), lost.end());
            let line = format!(
                "lines {from} to {to} of the journal of {session} are not in this ledger: the ledger is older than the last \
                 rotation of the journal; only their counts were taken over"
            );
            log_now(&self.state_dir, &line);
        }
        Ok(drained)
    }
}

impl JournalCursor {
    fn covers(&self, line: &Line, file_start: u64) -> bool {
        line.sequence < self.sequence
            || (line.sequence == self.sequence && file_start == self.file_start && line.end <= self.offset)
    }
}

struct Drain<'a> {
    session: &'a SessionId,
    row: Option<SessionRow>,
    /// The session's goal and drift; `worked` is true if they changed.
    work: Option<SessionState>,
    worked: bool,
    /// The ledger had lines of this session before.
    known: bool,
    was_ended: bool,
    cursor: JournalCursor,
    applied: u64,
    /// Lines that are lost for good: the journal begins after them, and this ledger ends before them.
    lost: Option<RangeInclusive<u64>>,
}

impl<'a> Drain<'a> {
    fn begin(connection: &Connection, session: &'a SessionId, file_start: u64) -> Result<Self, Fault> {
        // Read again under the lock: another process may have drained meanwhile.
        let before = cursor(connection, session)?;
        let row = session::find(connection, session)?;
        Ok(Self {
            session,
            known: before.is_some(),
            was_ended: row.as_ref().is_some_and(|row| row.ended.is_some()),
            row,
            work: state::find(connection, session)?,
            worked: false,
            cursor: before.unwrap_or(JournalCursor { sequence: 0, file_start, offset: 0 }).in_file(file_start),
            applied: 0,
            lost: None,
        })
    }

    fn line(&mut self, transaction: &Transaction<'_>, line: Line) -> Result<(), Fault> {
        if line.sequence < self.cursor.sequence {
            return Ok(());
        }
        if line.sequence > self.cursor.sequence {
            self.require_next(&line)?;
            match &line.entry {
                Entry::Record(record) => self.record(transaction, line.sequence, record)?,
                // The lines that it summarises were counted when they were drained.
                Entry::Snapshot(_) if self.known && line.sequence == self.cursor.sequence + 1 => {}
                Entry::Snapshot(state) => self.snapshot(line.sequence, state),
            }
            self.applied += 1;
            self.known = true;
        }
        self.cursor =
            JournalCursor { sequence: line.sequence, offset: self.cursor.offset.max(line.end), ..self.cursor };
        Ok(())
    }

    /// Rejects a gap. Only a snapshot may skip lines: for a session that is new to the ledger, or at the start of a journal
    /// file.
    fn require_next(&self, line: &Line) -> Result<(), Fault> {
        let expected = self.cursor.sequence + 1;
        let begins_file = !self.known || line.sequence == self.cursor.file_start;
        if line.sequence == expected || (begins_file && matches!(line.entry, Entry::Snapshot(_))) {
            return Ok(());
        }
        Err(LedgerError::Gap { session: self.session.clone(), expected, found: line.sequence }.into())
    }

    /// Takes the state from a snapshot that replaced the lines before it.
    fn snapshot(&mut self, sequence: u64, state: &State) {
        let snapshot = SessionRow::from_state(self.session, state);
        if self.known {
            self.lost = Some(self.cursor.sequence + 1..=sequence);
        }
        self.work = SessionState::take_over(self.work.take(), state);
        self.worked = true;
        self.row = Some(match self.row.take() {
            // The snapshot has only the refusals since the last prompt. The start and the worktree of a session do not
            // change.
            Some(row) => SessionRow {
                started_at: row.started_at,
                worktree: row.worktree,
                refusals: row.refusals.max(snapshot.refusals),
                ..snapshot
            },
            None => snapshot,
        });
    }

    fn record(&mut self, transaction: &Transaction<'_>, sequence: u64, record: &Record) -> Result<(), Fault> {
        let event = &record.event;
        self.row.get_or_insert_with(|| SessionRow::new(self.session, event.host, event.at)).fold(record);
        self.worked |= SessionState::fold(&mut self.work, self.session, record);
        history::insert(transaction, self.session, sequence, record)?;
        for change in &record.changes {
            if let Change::Drift(DriftChange::Stepped(step)) = change {
                step::insert(transaction, self.session, sequence, step, event.at)?;
            }
        }
        for effect in &record.effects {
            match effect {
                // A plan that was deleted meanwhile cannot be taken, and this is no error.
                Effect::TakePlan { plan, session, silent } => {
                    owner::take_late(transaction, plan, session, Claiming::of(silent.as_ref()), event.at)?;
                }
                Effect::LeavePlan { plan, session } => {
                    owner::leave_late(transaction, plan, session, event.at)?;
                    share::put_down(transaction, plan, session)?;
                }
                Effect::BlockTask { plan, task, reason } => {
                    progress::block_late(transaction, plan, task, reason, event.at)?;
                }
                Effect::Checkpoint { plan } if plan::is_known(transaction, plan)? => {
                    progress::checkpoint(transaction, plan, event.at)?;
                    share::put_down(transaction, plan, &event.session)?;
                }
                Effect::GiveUp { plan, task } if plan::is_known(transaction, plan)? => {
                    progress::give_up(transaction, plan, task.as_ref(), event.at)?;
                }
                Effect::Checkpoint { .. } | Effect::GiveUp { .. } => {}
                Effect::BindLoop { id, session } => loops::bind(transaction, id, session.as_ref())?,
                Effect::LoopWaits { id, why } => loops::wait(transaction, id, why.as_deref())?,
                Effect::FollowList { plan, session, worktree, items, gone } => {
                    let change = host_list::Change { plan, session, worktree, items, gone, at: event.at };
                    host_list::apply(transaction, &change)?;
                }
                // Claims, gates, seals and approvals are files next to the journal; commands run next to the hook.
                Effect::LeaveClaim(_)
                | Effect::DropClaim { .. }
                | Effect::CloseGate(_)
                | Effect::OpenGate { .. }
                | Effect::KeepDraft { .. }
                | Effect::Approve { .. }
                | Effect::Restore { .. }
                | Effect::Reseal { .. }
                | Effect::ResealTree { .. }
                | Effect::Refine { .. }
                | Effect::FindNeighbours
                | Effect::TellOwner { .. }
                | Effect::DropClaims
                | Effect::DrainJournal { .. }
                | Effect::NoteProcess { .. }
                | Effect::NoteTranscript { .. } => {}
            }
        }
        Ok(())
    }

    fn finish(self, transaction: &Transaction<'_>) -> Result<Drained, Fault> {
        if let Some(row) = &self.row {
            session::put(transaction, row)?;
            if row.ended.is_some() || self.was_ended {
                for plan in session::plans_of(transaction, self.session)? {
                    transaction.touch(&plan);
                }
            }
        }
        if let Some(work) = self.work.as_ref().filter(|_| self.worked) {
            state::put(transaction, work)?;
        }
        let JournalCursor { sequence, file_start, offset } = self.cursor;
        transaction.run(
            "INSERT INTO drained (session, sequence, file_start, \"offset\") VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (session) DO UPDATE
                 SET sequence = excluded.sequence, file_start = excluded.file_start, \"offset\" = excluded.\"offset\"",
            params![self.session, sequence, file_start, offset],
        )?;
        Ok(Drained { sequence, offset, applied: self.applied })
    }
}

impl JournalCursor {
    /// In another journal file, reading starts at offset 0.
    fn in_file(self, file_start: u64) -> Self {
        if self.file_start == file_start { self } else { Self { file_start, offset: 0, ..self } }
    }
}

fn cursor(connection: &Connection, session: &SessionId) -> Result<Option<JournalCursor>, Fault> {
    connection.first("SELECT sequence, file_start, \"offset\" FROM drained WHERE session = ?1", [session], |row| {
        Ok(JournalCursor { sequence: count(row, 0)?, file_start: count(row, 1)?, offset: count(row, 2)? })
    })
}
