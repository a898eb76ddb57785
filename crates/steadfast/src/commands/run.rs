//! Agents that work a spec off: in waves, each unit in a worktree of its own, checked, merged, recorded.

pub(super) mod court;
mod desk;
mod display;
pub(super) mod looped;
mod notice;
pub(super) mod preflight;
mod screen;
mod teller;
mod work;

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use steadfast_hosts::launch::{self, Headless, headless};
use steadfast_hosts::price::{Price, Prices};
use steadfast_model::{Host, Limits, Permissions, PlanId, Run as RunRow, RunId, RunSettings, RunState, Usd};
use steadfast_runner::counsel::Matter;
use steadfast_runner::grounds::Grounds;
use steadfast_runner::run::{Begin, Outcome, Role, Start, Until, is_alive, run, this_process};
use steadfast_store::ledger::LedgerError;

use crate::error::CommandError;
use crate::output::{note, tell};
use crate::repository::Repository;
use crate::setup;
use crate::surroundings;
use crate::task_list::TaskList;
use desk::RunDesk;
use display::Display;
use preflight::{Ready, preflight};
use teller::{Teller, Watching};
use work::Work;

/// Works a spec off with agents, in waves: each unit in a worktree of its own, checked, merged, recorded.
///
/// Your branch and what is not committed stay as they are: what was done is on a branch of its own at the end. Ctrl-C
/// pauses; `steadfast resume` goes on, also after a crash, and redoes nothing that was done.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// SPEC.md or SPEC.json; or a request in words, for which an agent writes the spec.
    #[arg(value_name = "SPEC", required_unless_present = "epic")]
    what: Option<PathBuf>,
    /// The open issues of this epic of beads instead. Each is claimed there when it is begun, and closed when it lands.
    #[arg(long, value_name = "ID", conflicts_with_all = ["what", "looped"])]
    epic: Option<String>,
    /// With a look at the spec first, experts who review what was done, and a gate at the end. A request in words always
    /// is.
    #[arg(long = "loop")]
    looped: bool,
    /// Put a loop away that is not finished, and begin anew.
    #[arg(long)]
    fresh: bool,
    /// Begin although the request is not clear enough, and say why.
    #[arg(long = "override", value_name = "WHY")]
    overridden: Option<String>,
    #[command(flatten)]
    flags: Flags,
    /// Begin from the last commit although files were changed since: agents do not see those changes.
    #[arg(long)]
    from_head: bool,
}

/// What differs from the settings this time.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct Flags {
    /// Which agent works. [default: run.host, or the one that is installed]
    #[arg(long, value_name = "HOST", value_parser = parse_host)]
    pub(super) host: Option<Host>,
    /// How many agents work at once. [default: run.parallel, 3]
    #[arg(long, value_name = "N")]
    parallel: Option<NonZeroU32>,
    /// How often an agent may be sent to a unit, all units together. [default: run.iterations, 25]
    #[arg(long, value_name = "N")]
    max_iterations: Option<NonZeroU32>,
    /// How many US dollars it may cost; 0: as many as it takes. [default: run.budget_usd, 25]
    #[arg(long, value_name = "USD")]
    budget: Option<Usd>,
}

impl Flags {
    pub(super) fn are_given(&self) -> bool {
        self.parallel.is_some() || self.max_iterations.is_some() || self.budget.is_some()
    }

    fn change(&self, mut limits: Limits) -> Limits {
        limits.parallel = self.parallel.map_or(limits.parallel, NonZeroU32::get);
        limits.iterations = self.max_iterations.map_or(limits.iterations, NonZeroU32::get);
        if let Some(budget) = self.budget {
            limits.micro_usd = (budget.micro > 0).then_some(budget.micro);
        }
        limits
    }
}

/// The simulated agent, too: for trying out what a run does.
fn parse_host(text: &str) -> Result<Host, String> {
    if text == Host::Sim.as_str() { Ok(Host::Sim) } else { setup::parse_host(text) }
}

