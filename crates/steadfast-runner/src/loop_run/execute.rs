use steadfast_model::{Loop, Run, RunState, Stage};

use super::{LoopRun, Watch, until};
use crate::error::RunError;
use crate::lifecycle::{self, Leg};
use crate::review::CompletedReview;
use crate::run::{RunOutcome, Until};

impl LoopRun<'_> {
    /// Runs the units in the order of their dependencies, and reviews each wave. A pause comes after the review.
    pub(super) fn execute(&self, looped: &Loop) -> Result<(), RunError> {
        let row = self.run_of(looped)?;
        let until = until(looped.autonomy());
        let mut watch = self.console.watch(&row, until);
        loop {
            let before = self.landed_tree(&row)?;
            let panel_brief = self.how.panel.value.then(|| Self::review_brief(looped));
            let leg = Leg { settings: &self.settings, ready: &self.ready, stop: &self.stop, panel_brief, until };
            let outcome = match until {
                Until::End | Until::Gate => self.go_with_reviews(looped, &row, leg, &mut *watch),
                Until::Wave | Until::Unit => lifecycle::go(self.repository, &row, leg, &mut *watch),
            };
            let outcome = outcome.inspect_err(|_| watch.clear())?;
            if let RunOutcome::Paused(why) = &outcome {
                watch.finish(&self.ledger()?, &outcome);
                return Err(RunError::Paused { run: row.id, why: why.clone() });
            }
            let reviewed = match until {
                Until::Wave | Until::Unit if self.how.light_reviews.value => {
                    self.light(looped, &row)?.hold(&mut |line| {
                        watch.clear();
                        self.say(&line);
                    })?
                }
                _ => None,
            };
            // The gate reports tasks that only a claim closed.
            if matches!(outcome, RunOutcome::Complete | RunOutcome::NeedsReview(_)) {
                self.worktrees(&row).clear()?;
                return self.advance(Stage::Executing, Stage::Review);
            }
            // Without a change there is nothing to pause for.
            if self.landed_tree(&row)? != before {
                let why = match (until, reviewed) {
                    (Until::Unit, _) => "a unit has landed".to_owned(),
                    (_, Some(wave)) => format!("wave {wave} was reviewed"),
                    (_, None) => "a wave has landed".to_owned(),
                };
                self.pause(&row, &why, &mut *watch)?;
            }
        }
    }

    /// Returns the tree of all landed work, or of the base before the run's branch exists.
    fn landed_tree(&self, row: &Run) -> Result<String, RunError> {
        let worktrees = self.worktrees(row);
        let commit = worktrees.tip()?.unwrap_or_else(|| row.base.clone());
        Ok(worktrees.tree_of(&commit)?)
    }

    /// Asks a human who is present; otherwise pauses the run until `resume`.
    fn pause(&self, row: &Run, why: &str, watch: &mut dyn Watch) -> Result<(), RunError> {
        watch.clear();
        let answer = self.console.ask(&format!("{why}. Press Enter to continue, or `q` and Enter to pause.\n"));
        if answer.is_some_and(|answer| answer.trim().is_empty()) {
            return Ok(());
        }
        let mut ledger = self.ledger()?;
        ledger.set_run_state(&row.id, RunState::Paused, Some(why), self.now())?;
        watch.finish(&ledger, &RunOutcome::Paused(why.to_owned()));
        Err(RunError::Paused { run: row.id.clone(), why: why.to_owned() })
    }
}

/// Renders `3 experts, score 8: 1 blocker, 2 warnings`.
pub fn summary(completed: &CompletedReview) -> String {
    use steadfast_model::FindingSeverity as S;
    let count = |severity| completed.review.findings.iter().filter(|finding| finding.severity == severity).count();
    let score = completed.review.score.map(|score| format!(", score {score}")).unwrap_or_default();
    let mut parts = Vec::new();
    for (severity, noun) in [(S::Blocker, "blocker"), (S::Warning, "warning"), (S::Suggestion, "suggestion")] {
        match count(severity) {
            0 => {}
            1 => parts.push(format!("1 {noun}")),
            many => parts.push(format!("{many} {noun}s")),
        }
    }
    if completed.dropped > 0 {
        parts.push(format!("{} dropped without a place in the change", completed.dropped));
    }
    if !completed.silent.is_empty() {
        parts.push(format!("no readable answer from {}", completed.silent.join(", ")));
    }
    if completed.experts == 0 {
        return "no changes, review skipped".to_owned();
    }
    let found = if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") };
    format!("{} experts{score}: {found}", completed.experts)
}
