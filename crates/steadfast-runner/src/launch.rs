//! The launch commands and prices of a run's agents.

use std::ffi::OsString;
use std::path::Path;

use steadfast_hosts::launch::{self, Headless, headless};
use steadfast_hosts::price::Prices;
use steadfast_model::{Host, RunSettings};
use steadfast_redact::redact;
use steadfast_work::{RUN_SPENT, Repository};

use crate::preflight::Ready;
use crate::run::{Launcher, Role, Start};

pub fn launcher(repository: &Repository, settings: &RunSettings, host: Host, ready: &Ready) -> Box<Launcher> {
    let (program, steadfast) = (ready.program.clone(), ready.steadfast.clone());
    let path = path_with(&steadfast, repository.environment.path.as_ref());
    let (permissions, extra) = (settings.permissions.value, settings.arguments.value.clone());
    Box::new(move |start: &Start<'_>| {
        let mut launch = headless(&Headless {
            host,
            program: program.clone(),
            // Other users see the arguments in the process list.
            prompt: redact(start.prompt).into_owned(),
            session: None,
            budget_micro_usd: start.share,
            max_turns: None,
            steadfast: steadfast.clone(),
            permissions: match (start.role, permissions) {
                (Role::Expert, _) => launch::AgentPermissions::Read,
                (Role::Worker, permissions) => permissions.into(),
            },
            extra: extra.clone(),
        });
        launch.env.push((RUN_SPENT.to_owned(), start.spent.as_os_str().to_owned()));
        launch.env.extend(path.clone().map(|path| ("PATH".to_owned(), path)));
        launch
    })
}

/// Agents call `steadfast` by name, so its folder comes first in their `PATH`.
fn path_with(steadfast: &Path, path: Option<&OsString>) -> Option<OsString> {
    let found = path.cloned().unwrap_or_default();
    let folders = steadfast.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&found));
    std::env::join_paths(folders).ok()
}

pub fn prices(settings: &RunSettings) -> Prices {
    Prices::of_settings(&settings.prices.value)
}
