//! The approval status of plans and drafts, and approval by a human at a terminal.

use std::path::{Path, PathBuf};

use steadfast_hook::draft_hash;
use steadfast_model::{Approval, ApprovalRules, Channel, GateScope, Opening, Plan, Profile, Task};
use steadfast_store::ledger::PlanRow;
use steadfast_store::{
    ApprovalQuery, ApprovalRecord, Consent, Draft, Granted, Signer, Verifier, approval_of, drafts, grant_signed,
    valid_approval, write_approval,
};

use super::{ApprovalError, ClosedGate, PlanError, TaskList, plan, short_of};
use crate::Environment;
use crate::error::WorkError;
use crate::ssh;

impl TaskList {
    /// The approval status of a plan in the ledger.
    pub fn approval(&self, plan: &PlanRow) -> Result<Approval, WorkError> {
        let rules = self.approval_rules()?;
        let asked = ApprovalQuery {
            hash: plan.head.hash.as_deref(),
            path: plan.source.as_deref(),
            added_by: plan.added_by,
            required: rules.required,
            now: self.now(),
        };
        Ok(verified(&rules, &self.repository.environment, |verifier| approval_of(self.place(), &asked, verifier)))
    }

    pub(super) fn approval_of_draft(&self, draft: &Draft) -> Result<Approval, WorkError> {
        let approved = self.is_approved(&draft.hash)?;
        Ok(if approved { Approval::Approved } else { Approval::Required })
    }

    /// Returns true if a human approved this plan.
    pub fn is_approved_plan(&self, plan: &Plan) -> Result<bool, WorkError> {
        self.is_approved(&steadfast_plan::hash(plan))
    }

    /// Returns true if a human approved the plan with this hash.
    pub(super) fn is_approved(&self, hash: &str) -> Result<bool, WorkError> {
        let rules = self.approval_rules()?;
        Ok(verified(&rules, &self.repository.environment, |verifier| {
            valid_approval(self.place(), hash, verifier).is_some()
        }))
    }

    /// The newest draft of this checkout that a human approved.
    pub(super) fn approved_draft(&self) -> Result<Option<Draft>, WorkError> {
        for draft in self.drafts_here() {
            if self.is_approved(&draft.hash)? {
                return Ok(Some(draft));
            }
        }
        Ok(None)
    }

    pub(super) fn drafts_here(&self) -> impl Iterator<Item = Draft> {
        drafts(self.place()).into_iter().filter(|draft| draft.worktree == self.worktree)
    }

    pub(super) fn approval_rules(&self) -> Result<ApprovalRules, WorkError> {
        Ok(self.repository.config.load()?.rules().approval)
    }

    /// Refuses work on a task of a plan that requires approval and has none.
    pub(super) fn may_build(&self, task: &Task) -> Result<(), WorkError> {
        // The plan of the task: the newest plan of the worktree may be another, such as a host's list.
        self.needs_approval(&format!("cannot work on task `{}`", task.id), self.ledger.plan_row(&task.plan)?)
    }

    /// Refuses to start a session on such a plan.
    pub fn may_resume(&self) -> Result<(), WorkError> {
        self.needs_approval("cannot start a session", self.plan_row()?)
    }

    fn needs_approval(&self, refused: &str, plan: PlanRow) -> Result<(), WorkError> {
        let approval = self.approval(&plan)?;
        // A plain list has no hash to approve, and a human who works on it has read it.
        if approval.is_enough() || (plan.head.hash.is_none() && !self.caller.is_agent()) {
            return Ok(());
        }
        let why = match approval {
            Approval::Unsigned => "its file says that it is, but no signature confirms it",
            Approval::Forged => "its file began to say that it is while the plan gate was closed",
            Approval::Required | Approval::NotRequired | Approval::Approved => "a human has to approve it first",
        };
        let short = plan.head.hash.as_deref().and_then(|hash| hash.get(..8));
        let draft = short.filter(|short| self.drafts_here().any(|draft| draft.hash.starts_with(short)));
        Err(ApprovalError::Missing {
            refused: refused.to_owned(),
            draft: draft.map(str::to_owned),
            plan: plan.id,
            why,
            file: plan.source,
        }
        .into())
    }

