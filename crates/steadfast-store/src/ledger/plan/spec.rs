//! Plans compiled from a spec: loading, replacing and archiving them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use steadfast_model::{AddedBy, Check, Millis, Phase, Plan, PlanId, PlannedTask, StatedCheck, Task, TaskId};

use crate::ledger::database::bind::{AsGiven, params};
use crate::ledger::database::column::{exact, json, plan_id, text, with_checks, word};
use crate::ledger::database::connection::{Connection, Transaction};
use crate::ledger::error::Fault;
use crate::ledger::plan::frozen::{self, Frozen};
use crate::ledger::plan::{self, NewPlan, Viewer, added};
use crate::ledger::task::progress::{Baseline, Started};
use crate::ledger::task::{self, InitialState, NewTask};
use crate::ledger::{Ledger, LedgerError, loops, run};

/// A compiled spec to load.
#[derive(Clone, Copy, Debug)]
pub struct Loading<'a> {
    pub plan: &'a Plan,
    /// The hash of the authored text.
    pub hash: &'a str,
    pub worktree: &'a str,
    /// The path of its file, as the caller gave it.
    pub source: &'a str,
    /// The hash of that file's text, to detect later changes.
    pub text: Option<&'a str>,
    pub added_by: AddedBy,
    /// The definition of each check command, as JSON.
    pub frozen: &'a BTreeMap<String, String>,
    /// The current state of the checkout.
    pub baseline: &'a Baseline,
    pub now: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    New(PlanId),
    /// The same plan is already in the ledger.
    Same(PlanId),
    /// The spec changed: unchanged tasks keep their status and evidence.
    Replaced {
        plan: PlanId,
        kept: usize,
    },
}

impl Loaded {
    pub fn plan(&self) -> &PlanId {
        match self {
            Self::New(plan) | Self::Same(plan) | Self::Replaced { plan, .. } => plan,
        }
    }
}

/// The parts of a plan other than its tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// The hash of the file's text; none if the plan has no file of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<String>,
    /// Checks that the spec's text requires at the end. Only for a spec that a human loaded or approved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<StatedCheck>,
    /// Must-nots of the loop that has this plan, while the loop is unfinished. They come from the loop's shape, not the
    /// spec.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub must_nots: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// The author's time estimates, in milliseconds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<TaskId, u64>,
}

impl Head {
    /// Returns the head of a compiled plan. `hash` is the hash of the authored text.
    pub(crate) fn of(plan: &Plan, hash: &str) -> Self {
        Self {
            hash: Some(hash.to_owned()),
            text: None,
            description: plan.description.clone(),
            constraints: plan.constraints.clone(),
            criteria: plan.criteria.clone(),
            checks: plan.checks.clone(),
            must_nots: Vec::new(),
            promise: plan.promise.clone(),
            phases: plan.phases.clone(),
            estimates: plan.estimates.clone(),
        }
    }
}

/// A plan for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRow {
    pub id: PlanId,
    pub title: String,
    pub source: Option<String>,
    pub added_by: AddedBy,
    pub head: Head,
}

impl Ledger {
    /// Loads a plan. It replaces the plan of the same file in the same worktree; plans of other files stay.
    pub fn load_plan(&mut self, loading: Loading<'_>) -> Result<Loaded, LedgerError> {
        let Loading { plan, hash, worktree, source, added_by, frozen, now, .. } = loading;
        for planned in &plan.tasks {
            task::new_within(&as_new(planned, added_by))?;
        }
        self.write(|transaction| {
            let before = of_source(transaction, worktree, source)?;
            if let Some(before) = &before
                && is_same(transaction, before, plan)?
            {
                let kept = head(transaction, before)?;
                if kept.estimates != plan.estimates {
                    put_head(transaction, before, &Head { estimates: plan.estimates.clone(), ..kept })?;
                }
                return Ok(Loaded::Same(before.clone()));
            }
            if let Some(before) = &before
                && let Some(run) = run::of_plan(transaction, before)?
            {
                return Err(LedgerError::InRun { plan: before.clone(), run }.into());
            }
            let id = free_id(transaction, &plan.feature)?;
            let new = NewPlan { id: &id, worktree, title: &plan.feature, source: Some(source), added_by };
            plan::insert(transaction, &new, now)?;
            let must_nots = match &before {
                Some(before) => head(transaction, before)?.must_nots,
                None => Vec::new(),
            };
            let text = loading.text.map(str::to_owned);
            put_head(transaction, &id, &Head { text, must_nots, ..Head::of(plan, hash) })?;
            put_tasks(transaction, &id, &loading)?;
            for (command, definition) in frozen {
                frozen::put(transaction, &id, [command, definition], Frozen::Changes, now)?;
            }
            transaction.touch(&id);
            let Some(before) = before else { return Ok(Loaded::New(id)) };
            let kept = carry_over(transaction, &before, &id)?;
            loops::follow_plan(transaction, &before, &id)?;
            archive(transaction, &before, now)?;
            transaction.touch(&before);
            Ok(Loaded::Replaced { plan: id, kept })
        })
    }

