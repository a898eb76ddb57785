//! Starts the agents of a run: their command lines and prices, and a proxy for each if the run has proxies.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use steadfast_hosts::launch::{self, Headless, Launch, headless};
use steadfast_hosts::price::Prices;
use steadfast_hosts::stream::{AgentEnd, AgentEvent};
use steadfast_model::{Host, Permissions, Run, RunSettings};
use steadfast_proxied::{AgentWork, RunAccount, RunProxies};
use steadfast_redact::redact;
use steadfast_work::{RUN_SPENT, Repository, chain};

use crate::agent::{AgentUpdate, Assignment, Departed, Departure, attend};
use crate::error::RunError;
use crate::preflight::Ready;

/// Starts agents.
pub struct Launcher {
    host: Host,
    prices: Prices,
    program: PathBuf,
    steadfast: PathBuf,
    path: Option<OsString>,
    permissions: Permissions,
    extra: Vec<String>,
    /// `None`: agents call their model themselves.
    proxies: Option<Arc<RunProxies>>,
}

/// The input of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    pub prompt: &'a str,
    /// Micro-dollars. Agents behind proxies have no shares: they spend from one account.
    pub share: Option<u64>,
    /// The hooks of this agent refuse its tools while this file exists.
    pub spent: &'a Path,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Does the tasks of a unit.
    Worker,
    /// Reads the work and reports on it.
    Expert,
}

/// The place of an agent's work, and its duration.
#[derive(Clone, Debug)]
pub struct Post {
    pub directory: PathBuf,
    /// The environment value that marks its processes.
    pub mark: String,
    /// Its output is appended to this file.
    pub log: PathBuf,
    pub silence: Duration,
    pub limit: Duration,
}

impl fmt::Debug for Launcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Launcher").field("host", &self.host).finish_non_exhaustive()
    }
}

impl Launcher {
    pub fn new(repository: &Repository, settings: &RunSettings, host: Host, ready: &Ready) -> Self {
        Self {
            host,
            prices: prices(settings),
            program: ready.program.clone(),
            path: path_with(&ready.steadfast, repository.environment.path.as_ref()),
            steadfast: ready.steadfast.clone(),
            permissions: settings.permissions.value,
            extra: settings.arguments.value.clone(),
            proxies: ready.proxies.clone(),
        }
    }

    /// The launcher for a run, with its budget.
    pub fn of_run(repository: &Repository, settings: &RunSettings, row: &Run, ready: &Ready) -> Result<Self, RunError> {
        let launcher = Self::new(repository, settings, row.host, ready);
        if let Some(account) = launcher.account() {
            let before = repository.ledger_as_it_is()?.sums(&row.id)?.micro_usd;
            account.begin(row.limits.micro_usd, before);
        }
        Ok(launcher)
    }

    /// Returns the account that agents behind proxies spend from.
    pub fn account(&self) -> Option<&RunAccount> {
        self.proxies.as_ref().map(|proxies| &*proxies.account)
    }

    /// Runs an agent to its end. If it has a proxy, that lives as long as the agent, and its count is the cost.
    pub fn attend(
        &self,
        start: &Start<'_>,
        post: Post,
        stop: &AtomicBool,
        on_update: &mut dyn FnMut(AgentUpdate),
    ) -> Departure {
        let Post { directory, mark, log, silence, limit } = post;
        let (host, prices, launch) = (self.host, self.prices.clone(), self.launch(start));
        let assignment = |launch, directory| Assignment { launch, host, prices, directory, mark, log, silence, limit };
        let Some(proxies) = &self.proxies else {
            return attend(&assignment(launch, directory), stop, on_update);
        };
        let work = match start.role {
            Role::Worker => AgentWork::Task { spent: start.spent },
            Role::Expert => AgentWork::Reading,
        };
        let proxied = match proxies.start(launch, &directory, work) {
            Ok(proxied) => proxied,
            Err(error) => return Departure::not_started(format!("it cannot run behind the proxy: {}", chain(&error))),
        };
        let meter = Arc::clone(&proxied.meter);
        let assignment = assignment(proxied.launch.clone(), directory);
        let mut departure = attend(&assignment, stop, &mut |update| {
            on_update(match update {
                AgentUpdate::Event(AgentEvent::Spent(_)) => AgentUpdate::Event(AgentEvent::Spent(meter.spent())),
                other => other,
            });
        });
        // Answers that the agent did not read to their end are counted now.
        drop(proxied);
        departure.spent = meter.spent();
        on_update(AgentUpdate::Event(AgentEvent::Spent(departure.spent)));
        let is_own_end = matches!(departure.how, Departed::Ended(AgentEnd::Finished) | Departed::Stopped);
        if meter.has_refused() && !is_own_end {
            departure.how = Departed::OutOfBudget;
        }
        departure
    }

    /// Returns the command line of an agent.
    pub(crate) fn launch(&self, start: &Start<'_>) -> Launch {
        let mut launch = headless(&Headless {
            host: self.host,
            program: self.program.clone(),
            // Other users see the arguments in the process list.
            prompt: redact(start.prompt).into_owned(),
            session: None,
            // The host's own estimate leaves out what the proxy counts.
            budget_micro_usd: start.share.filter(|_| self.proxies.is_none()),
            max_turns: None,
            steadfast: self.steadfast.clone(),
            permissions: match (start.role, self.permissions) {
                (Role::Expert, _) => launch::AgentPermissions::Read,
                (Role::Worker, permissions) => permissions.into(),
            },
            extra: self.extra.clone(),
        });
        launch.env.push((RUN_SPENT.to_owned(), start.spent.as_os_str().to_owned()));
        launch.env.extend(self.path.clone().map(|path| ("PATH".to_owned(), path)));
        launch
    }
}

/// Agents call `steadfast` by name, so its folder comes first in their `PATH`.
fn path_with(steadfast: &Path, path: Option<&OsString>) -> Option<OsString> {
    let found = path.cloned().unwrap_or_default();
    let folders = steadfast.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&found));
    std::env::join_paths(folders).ok()
}

pub(crate) fn prices(settings: &RunSettings) -> Prices {
    Prices::of_settings(&settings.prices.value)
}
