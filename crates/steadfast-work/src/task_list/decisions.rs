//! The decisions file of a plan, `.steadfast/decisions/<plan>.md`, which people and agents read and edit.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_model::{AddedBy, PlanId, PlanView, Status, Task, TaskKind};
use steadfast_redact::redact;
use steadfast_store::ledger::{Decision, Head, PlanRow};
use steadfast_store::log_line;
use steadfast_system::{Access, replace};
use steadfast_text::{count, one_line};

use super::document::{self, KnownPhase, KnownSpec};
use super::{DecisionError, TaskList};
use crate::error::{WorkError, chain};
use crate::file;
use crate::loops;

/// The folder for rendered files, at the root of the checkout.
const FOLDER: &str = ".steadfast";

/// Size limit of the file, because anyone may edit it.
const LONGEST: u64 = 1 << 20;

/// Length limit of a decision and of its reason, in characters.
const LONGEST_LINE: usize = 1_000;

/// The reason of a decision that was written down without one.
const NOT_SAID: &str = "not said";

impl TaskList {
    pub fn decide(&mut self, what: &str, why: &str) -> Result<String, WorkError> {
        let (what, why) = (one_line(what), one_line(why));
        if what.is_empty() || why.is_empty() {
            return Err(DecisionError::Empty.into());
        }
        let plan = self.plan()?;
        let phase = self.phase()?;
        let decision =
            Decision { phase: phase.clone(), what: what.clone(), why, added_by: self.caller.by, at: self.now() };
        self.ledger.decide(&plan, &decision)?;
        self.render_decisions();
        let phases = self.plan_row()?.head.phases;
        Ok(match phases.iter().find(|known| Some(&known.id) == phase.as_ref()) {
            Some(phase) => format!("decided for {}: {what}", label(phase)),
            None => format!("decided: {what}"),
        })
    }

    /// Synchronizes the file and the ledger. A file that cannot be written is only logged, because the ledger has all.
    pub fn render_decisions(&mut self) {
        let synced = self.sync_decisions();
        self.log_failed(synced);
        // A change of this file also changes the pages of the loop.
        loops::refresh(&self.repository.place, &self.ledger, self.now());
    }

    /// The same for the plan with this id, even if another one is in force.
    pub fn render_decisions_of(&mut self, plan: &PlanId) {
        let synced = self.sync_decisions_of(plan);
        self.log_failed(synced);
        loops::refresh(&self.repository.place, &self.ledger, self.now());
    }

    fn log_failed(&self, synced: Result<(), WorkError>) {
        if let Err(error) = synced {
            let line = format!("cannot write the decisions file: {}", chain(&error));
            log_line(&self.repository.place, self.now(), &line);
        }
    }

    fn sync_decisions_of(&mut self, plan: &PlanId) -> Result<(), WorkError> {
        let plan = self.ledger.plan_row(plan)?;
        match self.ledger.view_of(&plan.id)? {
            Some(view) if plan.source.is_some() => self.sync(&plan, &view),
            _ => Ok(()),
        }
    }

    fn sync_decisions(&mut self) -> Result<(), WorkError> {
        let Some(plan) = self.ledger.plan(&self.worktree)?.filter(|plan| plan.source.is_some()) else { return Ok(()) };
        let Some(view) = self.view()? else { return Ok(()) };
        self.sync(&plan, &view)
    }

    fn sync(&mut self, plan: &PlanRow, view: &PlanView) -> Result<(), WorkError> {
        let path = path(&self.repository.place.root, &plan.id);
        let present = read(&path).map_err(|source| unreadable(&path, source))?;
        if let Some(present) = &present {
            self.take_in(plan, present)?;
        }
        let decided = self.ledger.tasks(&plan.id)?.into_iter();
        let decided = decided.filter(|task| task.kind == TaskKind::Decision && task.status == Status::Done);
        let decided: BTreeSet<String> = decided.filter_map(|task| task.phase).collect();
        let last = self.last_done(&plan.id)?;
        let known = known(plan, view, self.ledger.decisions(&plan.id)?, last.as_ref(), &decided);
        let text = document::render(present.as_deref(), &known);
        if present.as_ref() != Some(&text) {
            write(&path, &text).map_err(|source| DecisionError::NotWritten { path, source })?;
        }
        Ok(())
    }

