use steadfast_model::{Loop, ReviewKind, Run, RunState, RunUnit, Stage, Task, UnitStatus};

use super::{LoopRun, Pauses, Watch, pauses};
use crate::error::RunError;
use crate::lifecycle::{self, Leg};
use crate::review::{Held, Look};
use crate::run::{Outcome, Until};

impl LoopRun<'_> {
    /// Waves of units, each wave with a quick look of experts behind it.
    pub(super) fn execute(&self, looped: &Loop) -> Result<(), RunError> {
        let mut row = self.run_of(looped)?;
        let pauses = pauses(looped.autonomy());
        if pauses == Pauses::EachUnit {
            row.limits.parallel = 1;
        }
        let mut watch = self.console.watch(&row);
        loop {
            let until = match pauses {
                Pauses::Never | Pauses::EachWave => Until::Wave,
                Pauses::EachUnit => Until::Unit,
            };
            let counsel = self.how.panel.value.then(|| Self::matter(looped));
            let this = Leg { settings: &self.settings, ready: &self.ready, stop: &self.stop, counsel, until };
            let outcome = lifecycle::go(self.repository, &row, this, &mut *watch);
            let outcome = outcome.inspect_err(|_| watch.clear())?;
            if let Outcome::Paused(why) = &outcome {
                watch.finish(&self.ledger()?, &outcome);
                return Err(RunError::Paused { run: row.id, why: why.clone() });
            }
            let reviewed = self.light_reviews(looped, &row, &mut *watch)?;
            // What only a claim closed, its gate speaks of.
            if matches!(outcome, Outcome::Complete | Outcome::NeedsReview(_)) {
                return self.advance(Stage::Executing, Stage::Review);
            }
            let why = match pauses {
                Pauses::Never => None,
                Pauses::EachWave => reviewed.map(|wave| format!("wave {wave} was reviewed")),
                Pauses::EachUnit => Some("a unit has landed".to_owned()),
            };
            if let Some(why) = why {
                self.pause(&row, &why, &mut *watch)?;
            }
        }
    }

    /// A human who is there is asked; else the run waits for `resume`.
    fn pause(&self, row: &Run, why: &str, watch: &mut dyn Watch) -> Result<(), RunError> {
        watch.clear();
        let answer = self.console.ask(&format!("{why}. It goes on with Enter; `q` pauses it.\n"));
        if answer.is_some_and(|answer| answer.trim().is_empty()) {
            return Ok(());
        }
        let mut ledger = self.ledger()?;
        ledger.set_run_state(&row.id, RunState::Paused, Some(why), self.now())?;
        watch.finish(&ledger, &Outcome::Paused(why.to_owned()));
        Err(RunError::Paused { run: row.id.clone(), why: why.to_owned() })
    }

    /// Of each wave that is over and that nobody looked at yet. The last of them.
    fn light_reviews(&self, looped: &Loop, row: &Run, watch: &mut dyn Watch) -> Result<Option<u32>, RunError> {
        if !self.how.light_reviews.value {
            return Ok(None);
        }
        let ledger = self.ledger()?;
        let (units, tasks, reviews) =
            (ledger.units(&row.id)?, ledger.tasks(&row.plan)?, ledger.reviews_of(&looped.id)?);
        drop(ledger);
        let grounds = self.grounds(row);
        let landed = grounds.landed(&row.base)?;
        let mut last = None;
        for wave in waves_over(&units) {
            let kind = ReviewKind::Light { wave };
            if reviews.iter().any(|review| review.kind == kind) {
                continue;
            }
            let of_wave: Vec<&RunUnit> = units.iter().filter(|unit| unit.wave == wave).collect();
            let commits: Vec<&String> = landed
                .iter()
                .filter(|(unit, _)| of_wave.iter().any(|row| row.unit.as_str() == unit))
                .map(|(_, commit)| commit)
                .collect();
            let (Some(newest), Some(oldest)) = (commits.first(), commits.last()) else { continue };
            let from = grounds.parent(oldest)?;
            let tasks: Vec<Task> =
                tasks.iter().filter(|task| of_wave.iter().any(|unit| unit.tasks.contains(&task.id))).cloned().collect();
            let look = Look { kind, from: &from, to: Some(newest), tasks: &tasks, earlier: &[] };
            let held = self.reviewer(looped, row)?.review(&looped.id, &look)?;
            watch.clear();
            self.say(&format!("wave {wave}: {}", said(&held)));
            self.written()?;
            last = Some(wave);
        }
        Ok(last)
    }
}

/// In their order: those in which nothing waits or is worked on.
fn waves_over(units: &[RunUnit]) -> Vec<u32> {
    let mut waves: Vec<u32> = units.iter().map(|unit| unit.wave).collect();
    waves.sort_unstable();
    waves.dedup();
    waves.retain(|wave| {
        units
            .iter()
            .filter(|unit| unit.wave == *wave)
            .all(|unit| matches!(unit.status, UnitStatus::Done | UnitStatus::Blocked))
    });
    waves
}

/// `3 experts, score 8: 1 blocker, 2 warnings`
pub fn said(held: &Held) -> String {
    use steadfast_model::FindingSeverity as S;
    let count = |severity| held.review.findings.iter().filter(|finding| finding.severity == severity).count();
    let score = held.review.score.map(|score| format!(", score {score}")).unwrap_or_default();
    let mut parts = Vec::new();
    for (severity, noun) in [(S::Blocker, "blocker"), (S::Warning, "warning"), (S::Suggestion, "suggestion")] {
        match count(severity) {
            0 => {}
            1 => parts.push(format!("1 {noun}")),
            many => parts.push(format!("{many} {noun}s")),
        }
    }
    if held.dropped > 0 {
        parts.push(format!("{} dropped that named no place in the change", held.dropped));
    }
    if !held.silent.is_empty() {
        parts.push(format!("no answer that can be read from {}", held.silent.join(", ")));
    }
    if held.experts == 0 {
        return "nothing differs, so nobody was asked".to_owned();
    }
    let found = if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") };
    format!("{} experts{score}: {found}", held.experts)
}
