//! Approved drafts: loads them into the ledger, and finds one that is not loaded.

use std::path::Path;
use std::time::Duration;

use steadfast_hook::ApprovedDraft;
use steadfast_model::{AddedBy, PlanView};
use steadfast_store::ledger::{Ledger, Loaded};
use steadfast_store::{Draft, Place, draft};

use super::{Repository, TaskList};
use crate::Environment;
use crate::caller::Caller;
use crate::error::WorkError;
use crate::spec_file;

/// The time that a hook waits for another writer of the ledger. Its whole time is 950 ms.
const PATIENCE: Duration = Duration::from_millis(300);

/// The time for each of the two questions to git about the files of the tasks.
const GIT: Duration = Duration::from_millis(200);

/// Loads a draft for the hook that saw the approval. `None`: it has no tasks.
pub fn load_approved(
    place: &Place,
    environment: Environment,
    approved: &ApprovedDraft<'_>,
) -> Result<Option<PlanView>, WorkError> {
    let Some(draft) = draft(place, approved.hash) else { return Ok(None) };
    let ledger = Ledger::open_within(&place.state, PATIENCE)?;
    // The human's word, for the session that starts.
    let caller = Caller { by: AddedBy::Human, session: approved.session.cloned(), agent: None };
    let mut list = TaskList::of(Repository::at(place.clone(), environment), ledger, caller, None);
    let Some(loaded) = list.load_draft_within(&draft, Some(GIT))? else { return Ok(None) };
    // Another plan is in force if no task of this one is open.
    Ok(list.view()?.filter(|view| view.id == *loaded.plan()))
}

impl TaskList {
    /// Loads an approved draft from its path. `None`: it has no tasks.
    pub fn load_draft(&mut self, draft: &Draft) -> Result<Option<Loaded>, WorkError> {
        self.load_draft_within(draft, None)
    }

    fn load_draft_within(&mut self, draft: &Draft, budget: Option<Duration>) -> Result<Option<Loaded>, WorkError> {
        if self.read_draft(draft)?.is_none_or(|plan| plan.tasks.is_empty()) {
            return Ok(None);
        }
        let path = Path::new(&draft.path);
        let compiled = spec_file::compile_as(&self.repository.environment, &draft.text, path, path)?;
        let loaded = self.load_within(&compiled.plan, &draft.path, budget)?;
        self.take_over(loaded.plan(), &compiled.reported, &draft.path)?;
        Ok(Some(loaded))
    }

    /// Returns the newest approved draft of this checkout that was never loaded.
    pub(super) fn unloaded_draft(&self) -> Result<Option<Draft>, WorkError> {
        for draft in self.drafts_here().filter(|draft| draft.tasks > 0) {
            if !self.ledger.knows_plan(&self.worktree, &draft.hash)? && self.is_approved(&draft.hash)? {
                return Ok(Some(draft));
            }
        }
        Ok(None)
    }
}
