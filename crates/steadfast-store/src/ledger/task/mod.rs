pub(super) mod evidence;
pub(super) mod lease;
mod nearest;
pub(super) mod order;
pub(super) mod progress;
pub(super) mod proof;
pub(super) mod status;

use std::collections::BTreeMap;

use rusqlite::Row;
use steadfast_model::{AddedBy, Check, Millis, PlanId, PlannedTask, Status, Task, TaskId, TaskKind, TaskType};

use super::database::column::{exact, json, millis, optional_word, task_id, text, word};
use super::error::Fault;
use super::plan::{self, added};
use super::{Ledger, LedgerError};
use crate::ledger::database::bind::params;
use crate::ledger::database::connection::{Connection, Transaction};
use nearest::nearest;
use order::{leading_number, position};
use progress::Started;

/// A task to add to a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    /// None for the next free id: `+1` in the plan of a spec, a whole number in a plain list.
    pub id: Option<TaskId>,
    pub title: String,
    pub kind: TaskKind,
    pub files: Vec<String>,
    pub verify: Option<Check>,
    pub notes: Option<String>,
    pub blocked_by: Vec<TaskId>,
    pub task_type: Option<TaskType>,
    pub added_by: AddedBy,
}

impl NewTask {
    pub fn new(title: impl Into<String>, added_by: AddedBy) -> Self {
        Self {
            id: None,
            title: title.into(),
            kind: TaskKind::Main,
            files: Vec::new(),
            verify: None,
            notes: None,
            blocked_by: Vec::new(),
            task_type: None,
            added_by,
        }
    }
}

/// The maximum lengths of a task's texts, in characters. Longer texts belong in a file that the task names.
mod bound {
    pub(super) const ID: usize = 100;
    pub(super) const TITLE: usize = 500;
    pub(super) const NOTES: usize = 4_000;
    pub(super) const VERIFY: usize = 4_000;
    pub(super) const PATH: usize = 4_096;
    pub(super) const PATHS: usize = 1_000;
    pub(super) const REASON: usize = 1_000;
}

/// Rejects a text that is too long.
pub(super) fn within(what: &'static str, text: &str, bound: usize) -> Result<(), LedgerError> {
    // A text has at least as many bytes as characters, so most texts need not be counted.
    let length = if text.len() <= bound { 0 } else { text.chars().count() };
    if length > bound { Err(LedgerError::TooLong { what, length, bound }) } else { Ok(()) }
}

pub(super) fn notes_within(notes: &str) -> Result<(), LedgerError> {
    within("the note of a task", notes, bound::NOTES)
}

pub(super) fn reason_within(reason: &str) -> Result<(), LedgerError> {
    within("the reason for blocking a task", reason, bound::REASON)
}

pub(super) fn new_within(new: &NewTask) -> Result<(), LedgerError> {
    within("the title of a task", &new.title, bound::TITLE)?;
    within("the id of a task", new.id.as_ref().map_or("", TaskId::as_str), bound::ID)?;
    notes_within(new.notes.as_deref().unwrap_or_default())?;
    within("the check of a task", new.verify.as_ref().and_then(Check::as_command).unwrap_or_default(), bound::VERIFY)?;
    for path in &new.files {
        within("a path of a task", path, bound::PATH)?;
    }
    if new.files.len() > bound::PATHS {
        return Err(LedgerError::TooMany { what: "files", count: new.files.len(), bound: bound::PATHS });
    }
    Ok(())
}

/// A blocked task, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    pub task: TaskId,
    pub reason: Option<String>,
}

const COLUMNS: &str = "id, title, kind, type, files, notes, verify, status, stuck_count, wave, added_by, created_at, updated_at, phase, item";

/// Pending, and all its dependencies are done. There is an index for this condition.
pub(super) const READY: &str = "status = 'pending' AND waits = 0";

