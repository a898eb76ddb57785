//! The plan of a worktree: loads it into the ledger, and clears it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use steadfast_check::definition::define;
use steadfast_hook::text_digest;
use steadfast_model::{
    AddedBy, Approval, Check, Counts, Fact, Phase, Plan, PlannedTask, Status, Task, TaskId, TaskKind,
};
pub(super) use steadfast_plan::hash;
use steadfast_store::ledger::{Baseline, Claiming, Loaded, Loading, PlanRow};
use steadfast_store::{Draft, Place};

use super::{ClosedGate, PlanError, TaskError, TaskList, decisions, files, short_of, stated_checks};
use crate::error::WorkError;

/// The state of a loop phase: its items by the statuses of their tasks.
#[derive(Debug, PartialEq, Eq)]
pub struct LoopState<'a> {
    pub phase: &'a Phase,
    /// The index of the current item; past the last one if none is left.
    pub position: usize,
    pub completed: Vec<&'a str>,
    pub failed: Vec<&'a str>,
}

impl TaskList {
    /// Loads a compiled spec into the ledger, with the current content of its checks.
    pub fn load(&mut self, plan: &Plan, source: &str) -> Result<Loaded, WorkError> {
        self.load_within(plan, source, None)
    }

    /// The same. Fails if the files of the tasks cannot be read within this time.
    pub(super) fn load_within(
        &mut self,
        plan: &Plan,
        source: &str,
        budget: Option<Duration>,
    ) -> Result<Loaded, WorkError> {
        let hash = hash(plan);
        let approved = self.is_approved(&hash)?;
        self.may_load(plan, source, approved)?;
        // A plan that a human approved counts as the human's, even if an agent loads it.
        let added_by = if approved { AddedBy::Human } else { self.caller.by };
        let root = self.repository.place.root.clone();
        let plan = &Plan {
            checks: match added_by {
                AddedBy::Human => stated_checks::frozen(&root, &plan.checks),
                // Checks that only an agent stated are not run at the end.
                AddedBy::Agent => Vec::new(),
            },
            ..plan.clone()
        };
        let commands: BTreeSet<&str> =
            plan.tasks.iter().filter_map(|task| task.verify.as_ref().and_then(Check::as_command)).collect();
        let frozen = freeze(&root, commands)?;
        let baseline = baseline(&self.repository.place, &plan.tasks, budget)?;
        let before = self.ledger.plan_of(&self.worktree, source)?;
        let text = text_digest(&root, source);
        let (gone, new) = match &before {
            Some(before) => self.prepared(before, plan)?,
            None => (Vec::new(), Vec::new()),
        };
        // First save decisions that were written into the file by hand.
        self.render_decisions();
        let loaded = self.ledger.load_plan(Loading {
            plan,
            hash: &hash,
            worktree: &self.worktree,
            source,
            text: text.as_deref(),
            added_by,
            frozen: &frozen,
            baseline: &baseline,
            now: self.now(),
        })?;
        if let Loaded::Same(plan) = &loaded {
            self.ledger.use_plan(plan, self.caller.by, self.now())?;
        }
        for (tasks, why) in [
            (gone, "left out now, because its skill is not installed"),
            (new, "new, because its skill is installed now"),
        ] {
            self.lines.extend(tasks.iter().map(|task| format!("{task} is {why}")));
        }
        self.join_list(loaded.plan())?;
        self.take(loaded.plan(), Claiming::EvenIfHeld)?;
        if let (Loaded::Replaced { .. }, Some(before)) = (&loaded, &before) {
            self.hand_over(before, source);
            self.rebind(&before.id, loaded.plan());
        }
        self.render_decisions();
        self.approve_by_loading(plan, source)?;
        Ok(loaded)
    }

