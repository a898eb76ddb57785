use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Counts, LoopId, Millis, OwnerEnd, PlanId, RunId, SessionId, StatedCheck};

/// The way of a request to a result that was reviewed and passed the gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    pub id: LoopId,
    /// The checkout where the loop started.
    pub worktree: String,
    /// The commit where the loop started. `None`: the repository had no commit.
    pub base: Option<String>,
    pub stage: Stage,
    /// The request in the human's words.
    pub request: String,
    /// The file of its spec, as the user named it.
    pub spec: Option<String>,
    /// The scores of the request. They are set once and never changed.
    pub scores: Option<Scores>,
    /// Why a human accepted a request that was not clear enough.
    pub overridden: Option<String>,
    /// The criteria and limits in the request itself. A later spec adds to them and removes none.
    pub asked: Shape,
    pub shape: Option<Shape>,
    /// The remembered lessons that were shown, one line each.
    pub recall_surfaced: Vec<String>,
    pub plan: Option<PlanId>,
    pub run: Option<RunId>,
    /// Number of thorough reviews.
    pub rounds: u32,
    /// The objections of the gate at its last check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objected>,
    /// Objections of the gate that a human accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<Waiver>,
    pub ended: Option<LoopEnd>,
    pub started_at: Millis,
    pub updated_at: Millis,
    /// The session that is bound to the loop. It may not stop while the loop is unfinished.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// Why the loop waits for a human. Meanwhile its session may stop.
    #[serde(default)]
    pub waits: Option<String>,
    /// The limits of its sessions. A run has limits of its own.
    #[serde(default)]
    pub limits: LoopLimits,
    /// Number of units that sessions started.
    #[serde(default)]
    pub iterations: u32,
    /// The last known cost of each session since the loop started, in millionths of a US dollar.
    #[serde(default)]
    pub spent: BTreeMap<SessionId, u64>,
}

impl Loop {
    pub fn new(id: LoopId, worktree: String, request: String, now: Millis) -> Self {
        Self { id, worktree, request, started_at: now, updated_at: now, ..Self::default() }
    }

    /// Returns the cost of all its sessions, in millionths of a US dollar.
    pub fn micro_usd(&self) -> u64 {
        self.spent.values().fold(0, |sum, spent| sum.saturating_add(*spent))
    }

    /// Returns how much the loop may do alone: as much as its fit allows. A human's override of a blocked request gives
    /// the least freedom.
    pub fn autonomy(&self) -> Option<Autonomy> {
        let autonomy = self.scores?.autonomy;
        match (autonomy, &self.overridden) {
            (Autonomy::Blocked, Some(_)) => Some(Autonomy::Colleague),
            (autonomy, _) => Some(autonomy),
        }
    }

    /// Returns true if the loop waits for a clearer request, or for a human to accept this one.
    pub fn is_unclear(&self) -> bool {
        self.autonomy() == Some(Autonomy::Blocked)
    }
}

/// A recorded objection of the gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objected {
    /// `o-1a2b3c`
    pub id: String,
    pub text: String,
    /// The check of the task that answers it. `None`: it needs a human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// An objection of the gate that a human accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// The id of the objection: `o-1a2b3c`.
    pub objection: String,
    /// The text of the objection.
    pub text: String,
    pub why: String,
}

/// The limits for the sessions of a loop. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopLimits {
    /// Number of units.
    pub iterations: Option<u32>,
    pub micro_usd: Option<u64>,
}

impl LoopLimits {
    /// Names the limit that stops the loop from starting another unit.
    pub fn reached(&self, looped: &Loop) -> Option<String> {
        match self.iterations.filter(|limit| looped.iterations >= *limit) {
            Some(limit) => Some(format!("{} of {limit} iterations are used", looped.iterations)),
            None => self.spent(looped),
        }
    }

    /// Reports that the budget is spent, which pauses the loop.
    pub fn spent(&self, looped: &Loop) -> Option<String> {
        let dollars = |micro: u64| format!("${}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000);
        let (limit, spent) = (self.micro_usd?, looped.micro_usd());
        (spent >= limit).then(|| format!("the budget is spent: {} of {}", dollars(spent), dollars(limit)))
    }

    pub fn is_reached(&self, looped: &Loop) -> bool {
        self.reached(looped).is_some()
    }
}

/// The part of an unfinished loop that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopView {
    pub id: LoopId,
    pub stage: Stage,
    /// The session that is bound to the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The end of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ended: Option<OwnerEnd>,
    /// The run that works on the loop instead of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    #[serde(default)]
    pub counts: Counts,
    /// Why the loop waits for a human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// The reached limit, in words. The loop waits for a human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The status, in words.
    pub standing: String,
    /// The command that continues the loop, in backticks.
    pub next: String,
}

/// The scores of a request: how ready it is to run without a human.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scores {
    /// From 0 to 10.
    pub spec: u8,
    /// From 0 to 75.
    pub fit: u8,
    pub autonomy: Autonomy,
}

labels! {
    /// How far a loop works without a human.
    #[serde(rename_all = "kebab-case")]
    pub enum Autonomy {
        /// The loop does not pause.
        Tool = "tool",
        /// The loop pauses after each wave's review.
        ToolReview = "tool-review",
        /// The loop pauses after each unit.
        Colleague = "colleague",
        /// The loop does not start until the request is clear.
        Blocked = "blocked",
    }
}

