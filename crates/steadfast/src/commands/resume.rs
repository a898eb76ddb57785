use std::os::unix::process::CommandExt;

use clap::Args;
use steadfast_hook::is_gone;
use steadfast_hosts::launch::{self, Launch, Unattended};
use steadfast_model::{Host, Loop, LoopView, PlanView, Run, Stage};
use steadfast_runner::preflight::NotReady;
use steadfast_runner::{lifecycle, loop_run};
use steadfast_store::SessionFiles;
use steadfast_text::{and_more, count_of, printable, quote};
use steadfast_work::Repository;
use steadfast_work::loops::Loops;
use steadfast_work::task_list::TaskList;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

use super::Unasked;
use super::run::{self, Flags};

/// Continue a run, a loop or a plan.
///
/// Continues the run or the loop of this worktree, or its plan in a new session.
#[derive(Debug, Args)]
pub(super) struct Resume {
    /// Run id. [default: the last unfinished run of this worktree]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// End the run instead: remove its worktrees, and keep its branch with the finished work.
    #[arg(long)]
    give_up: bool,
    #[command(flatten)]
    _unasked: Unasked,
    #[command(flatten)]
    flags: Flags,
    /// Start the session without a human: `claude -p`, `codex exec`.
    #[arg(long)]
    headless: bool,
    /// Print the command, and start nothing.
    #[arg(long)]
    print: bool,
}

impl Resume {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let looped = repository.ledger()?.unfinished_loop(&repository.place.worktree())?;
        let looped = looped.filter(|_| self.run.is_none());
        if let Some(looped) = looped.clone().filter(loop_run::is_headless) {
            return if self.print {
                print_loop(&looped)
            } else if self.give_up {
                run::give_up_loop(&repository, &looped)
            } else {
                run::resume_loop(&repository, looped, &self.flags)
            };
        }
        if let Some(row) = lifecycle::find(&repository, self.run.as_deref())? {
            if row.state.is_over() {
                return Err(CommandError::failure(format!("run {} is over", row.id))
                    .hint(format!("its work is on {}; `steadfast run SPEC` starts another", row.branch)));
            }
            return if self.print {
                print_run(&row)
            } else if self.give_up {
                run::give_up(&repository, &row)
            } else {
                run::resume(&repository, row, &self.flags)
            };
        }
        match looped {
            Some(looped) if self.give_up && !self.print => run::give_up_loop(&repository, &looped),
            looped => self.in_session(looped),
        }
    }

    fn in_session(self, looped: Option<Loop>) -> Result<(), CommandError> {
        if self.flags.host == Some(Host::Sim) {
            return Err(CommandError::usage("the simulated agent works only in runs")
                .hint("`steadfast run SPEC --host sim` starts a run; a session needs `claude` or `codex`"));
        }
        let list = here::task_list("resume")?;
        let (place, ledger) = (list.place(), list.ledger());
        let view = list.view()?;
        let plan = view.as_ref().filter(|plan| !plan.open.is_empty());
        if let Some(looped) = looped.as_ref().filter(|_| self.flags.limits.are_given() && !self.print) {
            Loops::of(list.repository())?.set_limits(looped, self.flags.limits.of_loop(looped.limits))?;
        }
        let looped = if looped.is_some() { Loops::of(list.repository())?.view()? } else { None };
        let is_stuck = |looped: &LoopView| looped.stage == Stage::Executing && looped.counts.blocked > 0;
        if plan.is_none() && looped.as_ref().is_none_or(is_stuck) {
            return Err(nothing_open(&list, view.as_ref(), looped.as_ref())?);
        }
        if plan.is_some() {
            list.may_resume()?;
        }
        if let Some(PlanView { owner: Some(owner), owner_ended: None, .. }) = plan
            && !is_gone(&SessionFiles::of(place, owner))
            && !self.print
        {
            note!(
                "session {owner} may still be open and is bound to the plan, too: the open tasks block the stop of both, and \
                 neither takes over a task that the other started"
            );
        }
        let of_loop = looped.as_ref().and_then(|looped| looped.session.as_ref());
        let last = plan.and_then(|plan| plan.owner.as_ref()).or(of_loop).and_then(|owner| {
            ledger.sessions().ok()?.into_iter().find(|session| session.id == *owner).map(|session| session.host)
        });
        let host = self.flags.host.or(last.filter(|host| *host != Host::Sim)).unwrap_or(Host::Claude);
        let unattended = if self.headless { Some(unattended(list.repository())?) } else { None };
        let launch = launch::go_on(host, &prompt(plan, looped.as_ref()), unattended.as_ref());
        drop(list);
        if self.print {
            tell!("{}", shown(&launch))?;
            return Ok(());
        }
        start(&launch)
    }
}

