//! Measures the duration of real runs with three simulated agents: 16 units of 2 to 20 s in 4 phases, beside a lower
//! bound for any order.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use steadfast_store::ledger::Ledger;

use crate::bench_runner::{Scene, commit};
use crate::{Result, process};

const PLACES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// No phase depends on another, and no unit on another of its phase.
    Independent,
    /// No phase depends on another. Each unit depends on the one before it.
    Chains,
    /// Each phase depends on the one before it.
    InOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Nothing,
    Estimates,
}

/// `cargo xtask bench makespan [SETS] [--scale FACTOR] [--binary PATH]`: for each set of lengths and each shape, one
/// run with estimates and one without. FACTOR shortens the lengths.
pub(crate) fn makespan(arguments: &[&str]) -> Result<()> {
    let (mut sets, mut scale, mut binary) = (1_u64, 1.0_f64, None);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().copied().ok_or(format!("`{argument}` requires a value"));
        match *argument {
            "--binary" => binary = Some(PathBuf::from(value()?)),
            "--scale" => scale = value()?.parse()?,
            number => sets = number.parse()?,
        }
    }
    let binary = binary.map_or_else(|| process::build("dist"), Ok)?;
    println!(
        "| set | phases | lengths | least, s | makespan, s | ratio | limit | a unit without its agent, median ms |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for seed in 1..=sets {
        let lengths: Vec<f64> = lengths(seed).into_iter().map(|length| length * scale).collect();
        for (shape, limit) in [(Shape::Independent, 1.1), (Shape::Chains, 1.1), (Shape::InOrder, 1.15)] {
            for known in [Known::Nothing, Known::Estimates] {
                let folder = tempfile::tempdir()?;
                let scene = Scene::new(folder.path(), &binary)?;
                let (took, own) = run(&scene, shape, known, &lengths)?;
                let least = least(shape, &lengths);
                let ratio = took.as_secs_f64() / least;
                let took = took.as_secs_f64();
                println!(
                    "| {seed} | {shape:?} | {known:?} | {least:.2} | {took:.2} | {ratio:.3} | {limit} | {own:.0} |"
                );
            }
        }
    }
    Ok(())
}

/// Returns sixteen lengths in seconds, the same as in the unit test of the scheduler.
fn lengths(seed: u64) -> Vec<f64> {
    let mut random = seed;
    let mut length = || {
        // splitmix64
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 + ((mixed ^ (mixed >> 31)) % 18_001) as f64 / 1_000.0
    };
    (0..16).map(|_| length()).collect()
}

fn spec(shape: Shape, known: Known, lengths: &[f64]) -> String {
    let mut text = String::from("# Sixteen\n\nSixteen files are written.\n");
    for (index, length) in lengths.iter().enumerate() {
        let (phase, number) = (index / 4 + 1, index % 4 + 1);
        if number == 1 {
            text += &format!("\n## Phase {phase}: P{phase}\n\n");
            if shape != Shape::InOrder {
                text += "Depends on: none\n\n";
            }
        }
        let id = format!("{phase}.{number}");
        text += &format!("- [ ] {id} Write it [sim:takes {length:.3}] {{#{id}}}\n  - files: `{id}.txt`\n");
        text += &format!("  - verify: `test -s {id}.txt`\n");
        if known == Known::Estimates {
            text += &format!("  - estimate: {length:.3} s\n");
        }
        if shape == Shape::Chains && number > 1 {
            text += &format!("  - depends on: {phase}.{}\n", number - 1);
        }
    }
    text
}

/// Returns the time from the first agent's start to the landing of the last unit, and the overhead of a unit.
fn run(scene: &Scene, shape: Shape, known: Known, lengths: &[f64]) -> Result<(Duration, f64)> {
    fs::write(scene.root().join("SPEC.md"), spec(shape, known, lengths))?;
    commit(&scene.root())?;
    scene.work("SPEC.md", PLACES)?;
    let ledger = Ledger::open_read_only(&scene.root().join(".git/steadfast"))?.ok_or("there is no ledger")?;
    let worktree = scene.root().canonicalize()?.to_string_lossy().into_owned();
    let run = ledger.runs_of(&worktree)?.into_iter().next().ok_or("there is no run")?;
    let dispatches = ledger.dispatches(&run.id)?;
    let begun = dispatches.iter().map(|dispatch| dispatch.started_at).min().ok_or("no agent was sent")?;
    let landed = ledger.units(&run.id)?.into_iter().map(|unit| unit.updated_at).max().ok_or("there are no units")?;
    let mut own = Vec::new();
    for dispatch in &dispatches {
        let (phase, number) = dispatch.unit.as_str().split_once('.').ok_or("an id of another shape")?;
        let index = (phase.parse::<usize>()? - 1) * 4 + number.parse::<usize>()? - 1;
        let ended = dispatch.ended_at.ok_or("an agent did not end")?;
        own.push(ended.since(dispatch.started_at) as f64 - lengths[index] * 1e3);
    }
    own.sort_by(f64::total_cmp);
    let took = Duration::from_millis(u64::try_from(landed.since(begun))?);
    Ok((took, own.get(own.len() / 2).copied().unwrap_or(0.0)))
}

/// Returns a lower bound for every order: the total work on all places, the longest unit and the longest chain. For
/// phases in order, it is the sum of the best times of the phases.
fn least(shape: Shape, lengths: &[f64]) -> f64 {
    let sum = lengths.iter().sum::<f64>() / PLACES as f64;
    let phases = lengths.chunks(4);
    match shape {
        Shape::Independent => lengths.iter().copied().fold(sum, f64::max),
        Shape::Chains => phases.map(|phase| phase.iter().sum()).fold(sum, f64::max),
        // Four units in three places: the two shortest share a place, or one unit is longer than both.
        Shape::InOrder => phases
            .map(|phase| {
                let mut phase = phase.to_vec();
                phase.sort_by(f64::total_cmp);
                (phase[0] + phase[1]).max(phase[3])
            })
            .sum(),
    }
}
