//! Benchmarks as ratios: every row is run in turn with every other, so that a noisy machine is noisy for all.

mod hook;

pub(crate) use hook::hook;
