//! How long a plan takes with three agents at once, in simulated time: 16 units of 2 to 20 seconds in 4 phases.

use std::collections::BTreeMap;

use steadfast_plan::{Schedule, Unit, UnitState, next_wave, units};

const PLACES: usize = 3;
const SETS: u64 = 20;
/// For what holds of every set, whatever the lengths are.
const MANY: u64 = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// No phase waits for another, no unit for another of its phase.
    Independent,
    /// No phase waits for another, each unit waits for the one before it.
    Chains,
    /// Each phase waits for the one before it.
    InOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A wave waits for its slowest unit.
    Waves,
    /// By dependency; nobody knows how long a unit takes.
    Unknown,
    /// By dependency, with the true lengths.
    Known,
}

/// A spec as its author writes it.
fn units_of(shape: Shape) -> Vec<Unit> {
    let mut text = String::from("# Sixteen\n\nSixteen files are written.\n");
    for phase in 1..=4 {
        text += &format!("\n## Phase {phase}: P{phase}\n\n");
        if shape != Shape::InOrder {
            text += "Depends on: none\n\n";
        }
        for number in 1..=4 {
            text += &format!("- [ ] {phase}.{number} Write {phase}-{number}\n  - files: `{phase}-{number}.txt`\n");
            text += &format!("  - verify: `test -s {phase}-{number}.txt`\n");
            if shape == Shape::Chains && number > 1 {
                text += &format!("  - depends on: {phase}.{}\n", number - 1);
            }
        }
    }
    units(&super::waves::of_spec(&text)).unwrap()
}

/// How long each unit takes, in milliseconds. The decisions of a phase take no agent.
fn lengths_of(units: &[Unit], seed: u64) -> Vec<u64> {
    let mut random = seed;
    let mut length = || {
        // splitmix64
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2_000 + (mixed ^ (mixed >> 31)) % 18_001
    };
    units.iter().map(|unit| if unit.id.as_str().ends_with(".0") { 0 } else { length() }).collect()
}

/// The moment at which the last unit has landed.
fn makespan(units: &[Unit], lengths: &[u64], how: How) -> u64 {
    let schedule = match how {
        How::Known => Schedule::weighed(units, lengths),
        How::Waves | How::Unknown => Schedule::of(units),
    };
    let mut states = vec![UnitState::Waiting; units.len()];
    let mut running: BTreeMap<(u64, usize), ()> = BTreeMap::new();
    let mut wave: Vec<usize> = Vec::new();
    let mut now = 0;
    loop {
        if how == How::Waves && wave.iter().all(|place| states[*place] == UnitState::Done) {
            let of = |id: &_| states[units.iter().position(|unit| unit.id == *id).unwrap()];
            wave = next_wave(units, &of);
        }
        while running.len() < PLACES {
            let held = |place: usize| how == How::Waves && !wave.contains(&place);
            let state = |place: usize| match states[place] {
                UnitState::Waiting if held(place) => UnitState::Blocked,
                state => state,
            };
            let Some(place) = schedule.next(units, &state) else { break };
            states[place] = UnitState::Running;
            running.insert((now + lengths[place], place), ());
        }
        let Some(((ended, place), ())) = running.pop_first() else { break };
        now = ended;
        states[place] = UnitState::Done;
    }
    assert!(states.iter().all(|state| *state == UnitState::Done), "{states:?}");
    now
}

/// No schedule takes less: all work on all places, or the longest chain. Phases in order: each at its best.
fn least(shape: Shape, units: &[Unit], lengths: &[u64]) -> f64 {
    let phase = |number: usize| -> Vec<u64> {
        let of = units.iter().zip(lengths).filter(|(unit, _)| unit.id.as_str().starts_with(&format!("{number}.")));
        of.map(|(_, length)| *length).filter(|length| *length > 0).collect()
    };
    let sum = lengths.iter().sum::<u64>() as f64 / PLACES as f64;
    let longest = *lengths.iter().max().unwrap() as f64;
    match shape {
        Shape::Independent => sum.max(longest),
        Shape::Chains => (1..=4).map(|number| phase(number).iter().sum::<u64>() as f64).fold(sum, f64::max),
        // Four units in three places: the two shortest share one, or one unit is longer than both.
        Shape::InOrder => (1..=4)
            .map(|number| {
                let mut lengths = phase(number);
                lengths.sort_unstable();
                (lengths[0] + lengths[1]).max(lengths[3]) as f64
            })
            .sum(),
    }
}

