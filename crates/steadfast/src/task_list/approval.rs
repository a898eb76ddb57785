//! How plans and drafts stand with their human, and how a human says yes in a terminal.

use std::path::PathBuf;

use steadfast_hook::draft_hash;
use steadfast_model::{Approval, ApprovalRules, Channel, GateScope, Opening, Plan, Profile, TaskId};
use steadfast_store::ledger::PlanRow;
use steadfast_store::{
    ApprovalRecord, Asked, Draft, GrantError, Granted, Signer, SigningError, Verifier, Yes, approval_of, drafts,
    grant_signed, valid_approval, write_approval,
};

use super::{Standing, TaskList, plan, short_of};
use crate::error::{CommandError, chain};
use crate::ssh;
use crate::surroundings;

impl TaskList {
    /// How a plan of the ledger stands with its human.
    pub(crate) fn approval(&self, plan: &PlanRow) -> Result<Approval, CommandError> {
        let rules = self.approval_rules()?;
        let asked = Asked {
            hash: plan.head.hash.as_deref(),
            path: plan.source.as_deref(),
            added_by: plan.added_by,
            required: rules.required,
            now: surroundings::now(),
        };
        Ok(verified(&rules, |verifier| approval_of(self.place(), &asked, verifier)))
    }

    pub(super) fn approval_of_draft(&self, draft: &Draft) -> Result<Approval, CommandError> {
        let approved = self.is_approved(&draft.hash)?;
        Ok(if approved { Approval::Approved } else { Approval::Required })
    }

    /// Whether a human said yes to the plan of this hash.
    pub(super) fn is_approved(&self, hash: &str) -> Result<bool, CommandError> {
        let rules = self.approval_rules()?;
        Ok(verified(&rules, |verifier| valid_approval(self.place(), hash, verifier).is_some()))
    }

