use std::sync::atomic::AtomicBool;

use steadfast_model::{Loop, LoopSettings, PlanId, Review, RunSettings, Shape, StatedCheck};
use steadfast_work::loops::stated_checks;
use steadfast_work::{Repository, WorkError};

use super::{GateLook, GateOutcome, ReviewSubject, Reviewer, review_brief};
use crate::error::RunError;
use crate::launch::Launcher;
use crate::preflight;

/// A review in a session: the changes in its checkout since the loop started.
#[derive(Debug)]
pub struct SessionReview<'a> {
    repository: &'a Repository,
    looped: &'a Loop,
    settings: RunSettings,
    how: LoopSettings,
    /// The commit that the loop started at.
    base: String,
    plan: PlanId,
    stated: Vec<StatedCheck>,
    stop: AtomicBool,
}

impl<'a> SessionReview<'a> {
    pub fn of(repository: &'a Repository, looped: &'a Loop) -> Result<Self, RunError> {
        if let Some(run) = &looped.run {
            return Err(RunError::LoopInRun { id: looped.id.clone(), run: run.clone() });
        }
        let settings = repository.config.load().map_err(WorkError::from)?;
        let (how, settings) = (settings.loops, settings.run);
        let base = looped.base.clone().ok_or(RunError::NoBase)?;
        let plan = looped.plan.clone().ok_or(RunError::NoPlan)?;
        let stated = stated_checks(&repository.ledger()?, looped)?;
        Ok(Self { repository, looped, settings, how, base, plan, stated, stop: AtomicBool::new(false) })
    }

    pub fn plan(&self) -> &PlanId {
        &self.plan
    }

    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns a reviewer. Experts need an installed host.
    pub fn reviewer(&self) -> Result<Reviewer<'_>, RunError> {
        let host = self.settings.host.value;
        let ready = preflight::agent_and_folder(self.repository, &self.settings, host, &self.base)?;
        Ok(Reviewer {
            repository: self.repository,
            settings: &self.how,
            launcher: Launcher::new(self.repository, &self.settings, ready.host, &ready),
            host: ready.host,
            review_brief: review_brief(&self.looped.request, self.looped.shape.as_ref()),
            plan: self.plan.clone(),
            stated: self.stated.clone(),
            waived: self.looped.waived.clone(),
            limits: self.limits(),
            spec: self.looped.spec.clone(),
            run: None,
            subject: self.subject(),
            mark: self.looped.id.to_string(),
            stop: &self.stop,
            beside: 0,
        })
    }

    /// Returns the gate's objections. The gate asks no experts and needs no host.
    pub fn gate(&self, reviews: &[Review]) -> Result<GateOutcome, RunError> {
        let limits = self.limits();
        let look = GateLook {
            repository: self.repository,
            plan: &self.plan,
            subject: &self.subject(),
            must_nots: &limits,
            stated: &self.stated,
            waived: &self.looped.waived,
            spec: self.looped.spec.as_deref(),
            mark: self.looped.id.as_str(),
            stop: &self.stop,
        };
        look.objections(reviews)
    }

    /// Returns the must-nots and the allowed places.
    fn limits(&self) -> Vec<String> {
        self.looped.shape.as_ref().map(Shape::limits).unwrap_or_default()
    }

    fn subject(&self) -> ReviewSubject {
        ReviewSubject::Checkout { place: self.repository.place.clone(), base: self.base.clone() }
    }
}
