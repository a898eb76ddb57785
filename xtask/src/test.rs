//! `cargo xtask test`: the one command.

use std::time::{Duration, Instant};

use crate::process::{cargo, run};
use crate::{Result, boundary, fuzz, generate, instructions};

/// How long each fuzz target runs here; `cargo xtask fuzz` runs longer.
const FUZZ_SECONDS: u32 = 15;

/// A name for people, and what is done.
type Step = (&'static str, fn() -> Result<()>);

pub(crate) fn test() -> Result<()> {
    let steps: [Step; 7] = [
        ("formatting", || run(&mut cargo(["fmt", "--all", "--check"]))),
        ("lints", || {
            run(&mut cargo(["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
        }),
        ("generated files", || generate::generate(generate::Doing::Check)),
        ("boundaries", boundary::check),
        ("tests", || run(&mut cargo(["test", "--workspace", "--no-fail-fast"]))),
        ("fuzz", || fuzz::fuzz(FUZZ_SECONDS)),
        ("instructions", || instructions::instructions(instructions::Doing::Compare)),
    ];
    let started = Instant::now();
    let mut report = Vec::new();
    for (name, step) in steps {
        eprintln!("==> {name}");
        let began = Instant::now();
        let done = step();
        report.push((name, began.elapsed(), done.is_ok()));
        if let Err(error) = done {
            print(&report, started.elapsed());
            return Err(format!("{name}: {error}").into());
        }
    }
    print(&report, started.elapsed());
    Ok(())
}

fn print(report: &[(&str, Duration, bool)], whole: Duration) {
    eprintln!();
    for (name, took, passed) in report {
        eprintln!("{:<16} {:>7.1} s  {}", name, took.as_secs_f64(), if *passed { "passed" } else { "failed" });
    }
    eprintln!("{:<16} {:>7.1} s", "all", whole.as_secs_f64());
}
