//! The hosts' programs, each installed once a run, or missing loudly.

use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use steadfast_e2e::agents::{Agent, AgentError, install};
use steadfast_model::Host;

/// A real host, ready to be started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
}

impl Program {
    pub(crate) fn host(&self) -> Host {
        match self.agent {
            Agent::Claude2_1_325 | Agent::Claude2_1_197 => Host::Claude,
            Agent::Codex0_166_0 => Host::Codex,
        }
    }

    pub(crate) fn is_claude(&self) -> bool {
        self.host() == Host::Claude
    }
}

pub(crate) fn claude_2_1_325() -> Option<Program> {
    static INSTALLED: OnceLock<Result<PathBuf, AgentError>> = OnceLock::new();
    find(Agent::Claude2_1_325, &INSTALLED)
}

pub(crate) fn claude_2_1_197() -> Option<Program> {
    static INSTALLED: OnceLock<Result<PathBuf, AgentError>> = OnceLock::new();
    find(Agent::Claude2_1_197, &INSTALLED)
}

pub(crate) fn codex_0_166_0() -> Option<Program> {
    static INSTALLED: OnceLock<Result<PathBuf, AgentError>> = OnceLock::new();
    find(Agent::Codex0_166_0, &INSTALLED)
}

fn find(agent: Agent, installed: &OnceLock<Result<PathBuf, AgentError>>) -> Option<Program> {
    match installed.get_or_init(|| install(agent)) {
        Ok(path) => Some(Program { agent, path: path.clone() }),
        Err(error) => {
            skipped(agent.name(), error);
            None
        }
    }
}

/// Says loudly that a test is passed over. Where everything must be there, that is a failure.
pub(crate) fn skipped(what: &str, why: &dyn std::fmt::Display) {
    let skipped = format!("SKIPPED {what}: {why}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{skipped}");
    // Not `eprintln`: the test harness would keep it to itself.
    let _ = std::io::stderr().write_all(format!("{skipped}\n").as_bytes());
}
