use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use steadfast_hook::is_gone;
use steadfast_hosts::launch::{self, Launch, Unattended};
use steadfast_model::{Host, Loop, PlanView, Run};
use steadfast_runner::preflight::NotReady;
use steadfast_runner::{lifecycle, loop_run};
use steadfast_store::SessionFiles;
use steadfast_work::Repository;

use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

use super::run::{self, Flags};

/// Goes on with the run of this worktree, or with its plan in a new session.
#[derive(Debug, Args)]
pub(super) struct Resume {
    /// Which run. [default: the last one of this worktree that is not over]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// End the run instead: its worktrees go, its branch stays with what was done.
    #[arg(long)]
    give_up: bool,
    #[command(flatten)]
    flags: Flags,
    /// Without a human: `claude -p`, `codex exec`.
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
        if let Some(looped) = looped.filter(|looped| self.run.is_none() && loop_run::is_headless(looped)) {
            return if self.print {
                print_loop(&looped)
            } else if self.give_up {
                run::give_up_loop(&repository, &looped)
            } else {
                run::go_on_with_loop(&repository, looped, &self.flags)
            };
        }
        if let Some(row) = lifecycle::find(&repository, self.run.as_deref())? {
            if row.state.is_over() {
                return Err(CommandError::failure(format!("run {} is over", row.id))
                    .hint(format!("what it did is on {}; `steadfast run SPEC` begins another", row.branch)));
            }
            return if self.print {
                print_run(&row)
            } else if self.give_up {
                run::give_up(&repository, &row)
            } else {
                run::go_on(&repository, row, &self.flags)
            };
        }
        self.in_session()
    }

    fn in_session(self) -> Result<(), CommandError> {
        if self.flags.host == Some(Host::Sim) {
            return Err(CommandError::usage("the simulated agent works in runs alone")
                .hint("`steadfast run SPEC --host sim` begins one; a session is `claude` or `codex`"));
        }
        let list = here::task_list("resume")?;
        let (place, ledger) = (list.place(), list.ledger());
        let plan = list.view()?.filter(|plan| plan.counts.open() > 0);
        let Some(plan) = plan else {
            return Err(CommandError::failure("there is nothing to go on with: no task is open in this worktree")
                .hint("`steadfast plan load SPEC.md` loads a plan; `steadfast status` shows what there is"));
        };
        list.may_resume()?;
        if let (Some(owner), None) = (&plan.owner, &plan.owner_ended)
            && !is_gone(&SessionFiles::of(place, owner))
            && !self.print
        {
            note!(
                "session {owner} may still be open and is bound to the plan too: both are held to its tasks, and neither \
                 takes over what the other has started"
            );
        }
        let last = plan.owner.as_ref().and_then(|owner| {
            ledger.sessions().ok()?.into_iter().find(|session| session.id == *owner).map(|session| session.host)
        });
        let host = self.flags.host.or(last.filter(|host| *host != Host::Sim)).unwrap_or(Host::Claude);
        let unattended = if self.headless { Some(unattended(list.repository())?) } else { None };
        let launch = launch::go_on(host, &prompt(&plan), unattended.as_ref());
        drop(list);
        if self.print {
            tell!("{}", shown(&launch))?;
            return Ok(());
        }
        start(&launch)
    }
}

/// What a session without a human may do: as much as an agent of a run.
fn unattended(repository: &Repository) -> Result<Unattended, CommandError> {
    let settings = repository.config.load()?.run;
    let steadfast = std::env::current_exe().map_err(NotReady::NoProgram)?;
    Ok(Unattended { permissions: settings.permissions.value.into(), steadfast, extra: settings.arguments.value })
}

/// A loop without a session is gone on with by this very command.
fn print_loop(looped: &Loop) -> Result<(), CommandError> {
    note!("loop {} goes on in the stage {}: {}", looped.id, looped.stage.as_str(), looped.request);
    tell!("steadfast resume")
}

fn print_run(row: &Run) -> Result<(), CommandError> {
    let why = row.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    note!("run {} of {} is {}{why}", row.id, row.spec, row.state.as_str());
    tell!("steadfast resume --run {}", row.id)
}

/// Names the plan, so that the session takes it; the rest is put into its context when it starts.
fn prompt(plan: &PlanView) -> String {
    let next = plan.open.first().map(|task| format!(" Next is {} {}.", task.id, task.title)).unwrap_or_default();
    format!(
        "Go on with the plan \"{}\": {} of {} tasks are done.{next}",
        plan.title,
        plan.counts.done,
        plan.counts.all()
    )
}

fn shown(launch: &Launch) -> String {
    let words = launch.args.iter().map(|word| {
        let word = word.to_string_lossy();
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=".contains(c));
        if is_plain { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    let program = launch.program.to_string_lossy().into_owned();
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

/// The host takes this process's place: its terminal, its signals, its exit code.
#[expect(clippy::disallowed_methods, reason = "starting the host is what this command is for")]
fn start(launch: &Launch) -> Result<(), CommandError> {
    let error = Command::new(&launch.program).args(&launch.args).exec();
    Err(CommandError::failure(format!("cannot start `{}`: {error}", launch.program.display()))
        .hint("install it, or name another with `--host`; `--print` shows the command"))
}
