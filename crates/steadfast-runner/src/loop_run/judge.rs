use steadfast_model::{
    Finding, FindingSeverity, Loop, LoopEnd, Objected, Resolution, Review, ReviewKind, Run, RunState, Stage, Status,
    TaskKind,
};

use super::{LoopRun, Passed, summary};
use crate::error::RunError;
use crate::gate::{Objection, Remedy};
use crate::review::{Look, ReviewScope, add_remedies, add_remedy, changed_file, line, objected};

/// The most thorough reviews of one loop. Remaining findings need a human.
pub const ROUNDS: u32 = 3;

impl LoopRun<'_> {
    /// Runs the thorough review and the gate. `None`: the loop continues, at this stage or another.
    pub(super) fn judge(&self, looped: &Loop) -> Result<Option<Passed>, RunError> {
        let row = self.run_of(looped)?;
        let reviews = self.ledger()?.reviews_of(&looped.id)?;
        let last = reviews.iter().rev().find(|review| matches!(review.kind, ReviewKind::Thorough { .. }));
        match last {
            Some(review) if review.passed && self.is_about_the_tip(review, &row)? => self.gate(looped, &row, &reviews),
            Some(review) if review.blockers_remaining > 0 => self.fix(looped, &row, review).map(|()| None),
            _ if looped.rounds >= ROUNDS => self.cap(looped, &row, last),
            _ => self.review(looped, &row, last).map(|()| None),
        }
    }

    /// Returns whether nothing landed since the review.
    fn is_about_the_tip(&self, review: &Review, row: &Run) -> Result<bool, RunError> {
        let units = self.ledger()?.units(&row.id)?;
        Ok(units.iter().all(|unit| unit.updated_at <= review.at))
    }

    fn review(&self, looped: &Loop, row: &Run, last: Option<&Review>) -> Result<(), RunError> {
        let tasks = self.ledger()?.tasks(&row.plan)?;
        let earlier: Vec<Finding> = last
            .map(|review| review.findings.iter().filter(|finding| finding.severity == FindingSeverity::Blocker))
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let round = looped.rounds + 1;
        let (kind, part) = (ReviewKind::Thorough { round }, ReviewScope::Since(&row.base));
        let look = Look { kind, part, tasks: &tasks, earlier: &earlier };
        let completed = self.reviewer(looped, row)?.review(&looped.id, &look)?;
        self.say(&format!("review {round} of at most {ROUNDS}: {}", summary(&completed)));
        for finding in &completed.review.findings {
            self.say(&format!("  {} {}", finding.severity.as_str(), line(finding)));
        }
        if !completed.review.passed && completed.review.blockers_remaining == 0 {
            return Err(RunError::NoReview { silent: completed.silent });
        }
        Ok(())
    }

    /// Makes a task of each open blocker. When all these tasks are done, the next review checks the result.
    fn fix(&self, looped: &Loop, row: &Run, review: &Review) -> Result<(), RunError> {
        let tasks = self.ledger()?.tasks(&row.plan)?;
        let blockers: Vec<&Finding> = review.findings.iter().filter(|finding| finding.blocks()).collect();
        let task_of = |finding: &Finding| {
            let title = title(finding);
            tasks.iter().find(|task| task.kind == TaskKind::Remediation && task.title == title)
        };
        if blockers.iter().all(|finding| task_of(finding).is_some_and(|task| task.status == Status::Done)) {
            let mut ledger = self.ledger()?;
            for finding in &blockers {
                ledger.resolve_finding(&looped.id, finding.id, &Resolution::Fixed, self.now())?;
            }
            return Ok(());
        }
        if looped.rounds >= ROUNDS {
            return self.cap(looped, row, Some(review)).map(|_| ());
        }
        let new: Vec<&Finding> = blockers.iter().filter(|finding| task_of(finding).is_none()).copied().collect();
        let to_fix = self.blockers_to_fix(looped, &new)?;
        if to_fix.is_empty() && !new.is_empty() {
            // The human waived or deferred all of them.
            return self.check_deferred(looped, review);
        }
        for finding in to_fix {
            let notes = match &finding.must_not {
                Some(broken) => format!("{}\nIt breaks: {broken}", line(finding)),
                None => line(finding),
            };
            let (title, files, check) = (title(finding), vec![finding.file.clone()], changed_file());
            add_remedy(&mut self.ledger()?, &row.plan, &tasks, Remedy { title, files, notes, check }, self.now())?;
        }
        self.back_to_work(row)
    }

    /// Returns the blockers to fix. A human who is present may waive or defer each.
    fn blockers_to_fix<'f>(&self, looped: &Loop, blockers: &[&'f Finding]) -> Result<Vec<&'f Finding>, RunError> {
        let mut to_fix = Vec::new();
        for finding in blockers {
            let question = format!(
                "{} {}\nfix it, waive it or defer it? [F/w REASON/d REASON] ",
                finding.severity.as_str(),
                line(finding)
            );
            let answer = self.console.ask(&question).unwrap_or_default();
            let (choice, why) = answer.trim().split_once(' ').unwrap_or((answer.trim(), ""));
            let why = || if why.trim().is_empty() { "no reason given".to_owned() } else { why.trim().to_owned() };
            let resolution = match choice {
                "w" | "waive" => Resolution::Waived { why: why() },
                "d" | "defer" => Resolution::Deferred { why: why() },
                _ => {
                    to_fix.push(*finding);
                    continue;
                }
            };
            self.ledger()?.resolve_finding(&looped.id, finding.id, &resolution, self.now())?;
        }
        Ok(to_fix)
    }

    /// Waived blockers no longer count; deferred ones still do.
    fn check_deferred(&self, looped: &Loop, review: &Review) -> Result<(), RunError> {
        let reviews = self.ledger()?.reviews_of(&looped.id)?;
        let now = reviews.iter().find(|now| now.kind == review.kind);
        match now.filter(|now| now.blockers_remaining > 0) {
            None => Ok(()),
            Some(now) => Err(RunError::PutOff(now.blockers_remaining)),
        }
    }

    fn gate(&self, looped: &Loop, row: &Run, reviews: &[Review]) -> Result<Option<Passed>, RunError> {
        let judged = self.reviewer(looped, row)?.gate(reviews)?;
        let kept: Vec<Objected> = judged.objections.iter().map(objected).collect();
        self.ledger()?.keep_objections(&looped.id, &kept, self.now())?;
        if judged.objections.is_empty() {
            let _ = self.worktrees(row).clear();
            self.advance(Stage::Review, Stage::Complete)?;
            let over = self.written()?;
            return Ok(Some(Passed { looped: over, judged }));
        }
        for objection in &judged.objections {
            self.say(&format!("gate: {objection} [{}]", objection.id()));
        }
        let (to_fix, human): (Vec<&Objection>, Vec<&Objection>) =
            judged.objections.iter().partition(|objection| objection.remedy().is_some());
        // Objections for a human become no tasks, but the loop still works on the others.
        if let ([], Some(first)) = (to_fix.as_slice(), human.first()) {
            return Err(RunError::GateHeld { first: first.to_string(), more: human.len() - 1 });
        }
        if looped.rounds >= ROUNDS {
            return self.cap(looped, row, None);
        }
        add_remedies(&mut self.ledger()?, &row.plan, &judged.objections, self.now())?;
        self.back_to_work(row).map(|()| None)
    }

    fn back_to_work(&self, row: &Run) -> Result<(), RunError> {
        self.ledger()?.set_run_state(&row.id, RunState::Running, None, self.now())?;
        self.advance(Stage::Review, Stage::Executing)
    }

    /// Returns the objections of the last gate, each with the id for a waiver.
    fn objections(&self, looped: &Loop) -> Vec<String> {
        let now = self.ledger().and_then(|ledger| Ok(ledger.find_loop(&looped.id)?));
        now.map(|now| now.objections.iter().map(|one| format!("{} {}", one.id, one.text)).collect()).unwrap_or_default()
    }

    /// Ends the loop as capped, not complete.
    fn cap(&self, looped: &Loop, row: &Run, last: Option<&Review>) -> Result<Option<Passed>, RunError> {
        self.ledger()?.end_loop(&looped.id, LoopEnd::Capped, self.now())?;
        let _ = self.worktrees(row).clear();
        let left: Vec<String> = last
            .map(|review| review.findings.iter().filter(|finding| finding.blocks()).map(line).collect())
            .unwrap_or_else(|| self.objections(looped));
        Err(RunError::Capped { id: looped.id.clone(), rounds: ROUNDS, left, branch: row.branch.clone() })
    }
}

/// Also identifies the finding's task.
fn title(finding: &Finding) -> String {
    let text: String = finding.text.chars().take(80).collect();
    format!("Fix finding {}: {text}", finding.id)
}
