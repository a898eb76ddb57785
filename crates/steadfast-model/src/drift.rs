use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ToolUseId;

/// How far an action is from the goal: 1 to 10, and 10 is on course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Score(u8);

impl Score {
    pub const BEST: Self = Self(10);
    pub const WORST: Self = Self(1);

    /// The nearest score there is.
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

    /// A step that others may be guided by.
    pub fn is_validated(self) -> bool {
        self.0 >= 5
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How strongly a step is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    #[default]
    None,
    Nudge,
    Correct,
    Intervene,
    Halt,
}

impl Level {
    pub const ALL: [Self; 5] = [Self::None, Self::Nudge, Self::Correct, Self::Intervene, Self::Halt];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Nudge => "nudge",
            Self::Correct => "correct",
            Self::Intervene => "intervene",
            Self::Halt => "halt",
        }
    }

    /// The level after that many corrections were ignored. What needs no answer needs none the fourth time, either.
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

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The kind of drift a score stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    #[default]
    None,
    Minor,
    Major,
    Critical,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }
}

/// An action of an agent that changed something or tried to, with how it stands to the goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its number in the session, from 1.
    pub number: u64,
    pub kind: StepKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolUseId>,
    /// What it wrote, below the session's root where it is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The beginning of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub score: Score,
    /// As it was answered: what was ignored before is in it.
    pub level: Level,
    /// Why it is not 10, each in a few words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What would be back on course.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// What the agent was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

impl Step {
    /// The most paths of one step that are kept.
    pub const PATHS: usize = 8;
    /// The most of a command line that is kept, in characters.
    pub const COMMAND: usize = 160;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    Edit,
    Write,
    Bash,
    /// A subagent's work, as far as only its end shows it.
    Delegate,
    Mcp,
}

impl StepKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Bash => "bash",
            Self::Delegate => "delegate",
            Self::Mcp => "mcp",
        }
    }
}

/// Whether a session is on course, as its corrections left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    #[default]
    Normal,
    /// A step scored below 5, and none has come back since.
    Drifted,
    /// Corrections were ignored to the end: one named action is awaited.
    Forced,
}

impl Course {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Drifted => "drifted",
            Self::Forced => "forced",
        }
    }
}

/// What the score remembers of a session: where its work is, and how it went lately. Read with every event, and
/// therefore small.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The folder that paths are told from: where the session began.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub root: String,
    /// Files that belong to the work, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Folders that belong to it, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Folders that were only looked into after the work had begun.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// The human's words, by which a path may belong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Something was written since the human last spoke: looking around is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_work: bool,
    /// The last few attempts, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub window: Vec<Attempt>,
    /// Writing steps in a row that lead away.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub astray: u8,
    /// Corrections that were ignored, at most three.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub escalation: u8,
    #[serde(default, skip_serializing_if = "is_normal")]
    pub course: Course,
    /// The path that would be back on course, while one is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<String>,
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    pub tally: Tally,
    /// Whether it was said aloud that nothing says where the work is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub said_undeclared: bool,
}

/// A writing or failing action, as far as repeating it tells something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Tells its target from any other: a path, or a command line.
    pub target: u32,
    pub failed: bool,
}

/// What a session's steps came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub steps: u64,
    #[serde(default)]
    pub nudges: u32,
    #[serde(default)]
    pub corrections: u32,
    #[serde(default)]
    pub interventions: u32,
    #[serde(default)]
    pub halts: u32,
    /// The highest escalation there was.
    #[serde(default)]
    pub highest: u8,
}

impl Tally {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a session is marked with at its end.
    pub fn tags(&self, course: Course) -> Vec<&'static str> {
        let had = self.corrections + self.interventions + self.halts > 0;
        let review = course != Course::Normal || self.halts > 0 || self.highest >= 2;
        [(had, "had-drift"), (review, "needs-review")].into_iter().filter_map(|(is, tag)| is.then_some(tag)).collect()
    }
}