    /// Adds decisions to the ledger that were written into the file by hand.
    fn take_in(&mut self, plan: &PlanRow, text: &str) -> Result<(), WorkError> {
        let known = self.ledger.decisions(&plan.id)?;
        for phase in &plan.head.phases {
            for line in document::bullets(text, label(phase)) {
                let (what, why) = line.split_once(": ").unwrap_or((&line, NOT_SAID));
                let is_known =
                    known.iter().any(|decision| decision.phase.as_ref() == Some(&phase.id) && said(decision) == line);
                // A longer line stays in the file only.
                let fits = [what, why].iter().all(|text| text.chars().count() <= LONGEST_LINE);
                if is_known || !fits {
                    continue;
                }
                let decision = Decision {
                    phase: Some(phase.id.clone()),
                    what: what.to_owned(),
                    why: why.to_owned(),
                    added_by: AddedBy::Agent,
                    at: self.now(),
                };
                self.ledger.decide(&plan.id, &decision)?;
            }
        }
        Ok(())
    }

    /// Moves the file of a plan to the plan that replaces it.
    pub(super) fn hand_over(&self, before: &PlanRow, source: &str) {
        if let Err(error) = self.move_file(before, source) {
            let line = format!("cannot move the decisions file: {}", chain(&error));
            log_line(&self.repository.place, self.now(), &line);
        }
    }

    fn move_file(&self, before: &PlanRow, source: &str) -> Result<(), WorkError> {
        let Some(after) = self.ledger.plan_of(&self.worktree, source)? else { return Ok(()) };
        let root = &self.repository.place.root;
        let (from, to) = (path(root, &before.id), path(root, &after.id));
        let Some(text) = read(&from).map_err(|source| unreadable(&from, source))? else { return Ok(()) };
        let text = document::carry_over(&text, &stated(before), &stated(&after));
        let moved = write(&to, &text).and_then(|()| fs::remove_file(&from));
        Ok(moved.map_err(|source| DecisionError::NotMoved { from, to, source })?)
    }

    /// The phase of the current task.
    fn phase(&self) -> Result<Option<String>, WorkError> {
        Ok(self.next()?.and_then(|task| task.phase))
    }

    fn last_done(&self, plan: &PlanId) -> Result<Option<Task>, WorkError> {
        Ok(self.ledger.last_done(plan)?)
    }
}

/// The parts of a plan that an agent needs besides the tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanContext {
    pub objective: String,
    pub constraints: Vec<String>,
    /// Decisions of all phases, the oldest first, as `what: why`.
    pub decisions: Vec<String>,
    /// Their file, from the root of the worktree. `None` if the plan was not loaded from a file.
    pub file: Option<String>,
}

impl PlanContext {
    /// The context of a unit's plan, which is a part of the whole plan.
    pub(super) fn of(list: &TaskList, whole: &PlanId, unit: &PlanId) -> Result<Self, WorkError> {
        let row = list.ledger.plan_row(whole)?;
        let KnownSpec { objective, constraints, .. } = stated(&row);
        let decisions = list.ledger.decisions(unit)?.iter().map(said).collect();
        Ok(Self { objective, constraints, decisions, file: row.source.map(|_| shown(unit)) })
    }
}

