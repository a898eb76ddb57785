//! Texts of the stop gate. For the agent: facts, ids first. For the human: what happened and where to look.

use steadfast_model::{
    Event, Host, Leased, LoopView, OnBranch, PlanView, State, Status, TaskFile, TaskLine, TaskLines,
};
use steadfast_text::{count, one_line, truncate};

/// The longest promise that is repeated, in characters.
const PROMISE: usize = 60;

/// The ways in which this session can continue.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    host: Host,
    attended: bool,
}

impl Ways {
    pub(super) fn of(state: &State, event: &Event) -> Self {
        Self { host: event.host, attended: state.attended }
    }

    /// Names the commands that close a task and set it aside.
    fn commands(self, task: &TaskLine, checked: bool) -> String {
        let id = &task.id;
        let closes = if checked { "closes it when its check passes" } else { "closes it" };
        // Only Claude Code has that dialog, and only in a session with a human, who reads this text, too.
        let asks = match self.host {
            Host::Claude if self.attended => ", the question dialog asks the user",
            Host::Claude | Host::Codex | Host::Sim => "",
        };
        // In Codex's sandbox the shell cannot write the ledger; the MCP server can.
        let tools = match self.host {
            Host::Codex => " The MCP tools `task_done` and `task_block` do the same where the shell is read-only.",
            Host::Claude | Host::Sim => "",
        };
        format!(
            "`steadfast task done {id}` {closes}, `steadfast task block {id} --why REASON` sets it aside{asks}.{tools}"
        )
    }
}

pub(super) fn how_many_open(plan: &PlanView) -> String {
    let (open, all) = (plan.counts.open(), plan.counts.all());
    if open == 1 { format!("1 of {all} tasks is open") } else { format!("{open} of {all} tasks are open") }
}

/// The open tasks and the next commands.
pub(super) fn open(plan: &PlanView, ways: Ways) -> String {
    let checked = plan.brief.current.as_ref().is_some_and(|current| current.check.is_some());
    let next = plan.open.first().map(|task| format!(" Next is {}. {}", task.id, ways.commands(task, checked)));
    format!("{}{}{}", how_many_open(plan), list(plan), next.unwrap_or_default())
}

/// For a promise of completion with open tasks.
pub(super) fn false_promise(plan: &PlanView, ways: Ways, wrote: &str) -> String {
    format!("You promised `{}`, but {}", truncate(&one_line(wrote), PROMISE), open(plan, ways))
}

/// For the human: why the session goes on.
pub(super) fn not_done(plan: &PlanView, promised: bool) -> String {
    let (open, all) = (plan.counts.open(), plan.counts.all());
    let tasks = if all == 1 { "task" } else { "tasks" };
    let what = if promised { "the agent promised completion, but" } else { "not done yet." };
    format!("Steadfast: {what} {open} of {all} {tasks} open{}", next(plan))
}

/// For the human, where the open tasks are not what holds the session.
pub(super) fn not_done_because(why: &str) -> String {
    format!("Steadfast: not done yet. {}", why.split_inclusive(". ").next().unwrap_or(why).trim_end())
}

/// `, next: 2 Test the rotation`
fn next(plan: &PlanView) -> String {
    let Some(task) = plan.open.first() else { return String::new() };
    let mut text = String::from(", next: ");
    title(&mut text, task);
    text
}

/// For the human, at the first refusal of a session.
pub(super) fn with_release(line: &str) -> String {
    format!("{}. `steadfast plan release` lets it stop.", line.trim_end_matches('.'))
}

/// For the human, at the start of a session: tasks that it may take.
pub(super) fn waiting_tasks(plan: &PlanView) -> String {
    let tasks = count(plan.counts.open(), "open task");
    let wait = if plan.counts.open() == 1 { "waits" } else { "wait" };
    format!("Steadfast: {tasks} {wait} here{}. To start, say: do the tasks", next(plan))
}

/// For the human, at the start of a session that works on them.
pub(super) fn continued_tasks(plan: &PlanView) -> String {
    format!("Steadfast: this session works on {}{}", count(plan.counts.open(), "open task"), next(plan))
}

/// For the human, at the start of a session with a plan that is not approved.
pub(super) fn unapproved_tasks(plan: &PlanView) -> String {
    format!(
        "Steadfast: {} of a plan that is not approved; `steadfast plan status` shows it",
        count(plan.counts.open(), "open task")
    )
}

/// For an agent that asked for the human while other tasks are open.
pub(super) fn set_aside(task: Option<&TaskLine>, rest: &PlanView, ways: Ways) -> String {
    let aside = task.map(|task| format!("{} is blocked until the user has answered. ", task.id)).unwrap_or_default();
    format!("{aside}{}", open(rest, ways))
}

