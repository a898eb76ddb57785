//! The tasks of one worktree, for commands, the MCP server and runs.

mod adding;
mod approval;
mod approved;
mod binding;
pub mod checking;
mod closing;
pub mod confinement;
mod current_plan;
mod decisions;
mod document;
mod draft;
mod error;
mod evidence;
pub mod files;
mod freshness;
mod gate;
mod imported_list;
mod iteration;
mod plan;
mod related;
mod skills;
pub mod stated_checks;
mod supervision;
mod tracked;
mod unit;
mod unmerged;

use steadfast_hook::{handle_event, is_gone};
use steadfast_model::{
    Agent, Check, Event, EventKind, Fact, HostList, Millis, PlanId, PlanView, RunState, SessionId, Status, Task,
    TaskChanged, TaskId, TaskLine, ToolUseId,
};
use steadfast_store::ledger::{Blocked, Changed, Claiming, Ledger, Started, StatusChange};
use steadfast_store::{Moved, Place, SessionFiles, log_line};

pub use approval::key as approval_key;
pub use approved::load_approved;
pub use closing::{CloseOptions, CloseOutcome, PATIENCE, SLICE};
pub use current_plan::Plans;
pub use decisions::{PlanContext, shown as decisions_file};
pub use draft::{Proposal, Proposed, short_of};
pub use error::{ApprovalError, DecisionError, DraftName, GateError, PlanError, TaskError};
pub use evidence::{how, short};
pub use freshness::{DoneOn, NotHeld, Proof, Rechecked};
pub use gate::{ClosedGate, Locked, Looked};
pub use imported_list::TakenOver;
pub use plan::{LoopState, Position, freeze};
pub use stated_checks::StatedEnd;
pub use unit::{LoadedUnit, MARKERS, Recheck, Rework, RunTasks, UnitTaskOutcome};

use crate::Environment;
use crate::caller::Caller;
use crate::error::{WorkError, chain};
use crate::repository::Repository;
use crate::tracker::Tracker;

#[derive(Debug)]
pub struct TaskList {
    repository: Repository,
    ledger: Ledger,
    worktree: String,
    caller: Caller,
    /// The mark by which the processes of a run are found.
    mark: Option<String>,
    /// The external tracker of the tasks, once it was read.
    tracker: Option<Box<dyn Tracker>>,
    /// Lines to print for the user about the tracker and moved state.
    lines: Vec<String>,
}

impl TaskList {
    /// The list of the worktree this process runs in. `words` are the arguments of the command.
    pub fn here(environment: Environment, words: &str) -> Result<Self, WorkError> {
        let repository = Repository::find(environment)?;
        let moved = repository.settle();
        let ledger = repository.ledger()?;
        let caller = Caller::of(Some(&repository.place), &repository.environment, words);
        let mut list = Self::of(repository, ledger, caller, None);
        list.lines.extend(moved.map(|Moved { from, copied }| match copied {
            false => format!("this checkout was moved from `{from}`; its plans, gates and drafts were moved too"),
            true => format!("this checkout is a copy of `{from}`; it has its own plans, gates and drafts now"),
        }));
        Ok(list)
    }

    /// The list for a tool call over MCP.
    pub fn of_tool_call(environment: Environment, call: Option<&ToolUseId>, tool: &str) -> Result<Self, WorkError> {
        let (repository, claim) = Repository::of_tool_call(environment, call, tool)?;
        let ledger = repository.ledger()?;
        Ok(Self::of(repository, ledger, Caller::behind(claim), None))
    }

    /// The list of a worktree of a run, which a human started. `ledger` is an open ledger to use.
    pub fn of_run(
        place: Place,
        environment: Environment,
        mark: &str,
        ledger: Option<Ledger>,
    ) -> Result<Self, WorkError> {
        let repository = Repository::at(place, environment);
        let ledger = ledger.map_or_else(|| repository.ledger_as_it_is(), Ok)?;
        Ok(Self::of(repository, ledger, Caller::human(), Some(mark.to_owned())))
    }

    fn of(repository: Repository, ledger: Ledger, caller: Caller, mark: Option<String>) -> Self {
        let worktree = repository.place.worktree();
        Self { repository, ledger, worktree, caller, mark, tracker: None, lines: Vec::new() }
    }

