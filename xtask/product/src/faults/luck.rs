use std::time::Duration;

/// Chance that is the same for the same fault and round: what goes wrong can be done again. (SplitMix64.)
pub(super) struct SeededRng(u64);

impl SeededRng {
    pub(super) fn of(fault: &str, round: u64) -> Self {
        Self(steadfast_model::fnv([fault.as_bytes(), &round.to_be_bytes()]))
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    pub(super) fn micros(&mut self, bound: u64) -> Duration {
        Duration::from_micros(self.below(bound))
    }

    pub(super) fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.number().to_le_bytes()[0]).collect()
    }

    /// A chance of its own for a thread.
    pub(super) fn fork(&mut self) -> Self {
        Self(self.number())
    }
}