    /// The newest draft of this checkout that a human approved.
    pub(super) fn approved_draft(&self) -> Result<Option<Draft>, CommandError> {
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

    pub(super) fn approval_rules(&self) -> Result<ApprovalRules, CommandError> {
        Ok(self.repository.config.load()?.rules().approval)
    }

    /// Refuses to work on a task of a plan that nobody approved and somebody has to.
    pub(super) fn may_build(&self, task: &TaskId) -> Result<(), CommandError> {
        self.needs_yes(&format!("task `{task}` is not worked on"))
    }

    /// Refuses to start a session on such a plan.
    pub(crate) fn may_resume(&self) -> Result<(), CommandError> {
        self.needs_yes("no session is started")
    }

    fn needs_yes(&self, refused: &str) -> Result<(), CommandError> {
        let plan = self.plan_row()?;
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
        let how = match (short, &plan.source) {
            (Some(short), _) if self.drafts_here().any(|draft| draft.hash.starts_with(short)) => {
                format!("a human runs `steadfast plan approve {short}`, or sends the message `approve plan {short}`")
            }
            (_, Some(source)) => format!(
                "a human runs `steadfast plan load {source}`, or `steadfast plan propose {source}` keeps it for their yes"
            ),
            (_, None) => "`steadfast plan propose FILE` keeps a plan for a human's yes".to_owned(),
        };
        Err(CommandError::refused(format!("{refused}: plan `{}` is not approved, {why}", plan.id)).hint(how))
    }

    /// A human says yes to a draft: it is signed, written to its path, and its gates open.
    pub(crate) fn approve(&self, draft: &Draft) -> Result<Granted, CommandError> {
        if draft.worktree != self.worktree {
            return Err(CommandError::failure(format!(
                "draft `{}` was proposed again in `{}`, and would be written there",
                short_of(draft),
                draft.worktree
            ))
            .hint("`steadfast plan propose FILE` proposes it here; or approve it there"));
        }
        let its = |standing: &Standing| standing.draft().is_some_and(|line| line.hash == draft.hash);
        let (gates, others): (Vec<Standing>, Vec<Standing>) = self.gates().into_iter().partition(its);
        let scope = match gates.first() {
            Some(standing) => standing.gate.scope.clone(),
            None => GateScope::Worktree(self.worktree.clone()),
        };
        if let Some(other) = others.iter().find(|other| other.gate.scope == scope).and_then(Standing::draft) {
            return Err(CommandError::failure(format!(
                "another draft waits at the gate of this checkout: {}",
                other.short()
            ))
            .hint(format!("`steadfast plan reject {}` turns that one down first", other.short())));
        }
        let now = surroundings::now();
        let yes = Yes { scope: &scope, hash: &draft.hash, channel: Channel::Terminal, session: None, at: now };
        let granted = self.signed(|signer| {
            grant_signed(self.place(), &yes, signer, &draft_hash).map_err(|error| not_granted(&error))
        })?;
        let opening = Opening::Approved { hash: draft.hash.clone(), channel: Channel::Terminal };
        self.open(&gates, &opening)?;
        Ok(granted)
    }

    /// A human who loads a plan in a terminal has approved it by that. It is written down where somebody will ask, and
    /// the gates at which this very plan waits open.
    pub(super) fn approve_by_loading(&self, loaded: &Plan, source: &str) -> Result<(), CommandError> {
        self.approve_loaded(&plan::hash(loaded), source)
    }

    /// The same of a plan that is in the ledger.
    pub(super) fn approve_loaded(&self, hash: &str, source: &str) -> Result<(), CommandError> {
        if self.caller.is_agent() {
            return Ok(());
        }
        let plan = self.plan_row()?;
        let asked_for = self.approval_rules()?.required || !self.approval(&plan)?.is_enough();
        if asked_for && !self.is_approved(hash)? {
            self.sign_load(hash, source)?;
        }
        let waits = |standing: &Standing| standing.draft().is_some_and(|line| line.hash == hash);
        let gates: Vec<Standing> = self.gates().into_iter().filter(waits).collect();
        self.open(&gates, &Opening::Approved { hash: hash.to_owned(), channel: Channel::Load })
    }

    fn sign_load(&self, hash: &str, source: &str) -> Result<(), CommandError> {
        let record = ApprovalRecord {
            hash: hash.to_owned(),
            path: source.to_owned(),
            worktree: self.worktree.clone(),
            at: surroundings::now(),
            channel: Channel::Load,
            session: None,
            profile: Profile::Default,
            signature: String::new(),
        };
        self.signed(|signer| {
            write_approval(self.place(), record.clone(), signer).map(|_| ()).map_err(|error| not_signed(&error))
        })
    }

    /// Does something with who signs in the profile that holds.
    fn signed<T>(&self, sign: impl FnOnce(&Signer<'_>) -> Result<T, CommandError>) -> Result<T, CommandError> {
        let rules = self.approval_rules()?;
        match rules.profile {
            Profile::Default => {
                let user_state = surroundings::user_state().ok_or_else(|| {
                    CommandError::failure("`HOME` is not set, so there is nowhere to keep the key of approvals")
                        .hint("set `HOME` to a folder of yours and try again")
                })?;
                sign(&Signer::Default { user_state: &user_state })
            }
            Profile::Hardened => {
                let key = key(&rules).ok_or_else(|| {
                    CommandError::failure(
                        "the hardened profile signs with a key of yours, and `approval.key` names none",
                    )
                    .hint("`steadfast config set --user approval.key ~/.ssh/id_ed25519_sk`")
                })?;
                sign(&Signer::Hardened(&|bytes| ssh::sign(&key, bytes)))
            }
        }
    }
}

/// Does something with who can tell a signature, in the profile that holds.
fn verified<T>(rules: &ApprovalRules, look: impl FnOnce(&Verifier<'_>) -> T) -> T {
    match rules.profile {
        Profile::Default => {
            // Without a home there is no key, and nothing is signed by it.
            let user_state = surroundings::user_state().unwrap_or_default();
            look(&Verifier::Default { user_state: &user_state })
        }
        Profile::Hardened => {
            let key = key(rules);
            look(&Verifier::Hardened(&|bytes, signature| {
                key.as_ref().is_some_and(|key| ssh::is_signed(key, bytes, signature))
            }))
        }
    }
}

/// The key of the hardened profile.
pub(crate) fn key(rules: &ApprovalRules) -> Option<PathBuf> {
    let said = rules.key.as_deref().filter(|key| !key.is_empty())?;
    Some(match said.strip_prefix("~/") {
        Some(below) => surroundings::home()?.join(below),
        None => PathBuf::from(said),
    })
}

fn not_granted(error: &GrantError) -> CommandError {
    let said = CommandError::failure(format!("nothing is approved: {}", chain(error)));
    match error {
        GrantError::Signing(error) => not_signed(error),
        GrantError::Plan { path, .. } => CommandError::failure(chain(error)).hint(format!(
            "the approval is signed, and the gate stays closed; see to it that `{}` can be a file of yours, and try again",
            path.display()
        )),
        GrantError::Seal(_) | GrantError::Gate(_) => CommandError::failure(chain(error))
            .hint("the plan is signed and written; look at the disk and try again: what was done is not done twice"),
        GrantError::Outside(_) => said.hint("`steadfast plan propose FILE --path PATH` proposes it for another path"),
        GrantError::OtherDraft(_) => said.hint("`steadfast plan propose FILE` proposes it again"),
        GrantError::NoDraft(_) | GrantError::Terminal(_) | GrantError::NoUserState => {
            said.hint("`steadfast plan status` shows how the plan stands")
        }
    }
}

fn not_signed(error: &SigningError) -> CommandError {
    let said = CommandError::failure(format!("nothing is approved: {}", chain(error)));
    match error {
        SigningError::Key { path, .. } => said.hint(format!(
            "look at `{}`; if it is lost, move it away: a new one is made, and approvals that it signed have to be given again",
            path.display()
        )),
        SigningError::Ssh(_) => said.hint("`approval.key` names the key; `ssh-keygen -Y sign` has to be able to use it"),
        SigningError::Record(_) => said.hint("look at the disk and the permissions of the state, and try again"),
    }
}

/// What is said of an approval.
pub(crate) fn granted(draft: &Draft, granted: &Granted) -> String {
    let kept = granted.kept.as_ref().map(|kept| format!("\nwhat stood there is kept in {}", kept.display()));
    // What plan mode was left with is a text, and no plan of tasks.
    let load = match draft.tasks {
        0 => String::new(),
        _ => format!("\n`steadfast plan load {}` loads it; the agent may do that, too", draft.path),
    };
    format!("plan {} is approved, and written to {}{}{load}", short_of(draft), draft.path, kept.unwrap_or_default())
}
