use std::time::{Duration, Instant};

use super::*;

const TASKS: usize = 1000;

/// The middle of many, in microseconds.
fn median(mut work: impl FnMut()) -> u128 {
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2].as_micros()
}

fn report(what: &str, place: &std::path::Path) {
    let opened = median(|| drop(Ledger::open_read_only(place).unwrap()));
    let viewed = median(|| drop(Ledger::open_read_only(place).unwrap().unwrap().plan_view(WORKTREE).unwrap()));
    let written = median(|| drop(Ledger::open(place).unwrap().plan_view(WORKTREE).unwrap()));
    println!("{what}: open_read_only {opened} µs, with plan_view {viewed} µs; open with plan_view {written} µs");
}

#[test]
#[ignore = "prints figures: cargo test --release -p steadfast-store speed -- --ignored --nocapture"]
fn open_and_view_a_thousand_tasks() {
    for (what, waits) in [("1,000 tasks side by side", false), ("1,000 tasks in a chain", true)] {
        let dir = dir();
        let mut ledger = Ledger::open(dir.path()).unwrap();
        let plan = list(&mut ledger);
        for number in 1..=TASKS {
            let before = (number - 1).to_string();
            let before = [before.as_str()];
            let before = if waits && number > 1 { &before[..] } else { &[] };
            ledger.add_task(&plan, after(&number.to_string(), before), at(1)).unwrap();
        }
        report(what, dir.path());
        ledger.set_status(&plan, &id("1"), to(Status::InProgress)).unwrap();
        report("  the first in progress", dir.path());
        drop(ledger);
        report("  and nobody else there", dir.path());
    }
}
