//! A repository before, while and after Steadfast is in it.

use std::fs;
use std::path::{Path, PathBuf};

use steadfast_hosts::install::{self, InstallError};
use steadfast_model::Host;
use steadfast_store::Place;
use steadfast_store::ledger::Ledger;
use steadfast_work::chain;

use crate::diff;

use crate::error::CommandError;
use crate::output::note;
use crate::surroundings;

#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) place: Place,
    pub(crate) install: install::Place,
}

impl Setup {
    pub(crate) fn here() -> Result<Self, CommandError> {
        let cwd = surroundings::cwd();
        let cwd = fs::canonicalize(&cwd).unwrap_or(cwd);
        let no_home = || {
            CommandError::failure("`HOME` is not set, so there is nowhere to keep anything")
                .hint("set `HOME` to a folder of yours and try again")
        };
        let homes = surroundings::homes().ok_or_else(no_home)?;
        let user_state = surroundings::user_state().ok_or_else(no_home)?;
        let place = Place::of(&cwd, Some(&user_state)).ok_or_else(no_home)?;
        let install = install::Place {
            homes,
            root: place.root.clone(),
            main_root: main_root(&place),
            repository_records: user_state.join("install").join("repositories").join(record_name(&place)),
            user_records: user_state.join("install"),
        };
        Ok(Self { place, install })
    }

    /// The hosts in use on this machine.
    pub(crate) fn detected(&self) -> Result<Vec<Host>, CommandError> {
        let hosts = install::detect(&self.install.homes, &self.install.root);
        if hosts.is_empty() {
            return Err(CommandError::failure("neither Claude Code nor Codex is found")
                .hint("`steadfast init --host claude` or `--host codex` wires one that comes later"));
        }
        Ok(hosts)
    }

    /// State that an earlier `uninstall` kept.
    pub(crate) fn bring_back(&self) -> Result<(), CommandError> {
        let kept = self.kept();
        if kept.is_dir() && !self.place.state.exists() {
            fs::rename(&kept, &self.place.state).map_err(|error| {
                CommandError::failure(format!("cannot bring back `{}`: {error}", kept.display()))
                    .hint("nothing was changed; make its folder writable and try again")
            })?;
        }
        Ok(())
    }

    /// Takes the state out of the hooks' way: where it is not, they do nothing. What holds tasks is kept, and where.
    pub(crate) fn put_away(&self, purge: bool) -> Result<Option<PathBuf>, CommandError> {
        let kept = self.kept();
        let failed = |error| {
            CommandError::failure(format!("cannot put away `{}`: {error}", self.place.state.display())).hint(format!(
                "the hosts call Steadfast no more; see to it that `{}` can be replaced, and try again",
                kept.display()
            ))
        };
        // A human who takes Steadfast away opens its gates by that.
        steadfast_store::forget_gates(&self.place).map_err(failed)?;
        if purge {
            for folder in [&self.place.state, &kept] {
                if folder.exists() {
                    fs::remove_dir_all(folder).map_err(failed)?;
                }
            }
            return Ok(None);
        }
        if !self.place.state.exists() {
            return Ok(kept.exists().then_some(kept));
        }
        if !self.holds_tasks() && !self.holds_plans() {
            fs::remove_dir_all(&self.place.state).map_err(failed)?;
            return Ok(None);
        }
        if kept.exists() {
            fs::remove_dir_all(&kept).map_err(failed)?;
        }
        fs::rename(&self.place.state, &kept).map_err(failed)?;
        Ok(Some(kept))
    }

    /// A ledger that cannot be read may hold some.
    fn holds_tasks(&self) -> bool {
        match Ledger::open_read_only(&self.place.state) {
            Ok(None) => false,
            Ok(Some(ledger)) => ledger.has_tasks().unwrap_or(true),
            Err(_) => true,
        }
    }

    /// What a human approved, what waits for them, and what was moved aside for them to look at.
    fn holds_plans(&self) -> bool {
        let holds =
            |folder: &str| fs::read_dir(self.place.state.join(folder)).is_ok_and(|mut files| files.next().is_some());
        ["drafts", "approvals", "seals/kept"].into_iter().any(holds)
    }

    fn kept(&self) -> PathBuf {
        self.place.state.with_extension("kept")
    }
}

/// The main checkout of a linked worktree; else the checkout itself.
fn main_root(place: &Place) -> PathBuf {
    let git = place.state.parent().filter(|git| git.file_name().is_some_and(|name| name == ".git"));
    git.and_then(Path::parent).map_or_else(|| place.root.clone(), Path::to_owned)
}

/// A name for what is remembered about a checkout.
fn record_name(place: &Place) -> String {
    let root = place.worktree();
    let name = place.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{plain}-{:016x}", steadfast_model::fnv([root.as_bytes()]))
}

/// What a plan would change, and what it leaves. The whole text of a skill that comes or goes is in a dry run only: it is
/// ours from the first line to the last, and would bury the lines that go into the user's files.
pub(crate) fn show(plan: &install::Plan, whole: bool) -> Result<(), CommandError> {
    for change in &plan.changes {
        match (&change.before, &change.after) {
            (None, Some(text)) if change.is_skill() && !whole => diff::print_whole(change, "new", text)?,
            (Some(text), None) if change.is_skill() && !whole => diff::print_whole(change, "removed", text)?,
            (before, after) => diff::print(&change.path, before.as_deref(), after.as_deref())?,
        }
    }
    for path in &plan.left {
        note!("note: `{}` is not as `init` writes it, and stays as it is", path.display());
    }
    Ok(())
}

pub(crate) fn refusal(error: InstallError) -> CommandError {
    CommandError::failure(chain(&error)).hint(what_to_do(&error))
}

fn what_to_do(error: &InstallError) -> String {
    match error {
        InstallError::Settings { path, .. }
        | InstallError::Encoding { path, .. }
        | InstallError::NotAFile { path }
        | InstallError::Read { path, .. } => format!("nothing was written; mend `{}` and try again", path.display()),
        InstallError::ReadOnly { path } => {
            format!("nothing was written; make `{}` writable and try again", path.display())
        }
        InstallError::Path { .. } => "nothing was written; put the program where its path can be written down".into(),
        InstallError::Record { path, .. } => {
            format!(
                "nothing was written; move `{}` away and try again: our hooks are known by their shape",
                path.display()
            )
        }
        InstallError::Changed { .. } | InstallError::Locked { .. } => "close the host and try again".into(),
        InstallError::Write { path, .. } => {
            format!("see to it that `{}` can be a file of yours, and try again", path.display())
        }
        InstallError::Undone { source, .. } => what_to_do(source),
    }
}

pub(crate) fn parse_host(text: &str) -> Result<Host, String> {
    match text.parse() {
        Ok(Host::Sim) => Err("the simulated agent is for tests; expected `claude` or `codex`".into()),
        Ok(host) => Ok(host),
        Err(error) => Err(format!("{error}")),
    }
}

pub(crate) fn full_name(host: Host) -> &'static str {
    match host {
        Host::Claude => "Claude Code",
        Host::Codex => "Codex",
        Host::Sim => "the simulated agent",
    }
}
