//! The loop of this checkout: what each stage does, for the commands and for a run.
//!
//! Every function here reads and writes the ledger and the pages of the loop, and says nothing: who called says it.

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

/// Git answers such a question at once, or not at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many learnings are shown: they are read before anything begins.
const RECALLED: usize = 5;

/// The loops of a checkout.
#[derive(Debug)]
pub struct Loops<'a> {
    repository: &'a Repository,
    ledger: Ledger,
    worktree: String,
}

/// What a start came to.
#[derive(Debug)]
pub struct StartedLoop {
    pub looped: Loop,
    pub judged: AssessedRequest,
    pub recalled: Vec<Recalled>,
    /// One that waited for a clearer request and was put away for this.
    pub instead_of: Option<LoopId>,
}

impl<'a> Loops<'a> {
    pub fn of(repository: &'a Repository) -> Result<Self, WorkError> {
        Ok(Self::with(repository, repository.ledger()?))
    }

    /// The same for a command that has taken in the journals already.
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

    /// The one that is not finished.
    pub fn current(&self) -> Result<Loop, WorkError> {
        Ok(self.unfinished()?.ok_or(LoopError::None)?)
    }

    /// The one that is not finished, else the last.
    pub fn last(&self) -> Result<Option<Loop>, WorkError> {
        match self.unfinished()? {
            Some(looped) => Ok(Some(looped)),
            None => Ok(self.ledger.loops_of(&self.worktree)?.into_iter().next()),
        }
    }

