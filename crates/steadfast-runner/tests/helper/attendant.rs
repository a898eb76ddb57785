//! Attends an agent that is a shell script, in a process that tests can kill. Not a part of the product.
//!
//! Its argument is a folder: `order` in it is the script, `work` the folder of the agent.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_hosts::launch::Launch;
use steadfast_hosts::price::Prices;
use steadfast_model::Host;
use steadfast_runner::agent::{Assignment, attend};

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let args = vec!["-c".into(), fs::read_to_string(folder.join("order")).unwrap().into()];
    let assignment = Assignment {
        launch: Launch { program: "/bin/sh".into(), args, env: Vec::new(), clear_env: false },
        host: Host::Sim,
        prices: Prices::default(),
        mark: format!("test-{}", folder.display()),
        log: folder.join("logs/attendant.log"),
        directory: folder.join("work"),
        silence: Duration::from_secs(120),
        limit: Duration::from_secs(120),
    };
    attend(&assignment, &AtomicBool::new(false), &mut |_| {});
}
