use std::collections::HashMap;

use steadfast_model::TaskId;

use crate::schedule::file_overlap::FileSet;
use crate::schedule::unit::Unit;

/// Dependencies between units, and overlaps between their files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Graph {
    /// For each unit, the indexes of its dependencies.
    pub(super) after: Vec<Vec<usize>>,
    pub(super) followers: Vec<Vec<usize>>,
    /// For each unit, the units whose files overlap with its own. Only for a small plan.
    pub(super) meets: Vec<Vec<usize>>,
    pub(super) is_small: bool,
}

impl Graph {
    pub(super) fn of(units: &[Unit], small: usize) -> Self {
        let places: HashMap<&TaskId, usize> = units.iter().enumerate().map(|(place, unit)| (&unit.id, place)).collect();
        let after: Vec<Vec<usize>> =
            units.iter().map(|unit| unit.after.iter().filter_map(|id| places.get(id).copied()).collect()).collect();
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
        for (place, causes) in after.iter().enumerate() {
            causes.iter().for_each(|cause| followers[*cause].push(place));
        }
        let is_small = units.len() <= small;
        let meets = if is_small { meetings(units) } else { Vec::new() };
        Self { after, followers, meets, is_small }
    }

    /// Returns the length of the longest chain that begins with each unit.
    pub(super) fn chains(&self, lengths: &[u64]) -> Vec<u64> {
        let mut open: Vec<usize> = self.followers.iter().map(Vec::len).collect();
        let mut chains: Vec<u64> = lengths.to_vec();
        let mut last: Vec<usize> = (0..self.after.len()).filter(|place| open[*place] == 0).collect();
        // From the last units to the first; a plan has no cycle.
        while let Some(place) = last.pop() {
            for cause in &self.after[place] {
                chains[*cause] = chains[*cause].max(lengths[*cause].saturating_add(chains[place]));
                open[*cause] -= 1;
                if open[*cause] == 0 {
                    last.push(*cause);
                }
            }
        }
        chains
    }
}

fn meetings(units: &[Unit]) -> Vec<Vec<usize>> {
    let meets = |left: &Unit| {
        let mut reached = FileSet::default();
        reached.add(&left.files);
        (0..units.len()).filter(|place| reached.meets(&units[*place].files)).collect()
    };
    units.iter().map(meets).collect()
}
