use std::collections::BTreeSet;
use std::time::Duration;

use clap::{Args, Subcommand};
use steadfast_hosts::Sandbox;
use steadfast_model::{Check, Status, Task as LedgerTask, TaskId};
use steadfast_store::ledger::NewTask;
use steadfast_text::{HANG, one_line, pad};
use steadfast_work::history::{cut, short_length};
use steadfast_work::liveness::note_killed_owner;
use steadfast_work::task_list::{CloseOptions, PATIENCE, Rechecked, TaskList};
use steadfast_work::tracker::COMMAND;

use crate::duration;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put_laid_out, tell};
use crate::report;
use crate::terminal::{self, Column, Spinner, Table};

/// Add, start, check and close the tasks of this worktree.
#[derive(Debug, Args)]
pub(super) struct TaskCommand {
    #[command(subcommand)]
    task: Task,
    /// Print JSON with stable keys: `{tasks: [{id, title, kind, type, phase, status, verify, verified_by, blocked_by,
    /// stuck_count, tags, evidence}]}`. `verified_by`: the generated task that runs `verify`.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Task {
    /// Add a task.
    Add(Add),
    /// List all tasks.
    List,
    /// List the tasks that can start now.
    Ready,
    /// Show the next task to do.
    Next,
    /// Show one task.
    Show {
        /// Task id, such as 2 or 2.1.
        id: String,
    },
    /// Start a task, and bind this session to the task list.
    Start {
        /// Task id, such as 2 or 2.1.
        id: String,
    },
    /// Run the check of a task, and close the task if the check passes.
    Done(Done),
    /// Rerun each distinct check of the done tasks whose files changed.
    Check {
        #[command(flatten)]
        patience: Patience,
    },
    /// Wait for the running check of a task.
    Wait {
        /// Task id, such as 2 or 2.1.
        id: String,
        #[command(flatten)]
        patience: Patience,
    },
    /// Add a note to a task.
    Note {
        /// Task id, such as 2 or 2.1.
        id: String,
        /// Text of the note.
        text: String,
    },
    /// Block a task that cannot continue.
    Block {
        /// Task id, such as 2 or 2.1.
        id: String,
        /// Reason for the block.
        #[arg(long, value_name = "REASON")]
        why: String,
    },
    /// Unblock a task.
    Unblock {
        /// Task id, such as 2 or 2.1.
        id: String,
    },
}

#[derive(Debug, Default, Args)]
pub(super) struct Add {
    /// The task, in one line.
    pub(super) title: String,
    /// Task id. [default: the next free number]
    #[arg(long)]
    pub(super) id: Option<String>,
    /// Related file. May be given several times.
    #[arg(long = "file", value_name = "PATH")]
    pub(super) files: Vec<String>,
    /// Task that must be done first. May be given several times.
    #[arg(long = "after", value_name = "ID")]
    pub(super) after: Vec<String>,
    /// Command that proves the task done by exiting with 0.
    #[arg(long, value_name = "COMMAND")]
    pub(super) verify: Option<String>,
}

#[derive(Debug, Default, Args)]
pub(super) struct Done {
    /// Task id, such as 2 or 2.1.
    pub(super) id: String,
    /// Picture that proves the task done, taken after the change.
    #[arg(long, value_name = "FILE")]
    pub(super) artifact: Option<std::path::PathBuf>,
    /// Close the task without its check.
    #[arg(long, conflicts_with_all = ["artifact", "accept_check"])]
    pub(super) force: bool,
    /// Accept the commands that the check runs now.
    #[arg(long)]
    pub(super) accept_check: bool,
    #[command(flatten)]
    pub(super) patience: Patience,
}

#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct Patience {
    /// Time to wait for the check: `90s`, `10m`; the check continues after that. [default: 90s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_seconds)]
    wait: Option<Duration>,
}

impl Patience {
    fn time(self) -> Duration {
        self.wait.unwrap_or(PATIENCE)
    }
}

