use serde::{Deserialize, Serialize};

use crate::label::{from_label, labels};

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum PolicyName {
        /// Steadfast's own state, and who may run which command.
        Integrity = "integrity",
        /// The plan gate and the seal.
        Approval = "approval",
        /// What the human forbade.
        Constraint = "constraint",
        /// Scope, score and corrections.
        Drift = "drift",
        /// What is said to be completed.
        Evidence = "evidence",
        /// The stop gate.
        Completion = "completion",
    }
}

/// Which way a verdict falls when a host cannot express it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards refusing: what cannot be asked is denied.
    Gate,
    /// Towards silence: what cannot be asked is said, what cannot be said is noted.
    Advice,
}

labels! {
    /// How far a policy may go.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// Record what it would have said.
        Observe = "observe",
        /// Say it, never refuse.
        Advise = "advise",
        /// Refuse.
        #[default]
        Enforce = "enforce",
    }
}

from_label!(Mode "mode");
