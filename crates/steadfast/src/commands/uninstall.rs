use std::io::{self, IsTerminal};
use std::path::Path;

use clap::Args;
use steadfast_hosts::install::{self, InstallScope};
use steadfast_model::{Host, Run};
use steadfast_store::Place;
use steadfast_text::{and_more, count, count_of, quote};
use steadfast_work::setup::{Contents, Exclude, Leftovers, RenderedFolder, Setup, StateEnd};

use super::clean::size;
use super::init::{show_left, summary};
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, says_yes, tell};
use crate::{diff, pager};

/// Remove Steadfast, and restore the files from before.
///
/// Tasks and history are kept for a later `init`, so it does not ask. `--purge` deletes them and asks first.
#[derive(Debug, Args)]
pub(super) struct Uninstall {
    /// Show every line that would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete plans, tasks, evidence, sessions and journals too. Without it they are kept, and `init` restores them.
    #[arg(long)]
    purge: bool,
    /// Do not ask for confirmation.
    #[arg(long, short)]
    yes: bool,
    /// With `--purge`, also delete the data of an unfinished run.
    #[arg(long, requires = "purge")]
    force: bool,
}

impl Uninstall {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let setup = here::setup()?;
        let user_state = environment::user_state();
        let in_use = |root: &Path| Place::find(root, user_state.as_deref()).is_some();
        let plan = install::plan_uninstall(&Host::REAL, &InstallScope::ALL, &setup.install, &in_use)?;
        let rows = summary::rows(&plan, None, &setup.install);
        if !rows.is_empty() {
            tell!("Steadfast {} from these files:", if self.dry_run { "would be removed" } else { "will be removed" })?;
            summary::table(&rows).iter().try_for_each(|row| tell!("{row}"))?;
        }
        show_left(&plan);
        let contents = if self.purge { setup.contents() } else { Contents::default() };
        if self.purge {
            self.may_purge(&setup)?;
            show_contents(&contents)?;
        }
        if self.dry_run {
            pager::show(&diff::of_plan(&plan))?;
            note!("dry run: {} would change, nothing was written", count(plan.changes.len(), "file"));
            return Ok(());
        }
        if contents.bytes > 0 && !self.yes && !confirmed()? {
            return tell!("Nothing changed.");
        }
        install::apply(&plan)?;
        if let Some(exclude) = Exclude::of(&setup.place) {
            exclude.remove()?;
        }
        let (kept, rendered) = setup.archive(if self.purge { StateEnd::Deleted } else { StateEnd::Kept })?;
        match (plan.changes.len(), kept) {
            (0, None) if contents.bytes == 0 => tell!("Steadfast is not installed here")?,
            (changes, None) => tell!("{} restored.", count(changes, "file"))?,
            (changes, Some(kept)) => tell!(
                "{} restored. Tasks and history are kept in `{}`; `steadfast uninstall --purge` deletes them.",
                count(changes, "file"),
                kept.display()
            )?,
        }
        show_rendered(rendered)?;
        show_leftovers(&setup.leftovers())
    }

    /// Refuses to delete what a run needs to continue.
    fn may_purge(&self, setup: &Setup) -> Result<(), CommandError> {
        if self.force || self.dry_run {
            return Ok(());
        }
        let runs = setup.unfinished_runs().map_err(|error| {
            CommandError::from(error).hint("`steadfast uninstall --purge --force` deletes the state without reading it")
        })?;
        match runs.first() {
            None => Ok(()),
            Some(run) => Err(unfinished(run, runs.len())),
        }
    }
}

fn unfinished(run: &Run, runs: usize) -> CommandError {
    let more = if runs > 1 { format!(" ({} are unfinished)", count(runs, "run")) } else { String::new() };
    CommandError::refused(format!(
        "run {} of {} is {}{more}, and `--purge` deletes what it needs to continue",
        run.id,
        run.spec,
        run.state.as_str()
    ))
    .hint(format!(
        "`steadfast resume --run {} --give-up` ends it and keeps its branch; `steadfast uninstall --purge --force` deletes \
         its data",
        run.id
    ))
}

/// Names what `--purge` deletes.
fn show_contents(contents: &Contents) -> Result<(), CommandError> {
    if contents.bytes == 0 {
        return Ok(());
    }
    let totals = contents.totals.unwrap_or_default();
    let sessions = u32::try_from(contents.sessions).unwrap_or(u32::MAX).max(totals.sessions);
    let parts = [
        count(totals.plans, "plan"),
        count(totals.tasks, "task"),
        format!("{} of evidence", count(totals.evidence, "piece")),
        count(totals.runs, "run"),
        count(totals.learnings, "learning"),
        format!("{} with history and journals", count(sessions, "session")),
    ];
    let parts = parts.into_iter().filter(|part| !part.starts_with("0 "));
    let named = parts.collect::<Vec<_>>().join(", ");
    let unread = if contents.totals.is_none() { ", the ledger cannot be read" } else { "" };
    let named = if named.is_empty() { "the state".to_owned() } else { named };
    tell!("To be deleted for good ({}{unread}): {named}.", size(contents.bytes))
}

/// Asks a human at a terminal.
fn confirmed() -> Result<bool, CommandError> {
    if !io::stdin().is_terminal() {
        return Err(CommandError::needs_human(
            "`--purge` deletes data, and there is no terminal to ask for confirmation",
        )
        .hint("`steadfast uninstall --purge --yes` deletes it without asking, `--dry-run` only shows what it does"));
    }
    Ok(says_yes("Delete it? [y/N] "))
}

fn show_rendered(rendered: RenderedFolder) -> Result<(), CommandError> {
    match rendered {
        RenderedFolder::Missing | RenderedFolder::Kept => Ok(()),
        RenderedFolder::Removed => tell!("`.steadfast/` is removed."),
        RenderedFolder::Tracked => tell!("`.steadfast/` stays, because git tracks files in it."),
    }
}

/// Names the branches and worktrees of runs, and the commands that delete them.
fn show_leftovers(left: &Leftovers) -> Result<(), CommandError> {
    const NAMED: usize = 4;
    if !left.worktrees.is_empty() {
        let named = and_more(left.worktrees.iter().map(|path| path.display().to_string()), NAMED);
        tell!("{} of runs left: {named}", count(left.worktrees.len(), "worktree"))?;
        for path in left.worktrees.iter().take(NAMED) {
            tell!("  git worktree remove --force {}", quote(&path.display().to_string()))?;
        }
    }
    match left.branches.as_slice() {
        [] => Ok(()),
        [branch] => tell!("1 branch with the work of a run is left: `git branch -D {branch}` deletes it."),
        branches => {
            let named = and_more(branches.iter().cloned(), NAMED);
            tell!(
                "{} with the work of runs are left: {named}. To delete them:",
                count_of(branches.len(), "branch", "branches")
            )?;
            tell!("  git for-each-ref --format='%(refname:short)' refs/heads/steadfast/ | xargs git branch -D")
        }
    }
}