impl TaskCommand {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let Self { task, json } = self;
        let mut list = here::task_list(&task.words())?;
        list.follow(COMMAND);
        note_lines(&mut list);
        match task {
            Task::List => show(&list, &list.all()?, json)?,
            Task::Ready => show(&list, &list.ready()?, json)?,
            Task::Next => show_one(&list, list.next()?, json)?,
            Task::Show { id } => {
                let task = list.find(&TaskId::new(id))?;
                show_one(&list, Some(task), json)?;
            }
            change => {
                let is_check = matches!(change, Task::Check { .. });
                let waiting = change.waits_for().map(Spinner::start);
                // No sandbox: if the shell of this command runs in one, so does the check.
                let performed = change.perform(&mut list, None);
                drop(waiting);
                if is_check {
                    // The tracker must learn of closed and reopened tasks even if the command fails.
                    list.tell_tracker();
                    note_lines(&mut list);
                }
                let Performed { text, tasks } = performed?;
                if json {
                    let tasks = tasks.iter().map(|id| list.find(id)).collect::<Result<Vec<_>, _>>()?;
                    show(&list, &tasks, json)?;
                } else {
                    tell!("{text}")?;
                }
            }
        }
        list.tell_tracker();
        note_lines(&mut list);
        Ok(())
    }
}

/// What a change did.
#[derive(Debug)]
pub(super) struct Performed {
    pub(super) text: String,
    tasks: Vec<TaskId>,
}

impl Performed {
    fn of(text: String, task: &TaskId) -> Self {
        Self { text, tasks: vec![task.clone()] }
    }
}

impl Task {
    /// Changes the list for a command or an MCP tool, and returns a report. Checks run in `sandbox`.
    pub(super) fn perform(self, list: &mut TaskList, sandbox: Option<Sandbox>) -> Result<Performed, CommandError> {
        let (text, id) = match self {
            Self::Add(Add { title, id, files, after, verify }) => {
                let task = list.add(|added_by| NewTask {
                    id: id.map(TaskId::new),
                    files,
                    blocked_by: after.into_iter().map(TaskId::new).collect(),
                    verify: verify.map(Check::command),
                    ..NewTask::new(title.trim(), added_by)
                })?;
                return Ok(Performed::of(report::added(&task), &task.id));
            }
            Self::Start { id } => {
                let started = list.start(&TaskId::new(&id))?;
                (report::started(list, &started)?, id)
            }
            Self::Done(Done { id, artifact, force, accept_check, patience }) => {
                let asked = CloseOptions { artifact, force, accept_check, patience: patience.time(), sandbox };
                let closing = list.done(&TaskId::new(&id), &asked)?;
                (report::closing(list, &closing)?, id)
            }
            Self::Check { patience } => {
                let all =
                    list.check_stale(&CloseOptions { patience: patience.time(), sandbox, ..CloseOptions::default() })?;
                return Ok(Performed { text: report::rechecked(&all)?, tasks: renewed(&all) });
            }
            Self::Wait { id, patience } => {
                let closing = list.wait(&TaskId::new(&id), patience.time())?;
                (report::closing(list, &closing)?, id)
            }
            Self::Note { id, text } => {
                let task = list.note(&TaskId::new(&id), &text)?;
                (format!("{} {}: noted", task.id, task.title), id)
            }
            Self::Block { id, why } => {
                let changed = list.block(&TaskId::new(&id), &why)?;
                (report::changed(list, &changed)?, id)
            }
            Self::Unblock { id } => {
                let changed = list.unblock(&TaskId::new(&id))?;
                (report::changed(list, &changed)?, id)
            }
            Self::List | Self::Ready | Self::Next | Self::Show { .. } => {
                return Ok(Performed { text: String::new(), tasks: Vec::new() });
            }
        };
        Ok(Performed::of(text, &TaskId::new(id)))
    }

    /// What this call may wait for.
    fn waits_for(&self) -> Option<String> {
        match self {
            Self::Done(Done { force: true, .. }) => None,
            Self::Done(Done { id, .. }) | Self::Wait { id, .. } => Some(format!("running the check of task {id}")),
            Self::Check { .. } => Some("running the checks of the stale tasks".to_owned()),
            _ => None,
        }
    }

