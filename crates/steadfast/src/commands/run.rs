//! Runs agents on a spec: each unit of work gets its own worktree, is checked, merged and recorded.

mod console;
mod display;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use steadfast_model::{Host, Limits, Loop, PlanId, Run as RunRow, RunSettings};
use steadfast_runner::lifecycle::{self, Leg};
use steadfast_runner::loop_run::{self, Passed, Wishes};
use steadfast_runner::preflight::{self, Ready, preflight};
use steadfast_runner::run::{RunOutcome, Until};
use steadfast_runner::source::{RunSource, report_to_tracker};
use steadfast_text::and_more;
use steadfast_work::{Repository, spec_file};

use crate::error::CommandError;
use crate::here;
use crate::limit::LimitFlags;
use crate::output::{note, tell};
use crate::report;
use console::Terminal;
use display::Display;

/// Run agents on a spec, and merge their checked work.
///
/// Each unit of work runs in its own git worktree, and starts as soon as the units that it depends on are merged. Your
/// branch and your uncommitted changes stay as they are; the result is on a separate branch. Ctrl-C pauses the run.
/// `steadfast resume` continues it, after a crash too, and repeats no finished work.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// SPEC.md or SPEC.json, or a request in words, for which an agent writes the spec.
    #[arg(value_name = "SPEC", required_unless_present = "epic")]
    what: Option<PathBuf>,
    /// Epic of beads with the open issues to work on instead. Steadfast claims each issue at its start, and closes it
    /// after its merge.
    #[arg(long, value_name = "ID", conflicts_with_all = ["what", "looped"])]
    epic: Option<String>,
    /// Judge the spec first, review the result with experts, and end with a gate. Always on for a request in words.
    #[arg(long = "loop")]
    looped: bool,
    /// Archive an unfinished loop, and start a new one.
    #[arg(long)]
    fresh: bool,
    /// Reason to start although the request is not clear enough.
    #[arg(long = "override", value_name = "WHY")]
    overridden: Option<String>,
    #[command(flatten)]
    flags: Flags,
    /// Start from the last commit despite uncommitted changes; agents do not see those changes.
    #[arg(long)]
    from_head: bool,
}

/// Flags of this call that override settings.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Flags {
    /// Host of the agents. [default: run.host, or the installed one]
    #[arg(long, value_name = "HOST", value_parser = parse_host)]
    pub(super) host: Option<Host>,
    /// Number of agents at the same time. [default: run.parallel, 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,
    #[command(flatten)]
    pub(super) limits: LimitFlags,
    /// Start every agent behind a proxy of its own. The cost is then exact, and exceeds its limit by the answers under way
    /// at most. [default: run.proxy, off]
    #[arg(long, conflicts_with = "no_proxy")]
    proxy: bool,
    /// Start the agents without proxies, whatever `run.proxy` says.
    #[arg(long)]
    no_proxy: bool,
}

impl Flags {
    /// The changed limits, or `None` if no flag changes them.
    fn changed(&self, limits: Limits) -> Option<Limits> {
        let are_given = self.parallel.is_some() || self.limits.are_given() || self.proxy || self.no_proxy;
        are_given.then(|| self.change(limits))
    }

    fn change(&self, mut limits: Limits) -> Limits {
        limits.parallel = self.parallel.unwrap_or(limits.parallel);
        limits.behind_proxy = self.proxy || limits.behind_proxy && !self.no_proxy;
        self.limits.of_run(limits)
    }
}

/// Also accepts the simulated agent, for trying out runs.
fn parse_host(text: &str) -> Result<Host, String> {
    if text == Host::Sim.as_str() { Ok(Host::Sim) } else { here::parse_host(text) }
}

impl Run {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        let mut settings = repository.config.load()?;
        let limits = self.flags.change(settings.run.limits());
        settings.run.proxy.value = limits.behind_proxy;
        let words = self.what.as_deref().and_then(words);
        if let Some(what) = &self.what
            && (self.looped || settings.loops.enabled.value || words.is_some())
        {
            let wishes = Wishes {
                host: self.flags.host,
                limits,
                fresh: self.fresh,
                overridden: self.overridden.clone(),
                from_head: self.from_head,
            };
            return in_terminal(&repository, |stop, console| {
                loop_run::begin(&repository, &settings, what, words, &wishes, stop, console)
            });
        }
        let settings = settings.run;
        let root = &repository.place.root;
        let work = match (&self.what, &self.epic) {
            (Some(file), _) => RunSource::of_spec(file, &repository.environment)?,
            (None, Some(epic)) => RunSource::of_epic(epic, root),
            (None, None) => {
                return Err(CommandError::usage("no spec to run").hint("`steadfast run SPEC.md` runs a spec"));
            }
        };
        let source = work.source(root);
        let host = self.flags.host.or(settings.host.value);
        let ready = preflight(&repository, &settings, host, &source, self.from_head)?;
        let mut list = here::task_list("run")?;
        lifecycle::refuse_if_unfinished(&list)?;
        let (plan, warnings) = work.load(&mut list, &source)?;
        let row = lifecycle::new_run(&list, &plan, source, &ready, limits);
        list.ledger_mut().create_run(&row)?;
        warnings.iter().for_each(|warning| note!("{warning}"));
        drop(list);
        go(&repository, &settings, row, &ready)
    }
}

