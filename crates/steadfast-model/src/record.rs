use serde::{Deserialize, Serialize};

use crate::sparse::is_default;
use crate::{Answer, Change, Effect, Event, Facts, Mode, PolicyName, State, Verdict};

/// One line of a session's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The start of a rotated journal: the fold of everything before it.
    Snapshot(Box<State>),
    Record(Box<Record>),
}

/// An event with all its consequences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub event: Event,
    #[serde(default, skip_serializing_if = "is_default")]
    pub facts: Facts,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<PolicyOpinion>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub answer: Answer,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

/// A policy's verdict before its mode was applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyOpinion {
    pub policy: PolicyName,
    pub mode: Mode,
    pub verdict: Verdict,
}
