pub(super) mod added;
pub(super) mod followed;
mod frozen;
pub(super) mod host_list;
pub(super) mod imported_status;
pub(super) mod owner;
pub(super) mod share;
pub(super) mod slice;
pub(super) mod spec;

use std::collections::BTreeSet;

use steadfast_model::{
    AddedBy, Approval, Brief, Check, Counts, Current, HostList, Millis, OwnerEnd, PlanId, PlanView, RunId, SessionId,
    Status, TakingBack, Task, TaskId, TaskLine,
};

use super::database::column::{plan_id, task_id, word};
use super::error::Fault;
use super::task::{self, READY, evidence, progress};
use super::{Ledger, LedgerError, decision, loops, run};
use crate::checkout::Moved;
use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::connection::{Connection, Transaction};
use spec::Head;
use steadfast_redact::redact;

/// A plan to insert.
pub(super) struct NewPlan<'a> {
    pub(super) id: &'a PlanId,
    pub(super) worktree: &'a str,
    pub(super) title: &'a str,
    /// The spec from which it was compiled.
    pub(super) source: Option<&'a str>,
    pub(super) added_by: AddedBy,
}

/// A plan of a worktree, for `plan list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLine {
    pub id: PlanId,
    pub title: String,
    /// The spec from which it was compiled; a plain list has none.
    pub source: Option<String>,
    pub counts: Counts,
    /// The run that works on it.
    pub run: Option<RunId>,
}

impl Ledger {
    /// Lists the plans of a worktree that have tasks and were not cleared, the most recently loaded or chosen first.
    pub fn plans(&self, worktree: &str) -> Result<Vec<PlanLine>, LedgerError> {
        self.read(|connection| {
            let rows: Vec<(PlanId, String, Option<String>)> = connection.rows(
                "SELECT id, title, source FROM plan WHERE worktree = ?1 AND cleared_at IS NULL
                    AND EXISTS (SELECT 1 FROM task WHERE task.plan = plan.id)
                 ORDER BY COALESCE(used_at, created_at) DESC, id DESC",
                [AsGiven(worktree)],
                |row| Ok((plan_id(row, 0)?, row.get(1)?, row.get(2)?)),
            )?;
            rows.into_iter()
                .map(|(id, title, source)| {
                    let (counts, run) = (counts(connection, &id)?, run::of_plan(connection, &id)?);
                    Ok(PlanLine { id, title, source, counts, run })
                })
                .collect()
        })
    }

    /// Returns the plain list of a worktree, and creates it if needed. Title and author come from the first call.
    pub fn list_plan(
        &mut self,
        worktree: &str,
        title: &str,
        added_by: AddedBy,
        now: Millis,
    ) -> Result<PlanId, LedgerError> {
        self.write(|transaction| {
            // The list of a checkout that was moved still has the id of its old path.
            if let Some(id) = lists(transaction, worktree)?.into_iter().next() {
                return Ok(id);
            }
            let mut number = 1;
            loop {
                let id = list_id(worktree, number);
                match worktree_of(transaction, &id)? {
                    Some(present) if present == worktree && !is_cleared(transaction, &id)? => return Ok(id),
                    Some(_) => number += 1,
                    None => {
                        insert(transaction, &NewPlan { id: &id, worktree, title, source: None, added_by }, now)?;
                        transaction.touch(&id);
                        return Ok(id);
                    }
                }
            }
        })
    }

    /// Moves the plans of a checkout to its new path. A copy loses the owners, leases, checks and runs.
    pub fn move_worktree(&mut self, moved: &Moved, to: &str, now: Millis) -> Result<(), LedgerError> {
        let from = moved.from.as_str();
        self.write(|transaction| {
            let sql = "SELECT id FROM plan WHERE worktree = ?1";
            let plans: Vec<PlanId> = transaction.rows(sql, [AsGiven(from)], |row| plan_id(row, 0))?;
            for table in ["plan", "run", "session"] {
                let sql = format!("UPDATE {table} SET worktree = ?2 WHERE worktree = ?1");
                transaction.execute(&sql, params![AsGiven(from), AsGiven(to)])?;
            }
            // A checkout has only one unfinished loop: an existing one stays.
            transaction.execute(
                "UPDATE OR IGNORE loop SET worktree = ?2 WHERE worktree = ?1",
                params![AsGiven(from), AsGiven(to)],
            )?;
            for plan in &plans {
                if moved.copied {
                    transaction
                        .execute("UPDATE plan SET owner = NULL, owner_since = NULL WHERE id = ?1", params![plan])?;
                    transaction.execute("UPDATE lease SET holder = NULL WHERE plan = ?1", params![plan])?;
                    transaction.execute("DELETE FROM running WHERE plan = ?1", params![plan])?;
                    run::end_of_copied(transaction, plan, now)?;
                }
                transaction.touch(plan);
            }
            Ok(())
        })
    }