    /// Judges a request, recalls what has to do with it, and keeps both. A loop that only waited for a clearer request makes
    /// way for it; any other refuses.
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
        // What the request itself forbids is kept from the start, whatever a spec says later.
        looped.asked = request.shape();
        looped.asked.checks = stated_checks::frozen(&self.repository.place.root, &said_by_human(request));
        looped.scores = Some(judged.scores);
        let recalled = self.recall(request)?;
        looped.recall_surfaced = recalled.iter().filter_map(surfaced).collect();
        // In one step: whoever is killed here leaves no loop that nobody judged.
        self.ledger.create_loop(&looped)?;
        let looped = self.written(&looped.id)?;
        Ok(StartedLoop { looped, judged, recalled, instead_of: waiting.map(|looped| looped.id) })
    }

    /// The commit of this checkout. None: there is none.
    fn head(&self) -> Option<String> {
        let asked = GitCommand::at(&self.repository.place.root).call("rev-parse");
        let (code, commit) = asked.args(["--verify", "--quiet", "HEAD^{commit}"]).outcome(&[0, 1], PATIENCE).ok()?;
        (code == 0).then_some(commit)
    }

    /// Learnings that have to do with a request, the nearest first.
    pub fn recall(&self, request: &Request) -> Result<Vec<Recalled>, WorkError> {
        let query = Query { files: request.paths(), words: request.words(), limit: RECALLED, without: None };
        let mut found = self.ledger.recall(&query)?;
        found.retain(|recalled| matches!(recalled.memory, RecalledItem::Learning(_)));
        Ok(found)
    }

    /// Keeps what a spec says of the result, beside what the request said.
    pub fn shape(&mut self, looped: &Loop, request: &Request) -> Result<Loop, WorkError> {
        let mut kept = looped.asked.clone();
        // What a spec says has to pass is kept with its plan, if a human loaded or approved that.
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

    /// One stage further, if all is there that the stage needs.
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
                let standing = LoopProgress::of(&self.ledger.tasks(&plan)?);
                if from == Stage::Review && standing.is_over() {
                    return Err(LoopError::NothingOpen.into());
                }
                self.ledger.attach_plan(&looped.id, &plan, now)?;
            }
            Stage::Review => {
                let standing = self.standing(looped)?;
                if !standing.is_over() {
                    let open = standing.all - standing.done - standing.blocked;
                    return Err(LoopError::OpenTasks { open, all: standing.all }.into());
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

    /// The plan that belongs to a loop: its own, that of its spec, or the one of this checkout.
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

    /// A human takes a request that is not clear enough.
    pub fn take_as_it_is(&mut self, looped: &Loop, why: &str) -> Result<Loop, WorkError> {
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

    pub fn standing(&self, looped: &Loop) -> Result<LoopProgress, WorkError> {
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

    /// What takes it further.
    pub fn next(&self, looped: &Loop) -> Result<NextStep, WorkError> {
        Ok(next(looped, &self.reviews(looped)?, self.standing(looped)?))
    }

    /// What the human's own words say has to pass: those of the request, and those of a spec that a human loaded or
    /// approved.
    pub fn stated_checks(&self, looped: &Loop) -> Result<Vec<StatedCheck>, WorkError> {
        stated_checks(&self.ledger, looped)
    }

    pub fn resume_text(&self, looped: &Loop) -> Result<String, WorkError> {
        Ok(resume_text(looped, &self.reviews(looped)?, self.standing(looped)?))
    }

    /// As it is now, its pages written anew.
    pub fn written(&self, id: &LoopId) -> Result<Loop, WorkError> {
        let looped = self.ledger.find_loop(id)?;
        write(&self.repository.place, &self.ledger, &looped, self.now());
        Ok(looped)
    }

    fn now(&self) -> Millis {
        self.repository.environment.now()
    }
}

/// As [`Loops::stated_checks`], each command once.
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

/// Those of a request's checks that a human stated. What an agent passes on counts where a human of its session said it.
fn said_by_human(request: &Request) -> Vec<StatedCheck> {
    let checks = request.shape().checks;
    match &request.author {
        Author::Human => checks,
        Author::Agent { heard } => {
            checks.into_iter().filter(|check| heard.iter().any(|text| text.contains(&check.command))).collect()
        }
    }
}

/// Writes the pages of the loop that is under way, if one is.
pub fn refresh(place: &Place, ledger: &Ledger, now: Millis) {
    if let Ok(Some(looped)) = ledger.unfinished_loop(&place.worktree()) {
        write(place, ledger, &looped, now);
    }
}

/// A page that cannot be written holds nothing up: the ledger is the truth.
fn write(place: &Place, ledger: &Ledger, looped: &Loop, now: Millis) {
    let reviews = ledger.reviews_of(&looped.id).unwrap_or_default();
    let tasks = looped.plan.as_ref().and_then(|plan| ledger.tasks(plan).ok()).unwrap_or_default();
    if let Err(error) = page::write(&place.root, looped, &reviews, &tasks) {
        log_line(place, now, &format!("the pages of loop {}: {error}", looped.id));
    }
}

/// What is kept of a memory that was shown.
fn surfaced(recalled: &Recalled) -> Option<String> {
    match &recalled.memory {
        RecalledItem::Learning(learning) => Some(learning.text.clone()),
        RecalledItem::Step(_) | RecalledItem::Decision(_) => None,
    }
}

/// Why a request is not run, and what would help.
pub fn unclear(looped: &Loop) -> LoopError {
    LoopError::Unclear { score: looped.scores.map_or(0, |scores| scores.spec) }
}

/// How a loop's autonomy is said.
pub fn how(autonomy: Autonomy) -> &'static str {
    match autonomy {
        Autonomy::Tool => "tool: it goes on without a pause",
        Autonomy::ToolReview => "tool-review: it pauses after each wave's review",
        Autonomy::Colleague => "colleague: it pauses after each unit",
        Autonomy::Blocked => "blocked until the request is clear",
    }
}

/// `l-1a2b3c4d`: of the moment, this process and the request.
fn new_id(request: &str, now: Millis) -> LoopId {
    let (now, pid) = (now.0.to_le_bytes(), std::process::id().to_le_bytes());
    let hash = steadfast_model::fnv([now.as_slice(), &pid, request.as_bytes()]);
    LoopId::new(format!("l-{:08x}", (hash ^ (hash >> 32)) as u32))
}