    /// Returns the checks that the plan's text requires at the end. An unknown plan has none.
    pub fn stated_checks(&self, id: &PlanId) -> Result<Vec<StatedCheck>, LedgerError> {
        self.read(|connection| match plan::worktree_of(connection, id)? {
            Some(_) => Ok(head(connection, id)?.checks),
            None => Ok(Vec::new()),
        })
    }

    /// Returns the author's time estimates, in milliseconds.
    pub fn estimates(&self, id: &PlanId) -> Result<BTreeMap<TaskId, u64>, LedgerError> {
        self.read(|connection| Ok(head(connection, id)?.estimates))
    }

    /// Returns the current plan of this worktree, with its head.
    pub fn plan(&self, worktree: &str) -> Result<Option<PlanRow>, LedgerError> {
        self.read(|connection| match plan::newest(connection, worktree, Viewer::Anyone)? {
            Some(plan) => row(connection, &plan).map(Some),
            None => Ok(None),
        })
    }

    pub fn plan_row(&self, id: &PlanId) -> Result<PlanRow, LedgerError> {
        self.read(|connection| {
            plan::require(connection, id)?;
            row(connection, id)
        })
    }

    /// Returns the plan that was loaded from this file.
    pub fn plan_of(&self, worktree: &str, source: &str) -> Result<Option<PlanRow>, LedgerError> {
        self.read(|connection| match of_source(connection, worktree, source)? {
            Some(plan) => row(connection, &plan).map(Some),
            None => Ok(None),
        })
    }

    /// Returns true if this plan was ever loaded in this worktree, archived or not.
    pub fn knows_plan(&self, worktree: &str, hash: &str) -> Result<bool, LedgerError> {
        self.read(|connection| {
            let found: Option<i64> = connection.first(
                "SELECT 1 FROM plan WHERE worktree = ?1 AND head ->> 'hash' = ?2 LIMIT 1",
                [AsGiven(worktree), AsGiven(hash)],
                |row| row.get(0),
            )?;
            Ok(found.is_some())
        })
    }

    pub fn title_of(&self, plan: &PlanId) -> Result<String, LedgerError> {
        self.read(|connection| {
            plan::require(connection, plan)?;
            Ok(row(connection, plan)?.title)
        })
    }

    /// Archives a plan. It has no owner then, and is kept with its evidence.
    pub fn clear_plan(&mut self, plan: &PlanId, now: Millis) -> Result<(), LedgerError> {
        self.write(|transaction| {
            plan::require(transaction, plan)?;
            archive(transaction, plan, now)?;
            transaction.touch(plan);
            Ok(())
        })
    }
}

pub(crate) fn head(connection: &Connection, plan: &PlanId) -> Result<Head, Fault> {
    let text: Option<String> =
        connection.first("SELECT head FROM plan WHERE id = ?1", [plan], |row| row.get(0))?.flatten();
    Ok(text.map(|text| json(0, &text)).transpose()?.unwrap_or_default())
}

pub(crate) fn put_head(transaction: &Transaction<'_>, plan: &PlanId, head: &Head) -> Result<(), Fault> {
    transaction.run("UPDATE plan SET head = ?2 WHERE id = ?1", params![plan, with_checks(head, &head.checks)])
}

fn row(connection: &Connection, plan: &PlanId) -> Result<PlanRow, Fault> {
    let (title, source, added_by) =
        connection.row("SELECT title, source, added_by FROM plan WHERE id = ?1", [plan], |row| {
            Ok((row.get(0)?, row.get(1)?, word(row, 2, &AddedBy::ALL, AddedBy::as_str)?))
        })?;
    Ok(PlanRow { id: plan.clone(), title, source, added_by, head: head(connection, plan)? })
}

pub(crate) fn of_source(connection: &Connection, worktree: &str, source: &str) -> Result<Option<PlanId>, Fault> {
    connection.first(
        "SELECT id FROM plan WHERE worktree = ?1 AND source = ?2 AND cleared_at IS NULL
             ORDER BY created_at DESC, id DESC LIMIT 1",
        [AsGiven(worktree), AsGiven(source)],
        |row| plan_id(row, 0),
    )
}