    pub fn into_ledger(self) -> Ledger {
        self.ledger
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// The checkout as the ledger names it.
    pub fn worktree(&self) -> &str {
        &self.worktree
    }

    pub fn place(&self) -> &Place {
        &self.repository.place
    }

    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    pub fn now(&self) -> Millis {
        self.repository.environment.now()
    }

    pub fn all(&self) -> Result<Vec<Task>, WorkError> {
        self.look(|ledger, plan| Ok(ledger.tasks(plan)?))
    }

    pub fn ready(&self) -> Result<Vec<Task>, WorkError> {
        self.look(|ledger, plan| Ok(ledger.ready(plan)?))
    }

    /// The task in progress, else the first that is ready.
    pub fn next(&self) -> Result<Option<Task>, WorkError> {
        let Some(view) = self.view()? else { return Ok(None) };
        // Do not offer a task that another session has started.
        let leased = if self.caller.session.is_some() { self.leased(&view.id)? } else { Vec::new() };
        let is_free = |line: &&TaskLine| !leased.iter().any(|lease| lease.task == line.id);
        match view.open.iter().find(is_free) {
            Some(line) => Ok(Some(self.ledger.task(&view.id, &line.id)?)),
            None => Ok(None),
        }
    }

    pub fn find(&self, id: &TaskId) -> Result<Task, WorkError> {
        Ok(self.ledger.task(&self.plan_of(id)?, id)?)
    }

    /// The blocked tasks of the plan, with their reasons.
    pub fn blocked(&self) -> Result<Vec<Blocked>, WorkError> {
        self.look(|ledger, plan| Ok(ledger.blocked(plan)?))
    }

    pub fn start(&mut self, id: &TaskId) -> Result<Changed, WorkError> {
        let task = self.find(id)?;
        self.refuse_if_in_run(&task)?;
        if task.status == Status::Blocked && self.caller.is_agent() {
            return Err(TaskError::Blocked(id.clone()).into());
        }
        self.may_start(&task)?;
        self.may_build(&task)?;
        self.begin_unit(&task)?;
        let baseline = self.baseline_of(&task);
        if self.is_abandoned()? {
            self.ledger.give_up(&task.plan, self.now())?;
        }
        self.take(&task.plan, Claiming::EvenIfHeld)?;
        let changed = self.ledger.start_task(&task.plan, id, &baseline)?;
        self.tell_owner(&changed)?;
        self.render_decisions();
        Ok(changed)
    }

    /// Refuses to change a task of a run: only its runner does. While the run is paused, a human may.
    fn refuse_if_in_run(&self, task: &Task) -> Result<(), WorkError> {
        let Some(run) = self.ledger.run_of_plan(&task.plan)? else { return Ok(()) };
        if run.state == RunState::Paused && !self.caller.is_agent() {
            return Ok(());
        }
        Err(TaskError::InRun { task: task.id.clone(), run: run.id }.into())
    }

    /// Returns true if another session worked on the plan and is gone without a checkpoint.
    fn is_abandoned(&self) -> Result<bool, WorkError> {
        let Some(view) = self.view()? else { return Ok(false) };
        let Some(owner) = view.owner.filter(|owner| self.caller.session.as_ref().is_some_and(|own| own != owner))
        else {
            return Ok(false);
        };
        let gone = view.owner_ended.is_some() || is_gone(&SessionFiles::of(&self.repository.place, &owner));
        Ok(gone && view.brief.checkpoints == 0)
    }

    /// The state of the task's files at its start, to compare with later.
    fn baseline_of(&self, task: &Task) -> Started {
        let place = &self.repository.place;
        let (files, unseen) = match files::ids(&place.root, &task.files, files::ONE_TASK) {
            Fact::Known(ids) => (ids, None),
            // Recorded as unknown: compared with an empty list, every file would count as changed.
            Fact::Unknown(why) => (files::Ids::new(), Some(why)),
            Fact::NotAsked => (files::Ids::new(), None),
        };
        let needs_tree = task.files.is_empty() && matches!(task.verify, None | Some(Check::Changed));
        let tree = match needs_tree.then(|| files::tree(&place.root, &place.state)) {
            Some(Fact::Known(tree)) => Some(tree),
            _ => None,
        };
        let Caller { session, agent, .. } = &self.caller;
        let (session, agent) = (session.clone(), agent.clone());
        Started { at: self.now(), files, unseen, tree, session, agent, ..Started::default() }
    }

    pub fn note(&mut self, id: &TaskId, line: &str) -> Result<Task, WorkError> {
        let line = line.trim();
        if line.is_empty() {
            return Err(TaskError::EmptyNote.into());
        }
        let plan = self.plan_of(id)?;
        Ok(self.ledger.note_task(&plan, id, line, self.now())?)
    }

    pub fn block(&mut self, id: &TaskId, why: &str) -> Result<Changed, WorkError> {
        let why = why.trim();
        if why.is_empty() {
            return Err(TaskError::NoReason.into());
        }
        let task = self.find(id)?;
        self.refuse_if_in_run(&task)?;
        self.take(&task.plan, Claiming::UnlessHeld)?;
        self.change(id, Status::Blocked, Some(why.to_owned()))
    }

    pub fn unblock(&mut self, id: &TaskId) -> Result<Changed, WorkError> {
        if self.caller.is_agent() {
            return Err(TaskError::Blocked(id.clone()).into());
        }
        let task = self.find(id)?;
        if task.status != Status::Blocked {
            return Err(TaskError::NotBlocked { task: id.clone(), status: task.status }.into());
        }
        self.change(id, Status::Pending, None)
    }

    /// Opens a done task again, because its check fails on the current files.
    pub fn reopen(&mut self, plan: &PlanId, id: &TaskId) -> Result<(), WorkError> {
        let change = StatusChange { to: Status::Pending, reason: None, fence: None, now: self.now() };
        self.ledger.set_status(plan, id, change)?;
        Ok(())
    }

    fn change(&mut self, id: &TaskId, to: Status, reason: Option<String>) -> Result<Changed, WorkError> {
        let plan = self.plan_of(id)?;
        let now = self.now();
        let changed = self.ledger.set_status(&plan, id, StatusChange { to, reason, fence: None, now })?;
        self.tell_owner(&changed)?;
        self.render_decisions();
        Ok(changed)
    }

    /// Tells the session that works on the plan. A closed task gives it refusals back.
    fn tell_owner(&self, changed: &Changed) -> Result<(), WorkError> {
        if changed.from == changed.task.status {
            return Ok(());
        }
        let owner = || Ok::<_, WorkError>(self.view()?.and_then(|view| view.owner));
        let session = self.caller.session.clone().map_or_else(owner, |session| Ok(Some(session)))?;
        let Some(owner) = session else { return Ok(()) };
        // The ledger has the change, which is what counts. A session that misses the event has less budget, never more.
        if let Err(error) = self.tell(&owner, changed) {
            let line = format!("cannot tell session {owner} about task {}: {}", changed.task.id, chain(&error));
            log_line(&self.repository.place, self.now(), &line);
        }
        Ok(())
    }

    fn tell(&self, owner: &SessionId, changed: &Changed) -> Result<(), WorkError> {
        let Some(state) = SessionFiles::of(&self.repository.place, owner).peek() else { return Ok(()) };
        let kind = EventKind::TaskChanged(TaskChanged {
            plan: changed.task.plan.clone(),
            task: changed.task.id.clone(),
            status: changed.task.status,
            earned: changed.earned,
        });
        let now = self.now();
        // The tasks that a subagent started block the stop of the subagent, not that of its session.
        let agent = self.caller.agent.clone().filter(|_| self.caller.session.as_ref() == Some(owner));
        let agent = agent.map(|id| Agent { id, agent_type: String::new() });
        let event = Event { agent, ..Event::plain(owner.clone(), state.host, self.worktree.clone(), now, kind) };
        handle_event(&self.repository.place, &self.repository.config, event)?;
        Ok(())
    }

    fn look<T>(&self, look: impl FnOnce(&Ledger, &PlanId) -> Result<Vec<T>, WorkError>) -> Result<Vec<T>, WorkError> {
        match self.view()? {
            Some(view) => look(&self.ledger, &view.id),
            None => Ok(Vec::new()),
        }
    }

    pub fn view(&self) -> Result<Option<PlanView>, WorkError> {
        Ok(match &self.caller.session {
            Some(session) => self.ledger.plan_view_of(&self.worktree, session)?,
            None => self.ledger.plan_view(&self.worktree)?,
        })
    }

    /// The plan of a task. A session may have the list of its host and a plan of ours: if the current one does not have
    /// the task, the other is searched.
    fn plan_of(&self, id: &TaskId) -> Result<PlanId, WorkError> {
        let plan = self.plan()?;
        let Some(list) = self.caller.session.as_ref().map(HostList::plan) else { return Ok(plan) };
        let other =
            if plan == list { self.ledger.own_plan_view(&self.worktree)?.map(|view| view.id) } else { Some(list) };
        let has = |plan: &PlanId| self.ledger.task(plan, id).is_ok();
        Ok(other.filter(|other| !has(&plan) && has(other)).unwrap_or(plan))
    }

    fn plan(&self) -> Result<PlanId, WorkError> {
        Ok(self.view()?.map(|view| view.id).ok_or(TaskError::NoTasks)?)
    }
}

/// A status in words.
pub fn word(status: Status) -> &'static str {
    match status {
        Status::InProgress => "in progress",
        other => other.as_str(),
    }
}
