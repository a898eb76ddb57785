//! Waves: units that can be worked on at once, because they are ready and their files do not overlap.

use std::collections::{BTreeSet, HashMap};

use steadfast_model::TaskId;

use super::file_overlap::FileSet;
use super::unit::{Unit, UnitState};

/// Returns the ready units, in order, whose files overlap neither with each other nor with those of a running unit. A
/// unit without files overlaps with no other.
pub fn next_wave(units: &[Unit], state: &dyn Fn(&TaskId) -> UnitState) -> Vec<usize> {
    let states: HashMap<&TaskId, UnitState> = units.iter().map(|unit| (&unit.id, state(&unit.id))).collect();
    let mut reached = FileSet::default();
    for unit in units.iter().filter(|unit| states[&unit.id] == UnitState::Running) {
        reached.add(&unit.files);
    }
    let is_done = |id: &TaskId| states.get(id).is_none_or(|state| *state == UnitState::Done);
    let ready = units
        .iter()
        .enumerate()
        .filter(|(_, unit)| states[&unit.id] == UnitState::Waiting && unit.after.iter().all(is_done));
    choose(ready, &mut reached)
}

/// Returns all waves that will follow if every unit succeeds.
pub fn waves(units: &[Unit]) -> Vec<Vec<usize>> {
    let places: HashMap<&TaskId, usize> = units.iter().enumerate().map(|(place, unit)| (&unit.id, place)).collect();
    let mut waits = vec![0_usize; units.len()];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
    for (place, unit) in units.iter().enumerate() {
        for cause in unit.after.iter().filter_map(|id| places.get(id)) {
            waits[place] += 1;
            followers[*cause].push(place);
        }
    }
    let mut ready: BTreeSet<usize> = (0..units.len()).filter(|place| waits[*place] == 0).collect();
    let mut waves = Vec::new();
    while !ready.is_empty() {
        let wave = choose(ready.iter().map(|place| (*place, &units[*place])), &mut FileSet::default());
        for place in &wave {
            ready.remove(place);
            for follower in &followers[*place] {
                waits[*follower] -= 1;
                if waits[*follower] == 0 {
                    ready.insert(*follower);
                }
            }
        }
        waves.push(wave);
    }
    waves
}

fn choose<'u>(ready: impl Iterator<Item = (usize, &'u Unit)>, reached: &mut FileSet) -> Vec<usize> {
    let mut wave = Vec::new();
    for (place, unit) in ready {
        if !reached.meets(&unit.files) {
            reached.add(&unit.files);
            wave.push(place);
        }
    }
    wave
}