impl Run {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = Repository::here()?;
        setup::only_for_humans(&repository.place, "run")?;
        let settings = repository.config.load()?;
        let words = self.what.as_deref().and_then(words);
        if let Some(what) = &self.what
            && (self.looped || settings.looped.enabled.value || words.is_some())
        {
            return looped::begin(&repository, &settings, &self, what, words);
        }
        let settings = settings.run;
        let root = &repository.place.root;
        let work = Work::of(self.what.as_deref(), self.epic.as_deref(), root)?;
        let source = work.source(root);
        let host = self.flags.host.or(settings.host.value);
        let ready = preflight(&repository.place, &settings, host, &source, self.from_head)?;
        let mut list = TaskList::here("run")?;
        if let Some(other) = list.ledger().unfinished_runs()?.into_iter().find(|run| run.worktree == list.worktree()) {
            return Err(under_way(&other));
        }
        let (plan, warnings) = work.load(&mut list, &source)?;
        let row = RunRow { limits: self.flags.change(settings.limits()), ..new_row(&list, &plan, source, &ready) };
        list.ledger_mut().create_run(&row)?;
        warnings.iter().for_each(|warning| note!("{warning}"));
        drop(list);
        go(&repository, &settings, row, &ready)
    }
}

/// A request in words is no file's name, and has more than one of them.
fn words(what: &Path) -> Option<&str> {
    let words = what.to_str().filter(|text| text.trim().contains(char::is_whitespace))?;
    (!what.exists()).then_some(words.trim())
}

/// A run that begins now.
fn new_row(list: &TaskList, plan: &PlanId, spec: String, ready: &Ready) -> RunRow {
    let (id, now) = (new_id(&spec), surroundings::now());
    RunRow {
        branch: format!("steadfast/{id}"),
        id,
        plan: plan.clone(),
        worktree: list.worktree().to_owned(),
        spec,
        host: ready.host,
        base: ready.base.clone(),
        state: RunState::Running,
        reason: None,
        limits: Limits::default(),
        started_at: now,
        updated_at: now,
        ended_at: None,
        runner: Some(this_process()),
    }
}

/// Goes on with a run that was paused or whose process is gone.
pub(super) fn go_on(repository: &Repository, row: RunRow, flags: &Flags) -> Result<(), CommandError> {
    nobody_runs(&row)?;
    let settings = repository.config.load()?.run;
    let host = flags.host.unwrap_or(row.host);
    let ready = preflight::agent_and_folder(&repository.place, &settings, Some(host), &row.base)?;
    let row = take_over(repository, &row, flags, host)?;
    go(repository, &settings, row, &ready)
}

/// From now on it is this process that runs it.
fn take_over(repository: &Repository, row: &RunRow, flags: &Flags, host: Host) -> Result<RunRow, CommandError> {
    nobody_runs(row)?;
    let mut ledger = repository.ledger()?;
    if !ledger.take_run(&row.id, row.runner, this_process(), surroundings::now())? {
        return Err(CommandError::failure(format!("somebody else goes on with run {} right now", row.id))
            .hint("`steadfast progress` shows how it stands"));
    }
    let mut row = ledger.run(&row.id)?;
    row.host = host;
    if flags.are_given() {
        row.limits = flags.change(row.limits);
        ledger.set_limits(&row.id, row.limits, surroundings::now())?;
    }
    Ok(row)
}

fn under_way(other: &RunRow) -> CommandError {
    CommandError::failure(format!("run {} of `{}` is not over yet", other.id, other.spec))
        .hint("`steadfast resume` goes on with it; `steadfast resume --give-up` ends it and keeps its branch")
}

fn nobody_runs(row: &RunRow) -> Result<(), CommandError> {
    match row.runner.filter(|runner| row.state == RunState::Running && is_alive(*runner)) {
        Some(runner) => Err(CommandError::failure(format!("run {} is under way, by process {}", row.id, runner.pid))
            .hint("`steadfast progress` shows how it stands; Ctrl-C in its terminal pauses it")),
        None => Ok(()),
    }
}

