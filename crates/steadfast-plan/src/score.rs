//! Scores how clear a request is: five questions, 0 to 2 points each, by rules over its sentences.
//!
//! A rule does not interpret meaning: it looks for words, numbers, paths and commands, and at the heading above them.
//! Each mark names the sentence that earned it, so that a human can see where a rule was wrong.

mod document;
mod names;
mod rules;
mod sentence;
mod stated;

use serde::Serialize;
use steadfast_model::{Check, Plan, TaskKind, labels};

pub use names::paths;
use sentence::{Form, Part, Said};
pub use stated::{Stated, stated};

/// The lowest score with which a request may run.
pub const THRESHOLD: u8 = 5;

/// The marks of a request, one per dimension.
///
/// ```
/// let score = steadfast_plan::score("Make the app faster.");
/// assert_eq!(score.total(), 0);
/// assert_eq!(score.missing().len(), 5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpecScore {
    pub marks: [Mark; 5],
}

impl SpecScore {
    /// Returns the sum of points, 0 to 10.
    pub fn total(&self) -> u8 {
        self.marks.iter().map(|mark| mark.points).sum()
    }

    pub fn points(&self, dimension: Dimension) -> u8 {
        self.marks.iter().find(|mark| mark.dimension == dimension).map_or(0, |mark| mark.points)
    }

    /// Returns the dimensions without any points.
    pub fn missing(&self) -> Vec<Dimension> {
        self.marks.iter().filter(|mark| mark.points == 0).map(|mark| mark.dimension).collect()
    }

    pub fn is_clear(&self) -> bool {
        self.total() >= THRESHOLD
    }
}

labels! {
    /// One of the five questions.
    #[derive(PartialOrd, Ord)]
    #[serde(rename_all = "snake_case")]
    pub enum Dimension {
        Outcome = "outcome",
        Scope = "scope",
        Constraints = "constraints",
        Success = "success",
        Done = "done",
    }
}

impl Dimension {
    /// Returns the question for a human when a dimension has no points.
    pub fn question(self) -> &'static str {
        match self {
            Self::Outcome => "What can a user do afterwards, or what does the program do, that it does not do today?",
            Self::Scope => "Which files, folders or commands does it affect, and what is out of scope?",
            Self::Constraints => "What must not happen or change on the way?",
            Self::Success => "Which numbers, examples or cases show that the result is right?",
            Self::Done => "Which command or checklist shows that the work is finished?",
        }
    }
}

/// The points of one dimension, and the sentence that earned them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    pub dimension: Dimension,
    /// 0 to 2.
    pub points: u8,
    pub because: Option<ScoredSentence>,
    /// The rule that matched the sentence.
    pub rule: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScoredSentence {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
}

/// The points of a sentence, and the rule that gave them.
type Worth = Option<(u8, &'static str)>;

/// Scores prose or Markdown.
pub fn score(text: &str) -> SpecScore {
    let said = document::sentences(text);
    SpecScore { marks: Dimension::ALL.map(|dimension| best(dimension, &said)) }
}

/// Scores a compiled spec by the words of its author. Line numbers are those of the plan in Markdown.
pub fn score_plan(plan: &Plan) -> SpecScore {
    score(&as_markdown(plan))
}

/// Returns the checks that a compiled spec states for its end.
pub(crate) fn stated_of_plan(plan: &Plan) -> Stated {
    stated(&as_markdown(plan))
}

/// Returns the sentences with both points in a dimension; for [`Dimension::Done`] the commands in them.
pub(crate) fn said_about(text: &str, dimension: Dimension) -> Vec<String> {
    let said = document::sentences(text);
    let full = said.iter().filter(|said| rules::worth(dimension, said).is_some_and(|(points, _)| points == 2));
    match dimension {
        Dimension::Done => full.flat_map(names::commands).map(str::to_owned).collect(),
        Dimension::Success => full.filter(|said| !is_check(said)).map(|said| said.text.clone()).collect(),
        Dimension::Outcome | Dimension::Scope | Dimension::Constraints => {
            full.filter(|said| !said.is_heading()).map(|said| said.text.clone()).collect()
        }
    }
}

/// Reports whether a sentence only names the command that shows the end.
fn is_check(said: &Said) -> bool {
    names::commands(said).next().is_some() && rules::worth(Dimension::Done, said).is_some_and(|(points, _)| points == 2)
}

/// Recognises `Only touch hello.txt`, `Stay in src/auth`: the place of the work, which excludes everything else.
pub(crate) fn says_where(line: &str) -> bool {
    rules::holds("where", &Said::new(1, line, Part::Other, Form::Prose))
}

/// Returns the first of the best sentences.
fn best(dimension: Dimension, said: &[Said]) -> Mark {
    let mut mark = Mark { dimension, points: 0, because: None, rule: "no sentence covers it" };
    for sentence in said {
        if let Some((points, rule)) = rules::worth(dimension, sentence)
            && points > mark.points
        {
            let because = Some(ScoredSentence { line: sentence.line, text: sentence.text.clone() });
            mark = Mark { dimension, points, because, rule };
        }
    }
    mark
}

fn as_markdown(plan: &Plan) -> String {
    let mut text = format!("# {}\n\n{}\n", plan.feature, plan.description.as_deref().unwrap_or_default());
    for (heading, lines) in [("Constraints", &plan.constraints), ("Success criteria", &plan.criteria)] {
        if !lines.is_empty() {
            text += &format!("\n## {heading}\n");
            text.extend(lines.iter().map(|line| format!("- {line}\n")));
        }
    }
    text += "\n## Tasks\n";
    for task in plan.tasks.iter().filter(|task| task.kind == TaskKind::Main) {
        text += &format!("- [ ] {}\n", task.title);
        if !task.files.is_empty() {
            text += &format!("  - Files: `{}`\n", task.files.join("`, `"));
        }
        if let Some(Check::Command { command, .. }) = &task.verify {
            text += &format!("  - Verify: `{command}`\n");
        }
    }
    text
}