/// The permissions of a session without a human: those of an agent in a run.
fn unattended(repository: &Repository) -> Result<Unattended, CommandError> {
    let settings = repository.config.load()?.run;
    let steadfast = std::env::current_exe().map_err(NotReady::NoProgram)?;
    Ok(Unattended { permissions: settings.permissions.value.into(), steadfast, extra: settings.arguments.value })
}

/// Prints this very command: it continues a loop without a session.
fn print_loop(looped: &Loop) -> Result<(), CommandError> {
    note!("loop {} continues in stage {}: {}", looped.id, looped.stage.as_str(), looped.request);
    tell!("steadfast resume")
}

fn print_run(row: &Run) -> Result<(), CommandError> {
    let why = row.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    note!("run {} of {} is {}{why}", row.id, row.spec, row.state.as_str());
    tell!("steadfast resume --run {}", row.id)
}

/// The error if nothing can continue, with the blocked tasks and the number of tasks that depend on them.
fn nothing_open(
    list: &TaskList,
    plan: Option<&PlanView>,
    looped: Option<&LoopView>,
) -> Result<CommandError, CommandError> {
    const SHOWN: usize = 6;
    let blocked = list.blocked()?;
    if blocked.is_empty() {
        return Ok(CommandError::failure("nothing to continue: no task is open in this worktree")
            .hint("`steadfast plan load SPEC.md` loads a plan; `steadfast status` shows tasks and sessions"));
    }
    let named = blocked.iter().map(|blocked| {
        let why = blocked.reason.as_deref().map(|why| format!(" ({})", printable(why))).unwrap_or_default();
        format!("{}{why}", blocked.task)
    });
    let named = and_more(named, SHOWN);
    let waiting = match plan.map(|plan| plan.counts.open()) {
        None | Some(0) => String::new(),
        Some(open) => {
            format!("; {} on them", count_of(open, "task depends", "tasks depend"))
        }
    };
    let of_loop = looped.map(|looped| format!("loop {} (stage {}): ", looped.id, looped.stage.as_str()));
    let tasks = count_of(blocked.len(), "task is", "tasks are");
    let said = format!("nothing to continue: {}{tasks} blocked: {named}{waiting}", of_loop.unwrap_or_default());
    let error = CommandError::needs_human(said)
        .hint(format!("`steadfast task unblock {}` reopens it; `steadfast task list` shows all", blocked[0].task));
    Ok(match looped {
        Some(_) => error.hint("`steadfast loop advance review` continues without them"),
        None => error,
    })
}

/// Names the loop and the plan, so that the session is bound to them. The hook adds the rest to its context at the start.
fn prompt(plan: Option<&PlanView>, looped: Option<&LoopView>) -> String {
    let next = plan.and_then(|plan| plan.open.first());
    let next = next.map(|task| format!(" Next is {} {}.", task.id, task.title)).unwrap_or_default();
    match (looped, plan) {
        (Some(looped), plan) => {
            let of_plan = plan.map(|plan| format!(" and the plan \"{}\"", plan.title)).unwrap_or_default();
            let next = if next.is_empty() { format!(" Next: {}.", looped.next) } else { next };
            format!(
                "Go on with the loop {}{of_plan}: stage {}, {}.{next}",
                looped.id,
                looped.stage.as_str(),
                looped.standing
            )
        }
        (None, Some(plan)) => {
            let (done, all) = (plan.counts.done, plan.counts.all());
            format!("Go on with the plan \"{}\": {done} of {all} tasks are done.{next}", plan.title)
        }
        (None, None) => String::new(),
    }
}

fn shown(launch: &Launch) -> String {
    let words = launch.args.iter().map(|word| quote(&word.to_string_lossy()));
    let program = launch.program.to_string_lossy().into_owned();
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

/// Replaces this process with the host, which takes over its terminal, its signals and its exit code.
fn start(launch: &Launch) -> Result<(), CommandError> {
    let error = steadfast_system::program(&launch.program).args(&launch.args).exec();
    Err(CommandError::failure(format!("cannot start `{}`: {error}", launch.program.display()))
        .hint("install it, or choose another host with `--host`; `--print` shows the command"))
}
