//! The budget of a run, and the share of each agent.

/// A smaller share is not worth starting an agent: one answer of a large model costs about as much.
const LEAST_SHARE: u64 = 50_000;

/// Micro-dollars. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) limit: Option<u64>,
}

/// The budget of a running agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reserved {
    /// The share that it started with.
    pub(crate) share: Option<u64>,
    pub(crate) spent: u64,
}

impl Reserved {
    /// The amount to keep for it. The call in progress may exceed its share.
    fn kept(self) -> u64 {
        self.share.unwrap_or(0).max(self.spent)
    }

    pub(crate) fn is_spent(self) -> bool {
        self.share.is_some_and(|share| self.spent >= share)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    Unlimited,
    MicroUsd(u64),
    /// Everything is spent, or kept for running agents.
    None,
}

impl Budget {
    /// Returns the share of an agent that starts now: the free budget, divided among the free places. The sum of all
    /// shares never exceeds the limit, so a run exceeds it by at most one call of each agent.
    pub(crate) fn share(self, spent_before: u64, running: &[Reserved], free_places: usize) -> Share {
        let Some(limit) = self.limit else { return Share::Unlimited };
        let kept: u64 = running.iter().map(|agent| agent.kept()).sum();
        let left = limit.saturating_sub(spent_before).saturating_sub(kept);
        let share = left / (free_places.max(1) as u64);
        // The last of it goes to one agent.
        let share = if share < LEAST_SHARE { left } else { share };
        if is_worth(share, limit) { Share::MicroUsd(share) } else { Share::None }
    }

    /// Returns the same if all agents spend from one account, which has `left`.
    pub(crate) fn of_account(self, left: Option<u64>) -> Share {
        match self.limit.zip(left) {
            Some((limit, left)) if !is_worth(left, limit) => Share::None,
            _ => Share::Unlimited,
        }
    }
}

/// Returns whether an agent can start with this much.
fn is_worth(share: u64, limit: u64) -> bool {
    share > 0 && share >= LEAST_SHARE.min(limit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const USD: u64 = 1_000_000;

    fn running(share: u64, spent: u64) -> Reserved {
        Reserved { share: Some(share), spent }
    }

    #[test]
    fn what_is_left_is_divided_among_the_free_places() {
        let budget = Budget { limit: Some(24 * USD) };
        assert_eq!(budget.share(0, &[], 3), Share::MicroUsd(8 * USD));
        assert_eq!(budget.share(0, &[running(8 * USD, 0)], 2), Share::MicroUsd(8 * USD));
        assert_eq!(budget.share(6 * USD, &[running(8 * USD, 9 * USD)], 1), Share::MicroUsd(9 * USD));
    }

    #[test]
    fn when_nothing_is_left_nobody_starts() {
        let budget = Budget { limit: Some(10 * USD) };
        assert_eq!(budget.share(10 * USD, &[], 1), Share::None);
        assert_eq!(budget.share(0, &[running(10 * USD, 0)], 1), Share::None);
        assert_eq!(budget.share(9 * USD + 990_000, &[], 1), Share::None);
        assert_eq!(Budget { limit: Some(0) }.share(0, &[], 1), Share::None);
        assert_eq!(Budget { limit: None }.share(1_000 * USD, &[], 1), Share::Unlimited);
    }

    #[test]
    fn agents_start_as_long_as_their_account_has_enough() {
        let shares = |limit: u64, left| Budget { limit: Some(limit) }.of_account(Some(left));
        assert_eq!([1, 0].map(|left| shares(20_000, left * 20_000)), [Share::Unlimited, Share::None]);
        assert_eq!([LEAST_SHARE, LEAST_SHARE - 1].map(|left| shares(USD, left)), [Share::Unlimited, Share::None]);
        assert_eq!(Budget { limit: None }.of_account(None), Share::Unlimited);
    }

    #[test]
    fn the_last_of_it_goes_to_one_agent() {
        assert_eq!(Budget { limit: Some(120_000) }.share(0, &[], 3), Share::MicroUsd(120_000));
        assert_eq!(Budget { limit: Some(20_000) }.share(0, &[], 3), Share::MicroUsd(20_000));
    }

    proptest! {
        /// However agents start: if each stops at its share, the run stops at its limit.
        #[test]
        fn shares_never_add_up_to_more_than_the_limit(limit in 1u64..100 * USD, places in 1usize..8, ends in prop::collection::vec(any::<(bool, u8)>(), 0..40)) {
            let budget = Budget { limit: Some(limit) };
            let (mut spent, mut agents) = (0, Vec::<Reserved>::new());
            for (starts, part) in ends {
                if starts && agents.len() < places {
                    if let Share::MicroUsd(share) = budget.share(spent, &agents, places - agents.len()) {
                        agents.push(running(share, share * u64::from(part) / 255));
                    }
                } else if let Some(agent) = agents.pop() {
                    spent += agent.spent;
                }
                let all: u64 = spent + agents.iter().map(|agent| agent.kept()).sum::<u64>();
                prop_assert!(all <= limit, "{all} of {limit}");
            }
        }
    }
}