    /// Refuses an agent that would change a plan which a human loaded, or whose tasks were started: their checks are
    /// fixed.
    fn may_load(&self, plan: &Plan, source: &str, approved: bool) -> Result<(), WorkError> {
        if !self.caller.is_agent() {
            return Ok(());
        }
        if !self.gates().is_empty() {
            let (name, source_file) = (format!("`{source}`"), Some(source.to_owned()));
            return Err(PlanError::GateClosed { name, source_file }.into());
        }
        let present = self.ledger.plan_of(&self.worktree, source)?;
        if let Some(present) = &present {
            let (gone, _) = self.prepared(present, plan)?;
            if !gone.is_empty() {
                return Err(PlanError::SkillsGone { path: source.to_owned(), tasks: gone }.into());
            }
        }
        if approved {
            return Ok(());
        }
        // A file for which a draft was proposed may only hold that draft, because the human approved the draft.
        let hash = hash(plan);
        let drafted = |draft: &Draft| draft.path == source && draft.hash != hash;
        if let Some(draft) = self.drafts_here().find(drafted).filter(|_| self.drafts_here().all(|one| one.hash != hash))
        {
            let short = short_of(&draft).to_owned();
            return Err(PlanError::NotTheDraft { path: source.to_owned(), short }.into());
        }
        let Some(present) = present else { return Ok(()) };
        if present.head.hash.as_deref() == Some(hash.as_str()) {
            return Ok(());
        }
        let begun = self.ledger.tasks(&present.id)?.iter().any(|task| task.status != Status::Pending);
        if present.added_by == self.caller.by && !begun {
            return Ok(());
        }
        Err(PlanError::Changed { path: source.to_owned(), plan: present.id }.into())
    }

    /// For the same spec: open tasks about skills that are not installed any more, and tasks about newly installed
    /// ones. They depend on the installed skills, and not on what was written or approved.
    fn prepared(&self, present: &PlanRow, plan: &Plan) -> Result<(Vec<TaskId>, Vec<TaskId>), WorkError> {
        if present.head.hash.as_deref() != Some(hash(plan).as_str()) {
            return Ok((Vec::new(), Vec::new()));
        }
        let tasks = self.ledger.tasks(&present.id)?;
        let is_pre = |task: &&Task| task.kind == TaskKind::Pre;
        let before: BTreeSet<&TaskId> = tasks.iter().filter(is_pre).map(|task| &task.id).collect();
        let now: BTreeSet<&TaskId> =
            plan.tasks.iter().filter(|task| task.kind == TaskKind::Pre).map(|task| &task.id).collect();
        let open = tasks.iter().filter(is_pre).filter(|task| !task.status.is_closed()).map(|task| &task.id);
        let gone = open.filter(|id| !now.contains(id)).cloned().collect();
        Ok((gone, now.difference(&before).map(|id| (*id).clone()).collect()))
    }

    /// The plan of this worktree, which may be a plain list.
    pub fn plan_row(&self) -> Result<PlanRow, WorkError> {
        Ok(self.ledger.plan(&self.worktree)?.ok_or(PlanError::NoPlan)?)
    }

    /// The plan with its tasks, its approval and its gates. All are empty if there is nothing.
    pub fn position(&self) -> Result<Position, WorkError> {
        let plan = self.ledger.plan(&self.worktree)?;
        let gates = self.gates();
        let draft = match &plan {
            Some(_) => self.waiting().pop(),
            None => match self.waiting().pop() {
                Some(waiting) => Some(waiting),
                None => self.approved_draft()?,
            },
        };
        let counts = self.view()?.map(|view| view.counts).unwrap_or_default();
        let (hash, approval) = match (&plan, &draft) {
            (Some(plan), _) => (plan.head.hash.clone(), self.approval(plan)?),
            (None, Some(draft)) => (Some(draft.hash.clone()), self.approval_of_draft(draft)?),
            (None, None) => (None, Approval::NotRequired),
        };
        let unloaded = self.unloaded_draft()?;
        Ok(Position { plan, hash, approval, gates, draft, unloaded, counts })
    }

