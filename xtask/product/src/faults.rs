//! `cargo xtask faults`: the real binary under simulated faults. In every case no failure of Steadfast blocks a host,
//! no journal has a gap, the snapshot is the fold of the journal, and no used budget comes back.

mod clock_back;
mod copied;
mod deleted;
mod formats;
mod full_disk;
mod garbage;
mod inspect;
mod kills;
mod mount;
mod read_only;
mod rng;
mod runner;
mod scene;
mod stdin;
mod two_versions;
mod upgrade;
mod versions;

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::Result;
use crate::process::build;
use rng::SeededRng;
use scene::Scene;

struct Fault {
    name: &'static str,
    needs: Needs,
    /// The number of other rounds that one round of it replaces.
    worth: u64,
    /// Runs one round in a fresh repository.
    run: fn(&Scene, &mut SeededRng) -> Result<Figures>,
}

#[derive(PartialEq, Eq)]
enum Needs {
    Nothing,
    Mount,
}

/// Figures of a round, summed over all rounds.
type Figures = Vec<(&'static str, u64)>;

const FAULTS: [Fault; 12] = [
    Fault { name: "kills", needs: Needs::Nothing, worth: 1, run: kills::kills },
    Fault { name: "full-disk", needs: Needs::Mount, worth: 1, run: full_disk::full_disk },
    Fault { name: "read-only", needs: Needs::Mount, worth: 1, run: read_only::read_only },
    Fault { name: "clock-back", needs: Needs::Nothing, worth: 1, run: clock_back::clock_back },
    Fault { name: "formats", needs: Needs::Nothing, worth: 1, run: formats::formats },
    Fault { name: "two-versions", needs: Needs::Nothing, worth: 1, run: two_versions::two_versions },
    Fault { name: "upgrade", needs: Needs::Nothing, worth: 1, run: upgrade::upgrade },
    Fault { name: "copied", needs: Needs::Nothing, worth: 1, run: copied::copied },
    Fault { name: "garbage", needs: Needs::Nothing, worth: 1, run: garbage::garbage },
    Fault { name: "deleted", needs: Needs::Nothing, worth: 1, run: deleted::deleted },
    Fault { name: "stdin", needs: Needs::Nothing, worth: 1, run: stdin::stdin },
    Fault { name: "runner", needs: Needs::Nothing, worth: runner::KILLS, run: runner::runner },
];

/// The arguments: `[ROUNDS] [--only NAME] [--round N]`.
struct Wanted {
    rounds: Range<u64>,
    only: Option<String>,
}

struct Line {
    name: &'static str,
    rounds: u64,
    took: Duration,
    end: End,
    figures: Figures,
}

enum End {
    Passed,
    Failed,
    Skipped,
}

pub(crate) fn faults(words: &[&str]) -> Result<()> {
    let wanted = Wanted::parse(words)?;
    let binary = build("release")?;
    let mut lines = Vec::new();
    let mut failures = Vec::new();
    for fault in FAULTS.iter().filter(|fault| wanted.only.as_ref().is_none_or(|only| only == fault.name)) {
        let mut line =
            Line { name: fault.name, rounds: 0, took: Duration::ZERO, end: End::Passed, figures: Vec::new() };
        if fault.needs == Needs::Mount && !mount::is_allowed()? {
            eprintln!("SKIPPED: {}: a file system cannot be mounted here", fault.name);
            line.end = End::Skipped;
            lines.push(line);
            continue;
        }
        eprintln!("==> {}", fault.name);
        let started = Instant::now();
        for round in wanted.rounds_of(fault) {
            let done = Scene::new(&binary).and_then(|scene| (fault.run)(&scene, &mut SeededRng::of(fault.name, round)));
            match done {
                Ok(figures) => line.add(figures),
                Err(error) => {
                    eprintln!("FAILED: {} in round {round}: {error}", fault.name);
                    eprintln!("again: cargo xtask faults --only {} --round {round}", fault.name);
                    failures.push(fault.name);
                    line.end = End::Failed;
                    break;
                }
            }
        }
        line.took = started.elapsed();
        lines.push(line);
    }
    print(&lines);
    match (lines.is_empty(), failures.is_empty()) {
        (true, _) => Err(format!("unknown fault; expected one of {}", names().join(", ")).into()),
        (_, true) => Ok(()),
        (_, false) => Err(format!("failed: {}", failures.join(", ")).into()),
    }
}

impl Wanted {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut wanted = Self { rounds: 0..50, only: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` requires a value"));
            match *word {
                "--only" => wanted.only = Some((*value()?).to_owned()),
                "--round" => {
                    let round: u64 = value()?.parse()?;
                    wanted.rounds = round..round + 1;
                }
                rounds => {
                    let rounds = rounds.parse().map_err(|_| format!("`{rounds}` is not a number of rounds"))?;
                    wanted.rounds = 0..rounds;
                }
            }
        }
        Ok(wanted)
    }

    /// Returns the rounds to run. A fault with a lot of work per round has fewer of them.
    fn rounds_of(&self, fault: &Fault) -> Range<u64> {
        let Range { start, end } = self.rounds;
        if start > 0 || end == 1 { start..end } else { 0..end.div_ceil(fault.worth) }
    }
}

impl Line {
    fn add(&mut self, figures: Figures) {
        self.rounds += 1;
        for (name, value) in figures {
            match self.figures.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += value,
                None => self.figures.push((name, value)),
            }
        }
    }
}

fn names() -> Vec<&'static str> {
    FAULTS.iter().map(|fault| fault.name).collect()
}

fn print(lines: &[Line]) {
    println!("\n{:<14}{:>8}{:>10}  {:<9}figures", "fault", "rounds", "seconds", "end");
    for line in lines {
        let end = match line.end {
            End::Passed => "passed",
            End::Failed => "FAILED",
            End::Skipped => "skipped",
        };
        let figures: Vec<String> = line.figures.iter().map(|(name, sum)| format!("{sum} {name}")).collect();
        let seconds = line.took.as_secs_f64();
        println!("{:<14}{:>8}{seconds:>10.1}  {end:<9}{}", line.name, line.rounds, figures.join(", "));
    }
}
