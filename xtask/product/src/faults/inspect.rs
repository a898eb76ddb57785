//! The invariants that hold after every fault.

use std::fs;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use steadfast_model::{Drift, Entry, Ruling, State};
use steadfast_store::ledger::Ledger;
use steadfast_store::{SessionFiles, read_lines};

use super::scene::Scene;
use crate::Result;

const WAIT: Duration = Duration::from_secs(2);

/// Checks that the journal has no gap and the snapshot is its fold.
pub(super) fn session(files: &SessionFiles) -> Result<State> {
    compared(files, |state| state)
}

/// The same after an older version has run, too. It drops unknown fields from its snapshot, but refuses nothing new,
/// and the journal is complete.
pub(super) fn session_of_two(files: &SessionFiles) -> Result<State> {
    compared(files, |state| State { goal: None, drift: Drift::default(), ..state })
}

fn compared(files: &SessionFiles, known: fn(State) -> State) -> Result<State> {
    let name = files.session();
    let state = files.load(WAIT)?.ok_or_else(|| format!("session {name} is gone"))?;
    let (first, lines) = read_lines(files.dir(), 0)?;
    for (expected, line) in (first..).zip(&lines) {
        if line.sequence != expected {
            return Err(format!("the journal of {name} has a gap: {} instead of {expected}", line.sequence).into());
        }
    }
    let last = lines.last().map_or(0, |line| line.sequence);
    if last != state.sequence {
        return Err(format!("the journal of {name} ends at {last}, its state at {}", state.sequence).into());
    }
    let _ = fs::remove_file(files.dir().join("state"));
    let folded = files.load(WAIT)?;
    if folded.clone().map(known) != Some(known(state.clone())) {
        return Err(format!("the snapshot of {name} is not the fold of its journal: {state:?}, {folded:?}").into());
    }
    Ok(state)
}

/// Returns the number of refused stops in the journal, including repeated answers.
pub(super) fn refusals_on_the_account(files: &SessionFiles) -> Result<u64> {
    let (_, lines) = read_lines(files.dir(), 0)?;
    let refused = lines.iter().filter(|line| match &line.entry {
        Entry::Record(record) => matches!(record.answer.ruling, Ruling::Continue { .. }),
        Entry::Snapshot(_) => false,
    });
    Ok(refused.count() as u64)
}

pub(super) fn no_refusal_is_off_the_account(files: &SessionFiles, given: u64) -> Result<()> {
    let kept = refusals_on_the_account(files)?;
    if given > kept {
        return Err(format!("{given} refusals were given, {kept} are on the account of {}", files.session()).into());
    }
    Ok(())
}

/// Checks that the ledger is intact and contains every task that a command reported as added.
pub(super) fn ledger(scene: &Scene, acknowledged: &[String]) -> Result<()> {
    let (place, path) = (scene.place(), scene.state().join("state.db"));
    let checked: String = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?.query_row(
        "PRAGMA quick_check",
        (),
        |row| row.get(0),
    )?;
    if checked != "ok" {
        return Err(format!("the ledger is damaged: {checked}").into());
    }
    let ledger = Ledger::open_read_only(&place.state)?.ok_or("the ledger is gone")?;
    let plan = ledger.plan_view(&place.worktree())?;
    let tasks = plan.map_or(Ok(Vec::new()), |plan| ledger.tasks(&plan.id))?;
    for title in acknowledged {
        let found = tasks.iter().filter(|task| task.title == *title).count();
        if found != 1 {
            return Err(format!("task `{title}` was acknowledged and is {found} times in the ledger").into());
        }
    }
    Ok(())
}

/// Checks that every journal line is in the ledger once. Commands drain the journal, and one has run before.
pub(super) fn drained(scene: &Scene, state: &State) -> Result<()> {
    let ledger = Ledger::open_read_only(&scene.state())?.ok_or("the ledger is gone")?;
    let row = ledger.sessions()?.into_iter().find(|row| row.id == state.session);
    let row = row.ok_or_else(|| format!("session {} is not in the ledger", state.session))?;
    if (row.tool_calls, row.prompts) != (state.tool_calls, state.prompts) {
        return Err(format!(
            "the ledger has {} tool calls and {} prompts of {}, its journal {} and {}",
            row.tool_calls, row.prompts, state.session, state.tool_calls, state.prompts
        )
        .into());
    }
    Ok(())
}
