//! `cargo xtask soak`: the loops that take too long for daily use.

use std::time::Instant;

use crate::process::{cargo, run};
use crate::{Result, fuzz};

pub(crate) fn soak(rounds: u32) -> Result<()> {
    let started = Instant::now();
    eprintln!("{rounds} rounds of three hooks each, killed at any instant");
    run(cargo(["test", "--release", "--package", "steadfast", "--test", "cli", "--", "crowd", "--nocapture"])
        .env("STEADFAST_ROUNDS", rounds.to_string()))?;
    eprintln!("random events against the stop gate's bound");
    run(cargo(["test", "--release", "--package", "steadfast-engine", "--test", "fold"])
        .env("PROPTEST_CASES", (rounds * 10).to_string()))?;
    fuzz::fuzz(rounds / 10, fuzz::Build::Optimised)?;
    println!("soaked for {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}
