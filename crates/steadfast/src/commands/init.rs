use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use steadfast_hosts::install::{
    self, BinaryError, InstallError, InstallPlan, InstallRequest, InstallScope, PermissionChoice,
};
use steadfast_model::{Host, Mode};
use steadfast_store::ledger::Ledger;
use steadfast_store::{CONFIG_FILE, log_line};
use steadfast_text::count;
use steadfast_work::chain;
use steadfast_work::doctor::hook_time;
use steadfast_work::setup::{Exclude, Setup, Wanted};

use super::authority;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, put_aside, tell};
use crate::{diff, pager};

pub(super) mod summary;

/// The name of our npm and Python packages, as in `packaging/`.
const PACKAGE: &str = "steadfast-cli";

/// Set up Steadfast for this repository and its hosts.
///
/// Summarizes the changes and asks before it writes anything. In Claude Code, it also allows agents to call the harmless
/// commands of Steadfast without a dialog, each by its name.
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
    /// Allow the permissions in Claude Code that an earlier `init` was told to leave out.
    #[arg(long, conflicts_with = "no_permissions")]
    permissions: bool,
    /// Leave the permissions out, now and in each later `init`. Claude Code asks you before each call of Steadfast.
    #[arg(long)]
    no_permissions: bool,
    /// Show every line that would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
}

/// The answer to the question of `init`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    EveryLine,
    NoPermissions,
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
        let cap = setup.stop_block_cap(&environment::current())?.filter(|_| hosts.contains(&Host::Claude));
        let mut draft = Draft {
            binary: binary(scope)?,
            exclude: Exclude::of(&setup.place),
            wanted: Wanted::of_install(&setup, scope, &hosts),
            new: !setup.place.state.is_dir(),
            permissions: self.permissions(&setup, scope)?,
            setup,
            scope,
            hosts,
            cap,
        };
        let plan = loop {
            let plan = draft.plan()?;
            if draft.changes(&plan) == 0 {
                show_left(&plan);
                if self.dry_run {
                    return tell!("{}: already set up, nothing to change", summary::names(&draft.hosts));
                }
                break plan;
            }
            draft.show(&plan, !self.yes)?;
            if self.dry_run {
                pager::show(&draft.every_line(&plan))?;
                note!("dry run: {} would change, nothing was written", count(draft.changes(&plan), "file"));
                return Ok(());
            }
            if self.yes {
                break plan;
            }
            match draft.ask(&plan)? {
                Answer::Yes => break plan,
                Answer::No => return tell!("Nothing changed."),
                Answer::NoPermissions => draft.permissions = PermissionChoice::Declined,
                Answer::EveryLine => {}
            }
        };
        draft.write(&plan, self.mode)
    }

    /// The choice on the command line, else that of the last `init`, else yes.
    fn permissions(&self, setup: &Setup, scope: InstallScope) -> Result<PermissionChoice, InstallError> {
        Ok(match (self.permissions, self.no_permissions) {
            (true, _) => PermissionChoice::Allowed,
            (_, true) => PermissionChoice::Declined,
            _ => install::permission_choice(scope, &setup.install)?.unwrap_or(PermissionChoice::Allowed),
        })
    }
}

/// What `init` is about to do.
struct Draft {
    setup: Setup,
    scope: InstallScope,
    hosts: Vec<Host>,
    binary: PathBuf,
    /// Raises Claude Code's own limit of refused stops.
    cap: Option<u32>,
    exclude: Option<Exclude>,
    wanted: Wanted,
    permissions: PermissionChoice,
    /// There is no state here yet.
    new: bool,
}

impl Draft {
    /// The permission rules to write.
    fn rules(&self) -> Vec<String> {
        match self.permissions {
            PermissionChoice::Allowed if self.hosts.contains(&Host::Claude) => authority::allowed_calls().rules(),
            PermissionChoice::Allowed | PermissionChoice::Declined => Vec::new(),
        }
    }

    fn plan(&self) -> Result<InstallPlan, InstallError> {
        install::plan_install(&InstallRequest {
            hosts: &self.hosts,
            scope: self.scope,
            place: &self.setup.install,
            binary: &self.binary,
            stop_block_cap: self.cap,
            allow: &self.rules(),
        })
    }

    /// The change of the list of files that git ignores.
    fn exclusion(&self) -> Option<(&Exclude, Option<Vec<u8>>, Vec<u8>)> {
        let exclude = self.exclude.as_ref()?;
        exclude.planned(&self.wanted).map(|(before, after)| (exclude, before, after))
    }

    fn changes(&self, plan: &InstallPlan) -> usize {
        plan.changes.len() + usize::from(self.exclusion().is_some())
    }