    /// Makes a plan the current one: it comes first among the plans with open tasks.
    pub fn use_plan(&mut self, plan: &PlanId, by: AddedBy, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            require(transaction, plan)?;
            transaction.run("UPDATE plan SET used_at = ?2, used_by = ?3 WHERE id = ?1", params![plan, now, by])?;
            transaction.touch(plan);
            Ok(())
        })
    }

    /// Returns the current plan of this worktree. Plans with open tasks come first, then plans without a run, then the most
    /// recently loaded or chosen. A plain list comes after the plans of specs.
    pub fn plan_view(&self, worktree: &str) -> Result<Option<PlanView>, LedgerError> {
        self.view_for(worktree, Viewer::Anyone)
    }

    /// Returns the current plan like [`Self::plan_view`], without the task lists of hosts.
    pub fn own_plan_view(&self, worktree: &str) -> Result<Option<PlanView>, LedgerError> {
        self.view_for(worktree, Viewer::Stranger)
    }

    /// Returns the current plan for a session: without the host lists of other sessions.
    pub fn plan_view_of(&self, worktree: &str, session: &SessionId) -> Result<Option<PlanView>, LedgerError> {
        self.view_for(worktree, Viewer::Session(session))
    }

    fn view_for(&self, worktree: &str, viewer: Viewer<'_>) -> Result<Option<PlanView>, LedgerError> {
        self.read(|connection| match newest(connection, worktree, viewer)? {
            Some(plan) => view(connection, &plan),
            None => Ok(None),
        })
    }
}

pub(super) fn insert(transaction: &Transaction<'_>, plan: &NewPlan<'_>, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "INSERT INTO plan (id, worktree, title, source, added_by, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![plan.id, AsGiven(plan.worktree), plan.title, plan.source.map(AsGiven), plan.added_by, now],
    )
}

/// The caller who looks for the plan of a worktree. A host's task list belongs to its session. Other callers get it only if
/// there is no other plan.
#[derive(Clone, Copy, Debug)]
pub(super) enum Viewer<'a> {
    Anyone,
    Session(&'a SessionId),
    /// A caller who sees no host list.
    Stranger,
}

impl Viewer<'_> {
    fn session(&self) -> Option<&str> {
        match self {
            Self::Anyone => None,
            Self::Session(session) => Some(session.as_str()),
            // No session has an empty id.
            Self::Stranger => Some(""),
        }
    }
}

/// The start of a plain list's id.
const LIST: &str = "list-";

/// A number above 1 is used only for the second of two worktrees with the same hash, or after a list was cleared.
fn list_id(worktree: &str, number: u32) -> PlanId {
    let hash = hash(worktree);
    PlanId::new(if number == 1 { format!("{LIST}{hash:08x}") } else { format!("{LIST}{hash:08x}-{number}") })
}

/// Returns the plain lists of a worktree; several only if an earlier one was cleared.
pub(super) fn lists(connection: &Connection, worktree: &str) -> Result<Vec<PlanId>, Fault> {
    connection.rows(
        "SELECT id FROM plan WHERE worktree = ?1 AND source IS NULL AND id LIKE ?2 AND cleared_at IS NULL ORDER BY id",
        params![AsGiven(worktree), format!("{LIST}%")],
        |row| plan_id(row, 0),
    )
}

/// FNV-1a, 32 bits: the same on every machine and in every version.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

pub(super) fn worktree_of(connection: &Connection, plan: &PlanId) -> Result<Option<String>, Fault> {
    connection.first("SELECT worktree FROM plan WHERE id = ?1", [plan], |row| row.get(0))
}

/// Checks if a plan has a source: a spec, or an external tracker.
pub(super) fn is_authored(connection: &Connection, plan: &PlanId) -> Result<bool, Fault> {
    connection.row("SELECT source IS NOT NULL FROM plan WHERE id = ?1", [plan], |row| row.get(0))
}

pub(super) fn is_cleared(connection: &Connection, plan: &PlanId) -> Result<bool, Fault> {
    connection.row("SELECT cleared_at IS NOT NULL FROM plan WHERE id = ?1", [plan], |row| row.get(0))
}

