use serde::{Deserialize, Serialize};

use crate::label::{from_label, labels};

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum PolicyName {
        /// Protects Steadfast's own state, and the commands that only a human may run.
        Integrity = "integrity",
        /// The plan gate and the seal.
        Approval = "approval",
        /// Enforces the human's constraints.
        Constraint = "constraint",
        /// Scope, score and corrections.
        Drift = "drift",
        /// Checks claims of completion.
        Evidence = "evidence",
        /// The stop gate.
        Completion = "completion",
    }
}

/// The fallback for a verdict that a host cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Falls back to a refusal: a question becomes a denial.
    Gate,
    /// Falls back to silence: a question becomes a context, a context becomes a note.
    Advice,
}

labels! {
    /// The strength of a policy.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// Only records.
        Observe = "observe",
        /// Advises, and never refuses.
        Advise = "advise",
        /// Refuses.
        #[default]
        Enforce = "enforce",
    }
}

from_label!(Mode "mode");
