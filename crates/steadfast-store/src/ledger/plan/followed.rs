//! Plans whose tasks are in an external tracker. Steadfast follows them: changes in the tracker are applied here, and
//! changes here that the tracker does not know yet are listed.
//!
//! A task has three statuses: in the tracker at the last reading (`seen`), here right after that reading (`taken`), and here
//! now. If the tracker's current status differs from `seen`, it changed there. If the current status here differs from
//! `taken`, it changed here.

use std::collections::{BTreeMap, HashMap, HashSet};

use steadfast_model::{
    AddedBy, Evidence, EvidenceClass, Millis, Plan, PlanId, PlannedTask, Reported, Status, Task, TaskId, TaskKind,
};

use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::column::{exact, plan_id, task_id, text, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::plan::frozen::{self, Frozen};
use crate::ledger::plan::{self, NewPlan, added, imported_status, spec};
use crate::ledger::task::status::{self, StatusChange};
use crate::ledger::task::{self, InitialState, evidence, proof};
use crate::ledger::{Head, Joined, Ledger, LedgerError, run};

/// A reading of the tracker.
#[derive(Clone, Copy, Debug)]
pub struct Following<'a> {
    pub plan: &'a Plan,
    /// The statuses of the tasks in the tracker. Tasks that are missing here are pending.
    pub reported: &'a [Reported],
    /// The hash of the authored text.
    pub hash: &'a str,
    /// The hash of everything that was read.
    pub digest: &'a str,
    pub worktree: &'a str,
    /// The tracker's name for the list, such as `beads:bd-x7y8`.
    pub source: &'a str,
    /// If a human loads it, the human vouches for its current content.
    pub added_by: AddedBy,
    /// The definition of each check command, as JSON.
    pub frozen: &'a BTreeMap<String, String>,
    pub now: Millis,
}

/// A change in the tracker since the last reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackerChange {
    pub task: TaskId,
    pub title: String,
    pub what: Happened,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    Added,
    Renamed,
    /// It was removed there, and so it was removed here.
    Removed,
    /// Its status changed there, and so it changed here.
    Moved {
        from: Status,
        to: Status,
    },
    /// It was closed there, but its check has not passed here, so it stays open.
    Unproven,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedPlan {
    pub plan: PlanId,
    /// The plan was not followed before, so all of it is new.
    pub is_new: bool,
    pub news: Vec<TrackerChange>,
}

/// A status change that must be reported to the tracker.
#[derive(Clone, Debug, PartialEq)]
pub struct Untold {
    pub task: Task,
    /// The task's status in the tracker at the last reading.
    pub seen: Status,
    /// The reason if it is blocked.
    pub reason: Option<String>,
    /// The last evidence.
    pub evidence: Option<Evidence>,
    /// The branch of the run that did the work.
    pub branch: Option<String>,
}

impl Untold {
    /// Returns true if the task is done, but only the agent says so.
    pub fn is_claim(&self) -> bool {
        self.task.status == Status::Done && !is_proof(self.evidence.as_ref())
    }
}

/// Checks if this evidence is enough to close an issue: something that Steadfast saw, or a human's word.
fn is_proof(evidence: Option<&Evidence>) -> bool {
    evidence.is_some_and(|evidence| evidence.passed && evidence.class != EvidenceClass::Claimed)
}

/// A row of `followed_task`.
#[derive(Clone, Debug)]
struct FollowedTask {
    seen: Status,
    taken: Status,
    notes: Option<String>,
}

impl Ledger {
    /// Returns the plan that follows this source, and the hash of its last reading.
    pub fn followed(&self, worktree: &str, source: &str) -> Result<Option<(PlanId, String)>, LedgerError> {
        self.read(|connection| {
            let Some(plan) = spec::of_source(connection, worktree, source)? else { return Ok(None) };
            let digest = connection.first("SELECT digest FROM followed WHERE plan = ?1", [&plan], |row| row.get(0))?;
            Ok(Some((plan, digest.unwrap_or_default())))
        })
    }

