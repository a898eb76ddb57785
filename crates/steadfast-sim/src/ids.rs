//! Unique ids across runs, because hooks recognize a repeated tool event by its id.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Two runs of one process may start in the same tick of the clock.
static RUNS: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub(crate) struct Ids {
    nanoseconds: u64,
    run: u32,
    next: AtomicU64,
}

impl Ids {
    pub(crate) fn new() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            nanoseconds: since.map_or(0, |time| time.as_nanos() as u64),
            run: std::process::id().rotate_left(12) ^ RUNS.fetch_add(1, Ordering::Relaxed),
            next: AtomicU64::new(1),
        }
    }

    /// Returns an id like `toolu_18b…0001`.
    pub(crate) fn next(&self, kind: &str) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("{kind}_{:016x}{:08x}{number:04}", self.nanoseconds, self.run)
    }

    /// Returns an id in the form of a UUID, as hosts use for sessions and prompts.
    pub(crate) fn uuid(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (high, low) = (self.nanoseconds >> 32, self.nanoseconds & 0xffff_ffff);
        format!("{high:08x}-{:04x}-4{:03x}-8000-{:08x}{:04x}", low >> 16, low >> 4 & 0xfff, self.run, number & 0xffff)
    }

    /// Returns an id like Claude Code's agent ids: `a` and sixteen hexadecimal digits.
    pub(crate) fn agent(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mixed = (self.nanoseconds ^ u64::from(self.run) << 24).rotate_left(16) ^ number;
        format!("a{mixed:016x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_id_is_given_out_twice_by_runs_that_start_together() {
        let runs: Vec<Ids> = (0..50).map(|_| Ids::new()).collect();
        let ids: BTreeSet<String> = runs.iter().flat_map(|ids| [ids.next("toolu"), ids.uuid(), ids.agent()]).collect();
        assert_eq!(ids.len(), 150);
    }

    #[test]
    fn a_uuid_has_the_shape_of_one() {
        let lengths: Vec<usize> = Ids::new().uuid().split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
