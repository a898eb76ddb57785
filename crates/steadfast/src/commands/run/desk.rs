//! What a run asks of the commands: closing tasks by their checks, and the time.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use steadfast_model::{
    AddedBy, Check, CheckEnd, Evidence, EvidenceClass, Fact, Millis, PlanId, RunId, RunUnit, Status, Task, TaskId,
    TaskKind,
};
use steadfast_observe::GitCommand;
use steadfast_runner::run::{Closed, Desk, Loaded, Rework};
use steadfast_store::Place;
use steadfast_store::ledger::{Ledger, NewTask, UnitLoading};

use crate::error::{CommandError, ErrorKind};
use crate::surroundings;
use crate::task_list::{Asked, Closing, SLICE, TaskList, files, how};

#[derive(Debug)]
pub(super) struct RunDesk {
    /// The state that all worktrees share.
    state: PathBuf,
    mark: String,
    /// Those that nobody uses right now: opening one takes longer than most of what it is opened for.
    ledgers: Mutex<Vec<Ledger>>,
}

impl RunDesk {
    pub(super) fn of(state: PathBuf, mark: String) -> Self {
        Self { state, mark, ledgers: Mutex::default() }
    }

    /// Works on the tasks of a worktree.
    fn at<T>(&self, worktree: &Path, work: impl FnOnce(&mut TaskList) -> Result<T, CommandError>) -> Result<T, String> {
        let place = Place { state: self.state.clone(), root: worktree.to_owned() };
        let free = self.ledgers().pop();
        let list = TaskList::of_run(place, &self.mark, free);
        let worked = list.and_then(|mut list| {
            let worked = work(&mut list);
            self.ledgers().push(list.into_ledger());
            worked
        });
        worked.map_err(|error| error.message().to_owned())
    }

    fn ledgers(&self) -> MutexGuard<'_, Vec<Ledger>> {
        self.ledgers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, list: &mut TaskList, run: &RunId, unit: &RunUnit, rework: &Rework) -> Result<Loaded, CommandError> {
        let now = self.now();
        let whole = list.ledger().run(run)?.plan;
        let mut paths = Vec::new();
        for task in &unit.tasks {
            paths.extend(list.ledger().task(&whole, task)?.files);
        }
        let baseline = match files::ids(&list.place().root, &paths, files::ONE_TASK) {
            Fact::Known(ids) => ids,
            Fact::Unknown(_) | Fact::NotAsked => files::Ids::new(),
        };
        let worktree = list.worktree().to_owned();
        let loading = UnitLoading {
            run,
            unit: &unit.unit,
            tasks: &unit.tasks,
            worktree: &worktree,
            title: &unit.title,
            baseline: &baseline,
            now,
        };
        let plan = list.ledger_mut().load_unit(&loading)?;
        if let Some(task) = &rework.reopen {
            list.reopen(&plan, task)?;
        }
        let settle = settling(unit, &rework.conflict);
        // It may be there already: whoever was to settle it was ended.
        let asked = |task: &Task| task.status != Status::Done && task.title == settle.title;
        if !rework.conflict.is_empty() && !list.ledger().tasks(&plan)?.iter().any(asked) {
            list.ledger_mut().add_task(&plan, settle, now)?;
        }
        let mut tasks: Vec<Task> = list.ledger().tasks(&plan)?;
        let is_open = tasks.iter().any(|task| task.status != Status::Done);
        // What has to be settled comes first: the checks of the rest say nothing before.
        tasks.sort_by_key(|task| {
            let place = unit.tasks.iter().position(|id| *id == task.id);
            place.map_or(0, |place| place + 1)
        });
        Ok(Loaded { plan, tasks: tasks.into_iter().map(|task| task.id).collect(), is_open })
    }

    fn close_in(&self, list: &mut TaskList, id: &TaskId, stop: &AtomicBool) -> Result<Closed, CommandError> {
        let task = list.find(id)?;
        if task.status == Status::Blocked {
            let why =
                list.blocked()?.into_iter().find(|blocked| blocked.task == *id).and_then(|blocked| blocked.reason);
            return Ok(Closed::NeedsHuman(why.unwrap_or_else(|| "the agent set it aside".to_owned())));
        }
        if task.status == Status::Done {
            if self.is_fresh(list, &task) {
                return Ok(Closed::Done);
            }
            let again = list.check_again(&task.plan, id, stop);
            return Ok(closed(again.and_then(|again| match again {
                Some(Closing::Failed { task, evidence, same }) => {
                    // Whoever works on it next finds it open.
                    list.reopen(&task.plan, id)?;
                    Ok(Some(Closing::Failed { task, evidence, same }))
                }
                other => Ok(other),
            })));
        }
        let asked = Asked { patience: SLICE, ..Asked::default() };
        let closing = list.done(id, &asked).and_then(|closing| list.wait_to_the_end(closing, stop));
        Ok(closed(closing.map(Some)))
    }

    /// Whether what closed it is about the files as they are now.
    fn is_fresh(&self, list: &TaskList, task: &Task) -> bool {
        if !matches!(task.verify, Some(Check::Command { .. })) {
            return true;
        }
        let evidence = list.ledger().evidence_of(&task.plan, &task.id).ok().and_then(|mut all| all.pop());
        let Some(Evidence { passed: true, tree: Some(tree), .. }) = evidence else { return false };
        if committed(&list.place().root).as_ref() == Some(&tree) {
            return true;
        }
        matches!(files::tree(&list.place().root, &self.state), Fact::Known(now) if now == tree)
    }
}

