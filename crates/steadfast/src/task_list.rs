//! The tasks of this worktree, as commands and the MCP server work on them.

use serde_json::{Value, json};
use steadfast_hook::step;
use steadfast_model::{
    AddedBy, Check, Event, EventKind, PlanId, PlanView, SessionId, Status, Task, TaskChanged, TaskId, TaskType, ToolUseId,
};
use steadfast_store::ledger::{Blocked, Changed, Claiming, Ledger, NewTask, StatusChange};
use steadfast_store::{Place, SessionFiles, claim_of_call, find_claim, log_line};

use crate::caller::Caller;
use crate::error::CommandError;
use crate::repository::Repository;
use crate::surroundings;

/// What the plain list of a worktree is called.
const TITLE: &str = "tasks";

#[derive(Debug)]
pub(crate) struct TaskList {
    repository: Repository,
    ledger: Ledger,
    worktree: String,
    caller: Caller,
}

impl TaskList {
    /// The list of the worktree this process runs in. `words` are how the command was called.
    pub(crate) fn here(words: &str) -> Result<Self, CommandError> {
        let repository = Repository::here()?;
        let ledger = repository.ledger()?;
        let worktree = repository.place.worktree();
        let caller = Caller::of(&repository.place, words);
        Ok(Self { repository, ledger, worktree, caller })
    }

    /// The list that a tool call over MCP is about: of the worktree its session is in by now, which need not be the one
    /// the server was started in. A host that does not name its calls is taken at the newest claim of that tool, which
    /// may be another session's if both call it at once.
    pub(crate) fn of_tool_call(call: Option<&ToolUseId>, tool: &str) -> Result<Self, CommandError> {
        let started_in = Repository::here()?;
        let claim = match call {
            Some(call) => claim_of_call(&started_in.place, call),
            None => find_claim(&started_in.place, None, tool, surroundings::now()),
        };
        let user_state = surroundings::user_state();
        let place = claim.as_ref().and_then(|claim| Place::find(claim.cwd.as_ref(), user_state.as_deref()));
        let repository = place.map_or(started_in, Repository::at);
        let ledger = repository.ledger()?;
        let worktree = repository.place.worktree();
        Ok(Self { repository, ledger, worktree, caller: Caller::behind(claim) })
    }

    pub(crate) fn all(&self) -> Result<Vec<Task>, CommandError> {
        self.look(|ledger, plan| Ok(ledger.tasks(plan)?))
    }

    pub(crate) fn ready(&self) -> Result<Vec<Task>, CommandError> {
        self.look(|ledger, plan| Ok(ledger.ready(plan)?))
    }

    /// The task in progress, else the first that is ready.
    pub(crate) fn next(&self) -> Result<Option<Task>, CommandError> {
        let started = self.all()?.into_iter().find(|task| task.status == Status::InProgress);
        Ok(match started {
            Some(task) => Some(task),
            None => self.ready()?.into_iter().next(),
        })
    }

    pub(crate) fn find(&self, id: &TaskId) -> Result<Task, CommandError> {
        Ok(self.ledger.task(&self.plan()?, id)?)
    }

    /// Why each blocked task is.
    pub(crate) fn blocked(&self) -> Result<Vec<Blocked>, CommandError> {
        self.look(|ledger, plan| Ok(ledger.blocked(plan)?))
    }

    pub(crate) fn add(&mut self, new: impl FnOnce(AddedBy) -> NewTask) -> Result<Task, CommandError> {
        let now = surroundings::now();
        let new = new(self.caller.by);
        if new.title.is_empty() {
            return Err(CommandError::usage("a task needs a title, and this one is empty"));
        }
        let plan = self.ledger.list_plan(&self.worktree, TITLE, self.caller.by, now)?;
        let task = self.ledger.add_task(&plan, new, now)?;
        self.take(&plan, Claiming::UnlessHeld)?;
        Ok(task)
    }

    pub(crate) fn start(&mut self, id: &TaskId) -> Result<Changed, CommandError> {
        let task = self.find(id)?;
        if task.status == Status::Blocked && self.caller.is_agent() {
            return Err(only_a_human_unblocks(id));
        }
        self.take(&task.plan, Claiming::EvenIfHeld)?;
        if task.status == Status::Done {
            self.change(id, Status::Pending, None)?;
        }
        self.change(id, Status::InProgress, None)
    }

