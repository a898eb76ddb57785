use std::sync::atomic::AtomicBool;

use steadfast_model::{Loop, LoopSettings, PlanId, RunSettings};
use steadfast_work::{Repository, WorkError};

use super::{Reviewer, Subject, matter};
use crate::error::RunError;
use crate::launch::{launcher, prices};
use crate::preflight;

/// A review in a session: the checkout it works in, since the loop began.
#[derive(Debug)]
pub struct SessionReview<'a> {
    repository: &'a Repository,
    looped: &'a Loop,
    settings: RunSettings,
    how: LoopSettings,
    ready: preflight::Ready,
    plan: PlanId,
    stop: AtomicBool,
}

impl<'a> SessionReview<'a> {
    pub fn of(repository: &'a Repository, looped: &'a Loop) -> Result<Self, RunError> {
        if let Some(run) = &looped.run {
            return Err(RunError::LoopInRun { id: looped.id.clone(), run: run.clone() });
        }
        let settings = repository.config.load().map_err(WorkError::from)?;
        let (how, settings) = (settings.looped, settings.run);
        let base = looped.base.clone().ok_or(RunError::NoBase)?;
        let plan = looped.plan.clone().ok_or(RunError::NoPlan)?;
        let host = settings.host.value;
        let ready = preflight::agent_and_folder(repository, &settings, host, &base)?;
        Ok(Self { repository, looped, settings, how, ready, plan, stop: AtomicBool::new(false) })
    }

    pub fn plan(&self) -> &PlanId {
        &self.plan
    }

    pub fn base(&self) -> &str {
        &self.ready.base
    }

    pub fn reviewer(&self) -> Reviewer<'_> {
        Reviewer {
            repository: self.repository,
            settings: &self.how,
            launcher: launcher(self.repository, &self.settings, self.ready.host, &self.ready),
            host: self.ready.host,
            prices: prices(&self.settings),
            matter: matter(&self.looped.request, self.looped.shape.as_ref()),
            plan: self.plan.clone(),
            run: None,
            subject: Subject::Checkout { place: self.repository.place.clone(), base: self.ready.base.clone() },
            mark: self.looped.id.to_string(),
            stop: &self.stop,
        }
    }
}
