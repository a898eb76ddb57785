//! Runs one headless agent by hand, in this folder: `attend HOST PROGRAM STEADFAST edit|free PROMPT [ARGUMENT…]` prints
//! its events and its end.

#![expect(clippy::print_stdout, reason = "the user reads the events on stdout")]

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_hosts::launch::{AgentPermissions, Headless, headless};
use steadfast_hosts::price::Prices;
use steadfast_runner::agent::{Assignment, attend};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &'static str| arguments.next().ok_or(what);
    let run = Headless {
        host: next("which host?")?.parse()?,
        program: next("which program?")?.into(),
        steadfast: next("where is steadfast?")?.into(),
        permissions: match next("edit or free?")?.as_str() {
            "free" => AgentPermissions::Free,
            _ => AgentPermissions::Edit,
        },
        prompt: next("what is it to do?")?,
        session: None,
        budget_micro_usd: None,
        max_turns: None,
        extra: arguments.collect(),
    };
    let launch = headless(&run);
    for arg in &launch.args {
        println!("> {}", arg.to_string_lossy().replace("\n", ""));
    }
    let assignment = Assignment {
        launch,
        host: run.host,
        prices: Prices::built_in(),
        directory: std::env::current_dir()?,
        mark: "by-hand".to_owned(),
        log: std::env::temp_dir().join(format!("attend-{}.log", std::process::id())),
        silence: Duration::from_secs(60),
        limit: Duration::from_secs(300),
    };
    let departure = attend(&assignment, &AtomicBool::new(false), &mut |heard| println!("{heard:?}"));
    println!("{departure:#?}\nlog: {}", assignment.log.display());
    Ok(())
}