pub(super) fn has_open(connection: &Connection, plan: &PlanId) -> Result<bool, Fault> {
    Ok(counts(connection, plan)?.open() > 0)
}

pub(super) fn ids(connection: &Connection) -> Result<BTreeSet<PlanId>, Fault> {
    connection.rows("SELECT id FROM plan ORDER BY id", (), |row| plan_id(row, 0))
}

pub(super) fn is_known(connection: &Connection, plan: &PlanId) -> Result<bool, Fault> {
    Ok(worktree_of(connection, plan)?.is_some())
}

pub(super) fn require(connection: &Connection, plan: &PlanId) -> Result<(), Fault> {
    match worktree_of(connection, plan)? {
        Some(_) => Ok(()),
        None => Err(LedgerError::UnknownPlan { plan: plan.clone() }.into()),
    }
}

pub(super) fn newest(connection: &Connection, worktree: &str, viewer: Viewer<'_>) -> Result<Option<PlanId>, Fault> {
    connection.first("SELECT plan.id FROM plan WHERE plan.worktree = ?1 AND plan.cleared_at IS NULL
                AND (?2 IS NULL OR plan.owner IS ?2 OR plan.source IS NOT NULL OR plan.id NOT LIKE ?3)
             ORDER BY plan.source IS NULL AND plan.id LIKE ?3 AND EXISTS (
                          SELECT 1 FROM session WHERE session.id = plan.owner AND session.ended_at IS NOT NULL),
                      EXISTS (SELECT 1 FROM task WHERE task.plan = plan.id AND (task.status IN ('pending', 'in_progress')
                          OR (plan.used_by = 'human' AND task.status = 'blocked'))) DESC,
                      EXISTS (SELECT 1 FROM run WHERE run.plan = plan.id AND run.ended_at IS NULL),
                      plan.source IS NULL AND plan.id LIKE ?4 AND plan.used_at IS NULL,
                      COALESCE(plan.used_at, plan.created_at) DESC, plan.id DESC
             LIMIT 1", params![AsGiven(worktree), viewer.session(), format!("{}%", HostList::PLAN), format!("{LIST}%")],
            |row| plan_id(row, 0))
}

pub(super) fn view(connection: &Connection, plan: &PlanId) -> Result<Option<PlanView>, Fault> {
    let head = connection.first(
        "SELECT plan.title, plan.worktree, plan.owner, session.ended_at, session.end_reason, plan.added_by
             FROM plan LEFT JOIN session ON session.id = plan.owner WHERE plan.id = ?1 AND plan.cleared_at IS NULL",
        [plan],
        |row| {
            let owner_ended = match row.get::<_, Option<i64>>(3)? {
                Some(at) => {
                    Some(OwnerEnd { reason: row.get::<_, Option<String>>(4)?.unwrap_or_default(), at: Millis(at) })
                }
                None => None,
            };
            Ok(PlanView {
                id: plan.clone(),
                title: row.get(0)?,
                worktree: row.get(1)?,
                hash: None,
                added_by: word(row, 5, &AddedBy::ALL, AddedBy::as_str)?,
                approval: Approval::NotRequired,
                owner: row.get::<_, Option<String>>(2)?.map(SessionId::new),
                owner_ended,
                run: None,
                counts: Counts::default(),
                open: Vec::new(),
                checking: Vec::new(),
                brief: Brief::default(),
            })
        },
    )?;
    let Some(mut view) = head else { return Ok(None) };
    view.run = run::of_plan(connection, plan)?;
    view.counts = counts(connection, plan)?;
    view.open = open(connection, plan, view.counts)?;
    view.checking = evidence::checking(connection, plan)?;
    (view.brief, view.hash) = brief(connection, plan, &view)?;
    // Using another plan in the checkout of a loop does not get around the loop's must-nots.
    if view.brief.must_nots.is_empty() {
        view.brief.must_nots = loops::must_nots(connection, &view.worktree)?;
    }
    view.brief.must_nots.truncate(Brief::MUST_NOTS);
    if !view.brief.must_nots.is_empty() {
        view.brief.taking_back = taking_back(connection, plan, &view.worktree)?;
    }
    Ok(Some(view))
}