    /// Applies a reading. Does nothing while a run works on the plan.
    pub fn follow(&mut self, following: Following<'_>) -> Result<FollowedPlan, LedgerError> {
        for planned in &following.plan.tasks {
            task::new_within(&spec::as_new(planned, following.added_by))?;
        }
        self.write(|transaction| {
            let Following { worktree, source, .. } = following;
            let Some(plan) = spec::of_source(transaction, worktree, source)? else {
                return begin(transaction, &following);
            };
            if run::of_plan(transaction, &plan)?.is_some() {
                return Ok(FollowedPlan { plan, is_new: false, news: Vec::new() });
            }
            let news = update(transaction, &plan, &following)?;
            Ok(FollowedPlan { plan, is_new: false, news })
        })
    }

    /// Lists the changes here that the tracker does not know, in the order of the tasks. A task that is done by a claim was
    /// reported as in progress; it is listed again when there is a proof.
    pub fn untold(&self, plan: &PlanId) -> Result<Vec<Untold>, LedgerError> {
        self.read(|connection| {
            let rows: Vec<(TaskId, Status, Option<String>, bool)> = connection.rows(
                "SELECT task.id, followed_task.seen, task.block_reason, task.status = followed_task.taken
                 FROM followed_task JOIN task ON task.plan = followed_task.plan AND task.id = followed_task.task
                 WHERE followed_task.plan = ?1 AND task.status <> followed_task.seen
                   AND (task.status <> followed_task.taken OR task.status = 'done')
                 ORDER BY task.position, task.id",
                [plan],
                |row| Ok((task_id(row, 0)?, word(row, 1, &Status::ALL, Status::as_str)?, row.get(2)?, row.get(3)?)),
            )?;
            let run = if rows.is_empty() { None } else { proof::last_run(connection, plan)? };
            let mut untold = Vec::new();
            for (id, seen, reason, was_told) in rows {
                let evidence = evidence::last_of(connection, plan, &id)?;
                if was_told && !is_proof(evidence.as_ref()) {
                    continue;
                }
                let task = task::find(connection, plan, &id)?;
                let branch = run.as_ref().filter(|run| run.tasks.contains(&id)).map(|run| run.branch.clone());
                untold.push(Untold { task, seen, reason, evidence, branch });
            }
            Ok(untold)
        })
    }

    /// Records that the tracker was informed of this status, and now has the status `there`.
    pub fn told(&mut self, untold: &Untold, there: Status) -> Result<(), LedgerError> {
        let Task { plan, id, status, .. } = &untold.task;
        self.write(|transaction| {
            transaction.run(
                "UPDATE followed_task SET seen = ?3, taken = ?4 WHERE plan = ?1 AND task = ?2",
                params![plan, id, there, status],
            )
        })
    }
}

/// Loads a list for the first time, with the statuses of the tracker.
fn begin(transaction: &Transaction<'_>, following: &Following<'_>) -> Result<FollowedPlan, Fault> {
    let Following { plan, worktree, source, added_by, now, .. } = *following;
    let id = spec::free_id(transaction, &plan.feature)?;
    let new = NewPlan { id: &id, worktree, title: &plan.feature, source: Some(source), added_by };
    plan::insert(transaction, &new, now)?;
    let statuses = statuses_by_task(following.reported);
    for planned in &plan.tasks {
        add(transaction, &id, planned, following, &statuses)?;
    }
    finish(transaction, &id, following)?;
    archive_others(transaction, &id, following)?;
    let joined = added::join_list(transaction, worktree, &id, now)?;
    let news =
        joined.into_iter().map(|Joined { task, title, .. }| TrackerChange { task, title, what: Happened::Added });
    Ok(FollowedPlan { plan: id, is_new: true, news: news.collect() })
}

