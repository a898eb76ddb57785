//! The proxies of a run: one for each of its agents, which lives as long as the agent.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use steadfast_hook::HookEnvironment;
use steadfast_hosts::install::Homes;
use steadfast_hosts::launch::{BehindError, BehindProxy, CodexLogin, Launch, Surroundings};
use steadfast_hosts::price::Prices;
use steadfast_model::ProxyMode;

use crate::account::RunAccount;
use crate::agent::{ProxiedAgent, ProxiedError, ProxyWork};
use crate::meter::Meter;

/// Starts the agents of a run behind proxies.
pub struct RunProxies {
    pub account: Arc<RunAccount>,
    pub mode: ProxyMode,
    pub prices: Prices,
    pub homes: Homes,
    /// Reads a variable of the environment, which agents inherit.
    pub variable: fn(&str) -> Option<String>,
    /// Returns what a hook would find around this process.
    pub hook: fn() -> HookEnvironment,
    /// The answer of Codex to the question how it is logged in. It is asked once.
    pub login: OnceLock<CodexLogin>,
}

impl fmt::Debug for RunProxies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunProxies").field("account", &self.account).finish_non_exhaustive()
    }
}

/// The purpose of an agent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentWork<'a> {
    /// It has our hooks. If they are not called, the proxy judges its calls. They refuse its tools while this file
    /// exists.
    Task { spent: &'a Path },
    /// It only reads, has no hooks, and is only counted.
    Reading,
}

/// An agent of a run behind its proxy, which ends when this is dropped.
#[derive(Debug)]
pub struct ProxiedRunAgent {
    pub launch: Launch,
    pub meter: Arc<Meter>,
    _proxied: ProxiedAgent,
}

impl RunProxies {
    /// Reads where the agent of this command line would send its requests. `folder`: where it starts.
    pub fn behind(&self, launch: &Launch, folder: &Path) -> Result<BehindProxy, BehindError> {
        let login = |program: &OsStr| *self.login.get_or_init(|| CodexLogin::ask(program));
        let around =
            Surroundings { homes: &self.homes, folder, variable: &self.variable, codex_login: &login, upstream: None };
        BehindProxy::of(launch.program.as_os_str(), &launch.args, &around)
    }

    /// Starts a proxy for the agent of this command line.
    pub fn start(&self, launch: Launch, folder: &Path, work: AgentWork<'_>) -> Result<ProxiedRunAgent, ProxiedError> {
        let behind = self.behind(&launch, folder)?;
        let meter = Arc::new(Meter::of_run(self.prices.clone(), Arc::clone(&self.account)));
        let proxied = match work {
            AgentWork::Reading => ProxiedAgent::judged_by(&behind, Arc::clone(&meter) as _, None)?,
            AgentWork::Task { spent } => {
                let (hook, cwd, spent) = (self.hook, folder.to_owned(), spent.to_owned());
                let around = move || HookEnvironment {
                    cwd: cwd.clone(),
                    project: None,
                    session: None,
                    attended: Some(false),
                    peer: None,
                    run_spent: Some(spent.clone()),
                    ..hook()
                };
                let work = ProxyWork { mode: self.mode, meter: Arc::clone(&meter), recorder: None };
                ProxiedAgent::start(&behind, &work, around)?
            }
        };
        let Launch { program, args, env, .. } = proxied.launch.clone();
        let launch = Launch { program, args, env: [launch.env, env].concat(), clear_env: launch.clear_env };
        Ok(ProxiedRunAgent { launch, meter, _proxied: proxied })
    }
}
