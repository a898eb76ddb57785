//! The hosts' programs, each installed once a run, or missing loudly.

use std::path::PathBuf;
use std::sync::OnceLock;

use steadfast_e2e::agents::{Agent, AgentError, install};
use steadfast_model::Host;
use steadfast_testkit::skip;

/// A real host, ready to be started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
}

impl Program {
    pub(crate) fn host(&self) -> Host {
        match self.agent {
            // Copilot CLI is wired by nothing but what Claude Code is wired by.
            Agent::Claude2_1_325 | Agent::Claude2_1_197 | Agent::Copilot1_0_102 => Host::Claude,
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

pub(crate) fn copilot_1_0_102() -> Option<Program> {
    static INSTALLED: OnceLock<Result<PathBuf, AgentError>> = OnceLock::new();
    find(Agent::Copilot1_0_102, &INSTALLED)
}

fn find(agent: Agent, installed: &OnceLock<Result<PathBuf, AgentError>>) -> Option<Program> {
    match installed.get_or_init(|| install(agent)) {
        Ok(path) => Some(Program { agent, path: path.clone() }),
        Err(error) => {
            skip(agent.name(), error);
            None
        }
    }
}
