//! Measures the time for reading and judging a command, on commands from real agents.
//!
//! `cargo xtask bench guard` runs it. Every command is parsed, split at blanks by the simplest tokenizer, and checked
//! by the quick test. The order changes with every round, so that other load affects all rows alike. `bash -n` on a few
//! commands is the absolute yardstick. The benchmark fails above its limits.
#![expect(
    clippy::disallowed_methods,
    reason = "bash's own time is what we compare with; the corpora's place is asked for"
)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is the result")]

use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use steadfast_shell::{Context, effects, is_plain, judge};
use steadfast_testkit::unescaped;

const ROUNDS: usize = 20;
const MEDIAN: Duration = Duration::from_micros(10);
const P99: Duration = Duration::from_micros(500);
/// The number of commands for which `bash -n` is timed.
const BASH: usize = 200;

/// A timed function with its name in the table.
type Row<'a> = (&'a str, &'a dyn Fn(&str));

fn main() -> ExitCode {
    let place = std::env::var_os("STEADFAST_CORPORA")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora")), PathBuf::from);
    let file = place.join("benign_commands.tsv");
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("SKIPPED: {} is not there; STEADFAST_CORPORA names another folder", file.display());
        return ExitCode::SUCCESS;
    };
    let commands: Vec<String> =
        text.lines().skip(1).filter_map(|line| line.split('\t').nth(4)).map(unescaped).collect();
    let protected = [".claude/", ".git/hooks/", ".steadfast/", "SPEC.md", ".tdd-progress.md"].map(str::to_owned);
    let names = [".claude", "hooks", ".steadfast", "SPEC.md", ".tdd-progress.md", "steadfast"];
    let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };

    let rows: [Row<'_>; 3] = [
        ("split at blanks", &|command| {
            black_box(command.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        }),
        ("read and judged", &|command| {
            black_box(judge(&effects(command, &context), &protected));
        }),
        ("the test in front", &|command| {
            black_box(is_plain(command, &context, &names));
        }),
    ];
    let mut best = vec![vec![Duration::MAX; commands.len()]; rows.len()];
    for round in 0..ROUNDS {
        for (at, command) in commands.iter().enumerate() {
            for turn in 0..rows.len() {
                let row = (round + at + turn) % rows.len();
                let start = Instant::now();
                rows[row].1(command);
                // The fastest round, since other load only makes a round slower.
                best[row][at] = best[row][at].min(start.elapsed());
            }
        }
    }
    println!(
        "{} commands, {ROUNDS} interleaved rounds; the least time of each command, in microseconds\n",
        commands.len()
    );
    println!("| | median | p99 | ratio of medians |");
    println!("|---|---|---|---|");
    let mut floor = None;
    let mut measured = Vec::new();
    for ((name, _), mut times) in rows.iter().zip(best) {
        times.sort();
        let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        let ratio = median.as_secs_f64() / *floor.get_or_insert(median.as_secs_f64());
        println!("| {name} | {:.2} | {:.2} | {ratio:.1} |", micros(median), micros(p99));
        measured.push((median, p99));
    }
    match bash(&commands) {
        Some(median) => println!("| `bash -n`, the process | {:.2} | | |", micros(median)),
        None => eprintln!("SKIPPED: `bash` is missing"),
    }
    let (median, p99) = measured[1];
    if median > MEDIAN || p99 > P99 {
        eprintln!("\nover the limits: median {MEDIAN:?}, p99 {P99:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Returns the median time of a `bash` that only parses.
fn bash(commands: &[String]) -> Option<Duration> {
    let mut times = Vec::new();
    for command in commands.iter().step_by((commands.len() / BASH).max(1)) {
        let start = Instant::now();
        let mut bash = Command::new("bash");
        bash.args(["-n", "-c", "--", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().ok()?;
        times.push(start.elapsed());
    }
    times.sort();
    times.get(times.len() / 2).copied()
}
