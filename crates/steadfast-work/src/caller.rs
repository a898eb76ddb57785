//! On whose behalf a command runs: a human at a terminal, or an agent inside a tool call.

use steadfast_hook::host_above;
use steadfast_model::{AddedBy, AgentId, Claim, SessionId};
use steadfast_store::{Place, find_claim};

use crate::Environment;

#[derive(Debug)]
pub struct Caller {
    pub by: AddedBy,
    pub session: Option<SessionId>,
    /// The subagent of that session.
    pub agent: Option<AgentId>,
}

impl Caller {
    /// The host says it by its environment, the pre-tool hook of this very call left a claim, or a host stands above
    /// this process. `words` are what the command was called with, to tell its claim from that of a call running beside
    /// it. An environment can be emptied; an ancestor cannot be changed.
    pub fn of(place: Option<&Place>, environment: &Environment, words: &str) -> Self {
        let named = environment.session.clone();
        let claim = place.and_then(|place| find_claim(place, named.as_ref(), words, environment.now()));
        let inside = environment.inside_agent || claim.is_some() || host_above().is_some();
        let agent = claim.as_ref().and_then(|claim| claim.agent.clone());
        let session = claim.map(|Claim { session, .. }| session).or_else(|| named.filter(|_| inside));
        Self { by: if inside { AddedBy::Agent } else { AddedBy::Human }, session, agent }
    }

    pub fn human() -> Self {
        Self { by: AddedBy::Human, session: None, agent: None }
    }

    /// A tool call over MCP is an agent's. The environment names the session that the server was started in, which may
    /// have ended since (`/clear`): only the claim says whose call it is.
    pub fn behind(claim: Option<Claim>) -> Self {
        let (session, agent) = claim.map_or((None, None), |Claim { session, agent, .. }| (Some(session), agent));
        Self { by: AddedBy::Agent, session, agent }
    }

    pub fn is_agent(&self) -> bool {
        self.by == AddedBy::Agent
    }
}
