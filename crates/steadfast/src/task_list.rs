//! The tasks of this worktree, as commands and the MCP server work on them.

mod approval;
pub(crate) mod checking;
mod closing;
pub(crate) mod confinement;
mod decisions;
mod document;
mod draft;
mod elsewhere;
pub(crate) mod files;
mod gate;
mod list;
mod plan;
mod related;
mod report;
mod skills;
mod summary;
mod supervision;
mod tracked;

use steadfast_hook::{is_gone, step};
use steadfast_model::{
    AddedBy, Agent, Check, Event, EventKind, Fact, HostList, PlanId, PlanView, RunState, SessionId, Stage, Status,
    Task, TaskChanged, TaskId, ToolUseId,
};
use steadfast_store::ledger::{Blocked, Changed, Claiming, Ledger, NewTask, Started, StatusChange};
use steadfast_store::{Place, SessionFiles, log_line};

pub(crate) use approval::{granted, key as approval_key};
pub(crate) use closing::{Asked, Closing, PATIENCE, SLICE};
pub(crate) use decisions::shown as decisions_file;
pub(crate) use draft::{Proposal, Proposed, rendered, short_of};
pub(crate) use gate::{Locked, Looked, Standing};
pub(crate) use list::TakenOver;
pub(crate) use plan::{LoopState, Position, freeze};
pub(crate) use report::how;
pub(crate) use summary::Summary;

use crate::caller::Caller;
use crate::error::CommandError;
use crate::repository::Repository;
use crate::surroundings;
use crate::tracker::Tracker;

/// What the plain list of a worktree is called.
const TITLE: &str = "tasks";

#[derive(Debug)]
pub(crate) struct TaskList {
    repository: Repository,
    ledger: Ledger,
    worktree: String,
    caller: Caller,
    /// What the processes of an orchestrated run are known by.
    mark: Option<String>,
    /// The list that its tasks are kept in, once it was followed.
    tracker: Option<Box<dyn Tracker>>,
    /// What there is to say of that.
    said: Vec<String>,
}

impl TaskList {
    /// The list of the worktree this process runs in. `words` are how the command was called.
    pub(crate) fn here(words: &str) -> Result<Self, CommandError> {
        let repository = Repository::here()?;
        let ledger = repository.ledger()?;
        let caller = Caller::of(&repository.place, words);
        Ok(Self::of(repository, ledger, caller, None))
    }

    /// The list that a tool call over MCP is about.
    pub(crate) fn of_tool_call(call: Option<&ToolUseId>, tool: &str) -> Result<Self, CommandError> {
        let (repository, claim) = Repository::of_tool_call(call, tool)?;
        let ledger = repository.ledger()?;
        Ok(Self::of(repository, ledger, Caller::behind(claim), None))
    }

    /// The list of a worktree that an orchestrated run works in, which a human started. `ledger` is one that is open.
    pub(crate) fn of_run(place: Place, mark: &str, ledger: Option<Ledger>) -> Result<Self, CommandError> {
        let repository = Repository::at(place);
        let ledger = ledger.map_or_else(|| repository.ledger_as_it_is(), Ok)?;
        Ok(Self::of(repository, ledger, Caller::human(), Some(mark.to_owned())))
    }

    fn of(repository: Repository, ledger: Ledger, caller: Caller, mark: Option<String>) -> Self {
        let worktree = repository.place.worktree();
        Self { repository, ledger, worktree, caller, mark, tracker: None, said: Vec::new() }
    }

    pub(crate) fn into_ledger(self) -> Ledger {
        self.ledger
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn ledger_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }

    /// The checkout as the ledger names it.
    pub(crate) fn worktree(&self) -> &str {
        &self.worktree
    }

    pub(crate) fn place(&self) -> &Place {
        &self.repository.place
    }

    pub(crate) fn all(&self) -> Result<Vec<Task>, CommandError> {
        self.look(|ledger, plan| Ok(ledger.tasks(plan)?))
    }

    pub(crate) fn ready(&self) -> Result<Vec<Task>, CommandError> {
        self.look(|ledger, plan| Ok(ledger.ready(plan)?))
    }

    /// The task in progress, else the first that is ready.
    pub(crate) fn next(&self) -> Result<Option<Task>, CommandError> {
        let Some(view) = self.view()? else { return Ok(None) };
        match view.open.first() {
            Some(line) => Ok(Some(self.ledger.task(&view.id, &line.id)?)),
            None => Ok(None),
        }
    }

    pub(crate) fn find(&self, id: &TaskId) -> Result<Task, CommandError> {
        Ok(self.ledger.task(&self.plan_of(id)?, id)?)
    }

    /// Why each blocked task is.
    pub(crate) fn blocked(&self) -> Result<Vec<Blocked>, CommandError> {
        self.look(|ledger, plan| Ok(ledger.blocked(plan)?))
    }