    /// The words of this call that a claim compares.
    fn words(&self) -> String {
        match self {
            Self::Add(_) => "task add".into(),
            Self::List => "task list".into(),
            Self::Ready => "task ready".into(),
            Self::Next => "task next".into(),
            Self::Show { id } => format!("task show {id}"),
            Self::Start { id } => format!("task start {id}"),
            Self::Done(Done { id, .. }) => format!("task done {id}"),
            Self::Check { .. } => "task check".into(),
            Self::Wait { id, .. } => format!("task wait {id}"),
            Self::Note { id, .. } => format!("task note {id}"),
            Self::Block { id, .. } => format!("task block {id}"),
            Self::Unblock { id } => format!("task unblock {id}"),
        }
    }
}

/// The columns of the longest state.
const STATE: usize = "in progress".len();

fn show(list: &TaskList, tasks: &[LedgerTask], json: bool) -> Result<(), CommandError> {
    if json {
        tell!("{}", report::tasks_json(list, tasks)?)?;
        return Ok(());
    }
    if tasks.is_empty() {
        note!("no tasks");
        return Ok(());
    }
    let reasons = list.blocked()?;
    let gone = gone_owner(list)?;
    // What is done holds nothing up.
    let closed: BTreeSet<TaskId> =
        list.all()?.into_iter().filter(|task| task.status.is_closed()).map(|task| task.id).collect();
    let evidence = report::evidence_words(list, tasks)?;
    let mut table = Table::new(&[
        Column::whole("ID", 9),
        Column::whole("STATE", 8),
        Column::text("TASK", 7, 24),
        Column::text("FILES", 1, 12),
        Column::text("NOTE", 4, 16),
    ]);
    for (index, task) in tasks.iter().enumerate() {
        let files = if task.files.is_empty() { String::new() } else { format!("[{}]", task.files.join(", ")) };
        let after: Vec<&str> = task.blocked_by.iter().filter(|id| !closed.contains(*id)).map(TaskId::as_str).collect();
        let waits = !after.is_empty() && !task.status.is_closed();
        let reason = reasons.iter().find(|blocked| blocked.task == task.id).and_then(|blocked| blocked.reason.clone());
        let notes = [
            waits.then(|| format!("(after {})", after.join(", "))),
            reason.filter(|_| task.status == Status::Blocked).map(|reason| format!("({reason})")),
            gone.clone().filter(|_| task.status == Status::InProgress),
            evidence.get(index).cloned().flatten().map(|evidence| format!("({evidence})")),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        let id = terminal::strong(task.id.as_str());
        let state = pad(&report::state(task.status), STATE);
        table.row([id, state, one_line(&task.title), files, one_line(&notes.join("  "))]);
    }
    put_laid_out(&table.text()).map(|_| ())
}

/// The end of the session that is bound to the plan, for its tasks in progress: nobody works on them now.
fn gone_owner(list: &TaskList) -> Result<Option<String>, CommandError> {
    let Some(mut plan) = list.view()? else { return Ok(None) };
    note_killed_owner(list.place(), &mut plan);
    let (owner, end) = (plan.owner.as_ref(), plan.owner_ended.as_ref());
    Ok(owner.zip(end).map(|(owner, end)| {
        let short = cut(owner.as_str(), short_length([owner]));
        format!("(session {short} is gone: {})", end.reason)
    }))
}

/// The tasks whose checks passed again.
fn renewed(all: &[Rechecked]) -> Vec<TaskId> {
    let tasks = all.iter().filter_map(|one| match one {
        Rechecked::Renewed { tasks, .. } => Some(tasks.clone()),
        _ => None,
    });
    tasks.flatten().collect()
}

/// Prints one task with its details.
fn show_one(list: &TaskList, task: Option<LedgerTask>, json: bool) -> Result<(), CommandError> {
    show(list, task.as_slice(), json)?;
    match task {
        Some(task) if !json => {
            for line in report::details(list, &task)? {
                tell!("   {HANG}{line}")?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Prints the messages about the tracker.
fn note_lines(list: &mut TaskList) {
    list.take_lines().iter().for_each(|line| note!("{line}"));
}
