//! How plans and drafts stand with their human, and how a human says yes in a terminal.

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
    /// How a plan of the ledger stands with its human.
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

    /// Whether a human said yes to this plan.
    pub fn is_approved_plan(&self, plan: &Plan) -> Result<bool, WorkError> {
        self.is_approved(&steadfast_plan::hash(plan))
    }

    /// Whether a human said yes to the plan of this hash.
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

    /// Refuses to work on a task of a plan that nobody approved and somebody has to.
    pub(super) fn may_build(&self, task: &Task) -> Result<(), WorkError> {
        // Of the plan that the task is of: the newest of the worktree may be another, such as a host's list.
        self.needs_yes(&format!("task `{}` is not worked on", task.id), self.ledger.plan_row(&task.plan)?)
    }

    /// Refuses to start a session on such a plan.
    pub fn may_resume(&self) -> Result<(), WorkError> {
        self.needs_yes("no session is started", self.plan_row()?)
    }

    fn needs_yes(&self, refused: &str, plan: PlanRow) -> Result<(), WorkError> {
        let approval = self.approval(&plan)?;
        // A plain list has no hash that could be approved; who works on it by hand has read it.
        if approval.is_enough() || (plan.head.hash.is_none() && !self.caller.is_agent()) {
            return Ok(());
        }
        let why = match approval {
            Approval::Unsigned => "its file says that it is approved, and no signature does",
            Approval::Forged => "its file began to say that it is approved while the plan gate was closed",
            Approval::Required | Approval::NotRequired | Approval::Approved => "a human has not said yes to it",
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

    /// A human says yes to a draft: it is signed, written to its path, and its gates open.
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

    /// A human who loads a plan in a terminal has approved it by that. It is written down where somebody will ask, and
    /// the gates at which this very plan waits open.
    pub(super) fn approve_by_loading(&self, loaded: &Plan, source: &str) -> Result<(), WorkError> {
        self.approve_loaded(&plan::hash(loaded), source)
    }

    /// The same of a plan that is in the ledger.
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

    /// Does something with who signs in the profile that holds.
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

/// Does something with who can tell a signature, in the profile that holds.
fn verified<T>(rules: &ApprovalRules, environment: &Environment, look: impl FnOnce(&Verifier<'_>) -> T) -> T {
    match rules.profile {
        Profile::Default => {
            // Without a home there is no key, and nothing is signed by it.
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

/// The key of the hardened profile.
pub fn key(rules: &ApprovalRules, home: Option<&Path>) -> Option<PathBuf> {
    let said = rules.key.as_deref().filter(|key| !key.is_empty())?;
    Some(match said.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None => PathBuf::from(said),
    })
}