/// Archives the plans of other lists, because a worktree follows only one.
fn archive_others(transaction: &Transaction<'_>, id: &PlanId, following: &Following<'_>) -> Result<(), Fault> {
    let mut statement = transaction.prepare_cached(
        "SELECT plan.id FROM plan JOIN followed ON followed.plan = plan.id
         WHERE plan.worktree = ?1 AND plan.id <> ?2 AND plan.cleared_at IS NULL",
    )?;
    let others = statement.query_map(params![AsGiven(following.worktree), id], |row| plan_id(row, 0))?;
    let others: Vec<PlanId> = others.collect::<Result<_, _>>()?;
    for other in others {
        if run::of_plan(transaction, &other)?.is_none() {
            spec::archive(transaction, &other, following.now)?;
            transaction.touch(&other);
        }
    }
    Ok(())
}

fn update(transaction: &Transaction<'_>, id: &PlanId, following: &Following<'_>) -> Result<Vec<TrackerChange>, Fault> {
    let plan = following.plan;
    let statuses = statuses_by_task(following.reported);
    let known = known(transaction, id)?;
    let present: BTreeMap<TaskId, Task> =
        task::all(transaction, id)?.into_iter().map(|task| (task.id.clone(), task)).collect();
    let mut news = Vec::new();
    let listed: HashSet<&TaskId> = plan.tasks.iter().map(|planned| &planned.id).collect();
    // Closed tasks may be missing: trackers drop finished issues.
    let is_gone = |task: &&Task| !listed.contains(&task.id) && task.phase.is_some() && task.status != Status::Done;
    for task in present.values().filter(is_gone) {
        transaction.execute("DELETE FROM task WHERE plan = ?1 AND id = ?2", params![id, task.id])?;
        news.push(TrackerChange { task: task.id.clone(), title: task.title.clone(), what: Happened::Removed });
    }
    for planned in &plan.tasks {
        let Some(task) = present.get(&planned.id) else {
            add(transaction, id, planned, following, &statuses)?;
            let what = Happened::Added;
            news.push(TrackerChange { task: planned.id.clone(), title: planned.title.clone(), what });
            continue;
        };
        let before = known.get(&planned.id);
        change(transaction, task, planned, before, following)?;
        if task.title != planned.title {
            let what = Happened::Renamed;
            news.push(TrackerChange { task: planned.id.clone(), title: planned.title.clone(), what });
        }
        if planned.kind == TaskKind::Main
            && let Some(what) = reconcile_status(transaction, task, planned, before, &statuses, following)?
        {
            news.push(TrackerChange { task: planned.id.clone(), title: planned.title.clone(), what });
        }
    }
    finish(transaction, id, following)?;
    Ok(news)
}

/// Stores the head of the plan, its dependencies, its frozen checks and the hash of the reading.
fn finish(transaction: &Transaction<'_>, id: &PlanId, following: &Following<'_>) -> Result<(), Fault> {
    let Following { plan, hash, digest, added_by, frozen, now, .. } = *following;
    let must_nots = spec::head(transaction, id)?.must_nots;
    // Commands from a tracker are never executed without a human.
    let head = Head { checks: Vec::new(), must_nots, ..Head::of(plan, hash) };
    let authored: Option<String> =
        transaction.row("SELECT json_extract(head, '$.hash') FROM plan WHERE id = ?1", [id], |row| row.get(0))?;
    transaction
        .execute("UPDATE plan SET head = ?2, title = ?3 WHERE id = ?1", params![id, text(&head), plan.feature])?;
    // The content is no longer the one for which a human vouched.
    if authored.as_deref() != Some(hash) {
        let by = params![id, added_by];
        transaction.execute("UPDATE plan SET added_by = ?2 WHERE id = ?1", by)?;
    }
    if added_by == AddedBy::Human {
        let human = params![id, added_by];
        transaction.execute("UPDATE plan SET added_by = ?2 WHERE id = ?1", human)?;
        transaction.execute("UPDATE task SET added_by = ?2 WHERE plan = ?1 AND phase IS NOT NULL", human)?;
    }
    set_dependencies(transaction, id, &plan.tasks)?;
    // Otherwise a person with write access to the list could redefine a check.
    let present = if added_by == AddedBy::Human { Frozen::Changes } else { Frozen::Stays };
    for (command, definition) in frozen {
        frozen::put(transaction, id, [command, definition], present, now)?;
    }
    transaction.execute(
        "INSERT INTO followed (plan, digest) VALUES (?1, ?2) ON CONFLICT (plan) DO UPDATE SET digest = excluded.digest",
        params![id, digest],
    )?;
    transaction.touch(id);
    Ok(())
}