labels! {
    #[derive(Default, PartialOrd, Ord)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        #[default]
        Intent = "intent",
        Shape = "shape",
        Decompose = "decompose",
        Executing = "executing",
        Review = "review",
        Complete = "complete",
    }
}

impl Stage {
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Intent => Some(Self::Shape),
            Self::Shape => Some(Self::Decompose),
            Self::Decompose => Some(Self::Executing),
            Self::Executing => Some(Self::Review),
            Self::Review => Some(Self::Complete),
            Self::Complete => None,
        }
    }

    /// Returns true for the next stage, and for the way back from a review to work.
    pub fn can_become(self, stage: Self) -> bool {
        self.next() == Some(stage) || (self, stage) == (Self::Review, Self::Executing)
    }
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum LoopEnd {
        /// The gate passed the result.
        Complete = "complete",
        /// The reviews were used up, and findings are open.
        Capped = "capped",
        /// A human archived the loop, or a newer one replaced it.
        Archived = "archived",
    }
}

/// The requirements on the result, the must-nots, and the verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    pub criteria: Vec<String>,
    pub must_nots: Vec<String>,
    /// The allowed places of the work: "Only touch `src/auth`".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    pub verification: Vec<String>,
    /// Commands that must pass according to the human's own words. The gate runs each one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<StatedCheck>,
    /// Other words of the human about the end. Reviewers read them; no command checks them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_executed: Vec<String>,
}

impl Shape {
    /// Returns the limits for actions and changes: the must-nots and the scope.
    pub fn limits(&self) -> Vec<String> {
        self.must_nots.iter().chain(&self.scope).cloned().collect()
    }
}

/// The experts' review of a wave or of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub kind: ReviewKind,
    /// From 0 to 10. `None`: no expert gave a score.
    pub score: Option<u8>,
    pub findings: Vec<Finding>,
    pub blockers_remaining: u32,
    pub passed: bool,
    pub at: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// Review of one wave. It delays no work.
    Light { wave: u32 },
    /// Review of the whole, before the gate.
    Thorough { round: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Number in its loop, from 1. Assigned by the ledger.
    pub id: u32,
    pub severity: FindingSeverity,
    pub file: String,
    pub line: u32,
    pub expert: String,
    pub text: String,
    /// The must-not that the finding breaks, in the words of the shape.
    pub must_not: Option<String>,
    pub resolution: Resolution,
}

impl Finding {
    /// Returns true for a blocker that is open or deferred.
    pub fn blocks(&self) -> bool {
        self.severity == FindingSeverity::Blocker
            && matches!(self.resolution, Resolution::Open | Resolution::Deferred { .. })
    }
}

labels! {
    #[derive(PartialOrd, Ord)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum FindingSeverity {
        Blocker = "BLOCKER",
        Warning = "WARNING",
        Suggestion = "SUGGESTION",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    Open,
    Fixed,
    Waived { why: String },
    Deferred { why: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unclear() -> Loop {
        let scores = Scores { spec: 3, fit: 20, autonomy: Autonomy::Blocked };
        Loop { scores: Some(scores), ..Loop::new(LoopId::new("l"), "/w".into(), "make it faster".into(), Millis(1)) }
    }

    #[test]
    fn stages_follow_each_other_and_a_review_may_lead_back_to_work() {
        let moves: Vec<(&str, &str)> = Stage::ALL
            .into_iter()
            .flat_map(|from| Stage::ALL.map(|to| (from, to)))
            .filter(|(from, to)| from.can_become(*to))
            .map(|(from, to)| (from.as_str(), to.as_str()))
            .collect();
        assert_eq!(
            moves,
            [
                ("intent", "shape"),
                ("shape", "decompose"),
                ("decompose", "executing"),
                ("executing", "review"),
                ("review", "executing"),
                ("review", "complete"),
            ]
        );
    }

    #[test]
    fn an_override_lifts_a_blocked_loop_to_the_least_freedom_and_no_other() {
        assert!(unclear().is_unclear());
        let overridden = Loop { overridden: Some("a trial".into()), ..unclear() };
        assert_eq!((overridden.autonomy(), overridden.is_unclear()), (Some(Autonomy::Colleague), false));
        let free = Scores { spec: 10, fit: 65, autonomy: Autonomy::Tool };
        assert_eq!(Loop { scores: Some(free), ..overridden }.autonomy(), Some(Autonomy::Tool));
    }

    #[test]
    fn only_a_blocker_that_is_neither_fixed_nor_waived_is_in_the_way() {
        let finding = |severity, resolution| Finding {
            id: 1,
            severity,
            file: "src/a.rs".into(),
            line: 1,
            expert: "tests".into(),
            text: "t".into(),
            must_not: None,
            resolution,
        };
        let why = || String::from("so");
        let all = [
            Resolution::Open,
            Resolution::Fixed,
            Resolution::Waived { why: why() },
            Resolution::Deferred { why: why() },
        ];
        let blocks = |severity| all.clone().map(|resolution| finding(severity, resolution).blocks());
        assert_eq!(blocks(FindingSeverity::Blocker), [true, false, false, true]);
        assert_eq!(blocks(FindingSeverity::Warning), [false; 4]);
        assert_eq!(blocks(FindingSeverity::Suggestion), [false; 4]);
    }
}
