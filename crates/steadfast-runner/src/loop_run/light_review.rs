//! Reviews waves while the run continues. The reviews read merged work and block nothing.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use steadfast_model::{Loop, ReviewKind, Run, RunUnit, Task, UnitStatus};
use steadfast_work::loops::Loops;

use super::{Console, LoopRun, Watch, summary};
use crate::error::RunError;
use crate::lifecycle::{self, Leg};
use crate::review::{Look, ReviewScope, Reviewer, Stretch};
use crate::run::{Audience, RunEvent, RunOutcome, Snapshot};
use crate::worktrees::{RunWorktrees, WorktreeError};

impl LoopRun<'_> {
    /// Runs the units while a thread reviews each finished wave.
    pub(super) fn go_with_reviews(
        &self,
        looped: &Loop,
        row: &Run,
        leg: Leg<'_>,
        watch: &mut dyn Watch,
    ) -> Result<RunOutcome, RunError> {
        if !self.how.light_reviews.value {
            return lifecycle::go(self.repository, row, leg, watch);
        }
        let mut reviews = self.light(looped, row)?;
        reviews.reviewer.beside = row.limits.parallel.max(1);
        let (wake, woken) = channel();
        let (say, said) = channel();
        thread::scope(|scope| {
            let reviewing = thread::Builder::new().name("reviews".to_owned()).spawn_scoped(scope, move || {
                // The last round reviews the work that landed last.
                loop {
                    let goes_on = woken.recv().is_ok();
                    while woken.try_recv().is_ok() {}
                    reviews.hold(&mut |line| drop(say.send(line)))?;
                    if !goes_on {
                        return Ok(());
                    }
                }
            });
            let reviewing = reviewing.map_err(RunError::Thread)?;
            let mut beside = Beside { watch, console: self.console, wake, said };
            let outcome = lifecycle::go(self.repository, row, leg, &mut beside);
            let Beside { watch, wake, said, .. } = beside;
            drop(wake);
            for line in said {
                watch.clear();
                self.say(&line);
            }
            let reviewed: Result<(), RunError> =
                reviewing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match outcome? {
                RunOutcome::Paused(why) => Ok(RunOutcome::Paused(why)),
                outcome => reviewed.map(|()| outcome),
            }
        })
    }

    pub(super) fn light(&self, looped: &Loop, row: &Run) -> Result<LightReviews<'_>, RunError> {
        let (reviewer, worktrees) = (self.reviewer(looped, row)?, self.worktrees(row));
        Ok(LightReviews { reviewer, worktrees, looped: looped.clone(), row: row.clone() })
    }
}

/// Passes the run's events on, and wakes the reviewing thread.
struct Beside<'a> {
    watch: &'a mut dyn Watch,
    console: &'a dyn Console,
    wake: Sender<()>,
    said: Receiver<String>,
}

impl Audience for Beside<'_> {
    fn on_event(&mut self, event: &RunEvent, now: &Snapshot<'_>) {
        for line in self.said.try_iter() {
            self.watch.clear();
            self.console.say(&line);
        }
        // Waves that an earlier process finished are reviewed too, so the first event of any kind counts.
        if matches!(event, RunEvent::Landed { .. } | RunEvent::Blocked { .. } | RunEvent::Resumed { .. }) {
            let _ = self.wake.send(());
        }
        self.watch.on_event(event, now);
    }
}

/// Reviews finished waves.
pub(super) struct LightReviews<'a> {
    reviewer: Reviewer<'a>,
    worktrees: RunWorktrees,
    looped: Loop,
    row: Run,
}

impl LightReviews<'_> {
    /// Reviews each finished wave that has no review yet. Returns the last one with a change.
    pub(super) fn hold(&self, say: &mut dyn FnMut(String)) -> Result<Option<u32>, RunError> {
        let Self { reviewer, worktrees, looped, row } = self;
        let ledger = reviewer.repository.ledger_as_it_is()?;
        let (units, tasks, reviews) =
            (ledger.units(&row.id)?, ledger.tasks(&row.plan)?, ledger.reviews_of(&looped.id)?);
        drop(ledger);
        let mut landed = None;
        let mut last = None;
        for wave in waves_over(&units) {
            let kind = ReviewKind::Light { wave };
            if reviews.iter().any(|review| review.kind == kind) {
                continue;
            }
            let of_wave: Vec<&RunUnit> = units.iter().filter(|unit| unit.wave == wave).collect();
            let landed = match &landed {
                Some(landed) => landed,
                None => landed.insert(worktrees.landed(&row.base)?),
            };
            let stretches = stretches(landed, &of_wave, worktrees)?;
            if stretches.is_empty() {
                continue;
            }
            let tasks: Vec<Task> =
                tasks.iter().filter(|task| of_wave.iter().any(|unit| unit.tasks.contains(&task.id))).cloned().collect();
            let look = Look { kind, part: ReviewScope::Stretches(&stretches), tasks: &tasks, earlier: &[] };
            let completed = reviewer.review(&looped.id, &look)?;
            say(format!("wave {wave}: {}", summary(&completed)));
            Loops::of(reviewer.repository)?.written(&looped.id)?;
            if completed.experts > 0 {
                last = Some(wave);
            }
        }
        Ok(last)
    }
}

/// Returns the commit ranges of a wave, newest first. Units that landed in a row share one.
fn stretches(
    landed: &[(String, String)],
    units: &[&RunUnit],
    worktrees: &RunWorktrees,
) -> Result<Vec<Stretch>, WorktreeError> {
    let is_of_wave = |unit: &str| units.iter().any(|row| row.unit.as_str() == unit);
    let mut stretches = Vec::new();
    for row in landed.chunk_by(|(one, _), (other, _)| is_of_wave(one) == is_of_wave(other)) {
        if let [(unit, newest), ..] = row
            && let Some((_, oldest)) = row.last()
            && is_of_wave(unit)
        {
            stretches.push(Stretch { from: worktrees.parent(oldest)?, to: newest.clone() });
        }
    }
    Ok(stretches)
}

/// Returns the finished waves, in order: those without a waiting or running unit.
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