    pub(crate) fn done(&mut self, id: &TaskId) -> Result<Changed, CommandError> {
        let task = self.find(id)?;
        if task.status == Status::Blocked && self.caller.is_agent() {
            return Err(only_a_human_unblocks(id));
        }
        self.take(&task.plan, Claiming::UnlessHeld)?;
        if task.status == Status::Blocked {
            self.change(id, Status::InProgress, None)?;
        }
        self.change(id, Status::Done, None)
    }

    pub(crate) fn block(&mut self, id: &TaskId, why: &str) -> Result<Changed, CommandError> {
        let why = why.trim();
        if why.is_empty() {
            return Err(CommandError::usage("a task is blocked by something: `--why` is empty"));
        }
        self.take(&self.plan()?, Claiming::UnlessHeld)?;
        self.change(id, Status::Blocked, Some(why.to_owned()))
    }

    /// One line for the task, one for what is left: the agent that changed it reads this.
    pub(crate) fn report(&self, changed: &Changed) -> Result<String, CommandError> {
        let Changed { task, .. } = changed;
        let mut text = format!("{} {}: {}", task.id, task.title, word(task.status));
        if let Some(view) = self.view()? {
            let PlanView { counts, open, .. } = view;
            let (done, all) = (counts.done, counts.all());
            text += &format!("\n{done} of {all} tasks done, {} open, {} blocked.", counts.open(), counts.blocked);
            if let Some(next) = open.first().filter(|next| next.id != task.id) {
                text += &format!(" Next is {} {}.", next.id, next.title);
            }
        }
        Ok(text)
    }

    pub(crate) fn unblock(&mut self, id: &TaskId) -> Result<Changed, CommandError> {
        if self.caller.is_agent() {
            return Err(only_a_human_unblocks(id));
        }
        let task = self.find(id)?;
        if task.status != Status::Blocked {
            return Err(CommandError::failure(format!("task `{id}` is {}, not blocked", word(task.status))));
        }
        self.change(id, Status::Pending, None)
    }

    fn change(&mut self, id: &TaskId, to: Status, reason: Option<String>) -> Result<Changed, CommandError> {
        let plan = self.plan()?;
        let now = surroundings::now();
        let changed = self.ledger.set_status(&plan, id, StatusChange { to, reason, fence: None, now })?;
        if changed.from != to
            && let Some(owner) = self.view()?.and_then(|view| view.owner)
        {
            // The ledger has it, and that is what counts. A session that was not told has less to spend, never more.
            if let Err(error) = self.tell(&owner, plan, &changed) {
                let line = format!("session {owner} was not told of task {id}: {error}");
                log_line(&self.repository.place, now, &line);
            }
        }
        Ok(changed)
    }

    /// The owner's account learns of it: a closed task gives refusals back.
    fn tell(&self, owner: &SessionId, plan: PlanId, changed: &Changed) -> Result<(), CommandError> {
        let Some(state) = SessionFiles::of(&self.repository.place, owner).peek() else { return Ok(()) };
        let kind = EventKind::TaskChanged(TaskChanged {
            plan,
            task: changed.task.id.clone(),
            status: changed.task.status,
            earned: changed.earned,
        });
        let now = surroundings::now();
        let event = Event::plain(owner.clone(), state.host, self.worktree.clone(), now, kind);
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
        Ok(self.ledger.plan_view(&self.worktree)?)
    }

    fn plan(&self) -> Result<PlanId, CommandError> {
        self.view()?.map(|view| view.id).ok_or_else(|| {
            CommandError::failure("there are no tasks in this worktree").hint("`steadfast task add TITLE` adds one")
        })
    }
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

/// Tasks in the shape that `task list --json` and the MCP tools share.
pub(crate) fn to_json(tasks: &[Task]) -> Value {
    let tasks: Vec<Value> = tasks
        .iter()
        .map(|task| {
            // Nothing checks a task of a plain list: who closes it claims that it is done.
            let evidence = (task.status == Status::Done)
                .then(|| json!({"class": "claimed", "exit": null, "at": task.updated_at, "stale": false}));
            json!({
                "id": task.id,
                "title": task.title,
                "kind": task.kind,
                "type": task.task_type.map(TaskType::as_str),
                "phase": task.phase,
                "status": task.status,
                "files": task.files,
                "verify": task.verify.as_ref().and_then(Check::as_command),
                "check": task.verify.as_ref().map(Check::as_str),
                "blocked_by": task.blocked_by,
                "stuck_count": task.stuck_count,
                "evidence": evidence,
            })
        })
        .collect();
    json!({ "tasks": tasks })
}