    /// Prints the summary. The time of a hook is measured only if a reader waits for it.
    fn show(&self, plan: &InstallPlan, is_read: bool) -> Result<(), CommandError> {
        let (rules, verb) = (self.rules(), if self.new { "set up" } else { "update" });
        tell!("Steadfast will {verb} {} {}:", summary::names(&self.hosts), summary::audience(self.scope))?;
        let mut rows = summary::rows(plan, Some(rules.len()), &self.setup.install);
        if let Some((exclude, before, after)) = self.exclusion() {
            rows.push(summary::exclusion(exclude.path(), before.as_deref(), &after, &self.setup.install));
        }
        summary::table(&rows).iter().try_for_each(|row| tell!("{row}"))?;
        if let Some(cost) = summary::cost(plan, is_read.then(hook_time).flatten()) {
            tell!("{cost}")?;
        }
        self.show_permissions(plan, &rules)?;
        if self.cap.is_some() {
            note!(
                "note: `stop.max_idle` is 8 or more, so `init` raises `{}`. This also lifts Claude Code's limit for other \
                 Stop hooks.",
                install::STOP_BLOCK_CAP
            );
        }
        show_left(plan);
        tell!("Undo: `steadfast uninstall` restores every byte.")
    }

    fn show_permissions(&self, plan: &InstallPlan, rules: &[String]) -> Result<(), CommandError> {
        if summary::adds_rules(plan, rules) {
            return tell!(
                "Claude Code will not ask before these calls of an agent, as command or MCP tool: {}",
                summary::allowed()
            );
        }
        if self.permissions == PermissionChoice::Declined && self.hosts.contains(&Host::Claude) {
            return tell!(
                "Claude Code asks you before each call of Steadfast by the agent. `steadfast init --permissions` changes that."
            );
        }
        Ok(())
    }

    fn every_line(&self, plan: &InstallPlan) -> String {
        let exclusion = self.exclusion();
        let of_exclusion = exclusion
            .map(|(exclude, before, after)| diff::of_file(exclude.path(), before.as_deref(), Some(&after)))
            .unwrap_or_default();
        diff::of_plan(plan) + &of_exclusion
    }

    /// Asks until the answer decides. The end of the input is a no.
    fn ask(&self, plan: &InstallPlan) -> Result<Answer, CommandError> {
        if !io::stdin().is_terminal() {
            let changes = count(self.changes(plan), "file");
            return Err(CommandError::needs_human(format!(
                "{changes} would change, and there is no terminal to ask for confirmation"
            ))
            .hint("`steadfast init --yes` writes them without asking, `--dry-run` only shows the changes"));
        }
        let can_decline = summary::adds_rules(plan, &self.rules());
        let decline = if can_decline { ", p = without the permissions" } else { "" };
        loop {
            put_aside(format_args!("Go on? [Y/n, d = show every line{decline}] "));
            let mut line = String::new();
            let is_end = io::stdin().lock().read_line(&mut line).is_ok_and(|read| read == 0);
            return Ok(match line.trim().to_ascii_lowercase().as_str() {
                "" if is_end => {
                    note!("");
                    Answer::No
                }
                "" | "y" | "yes" => Answer::Yes,
                "n" | "no" => Answer::No,
                "p" if can_decline => Answer::NoPermissions,
                "d" => {
                    pager::show(&self.every_line(plan))?;
                    Answer::EveryLine
                }
                _ => continue,
            });
        }
    }

    fn write(&self, plan: &InstallPlan, mode: Option<Mode>) -> Result<(), CommandError> {
        let (setup, changes) = (&self.setup, self.changes(plan));
        setup.create()?;
        Ledger::open(&setup.place.state)?;
        if let Some(mode) = mode {
            for policy in ["mode.integrity", "mode.approval", "mode.constraint", "mode.drift", "mode.completion"] {
                super::config::set(&setup.place.state.join(CONFIG_FILE), policy, mode.as_str())?;
            }
        }
        install::apply(plan)?;
        if let Err(error) = steadfast_hook::note_wiring(&setup.place, &setup.install.homes) {
            // The first prompt records it.
            log_line(&setup.place, environment::now(), &format!("cannot record the wiring of the hosts: {error}"));
        }
        if let Some(exclude) = &self.exclude {
            exclude.write_planned(&self.wanted)?;
        }
        // A replaced broken link changes no file, but is a change.
        say_done(&self.hosts, changes, self.new || !plan.is_empty())
    }
}

pub(super) fn show_left(plan: &InstallPlan) {
    for path in &plan.left {
        note!("note: `{}` differs from what `init` writes, so it stays as it is", path.display());
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

fn say_done(hosts: &[Host], changes: usize, wrote: bool) -> Result<(), CommandError> {
    let names = summary::names(hosts);
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
