use std::sync::atomic::AtomicBool;

use steadfast_model::{Loop, LoopSettings, PlanId, RunSettings};

use crate::commands::run::court::{Court, Subject, matter};
use crate::commands::run::{launcher, preflight, prices};
use crate::error::CommandError;
use crate::repository::Repository;

/// What is judged in a session: the checkout it works in, since the loop began.
pub(super) struct Bench<'a> {
    repository: &'a Repository,
    looped: &'a Loop,
    settings: RunSettings,
    how: LoopSettings,
    ready: preflight::Ready,
    plan: PlanId,
    stop: AtomicBool,
}

impl<'a> Bench<'a> {
    pub(super) fn of(repository: &'a Repository, looped: &'a Loop) -> Result<Self, CommandError> {
        if let Some(run) = &looped.run {
            return Err(CommandError::failure(format!("loop {} is worked on by run {run}", looped.id))
                .hint("`steadfast resume` goes on with it, reviews and gate among it"));
        }
        let settings = repository.config.load()?;
        let (how, settings) = (settings.looped, settings.run);
        let base = looped.base.clone().ok_or_else(|| {
            CommandError::failure("the loop began where nothing was committed yet, so nobody knows what changed")
                .hint("commit first, and `steadfast loop start --fresh`")
        })?;
        let plan = looped.plan.clone().ok_or_else(|| {
            CommandError::failure("the loop has no plan yet").hint("`steadfast loop next` says what is to be done now")
        })?;
        let host = settings.host.value;
        let ready = preflight::agent_and_folder(&repository.place, &settings, host, &base)?;
        Ok(Self { repository, looped, settings, how, ready, plan, stop: AtomicBool::new(false) })
    }

    pub(super) fn plan(&self) -> &PlanId {
        &self.plan
    }

    pub(super) fn base(&self) -> &str {
        &self.ready.base
    }

    pub(super) fn court(&self) -> Court<'_> {
        Court {
            repository: self.repository,
            settings: &self.how,
            launcher: launcher(&self.settings, self.ready.host, &self.ready),
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
