//! Benchmarks as ratios. The rows run in turn, so that other load affects all of them.

mod drift;
mod guard;
mod hook;
mod ledger;
mod observe;
mod proxy;
mod transcript;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{Result, process};

pub(crate) use drift::drift;
pub(crate) use guard::guard;
pub(crate) use hook::hook;
pub(crate) use ledger::ledger;
pub(crate) use observe::observe;
pub(crate) use proxy::proxy;
pub(crate) use transcript::transcript;

/// Returns the folder of the corpora, beside this repository.
fn corpora() -> PathBuf {
    std::env::var_os("STEADFAST_CORPORA").map_or_else(|| process::root().join("../shared/corpora"), PathBuf::from)
}

/// Returns a benchmark of one crate. The benchmarks are a separate package, so that the crates have no additional
/// dependencies.
fn own(name: &str) -> Command {
    let mut bench = process::cargo(["run", "--quiet", "--profile", "dist", "--package", "steadfast-bench", "--bin"]);
    bench.args([&format!("bench-{name}"), "--"]);
    bench
}

/// The arguments of both benchmarks of whole processes.
struct Asked {
    runs: u32,
    binary: PathBuf,
    /// Another build to compare with.
    beside: Option<PathBuf>,
}

impl Asked {
    fn parse(arguments: &[&str], mut runs: u32) -> Result<Self> {
        let (mut binary, mut beside) = (None, None);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("`{argument}` wants a value"))?;
            match *argument {
                "--runs" => runs = value.parse()?,
                "--binary" => binary = Some(PathBuf::from(value)),
                "--beside" => beside = Some(PathBuf::from(value)),
                other => return Err(format!("`{other}` is unexpected").into()),
            }
        }
        let binary = binary.map_or_else(|| process::build("dist"), Ok)?;
        Ok(Self { runs, binary, beside })
    }
}

/// Runs every row once per round. The order changes with every round, since a row after a slow one has cold caches.
fn in_turn(rows: usize, rounds: u32, mut run: impl FnMut(usize, u32) -> Result<()>) -> Result<()> {
    let mut order: Vec<usize> = (0..rows).collect();
    let mut dice = Dice(1);
    for round in 0..rounds {
        dice.shuffle(&mut order);
        for row in &order {
            run(*row, round)?;
        }
    }
    Ok(())
}

/// Prints the table and returns the ratios to the first row.
fn print<'a>(rows: impl Iterator<Item = (String, &'a mut Vec<Duration>)>, runs: u32) -> Vec<f64> {
    println!("{runs} interleaved runs; milliseconds of the whole process; ratio of medians to /bin/true\n");
    println!("| what runs | median | p95 | ratio |");
    println!("|---|---|---|---|");
    let mut ratios = Vec::new();
    let mut floor = None;
    for (name, times) in rows {
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3;
        let ratio = at(0.5) / *floor.get_or_insert(at(0.5));
        println!("| {name} | {:.3} | {:.3} | {ratio:.2} |", at(0.5), at(0.95));
        ratios.push(ratio);
    }
    ratios
}

/// Prints the medians of two builds, row by row. All rows ran in turn.
fn print_beside(rows: impl Iterator<Item = (String, [Vec<Duration>; 2])>, runs: u32) {
    println!("{runs} interleaved runs of two builds; milliseconds of the whole process; ratio of medians\n");
    println!("| what runs | this build | the other | ratio |");
    println!("|---|---|---|---|");
    for (name, times) in rows {
        let [this, other] = times.map(|mut times| {
            times.sort();
            times[times.len() / 2].as_secs_f64() * 1e3
        });
        println!("| {name} | {this:.3} | {other:.3} | {:.3} |", this / other);
    }
}

/// Random numbers from a fixed seed, so that two runs differ only by the machine.
struct Dice(u64);

impl Dice {
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            order.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}
