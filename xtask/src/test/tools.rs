//! Installs the programs that tests require. This does not count as test time.

use std::path::Path;

use steadfast_e2e::agents::{self, Agent};

use super::Extent;
use crate::{Result, skip, tool};

struct Tool {
    program: &'static str,
    package: &'static str,
    /// The part of the tests that requires it.
    part: &'static str,
    in_quick: bool,
}

const TOOLS: [Tool; 8] = [
    Tool { program: "valgrind", package: "valgrind", part: "instructions", in_quick: true },
    Tool { program: "zstd", package: "zstd", part: "corpora", in_quick: true },
    Tool { program: "ssh-keygen", package: "openssh-client", part: "signed approvals", in_quick: true },
    Tool { program: "unshare", package: "util-linux", part: "mounts", in_quick: true },
    Tool { program: "shellcheck", package: "shellcheck", part: "shell scripts", in_quick: true },
    Tool { program: "python3", package: "python3 python3-venv", part: "the wheel", in_quick: true },
    Tool { program: "c++", package: "g++", part: "fuzz", in_quick: false },
    Tool { program: "tmux", package: "tmux", part: "terminals", in_quick: true },
];

/// Installs missing programs. A program that cannot be installed is a skip, and in CI a failure.
pub(super) fn install(extent: Extent, skips: &Path) -> Result<()> {
    let mut missing = Vec::new();
    for tool in TOOLS.iter().filter(|tool| extent != Extent::Quick || tool.in_quick) {
        if let Err(why) = tool::provide(tool.program, tool.package) {
            missing.push((tool.part, why));
        }
    }
    for agent in Agent::ALL.into_iter().filter(|agent| extent.has(*agent)) {
        if let Err(error) = agents::install(agent) {
            missing.push((agent.name(), error.to_string()));
        }
    }
    for (part, why) in &missing {
        skip::record(skips, part, why)?;
    }
    if skip::is_ci() && !missing.is_empty() {
        let missing: Vec<_> = missing.into_iter().map(|(_, why)| why).collect();
        return Err(format!("in CI nothing is skipped: {}", missing.join("; ")).into());
    }
    Ok(())
}
