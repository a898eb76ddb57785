//! Limits on the command line: a number, or `none`.

use std::num::NonZeroU32;

use clap::Args;
use steadfast_model::{Limits, LoopLimits, Usd};

/// The value that removes a limit.
const NONE: &str = "none";

/// The limit of iterations; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Iterations(Option<u32>);

/// The cost limit in millionths of a US dollar; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Budget(Option<u64>);

/// The limits of this call for a run or a loop.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitFlags {
    /// Limit of attempts for all units together; `none` means no limit. [default: run.iterations, 25]
    #[arg(long, value_name = "N", value_parser = parse_iterations)]
    max_iterations: Option<Iterations>,
    /// Cost limit in US dollars; `none` or 0 means no limit. [default: run.budget_usd, 25]
    #[arg(long, value_name = "USD", value_parser = parse_budget)]
    budget: Option<Budget>,
}

impl LimitFlags {
    pub(crate) fn are_given(&self) -> bool {
        self.max_iterations.is_some() || self.budget.is_some()
    }

    pub(crate) fn of_run(&self, mut limits: Limits) -> Limits {
        if let Some(Iterations(iterations)) = self.max_iterations {
            limits.iterations = iterations.unwrap_or(Limits::NO_LIMIT);
        }
        if let Some(Budget(micro_usd)) = self.budget {
            limits.micro_usd = micro_usd;
        }
        limits
    }

    pub(crate) fn of_loop(&self, limits: LoopLimits) -> LoopLimits {
        LoopLimits {
            iterations: self.max_iterations.map_or(limits.iterations, |given| given.0),
            micro_usd: self.budget.map_or(limits.micro_usd, |given| given.0),
        }
    }
}

fn parse_iterations(text: &str) -> Result<Iterations, String> {
    if text == NONE {
        return Ok(Iterations(None));
    }
    let number: NonZeroU32 =
        text.parse().map_err(|_| format!("`{text}` is not a number of 1 or more, and not `{NONE}` for no limit"))?;
    Ok(Iterations(Some(number.get())))
}

/// `0` means the same as `none`, as in the settings.
fn parse_budget(text: &str) -> Result<Budget, String> {
    if text == NONE {
        return Ok(Budget(None));
    }
    let amount: Usd = text
        .parse()
        .map_err(|_| format!("`{text}` is not an amount of US dollars like `25`, and not `{NONE}` for no limit"))?;
    Ok(Budget(Some(amount.micro).filter(|micro| *micro > 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_or_none() {
        assert_eq!(parse_iterations("10"), Ok(Iterations(Some(10))));
        assert_eq!(parse_iterations("none"), Ok(Iterations(None)));
        assert_eq!(
            parse_iterations("0"),
            Err("`0` is not a number of 1 or more, and not `none` for no limit".to_owned())
        );
        assert_eq!(parse_budget("2.5"), Ok(Budget(Some(2_500_000))));
        assert_eq!((parse_budget("none"), parse_budget("0")), (Ok(Budget(None)), Ok(Budget(None))));
        assert!(parse_budget("much").unwrap_err().contains("`none` for no limit"));
    }
}
