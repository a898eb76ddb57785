use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use steadfast_hosts::install::{self, BinaryError, InstallRequest, InstallScope};
use steadfast_model::{Host, Mode};
use steadfast_store::ledger::Ledger;
use steadfast_store::{CONFIG_FILE, log_line};
use steadfast_work::chain;
use steadfast_work::setup::{Exclude, Wanted};

use crate::diff;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, says_yes, tell};

/// The name of our npm and Python packages, as in `packaging/`.
const PACKAGE: &str = "steadfast-cli";

/// Set up Steadfast for this repository and its hosts.
///
/// Shows the changes and asks before it writes anything.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// Write the settings that are committed with the repository, for all its users.
    #[arg(long, conflicts_with = "user")]
    shared: bool,
    /// Write your own settings for all repositories; they apply only in repositories with `init` done.
    #[arg(long)]
    user: bool,
    /// Host to wire even if it is not found. May be given several times. [default: the hosts in use]
    #[arg(long = "host", value_name = "HOST", value_parser = here::parse_host)]
    hosts: Vec<Host>,
    /// Mode for this repository: `observe` records, `advise` gives advice, `enforce` refuses.
    #[arg(long, value_name = "MODE", value_parser = |text: &str| text.parse::<Mode>())]
    mode: Option<Mode>,
    /// Show the changes, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
}

impl Init {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let setup = here::setup()?;
        let scope = match (self.shared, self.user) {
            (true, _) => InstallScope::Shared,
            (_, true) => InstallScope::User,
            _ => InstallScope::Local,
        };
        let hosts = if self.hosts.is_empty() { setup.detected()? } else { self.hosts.clone() };
        let binary = binary(scope)?;
        let cap = setup.stop_block_cap(&environment::current())?;
        let request = InstallRequest {
            hosts: &hosts,
            scope,
            place: &setup.install,
            binary: &binary,
            stop_block_cap: cap.filter(|_| hosts.contains(&Host::Claude)),
        };
        let plan = install::plan_install(&request)?;
        let wanted = Wanted::of_install(&setup, scope, &hosts);
        let exclude = Exclude::of(&setup.place);
        let exclusion = exclude.as_ref().and_then(|exclude| exclude.planned(&wanted));

        diff::show_plan(&plan, self.dry_run)?;
        if let (Some(exclude), Some((before, after))) = (&exclude, &exclusion) {
            diff::print(exclude.path(), before.as_deref(), Some(after))?;
        }
        if request.stop_block_cap.is_some() {
            note!(
                "note: `stop.max_idle` is 8 or more, so `init` raises `{}`. This also lifts Claude Code's limit \
                 for other Stop hooks.",
                install::STOP_BLOCK_CAP
            );
        }
        let changes = plan.changes.len() + usize::from(exclusion.is_some());
        let new = !setup.place.state.is_dir();
        if self.dry_run {
            note!("dry run: {changes} files would change, nothing was written");
            return Ok(());
        }
        if changes > 0 && !self.yes {
            confirm(changes)?;
        }

        setup.create()?;
        Ledger::open(&setup.place.state)?;
        if let Some(mode) = self.mode {
            for policy in ["mode.integrity", "mode.approval", "mode.constraint", "mode.drift", "mode.completion"] {
                super::config::set(&setup.place.state.join(CONFIG_FILE), policy, mode.as_str())?;
            }
        }
        install::apply(&plan)?;
        if let Err(error) = steadfast_hook::note_wiring(&setup.place, &setup.install.homes) {
            // The first prompt records it.
            log_line(&setup.place, environment::now(), &format!("cannot record the wiring of the hosts: {error}"));
        }
        if let Some(exclude) = &exclude {
            exclude.write_planned(&wanted)?;
        }
        // A replaced broken link changes no file, but is a change.
        say_done(&hosts, changes, new || !plan.is_empty())
    }
}

/// The path of the program for the settings. A shared file names the program, which must then be on the `PATH`.
fn binary(scope: InstallScope) -> Result<PathBuf, CommandError> {
    let (cwd, path) = (environment::cwd(), environment::path_variable());
    if scope == InstallScope::Shared {
        if !install::is_on_path(path.as_deref(), &cwd) {
            note!("note: `steadfast` is not on your PATH; shared hooks call it by name and do nothing until it is");
        }
        return Ok("steadfast".into());
    }
    let exe = std::env::current_exe().map_err(|error| {
        CommandError::failure(format!("cannot find this program: {error}"))
            .hint("`steadfast init --shared` writes the name of the program without its path")
    })?;
    let called = std::env::args_os().next().unwrap_or_default();
    install::find_binary(&called, &exe, path.as_deref(), &cwd)
        .map_err(|error| CommandError::failure(chain(&error)).hint(how_to_install(&error)))
}

/// The hint with the command that installs the program permanently.
fn how_to_install(error: &BinaryError) -> String {
    let install = match error {
        BinaryError::Cache { runner, .. } => format!("{} {PACKAGE}", runner.install()),
        BinaryError::BuildFolder { .. } | BinaryError::Name { .. } => {
            "cargo install --locked --path crates/steadfast".to_owned()
        }
    };
    format!("run `{install}` to install it, then `steadfast init`")
}

fn confirm(changes: usize) -> Result<(), CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::needs_human(format!(
            "{changes} files would change, and there is no terminal to ask for confirmation"
        ))
        .hint("`steadfast init --yes` writes them without asking, `--dry-run` only shows the changes"));
    }
    if says_yes(&format!("change {changes} files? [y/N] ")) {
        Ok(())
    } else {
        Err(CommandError::refused("nothing was changed")
            .hint("`steadfast init` asks again; `--dry-run` only shows the changes"))
    }
}

fn say_done(hosts: &[Host], changes: usize, wrote: bool) -> Result<(), CommandError> {
    let names: Vec<_> = hosts.iter().map(|host| host.full_name()).collect();
    let names = names.join(" and ");
    match (changes, wrote) {
        (0, false) => tell!("{names}: already set up, nothing to change")?,
        _ => tell!("{names}: set up. Restart running sessions to load the hooks.")?,
    }
    if hosts.contains(&Host::Codex) {
        tell!("Codex asks at its next start whether you trust these hooks. It runs them only if you do.")?;
    }
    tell!(
        "Next: `steadfast plan load SPEC.md` loads a spec, `steadfast task add TITLE` adds a task. Then start the host and \
         say \"do the tasks\": the agent stops when they are done."
    )
}