    /// Archives the plan of this worktree. Returns it, and the new path of its decisions file.
    pub fn clear(&mut self) -> Result<(PlanRow, Option<std::path::PathBuf>), WorkError> {
        let plan = self.plan_row()?;
        self.ledger.clear_plan(&plan.id, self.now())?;
        let place = &self.repository.place;
        let archived = decisions::archive(&place.root, &place.state, &plan.id).map_err(|source| {
            PlanError::NotArchived { plan: plan.id.clone(), file: decisions::shown(&plan.id), source }
        })?;
        Ok((plan, archived))
    }
}

/// A plan with its tasks, its approval and its gates.
#[derive(Debug)]
pub struct Position {
    pub plan: Option<PlanRow>,
    /// The hash of the plan, or of the draft if no plan is loaded.
    pub hash: Option<String>,
    pub approval: Approval,
    /// The gates that are closed for the caller.
    pub gates: Vec<ClosedGate>,
    /// The draft that waits for approval; without a loaded plan, also an approved one.
    pub draft: Option<Draft>,
    /// The newest approved draft that was never loaded.
    pub unloaded: Option<Draft>,
    pub counts: Counts,
}

impl Position {
    pub fn is_locked(&self) -> bool {
        !self.gates.is_empty()
    }

    /// The JSON of `plan status --json` and of the MCP tool.
    pub fn to_json(&self) -> serde_json::Value {
        let Self { plan, hash, approval, counts, .. } = self;
        serde_json::json!({
            "plan": plan.as_ref().map(|plan| &plan.id),
            "hash": hash,
            "approval": approval.as_str(),
            "gate": if self.is_locked() { "locked" } else { "open" },
            "open": counts.open(),
            "done": counts.done,
            "blocked": counts.blocked,
        })
    }
}

impl<'a> LoopState<'a> {
    pub fn all(phases: &'a [Phase], tasks: &[Task]) -> Vec<Self> {
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

/// The current content of each command's check.
pub fn freeze<'a>(
    root: &Path,
    commands: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, String>, TaskError> {
    let mut frozen = BTreeMap::new();
    for command in commands {
        let definition = define(root, root, command)
            .map_err(|source| TaskError::Undefined { command: command.to_owned(), source })?;
        frozen.insert(command.to_owned(), serde_json::to_string(&definition).unwrap_or_default());
    }
    Ok(frozen)
}

/// The state of the checkout, for tasks that are never started explicitly. Without a budget, files that cannot be read
/// in time are left out.
fn baseline(place: &Place, tasks: &[PlannedTask], budget: Option<Duration>) -> Result<Baseline, PlanError> {
    let is_measured = |check: &Option<Check>| matches!(check, None | Some(Check::Changed | Check::Written));
    let mut paths: Vec<String> = Vec::new();
    let mut needs_tree = false;
    for task in tasks.iter().filter(|task| is_measured(&task.verify)) {
        paths.extend(task.files.iter().cloned());
        needs_tree |= task.files.is_empty();
    }
    paths.sort_unstable();
    paths.dedup();
    let files = match files::ids(&place.root, &paths, budget.unwrap_or(files::ONE_TASK)) {
        Fact::Known(ids) => ids,
        Fact::Unknown(_) if budget.is_some() => return Err(PlanError::NoTime),
        Fact::Unknown(_) | Fact::NotAsked => files::Ids::new(),
    };
    let tree = match (needs_tree, budget) {
        (false, _) => return Ok(Baseline { files, tree: None }),
        (true, None) => files::tree(&place.root, &place.state),
        (true, Some(budget)) => files::tree_within(&place.root, &place.state, budget),
    };
    match tree {
        Fact::Known(tree) => Ok(Baseline { files, tree: Some(tree) }),
        Fact::Unknown(_) if budget.is_some() => Err(PlanError::NoTime),
        Fact::Unknown(_) | Fact::NotAsked => Ok(Baseline { files, tree: None }),
    }
}