/// Sets exactly the dependencies that the list has.
fn set_dependencies(transaction: &Transaction<'_>, id: &PlanId, tasks: &[PlannedTask]) -> Result<(), Fault> {
    let wanted: HashSet<(&str, &str)> = tasks
        .iter()
        .flat_map(|task| task.blocked_by.iter().map(|before| (task.id.as_str(), before.as_str())))
        .collect();
    let listed: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let present: HashSet<(String, String)> =
        transaction.rows("SELECT task, blocked_by FROM dependency WHERE plan = ?1", [id], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let mut remove =
        transaction.prepare_cached("DELETE FROM dependency WHERE plan = ?1 AND task = ?2 AND blocked_by = ?3")?;
    let gone = |(task, before): &&(String, String)| {
        listed.contains(task.as_str()) && !wanted.contains(&(task.as_str(), before.as_str()))
    };
    let mut is_changed = false;
    for (task, before) in present.iter().filter(gone) {
        remove.execute(params![id, task, before])?;
        is_changed = true;
    }
    let mut insert =
        transaction.prepare_cached("INSERT INTO dependency (plan, task, blocked_by) VALUES (?1, ?2, ?3)")?;
    for (task, before) in wanted.iter().filter(|(task, before)| {
        !present.contains(&((*task).to_owned(), (*before).to_owned())) && listed.contains(before)
    }) {
        insert.execute(params![id, task, before])?;
        is_changed = true;
    }
    if is_changed || !wanted.is_empty() {
        spec::count_all_waits(transaction, id)?;
    }
    Ok(())
}

type ReportedStatuses<'a> = HashMap<&'a TaskId, &'a Reported>;

fn statuses_by_task(reported: &[Reported]) -> ReportedStatuses<'_> {
    reported.iter().map(|reported| (&reported.task, reported)).collect()
}

/// Adds a new task with its status in the tracker. It earns nothing, because the work was not done here.
fn add(
    transaction: &Transaction<'_>,
    id: &PlanId,
    planned: &PlannedTask,
    following: &Following<'_>,
    statuses: &ReportedStatuses<'_>,
) -> Result<(), Fault> {
    let Following { added_by, now, source, .. } = *following;
    let (status, reason) = match statuses.get(&planned.id) {
        Some(reported) => (reported.status, reported.reason.as_deref()),
        None => (Status::Pending, None),
    };
    if status == Status::Done {
        evidence::insert(transaction, id, &planned.id, &imported_status::claim(reason, source, now))?;
    }
    let blocked = (status == Status::Blocked).then(|| imported_status::blocked(reason, source));
    let initial = InitialState { status, reason: blocked.as_deref(), ..InitialState::PENDING }.of(planned);
    task::put(transaction, id, &planned.id, &spec::as_new(planned, added_by), &initial, now)?;
    if planned.kind == TaskKind::Main {
        keep(transaction, id, planned, status, status)?;
    }
    Ok(())
}

