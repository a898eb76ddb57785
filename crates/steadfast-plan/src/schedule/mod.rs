//! Decides which unit starts next: its dependencies have landed, and its files overlap with those of no running unit.
//! Of several, it picks the one that finishes the plan soonest by the expected lengths.

mod file_overlap;
mod graph;
mod length;
mod simulate;
pub(crate) mod unit;
pub(crate) mod wave;

use std::cmp::Reverse;
use std::fmt;

use crate::schedule::file_overlap::FileSet;
use crate::schedule::unit::{Unit, UnitState};

pub use length::Lengths;

use graph::Graph;
use simulate::Simulation;

/// Above this number of units the longest chain goes first, without a simulation. Trying all orders for 128 units takes
/// about two milliseconds, and the time grows with the square.
const SIMULATED: usize = 128;

/// The number of orders that are compared.
const ORDERS: u64 = 64;

/// The order in which the units of a plan start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    graph: Graph,
    /// The expected length of each unit, in any measure.
    lengths: Vec<u64>,
    /// All units by urgency, in several orders. The first order puts the longest chain first.
    orders: Vec<Vec<usize>>,
}

/// A run at a moment when a place is free.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub state: &'a dyn Fn(usize) -> UnitState,
    /// The time that the agent of a running unit has worked, in the measure of the lengths. `None`: the unit is only
    /// landing and takes no place.
    pub worked: &'a dyn Fn(usize) -> Option<u64>,
    /// The number of agents that may work at once.
    pub places: usize,
}

impl fmt::Debug for Moment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moment").field("places", &self.places).finish_non_exhaustive()
    }
}

impl Schedule {
    /// Creates a schedule from the expected length of each unit.
    pub fn of(units: &[Unit], lengths: Vec<u64>) -> Self {
        let mut schedule = Self { graph: Graph::of(units, SIMULATED), lengths: Vec::new(), orders: Vec::new() };
        schedule.expect(lengths);
        schedule
    }

    /// Replaces the expected lengths.
    pub fn expect(&mut self, lengths: Vec<u64>) {
        // Equal units keep the order of the plan. Without a difference in length there is nothing to compare.
        let orders = if self.graph.is_small { ORDERS } else { 1 };
        self.orders = (0..orders).map(|number| self.order(&varied(&lengths, number))).collect();
        self.orders.dedup();
        self.lengths = lengths;
    }

    /// Orders by the longest chain; for equal chains by the number of units that depend on it, then as in the plan.
    fn order(&self, lengths: &[u64]) -> Vec<usize> {
        let chains = self.graph.chains(lengths);
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|place| (Reverse(chains[*place]), Reverse(self.graph.followers[*place].len()), *place));
        order
    }

    /// Reports whether all dependencies of a unit are done.
    pub fn is_free(&self, place: usize, state: &dyn Fn(usize) -> UnitState) -> bool {
        self.graph.after[place].iter().all(|cause| state(*cause) == UnitState::Done)
    }

    /// Reports whether a unit could start if a place were free. A unit without files overlaps with no other.
    pub fn is_any_ready(&self, units: &[Unit], state: &dyn Fn(usize) -> UnitState) -> bool {
        !self.ready(units, state).is_empty()
    }

    fn ready(&self, units: &[Unit], state: &dyn Fn(usize) -> UnitState) -> Vec<usize> {
        let order = self.orders.first().map(Vec::as_slice).unwrap_or_default();
        let waiting = order.iter().copied().filter(|place| state(*place) == UnitState::Waiting);
        let mut ready: Vec<usize> = waiting.filter(|place| self.is_free(*place, state)).collect();
        if ready.is_empty() {
            return ready;
        }
        let mut reached = FileSet::default();
        for place in order.iter().filter(|place| state(**place) == UnitState::Running) {
            reached.add(&units[*place].files);
        }
        // Of two units with overlapping files, the earlier in the plan starts first, so that the result does not depend
        // on timing.
        let mut in_plan = ready.clone();
        in_plan.sort_unstable();
        let mut overlaps = vec![false; units.len()];
        for place in in_plan {
            overlaps[place] = reached.meets(&units[place].files);
            reached.add(&units[place].files);
        }
        ready.retain(|place| !overlaps[*place]);
        ready
    }

    /// Returns the unit to start now: the first of the order that finishes soonest if all lengths are as expected.
    pub fn next(&self, units: &[Unit], moment: Moment<'_>) -> Option<usize> {
        let ready = self.ready(units, moment.state);
        let first = *ready.first()?;
        if ready.len() == 1 || self.orders.len() == 1 {
            return Some(first);
        }
        let simulation = Simulation::of(&self.graph, &self.lengths, moment);
        // Of equal orders the first is used, so the longest chain decides unless another order is better.
        let best = self.orders.iter().min_by_key(|order| simulation.end(order))?;
        best.iter().copied().find(|place| ready.contains(place))
    }
}

/// Returns the lengths for one order: the first as they are, the others varied a little, which tries other orders of
/// nearly equal units. The result is deterministic, so the best order stays among them.
fn varied(lengths: &[u64], number: u64) -> Vec<u64> {
    // A quarter of the orders each: nearly as expected, up to half more, up to three times.
    let spread = match number % 4 {
        _ if number == 0 => 0,
        0 | 1 => 25,
        2 => 50,
        _ => 200,
    };
    let mut random = number;
    let vary = |length: &u64| {
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let percent = 100 + mixed(random) % (spread + 1);
        // Small numbers need room for their variations.
        length.saturating_mul(percent)
    };
    lengths.iter().map(vary).collect()
}

/// The mixer of splitmix64.
fn mixed(random: u64) -> u64 {
    let mixed = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
