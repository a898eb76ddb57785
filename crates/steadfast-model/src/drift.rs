mod places;
mod score;
mod vocabulary;

use serde::{Deserialize, Serialize};

use crate::ToolUseId;
use crate::label::labels;
use crate::sparse::sparse;

pub use places::Places;
use places::push_newest;
pub use score::{Level, Score, Severity};
pub use vocabulary::WordFilter;

/// An action of an agent that changed something or tried to, and its score against the goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Number of the step in the session, from 1.
    pub number: u64,
    pub kind: StepKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolUseId>,
    /// The written paths, relative to the session's root if they are below it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub score: Score,
    /// The level of the answer. Ignored corrections raise it.
    pub level: Level,
    /// The reasons why the score is below 10, a few words each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The visible thinking of the model before the call, if a proxy saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// An action that would bring the work back on course.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// The correction that the agent received. For a batch of steps it is the one for the worst step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
}

impl Step {
    /// The limit of paths stored per step.
    pub const PATHS: usize = 8;
    /// The limit of a stored command line, in characters.
    pub const COMMAND: usize = 160;
}

labels! {
    #[serde(rename_all = "snake_case")]
    pub enum StepKind {
        Edit = "edit",
        Write = "write",
        Bash = "bash",
        /// A subagent's work, known only from its end.
        Delegate = "delegate",
        Mcp = "mcp",
    }
}

labels! {
    /// The course of a session after its corrections.
    #[derive(Default)]
    #[serde(rename_all = "snake_case")]
    pub enum Course {
        #[default]
        Normal = "normal",
        /// A step scored below 5, and no later step was back on course.
        Drifted = "drifted",
        /// The agent ignored every correction. Steadfast waits for one named action.
        Forced = "forced",
    }
}

sparse! {
    /// The drift score's memory of a session: the places of its work and its last steps. It is read with every event,
    /// so it stays small.
    #[derive(Eq)]
    pub struct Drift {
        /// The folder that paths are relative to: where the session began.
        root: String,
        places: Places,
        /// The words of the human's prompts. A path with one of them can belong to the work.
        words: Vec<String>,
        /// The words of the work: of the human's prompts, and of the text read or run before the first write after each
        /// prompt.
        vocabulary: WordFilter,
        /// Words written since the last prompt. They join the vocabulary with the human's next prompt.
        fresh_words: WordFilter,
        /// The last few replacements, the newest last. Each is a hash of the file, the old text and the new text.
        replaced: Vec<u32>,
        /// The agent has written something.
        begun: bool,
        /// The agent has written something since the human's last prompt, so reading no longer adds to the work.
        at_work: bool,
        /// The last few attempts, the newest last.
        window: Vec<Attempt>,
        /// Number of consecutive writing steps that lead away from the work.
        astray: u8,
        /// Number of writing steps before the level can rise again. They give the agent time to react to the last
        /// correction.
        quiet: u8,
        /// Number of ignored corrections, at most three.
        escalation: u8,
        course: Course,
        /// The path that would bring the work back on course, while Steadfast waits for it.
        awaited: Option<String>,
        /// The agent received a correction, and no later step was on course.
        corrected: bool,
        /// The level of that correction. The next one is at least as strong.
        told: Level,
        tally: Tally,
        /// Hashes of the last texts that the agent received, so that it receives none twice.
        said: Vec<u32>,
        /// The human was informed that nothing declares the place of the work.
        said_undeclared: bool,
        /// The state of the current batch of calls, for hosts that report batches.
        batch: Batch,
    }
}

/// The calls of one model answer. If the host reports when they have all returned, Steadfast answers them together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Batch {
    /// The host has not reported a batch. Some hosts never do.
    #[default]
    Unreported,
    /// The host reports batches, and no text is pending.
    Reported,
    /// A text to send when all calls have returned.
    Waiting {
        level: Level,
        text: String,
        /// The line for the human.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line: Option<String>,
    },
}

/// A failed attempt, or the success that ended a row of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Hash of the target: a path or a command line.
    pub target: u32,
    /// Hash of the error. `None`: the attempt succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<u32>,
}

/// The totals of a session's steps.
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
    /// The highest escalation reached.
    #[serde(default)]
    pub highest: u8,
}

impl Tally {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the number of steps with an answer of this level.
    pub fn of(&self, level: Level) -> u32 {
        match level {
            Level::None => 0,
            Level::Nudge => self.nudges,
            Level::Correct => self.corrections,
            Level::Intervene => self.interventions,
            Level::Halt => self.halts,
        }
    }

    /// Returns the labels of a finished session.
    pub fn tags(&self, course: Course) -> Vec<&'static str> {
        let had = self.corrections + self.interventions + self.halts > 0;
        let review = course != Course::Normal || self.halts > 0 || self.highest >= 2;
        [(had, "had-drift"), (review, "needs-review")].into_iter().filter_map(|(is, tag)| is.then_some(tag)).collect()
    }
}

impl Drift {
    /// The limit of counted ignored corrections.
    pub const ESCALATION: u8 = 3;
    const WORDS: usize = 64;
    /// The limit of remembered replacements.
    pub const REPLACED: usize = 24;
    /// The number of attempts checked for repetition.
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
                words.iter().for_each(|word| push_newest(&mut self.words, word, Self::WORDS));
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

    /// Adds words, up to the limit. They are the first to be dropped when the human adds words.
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

/// One change of the drift memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftChange {
    Began {
        root: String,
    },
    /// A new prompt of the human. Its words are new, earlier writes now belong to the work, and reading adds to the
    /// work again.
    HumanSpoke {
        words: Vec<String>,
    },
    Went(Places),
    Tried(Attempt),
    /// Words of the work, and words that the agent wrote, as places in the vocabulary.
    Learned {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        known: Vec<u16>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fresh: Vec<u16>,
    },
    /// Replaced texts, one hash each.
    Replaced(Vec<u32>),
    Stepped(Box<Step>),
    /// The course after the last steps.
    Steered {
        astray: u8,
        quiet: u8,
        escalation: u8,
        course: Course,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        awaited: Option<String>,
        corrected: bool,
    },
    /// The agent received the text with this hash.
    Said(u32),
    /// A call was refused because it leads away from the work.
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