/// Updates the text of an existing task. Notes that were added here stay below the tracker's notes.
fn change(
    transaction: &Transaction<'_>,
    task: &Task,
    planned: &PlannedTask,
    before: Option<&FollowedTask>,
    following: &Following<'_>,
) -> Result<(), Fault> {
    let seen = before.and_then(|known| known.notes.as_deref());
    let is_same_note = spec::is_kept_as(&seen, &planned.notes.as_deref());
    if is_same_note && spec::is_same_work(task, planned) && task.phase == planned.phase && task.item == planned.item {
        return Ok(());
    }
    let own = task.notes.as_deref().unwrap_or_default();
    let own = own.strip_prefix(seen.unwrap_or_default()).unwrap_or(own).trim_start_matches('\n');
    let notes: Vec<&str> =
        [planned.notes.as_deref().unwrap_or_default(), own].into_iter().filter(|t| !t.is_empty()).collect();
    let notes = Some(notes.join("\n")).filter(|notes| !notes.is_empty());
    let notes = if is_same_note { task.notes.clone() } else { notes };
    transaction.run(
        "UPDATE task SET title = ?3, kind = ?4, type = ?5, phase = ?6, item = ?7, files = ?8, notes = ?9,
                    verify = ?10, updated_at = ?11
             WHERE plan = ?1 AND id = ?2",
        params![
            task.plan,
            task.id,
            planned.title,
            planned.kind,
            planned.task_type,
            planned.phase,
            planned.item,
            text(&planned.files),
            notes,
            planned.verify.as_ref().map(exact),
            following.now,
        ],
    )
}

/// Reconciles the two statuses of a task.
fn reconcile_status(
    transaction: &Transaction<'_>,
    task: &Task,
    planned: &PlannedTask,
    before: Option<&FollowedTask>,
    statuses: &ReportedStatuses<'_>,
    following: &Following<'_>,
) -> Result<Option<Happened>, Fault> {
    let reported = statuses.get(&planned.id).copied();
    let theirs = reported.map_or(Status::Pending, |reported| reported.status);
    let ours = task.status;
    // A plan that was loaded from the same file before it was followed has reported nothing.
    let (seen, taken) = before.map_or((Status::Pending, Status::Pending), |known| (known.seen, known.taken));
    if theirs == ours {
        keep(transaction, &task.plan, planned, theirs, ours)?;
        return Ok(None);
    }
    // A change made here waits to be reported to the tracker, unless the issue was closed there.
    if theirs == seen || (ours != taken && theirs != Status::Done) {
        keep(transaction, &task.plan, planned, theirs, taken)?;
        return Ok(None);
    }
    if theirs == Status::Done && planned.verify.is_some() {
        keep(transaction, &task.plan, planned, theirs, ours)?;
        return Ok(Some(Happened::Unproven));
    }
    let reason = reported.and_then(|reported| reported.reason.as_deref());
    if theirs == Status::Done {
        let claim = imported_status::claim(reason, following.source, following.now);
        evidence::insert(transaction, &task.plan, &task.id, &claim)?;
    }
    let steps: &[Status] = match (ours, theirs) {
        (Status::Done, Status::InProgress | Status::Blocked) | (Status::Blocked, Status::Done) => {
            &[Status::Pending, theirs]
        }
        _ => &[theirs],
    };
    for to in steps {
        let reason = (*to == Status::Blocked).then(|| imported_status::blocked(reason, following.source));
        let change = StatusChange { to: *to, reason, fence: None, now: following.now };
        status::change(transaction, &task.plan, &task.id, &change)?;
    }
    keep(transaction, &task.plan, planned, theirs, theirs)?;
    Ok(Some(Happened::Moved { from: ours, to: theirs }))
}

fn known(connection: &Connection, plan: &PlanId) -> Result<HashMap<TaskId, FollowedTask>, Fault> {
    connection.rows("SELECT task, seen, taken, notes FROM followed_task WHERE plan = ?1", [plan], |row| {
        let status = |index| word(row, index, &Status::ALL, Status::as_str);
        Ok((task_id(row, 0)?, FollowedTask { seen: status(1)?, taken: status(2)?, notes: row.get(3)? }))
    })
}

fn keep(
    transaction: &Transaction<'_>,
    plan: &PlanId,
    planned: &PlannedTask,
    seen: Status,
    taken: Status,
) -> Result<(), Fault> {
    transaction.run(
        "INSERT INTO followed_task (plan, task, seen, taken, notes) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (plan, task) DO UPDATE SET seen = excluded.seen, taken = excluded.taken, notes = excluded.notes
             WHERE seen <> excluded.seen OR taken <> excluded.taken OR notes IS NOT excluded.notes",
        params![plan, planned.id, seen, taken, planned.notes],
    )
}
