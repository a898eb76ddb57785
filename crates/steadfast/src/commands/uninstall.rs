use clap::Args;
use steadfast_hosts::install::{self, InstallScope};
use steadfast_model::Host;
use steadfast_store::Place;
use steadfast_work::setup::Exclude;

use crate::diff;
use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};

/// Remove Steadfast, and restore the files from before.
#[derive(Debug, Args)]
pub(super) struct Uninstall {
    /// Show the changes, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete tasks, history and journals too. Without it they are kept, and `init` restores them.
    #[arg(long)]
    purge: bool,
}

impl Uninstall {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let setup = here::setup()?;
        let user_state = environment::user_state();
        let in_use = |root: &std::path::Path| Place::find(root, user_state.as_deref()).is_some();
        let plan = install::plan_uninstall(&Host::REAL, &InstallScope::ALL, &setup.install, &in_use)?;
        diff::show_plan(&plan, self.dry_run)?;
        if self.dry_run {
            note!("dry run: {} files would change, nothing was written", plan.changes.len());
            return Ok(());
        }
        install::apply(&plan)?;
        if let Some(exclude) = Exclude::of(&setup.place) {
            exclude.remove()?;
        }
        let kept = setup.archive(self.purge)?;
        match (plan.changes.len(), kept) {
            (0, None) => tell!("Steadfast is not installed here")?,
            (changes, None) => tell!("{changes} files are restored")?,
            (changes, Some(kept)) => tell!(
                "{changes} files are restored. Tasks and history are kept in `{}`; `steadfast uninstall \
                 --purge` deletes them.",
                kept.display()
            )?,
        }
        Ok(())
    }
}