/// Returns a request in words: it has more than one word and is not the name of a file.
fn words(what: &Path) -> Option<&str> {
    let words = what.to_str().filter(|text| text.trim().contains(char::is_whitespace))?;
    (!what.exists()).then_some(words.trim())
}

/// Continues a run that was paused or has lost its process.
pub(super) fn resume(repository: &Repository, row: RunRow, flags: &Flags) -> Result<(), CommandError> {
    lifecycle::refuse_if_running(&row)?;
    if let Some(error) = until_unblocked(repository, &row)? {
        return Err(error);
    }
    let mut settings = repository.config.load()?.run;
    settings.proxy.value = flags.change(row.limits).behind_proxy;
    let host = flags.host.unwrap_or(row.host);
    let ready = preflight::agent_and_folder(repository, &settings, Some(host), &row.base)?;
    let row = lifecycle::take_over(repository, &row, host, flags.changed(row.limits))?;
    go(repository, &settings, row, &ready)
}

/// The error if each unit that is left is blocked, or depends on one that is.
fn until_unblocked(repository: &Repository, row: &RunRow) -> Result<Option<CommandError>, CommandError> {
    let ledger = repository.ledger()?;
    let (units, tasks) = (ledger.units(&row.id)?, ledger.tasks(&row.plan)?);
    let stuck = lifecycle::stuck(&units, &tasks);
    let Some(first) = stuck.first() else { return Ok(None) };
    let are = if stuck.len() == 1 { "is" } else { "are" };
    let named = and_more(stuck.iter().map(|task| task.as_str()), 5);
    Ok(Some(CommandError::needs_human(format!(
        "nothing to resume until {named} {are} unblocked: `steadfast task unblock {first}`"
    ))))
}

/// Ends a run, and keeps its branch with the finished work.
pub(super) fn give_up(repository: &Repository, row: &RunRow) -> Result<(), CommandError> {
    lifecycle::give_up(repository, row, &repository.config.load()?.run)?;
    tell!("run {} is over; its merged work is on {}", row.id, row.branch)
}

/// Continues a loop that runs without a session.
pub(super) fn resume_loop(repository: &Repository, looped: Loop, flags: &Flags) -> Result<(), CommandError> {
    in_terminal(repository, |stop, console| {
        loop_run::go_on(repository, looped, flags.host, |limits| flags.changed(limits), stop, console)
    })
}

pub(super) fn give_up_loop(repository: &Repository, looped: &Loop) -> Result<(), CommandError> {
    if let Some(row) = loop_run::give_up(repository, looped)? {
        tell!("run {} is over; its merged work is on {}", row.id, row.branch)?;
    }
    tell!("loop {} is over", looped.id)
}

/// Works on a loop, shows its progress in the terminal, and prints its card.
fn in_terminal(
    repository: &Repository,
    work: impl FnOnce(&Arc<AtomicBool>, &Terminal<'_>) -> Result<Option<Passed>, steadfast_runner::RunError>,
) -> Result<(), CommandError> {
    let stop = Arc::new(AtomicBool::new(false));
    watch_signals(&stop)?;
    let terminal = Terminal::new(&repository.place);
    let passed = work(&stop, &terminal);
    terminal.written()?;
    match passed? {
        Some(Passed { looped, judged }) => tell!("{}", report::card(repository, &looped, &judged)?),
        None => Ok(()),
    }
}

fn go(repository: &Repository, settings: &RunSettings, row: RunRow, ready: &Ready) -> Result<(), CommandError> {
    let stop = Arc::new(AtomicBool::new(false));
    watch_signals(&stop)?;
    if let Some(text) = ready.first_party_note(repository) {
        note!("{text}");
    }
    let mut display = Display::new(&row, &repository.place, Until::End);
    let whole = Leg { settings, ready, stop: &stop, panel_brief: None, until: Until::End };
    let outcome = lifecycle::go(repository, &row, whole, &mut display);
    let messages = report_to_tracker(&repository.place, &row);
    let outcome = outcome.inspect_err(|_| display.wipe())?;
    display.finish(&repository.ledger()?, &outcome)?;
    messages.iter().for_each(|line| note!("{line}"));
    let plan = repository.ledger()?.plan_row(&row.plan)?;
    if let Some(line) = spec_file::changed(&repository.place.root, &plan) {
        tell!("{line}")?;
    }
    match outcome {
        RunOutcome::Complete | RunOutcome::Reached => Ok(()),
        RunOutcome::NeedsReview(claimed) => {
            Err(steadfast_runner::RunError::NeedsReview { run: row.id, branch: row.branch, claimed }.into())
        }
        RunOutcome::Paused(why) => Err(steadfast_runner::RunError::Paused { run: row.id, why }.into()),
    }
}

/// Ctrl-C pauses the run, twice ends this process at once.
fn watch_signals(stop: &Arc<AtomicBool>) -> Result<(), CommandError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // On the second signal the flag is already set, and the default action ends the process.
        let twice = signal_hook::flag::register_conditional_default(signal, Arc::clone(stop));
        let once = signal_hook::flag::register(signal, Arc::clone(stop));
        twice.and(once).map_err(|error| {
            CommandError::failure(format!("cannot register signal handlers: {error}"))
                .hint("the run did not start; `steadfast doctor` checks this machine")
        })?;
    }
    Ok(())
}

/// The page about a run for people.
fn page(root: &Path, plan: &PlanId) -> PathBuf {
    root.join(".steadfast/plans").join(plan.as_str()).join("PROGRESS.md")
}