impl Desk for RunDesk {
    fn load(&self, run: &RunId, unit: &RunUnit, worktree: &Path, rework: &Rework) -> Result<Loaded, String> {
        self.at(worktree, |list| self.put(list, run, unit, rework))
    }

    fn close(&self, worktree: &Path, id: &TaskId, stop: &AtomicBool) -> Result<Closed, String> {
        self.at(worktree, |list| self.close_in(list, id, stop))
    }

    fn check_again(
        &self,
        folder: &Path,
        plan: &PlanId,
        task: &TaskId,
        stop: &AtomicBool,
    ) -> Result<Option<Evidence>, String> {
        match self.at(folder, |list| list.check_again(plan, task, stop))? {
            None => Ok(None),
            Some(Closing::Done { evidence, .. }) => Ok(evidence),
            Some(Closing::Failed { evidence, .. }) => Ok(Some(evidence)),
            Some(Closing::Running { .. }) => Ok(Some(lost(self.now()))),
        }
    }

    fn leave(&self, worktree: &Path) {
        files::forget_tree(worktree, &self.state);
    }

    fn now(&self) -> Millis {
        surroundings::now()
    }
}

/// The tree of the last commit, if that is what is there: asked for more cheaply than the tree of whatever is there.
fn committed(root: &Path) -> Option<String> {
    let status = GitCommand::at(root).call("status").args(["--porcelain", "--untracked-files=normal"]);
    let is_clean = status.answer(files::ONE_TASK).ok()?.is_empty();
    let tree = || GitCommand::at(root).call("rev-parse").args(["HEAD^{tree}"]).answer(files::ONE_TASK).ok();
    if is_clean { tree() } else { None }
}

fn closed(closing: Result<Option<Closing>, CommandError>) -> Closed {
    match closing {
        Ok(None | Some(Closing::Done { .. })) => Closed::Done,
        Ok(Some(Closing::Running { .. })) => Closed::Stopped,
        Ok(Some(Closing::Failed { evidence, .. })) => {
            Closed::Open { why: how(&evidence), output: evidence.output_tail.unwrap_or_default() }
        }
        Err(error) if error.kind == ErrorKind::NeedsHuman => Closed::NeedsHuman(error.message().to_owned()),
        Err(error) => Closed::Open { why: error.message().to_owned(), output: String::new() },
    }
}

/// A conflict as a task: done when no marker is left.
fn settling(unit: &RunUnit, files: &[String]) -> NewTask {
    let quoted: Vec<String> = files.iter().map(|file| format!("'{}'", file.replace('\'', "'\\''"))).collect();
    let command = format!("! grep -nE '^(<<<<<<<|>>>>>>>) ' -- {}", quoted.join(" "));
    let title = format!("Settle the conflict of {} with what landed meanwhile", unit.unit);
    NewTask {
        kind: TaskKind::Remediation,
        files: files.to_vec(),
        verify: Some(Check::command(command)),
        ..NewTask::new(title, AddedBy::Human)
    }
}

fn lost(at: Millis) -> Evidence {
    Evidence {
        class: EvidenceClass::Executed,
        passed: false,
        end: CheckEnd::Lost,
        command: None,
        seconds: None,
        output_tail: None,
        tree: None,
        files: Default::default(),
        note: None,
        at,
    }
}
