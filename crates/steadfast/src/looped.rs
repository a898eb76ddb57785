//! The loop of this checkout: what each stage does, for the commands and for a run.
//!
//! Every function here reads and writes the ledger and the pages of the loop, and says nothing: who called says it.

mod closing;
mod page;
mod request;

use std::time::Duration;

use steadfast_model::{Autonomy, Loop, LoopEnd, LoopId, PlanId, Review, Shape, Stage, Task};
use steadfast_observe::GitCommand;
use steadfast_plan::{Next, Standing, next, resume_text};
use steadfast_store::ledger::{Ledger, LedgerError, Memory, Query, Recalled};
use steadfast_store::{Place, log_line};

pub(crate) use closing::Closing;
pub(crate) use page::folder;
pub(crate) use request::{Judged, Request};

use crate::error::CommandError;
use crate::repository::Repository;
use crate::surroundings;

/// Git answers such a question at once, or not at all.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many learnings are shown: they are read before anything begins.
const RECALLED: usize = 5;

/// The loops of a checkout.
#[derive(Debug)]
pub(crate) struct Loops<'a> {
    repository: &'a Repository,
    ledger: Ledger,
    worktree: String,
}

/// What a start came to.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) looped: Loop,
    pub(crate) judged: Judged,
    pub(crate) recalled: Vec<Recalled>,
    /// One that waited for a clearer request and was put away for this.
    pub(crate) instead_of: Option<LoopId>,
}