impl Ledger {
    pub fn add_task(&mut self, plan: &PlanId, new: NewTask, now: Millis) -> Result<Task, LedgerError> {
        new_within(&new)?;
        self.write(|transaction| {
            plan::require(transaction, plan)?;
            let id = match new.id.clone() {
                Some(id) if exists(transaction, plan, &id)? => {
                    return Err(LedgerError::DuplicateTask { plan: plan.clone(), task: id }.into());
                }
                Some(id) => id,
                None => free_id(transaction, plan)?,
            };
            for dependency in &new.blocked_by {
                if !exists(transaction, plan, dependency)? {
                    let near = nearest(dependency, ids(transaction, plan)?);
                    let (plan, dependency) = (plan.clone(), dependency.clone());
                    return Err(LedgerError::UnknownDependency { plan, dependency, near }.into());
                }
            }
            insert(transaction, plan, &id, &new, now)?;
            count_waits(transaction, plan, &id)?;
            transaction.touch(plan);
            find(transaction, plan, &id)
        })
    }

    /// Returns all tasks in their order.
    pub fn tasks(&self, plan: &PlanId) -> Result<Vec<Task>, LedgerError> {
        self.read(|connection| {
            plan::require(connection, plan)?;
            all(connection, plan)
        })
    }

    pub fn task(&self, plan: &PlanId, id: &TaskId) -> Result<Task, LedgerError> {
        self.read(|connection| find(connection, plan, id))
    }

    /// Returns the tasks that can be started now.
    pub fn ready(&self, plan: &PlanId) -> Result<Vec<Task>, LedgerError> {
        self.read(|connection| {
            plan::require(connection, plan)?;
            ready(connection, plan, "")
        })
    }

    /// Returns the first of [`Self::ready`].
    pub fn next(&self, plan: &PlanId) -> Result<Option<Task>, LedgerError> {
        self.read(|connection| {
            plan::require(connection, plan)?;
            Ok(ready(connection, plan, "LIMIT 1")?.into_iter().next())
        })
    }

    pub fn has_tasks(&self) -> Result<bool, LedgerError> {
        self.read(|connection| Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM task)", (), |row| row.get(0))?))
    }

    pub fn blocked(&self, plan: &PlanId) -> Result<Vec<Blocked>, LedgerError> {
        self.read(|connection| {
            plan::require(connection, plan)?;
            connection.rows(
                "SELECT id, block_reason FROM task WHERE plan = ?1 AND status = 'blocked' ORDER BY position, id",
                [plan],
                |row| Ok(Blocked { task: task_id(row, 0)?, reason: row.get(1)? }),
            )
        })
    }
}

/// The state of a task when it is added to a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct InitialState<'a> {
    pub(super) phase: Option<&'a str>,
    pub(super) item: Option<u32>,
    pub(super) status: Status,
    /// The reason if it is blocked.
    pub(super) reason: Option<&'a str>,
    /// The number of unfinished tasks on which it depends.
    pub(super) waits: usize,
    pub(super) started: Option<&'a Started>,
}

impl<'a> InitialState<'a> {
    /// A pending task without a phase.
    pub(super) const PENDING: Self =
        Self { phase: None, item: None, status: Status::Pending, reason: None, waits: 0, started: None };

    /// Takes phase and item from a planned task.
    pub(super) fn of(self, planned: &'a PlannedTask) -> Self {
        Self { phase: planned.phase.as_deref(), item: planned.item, ..self }
    }
}

pub(super) fn insert(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    new: &NewTask,
    now: Millis,
) -> Result<(), Fault> {
    put(transaction, plan, id, new, &InitialState::PENDING, now)?;
    wait_for(transaction, plan, id, &new.blocked_by)
}

/// Inserts a task without its dependencies.
pub(super) fn put(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    new: &NewTask,
    initial: &InitialState<'_>,
    now: Millis,
) -> Result<(), Fault> {
    let InitialState { phase, item, status, reason, waits, started } = *initial;
    transaction.run(
        "INSERT INTO task (plan, id, position, title, kind, type, phase, item, files, notes, verify, status, block_reason,
                           waits, started, first_closed_at, added_by, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?18)",
        params![
            plan,
            id,
            position(id),
            new.title,
            new.kind,
            new.task_type,
            phase,
            item,
            text(&new.files),
            new.notes,
            new.verify.as_ref().map(exact),
            status,
            reason,
            waits,
            started.map(text),
            status.is_closed().then_some(now),
            new.added_by,
            now,
        ],
    )
}

