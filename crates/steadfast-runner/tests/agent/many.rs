//! Many agents at once cost next to nothing while they think.

use std::time::{Duration, Instant};
use std::{fs, thread};

use steadfast_hosts::stream::AgentEnd;
use steadfast_runner::agent::Departed;

use crate::attendant::Bench;

/// Processor time of this process, without its children.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

#[test]
#[cfg(target_os = "linux")]
fn sixteen_agents_that_think_cost_next_to_nothing() {
    let script = r#"sleep 4; echo '{"moment":"ended","ending":"stopped"}'"#;
    let (before, began) = (cpu(), Instant::now());
    let agents: Vec<_> = (0..16).map(|_| thread::spawn(move || Bench::of(script).visit().departure.how)).collect();
    for agent in agents {
        assert_eq!(agent.join().unwrap(), Departed::Ended(AgentEnd::Finished));
    }
    let (spent, took) = (cpu() - before, began.elapsed());
    // A busy loop would spend all of it; what starting and ending 16 processes costs is most of this.
    assert!(spent < took / 10, "{spent:?} of {took:?}");
}