    /// Approves a draft for a human: signs it, writes it to its path, and opens its gates.
    pub fn approve(&self, draft: &Draft) -> Result<Granted, WorkError> {
        if draft.worktree != self.worktree {
            let (short, worktree) = (short_of(draft).to_owned(), draft.worktree.clone());
            return Err(ApprovalError::Elsewhere { short, worktree }.into());
        }
        let its = |standing: &ClosedGate| standing.draft().is_some_and(|line| line.hash == draft.hash);
        let (gates, others): (Vec<ClosedGate>, Vec<ClosedGate>) = self.gates().into_iter().partition(its);
        let scope = match gates.first() {
            Some(standing) => standing.gate.scope.clone(),
            None => GateScope::Worktree(self.worktree.clone()),
        };
        if let Some(other) = others.iter().find(|other| other.gate.scope == scope).and_then(ClosedGate::draft) {
            return Err(ApprovalError::OtherDraft { short: other.short().to_owned() }.into());
        }
        let now = self.now();
        let yes = Consent { scope: &scope, hash: &draft.hash, channel: Channel::Terminal, session: None, at: now };
        let granted = self.signed(|signer| Ok(grant_signed(self.place(), &yes, signer, &draft_hash)?))?;
        let opening = Opening::Approved { hash: draft.hash.clone(), channel: Channel::Terminal };
        self.open(&gates, &opening)?;
        Ok(granted)
    }

    /// Loading a plan at a terminal approves it. Signs that if approval is required, and opens the gates where this
    /// plan waits.
    pub(super) fn approve_by_loading(&self, loaded: &Plan, source: &str) -> Result<(), WorkError> {
        self.approve_loaded(&plan::hash(loaded), source)
    }

    /// The same for a plan in the ledger.
    pub(super) fn approve_loaded(&self, hash: &str, source: &str) -> Result<(), WorkError> {
        if self.caller.is_agent() {
            return Ok(());
        }
        // Another plan may be in force, if this one is done or in a run.
        let plan = self.ledger.plan_of(&self.worktree, source)?.ok_or(PlanError::NoPlan)?;
        let asked_for = self.approval_rules()?.required || !self.approval(&plan)?.is_enough();
        if asked_for && !self.is_approved(hash)? {
            self.sign_load(hash, source)?;
        }
        let waits = |standing: &ClosedGate| standing.draft().is_some_and(|line| line.hash == hash);
        let gates: Vec<ClosedGate> = self.gates().into_iter().filter(waits).collect();
        self.open(&gates, &Opening::Approved { hash: hash.to_owned(), channel: Channel::Load })
    }

    fn sign_load(&self, hash: &str, source: &str) -> Result<(), WorkError> {
        let record = ApprovalRecord {
            hash: hash.to_owned(),
            path: source.to_owned(),
            worktree: self.worktree.clone(),
            at: self.now(),
            channel: Channel::Load,
            session: None,
            profile: Profile::Default,
            signature: String::new(),
        };
        self.signed(|signer| {
            write_approval(self.place(), record.clone(), signer)?;
            Ok(())
        })
    }

    /// Calls `sign` with the signer of the current profile.
    fn signed<T>(&self, sign: impl FnOnce(&Signer<'_>) -> Result<T, ApprovalError>) -> Result<T, WorkError> {
        let rules = self.approval_rules()?;
        match rules.profile {
            Profile::Default => {
                let user_state = self.repository.environment.user_state.as_deref().ok_or(ApprovalError::NoHome)?;
                Ok(sign(&Signer::Default { user_state })?)
            }
            Profile::Hardened => {
                let key = key(&rules, self.repository.environment.home.as_deref()).ok_or(ApprovalError::NoKey)?;
                Ok(sign(&Signer::Hardened(&|bytes| ssh::sign(&key, bytes)))?)
            }
        }
    }
}

/// Calls `look` with the verifier of the current profile.
fn verified<T>(rules: &ApprovalRules, environment: &Environment, look: impl FnOnce(&Verifier<'_>) -> T) -> T {
    match rules.profile {
        Profile::Default => {
            // Without a home there is no key, so no signature is valid.
            let user_state = environment.user_state.clone().unwrap_or_default();
            look(&Verifier::Default { user_state: &user_state })
        }
        Profile::Hardened => {
            let key = key(rules, environment.home.as_deref());
            look(&Verifier::Hardened(&|bytes, signature| {
                key.as_ref().is_some_and(|key| ssh::is_signed(key, bytes, signature))
            }))
        }
    }
}

/// The path of the key of the hardened profile.
pub fn key(rules: &ApprovalRules, home: Option<&Path>) -> Option<PathBuf> {
    let said = rules.key.as_deref().filter(|key| !key.is_empty())?;
    Some(match said.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None => PathBuf::from(said),
    })
}
