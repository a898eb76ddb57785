//! What the sessions of a loop may use up, as people and programs read it.

use serde_json::{Value, json};
use steadfast_model::{Loop, LoopLimits, Usd};

/// `limits: 3 of 25 iterations, $1.20 of $25`
pub(super) fn limits_line(looped: &Loop) -> String {
    let iterations = match looped.limits.iterations {
        Some(limit) => format!("{} of {limit} iterations", looped.iterations),
        None => format!("{} iterations, no limit", looped.iterations),
    };
    let spent = Usd { micro: looped.micro_usd() / 10_000 * 10_000 };
    let budget = match looped.limits.micro_usd {
        Some(micro) => format!("${spent} of ${}", Usd { micro }),
        None => format!("${spent}, no limit"),
    };
    format!("limits: {iterations}; {budget}")
}

pub(super) fn limits_json(limits: LoopLimits) -> Value {
    json!({"iterations": limits.iterations, "budget_usd": limits.micro_usd.map(|micro| Usd { micro })})
}