/// Ends a run as it is: its branch and what was done stay.
pub(super) fn give_up(repository: &Repository, row: &RunRow) -> Result<(), CommandError> {
    nobody_runs(row)?;
    let settings = repository.config.load()?.run;
    let folder = preflight::worktrees(&repository.place, &settings)?.join(row.id.as_str());
    let mut ledger = repository.ledger()?;
    let (units, now) = (ledger.units(&row.id)?, surroundings::now());
    for unit in &units {
        steadfast_runner::agent::end_left_behind(&format!("{}/{}", row.id, unit.unit), unit.agent);
    }
    steadfast_runner::agent::end_left_behind(row.id.as_str(), None);
    let grounds = Grounds::of(&repository.place.root, &folder, row.id.as_str());
    grounds.unlock().and_then(|()| grounds.clear()).map_err(|error| failed(&error, row))?;
    for plan in units.iter().filter_map(|unit| unit.plan.as_ref()) {
        ledger.drop_unit(plan, now)?;
    }
    ledger.set_run_state(&row.id, RunState::Stopped, Some("a human gave it up"), now)?;
    tell!("run {} is over; what landed is on {}", row.id, row.branch)?;
    Ok(())
}

fn go(repository: &Repository, settings: &RunSettings, row: RunRow, ready: &Ready) -> Result<(), CommandError> {
    let stop = Arc::new(AtomicBool::new(false));
    watch_signals(&stop)?;
    let mut display = Display::new(&row, &repository.place, settings);
    let whole = Leg { settings, ready, stop: &stop, counsel: None, until: Until::End };
    let outcome = leg(repository, &row, whole, &mut display);
    let untold = work::tell(&repository.place, &row);
    let outcome = outcome?;
    display.finish(&repository.ledger()?, &outcome)?;
    untold.iter().for_each(|line| note!("{line}"));
    match outcome {
        Outcome::Complete | Outcome::Reached => Ok(()),
        Outcome::Paused(why) => Err(paused(&row, &why)),
    }
}

/// A run, or a part of one.
struct Leg<'a> {
    settings: &'a RunSettings,
    ready: &'a Ready,
    stop: &'a Arc<AtomicBool>,
    /// What a panel is told. None: none is held.
    counsel: Option<Matter>,
    until: Until,
}

fn leg(repository: &Repository, row: &RunRow, leg: Leg<'_>, display: &mut Display) -> Result<Outcome, CommandError> {
    let Leg { settings, ready, stop, counsel, until } = leg;
    let place = &repository.place;
    let ledger = repository.ledger()?;
    let begin = Begin {
        plan_title: ledger.title_of(&row.plan)?,
        ledger,
        grounds: Grounds::of(&place.root, &ready.worktrees.join(row.id.as_str()), row.id.as_str()),
        desk: Arc::new(RunDesk::of(place.state.clone(), row.id.to_string())),
        launcher: launcher(settings, row.host, ready),
        prices: prices(settings),
        folder: place.state.join("runs").join(row.id.as_str()),
        runner: this_process(),
        stop: Arc::clone(stop),
        counsel,
        until,
        run: row.clone(),
    };
    let mut watching = Watching { display, teller: Teller::of(place, row) };
    run(begin, &mut watching).map_err(|error| {
        watching.display.wipe();
        failed(&error, row)
    })
}

fn paused(row: &RunRow, why: &str) -> CommandError {
    CommandError::needs_human(format!("run {} is paused: {why}", row.id))
        .hint("`steadfast resume` goes on where it is; `steadfast progress` shows how it stands")
}