pub(crate) fn as_new(planned: &PlannedTask, added_by: AddedBy) -> NewTask {
    NewTask {
        id: Some(planned.id.clone()),
        kind: planned.kind,
        title: planned.title.clone(),
        files: planned.files.clone(),
        verify: planned.verify.clone(),
        notes: planned.notes.clone(),
        blocked_by: planned.blocked_by.clone(),
        task_type: planned.task_type,
        added_by,
    }
}

/// Inserts all tasks before the dependencies, because a task may depend on a later one.
fn put_tasks(transaction: &Transaction<'_>, id: &PlanId, loading: &Loading<'_>) -> Result<(), Fault> {
    let Loading { plan, added_by, baseline, now, .. } = *loading;
    for planned in &plan.tasks {
        let waits: BTreeSet<&TaskId> = planned.blocked_by.iter().collect();
        let started = at_load(planned.verify.as_ref(), &planned.files, baseline, now);
        let initial =
            InitialState { waits: waits.len(), started: started.as_ref(), ..InitialState::PENDING }.of(planned);
        task::put(transaction, id, &planned.id, &as_new(planned, added_by), &initial, now)?;
    }
    let mut depend = transaction
        .prepare_cached("INSERT INTO dependency (plan, task, blocked_by) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?;
    for planned in &plan.tasks {
        for before in &planned.blocked_by {
            depend.execute(params![id, planned.id, before])?;
        }
    }
    Ok(())
}

/// Returns the state from which changes to a task's files are measured until it is started.
pub(crate) fn at_load(verify: Option<&Check>, named: &[String], baseline: &Baseline, now: Millis) -> Option<Started> {
    if !matches!(verify, None | Some(Check::Changed)) {
        return None;
    }
    let loaded = Started { at: now, loaded: true, ..Started::default() };
    if named.is_empty() {
        let tree = baseline.tree.clone()?;
        return Some(Started { tree: Some(tree), ..loaded });
    }
    let baseline = &baseline.files;
    let mut files = BTreeMap::new();
    for file in named {
        if let Some(id) = baseline.get(file) {
            files.insert(file.clone(), id.clone());
        }
        let folder = format!("{file}/");
        let inside = baseline.range(folder.clone()..).take_while(|(path, _)| path.starts_with(&folder));
        files.extend(inside.map(|(path, id)| (path.clone(), id.clone())));
    }
    (!files.is_empty()).then_some(Started { files, ..loaded })
}

/// Checks if the ledger has the same plan, apart from statuses and added tasks.
fn is_same(connection: &Connection, id: &PlanId, plan: &Plan) -> Result<bool, Fault> {
    let PlanRow { title, head, .. } = row(connection, id)?;
    let Head {
        hash: _,
        text: _,
        description,
        constraints,
        criteria,
        checks,
        must_nots: _,
        promise,
        phases,
        estimates: _,
    } = head;
    let commands = |checks: &[StatedCheck]| checks.iter().map(|check| check.command.clone()).collect::<Vec<_>>();
    let same_head = is_kept_as(&title, &plan.feature)
        && is_kept_as(&description, &plan.description)
        && is_kept_as(&constraints, &plan.constraints)
        && is_kept_as(&criteria, &plan.criteria)
        && commands(&checks) == commands(&plan.checks)
        && is_kept_as(&promise, &plan.promise)
        && is_kept_as(&phases, &plan.phases);
    if !same_head {
        return Ok(false);
    }
    let present = task::all(connection, id)?;
    let present: BTreeMap<&TaskId, &Task> =
        present.iter().filter(|task| task.phase.is_some()).map(|task| (&task.id, task)).collect();
    Ok(present.len() == plan.tasks.len()
        && plan.tasks.iter().all(|planned| present.get(&planned.id).is_some_and(|task| is_same_task(task, planned))))
}

fn is_same_task(task: &Task, planned: &PlannedTask) -> bool {
    let mut waits = planned.blocked_by.clone();
    waits.sort_unstable();
    waits.dedup();
    let mut present = task.blocked_by.clone();
    present.sort_unstable();
    is_same_work(task, planned) && present == waits && task.phase == planned.phase && task.item == planned.item
}

pub(crate) fn is_same_work(task: &Task, planned: &PlannedTask) -> bool {
    is_kept_as(&task.title, &planned.title)
        && task.kind == planned.kind
        && task.task_type == planned.task_type
        && is_kept_as(&task.files, &planned.files)
        && task.verify == planned.verify
}

/// Checks if `kept` is the redacted form of `given`.
pub(crate) fn is_kept_as<T: PartialEq + Serialize>(kept: &T, given: &T) -> bool {
    kept == given || exact(kept) == text(given)
}

/// Copies statuses, evidence and decisions of unchanged tasks. Returns the number of tasks whose status was kept.
fn carry_over(transaction: &Transaction<'_>, before: &PlanId, plan: &PlanId) -> Result<usize, Fault> {
    // `first_closed_at` is copied, so that closing a reloaded task does not reset the refusal budget again.
    let kept = transaction.execute(
        "UPDATE task SET status = old.status, block_reason = old.block_reason, first_closed_at = old.first_closed_at,
                stuck_count = old.stuck_count, started = old.started, failure = old.failure
         FROM task AS old
         WHERE task.plan = ?2 AND old.plan = ?1 AND old.id = task.id AND old.title = task.title
           AND old.kind = task.kind AND old.type IS task.type AND old.files = task.files AND old.verify IS task.verify
           AND old.status <> 'pending'",
        params![before, plan],
    )?;
    transaction.execute(
        "INSERT INTO evidence (plan, task, number, class, passed, at, body)
         SELECT ?2, evidence.task, number, class, passed, at, body FROM evidence
         JOIN task ON task.plan = ?2 AND task.id = evidence.task AND task.status <> 'pending'
         WHERE evidence.plan = ?1",
        params![before, plan],
    )?;
    transaction.execute(
        "INSERT INTO proof (plan, task, class, since, files)
         SELECT ?2, proof.task, class, since, proof.files FROM proof
         JOIN task ON task.plan = ?2 AND task.id = proof.task AND task.status = 'done'
         WHERE proof.plan = ?1",
        params![before, plan],
    )?;
    transaction.execute(
        "INSERT INTO decision (plan, number, phase, what, why, added_by, at)
         SELECT ?2, number, phase, what, why, added_by, at FROM decision WHERE plan = ?1",
        params![before, plan],
    )?;
    added::carry_over(transaction, before, plan)?;
    count_all_waits(transaction, plan)?;
    transaction.execute(
        "UPDATE plan SET owner = (SELECT owner FROM plan WHERE id = ?1), owner_since = (SELECT owner_since FROM plan WHERE id = ?1)
         WHERE id = ?2",
        params![before, plan],
    )?;
    Ok(kept)
}

/// Counts the unfinished dependencies of every task of a plan. `CROSS` stops SQLite from scanning all open tasks for each
/// task, which took a second for two thousand tasks with dependencies.
pub(crate) fn count_all_waits(transaction: &Transaction<'_>, plan: &PlanId) -> Result<(), Fault> {
    transaction.run(
        "UPDATE task SET waits = (
                SELECT COUNT(*) FROM dependency
                CROSS JOIN task AS before ON before.plan = dependency.plan AND before.id = dependency.blocked_by
                WHERE dependency.plan = task.plan AND dependency.task = task.id AND before.status <> 'done')
             WHERE plan = ?1",
        [plan],
    )
}