    pub(crate) fn add(&mut self, new: impl FnOnce(AddedBy) -> NewTask) -> Result<Task, CommandError> {
        let now = surroundings::now();
        let new = new(self.caller.by);
        if new.title.is_empty() {
            return Err(CommandError::usage("a task needs a title, and this one is empty")
                .hint("`steadfast task add TITLE` says in one line what is to be done"));
        }
        let plan = match self.plan_of_loop()? {
            Some(plan) => plan,
            None => self.ledger.list_plan(&self.worktree, TITLE, self.caller.by, now)?,
        };
        let command = new.verify.as_ref().and_then(Check::as_command).map(str::to_owned);
        let frozen = freeze(&self.repository.place.root, command.as_deref())?;
        let task = self.ledger.add_task(&plan, new, now)?;
        self.ledger.freeze(&plan, &frozen, now)?;
        self.take(&plan, Claiming::UnlessHeld)?;
        Ok(task)
    }

    /// The plan of a loop that is worked on: what is added meanwhile belongs to it. What a run works off is its runner's.
    fn plan_of_loop(&self) -> Result<Option<PlanId>, CommandError> {
        let looped = self.ledger.unfinished_loop(&self.worktree)?;
        let at_work = looped.filter(|looped| matches!(looped.stage, Stage::Executing | Stage::Review));
        let Some(plan) = at_work.and_then(|looped| looped.plan) else { return Ok(None) };
        let is_free = self.ledger.run_of_plan(&plan)?.is_none();
        Ok(is_free.then_some(plan))
    }

    pub(crate) fn start(&mut self, id: &TaskId) -> Result<Changed, CommandError> {
        let task = self.find(id)?;
        self.is_nobodys(&task)?;
        if task.status == Status::Blocked && self.caller.is_agent() {
            return Err(only_a_human_unblocks(id));
        }
        self.may_build(id)?;
        if self.is_left_behind()? {
            self.ledger.give_up(&task.plan, surroundings::now())?;
        }
        self.take(&task.plan, Claiming::EvenIfHeld)?;
        let changed = self.ledger.start_task(&task.plan, id, &self.standing(&task))?;
        self.tell_owner(&changed)?;
        self.render_decisions();
        Ok(changed)
    }

    /// What a run works off is changed by its runner alone; while it is paused, by a human.
    fn is_nobodys(&self, task: &Task) -> Result<(), CommandError> {
        let Some(run) = self.ledger.run_of_plan(&task.plan)? else { return Ok(()) };
        if run.state == RunState::Paused && !self.caller.is_agent() {
            return Ok(());
        }
        Err(CommandError::refused(format!("task `{}` is worked off by run `{}`", task.id, run.id))
            .hint("`steadfast progress` shows how the run stands, `steadfast resume` goes on with it, `steadfast resume --give-up` ends it"))
    }

    /// Whether somebody else worked on the plan and is gone, not having put it down at a checkpoint.
    fn is_left_behind(&self) -> Result<bool, CommandError> {
        let Some(view) = self.view()? else { return Ok(false) };
        let Some(owner) = view.owner.filter(|owner| self.caller.session.as_ref().is_some_and(|own| own != owner))
        else {
            return Ok(false);
        };
        let gone = view.owner_ended.is_some() || is_gone(&SessionFiles::of(&self.repository.place, &owner));
        Ok(gone && view.brief.checkpoints == 0)
    }

    /// How a task stands as it is started.
    fn standing(&self, task: &Task) -> Started {
        let place = &self.repository.place;
        let files = match files::ids(&place.root, &task.files, files::ONE_TASK) {
            Fact::Known(ids) => ids,
            Fact::Unknown(_) | Fact::NotAsked => files::Ids::new(),
        };
        let needs_tree = task.files.is_empty() && task.verify == Some(Check::Changed);
        let tree = match needs_tree.then(|| files::tree(&place.root, &place.state)) {
            Some(Fact::Known(tree)) => Some(tree),
            _ => None,
        };
        let Caller { session, agent, .. } = &self.caller;
        Started { at: surroundings::now(), files, tree, session: session.clone(), agent: agent.clone() }
    }

    pub(crate) fn note(&mut self, id: &TaskId, line: &str) -> Result<Task, CommandError> {
        let line = line.trim();
        if line.is_empty() {
            return Err(CommandError::usage("a note says something, and this one is empty")
                .hint("`steadfast task note ID TEXT`"));
        }
        let plan = self.plan_of(id)?;
        Ok(self.ledger.note_task(&plan, id, line, surroundings::now())?)
    }

    pub(crate) fn block(&mut self, id: &TaskId, why: &str) -> Result<Changed, CommandError> {
        let why = why.trim();
        if why.is_empty() {
            return Err(CommandError::usage("a task is blocked by something: `--why` is empty")
                .hint("`steadfast task block ID --why REASON` says what a human has to see to"));
        }
        let task = self.find(id)?;
        self.is_nobodys(&task)?;
        self.take(&task.plan, Claiming::UnlessHeld)?;
        self.change(id, Status::Blocked, Some(why.to_owned()))
    }

