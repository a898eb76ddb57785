//! Plans whose tasks are kept elsewhere. They are followed: what changed there changes here, and what changed here and
//! was not told there yet is known.
//!
//! A task has three statuses: how it stood there when that was last read (`seen`), how it stood here right after
//! (`taken`), and how it stands here. Where the first differs from what is read now, something happened there; where the
//! last two differ, something happened here.

use std::collections::{BTreeMap, HashMap, HashSet};

use steadfast_model::{
    AddedBy, Evidence, EvidenceClass, Millis, Plan, PlanId, PlannedTask, Reported, Status, Task, TaskId, TaskKind,
};

use super::column::{exact, task_id, text, word};
use super::error::Fault;
use super::frozen::{self, Frozen};
use super::plan::NewPlan;
use super::status::{self, StatusChange};
use super::task::Coming;
use super::{Head, Joined, Ledger, LedgerError, added, evidence, imported_status, plan, proof, run, spec, task};
use crate::ledger::bind::{AsGiven, params};
use crate::ledger::connection::{Connection, Transaction};

/// What was read elsewhere, on its way into the ledger.
#[derive(Clone, Copy, Debug)]
pub struct Following<'a> {
    pub plan: &'a Plan,
    /// How its tasks stand there; of those that are missing, nothing was begun.
    pub reported: &'a [Reported],
    /// Over what was authored.
    pub hash: &'a str,
    /// Of all that was read.
    pub digest: &'a str,
    pub worktree: &'a str,
    /// What it is called, `beads:bd-x7y8`.
    pub source: &'a str,
    /// A human who loads it vouches for what is in it now.
    pub added_by: AddedBy,
    /// What each command of a check stands for, as JSON.
    pub frozen: &'a BTreeMap<String, String>,
    pub now: Millis,
}

/// What happened there since it was last read.
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
    /// It is not there any more, nor is it here.
    Removed,
    /// Its status changed there, and so it did here.
    Moved {
        from: Status,
        to: Status,
    },
    /// It was closed there, and its check has not passed here: it stays open.
    Unproven,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedPlan {
    pub plan: PlanId,
    /// It was not followed before: all of it is new.
    pub is_new: bool,
    pub news: Vec<TrackerChange>,
}

/// A status of ours that has to be told there.
#[derive(Clone, Debug, PartialEq)]
pub struct Untold {
    pub task: Task,
    /// How it stood there when that was last read.
    pub seen: Status,
    /// Why it is blocked.
    pub reason: Option<String>,
    /// The last that is known of it.
    pub evidence: Option<Evidence>,
    /// The branch of the run that did it.
    pub branch: Option<String>,
}

impl Untold {
    /// It is done, and the word of an agent is all that says so.
    pub fn is_claim(&self) -> bool {
        self.task.status == Status::Done && !is_proof(self.evidence.as_ref())
    }
}

/// Whether an issue is closed on it: on what Steadfast saw, or on a human's word.
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
    /// The plan that follows this source, and the digest of what was read of it last.
    pub fn followed(&self, worktree: &str, source: &str) -> Result<Option<(PlanId, String)>, LedgerError> {
        self.read(|connection| {
            let Some(plan) = spec::of_source(connection, worktree, source)? else { return Ok(None) };
            let digest = connection.first("SELECT digest FROM followed WHERE plan = ?1", [&plan], |row| row.get(0))?;
            Ok(Some((plan, digest.unwrap_or_default())))
        })
    }

    /// Takes in what was read. What a run works off stays as it is until that is over.
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
            let news = go_on(transaction, &plan, &following)?;
            Ok(FollowedPlan { plan, is_new: false, news })
        })
    }

    /// What changed here since, in the order of the tasks. A task that is done on a claim was told as in progress; it is told
    /// again when there is a proof.
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

    /// It was told there how a task stands here, and stands so there.
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

/// The first time: as it stands there, so it stands here.
fn begin(transaction: &Transaction<'_>, following: &Following<'_>) -> Result<FollowedPlan, Fault> {
    let Following { plan, worktree, source, added_by, now, .. } = *following;
    let id = spec::free_id(transaction, &plan.feature)?;
    let new = NewPlan { id: &id, worktree, title: &plan.feature, source: Some(source), added_by };
    plan::insert(transaction, &new, now)?;
    let stand = standings(following.reported);
    for planned in &plan.tasks {
        add(transaction, &id, planned, following, &stand)?;
    }
    finish(transaction, &id, following)?;
    put_others_away(transaction, &id, following)?;
    let joined = added::join_list(transaction, worktree, &id, now)?;
    let news =
        joined.into_iter().map(|Joined { task, title, .. }| TrackerChange { task, title, what: Happened::Added });
    Ok(FollowedPlan { plan: id, is_new: true, news: news.collect() })
}

/// Who follows one list followed another before: that one is over.
fn put_others_away(transaction: &Transaction<'_>, id: &PlanId, following: &Following<'_>) -> Result<(), Fault> {
    let mut statement = transaction.prepare_cached(
        "SELECT plan.id FROM plan JOIN followed ON followed.plan = plan.id
         WHERE plan.worktree = ?1 AND plan.id <> ?2 AND plan.cleared_at IS NULL",
    )?;
    let others = statement.query_map(params![AsGiven(following.worktree), id], |row| super::column::plan_id(row, 0))?;
    let others: Vec<PlanId> = others.collect::<Result<_, _>>()?;
    for other in others {
        if run::of_plan(transaction, &other)?.is_none() {
            spec::put_away(transaction, &other, following.now)?;
            transaction.touch(&other);
        }
    }
    Ok(())
}

