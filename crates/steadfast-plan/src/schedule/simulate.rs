//! Simulates when a plan would end if each unit took its expected time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Moment;
use super::graph::Graph;
use crate::schedule::unit::UnitState;

/// The starting state, simulated once for each order.
pub(super) struct Simulation<'a> {
    graph: &'a Graph,
    lengths: &'a [u64],
    states: Vec<UnitState>,
    running: Vec<Running>,
    places: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Running {
    ends: u64,
    unit: usize,
    /// 1 while its agent works, else 0.
    places: usize,
}

impl<'a> Simulation<'a> {
    pub(super) fn of(graph: &'a Graph, lengths: &'a [u64], moment: Moment<'_>) -> Self {
        let states: Vec<UnitState> = (0..lengths.len()).map(moment.state).collect();
        let running = |(unit, state): (usize, &UnitState)| {
            (*state == UnitState::Running).then(|| match (moment.worked)(unit) {
                Some(worked) => Running { ends: left(lengths[unit], worked), unit, places: 1 },
                None => Running { ends: 0, unit, places: 0 },
            })
        };
        let running = states.iter().enumerate().filter_map(running).collect();
        Self { graph, lengths, states, running, places: moment.places }
    }

    /// Returns the time until no unit is left that can be worked on.
    pub(super) fn end(&self, order: &[usize]) -> u64 {
        let mut states = self.states.clone();
        let mut running: BinaryHeap<Reverse<Running>> = self.running.iter().copied().map(Reverse).collect();
        let mut free = self.places.saturating_sub(self.running.iter().map(|running| running.places).sum());
        let mut waiting: Vec<usize> =
            order.iter().copied().filter(|place| states[*place] == UnitState::Waiting).collect();
        let mut now = 0;
        loop {
            let mut from = 0;
            while free > 0
                && let Some(found) = waiting[from..].iter().position(|place| self.can_start(*place, &states))
            {
                let unit = waiting.remove(from + found);
                from += found;
                states[unit] = UnitState::Running;
                free -= 1;
                running.push(Reverse(Running { ends: now + self.lengths[unit], unit, places: 1 }));
            }
            let Some(Reverse(ended)) = running.pop() else { return now };
            now = ended.ends;
            free += ended.places;
            states[ended.unit] = UnitState::Done;
        }
    }

    fn can_start(&self, place: usize, states: &[UnitState]) -> bool {
        self.is_free(place, states)
            && !self.graph.meets[place].iter().any(|other| match states[*other] {
                UnitState::Running => true,
                // The earlier unit in the plan starts first.
                UnitState::Waiting => *other < place && self.is_free(*other, states),
                UnitState::Done | UnitState::Blocked => false,
            })
    }

    fn is_free(&self, place: usize, states: &[UnitState]) -> bool {
        self.graph.after[place].iter().all(|cause| states[*cause] == UnitState::Done)
    }
}

/// Returns the remaining length of a unit. A unit that exceeds its expected length gets a little more.
fn left(length: u64, worked: u64) -> u64 {
    length.saturating_sub(worked).max(length / 8)
}
