//! The display of a run: a line for every event, below it the current activity of each agent if standard error is a
//! terminal, and the page `PROGRESS.md`.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use steadfast_model::{Millis, Run, RunId, RunUnit, RunView};
use steadfast_redact::redact;
use steadfast_runner::progress::{progress_md, report, status_line};
use steadfast_runner::run::{Activity, Audience, RunEvent, RunOutcome, Snapshot, Until};
use steadfast_store::ledger::Ledger;
use steadfast_store::{Place, log_line};
use steadfast_text::{HANG, cost, count, duration, one_line, wrap};

use crate::environment;
use crate::error::CommandError;
use crate::notifier::Notifier;
use crate::output::{note, tell};
use crate::terminal::{self, Column, Screen, Table, faint, strong};

/// Rendering a run of thousands of tasks takes a while: it may use at most a hundredth of the time.
const SHARE: u32 = 100;
const SOONEST: Duration = Duration::from_secs(1);

pub(super) struct Display {
    place: Place,
    run: RunId,
    /// `None` if standard error is not a terminal.
    screen: Option<Screen>,
    /// Opened read-only. `None` if that failed: then nothing is rendered.
    ledger: Option<Ledger>,
    page: PathBuf,
    notifier: Notifier,
    /// An event came after the page was rendered.
    stale: bool,
    /// An earlier part of the run was shown by this display.
    shown: bool,
    not_before: Instant,
    status: String,
    /// The day of the last line.
    day: String,
}

impl Display {
    pub(super) fn new(run: &Run, place: &Place, until: Until) -> Self {
        let name = run.host.full_name();
        let pauses = match until {
            Until::End | Until::Gate => "it does not pause between units",
            Until::Wave => "it pauses after each wave that changed something",
            Until::Unit => "it runs one unit at a time, and pauses after each that changed something",
        };
        let behind = if run.is_behind_proxy() { ", each agent behind a proxy" } else { "" };
        note!(
            "run {} of {} with {name}{behind}, on branch {}; {pauses}; Ctrl-C pauses it",
            run.id,
            run.spec,
            run.branch
        );
        if run.limits.behind_proxy && !run.is_behind_proxy() {
            note!("note: the simulated agent calls no model, so it has no proxy");
        }
        Self {
            place: place.clone(),
            run: run.id.clone(),
            screen: Screen::of_stderr(),
            ledger: Ledger::open_read_only(&place.state).ok().flatten(),
            page: super::page(&place.root, &run.plan),
            notifier: Notifier::here(),
            stale: true,
            shown: false,
            not_before: Instant::now(),
            status: String::new(),
            day: String::new(),
        }
    }

    pub(super) fn finish(&mut self, ledger: &Ledger, outcome: &RunOutcome) -> Result<(), CommandError> {
        self.wipe();
        let view = ledger.run_view(&self.run)?;
        self.write(&view);
        tell!("{}", report(&view).trim_end())?;
        let line = match outcome {
            RunOutcome::Complete | RunOutcome::Reached => format!("run {} of {} is complete", self.run, view.run.spec),
            RunOutcome::NeedsReview(claimed) => {
                format!("run {} of {} needs review: {}", self.run, view.run.spec, claimed)
            }
            RunOutcome::Paused(why) => format!("run {} of {} needs you: {why}", self.run, view.run.spec),
        };
        self.notifier.tell_of_run(&self.place, &line);
        Ok(())
    }

    pub(super) fn wipe(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.wipe();
        }
    }

    /// Renders the page and the status, if there are news and the last rendering is long enough ago.
    fn render(&mut self) {
        let began = Instant::now();
        if !self.stale || began < self.not_before {
            return;
        }
        let Some(view) = self.ledger.as_ref().and_then(|ledger| ledger.run_view(&self.run).ok()) else { return };
        self.status = status_line(&view);
        self.write(&view);
        self.stale = false;
        self.not_before = began + (began.elapsed() * SHARE).max(SOONEST);
    }

    /// Writes the page and renames it, so that readers see a whole page.
    fn write(&self, view: &RunView) {
        let written = self.page.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            let next = self.page.with_extension("md.new");
            fs::write(&next, redact(&progress_md(view)).as_bytes())?;
            fs::rename(&next, &self.page)
        });
        if let Err(error) = written {
            log_line(&self.place, environment::now(), &format!("PROGRESS.md of run {}: {error}", self.run));
        }
    }

    fn draw(&mut self, now: &Snapshot<'_>) {
        let Some(screen) = &mut self.screen else { return };
        let (width, _) = screen.size();
        let mut lines: Vec<String> = wrap(&self.status, width).lines().map(str::to_owned).collect();
        let mut table = Table::new(&[
            Column::whole("", 1),
            Column::whole("", 9),
            Column::whole("", 5),
            Column::text("", 7, 20),
            Column::whole("", 4),
            Column::text("", 2, 12),
        ]);
        let at = environment::now();
        let working = now.units.iter().filter_map(|unit| Some((unit, now.agents.get(&unit.unit)?)));
        working.for_each(|(unit, activity)| table.row(agent(unit, activity, at)));
        lines.extend(table.lines(Some(width)).into_iter().skip(1));
        screen.draw(&lines);
    }
}

