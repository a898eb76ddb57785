//! Many agents at once cost next to nothing while they think.

use std::time::{Duration, Instant};
use std::{fs, thread};

use steadfast_hosts::stream::AgentEnd;
use steadfast_runner::agent::Departed;

use crate::attendant::Fixture;

/// Processor time of this thread: other tests run in this process, too.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

#[test]
#[cfg(target_os = "linux")]
fn sixteen_agents_that_think_cost_next_to_nothing() {
    let script = r#"sleep 4; echo '{"moment":"ended","ending":"stopped"}'"#;
    let began = Instant::now();
    let attend = move || (Fixture::of(script).visit().departure.how, cpu());
    let agents: Vec<_> = (0..16).map(|_| thread::spawn(attend)).collect();
    let mut spent = Duration::ZERO;
    for agent in agents {
        let (how, of_one) = agent.join().unwrap();
        assert_eq!(how, Departed::Ended(AgentEnd::Finished));
        spent += of_one;
    }
    let took = began.elapsed();
    // A busy loop would spend all of it; what starting and ending 16 processes costs is most of this.
    assert!(spent < took / 10, "{spent:?} of {took:?}");
}
