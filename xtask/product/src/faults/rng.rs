use std::time::Duration;

use xtask::random::Random;

/// Random numbers that are the same for the same fault and round, so that a failure can be repeated.
pub(super) struct SeededRng(Random);

impl SeededRng {
    pub(super) fn of(fault: &str, round: u64) -> Self {
        Self(Random::from_seed(steadfast_model::fnv([fault.as_bytes(), &round.to_be_bytes()])))
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0.number()
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    pub(super) fn micros(&mut self, bound: u64) -> Duration {
        Duration::from_micros(self.below(bound))
    }

    pub(super) fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.number().to_le_bytes()[0]).collect()
    }

    /// Returns a separate generator for a thread.
    pub(super) fn fork(&mut self) -> Self {
        Self(Random::from_seed(self.number()))
    }
}
