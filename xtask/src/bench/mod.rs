//! Benchmarks as ratios: every row is run in turn with every other, so that a noisy machine is noisy for all.

mod hook;
mod ledger;
mod observe;

pub(crate) use hook::hook;
pub(crate) use ledger::ledger;
pub(crate) use observe::observe;

/// Always the same dice: two runs differ by the machine alone.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            order.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}
