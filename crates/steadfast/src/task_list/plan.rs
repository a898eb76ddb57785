//! The plan of a worktree: how it gets into the ledger, and out of the way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use steadfast_model::{Check, Fact, Phase, Plan, Status, Task, TaskKind};
use steadfast_observe::Sha256;
use steadfast_runner::definition::{DefineError, define};
use steadfast_store::ledger::{Claiming, Loaded, Loading, PlanRow};

use super::{TaskList, decisions, files};
use crate::error::CommandError;
use crate::surroundings;

/// How a loop phase stands: its items by what became of their tasks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LoopState<'a> {
    pub(crate) phase: &'a Phase,
    /// The item that is worked on, from 0; past the last when none is left.
    pub(crate) position: usize,
    pub(crate) completed: Vec<&'a str>,
    pub(crate) failed: Vec<&'a str>,
}

impl TaskList {
    /// Puts a compiled spec into the ledger, with what its checks stand for today.
    pub(crate) fn load(&mut self, plan: &Plan, source: &str) -> Result<Loaded, CommandError> {
        self.may_load(plan, source)?;
        let root = self.repository.place.root.clone();
        let commands: BTreeSet<&str> =
            plan.tasks.iter().filter_map(|task| task.verify.as_ref().and_then(Check::as_command)).collect();
        let frozen = freeze(&root, commands)?;
        let baseline = baseline(&root, plan);
        let before = self.ledger.plan_of(&self.worktree, source)?;
        // What was written into its file by hand goes over with the rest.
        self.render_decisions();
        let loaded = self.ledger.load_plan(Loading {
            plan,
            hash: &hash(plan),
            worktree: &self.worktree,
            source,
            added_by: self.caller.by,
            frozen: &frozen,
            baseline: &baseline,
            now: surroundings::now(),
        })?;
        self.take(loaded.plan(), Claiming::EvenIfHeld)?;
        if let (Loaded::Replaced { .. }, Some(before)) = (&loaded, &before) {
            self.hand_over(before, source);
        }
        self.render_decisions();
        Ok(loaded)
    }

    /// What a human loaded, and what was begun, only a human changes: the checks are the plan's.
    fn may_load(&self, plan: &Plan, source: &str) -> Result<(), CommandError> {
        if !self.caller.is_agent() {
            return Ok(());
        }
        let Some(present) = self.ledger.plan_of(&self.worktree, source)? else { return Ok(()) };
        if present.head.hash.as_deref() == Some(hash(plan).as_str()) {
            return Ok(());
        }
        let begun = self.ledger.tasks(&present.id)?.iter().any(|task| task.status != Status::Pending);
        if present.added_by == self.caller.by && !begun {
            return Ok(());
        }
        Err(CommandError::needs_human(format!(
            "`{source}` is loaded as plan `{}` and has changed since: a human loads it again",
            present.id
        ))
        .hint(format!("a human runs `steadfast plan load {source}`; what did not change keeps its status")))
    }

    /// The plan of this worktree, a plain list among them.
    pub(crate) fn plan_row(&self) -> Result<PlanRow, CommandError> {
        self.ledger.plan(&self.worktree)?.ok_or_else(|| {
            CommandError::failure("there is no plan in this worktree").hint("`steadfast plan load SPEC.md` loads one")
        })
    }

    /// How far the plan is, in the shape that `plan status --json` and the MCP tool share.
    pub(crate) fn plan_status(&self) -> Result<serde_json::Value, CommandError> {
        let plan = self.plan_row()?;
        let counts = self.view()?.map(|view| view.counts).unwrap_or_default();
        Ok(serde_json::json!({
            "plan": plan.id,
            "hash": plan.head.hash,
            "approval": "not_required",
            "gate": "open",
            "open": counts.open(),
            "done": counts.done,
            "blocked": counts.blocked,
        }))
    }

    /// Puts the plan of this worktree away. Returns it, and what became of its decisions file.
    pub(crate) fn clear(&mut self) -> Result<(PlanRow, Option<std::path::PathBuf>), CommandError> {
        let plan = self.plan_row()?;
        self.ledger.clear_plan(&plan.id, surroundings::now())?;
        let place = &self.repository.place;
        let archived = decisions::archive(&place.root, &place.state, &plan.id).map_err(|error| {
            CommandError::failure(format!(
                "plan `{}` is cleared, but `{}` cannot be put away: {error}",
                plan.id,
                decisions::shown(&plan.id)
            ))
            .hint("move it away yourself: no plan writes it any more, and nothing else is left to do")
        })?;
        Ok((plan, archived))
    }
}

impl<'a> LoopState<'a> {
    pub(crate) fn all(phases: &'a [Phase], tasks: &[Task]) -> Vec<Self> {
        phases.iter().filter(|phase| !phase.items.is_empty()).map(|phase| Self::of(phase, tasks)).collect()
    }

    fn of(phase: &'a Phase, tasks: &[Task]) -> Self {
        let mut state = Self { phase, position: phase.items.len(), completed: Vec::new(), failed: Vec::new() };
        for (index, item) in phase.items.iter().enumerate() {
            let of_item = |task: &&Task| {
                task.phase.as_deref() == Some(&phase.id) && task.item.is_some_and(|item| item as usize == index)
            };
            let statuses: Vec<Status> = tasks.iter().filter(of_item).map(|task| task.status).collect();
            if statuses.contains(&Status::Blocked) {
                state.failed.push(item);
            } else if statuses.iter().all(|status| *status == Status::Done) {
                state.completed.push(item);
            } else {
                state.position = state.position.min(index);
            }
        }
        state
    }
}

/// Over what was authored: generated tasks follow from it.
pub(crate) fn hash(plan: &Plan) -> String {
    let authored: Vec<_> = plan.tasks.iter().filter(|task| task.kind == TaskKind::Main).collect();
    let words = serde_json::json!([
        plan.feature,
        plan.description,
        plan.constraints,
        plan.criteria,
        plan.promise,
        plan.phases,
        authored,
        // The last link has the check that its author wrote.
        plan.tasks.iter().map(|task| (&task.id, task.verify.as_ref().and_then(Check::as_command))).collect::<Vec<_>>(),
    ]);
    let mut hash = Sha256::new();
    hash.update(words.to_string().as_bytes());
    hash.finish()
}

/// What each command of a check stands for now.
pub(super) fn freeze<'a>(
    root: &Path,
    commands: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, String>, CommandError> {
    let mut frozen = BTreeMap::new();
    for command in commands {
        let definition = define(root, root, command).map_err(|error| undefined(command, &error))?;
        frozen.insert(command.to_owned(), serde_json::to_string(&definition).unwrap_or_default());
    }
    Ok(frozen)
}

/// A check that may run anything proves nothing.
pub(super) fn undefined(command: &str, error: &DefineError) -> CommandError {
    CommandError::failure(format!("what the check `{command}` stands for cannot be read: {error}"))
        .hint("mend that and try again: a check is run only when it is known what it runs")
}

/// How the files stand that a task has to change, for one that is never started explicitly.
fn baseline(root: &Path, plan: &Plan) -> BTreeMap<String, Option<String>> {
    let mut paths: Vec<String> = Vec::new();
    for task in &plan.tasks {
        if matches!(task.verify, Some(Check::Changed | Check::Written)) {
            paths.extend(task.files.iter().cloned());
        }
    }
    paths.sort_unstable();
    paths.dedup();
    match files::ids(root, &paths, files::ONE_TASK) {
        Fact::Known(ids) => ids,
        Fact::Unknown(_) | Fact::NotAsked => BTreeMap::new(),
    }
}