fn go_on(transaction: &Transaction<'_>, id: &PlanId, following: &Following<'_>) -> Result<Vec<TrackerChange>, Fault> {
    let plan = following.plan;
    let stand = standings(following.reported);
    let known = known(transaction, id)?;
    let present: BTreeMap<TaskId, Task> =
        task::all(transaction, id)?.into_iter().map(|task| (task.id.clone(), task)).collect();
    let mut news = Vec::new();
    let listed: HashSet<&TaskId> = plan.tasks.iter().map(|planned| &planned.id).collect();
    // What was closed is not missed: trackers forget what is done.
    let is_gone = |task: &&Task| !listed.contains(&task.id) && task.phase.is_some() && task.status != Status::Done;
    for task in present.values().filter(is_gone) {
        transaction.execute("DELETE FROM task WHERE plan = ?1 AND id = ?2", params![id, task.id])?;
        news.push(TrackerChange { task: task.id.clone(), title: task.title.clone(), what: Happened::Removed });
    }
    for planned in &plan.tasks {
        let Some(task) = present.get(&planned.id) else {
            add(transaction, id, planned, following, &stand)?;
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
            && let Some(what) = move_on(transaction, task, planned, before, &stand, following)?
        {
            news.push(TrackerChange { task: planned.id.clone(), title: planned.title.clone(), what });
        }
    }
    finish(transaction, id, following)?;
    Ok(news)
}

/// What holds of the plan as a whole: what it is for, what waits for what, and what was read.
fn finish(transaction: &Transaction<'_>, id: &PlanId, following: &Following<'_>) -> Result<(), Fault> {
    let Following { plan, hash, digest, added_by, frozen, now, .. } = *following;
    let must_nots = spec::head(transaction, id)?.must_nots;
    // What a tracker says is never run like that.
    let head = Head { checks: Vec::new(), must_nots, ..Head::of(plan, hash) };
    let authored: Option<String> =
        transaction.row("SELECT json_extract(head, '$.hash') FROM plan WHERE id = ?1", [id], |row| row.get(0))?;
    transaction
        .execute("UPDATE plan SET head = ?2, title = ?3 WHERE id = ?1", params![id, text(&head), plan.feature])?;
    // What a human vouched for is not this any more.
    if authored.as_deref() != Some(hash) {
        let by = params![id, added_by];
        transaction.execute("UPDATE plan SET added_by = ?2 WHERE id = ?1", by)?;
    }
    if added_by == AddedBy::Human {
        let human = params![id, added_by];
        transaction.execute("UPDATE plan SET added_by = ?2 WHERE id = ?1", human)?;
        transaction.execute("UPDATE task SET added_by = ?2 WHERE plan = ?1 AND phase IS NOT NULL", human)?;
    }
    wait(transaction, id, &plan.tasks)?;
    // Whoever may write to the list must not be able to have a check taken for another one.
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

/// Tasks wait for what the list says, and for nothing else.
fn wait(transaction: &Transaction<'_>, id: &PlanId, tasks: &[PlannedTask]) -> Result<(), Fault> {
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

type Standings<'a> = HashMap<&'a TaskId, &'a Reported>;

fn standings(reported: &[Reported]) -> Standings<'_> {
    reported.iter().map(|reported| (&reported.task, reported)).collect()
}

/// A task that is new, as it stands there. Nobody did the work here, so nothing is earned.
fn add(
    transaction: &Transaction<'_>,
    id: &PlanId,
    planned: &PlannedTask,
    following: &Following<'_>,
    stand: &Standings<'_>,
) -> Result<(), Fault> {
    let Following { added_by, now, source, .. } = *following;
    let (status, reason) = match stand.get(&planned.id) {
        Some(reported) => (reported.status, reported.reason.as_deref()),
        None => (Status::Pending, None),
    };
    if status == Status::Done {
        evidence::insert(transaction, id, &planned.id, &imported_status::claim(reason, source, now))?;
    }
    let blocked = (status == Status::Blocked).then(|| imported_status::blocked(reason, source));
    let coming = Coming { status, reason: blocked.as_deref(), ..Coming::PENDING }.of(planned);
    task::put(transaction, id, &planned.id, &spec::as_new(planned, added_by), &coming, now)?;
    if planned.kind == TaskKind::Main {
        keep(transaction, id, planned, status, status)?;
    }
    Ok(())
}

/// What is said of a task that is here already. What was noted here stays behind what is written there.
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

/// Brings the two statuses of a task together.
fn move_on(
    transaction: &Transaction<'_>,
    task: &Task,
    planned: &PlannedTask,
    before: Option<&FollowedTask>,
    stand: &Standings<'_>,
    following: &Following<'_>,
) -> Result<Option<Happened>, Fault> {
    let reported = stand.get(&planned.id).copied();
    let theirs = reported.map_or(Status::Pending, |reported| reported.status);
    let ours = task.status;
    // What was loaded from the same file before it was followed was told nothing.
    let (seen, taken) = before.map_or((Status::Pending, Status::Pending), |known| (known.seen, known.taken));
    if theirs == ours {
        keep(transaction, &task.plan, planned, theirs, ours)?;
        return Ok(None);
    }
    // What was done here waits to be told there, unless it was closed there by others.
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
