//! The caller of a command: a human at a terminal, or an agent inside a tool call.

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
    /// The caller is an agent if the host says so in the environment, if the pre-tool hook of this call left a claim,
    /// or if a host is an ancestor of this process. `words` are the arguments of the command, to tell its claim from
    /// that of a call that runs at the same time. An agent can empty the environment, but it cannot change its
    /// ancestors.
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

    /// The caller of a tool call over MCP, always an agent. The environment names the session in which the server was
    /// started, which may have ended since (`/clear`), so only the claim tells the session.
    pub fn behind(claim: Option<Claim>) -> Self {
        let (session, agent) = claim.map_or((None, None), |Claim { session, agent, .. }| (Some(session), agent));
        Self { by: AddedBy::Agent, session, agent }
    }

    pub fn is_agent(&self) -> bool {
        self.by == AddedBy::Agent
    }
}