/// Returns the tasks in progress that take back a change on request of the gate. All tasks of a run's unit count, because an
/// agent works on the whole unit.
fn taking_back(connection: &Connection, plan: &PlanId, worktree: &str) -> Result<Vec<TakingBack>, Fault> {
    let ids: Vec<TaskId> = connection.rows(
        "SELECT id FROM task WHERE plan = ?1 AND kind = 'remediation' AND added_by = 'human'
         AND (status = 'in_progress' OR (status = 'pending' AND EXISTS (SELECT 1 FROM run_unit WHERE plan = ?1)))",
        [plan],
        |row| task_id(row, 0),
    )?;
    let mut found = Vec::new();
    for id in ids {
        let task = task::find(connection, plan, &id)?;
        if task.verify.as_ref().is_some_and(Check::takes_back) {
            let paths = task.files.iter().map(|file| format!("{worktree}/{file}")).collect();
            found.push(TakingBack { task: id, paths });
        }
    }
    Ok(found)
}

/// Returns the facts that an agent must be reminded of, and the hash of the authored text. A plain list has only a current
/// task.
fn brief(connection: &Connection, plan: &PlanId, view: &PlanView) -> Result<(Brief, Option<String>), Fault> {
    let source: Option<String> = connection.row("SELECT source FROM plan WHERE id = ?1", [plan], |row| row.get(0))?;
    let current = match view.open.first() {
        Some(line) => Some(task::find(connection, plan, &line.id)?),
        None => None,
    };
    let shown = current.as_ref().map(|task| current_of(connection, task)).transpose()?;
    let mut brief = Brief { spec: source, current: shown, ..Brief::default() };
    if brief.spec.is_none() {
        return Ok((brief, None));
    }
    let Head { hash, description, mut constraints, mut criteria, must_nots, promise, phases, .. } =
        spec::head(connection, plan)?;
    constraints.truncate(Brief::SHOWN);
    criteria.truncate(Brief::SHOWN);
    let phase = current.and_then(|task| task.phase);
    brief.decisions = decision::last_for(connection, plan, phase.as_deref(), Brief::DECISIONS)?;
    brief.phase = phases.into_iter().find(|known| Some(&known.id) == phase.as_ref()).map(|known| known.name);
    brief.objective = description.or_else(|| Some(view.title.clone()));
    brief.constraints = constraints;
    brief.criteria = criteria;
    brief.must_nots = must_nots;
    brief.promise = promise;
    brief.checkpoints = progress::last_checkpoint(connection, plan)?
        .filter(|last| last.closed >= view.counts.closed())
        .map_or(0, |last| last.without_progress);
    Ok((brief, hash))
}

fn current_of(connection: &Connection, task: &Task) -> Result<Current, Fault> {
    Ok(Current {
        files: task.files.clone(),
        notes: task.notes.clone(),
        check: task.verify.as_ref().map(|check| redact(&check.describe()).into_owned()),
        stuck_count: task.stuck_count,
        counted: task.stuck_count > 0 && progress::has_failed_since_start(connection, &task.plan, &task.id)?,
    })
}

pub(super) fn counts(connection: &Connection, plan: &PlanId) -> Result<Counts, Fault> {
    let mut counts = Counts::default();
    let mut statement = connection.prepare_cached("SELECT status, tasks FROM tally WHERE plan = ?1")?;
    let mut rows = statement.query([plan])?;
    while let Some(row) = rows.next()? {
        let count = row.get(1)?;
        match word(row, 0, &Status::ALL, Status::as_str)? {
            Status::Pending => counts.pending = count,
            Status::InProgress => counts.in_progress = count,
            Status::Done => counts.done = count,
            Status::Blocked => counts.blocked = count,
        }
    }
    Ok(counts)
}

/// Returns the tasks in progress, then the ready ones. If tasks are open but this is empty, all of them depend on a blocked
/// task.
fn open(connection: &Connection, plan: &PlanId, counts: Counts) -> Result<Vec<TaskLine>, Fault> {
    let mut open = Vec::new();
    if counts.in_progress > 0 {
        lines(connection, plan, Status::InProgress, "status = 'in_progress'", &mut open)?;
    }
    if counts.pending > 0 && open.len() < PlanView::SHOWN {
        lines(connection, plan, Status::Pending, READY, &mut open)?;
    }
    Ok(open)
}

fn lines(
    connection: &Connection,
    plan: &PlanId,
    status: Status,
    condition: &str,
    open: &mut Vec<TaskLine>,
) -> Result<(), Fault> {
    let room = i64::try_from(PlanView::SHOWN - open.len()).unwrap_or(0);
    let lines: Vec<TaskLine> = connection.rows(
        &format!("SELECT id, title FROM task WHERE plan = ?1 AND {condition} ORDER BY position, id LIMIT ?2"),
        params![plan, room],
        |row| Ok(TaskLine { id: task_id(row, 0)?, title: row.get(1)?, status }),
    )?;
    open.extend(lines);
    Ok(())
}