fn ratios(shape: Shape, how: How, sets: u64) -> Vec<f64> {
    let units = units_of(shape);
    let ratio = |seed| {
        let lengths = lengths_of(&units, seed);
        makespan(&units, &lengths, how) as f64 / least(shape, &units, &lengths)
    };
    (1..=sets).map(ratio).collect()
}

fn mean(ratios: &[f64]) -> f64 {
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

fn most(ratios: &[f64]) -> f64 {
    ratios.iter().copied().fold(0.0, f64::max)
}

#[test]
fn by_dependency_a_plan_takes_less_than_in_waves() {
    let mut table = String::new();
    for (shape, limit) in [(Shape::Independent, 1.1), (Shape::Chains, 1.1), (Shape::InOrder, 1.15)] {
        let mut means = Vec::new();
        for how in [How::Waves, How::Unknown, How::Known] {
            let ratios = ratios(shape, how, SETS);
            let over = ratios.iter().filter(|ratio| **ratio > limit).count();
            let (mean, most) = (mean(&ratios), most(&ratios));
            table += &format!("{shape:?}, {how:?}: mean {mean:.3}, most {most:.3}, {over} of {SETS} over {limit}\n");
            means.push(mean);
        }
        assert!(means[1] <= means[0] && means[1] < limit && means[2] <= means[1], "{shape:?}: {means:?}");
    }
    insta::assert_snapshot!(table, @r"
    Independent, Waves: mean 1.074, most 1.162, 4 of 20 over 1.1
    Independent, Unknown: mean 1.074, most 1.162, 4 of 20 over 1.1
    Independent, Known: mean 1.024, most 1.047, 0 of 20 over 1.1
    Chains, Waves: mean 1.315, most 1.506, 20 of 20 over 1.1
    Chains, Unknown: mean 1.079, most 1.231, 6 of 20 over 1.1
    Chains, Known: mean 1.042, most 1.125, 1 of 20 over 1.1
    InOrder, Waves: mean 1.059, most 1.163, 1 of 20 over 1.15
    InOrder, Unknown: mean 1.059, most 1.163, 1 of 20 over 1.15
    InOrder, Known: mean 1.000, most 1.000, 0 of 20 over 1.15
    ");
}

/// What holds whatever the lengths are, without knowing them: Graham's bound for three places.
#[test]
fn no_plan_takes_more_than_graham_allows() {
    for shape in [Shape::Independent, Shape::Chains, Shape::InOrder] {
        let ratios = ratios(shape, How::Unknown, MANY);
        assert!(most(&ratios) <= 2.0 - 1.0 / PLACES as f64, "{shape:?}: {}", most(&ratios));
    }
}

/// With lengths that are known, the limits hold for every set.
#[test]
fn with_known_lengths_the_longest_goes_first() {
    assert!(most(&ratios(Shape::Independent, How::Known, MANY)) <= 1.1);
    assert!(most(&ratios(Shape::InOrder, How::Known, MANY)) <= 1.15);
}

#[test]
fn the_longest_chain_goes_first_and_files_that_meet_do_not_run_at_once() {
    let task = super::waves::main_task;
    let tasks = [
        task("1", &["a"], &[]),
        task("2", &["a/b"], &[]),
        task("3", &["c"], &[]),
        task("4", &["d"], &["3"]),
        task("5", &["e"], &["4"]),
    ];
    let units = units(&tasks).unwrap();
    let schedule = Schedule::of(&units);
    let mut states = [UnitState::Waiting; 5];
    let mut order = Vec::new();
    while let Some(place) = schedule.next(&units, &|place| states[place]) {
        order.push(units[place].id.as_str());
        states[place] = UnitState::Running;
    }
    assert_eq!(order, ["3", "1"]);
    // A unit that waits for a human stops only what depends on it.
    states[2] = UnitState::Blocked;
    states[0] = UnitState::Done;
    assert_eq!(schedule.next(&units, &|place| states[place]), Some(1));
}