impl<'a> Loops<'a> {
    pub(crate) fn of(repository: &'a Repository) -> Result<Self, CommandError> {
        let ledger = repository.ledger()?;
        Ok(Self { worktree: repository.place.worktree(), repository, ledger })
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn unfinished(&self) -> Result<Option<Loop>, CommandError> {
        Ok(self.ledger.unfinished_loop(&self.worktree)?)
    }

    /// The one that is not finished.
    pub(crate) fn current(&self) -> Result<Loop, CommandError> {
        self.unfinished()?.ok_or_else(|| {
            CommandError::failure("no loop is under way in this checkout").hint(
                "`steadfast loop start \"what is wanted\"` begins one, `steadfast loop start SPEC.md` from a spec",
            )
        })
    }

    /// The one that is not finished, else the last.
    pub(crate) fn last(&self) -> Result<Option<Loop>, CommandError> {
        match self.unfinished()? {
            Some(looped) => Ok(Some(looped)),
            None => Ok(self.ledger.loops_of(&self.worktree)?.into_iter().next()),
        }
    }

    /// Judges a request, recalls what has to do with it, and keeps both. A loop that only waited for a clearer request makes
    /// way for it; any other refuses.
    pub(crate) fn begin(&mut self, request: &Request) -> Result<Begun, CommandError> {
        let judged = request.judge(Some(&self.ledger))?;
        let now = surroundings::now();
        let waiting = self.unfinished()?.filter(|looped| looped.is_unclear() && looped.stage == Stage::Intent);
        if let Some(waiting) = &waiting {
            self.ledger.end_loop(&waiting.id, LoopEnd::Archived, now)?;
        }
        let title = request.title();
        let mut looped = Loop::new(new_id(&title), self.worktree.clone(), title, now);
        looped.spec.clone_from(&request.spec);
        looped.base = self.head();
        // What the request itself forbids is kept from the start, whatever a spec says later.
        looped.asked = request.shape();
        looped.scores = Some(judged.scores);
        let recalled = self.recall(request)?;
        looped.recall_surfaced = recalled.iter().filter_map(surfaced).collect();
        // In one step: whoever is killed here leaves no loop that nobody judged.
        self.ledger.create_loop(&looped)?;
        let looped = self.written(&looped.id)?;
        Ok(Begun { looped, judged, recalled, instead_of: waiting.map(|looped| looped.id) })
    }

    /// The commit of this checkout. None: there is none.
    fn head(&self) -> Option<String> {
        let asked = GitCommand::at(&self.repository.place.root).call("rev-parse");
        let (code, commit) = asked.args(["--verify", "--quiet", "HEAD^{commit}"]).outcome(&[0, 1], PATIENCE).ok()?;
        (code == 0).then_some(commit)
    }

    /// Learnings that have to do with a request, the nearest first.
    pub(crate) fn recall(&self, request: &Request) -> Result<Vec<Recalled>, CommandError> {
        let query = Query { files: request.paths(), words: request.words(), limit: RECALLED, without: None };
        let mut found = self.ledger.recall(&query)?;
        found.retain(|recalled| matches!(recalled.memory, Memory::Learning(_)));
        Ok(found)
    }

    /// Keeps what a spec says of the result, beside what the request said.
    pub(crate) fn shape(&mut self, looped: &Loop, request: &Request) -> Result<Loop, CommandError> {
        let mut kept = looped.asked.clone();
        let Shape { criteria, must_nots, verification } = request.shape();
        for (lines, more) in
            [(&mut kept.criteria, criteria), (&mut kept.must_nots, must_nots), (&mut kept.verification, verification)]
        {
            lines.extend(more.into_iter().filter(|line| !lines.contains(line)).collect::<Vec<_>>());
        }
        let now = surroundings::now();
        self.ledger.keep_shape(&looped.id, &kept, now)?;
        if let Some(spec) = &request.spec {
            self.ledger.attach_spec(&looped.id, spec, now)?;
        }
        self.written(&looped.id)
    }

    /// One stage further, if all is there that the stage needs.
    pub(crate) fn advance(&mut self, looped: &Loop, to: Stage) -> Result<Loop, CommandError> {
        let now = surroundings::now();
        let from = looped.stage;
        if !from.can_become(to) {
            let way = from.next().map_or("it is over", Stage::as_str);
            return Err(CommandError::refused(format!(
                "the loop is at {}, and {} does not follow it",
                from.as_str(),
                to.as_str()
            ))
            .hint(format!("what follows is {way}; `steadfast loop next` says what it needs")));
        }
        match to {
            Stage::Intent => {}
            Stage::Shape if looped.scores.is_none() || looped.is_unclear() => return Err(unclear(looped)),
            Stage::Shape => {}
            Stage::Decompose if looped.shape.is_none() => {
                return Err(CommandError::refused("the loop has no shape: nobody said what the result has to be")
                    .hint("`steadfast loop shape SPEC.md` keeps criteria, must-nots and verification of a spec"));
            }
            Stage::Decompose => {}
            Stage::Executing => {
                let plan = self.plan_for(looped)?;
                let standing = Standing::of(&self.ledger.tasks(&plan)?);
                if from == Stage::Review && standing.is_over() {
                    return Err(CommandError::refused("nothing is open: there is no work to go back to")
                        .hint("`steadfast task add TITLE` adds what a finding asks for"));
                }
                self.ledger.attach_plan(&looped.id, &plan, now)?;
            }
            Stage::Review => {
                let standing = self.standing(looped)?;
                if !standing.is_over() {
                    let open = standing.all - standing.done - standing.blocked;
                    return Err(CommandError::refused(format!("{open} of {} tasks are open", standing.all))
                        .hint("`steadfast task next` shows the next one"));
                }
            }
            Stage::Complete => {
                return Err(CommandError::refused("no word completes a loop")
                    .hint("`steadfast loop gate` looks at tasks, evidence, reviews and must-nots, and completes it"));
            }
        }
        if !self.ledger.advance_loop(&looped.id, from, to, now)? {
            return Err(CommandError::failure("somebody else moved the loop meanwhile")
                .hint("`steadfast loop status` shows where it is"));
        }
        self.written(&looped.id)
    }

    /// The plan that belongs to a loop: its own, that of its spec, or the one of this checkout.
    fn plan_for(&self, looped: &Loop) -> Result<PlanId, CommandError> {
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
        let spec = looped.spec.as_deref().unwrap_or("SPEC.md");
        let plan = found.ok_or_else(|| {
            CommandError::refused("the loop has no plan: there is nothing to work off")
                .hint(format!("`steadfast plan load {spec}` makes tasks of a spec"))
        })?;
        Ok(plan.id)
    }

    /// A human takes a request that is not clear enough.
    pub(crate) fn take_as_it_is(&mut self, looped: &Loop, why: &str) -> Result<Loop, CommandError> {
        self.ledger.override_loop(&looped.id, why, surroundings::now())?;
        self.written(&looped.id)
    }

    pub(crate) fn archive(&mut self, looped: &Loop) -> Result<Loop, CommandError> {
        self.ledger.end_loop(&looped.id, LoopEnd::Archived, surroundings::now())?;
        self.written(&looped.id)
    }

    pub(crate) fn reviews(&self, looped: &Loop) -> Result<Vec<Review>, CommandError> {
        Ok(self.ledger.reviews_of(&looped.id)?)
    }

    pub(crate) fn standing(&self, looped: &Loop) -> Result<Standing, CommandError> {
        Ok(Standing::of(&self.tasks(looped)?))
    }

    pub(crate) fn tasks(&self, looped: &Loop) -> Result<Vec<Task>, CommandError> {
        match &looped.plan {
            None => Ok(Vec::new()),
            Some(plan) => match self.ledger.tasks(plan) {
                Err(LedgerError::UnknownPlan { .. }) => Ok(Vec::new()),
                tasks => Ok(tasks?),
            },
        }
    }

    /// What takes it further.
    pub(crate) fn next(&self, looped: &Loop) -> Result<Next, CommandError> {
        Ok(next(looped, &self.reviews(looped)?, self.standing(looped)?))
    }

    pub(crate) fn resume_text(&self, looped: &Loop) -> Result<String, CommandError> {
        Ok(resume_text(looped, &self.reviews(looped)?, self.standing(looped)?))
    }

    /// As it is now, its pages written anew.
    pub(crate) fn written(&self, id: &LoopId) -> Result<Loop, CommandError> {
        let looped = self.ledger.looped(id)?;
        write(&self.repository.place, &self.ledger, &looped);
        Ok(looped)
    }
}

/// Writes the pages of the loop that is under way, if one is.
pub(crate) fn refresh(place: &Place, ledger: &Ledger) {
    if let Ok(Some(looped)) = ledger.unfinished_loop(&place.worktree()) {
        write(place, ledger, &looped);
    }
}

/// A page that cannot be written holds nothing up: the ledger is the truth.
fn write(place: &Place, ledger: &Ledger, looped: &Loop) {
    let reviews = ledger.reviews_of(&looped.id).unwrap_or_default();
    let tasks = looped.plan.as_ref().and_then(|plan| ledger.tasks(plan).ok()).unwrap_or_default();
    if let Err(error) = page::write(&place.root, looped, &reviews, &tasks) {
        log_line(place, surroundings::now(), &format!("the pages of loop {}: {error}", looped.id));
    }
}

/// What is kept of a memory that was shown.
fn surfaced(recalled: &Recalled) -> Option<String> {
    match &recalled.memory {
        Memory::Learning(learning) => Some(learning.text.clone()),
        Memory::Step(_) | Memory::Decision(_) => None,
    }
}

/// Why a request is not run, and what would help.
pub(crate) fn unclear(looped: &Loop) -> CommandError {
    let score = looped.scores.map_or(0, |scores| scores.spec);
    CommandError::refused(format!("the request is not clear enough: {score} of 10, and 5 is the least"))
        .hint("`steadfast loop start TEXT` with a clearer request; `steadfast loop score TEXT` says what is missing")
        .hint("a human takes it as it is with `steadfast loop override --why REASON`")
}

/// How a loop's autonomy is said.
pub(crate) fn how(autonomy: Autonomy) -> &'static str {
    match autonomy {
        Autonomy::Tool => "tool: it goes on without a pause",
        Autonomy::ToolReview => "tool-review: it pauses after each wave's review",
        Autonomy::Colleague => "colleague: it pauses after each unit",
        Autonomy::Blocked => "blocked until the request is clear",
    }
}

/// `l-1a2b3c4d`: of the moment, this process and the request.
fn new_id(request: &str) -> LoopId {
    let (now, pid) = (surroundings::now().0.to_le_bytes(), std::process::id().to_le_bytes());
    let hash = steadfast_model::fnv([now.as_slice(), &pid, request.as_bytes()]);
    LoopId::new(format!("l-{:08x}", (hash ^ (hash >> 32)) as u32))
}
