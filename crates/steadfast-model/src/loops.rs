use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::label::labels;
use crate::{Counts, LoopId, Millis, OwnerEnd, PlanId, RunId, SessionId, StatedCheck};

/// A request on its way to a result that was reviewed and gated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    pub id: LoopId,
    /// The checkout it was begun in.
    pub worktree: String,
    /// The commit it began at. `None`: there was none yet.
    pub base: Option<String>,
    pub stage: Stage,
    /// As the human wrote it.
    pub request: String,
    /// The file of its spec, as it was named.
    pub spec: Option<String>,
    /// What it was given once; never judged anew.
    pub scores: Option<Scores>,
    /// Why a human took a request that was not clear enough.
    pub overridden: Option<String>,
    /// What the request itself said of its result. A spec that is written later adds to it and takes nothing away.
    pub asked: Shape,
    pub shape: Option<Shape>,
    /// What was remembered and shown, one line each.
    pub recall_surfaced: Vec<String>,
    pub plan: Option<PlanId>,
    pub run: Option<RunId>,
    /// Thorough reviews so far.
    pub rounds: u32,
    /// What the gate objected to at its last look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objected>,
    /// Objections of the gate that a human took as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waived: Vec<Waiver>,
    pub ended: Option<LoopEnd>,
    pub started_at: Millis,
    pub updated_at: Millis,
    /// The session that is bound to it: its stops are held while the loop is unfinished.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// Why it waits for a human. While it does, it holds nobody.
    #[serde(default)]
    pub waits: Option<String>,
    /// What its sessions may use up. A run has limits of its own.
    #[serde(default)]
    pub limits: LoopLimits,
    /// Units that sessions began.
    #[serde(default)]
    pub iterations: u32,
    /// What each session cost since the loop began, in millionths of a US dollar, as last seen.
    #[serde(default)]
    pub spent: BTreeMap<SessionId, u64>,
}

impl Loop {
    /// A loop that has just begun.
    pub fn new(id: LoopId, worktree: String, request: String, now: Millis) -> Self {
        Self { id, worktree, request, started_at: now, updated_at: now, ..Self::default() }
    }

    /// What all its sessions cost, in millionths of a US dollar.
    pub fn micro_usd(&self) -> u64 {
        self.spent.values().fold(0, |sum, spent| sum.saturating_add(*spent))
    }

    /// How much it may do alone: what its fit allows, and where a human took it below that, with the least freedom.
    pub fn autonomy(&self) -> Option<Autonomy> {
        let autonomy = self.scores?.autonomy;
        match (autonomy, &self.overridden) {
            (Autonomy::Blocked, Some(_)) => Some(Autonomy::Colleague),
            (autonomy, _) => Some(autonomy),
        }
    }

    /// It waits for a clearer request, or for a human who takes it as it is.
    pub fn is_unclear(&self) -> bool {
        self.autonomy() == Some(Autonomy::Blocked)
    }
}

/// An objection of the gate, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objected {
    /// `o-1a2b3c`
    pub id: String,
    pub text: String,
    /// The check of the task that meets it. None: only a human can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// An objection of the gate that a human took as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Its id: `o-1a2b3c`.
    pub objection: String,
    /// What it said.
    pub text: String,
    pub why: String,
}

/// What the sessions of a loop may use up. `None`: there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopLimits {
    /// Units that are begun.
    pub iterations: Option<u32>,
    pub micro_usd: Option<u64>,
}

impl LoopLimits {
    /// Which limit a loop has reached, in words: no further unit is begun.
    pub fn reached(&self, looped: &Loop) -> Option<String> {
        match self.iterations.filter(|limit| looped.iterations >= *limit) {
            Some(limit) => Some(format!("{} of {limit} iterations are used", looped.iterations)),
            None => self.spent(looped),
        }
    }

    /// That its budget is spent, in words: it does not go on.
    pub fn spent(&self, looped: &Loop) -> Option<String> {
        let dollars = |micro: u64| format!("${}.{:02}", micro / 1_000_000, micro % 1_000_000 / 10_000);
        let (limit, spent) = (self.micro_usd?, looped.micro_usd());
        (spent >= limit).then(|| format!("the budget is spent: {} of {}", dollars(spent), dollars(limit)))
    }

    pub fn is_reached(&self, looped: &Loop) -> bool {
        self.reached(looped).is_some()
    }
}

/// The little of an unfinished loop that a decision needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopView {
    pub id: LoopId,
    pub stage: Stage,
    /// The session that is bound to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// That session is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_ended: Option<OwnerEnd>,
    /// A run works on it: no session does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// How many tasks of its plan are in which status.
    #[serde(default)]
    pub counts: Counts,
    /// Why it waits for a human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// Which limit it has reached, in words: it waits for a human.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// How it stands, in words.
    pub standing: String,
    /// What takes it further, as a command in backticks.
    pub next: String,
}

/// How ready a request is to run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scores {
    /// 0 to 10.
    pub spec: u8,
    /// 0 to 75.
    pub fit: u8,
    pub autonomy: Autonomy,
}

labels! {
    /// How far a loop goes without a human.
    #[serde(rename_all = "kebab-case")]
    pub enum Autonomy {
        /// No pause.
        Tool = "tool",
        /// A pause after each wave's review.
        ToolReview = "tool-review",
        /// A pause after each unit.
        Colleague = "colleague",
        /// Not at all until the request is clear.
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

    /// One further, or from a review back to the work that it asks for.
    pub fn can_become(self, stage: Self) -> bool {
        self.next() == Some(stage) || (self, stage) == (Self::Review, Self::Executing)
    }
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum LoopEnd {
        /// The gate let it pass.
        Complete = "complete",
        /// Reviews were used up with something left to mend.
        Capped = "capped",
        /// Put away by a human, or for a newer one.
        Archived = "archived",
    }
}

/// What the result has to be, what must not happen on the way, and how it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    pub criteria: Vec<String>,
    pub must_nots: Vec<String>,
    /// Where the work may be: "Only touch `src/auth`".
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<String>,
    pub verification: Vec<String>,
    /// What the human's own words say has to pass. The gate runs each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<StatedCheck>,
    /// What else they say about the end. Reviewers look at it; nothing runs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_executed: Vec<String>,
}

impl Shape {
    /// What an action or a change is held against: what must not happen, and where the work may be.
    pub fn limits(&self) -> Vec<String> {
        self.must_nots.iter().chain(&self.scope).cloned().collect()
    }
}

/// What experts said of a wave, or of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    pub kind: ReviewKind,
    /// 0 to 10. `None`: nobody gave one.
    pub score: Option<u8>,
    pub findings: Vec<Finding>,
    pub blockers_remaining: u32,
    pub passed: bool,
    pub at: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// Of one wave: it holds nothing up.
    Light { wave: u32 },
    /// Of the whole, before the gate.
    Thorough { round: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// In its loop, from 1. The ledger gives it.
    pub id: u32,
    pub severity: FindingSeverity,
    /// From the root of the checkout.
    pub file: String,
    /// From 1.
    pub line: u32,
    pub expert: String,
    pub text: String,
    /// The one it breaks, in the words of the shape.
    pub must_not: Option<String>,
    pub resolution: Resolution,
}

impl Finding {
    /// A blocker that was only put off is still in the way.
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

/// What became of a finding.
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