/// For a turn that has to end with a promise after the last task.
pub(super) fn unpromised(plan: &PlanView, promise: &str) -> String {
    format!("All {} tasks are done. The turn ends with `<promise>{promise}</promise>`.", plan.counts.all())
}

/// For tasks that are all blocked, under settings that do not let the session stop then.
pub(super) fn all_blocked(plan: &PlanView) -> String {
    format!("{}. `steadfast task list` shows why.", left_blocked(plan))
}

/// Done tasks whose files changed since their checks passed.
pub(super) fn stale(stale: &TaskLines, promised: bool) -> String {
    let promise = if promised { "You promised completion, but " } else { "" };
    format!("{promise}{}. `steadfast task check` runs their checks again.", stale_tasks(stale))
}

fn stale_tasks(stale: &TaskLines) -> String {
    let are = if stale.all == 1 { "1 done task is stale" } else { &format!("{} done tasks are stale", stale.all) };
    format!("{are} (files changed since the check passed): {stale}")
}

pub(super) fn stale_note(stale: &TaskLines) -> String {
    format!(
        "Steadfast let this session stop as unverified, not complete: {}. `steadfast task check` runs the checks again.",
        stale_tasks(stale)
    )
}

pub(super) fn unverified_note(why: &str) -> String {
    format!(
        "Steadfast let this session stop as unverified: it could not compare the files of the done tasks in time \
         ({why}). `steadfast task check` runs the checks of stale tasks."
    )
}

pub(super) fn unmerged_note(on: &OnBranch) -> String {
    let OnBranch { branch, tasks } = on;
    let are = if *tasks == 1 { "1 task is" } else { &format!("{tasks} tasks are") };
    format!("Steadfast let this session stop as unmerged: {are} done on {branch}, which is not merged here.")
}

pub(super) fn needs_review_note(claimed: &TaskLines) -> String {
    let are = if claimed.all == 1 { "1 task was" } else { &format!("{} tasks were", claimed.all) };
    format!(
        "Steadfast let this session stop as needs review: {are} closed on the agent's word alone: {claimed}. \
         `steadfast task done ID --force` confirms one, `steadfast task start ID` opens it again."
    )
}

/// For a subagent with a task that it started and has not closed.
pub(super) fn subagent_task_open(task: &TaskLine, ways: Ways) -> String {
    let mut text = String::from("This agent started a task that is in progress: ");
    title(&mut text, task);
    // Subagents have no tool to ask the user.
    format!("{text}. {}", Ways { attended: false, ..ways }.commands(task, false))
}

/// `loop l-1a2b3c4d: stage executing, 2 of 2 tasks are done`
fn loop_line(looped: &LoopView) -> String {
    format!("loop {}: stage {}, {}", looped.id, looped.stage.as_str(), looped.standing)
}

/// The state of the loop, its next step, and the promise that makes it wait for a human.
pub(super) fn loop_unfinished(looped: &LoopView, promised: bool) -> String {
    let claim = if promised { "You promised completion, but the loop is not complete. " } else { "" };
    format!(
        "{claim}{}; next: {}. `<promise>BLOCKED - NEEDS USER</promise>` makes it wait for the user.",
        loop_line(looped),
        looped.next
    )
}

/// For the human.
pub(super) fn loop_not_done(looped: &LoopView) -> String {
    format!("Steadfast: not done yet. {}", loop_line(looped))
}

pub(super) fn loop_capped_note(looped: &LoopView, spent: &str) -> String {
    format!(
        "Steadfast stopped insisting after {spent}: {}; next: {}. The session counts as capped, not complete. Your next \
         message starts over.",
        loop_line(looped),
        looped.next
    )
}

pub(super) fn loop_waits_note(looped: &LoopView, why: &str) -> String {
    let stop = if why.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!(
        "Steadfast let this session stop as needs user: loop {} waits for you in stage {}: {why}{stop} Your next prompt \
         here, or `steadfast resume`, continues it.",
        looped.id,
        looped.stage.as_str()
    )
}

pub(super) fn loop_checkpoint_note(looped: &LoopView) -> String {
    format!(
        "Steadfast let this session stop as checkpoint: its context is full. {}; `steadfast resume` continues in a fresh \
         session.",
        loop_line(looped)
    )
}

/// For the human, once.
pub(super) fn loop_bound_note(looped: &LoopView) -> String {
    format!(
        "Steadfast: this session is bound to loop {} (stage {}) until it is complete. \"stop the loop\" releases it; \
         `steadfast loop archive` ends the loop.",
        looped.id,
        looped.stage.as_str()
    )
}

pub(super) fn capped_note(left: &str, spent: &str) -> String {
    format!(
        "Steadfast stopped insisting after {spent}: {left} (`steadfast task list`). The session counts as capped, not \
         complete. Your next message starts over."
    )
}

