use std::fmt;

use serde::{Deserialize, Serialize};

use super::Drift;
use crate::label::labels;

/// The score of an action against the goal: from 1 to 10, and 10 is on course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(u8);

impl Score {
    pub const BEST: Self = Self(10);
    pub const WORST: Self = Self(1);

    /// Clamps the value to the valid range.
    pub fn new(value: u8) -> Self {
        Self(value.clamp(Self::WORST.0, Self::BEST.0))
    }

    pub fn get(self) -> u8 {
        self.0
    }

    pub fn level(self) -> Level {
        match self.0 {
            8.. => Level::None,
            7 => Level::Nudge,
            5..=6 => Level::Correct,
            3..=4 => Level::Intervene,
            _ => Level::Halt,
        }
    }

    pub fn severity(self) -> Severity {
        match self.0 {
            8.. => Severity::None,
            5..=7 => Severity::Minor,
            3..=4 => Severity::Major,
            _ => Severity::Critical,
        }
    }

    /// Returns true for steps good enough to guide later ones.
    pub fn is_validated(self) -> bool {
        self.0 >= 5
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

labels! {
    /// The strength of the answer to a step.
    #[derive(Default, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Level {
        #[default]
        None = "none",
        Nudge = "nudge",
        Correct = "correct",
        Intervene = "intervene",
        Halt = "halt",
    }
}

impl Level {
    /// Returns the level after `ignored` corrections were ignored. A step that needs no answer never gets one.
    ///
    /// ```
    /// use steadfast_model::Level;
    ///
    /// // The first is what its score says; the next, when that changed nothing, is a level up; a third halts.
    /// assert_eq!(Level::Correct.after(0), Level::Correct);
    /// assert_eq!(Level::Correct.after(1), Level::Intervene);
    /// assert_eq!(Level::Correct.after(2), Level::Halt);
    /// // What is on course stays so, whatever came before.
    /// assert_eq!(Level::None.after(3), Level::None);
    /// ```
    pub fn after(self, ignored: u8) -> Self {
        match self {
            Self::None | Self::Nudge => self,
            Self::Correct | Self::Intervene | Self::Halt => {
                let raised = self as usize + usize::from(ignored.min(Drift::ESCALATION));
                Self::ALL[raised.min(Self::ALL.len() - 1)]
            }
        }
    }
}

labels! {
    /// The severity of the drift behind a score.
    #[derive(Default, PartialOrd, Ord)]
    #[serde(rename_all = "snake_case")]
    pub enum Severity {
        #[default]
        None = "none",
        Minor = "minor",
        Major = "major",
        Critical = "critical",
    }
}