impl Audience for Display {
    fn on_event(&mut self, event: &RunEvent, now: &Snapshot<'_>) {
        let is_continued = matches!(event, RunEvent::Resumed { landed: 0, ended: 0 }) && self.shown;
        self.shown = true;
        if let Some(line) = line(event, now).filter(|_| !is_continued) {
            self.wipe();
            let now = environment::now();
            // A night has two dates.
            let day = terminal::day(now);
            if self.day != day {
                note!("{}", faint(&terminal::day_line(now)));
                self.day = day;
            }
            note!("{} {HANG}{line}", faint(&terminal::clock(now)));
            self.stale = true;
        }
        if let RunEvent::Blocked { unit, why } = event {
            self.notifier.tell_of_run(&self.place, &format!("unit {unit} of run {} needs you: {why}", self.run));
        }
        self.render();
        self.draw(now);
    }
}

/// Mark, unit, time, what it does, what it took, title: a narrow terminal cuts the title first.
fn agent(unit: &RunUnit, activity: &Activity, now: Millis) -> [String; 6] {
    let Activity { doing, turns, spent } = activity;
    let took = u64::try_from(now.since(unit.updated_at)).unwrap_or(0) / 1_000 * 1_000;
    let turns = (*turns > 0).then(|| count(*turns, "turn"));
    let spent = spent.micro_usd.filter(|micro| *micro > 0).map(cost);
    let amounts: Vec<String> = turns.into_iter().chain(spent).collect();
    let took = if took == 0 { String::new() } else { duration(took) };
    [
        ">".to_owned(),
        strong(unit.unit.as_str()),
        took,
        one_line(doing),
        amounts.join(" · "),
        faint(&one_line(&unit.title)),
    ]
}

/// `unit 1.1 has`, `units 1.1, 1.2 have`
fn has(units: &[&str]) -> String {
    match units {
        [unit] => format!("unit {unit} has"),
        units => format!("units {} have", units.join(", ")),
    }
}

fn line(event: &RunEvent, now: &Snapshot<'_>) -> Option<String> {
    let titled = |id: &steadfast_model::TaskId| {
        let title = now.units.iter().find(|unit| unit.unit == *id).map(|unit| unit.title.as_str());
        title.map_or_else(|| id.to_string(), |title| format!("{id} {title}"))
    };
    Some(match event {
        RunEvent::Resumed { landed: 0, ended: 0 } => "continuing".to_owned(),
        RunEvent::Reopened { tasks } => {
            let ids: Vec<&str> = tasks.iter().map(steadfast_model::TaskId::as_str).collect();
            format!("done elsewhere but not on this commit, so repeated: {}", ids.join(", "))
        }
        RunEvent::PassAlready { tasks } => {
            let ids: Vec<&str> = tasks.iter().map(steadfast_model::TaskId::as_str).collect();
            format!("check passes before any work: {}", ids.join(", "))
        }
        RunEvent::Resumed { landed, ended } => {
            format!("continuing: {landed} merged units were recorded now, {ended} left-over processes were ended")
        }
        RunEvent::Decided { unit, said } => format!("{unit}: {said}, recorded without an agent"),
        RunEvent::Stopping { units } if units.is_empty() => {
            "stopping: waiting for the last checks; Ctrl-C again ends the run at once".to_owned()
        }
        RunEvent::Stopping { units } => {
            let units: Vec<&str> = units.iter().map(steadfast_model::TaskId::as_str).collect();
            format!("stopping: waiting until {} ended; Ctrl-C again ends the run at once", has(&units))
        }
        RunEvent::Wave { number, units } => {
            let units: Vec<&str> = units.iter().map(steadfast_model::TaskId::as_str).collect();
            format!("wave {number} of {}: {}", now.waves, units.join(", "))
        }
        RunEvent::Started { unit, attempt: 1 } => format!("{}: started", titled(unit)),
        RunEvent::Started { unit, attempt } => format!("{}: started, attempt {attempt}", titled(unit)),
        RunEvent::Landed { unit, commit } => format!("{unit}: done, merged as {}", commit.get(..8).unwrap_or(commit)),
        RunEvent::Advised { unit, advice: Some(advice) } => {
            format!("{unit}: {} experts gave advice for the next attempt", advice.lines().count())
        }
        RunEvent::Advised { unit, advice: None } => format!("{unit}: no expert gave a readable answer"),
        RunEvent::Again { unit, why } => format!("{unit}: not done, retrying: {why}"),
        RunEvent::Waits { unit, why } => format!("{unit}: waits: {why}"),
        RunEvent::Blocked { unit, why } => format!("{unit}: needs a human: {why}"),
        RunEvent::Checking { .. } | RunEvent::Merging { .. } | RunEvent::Tick => return None,
    })
}
