use serde::{Deserialize, Serialize};

use crate::sparse::sparse;
use crate::{PlanId, PlanView, SessionId, TaskId};

sparse! {
    /// The plans that a session is bound to. A bound session does not stop while their tasks are open.
    ///
    /// The ledger's owner of a plan is also bound. This struct covers other sessions, and the human's words since.
    #[derive(Eq)]
    pub struct Binding {
        plans: Vec<PlanId>,
        /// The human released the session, and has not ordered work since.
        released: Option<Released>,
        /// The human has been informed that the session is bound.
        told: bool,
        /// A skill or command of ours was called: the next read of the plan binds the session.
        ordered: bool,
        /// The human said to continue without naming a plan: an edit of a task's file binds the session.
        go_ahead: bool,
        /// The plan that the session is not bound to, but could take.
        offered: Option<Offered>,
        /// Task files whose task the agent was informed about.
        named: Vec<String>,
    }
}

/// The human's release of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    pub plan: PlanId,
    /// Number of prompts at that time.
    pub prompts: u64,
}

/// The files of the open tasks of a plan, from the session's root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    pub plan: PlanId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TaskFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFile {
    pub path: String,
    pub task: TaskId,
}

/// A task that another living session has started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leased {
    pub task: TaskId,
    pub session: SessionId,
}

/// One change of a session's binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BindingChange {
    Bound(PlanId),
    /// The human released the session from all its plans, until the next order.
    Released(PlanId),
    Told,
    Ordered,
    GoAhead(bool),
    Offered(Offered),
    /// The agent was informed that this file belongs to a task.
    Named(String),
}

impl Binding {
    /// The limit of remembered plans, and of named files.
    const PLANS: usize = 8;
    const NAMED: usize = 64;

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn apply(&mut self, change: &BindingChange, prompts: u64) {
        match change {
            BindingChange::Bound(plan) => {
                self.plans.retain(|known| known != plan);
                if self.plans.len() >= Self::PLANS {
                    self.plans.remove(0);
                }
                self.plans.push(plan.clone());
                (self.released, self.offered) = (None, None);
                (self.ordered, self.go_ahead) = (false, false);
            }
            BindingChange::Released(plan) => {
                let named = std::mem::take(&mut self.named);
                let released = Some(Released { plan: plan.clone(), prompts });
                *self = Self { released, named, ..Self::default() };
            }
            BindingChange::Told => self.told = true,
            BindingChange::Ordered => self.ordered = true,
            BindingChange::GoAhead(pending) => self.go_ahead = *pending,
            BindingChange::Offered(offered) => self.offered = Some(offered.clone()),
            BindingChange::Named(path) => {
                if self.named.len() >= Self::NAMED {
                    self.named.remove(0);
                }
                self.named.push(path.clone());
                if let Some(offered) = &mut self.offered {
                    offered.files.retain(|file| file.path != *path);
                }
            }
        }
    }

    /// Returns true if a command of its agent may bind it. After a release, only the human can bind the session again.
    pub fn may_be_bound(&self, prompts: u64) -> bool {
        self.released.as_ref().is_none_or(|released| prompts > released.prompts)
    }

    pub fn holds(&self, session: &SessionId, plan: &PlanView) -> bool {
        self.released.is_none() && (plan.owner.as_ref() == Some(session) || self.plans.contains(&plan.id))
    }
}
