use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use steadfast_hosts::install::{self, Request, Scope};
use steadfast_model::{Host, Mode, Via};
use steadfast_store::ledger::Ledger;
use steadfast_store::{CONFIG_FILE, log_line};
use steadfast_work::{Repository, chain};

use crate::diff;
use crate::error::CommandError;
use crate::exclude::{Exclude, Wanted};
use crate::output::{note, put_aside, tell};
use crate::setup::{self, Setup};
use crate::surroundings;

/// Sets Steadfast up for this repository: shows what it would change, asks, and wires the hosts in use.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// Write the settings that are committed with the repository, for everyone who works in it.
    #[arg(long, conflicts_with = "user")]
    shared: bool,
    /// Write your own settings for all repositories; they act only where `init` was run.
    #[arg(long)]
    user: bool,
    /// Wire this host even if it is not found. May be given several times. [default: those in use]
    #[arg(long = "host", value_name = "HOST", value_parser = setup::parse_host)]
    hosts: Vec<Host>,
    /// How far Steadfast may go in this repository: `observe` records, `advise` speaks, `enforce` refuses.
    #[arg(long, value_name = "MODE", value_parser = |text: &str| text.parse::<Mode>())]
    mode: Option<Mode>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Init {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let setup = Setup::here()?;
        let scope = match (self.shared, self.user) {
            (true, _) => Scope::Shared,
            (_, true) => Scope::User,
            _ => Scope::Local,
        };
        let hosts = if self.hosts.is_empty() { setup.detected()? } else { self.hosts.clone() };
        let binary = binary(scope)?;
        let cap = stop_block_cap(&setup)?;
        let request = Request {
            hosts: &hosts,
            scope,
            place: &setup.install,
            binary: &binary,
            stop_block_cap: cap.filter(|_| hosts.contains(&Host::Claude)),
        };
        let plan = install::plan_install(&request).map_err(setup::refusal)?;
        let wanted = passed_over(&setup, scope, &hosts);
        let exclude = Exclude::of(&setup.place);
        let exclusion = exclude.as_ref().and_then(|exclude| exclude.planned(&wanted));

        setup::show(&plan, self.dry_run)?;
        if let (Some(exclude), Some((before, after))) = (&exclude, &exclusion) {
            diff::print(exclude.path(), before.as_deref(), Some(after))?;
        }
        if request.stop_block_cap.is_some() {
            note!(
                "note: `max_idle` is 8 or more, so `{}` is raised. That also frees other Stop hooks from Claude Code's \
                 limit.",
                install::STOP_BLOCK_CAP
            );
        }
        let changes = plan.changes.len() + usize::from(exclusion.is_some());
        let new = !setup.place.state.is_dir();
        if self.dry_run {
            note!("nothing was changed: this was a dry run over {changes} files");
            return Ok(());
        }
        if changes > 0 && !self.yes {
            confirm(changes)?;
        }

        setup.bring_back()?;
        setup.place.create().map_err(|error| {
            CommandError::failure(format!("cannot create `{}`: {error}", setup.place.state.display()))
                .hint("nothing was changed; make its folder writable and try again")
        })?;
        Ledger::open(&setup.place.state)?;
        if let Some(mode) = self.mode {
            for policy in ["mode.integrity", "mode.approval", "mode.constraint", "mode.drift", "mode.completion"] {
                super::config::set(&setup.place.state.join(CONFIG_FILE), policy, mode.as_str())?;
            }
        }
        install::apply(&plan).map_err(setup::refusal)?;
        if let Err(error) = steadfast_hook::note_wiring(&setup.place, &setup.install.homes) {
            // The first prompt keeps it.
            log_line(&setup.place, surroundings::now(), &format!("how the hosts are wired was not kept: {error}"));
        }
        if let Some(exclude) = &exclude {
            exclude.write_planned(&wanted)?;
        }
        // A link that led nowhere is no change in a file, and still one.
        say_done(&hosts, changes, new || !plan.is_empty())
    }
}

/// The path that goes into the settings. A shared file names the program, which must then be found by that name.
fn binary(scope: Scope) -> Result<PathBuf, CommandError> {
    let (cwd, path) = (surroundings::cwd(), surroundings::path_variable());
    if scope == Scope::Shared {
        if !install::is_on_path(path.as_deref(), &cwd) {
            note!("note: `steadfast` is not on your PATH; shared wiring names it and does nothing until it is");
        }
        return Ok("steadfast".into());
    }
    let exe = std::env::current_exe().map_err(|error| {
        CommandError::failure(format!("cannot find this program: {error}"))
            .hint("`steadfast init --shared` names it without its path")
    })?;
    let called = std::env::args_os().next().unwrap_or_default();
    install::find_binary(&called, &exe, path.as_deref(), &cwd).map_err(|error| {
        CommandError::failure(chain(&error)).hint(
            "`cargo install --path crates/steadfast --profile dist` puts it where it stays; run `steadfast init` then",
        )
    })
}

/// What git is to pass over: what is this user's own. Shared wiring is there to be committed.
fn passed_over(setup: &Setup, scope: Scope, hosts: &[Host]) -> Wanted {
    let mut wanted = Wanted::default();
    for host in hosts {
        if scope == Scope::Local {
            wanted.hide_settings(*host);
        }
        match scope {
            Scope::Shared => wanted.show_skills(*host),
            Scope::Local | Scope::User if is_shared(setup, *host) => {}
            Scope::Local | Scope::User => wanted.hide_skills(*host),
        }
    }
    wanted
}

fn is_shared(setup: &Setup, host: Host) -> bool {
    let files = install::inspect(host, &setup.install.homes, &setup.install.root);
    files.iter().flatten().any(|file| file.ours.iter().any(|hook| hook.via == Via::Project))
}

/// Claude Code overrides the ninth refusal in a row by itself; only who asks for more than that needs it raised.
fn stop_block_cap(setup: &Setup) -> Result<Option<u32>, CommandError> {
    /// The first limit that Claude Code would not let us reach.
    const CLAUDES_OWN: u32 = 8;
    let max_idle = Repository::at(setup.place.clone(), surroundings::environment()).config.load()?.stop.max_idle.value;
    Ok((max_idle >= CLAUDES_OWN).then(|| max_idle.saturating_add(1)))
}

fn confirm(changes: usize) -> Result<(), CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::needs_human(format!("{changes} files would change, and nobody is there to ask"))
            .hint("`steadfast init --yes` does it without asking, `--dry-run` only shows it"));
    }
    put_aside(format_args!("change {changes} files? [y/N] "));
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(CommandError::refused("nothing was changed")
            .hint("`steadfast init` asks again; `--dry-run` only shows what it would change"))
    }
}

fn say_done(hosts: &[Host], changes: usize, wrote: bool) -> Result<(), CommandError> {
    let names: Vec<_> = hosts.iter().map(|host| setup::full_name(*host)).collect();
    let names = names.join(" and ");
    match (changes, wrote) {
        (0, false) => tell!("{names}: already wired, nothing to change")?,
        _ => tell!("{names}: wired. Running sessions notice after a restart.")?,
    }
    if hosts.contains(&Host::Codex) {
        tell!("Codex asks at its next start whether you trust these hooks; until you do, it does not run them.")?;
    }
    tell!(
        "Next: `steadfast plan load SPEC.md` loads a spec, `steadfast task add TITLE` adds a task; an agent that is asked \
         to do them stops when they are done."
    )
}
