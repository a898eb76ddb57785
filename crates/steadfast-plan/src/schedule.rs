//! Which unit starts next: what it waits for has landed, its files meet those of no unit that runs, and the longest
//! chain of work waits behind it.

use std::cmp::Reverse;
use std::collections::HashMap;

use steadfast_model::TaskId;

use crate::reach::Reached;
use crate::unit::{Unit, UnitState};

/// The order in which the units of a plan start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// For each unit the places of those it waits for.
    after: Vec<Vec<usize>>,
    /// All units, the most urgent first.
    order: Vec<usize>,
}

impl Schedule {
    /// How long a unit takes is not known before: each task of it counts the same.
    pub fn of(units: &[Unit]) -> Self {
        Self::weighed(units, &units.iter().map(|unit| unit.tasks.len() as u64).collect::<Vec<_>>())
    }

    /// With a weight for each unit: how long it is expected to take, in any measure.
    pub fn weighed(units: &[Unit], weights: &[u64]) -> Self {
        let places: HashMap<&TaskId, usize> = units.iter().enumerate().map(|(place, unit)| (&unit.id, place)).collect();
        let after: Vec<Vec<usize>> =
            units.iter().map(|unit| unit.after.iter().filter_map(|id| places.get(id).copied()).collect()).collect();
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
        for (place, causes) in after.iter().enumerate() {
            causes.iter().for_each(|cause| followers[*cause].push(place));
        }
        let chains = chains(&after, &followers, weights);
        let mut order: Vec<usize> = (0..units.len()).collect();
        // Of equal chains the one that more units wait for, then as the plan has them.
        order.sort_by_key(|place| (Reverse(chains[*place]), Reverse(followers[*place].len()), *place));
        Self { after, order }
    }

    /// Whether all that a unit waits for is done.
    pub fn is_free(&self, place: usize, state: &dyn Fn(usize) -> UnitState) -> bool {
        self.after[place].iter().all(|cause| state(*cause) == UnitState::Done)
    }

    /// The unit to start now. A unit that names no files meets nobody's.
    pub fn next(&self, units: &[Unit], state: &dyn Fn(usize) -> UnitState) -> Option<usize> {
        let mut ready = self
            .order
            .iter()
            .copied()
            .filter(|place| state(*place) == UnitState::Waiting && self.is_free(*place, state));
        let first = ready.next()?;
        let mut reached = Reached::default();
        for place in self.order.iter().filter(|place| state(**place) == UnitState::Running) {
            reached.add(&units[*place].files);
        }
        std::iter::once(first).chain(ready).find(|place| !reached.meets(&units[*place].files))
    }
}

/// The weight of the heaviest chain that begins with each unit.
fn chains(after: &[Vec<usize>], followers: &[Vec<usize>], weights: &[u64]) -> Vec<u64> {
    let mut open: Vec<usize> = followers.iter().map(Vec::len).collect();
    let mut chains: Vec<u64> = weights.to_vec();
    let mut last: Vec<usize> = (0..after.len()).filter(|place| open[*place] == 0).collect();
    // From the ends of the plan to its beginnings: a plan has no circle.
    while let Some(place) = last.pop() {
        for cause in &after[place] {
            chains[*cause] = chains[*cause].max(weights[*cause].saturating_add(chains[place]));
            open[*cause] -= 1;
            if open[*cause] == 0 {
                last.push(*cause);
            }
        }
    }
    chains
}
