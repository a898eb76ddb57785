mod places;
mod score;
mod vocabulary;

use serde::{Deserialize, Serialize};

use crate::ToolUseId;
use crate::label::labels;
use crate::sparse::sparse;

pub use places::Places;
use places::keep;
pub use score::{Level, Score, Severity};
pub use vocabulary::WordFilter;

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
    /// What the agent was told. Of the steps of one batch it was told the gravest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

impl Step {
    /// The most paths of one step that are kept.
    pub const PATHS: usize = 8;
    /// The most of a command line that is kept, in characters.
    pub const COMMAND: usize = 160;
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum StepKind {
        Edit = "edit",
        Write = "write",
        Bash = "bash",
        /// A subagent's work, as far as only its end shows it.
        Delegate = "delegate",
        Mcp = "mcp",
    }
}

labels! {
    /// Whether a session is on course, as its corrections left it.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Course {
        #[default]
        Normal = "normal",
        /// A step scored below 5, and none has come back since.
        Drifted = "drifted",
        /// Corrections were ignored to the end: one named action is awaited.
        Forced = "forced",
    }
}

sparse! {
    /// What the score remembers of a session: where its work is, and how it went lately. Read with every event, and
    /// therefore small.
    #[derive(Eq)]
    pub struct Drift {
        /// The folder that paths are told from: where the session began.
        root: String,
        places: Places,
        /// The human's words, by which a path may belong.
        words: Vec<String>,
        /// The words of the work: of the human's prompts, and of what was read or run before the first write after each.
        vocabulary: WordFilter,
        /// The words that were written since. They belong to the work when the human speaks next.
        fresh_words: WordFilter,
        /// The last few replaced texts, the newest last: each tells a file, the old text and the new one from any other.
        replaced: Vec<u32>,
        /// Something was written.
        begun: bool,
        /// Something was written since the human last spoke: looking around is over.
        at_work: bool,
        /// The last few attempts, the newest last.
        window: Vec<Attempt>,
        /// Writing steps in a row that lead away.
        astray: u8,
        /// Writing steps until the next level of correction: the agent is given time to answer the last one.
        quiet: u8,
        /// Corrections that were ignored, at most three.
        escalation: u8,
        course: Course,
        /// The path that would be back on course, while one is awaited.
        awaited: Option<String>,
        /// A correction was given, and no step since was on course.
        corrected: bool,
        /// The level of that correction: the next one is not below it.
        told: Level,
        tally: Tally,
        /// Tells the last texts apart that the agent was given: none is given twice.
        said: Vec<u32>,
        /// Whether it was said aloud that nothing says where the work is.
        said_undeclared: bool,
        /// The calls of one model answer, as far as the host tells of them.
        batch: Batch,
    }
}

/// The calls of one model answer. Where a host says when they are all back, they are answered together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batch {
    /// The host has not said so yet. Some never do.
    #[default]
    Unreported,
    /// It says so, and nothing waits.
    Reported,
    /// This is said when they are all back.
    Waiting { level: Level, text: String },
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
    /// How many replaced texts are remembered.
    pub const REPLACED: usize = 24;
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
                self.vocabulary.join(&std::mem::take(&mut self.fresh_words));
                self.replaced.clear();
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
                if !self.corrected {
                    self.told = Level::None;
                }
                self.awaited.clone_from(awaited);
                self.tally.highest = self.tally.highest.max(*escalation);
            }
            DriftChange::Said(text) => {
                if self.said.len() >= Self::WINDOW {
                    self.said.remove(0);
                }
                self.said.push(*text);
            }
            DriftChange::Halted => {
                self.tally.halts += 1;
                self.corrected = true;
                self.told = Level::Halt;
            }
            DriftChange::Learned { known, fresh } => {
                self.vocabulary.add(known);
                self.fresh_words.add(fresh);
            }
            DriftChange::Replaced(marks) => {
                self.replaced.extend(marks);
                let more = self.replaced.len().saturating_sub(Self::REPLACED);
                self.replaced.drain(..more);
            }
            DriftChange::SaidUndeclared => self.said_undeclared = true,
            DriftChange::Batch(batch) => self.batch.clone_from(batch),
        }
    }

    /// Adds words as far as there is room. They are the first to go when the human has more to say.
    pub(crate) fn refine(&mut self, words: &[String]) {
        for word in words {
            if self.words.len() < Self::WORDS && !self.words.contains(word) {
                self.words.insert(0, word.clone());
            }
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
        if step.level >= Level::Correct {
            self.told = step.level;
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
    /// Words of the work, and words that were written, by their places in the vocabulary.
    Learned {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        known: Vec<u16>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fresh: Vec<u16>,
    },
    /// Texts that were replaced, each as one number with its file.
    Replaced(Vec<u32>),
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
    /// A call was refused because it leads away.
    Halted,
    SaidUndeclared,
    Batch(Batch),
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
    fn words_of_a_command_are_the_first_to_go() {
        let words = |name: &str, count: usize| (0..count).map(|n| format!("{name}{n}")).collect::<Vec<_>>();
        let mut drift = Drift { words: words("human", 60), ..Drift::default() };
        drift.refine(&words("more", 100));
        assert_eq!((drift.words.len(), drift.words.ends_with(&words("human", 60))), (Drift::WORDS, true));
        drift.apply(&DriftChange::HumanSpoke { words: words("new", 4) });
        assert_eq!(drift.words, [words("human", 60), words("new", 4)].concat());
    }

    #[test]
    fn what_was_written_belongs_when_the_human_went_on() {
        let mut drift = Drift::default();
        drift.apply(&DriftChange::Went(Places { fresh: vec!["src/a.rs".into()], ..Places::default() }));
        drift.apply(&DriftChange::HumanSpoke { words: Vec::new() });
        let folders = || vec!["src".to_owned()];
        let known = vec!["src/a.rs".to_owned()];
        let settled = Places { known, folders: folders(), worked: folders(), ..Places::default() };
        assert_eq!(drift.places, settled);
    }
}