fn wait_for(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId, before: &[TaskId]) -> Result<(), Fault> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO dependency (plan, task, blocked_by) VALUES (?1, ?2, ?3) ON CONFLICT (plan, task, blocked_by) DO NOTHING",
    )?;
    for dependency in before {
        statement.execute(params![plan, id, dependency])?;
    }
    Ok(())
}

/// Adds dependencies from an external list, as far as those tasks exist. A dependency that would close a cycle is left out,
/// because no task in a cycle could ever start.
pub(super) fn depend(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    id: &TaskId,
    before: &[TaskId],
) -> Result<(), Fault> {
    let mut added = false;
    for dependency in before {
        if exists(transaction, plan, dependency)? && !waits(transaction, plan, dependency, id)? {
            wait_for(transaction, plan, id, std::slice::from_ref(dependency))?;
            added = true;
        }
    }
    if added {
        count_waits(transaction, plan, id)?;
    }
    Ok(())
}

/// Checks if the first task depends on the second, directly or indirectly. A task depends on itself.
fn waits(connection: &Connection, plan: &PlanId, first: &TaskId, second: &TaskId) -> Result<bool, Fault> {
    connection.row(
        "WITH RECURSIVE before (id) AS (
                 SELECT ?2 UNION
                 SELECT dependency.blocked_by FROM dependency JOIN before ON dependency.task = before.id
                 WHERE dependency.plan = ?1)
             SELECT EXISTS (SELECT 1 FROM before WHERE id = ?3)",
        params![plan, first, second],
        |row| row.get(0),
    )
}

/// Counts the unfinished dependencies of a new task. `CROSS` makes SQLite start from the dependencies, not from all open
/// tasks.
fn count_waits(transaction: &Transaction<'_>, plan: &PlanId, id: &TaskId) -> Result<(), Fault> {
    transaction.run(
        "UPDATE task SET waits = (
                SELECT COUNT(*) FROM dependency
                CROSS JOIN task AS before ON before.plan = dependency.plan AND before.id = dependency.blocked_by
                WHERE dependency.plan = ?1 AND dependency.task = ?2 AND before.status <> 'done')
             WHERE plan = ?1 AND id = ?2",
        params![plan, id],
    )
}

/// Returns an id for a task that was given none. In the plan of a spec, plain numbers are reserved for the author.
fn free_id(connection: &Connection, plan: &PlanId) -> Result<TaskId, Fault> {
    if plan::is_authored(connection, plan)? { added::free_id(connection, plan) } else { free_number(connection, plan) }
}

/// Returns one more than the highest number at the start of any id: `3` after `2.1`, so it never becomes a parent of an
/// existing task. If that overflows, the first free number.
fn free_number(connection: &Connection, plan: &PlanId) -> Result<TaskId, Fault> {
    // Positions of ids that start with a number are below `:`, the character after `9`.
    let last = connection.first(
        "SELECT id FROM task WHERE plan = ?1 AND position < ':' ORDER BY position DESC LIMIT 1",
        [plan],
        |row| task_id(row, 0),
    )?;
    let mut number = last.as_ref().and_then(leading_number).unwrap_or(0);
    loop {
        number = number.wrapping_add(1);
        let id = TaskId::new(number.to_string());
        if !exists(connection, plan, &id)? {
            return Ok(id);
        }
    }
}

