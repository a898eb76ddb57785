//! `cargo xtask test`: runs all tests and checks.

mod leftovers;
mod outcome;
mod report;
mod suite;
mod tools;

use std::path::Path;

use steadfast_e2e::agents::Agent;

use crate::process::{cargo, run};
use crate::{Result, boundary, fuzz, instructions, purity, tool};
use leftovers::Workplace;
use report::Report;
use suite::{Group, Suite};

/// Seconds of fuzzing per target, after its corpus; `cargo xtask fuzz` runs longer.
const FUZZ_SECONDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Without real hosts and fuzzing, for quick feedback.
    Quick,
    /// The newest version of each host.
    Usual,
    /// Older versions too, for CI. They take a third of the time of all host tests.
    OlderHosts,
}

impl Extent {
    fn has(self, agent: Agent) -> bool {
        match self {
            Self::Quick => false,
            Self::Usual => !agent.is_older(),
            Self::OlderHosts => true,
        }
    }
}

/// Runs every stage, also after one has failed, and prints the table.
pub(crate) fn test(extent: Extent) -> Result<()> {
    let workplace = Workplace::new()?;
    let mut report = Report::new(&workplace.skips());
    report.stage("tools", |stage| {
        stage.keep_apart();
        tools::install(extent, &workplace.skips())
    });
    report.stage("formatting", |_| run(&mut cargo(["fmt", "--all", "--check"])));
    report.stage("lints", |_| {
        run(&mut cargo(["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
    });
    report.stage("boundaries", |_| boundary::check().and_then(|()| purity::check()));
    if let Some(suite) = report.stage("building tests", |_| Suite::build(&workplace)) {
        report.stage("unit and CLI", |stage| suite.run(Group::UnitAndCli, stage));
        report.stage("timing", |stage| suite.run(Group::Timing, stage));
        report.stage("instructions", |_| count(suite.binary()));
        if extent != Extent::Quick {
            report.stage("real hosts", |stage| {
                let left_out = left_out(extent);
                if !left_out.is_empty() {
                    stage.note(format!("without {} (--older-hosts)", left_out.join(", ")));
                }
                suite.run(Group::RealHosts { left_out: &left_out }, stage)
            });
        }
    }
    if extent != Extent::Quick {
        report.stage("fuzz", |_| fuzz::fuzz(FUZZ_SECONDS, fuzz::Build::Quick));
    }
    report.stage("left behind", |_| workplace.clean());
    report.print()
}

fn left_out(extent: Extent) -> Vec<&'static str> {
    Agent::ALL.into_iter().filter(|agent| !extent.has(*agent)).map(Agent::name).collect()
}

/// Counts on the binary of the tests, since another profile would need another build.
fn count(binary: &Path) -> Result<()> {
    // If it is missing, the installation has already recorded the skip.
    if tool::is_here("valgrind") { instructions::compare("dev", binary) } else { Ok(()) }
}
