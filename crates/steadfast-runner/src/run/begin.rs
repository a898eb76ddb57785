use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use steadfast_model::{PlanId, Process, Run, TaskId};
use steadfast_store::Place;
use steadfast_store::ledger::Ledger;
use steadfast_work::task_list::RunTasks;

use super::RunOutcome;
use super::dispatcher::Dispatcher;
use super::event::Audience;
use super::executor::RunContext;
use super::merger::Merger;
use super::tracker::{Telling, TrackerUpdater};
use crate::error::RunError;
use crate::experts::ReviewBrief;
use crate::launch::Launcher;
use crate::worktrees::RunWorktrees;

/// No limit: ten years.
const ENDLESS: Duration = Duration::from_secs(10 * 365 * 86_400);

/// The input of a run.
pub struct Begin {
    /// The run's row in the ledger.
    pub run: Run,
    pub plan_title: String,
    pub ledger: Ledger,
    pub worktrees: RunWorktrees,
    pub tasks: Arc<RunTasks>,
    pub launcher: Launcher,
    /// The repository that the run works in.
    pub place: Place,
    pub runner: Process,
    /// Set when a human stops the run; the run then pauses.
    pub stop: Arc<AtomicBool>,
    /// The common part of a panel's prompts. `None`: no panels.
    pub panel_brief: Option<ReviewBrief>,
    pub until: Until,
}

/// The point up to which the run goes this time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    #[default]
    End,
    /// To the end, but a loop's gate checks the result.
    Gate,
    /// To the end of the next wave.
    Wave,
    /// Until one unit has landed; units run one at a time.
    Unit,
}

impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begin").field("run", &self.run.id).finish_non_exhaustive()
    }
}

/// Runs until every task is done or the run pauses.
pub fn run(begin: Begin, audience: &mut dyn Audience) -> Result<RunOutcome, RunError> {
    let Begin { run, plan_title, ledger, worktrees, tasks, launcher, place, runner, stop, panel_brief, until } = begin;
    // The folder for logs of agents, and for marks of spent budgets.
    let folder = place.state.join("runs").join(run.id.as_str());
    fs::create_dir_all(&folder).map_err(|source| RunError::Folder { path: folder.clone(), source })?;
    let (tell, messages) = mpsc::channel();
    let (arrive, arrivals) = mpsc::channel();
    let (base, halt) = (run.base.clone(), Arc::new(AtomicBool::new(false)));
    let check_again = {
        let tasks = Arc::clone(&tasks);
        Box::new(move |folder: &Path, plan: &PlanId, task: &TaskId, stop: &AtomicBool| {
            tasks.check_again(folder, plan, task, stop)
        })
    };
    let merger = Merger { base, worktrees: worktrees.clone(), check_again, stop: Arc::clone(&halt) };
    let merging = thread::Builder::new().name("merger".to_owned()).spawn({
        let tell = tell.clone();
        move || merger.run(&arrivals, &tell)
    });
    let merging = merging.map_err(RunError::Thread)?;
    let context = RunContext {
        run: run.id.clone(),
        plan_title,
        worktrees,
        tasks,
        launcher,
        silence: run.limits.silence_ms.map_or(ENDLESS, Duration::from_millis),
        unit_time: run.limits.unit_ms.map_or(ENDLESS, Duration::from_millis),
        folder: folder.clone(),
        panel_brief,
    };
    let tracker = TrackerUpdater::of(&place, &run, context.tasks.clock());
    let mut dispatcher =
        Dispatcher::of(run, ledger, Arc::new(context), folder, runner, stop, (tell, messages, arrive))?;
    (dispatcher.until, dispatcher.halt) = (until, halt);
    let outcome = dispatcher.go(&mut Telling { audience, tracker });
    dispatcher.end();
    let outcome = outcome.or_else(|error| dispatcher.pause_after(error));
    // Dropping the dispatcher closes the channel that the merger reads.
    drop(dispatcher);
    let _ = merging.join();
    outcome
}