fn failed(error: &(dyn std::error::Error + 'static), row: &RunRow) -> CommandError {
    CommandError::failure(format!("run {} came to a halt: {}", row.id, crate::error::chain(error)))
        .hint("what was done is kept; mend that, and `steadfast resume` goes on")
}

pub(super) fn launcher(settings: &RunSettings, host: Host, ready: &Ready) -> Box<steadfast_runner::run::Launcher> {
    let (program, steadfast) = (ready.program.clone(), ready.steadfast.clone());
    let path = path_with(&steadfast);
    let (permissions, extra) = (settings.permissions.value, settings.arguments.value.clone());
    Box::new(move |start: &Start<'_>| {
        let mut launch = headless(&Headless {
            host,
            program: program.clone(),
            prompt: start.prompt.to_owned(),
            session: None,
            budget_micro_usd: start.share,
            max_turns: None,
            steadfast: steadfast.clone(),
            permissions: match (start.role, permissions) {
                (Role::Expert, _) => launch::Permissions::Read,
                (Role::Worker, Permissions::Edit) => launch::Permissions::Edit,
                (Role::Worker, Permissions::Free) => launch::Permissions::Free,
            },
            extra: extra.clone(),
        });
        launch.env.push(("STEADFAST_RUN_SPENT".to_owned(), start.spent.as_os_str().to_owned()));
        launch.env.extend(path.clone().map(|path| ("PATH".to_owned(), path)));
        launch
    })
}

/// Agents call us by our name.
fn path_with(steadfast: &Path) -> Option<OsString> {
    let found = surroundings::path_variable().unwrap_or_default();
    let folders = steadfast.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&found));
    std::env::join_paths(folders).ok()
}

pub(super) fn prices(settings: &RunSettings) -> Prices {
    let dollars = |usd: Usd| usd.micro as f64 / 1_000_000.0;
    settings.prices.value.iter().fold(Prices::built_in(), |prices, (model, price)| {
        let price =
            Price { input: dollars(price.input), cached: dollars(price.cached()), output: dollars(price.output) };
        prices.with(model.clone(), price)
    })
}

/// Ctrl-C pauses the run, twice ends this process at once.
fn watch_signals(stop: &Arc<AtomicBool>) -> Result<(), CommandError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The second time the flag is set already, and the signal does what it does by default.
        let twice = signal_hook::flag::register_conditional_default(signal, Arc::clone(stop));
        let once = signal_hook::flag::register(signal, Arc::clone(stop));
        twice.and(once).map_err(|error| {
            CommandError::failure(format!("signals cannot be watched: {error}"))
                .hint("nothing was begun; `steadfast doctor` looks at this machine")
        })?;
    }
    Ok(())
}

/// `r-1a2b3c4d`: of the moment, this process and the spec.
fn new_id(source: &str) -> RunId {
    let (now, pid) = (surroundings::now().0.to_le_bytes(), std::process::id().to_le_bytes());
    let hash = steadfast_model::fnv([now.as_slice(), &pid, source.as_bytes()]);
    RunId::new(format!("r-{:08x}", (hash ^ (hash >> 32)) as u32))
}

/// The newest run of this worktree that is not over, or the named one.
pub(super) fn find(repository: &Repository, named: Option<&str>) -> Result<Option<RunRow>, CommandError> {
    let ledger = repository.ledger()?;
    match named {
        Some(id) => match ledger.run(&RunId::new(id)) {
            Err(error @ LedgerError::UnknownRun { .. }) => Err(CommandError::failure(error)
                .hint("without `--run` it is the last one of this worktree that is not over")),
            found => Ok(Some(found?)),
        },
        None => {
            let worktree = repository.place.worktree();
            Ok(ledger.unfinished_runs()?.into_iter().find(|run| run.worktree == worktree))
        }
    }
}

/// The named run, or the newest of this worktree, over or not.
pub(super) fn last(repository: &Repository, named: Option<&str>) -> Result<Option<RunRow>, CommandError> {
    match named {
        Some(_) => find(repository, named),
        None => Ok(repository.ledger()?.runs_of(&repository.place.worktree())?.into_iter().next()),
    }
}

/// The page that people read while a run goes on.
fn page(root: &Path, plan: &PlanId) -> PathBuf {
    root.join(".steadfast/plans").join(plan.as_str()).join("PROGRESS.md")
}