    pub(crate) fn unblock(&mut self, id: &TaskId) -> Result<Changed, CommandError> {
        if self.caller.is_agent() {
            return Err(only_a_human_unblocks(id));
        }
        let task = self.find(id)?;
        if task.status != Status::Blocked {
            return Err(CommandError::failure(format!("task `{id}` is {}, not blocked", word(task.status)))
                .hint("`steadfast task list` shows where every task stands"));
        }
        self.change(id, Status::Pending, None)
    }

    /// What was done is not any more: its check fails on what is there now.
    pub(crate) fn reopen(&mut self, plan: &PlanId, id: &TaskId) -> Result<(), CommandError> {
        let change = StatusChange { to: Status::Pending, reason: None, fence: None, now: surroundings::now() };
        self.ledger.set_status(plan, id, change)?;
        Ok(())
    }

    fn change(&mut self, id: &TaskId, to: Status, reason: Option<String>) -> Result<Changed, CommandError> {
        let plan = self.plan_of(id)?;
        let now = surroundings::now();
        let changed = self.ledger.set_status(&plan, id, StatusChange { to, reason, fence: None, now })?;
        self.tell_owner(&changed)?;
        self.render_decisions();
        Ok(changed)
    }

    /// The owner's account learns of it: a closed task gives refusals back.
    fn tell_owner(&self, changed: &Changed) -> Result<(), CommandError> {
        if changed.from == changed.task.status {
            return Ok(());
        }
        let Some(owner) = self.view()?.and_then(|view| view.owner) else { return Ok(()) };
        // The ledger has it, and that is what counts. A session that was not told has less to spend, never more.
        if let Err(error) = self.tell(&owner, changed) {
            let line = format!("session {owner} was not told of task {}: {}", changed.task.id, error.message());
            log_line(&self.repository.place, surroundings::now(), &line);
        }
        Ok(())
    }

    fn tell(&self, owner: &SessionId, changed: &Changed) -> Result<(), CommandError> {
        let Some(state) = SessionFiles::of(&self.repository.place, owner).peek() else { return Ok(()) };
        let kind = EventKind::TaskChanged(TaskChanged {
            plan: changed.task.plan.clone(),
            task: changed.task.id.clone(),
            status: changed.task.status,
            earned: changed.earned,
        });
        let now = surroundings::now();
        // A subagent is held by what it started, not its session.
        let agent = self.caller.agent.clone().filter(|_| self.caller.session.as_ref() == Some(owner));
        let agent = agent.map(|id| Agent { id, agent_type: String::new() });
        let event = Event { agent, ..Event::plain(owner.clone(), state.host, self.worktree.clone(), now, kind) };
        step(&self.repository.place, &self.repository.config, event)?;
        Ok(())
    }

    /// A session that touches the tasks works on them.
    fn take(&mut self, plan: &PlanId, claiming: Claiming<'_>) -> Result<(), CommandError> {
        if let Some(session) = &self.caller.session {
            self.ledger.take_plan(plan, session, claiming, surroundings::now())?;
        }
        Ok(())
    }

    fn look<T>(
        &self,
        look: impl FnOnce(&Ledger, &PlanId) -> Result<Vec<T>, CommandError>,
    ) -> Result<Vec<T>, CommandError> {
        match self.view()? {
            Some(view) => look(&self.ledger, &view.id),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn view(&self) -> Result<Option<PlanView>, CommandError> {
        Ok(match &self.caller.session {
            Some(session) => self.ledger.plan_view_of(&self.worktree, session)?,
            None => self.ledger.plan_view(&self.worktree)?,
        })
    }

    /// The plan that a task is of. Beside the list of its host a session may have a plan of ours: what is not in the one
    /// that is worked on is in the other.
    fn plan_of(&self, id: &TaskId) -> Result<PlanId, CommandError> {
        let plan = self.plan()?;
        let Some(list) = self.caller.session.as_ref().map(HostList::plan) else { return Ok(plan) };
        let other =
            if plan == list { self.ledger.own_plan_view(&self.worktree)?.map(|view| view.id) } else { Some(list) };
        let has = |plan: &PlanId| self.ledger.task(plan, id).is_ok();
        Ok(other.filter(|other| !has(&plan) && has(other)).unwrap_or(plan))
    }

    fn plan(&self) -> Result<PlanId, CommandError> {
        self.view()?.map(|view| view.id).ok_or_else(|| {
            CommandError::failure("there are no tasks in this worktree").hint("`steadfast task add TITLE` adds one")
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn only_a_human_unblocks(id: &TaskId) -> CommandError {
    CommandError::refused(format!("task `{id}` is blocked, and only a human puts it back"))
        .hint(format!("a human runs `steadfast task unblock {id}`"))
}

/// A status as people read it.
pub(crate) fn word(status: Status) -> &'static str {
    match status {
        Status::InProgress => "in progress",
        other => other.as_str(),
    }
}
