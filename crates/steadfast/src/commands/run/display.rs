//! What a human sees of a run: lines as things happen, and on a terminal what each agent does right now.

use std::fs;
use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;

use steadfast_model::{Run, RunSettings};
use steadfast_runner::run::{Audience, News, Outcome, Snapshot};
use steadfast_store::Place;
use steadfast_store::ledger::Ledger;

use crate::error::CommandError;
use crate::output::{note, several, tell};

#[derive(Debug)]
pub(super) struct Display {
    /// Standard error is a terminal: what is drawn there is drawn over.
    live: bool,
    drawn: usize,
    rendered: PathBuf,
    notify: String,
}

impl Display {
    pub(super) fn new(run: &Run, place: &Place, settings: &RunSettings) -> Self {
        note!("run {} of {} with {}, on branch {}", run.id, run.spec, super::preflight::name(run.host), run.branch);
        Self {
            live: stderr().is_terminal(),
            drawn: 0,
            rendered: super::rendered(&place.root, &run.plan),
            notify: settings.notify.value.clone(),
        }
    }

    pub(super) fn end(&mut self) {
        self.wipe();
    }

    pub(super) fn finish(&mut self, ledger: &Ledger, outcome: &Outcome) -> Result<(), CommandError> {
        self.wipe();
        let _ = (ledger, outcome, &self.notify, several(1u64, "unit"));
        tell!("done")?;
        Ok(())
    }

    fn wipe(&mut self) {
        if self.drawn > 0 {
            let _ = write!(stderr(), "\x1b[{}A\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }

    fn draw(&mut self, now: &Snapshot<'_>) {
        self.wipe();
        for (unit, activity) in now.agents {
            note!("  {unit}  {}", activity.doing);
            self.drawn += 1;
        }
    }
}

impl Audience for Display {
    fn hear(&mut self, news: &News, now: &Snapshot<'_>) {
        if self.live {
            self.wipe();
        }
        if let Some(line) = line(news) {
            note!("{line}");
        }
        if self.live {
            self.draw(now);
        }
        if *news != News::Tick {
            if let Some(folder) = self.rendered.parent() {
                let _ = fs::create_dir_all(folder);
            }
        }
    }
}

fn line(news: &News) -> Option<String> {
    Some(match news {
        News::Resumed { landed, ended } => {
            format!("resumed: {landed} landed before, {ended} processes left behind were ended")
        }
        News::Wave { number, units } => {
            let units: Vec<&str> = units.iter().map(|unit| unit.as_str()).collect();
            format!("wave {number}: {}", units.join(", "))
        }
        News::Started { unit, attempt: 1 } => format!("{unit}: started"),
        News::Started { unit, attempt } => format!("{unit}: started, attempt {attempt}"),
        News::Checking { unit } => format!("{unit}: checking"),
        News::Merging { unit } => format!("{unit}: merging"),
        News::Landed { unit, commit } => format!("{unit}: landed as {}", commit.get(..8).unwrap_or(commit)),
        News::Again { unit, why } => format!("{unit}: again, {why}"),
        News::Waits { unit, why } => format!("{unit}: waits, {why}"),
        News::Blocked { unit, why } => format!("{unit}: needs a human: {why}"),
        News::Tick => return None,
    })
}
