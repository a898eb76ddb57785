use std::collections::{BTreeMap, HashMap};

use steadfast_model::{Task, TaskId, TaskKind};

use crate::schedule::unit::Unit;

/// The guess for a unit without an estimate: more tasks, more files and more words take longer. In milliseconds, so
/// that it can be scaled by measured times.
const TASK: u64 = 300_000;
const FILE: u64 = 60_000;
const WORD: u64 = 1_000;

/// The expected lengths of the units of a plan, in milliseconds. A measured length counts first, then the author's
/// estimate. A unit without an estimate gets the median of these, or a guess if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    before: Vec<u64>,
    measured: Vec<Option<u64>>,
}

impl Lengths {
    /// `estimates`: the author's estimates of single tasks.
    pub fn of(units: &[Unit], tasks: &[Task], estimates: &BTreeMap<TaskId, u64>) -> Self {
        let by_id: HashMap<&TaskId, &Task> = tasks.iter().map(|task| (&task.id, task)).collect();
        let stated = |unit: &Unit| {
            let stated = unit.tasks.iter().filter_map(|id| estimates.get(id));
            stated.copied().reduce(u64::saturating_add)
        };
        let stated: Vec<Option<u64>> = units.iter().map(stated).collect();
        let usual = median(stated.iter().flatten().copied().collect());
        let before = units.iter().zip(&stated).map(|(unit, stated)| match by_id.get(&unit.id) {
            Some(task) if is_written_by_runner(task) => 0,
            _ => stated.or(usual).unwrap_or_else(|| guess(unit, &by_id)),
        });
        Self { before: before.collect(), measured: vec![None; units.len()] }
    }

    /// Records how long an agent worked on a unit.
    pub fn measure(&mut self, place: usize, length: u64) {
        if let Some(measured) = self.measured.get_mut(place) {
            *measured = Some(length.max(1));
        }
    }

    /// Returns the expected length of each unit. If finished units took twice their estimate, the others are expected
    /// to, too.
    pub fn expected(&self) -> Vec<u64> {
        let pairs = self.before.iter().zip(&self.measured);
        let percent = |(before, measured): (&u64, &Option<u64>)| {
            let measured = (*measured)?;
            (*before > 0).then(|| (measured.saturating_mul(100) / before).max(1))
        };
        let percent = median(pairs.clone().filter_map(percent).collect()).unwrap_or(100);
        pairs.map(|(before, measured)| measured.unwrap_or_else(|| before.saturating_mul(percent) / 100)).collect()
    }
}

/// Decision tasks that the author did not write need no agent.
fn is_written_by_runner(task: &Task) -> bool {
    task.kind == TaskKind::Decision && task.files.is_empty()
}

fn guess(unit: &Unit, tasks: &HashMap<&TaskId, &Task>) -> u64 {
    let words = |task: &&Task| task.notes.as_deref().unwrap_or_default().split_whitespace().count() as u64;
    let words = tasks.get(&unit.id).map_or(0, words).min(1_000);
    TASK * unit.tasks.len() as u64 + FILE * unit.files.len().min(20) as u64 + WORD * words
}

fn median(mut all: Vec<u64>) -> Option<u64> {
    all.sort_unstable();
    all.get(all.len() / 2).copied()
}
