//! The loop of a checkout, and the work of each stage, for the commands and for a run.
//!
//! The functions here read and write the ledger and the pages of the loop. They print nothing; the caller does.

mod error;
mod page;
mod request;
mod session;

use std::time::Duration;

use steadfast_model::{Autonomy, Loop, LoopEnd, LoopId, Millis, PlanId, Review, Shape, Stage, StatedCheck, Task};
use steadfast_observe::GitCommand;
use steadfast_plan::{LoopProgress, NextStep, next, resume_text};
use steadfast_store::ledger::{Ledger, LedgerError, Query, Recalled, RecalledItem};
use steadfast_store::{Place, log_line};

pub use error::LoopError;
pub use page::folder;
pub use request::{AssessedRequest, Author, Request, question};
pub use session::BindingRule;

use crate::error::WorkError;
use crate::repository::Repository;
use crate::task_list::stated_checks;

/// Git needs far less for such a question.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limit of learnings that are shown. They are read before the work begins, so they are few.
const RECALLED: usize = 5;

/// The loops of a checkout.
#[derive(Debug)]
pub struct Loops<'a> {
    repository: &'a Repository,
    ledger: Ledger,
    worktree: String,
}

/// The result of starting a loop.
#[derive(Debug)]
pub struct StartedLoop {
    pub looped: Loop,
    pub judged: AssessedRequest,
    pub recalled: Vec<Recalled>,
    /// A loop that waited for a clearer request and was archived for this one.
    pub instead_of: Option<LoopId>,
}

impl<'a> Loops<'a> {
    pub fn of(repository: &'a Repository) -> Result<Self, WorkError> {
        Ok(Self::with(repository, repository.ledger()?))
    }

    /// The same for a command that has already drained the journals.
    pub fn as_they_are(repository: &'a Repository) -> Result<Self, WorkError> {
        Ok(Self::with(repository, repository.ledger_as_it_is()?))
    }

