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
    #[serde(default, skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// The human's words, by which a path may belong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Something was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begun: bool,
    /// Something was written since the human last spoke: looking around is over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_work: bool,
    /// The last few attempts, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub window: Vec<Attempt>,
    /// Writing steps in a row that lead away.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub astray: u8,
    /// Writing steps until the next correction may come: who was told is left to answer it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub quiet: u8,
    /// Corrections that were ignored, at most three.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub escalation: u8,
    #[serde(default, skip_serializing_if = "is_normal")]
    pub course: Course,
    /// The path that would be back on course, while one is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<String>,
    /// A correction was given, and no step since was on course.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrected: bool,
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    pub tally: Tally,
    /// Tells the last texts apart that the agent was given: none is given twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<u32>,
    /// Whether it was said aloud that nothing says where the work is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub said_undeclared: bool,
}

/// Paths by what they are to the work, the newest last. Folders have no `/` behind them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Files that belong to it: read before the first write, or written when the human spoke next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Folders that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// Files and folders that were looked at before the first write after a later prompt, and that nothing else leads to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explored: Vec<String>,
    /// Folders that were looked into in the middle of the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// Files that were written since the human spoke.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fresh: Vec<String>,
    /// Folders about which the agent was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
}

impl Places {
    const KNOWN: usize = 96;
    const FOLDERS: usize = 48;
    const OTHERS: usize = 32;

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, new: &Self) {
        let lists = [
            (&mut self.known, &new.known, Self::KNOWN),
            (&mut self.folders, &new.folders, Self::FOLDERS),
            (&mut self.explored, &new.explored, Self::OTHERS),
            (&mut self.seen, &new.seen, Self::OTHERS),
            (&mut self.fresh, &new.fresh, Self::FOLDERS),
            (&mut self.told, &new.told, Self::OTHERS),
        ];
        for (list, new, most) in lists {
            new.iter().for_each(|path| keep(list, path, most));
        }
    }

    /// The human saw what was written, and went on: it belongs to the work.
    fn settle(&mut self) {
        for file in std::mem::take(&mut self.fresh) {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            keep(&mut self.folders, folder, Self::FOLDERS);
            keep(&mut self.known, &file, Self::KNOWN);
        }
    }
}

/// An attempt that failed, or one that ended such a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Tells its target from any other: a path, or a command line.
    pub target: u32,
    /// Tells what went wrong from anything else that may. None: it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<u32>,
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
                self.quiet = 0;
                self.window.clear();
                self.places.settle();
                words.iter().for_each(|word| keep(&mut self.words, word, Self::WORDS));
            }
            DriftChange::Went(places) => self.places.add(places),
            DriftChange::Tried(attempt) => {
                if self.window.len() >= Self::WINDOW {
                    self.window.remove(0);
                }
                self.window.push(*attempt);
            }
            DriftChange::Stepped(step) => self.step(step),
            DriftChange::Steered { astray, quiet, escalation, course, awaited, corrected } => {
                self.astray = *astray;
                self.quiet = *quiet;
                self.escalation = *escalation;
                self.course = *course;
                self.corrected = *corrected;
                self.awaited.clone_from(awaited);
                self.tally.highest = self.tally.highest.max(*escalation);
            }
            DriftChange::Said(text) => {
                if self.said.len() >= Self::WINDOW {
                    self.said.remove(0);
                }
                self.said.push(*text);
            }
            DriftChange::SaidUndeclared => self.said_undeclared = true,
        }
    }

    fn step(&mut self, step: &Step) {
        self.tally.steps += 1;
        self.at_work |= !step.paths.is_empty();
        self.begun |= !step.paths.is_empty();
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
    /// The human spoke: these are new words, what was written belongs, and looking around is free again.
    HumanSpoke {
        words: Vec<String>,
    },
    /// Paths that were read or written.
    Went(Places),
    Tried(Attempt),
    Stepped(Box<Step>),
    /// Where the steps have led to.
    Steered {
        astray: u8,
        quiet: u8,
        escalation: u8,
        course: Course,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        awaited: Option<String>,
        corrected: bool,
    },
    /// The agent was given this text.
    Said(u32),
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
            let one = |name: &str| vec![format!("{name}{n}")];
            drift.apply(&DriftChange::Went(Places { known: one("f"), folders: one("d"), ..Places::default() }));
            drift.apply(&DriftChange::HumanSpoke { words: one("w") });
        }
        for target in 0..1_000 {
            drift.apply(&DriftChange::Tried(Attempt { target, error: Some(1) }));
        }
        let sizes = [drift.places.known.len(), drift.places.folders.len(), drift.words.len(), drift.window.len()];
        assert_eq!(sizes, [Places::KNOWN, Places::FOLDERS, Drift::WORDS, Drift::WINDOW]);
        assert_eq!(drift.places.known.last().map(String::as_str), Some("f999"));
    }

    #[test]
    fn what_was_written_belongs_when_the_human_went_on() {
        let mut drift = Drift::default();
        drift.apply(&DriftChange::Went(Places { fresh: vec!["src/a.rs".into()], ..Places::default() }));
        drift.apply(&DriftChange::HumanSpoke { words: Vec::new() });
        let settled = Places { known: vec!["src/a.rs".into()], folders: vec!["src".into()], ..Places::default() };
        assert_eq!(drift.places, settled);
    }
}