impl Drift {
    /// No correction is ignored more often than that.
    pub const ESCALATION: u8 = 3;
    /// How many files are remembered.
    const KNOWN: usize = 96;
    /// How many folders are remembered, of each kind.
    const FOLDERS: usize = 48;
    const WORDS: usize = 64;
    /// How many attempts repetition looks at.
    pub const WINDOW: usize = 12;

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn apply(&mut self, change: &DriftChange) {
        match change {
            DriftChange::Began { root } => root.clone_into(&mut self.root),
            DriftChange::HumanSpoke { words } => {
                self.at_work = false;
                self.astray = 0;
                self.window.clear();
                self.course = Course::Normal;
                self.escalation = 0;
                self.awaited = None;
                words.iter().for_each(|word| keep(&mut self.words, word, Self::WORDS));
            }
            DriftChange::Looked { files, folders } => {
                let place = if self.at_work { &mut self.seen } else { &mut self.folders };
                folders.iter().for_each(|folder| keep(place, folder, Self::FOLDERS));
                if !self.at_work {
                    files.iter().for_each(|file| keep(&mut self.known, file, Self::KNOWN));
                }
            }
            DriftChange::Belongs { files, folders } => {
                files.iter().for_each(|file| keep(&mut self.known, file, Self::KNOWN));
                folders.iter().for_each(|folder| keep(&mut self.folders, folder, Self::FOLDERS));
            }
            DriftChange::Attempted(attempts) => {
                self.window.extend(attempts);
                let over = self.window.len().saturating_sub(Self::WINDOW);
                self.window.drain(..over);
            }
            DriftChange::Stepped(step) => self.step(step),
            DriftChange::Course { course, escalation, awaited } => {
                self.course = *course;
                self.escalation = *escalation;
                self.awaited.clone_from(awaited);
                self.tally.highest = self.tally.highest.max(*escalation);
            }
            DriftChange::SaidUndeclared => self.said_undeclared = true,
        }
    }

    fn step(&mut self, step: &Step) {
        self.tally.steps += 1;
        self.at_work |= !step.paths.is_empty();
        match step.level {
            Level::None => {}
            Level::Nudge => self.tally.nudges += 1,
            Level::Correct => self.tally.corrections += 1,
            Level::Intervene => self.tally.interventions += 1,
            Level::Halt => self.tally.halts += 1,
        }
    }
}

/// One step of what the score remembers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftChange {
    Began {
        root: String,
    },
    /// The human spoke: these are new words, and looking around is free again.
    HumanSpoke {
        words: Vec<String>,
    },
    /// Files were read.
    Looked {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folders: Vec<String>,
    },
    /// Files were written that belong to the work: so does what is beside them.
    Belongs {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folders: Vec<String>,
    },
    Attempted(Vec<Attempt>),
    Stepped(Box<Step>),
    Course {
        course: Course,
        escalation: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        awaited: Option<String>,
    },
    SaidUndeclared,
}

/// The newest last, each once, and no more than so many.
fn keep(list: &mut Vec<String>, new: &str, most: usize) {
    if let Some(at) = list.iter().position(|known| known == new) {
        let known = list.remove(at);
        list.push(known);
        return;
    }
    if list.len() >= most {
        list.remove(0);
    }
    list.push(new.to_owned());
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(value: &u8) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_normal(course: &Course) -> bool {
    *course == Course::Normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_has_its_level_and_its_type() {
        let all: Vec<_> =
            (0..=11).map(Score::new).map(|s| (s.get(), s.level().as_str(), s.severity().as_str())).collect();
        assert_eq!(
            all,
            [
                (1, "halt", "critical"),
                (1, "halt", "critical"),
                (2, "halt", "critical"),
                (3, "intervene", "major"),
                (4, "intervene", "major"),
                (5, "correct", "minor"),
                (6, "correct", "minor"),
                (7, "nudge", "minor"),
                (8, "none", "none"),
                (9, "none", "none"),
                (10, "none", "none"),
                (10, "none", "none"),
            ]
        );
    }

    #[test]
    fn what_was_ignored_raises_corrections_and_nothing_else() {
        let after = |level: Level| [0, 1, 2, 3, 200].map(|ignored| level.after(ignored).as_str());
        assert_eq!(after(Level::None), ["none"; 5]);
        assert_eq!(after(Level::Nudge), ["nudge"; 5]);
        assert_eq!(after(Level::Correct), ["correct", "intervene", "halt", "halt", "halt"]);
        assert_eq!(after(Level::Intervene), ["intervene", "halt", "halt", "halt", "halt"]);
    }

    #[test]
    fn however_much_is_read_the_memory_stays_small() {
        let mut drift = Drift::default();
        for n in 0..1_000 {
            let looked = |name: &str| vec![format!("{name}{n}")];
            drift.apply(&DriftChange::Looked { files: looked("f"), folders: looked("d") });
            drift.apply(&DriftChange::HumanSpoke { words: looked("w") });
            drift.apply(&DriftChange::Attempted(vec![Attempt { target: n, failed: true }]));
        }
        let sizes = [drift.known.len(), drift.folders.len(), drift.words.len(), drift.window.len()];
        assert_eq!(sizes, [Drift::KNOWN, Drift::FOLDERS, Drift::WORDS, Drift::WINDOW]);
        assert_eq!(drift.known.last().map(String::as_str), Some("f999"));
    }
}