    fn with(repository: &'a Repository, ledger: Ledger) -> Self {
        Self { worktree: repository.place.worktree(), repository, ledger }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub fn unfinished(&self) -> Result<Option<Loop>, WorkError> {
        Ok(self.ledger.unfinished_loop(&self.worktree)?)
    }

    /// The unfinished loop.
    pub fn current(&self) -> Result<Loop, WorkError> {
        Ok(self.unfinished()?.ok_or(LoopError::None)?)
    }

    /// The unfinished loop, else the last one.
    pub fn last(&self) -> Result<Option<Loop>, WorkError> {
        match self.unfinished()? {
            Some(looped) => Ok(Some(looped)),
            None => Ok(self.ledger.loops_of(&self.worktree)?.into_iter().next()),
        }
    }

    /// Scores a request, recalls related learnings, and saves both in a new loop. Archives a loop that only waited for
    /// a clearer request; any other unfinished loop is an error.
    pub fn begin(&mut self, request: &Request) -> Result<StartedLoop, WorkError> {
        let judged = request.judge(Some(&self.ledger))?;
        let now = self.now();
        let waiting = self.unfinished()?.filter(|looped| looped.is_unclear() && looped.stage == Stage::Intent);
        if let Some(waiting) = &waiting {
            self.ledger.end_loop(&waiting.id, LoopEnd::Archived, now)?;
        }
        let title = request.title();
        let mut looped = Loop::new(new_id(&title, now), self.worktree.clone(), title, now);
        looped.spec.clone_from(&request.spec);
        looped.base = self.head();
        // The must-nots of the request are saved from the start, whatever a spec says later.
        looped.asked = request.shape();
        looped.asked.checks = stated_checks::frozen(&self.repository.place.root, &stated_by_human(request));
        looped.scores = Some(judged.scores);
        let recalled = self.recall(request)?;
        looped.recall_surfaced = recalled.iter().filter_map(surfaced).collect();
        // In one step, so that a process killed here leaves no loop without a score.
        self.ledger.create_loop(&looped)?;
        let looped = self.written(&looped.id)?;
        Ok(StartedLoop { looped, judged, recalled, instead_of: waiting.map(|looped| looped.id) })
    }

    /// The commit of this checkout, if there is one.
    fn head(&self) -> Option<String> {
        let asked = GitCommand::at(&self.repository.place.root).call("rev-parse");
        let (code, commit) = asked.args(["--verify", "--quiet", "HEAD^{commit}"]).outcome(&[0, 1], PATIENCE).ok()?;
        (code == 0).then_some(commit)
    }

    /// Learnings related to a request, the closest first.
    pub fn recall(&self, request: &Request) -> Result<Vec<Recalled>, WorkError> {
        let query = Query { files: request.paths(), words: request.words(), limit: RECALLED, without: None };
        let mut found = self.ledger.recall(&query)?;
        found.retain(|recalled| matches!(recalled.memory, RecalledItem::Learning(_)));
        Ok(found)
    }

    /// Adds the shape of a spec to that of the request.
    pub fn shape(&mut self, looped: &Loop, request: &Request) -> Result<Loop, WorkError> {
        let mut kept = looped.asked.clone();
        // The checks of a spec are saved with its plan, once a human has loaded or approved it.
        let Shape { criteria, must_nots, scope, verification, checks: _, not_executed } = request.shape();
        for (lines, more) in [
            (&mut kept.criteria, criteria),
            (&mut kept.must_nots, must_nots),
            (&mut kept.scope, scope),
            (&mut kept.verification, verification),
            (&mut kept.not_executed, not_executed),
        ] {
            lines.extend(more.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
        }
        let now = self.now();
        self.ledger.keep_shape(&looped.id, &kept, now)?;
        if let Some(spec) = &request.spec {
            self.ledger.attach_spec(&looped.id, spec, now)?;
        }
        self.written(&looped.id)
    }

    /// Moves the loop to a stage, if everything that the stage requires is there.
    pub fn advance(&mut self, looped: &Loop, to: Stage) -> Result<Loop, WorkError> {
        let now = self.now();
        let from = looped.stage;
        if !from.can_become(to) {
            return Err(LoopError::OutOfOrder { from, to }.into());
        }
        match to {
            Stage::Intent => {}
            Stage::Shape if looped.scores.is_none() || looped.is_unclear() => return Err(unclear(looped).into()),
            Stage::Shape => {}
            Stage::Decompose if looped.shape.is_none() => {
                return Err(LoopError::NoShape.into());
            }
            Stage::Decompose => {}
            Stage::Executing => {
                let plan = self.plan_for(looped)?;
                let progress = LoopProgress::of(&self.ledger.tasks(&plan)?);
                if from == Stage::Review && progress.is_over() {
                    return Err(LoopError::NothingOpen.into());
                }
                self.ledger.attach_plan(&looped.id, &plan, now)?;
            }
            Stage::Review => {
                let progress = self.progress(looped)?;
                if !progress.is_over() {
                    let open = progress.all - progress.done - progress.blocked;
                    return Err(LoopError::OpenTasks { open, all: progress.all }.into());
                }
            }
            Stage::Complete => {
                return Err(LoopError::NotByWord.into());
            }
        }
        if !self.ledger.advance_loop(&looped.id, from, to, now)? {
            return Err(LoopError::Moved.into());
        }
        self.written(&looped.id)
    }

    /// The plan of a loop: its own, else that of its spec, else the one of this checkout.
    fn plan_for(&self, looped: &Loop) -> Result<PlanId, WorkError> {
        if let Some(plan) = &looped.plan {
            return Ok(plan.clone());
        }
        let of_spec = match &looped.spec {
            Some(spec) => self.ledger.plan_of(&self.worktree, spec)?,
            None => None,
        };
        let found = match of_spec {
            Some(plan) => Some(plan),
            None => self.ledger.plan(&self.worktree)?,
        };
        let plan = found.ok_or_else(|| LoopError::NoPlan { spec: looped.spec.clone() })?;
        Ok(plan.id)
    }

    /// Continues with an unclear request because a human decided so.
    pub fn override_unclear(&mut self, looped: &Loop, why: &str) -> Result<Loop, WorkError> {
        self.ledger.override_loop(&looped.id, why, self.now())?;
        self.written(&looped.id)
    }

    pub fn archive(&mut self, looped: &Loop) -> Result<Loop, WorkError> {
        self.ledger.end_loop(&looped.id, LoopEnd::Archived, self.now())?;
        self.written(&looped.id)
    }

    pub fn reviews(&self, looped: &Loop) -> Result<Vec<Review>, WorkError> {
        Ok(self.ledger.reviews_of(&looped.id)?)
    }

    pub fn progress(&self, looped: &Loop) -> Result<LoopProgress, WorkError> {
        Ok(LoopProgress::of(&self.tasks(looped)?))
    }

    pub fn tasks(&self, looped: &Loop) -> Result<Vec<Task>, WorkError> {
        match &looped.plan {
            None => Ok(Vec::new()),
            Some(plan) => match self.ledger.tasks(plan) {
                Err(LedgerError::UnknownPlan { .. }) => Ok(Vec::new()),
                tasks => Ok(tasks?),
            },
        }
    }

    /// The next step of the loop.
    pub fn next(&self, looped: &Loop) -> Result<NextStep, WorkError> {
        Ok(next(looped, &self.reviews(looped)?, self.progress(looped)?))
    }

    /// The checks that the human stated: in the request, or in a spec that a human loaded or approved.
    pub fn stated_checks(&self, looped: &Loop) -> Result<Vec<StatedCheck>, WorkError> {
        stated_checks(&self.ledger, looped)
    }

    pub fn resume_text(&self, looped: &Loop) -> Result<String, WorkError> {
        Ok(resume_text(looped, &self.reviews(looped)?, self.progress(looped)?))
    }

    /// Writes the pages of a loop and returns its current state.
    pub fn written(&self, id: &LoopId) -> Result<Loop, WorkError> {
        let looped = self.ledger.find_loop(id)?;
        write(&self.repository.place, &self.ledger, &looped, self.now());
        Ok(looped)
    }

    fn now(&self) -> Millis {
        self.repository.environment.now()
    }
}

/// Like [`Loops::stated_checks`], each command once.
pub fn stated_checks(ledger: &Ledger, looped: &Loop) -> Result<Vec<StatedCheck>, WorkError> {
    let mut checks = looped.asked.checks.clone();
    if let Some(plan) = &looped.plan {
        for check in ledger.stated_checks(plan)? {
            if !checks.iter().any(|known| known.command == check.command) {
                checks.push(check);
            }
        }
    }
    Ok(checks)
}

/// The checks of a request that a human stated. A check in an agent's request counts if a human of that session wrote
/// the same command.
fn stated_by_human(request: &Request) -> Vec<StatedCheck> {
    let checks = request.shape().checks;
    match &request.author {
        Author::Human => checks,
        Author::Agent { heard } => {
            checks.into_iter().filter(|check| heard.iter().any(|text| text.contains(&check.command))).collect()
        }
    }
}

/// Writes the pages of the unfinished loop, if there is one.
pub fn refresh(place: &Place, ledger: &Ledger, now: Millis) {
    if let Ok(Some(looped)) = ledger.unfinished_loop(&place.worktree()) {
        write(place, ledger, &looped, now);
    }
}

/// A page that cannot be written stops nothing, because the ledger is the source of truth.
fn write(place: &Place, ledger: &Ledger, looped: &Loop, now: Millis) {
    let reviews = ledger.reviews_of(&looped.id).unwrap_or_default();
    let tasks = looped.plan.as_ref().and_then(|plan| ledger.tasks(plan).ok()).unwrap_or_default();
    if let Err(error) = page::write(&place.root, looped, &reviews, &tasks) {
        log_line(place, now, &format!("cannot write the pages of loop {}: {error}", looped.id));
    }
}

/// The text of a shown memory that the loop records.
fn surfaced(recalled: &Recalled) -> Option<String> {
    match &recalled.memory {
        RecalledItem::Learning(learning) => Some(learning.text.clone()),
        RecalledItem::Step(_) | RecalledItem::Decision(_) => None,
    }
}

/// The error for an unclear request, with its score.
pub fn unclear(looped: &Loop) -> LoopError {
    LoopError::Unclear { score: looped.scores.map_or(0, |scores| scores.spec) }
}

/// One line about the autonomy of a loop.
pub fn how(autonomy: Autonomy) -> &'static str {
    match autonomy {
        Autonomy::Tool => "tool: runs without a pause",
        Autonomy::ToolReview => "tool-review: pauses after the review of each wave",
        Autonomy::Colleague => "colleague: pauses after each unit",
        Autonomy::Blocked => "blocked until the request is clear",
    }
}

/// An id like `l-1a2b3c4d`, from the time, this process and the request.
fn new_id(request: &str, now: Millis) -> LoopId {
    let (now, pid) = (now.0.to_le_bytes(), std::process::id().to_le_bytes());
    let hash = steadfast_model::fnv([now.as_slice(), &pid, request.as_bytes()]);
    LoopId::new(format!("l-{:08x}", (hash ^ (hash >> 32)) as u32))
}