pub(crate) fn archive(transaction: &Transaction<'_>, plan: &PlanId, now: Millis) -> Result<(), Fault> {
    transaction.run(
        "UPDATE plan SET cleared_at = ?2, owner = NULL, owner_since = NULL WHERE id = ?1 AND cleared_at IS NULL",
        params![plan, now],
    )?;
    // The result of a check that is still running would change nothing.
    transaction.change("DELETE FROM running WHERE plan = ?1", [plan])?;
    run::end_of_plan(transaction, plan, now)
}

/// Returns the ASCII spelling of an accented Latin letter.
fn latin(c: char) -> Option<&'static str> {
    Some(match c {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ä' | 'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì' | 'í' | 'î' | 'ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ō' | 'ŏ' | 'ő' => "o",
        'ö' | 'ø' | 'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù' | 'ú' | 'û' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ü' => "ue",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

/// Recognises a combining mark, which follows its letter in a decomposed text.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns an unused id that is easy to type: `auth-rework`, `auth-rework-2`.
pub(crate) fn free_id(connection: &Connection, feature: &str) -> Result<PlanId, Fault> {
    const LONGEST: usize = 40;
    let mut name = String::new();
    for c in feature.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            match latin(c) {
                Some(plain) => name.push_str(plain),
                // Letters of other scripts stay: without them, such a name would be empty.
                None => name.push(c),
            }
        } else if !is_mark(c) && !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.chars().count() >= LONGEST {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    let name = if name.is_empty() { "plan" } else { name };
    let mut number = 1;
    loop {
        let id = PlanId::new(if number == 1 { name.to_owned() } else { format!("{name}-{number}") });
        if plan::worktree_of(connection, &id)?.is_none() {
            return Ok(id);
        }
        number += 1;
    }
}