/// The number of decisions in the section of a task's phase, or the problem.
pub(super) fn section_of(list: &TaskList, task: &Task) -> Result<Result<String, String>, WorkError> {
    let plan = list.ledger.plan(&list.worktree)?;
    let phases = plan.as_ref().map(|plan| plan.head.phases.as_slice()).unwrap_or_default();
    let Some(phase) = phases.iter().find(|phase| Some(&phase.id) == task.phase.as_ref()) else {
        return Ok(Err("its phase is not in the plan; a human has to load the spec again".into()));
    };
    let path = path(&list.repository.place.root, &task.plan);
    let text = read(&path).map_err(|source| unreadable(&path, source))?.unwrap_or_default();
    let name = label(phase);
    Ok(match document::bullets(&text, name).len() {
        0 => Err(format!(
            "there is no decision under `## {}` in `{}`; `steadfast decide TEXT --why TEXT` adds one",
            document::heading(name),
            shown(&task.plan)
        )),
        decided => Ok(count(decided, "decision")),
    })
}

/// The path for messages, from the root of the checkout.
pub fn shown(plan: &PlanId) -> String {
    format!("{FOLDER}/decisions/{plan}.md")
}

pub(super) fn path(root: &Path, plan: &PlanId) -> PathBuf {
    root.join(FOLDER).join("decisions").join(format!("{plan}.md"))
}

/// Moves the file of a cleared plan to the state.
pub(super) fn archive(root: &Path, state: &Path, plan: &PlanId) -> io::Result<Option<PathBuf>> {
    let from = path(root, plan);
    let Some(text) = read(&from)? else { return Ok(None) };
    let to = state.join("archive").join(format!("{plan}.md"));
    write_file(&to, &text)?;
    fs::remove_file(&from)?;
    Ok(Some(to))
}

/// The parts that come from the spec itself.
fn stated(plan: &PlanRow) -> KnownSpec {
    let Head { description, constraints, criteria, .. } = plan.head.clone();
    let (feature, objective) = (plan.title.clone(), description.unwrap_or_else(|| plan.title.clone()));
    KnownSpec { feature, objective, constraints, criteria, ..KnownSpec::default() }
}

/// `decided` are the phases whose decision task is done.
fn known(
    plan: &PlanRow,
    view: &PlanView,
    decisions: Vec<Decision>,
    last: Option<&Task>,
    decided: &BTreeSet<String>,
) -> KnownSpec {
    let named = |task: &steadfast_model::TaskLine| format!("{} {}", task.id, task.title);
    let mut state = vec![format!("Phase: {}", view.brief.phase.as_deref().unwrap_or("-"))];
    state.push(format!("Last completed: {}", last.map_or("-".into(), |task| format!("{} {}", task.id, task.title))));
    state.push(format!("Next: {}", view.open.first().map_or("-".into(), named)));
    state.push(format!("{} of {} tasks done, {} blocked", view.counts.done, view.counts.all(), view.counts.blocked));
    let of_phase = |phase: &steadfast_model::Phase| KnownPhase {
        name: label(phase).to_owned(),
        decisions: decisions.iter().filter(|decision| decision.phase.as_ref() == Some(&phase.id)).map(said).collect(),
        is_decided: decided.contains(&phase.id),
    };
    KnownSpec { phases: plan.head.phases.iter().map(of_phase).collect(), state, ..stated(plan) }
}

fn label(phase: &steadfast_model::Phase) -> &str {
    if phase.name.trim().is_empty() { &phase.id } else { phase.name.trim() }
}

/// A decision as a line of the file.
fn said(decision: &Decision) -> String {
    match decision.why.as_str() {
        NOT_SAID => decision.what.clone(),
        why => format!("{}: {why}", decision.what),
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(file) if file.len() > LONGEST => Err(io::Error::other("it is longer than a megabyte")),
        Ok(_) => fs::read_to_string(path).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    // First the ignore file: if the process is killed in between, `git add` takes nothing.
    if let Some(folder) = path.ancestors().find(|folder| folder.ends_with(FOLDER)) {
        file::ignore_all(folder)?;
    }
    write_file(path, text)
}

/// Writes in one step, so that a reader sees the old or the new file.
fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    replace(path, redact(text).as_bytes(), Access::Usual)
}

fn unreadable(path: &Path, source: io::Error) -> DecisionError {
    DecisionError::Unreadable { path: path.to_owned(), source }
}