pub(super) fn exists(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<bool, Fault> {
    Ok(connection.prepare_cached("SELECT 1 FROM task WHERE plan = ?1 AND id = ?2")?.exists(params![plan, id])?)
}

pub(super) fn ids(connection: &Connection, plan: &PlanId) -> Result<Vec<TaskId>, Fault> {
    connection.rows("SELECT id FROM task WHERE plan = ?1 ORDER BY position, id", [plan], |row| task_id(row, 0))
}

pub(super) fn find(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<Task, Fault> {
    let found = connection.first(
        &format!("SELECT {COLUMNS} FROM task WHERE plan = ?1 AND id = ?2"),
        params![plan, id],
        |row| from_row(plan, row),
    )?;
    let Some(mut task) = found else { return Err(unknown(connection, plan, id)?.into()) };
    task.blocked_by = blocked_by(connection, plan, id)?;
    Ok(task)
}

fn blocked_by(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<Vec<TaskId>, Fault> {
    connection.rows(
        "SELECT dependency.blocked_by FROM dependency
         JOIN task AS before ON before.plan = dependency.plan AND before.id = dependency.blocked_by
         WHERE dependency.plan = ?1 AND dependency.task = ?2 ORDER BY before.position, before.id",
        params![plan, id],
        |row| task_id(row, 0),
    )
}

pub(super) fn unknown(connection: &Connection, plan: &PlanId, id: &TaskId) -> Result<LedgerError, Fault> {
    plan::require(connection, plan)?;
    let near = nearest(id, ids(connection, plan)?);
    Ok(LedgerError::UnknownTask { plan: plan.clone(), task: id.clone(), near })
}

pub(super) fn all(connection: &Connection, plan: &PlanId) -> Result<Vec<Task>, Fault> {
    let mut tasks = select(connection, plan, "TRUE", "")?;
    let mut dependencies = dependencies(connection, plan)?;
    for task in &mut tasks {
        task.blocked_by = dependencies.remove(&task.id).unwrap_or_default();
    }
    Ok(as_worked(tasks))
}

/// Orders tasks for work: a pre-task (`1.3a` of a `ui` task) comes before its main task: 1.3a, 1.3, 1.3b.
fn as_worked(tasks: Vec<Task>) -> Vec<Task> {
    let mut ordered: Vec<Task> = Vec::with_capacity(tasks.len());
    for task in tasks {
        let main = task.id.as_str().strip_suffix('a').filter(|_| task.kind == TaskKind::Pre);
        let place = main.and_then(|main| ordered.iter().rposition(|before| before.id.as_str() == main));
        ordered.insert(place.unwrap_or(ordered.len()), task);
    }
    ordered
}

/// Returns the tasks that can be started, with their dependencies.
fn ready(connection: &Connection, plan: &PlanId, limit: &str) -> Result<Vec<Task>, Fault> {
    let mut tasks = select(connection, plan, READY, limit)?;
    for task in &mut tasks {
        task.blocked_by = blocked_by(connection, plan, &task.id)?;
    }
    Ok(tasks)
}

/// Reads tasks without their dependencies.
fn select(connection: &Connection, plan: &PlanId, condition: &str, limit: &str) -> Result<Vec<Task>, Fault> {
    connection.rows(
        &format!("SELECT {COLUMNS} FROM task WHERE plan = ?1 AND {condition} ORDER BY position, id {limit}"),
        [plan],
        |row| from_row(plan, row),
    )
}

fn dependencies(connection: &Connection, plan: &PlanId) -> Result<BTreeMap<TaskId, Vec<TaskId>>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT dependency.task, dependency.blocked_by FROM dependency
         JOIN task AS before ON before.plan = dependency.plan AND before.id = dependency.blocked_by
         WHERE dependency.plan = ?1 ORDER BY before.position, before.id",
    )?;
    let mut rows = statement.query([plan])?;
    let mut dependencies: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        dependencies.entry(task_id(row, 0)?).or_default().push(task_id(row, 1)?);
    }
    Ok(dependencies)
}

/// Reads a task without its dependencies, which are in another table.
fn from_row(plan: &PlanId, row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        plan: plan.clone(),
        id: task_id(row, 0)?,
        title: row.get(1)?,
        kind: word(row, 2, &TaskKind::ALL, TaskKind::as_str)?,
        task_type: optional_word(row, 3, &TaskType::ALL, TaskType::as_str)?,
        phase: row.get(13)?,
        item: row.get(14)?,
        files: json(4, &row.get::<_, String>(4)?)?,
        notes: row.get(5)?,
        verify: row.get::<_, Option<String>>(6)?.map(|text| json(6, &text)).transpose()?,
        blocked_by: Vec::new(),
        status: word(row, 7, &Status::ALL, Status::as_str)?,
        stuck_count: row.get(8)?,
        wave: row.get(9)?,
        added_by: word(row, 10, &AddedBy::ALL, AddedBy::as_str)?,
        created_at: millis(row, 11)?,
        updated_at: millis(row, 12)?,
    })
}