pub(super) fn all_blocked_note(plan: &PlanView, promised: bool) -> String {
    let claim = if promised { ", not complete as the agent promised" } else { "" };
    format!(
        "Steadfast let this session stop as all blocked{claim}: {}, {} done. `steadfast task list` shows why.",
        left_blocked(plan),
        plan.counts.done
    )
}

pub(super) fn needs_user_note(task: Option<&TaskLine>, rest: &PlanView, reason: &str) -> String {
    let waits = task.map(|task| {
        let mut line = String::from(" ");
        title(&mut line, task);
        format!("{line} waits for you; `steadfast task unblock {}` reopens it.", task.id)
    });
    let stop = if reason.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!(
        "Steadfast let this session stop as needs user: {reason}{stop}{} {}; `steadfast task list` shows them.",
        waits.unwrap_or_default(),
        how_many_open(rest)
    )
}

pub(super) fn checkpoint_note(plan: &PlanView) -> String {
    let stuck = match plan.brief.checkpoints {
        0 => "",
        _ => " No task was closed since the last checkpoint: tasks in progress count as stuck.",
    };
    format!(
        "Steadfast let this session stop as checkpoint: its context is full, {}.{stuck} `steadfast status` shows the \
         tasks, `steadfast resume` continues in a fresh session.",
        how_many_open(plan)
    )
}

pub(super) fn owned(plan: &PlanView) -> String {
    format!(
        "Steadfast holds the tasks of this session: {}{} `steadfast task list` shows all, `steadfast task done ID` \
         closes one. The turn can end when none is open.",
        how_many_open(plan),
        list(plan)
    )
}

/// One line for the human.
pub(super) fn bound_note(plan: &PlanView) -> String {
    let name = plan.brief.spec.as_deref().unwrap_or(&plan.title);
    format!(
        "Steadfast: this session is bound to {name} and does not stop while its tasks are open. `steadfast plan release` \
         ends that."
    )
}

pub(super) fn dismissed_note(plan: &PlanView) -> String {
    format!(
        "Steadfast let this session stop as released by the user, not complete: {}. The next order to work on them binds \
         it again.",
        how_many_open(plan)
    )
}

pub(super) fn elsewhere_note(plan: &PlanView, leased: &[Leased]) -> String {
    let tasks: Vec<String> =
        leased.iter().map(|lease| format!("{} in session {}", lease.task, lease.session)).collect();
    format!(
        "Steadfast let this session stop as yielded, not complete: {}, and other sessions work on all ready tasks: \
         {}.",
        how_many_open(plan),
        tasks.join(", ")
    )
}

/// For the agent: the task to which a written file belongs.
pub(super) fn whose_file(file: &TaskFile, bound: bool) -> String {
    let TaskFile { path, task } = file;
    let then = if bound {
        "After the user's go-ahead this session works on the plan: the turn can end when none of its tasks is open. \
         `steadfast task next` shows one."
            .to_owned()
    } else {
        format!("`steadfast task start {task}` takes it.")
    };
    format!("Steadfast: `{path}` belongs to the open task {task} of this worktree's plan. {then}")
}

/// For a plan that is not approved: facts, no orders.
pub(super) fn not_approved(plan: &PlanView) -> String {
    let drafted = match plan.counts.open() {
        1 => "1 task is drafted".to_owned(),
        open => format!("{open} tasks are drafted"),
    };
    format!("The plan is not approved. {drafted}: {}.", plan.title)
}

pub(super) fn offer(plan: &PlanView) -> String {
    format!(
        "Steadfast holds tasks for this worktree that no session works on: {}{} This session works on them only if the \
         user asks for that; `steadfast task start ID` takes them.",
        how_many_open(plan),
        list(plan)
    )
}

fn left_blocked(plan: &PlanView) -> String {
    let all = plan.counts.all();
    let left = all - plan.counts.done;
    if left == 1 { format!("1 of {all} tasks is blocked") } else { format!("{left} of {all} tasks are blocked") }
}

fn list(plan: &PlanView) -> String {
    let mut text = String::from(": ");
    for (index, task) in plan.open.iter().enumerate() {
        if index > 0 {
            text.push_str("; ");
        }
        line(&mut text, task);
    }
    let shown = u32::try_from(plan.open.len()).unwrap_or(u32::MAX);
    let more = plan.counts.open().saturating_sub(shown);
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text.push('.');
    text
}

pub(super) fn line(text: &mut String, task: &TaskLine) {
    title(text, task);
    if task.status == Status::InProgress {
        text.push_str(" (in progress)");
    }
}

fn title(text: &mut String, task: &TaskLine) {
    /// The longest title, in characters. Agents read a refusal many times, so it stays short.
    const TITLE: usize = 80;
    text.push_str(task.id.as_str());
    text.push(' ');
    text.push_str(&truncate(&task.title, TITLE));
}
