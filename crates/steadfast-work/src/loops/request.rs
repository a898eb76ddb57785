//! The request that a loop starts from: a sentence, or the file of a spec.

use std::path::Path;

use steadfast_model::{Entry, EventKind, Loop, Plan, PromptOrigin, Scores, Shape};
use steadfast_plan::{Dimension, Familiarity, SpecScore, fit, paths, score, score_plan, shape};
use steadfast_store::ledger::Ledger;
use steadfast_store::{Place, SessionFiles, read_lines};
use steadfast_text::printable;

use super::LoopError;
use crate::error::WorkError;
use crate::{Caller, Environment, Repository, spec_file};

/// Length limit of a title that is taken from a file, in characters.
const TITLE: usize = 200;

/// Length limit of the text that is used to find related learnings, in characters.
const WORDS: usize = 4_000;

#[derive(Clone, Debug)]
pub struct Request {
    /// The text that the human wrote.
    pub text: String,
    /// The file of the text, as the ledger names it.
    pub spec: Option<String>,
    /// The plan in the file, if it has tasks.
    pub plan: Option<Plan>,
    pub author: Author,
}

/// The author of a request. Only commands that a human wrote are run as checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Author {
    #[default]
    Human,
    /// An agent, with the prompts of the humans in its session.
    Agent { heard: Vec<String> },
}

impl Author {
    pub fn of(caller: &Caller, place: &Place) -> Self {
        if !caller.is_agent() {
            return Self::Human;
        }
        let heard = caller.session.as_ref().map(|session| human_prompts(&SessionFiles::of(place, session)));
        Self::Agent { heard: heard.unwrap_or_default() }
    }
}

/// The prompts of the human in a session, as far back as its journal goes.
fn human_prompts(files: &SessionFiles) -> Vec<String> {
    let Ok((_, lines)) = read_lines(files.dir(), 0) else { return Vec::new() };
    let said = lines.into_iter().filter_map(|line| match line.entry {
        Entry::Record(record) => match record.event.kind {
            EventKind::Prompt { text, origin: PromptOrigin::Human, .. } => Some(text),
            _ => None,
        },
        Entry::Snapshot(_) => None,
    });
    said.collect()
}

/// A request with its scores: by its own words, and by earlier runs in the same folders.
#[derive(Clone, Debug)]
pub struct AssessedRequest {
    pub score: SpecScore,
    pub scores: Scores,
    /// Past runs in the same folders.
    pub familiar: u32,
}

impl Request {
    /// Rebuilds the request of a loop, as far as it was saved.
    pub fn of_loop(looped: &Loop, repository: &Repository) -> Result<Self, WorkError> {
        match &looped.spec {
            Some(spec) => {
                let root = &repository.place.root;
                Self::of_file(&root.join(spec), root, &repository.environment)
            }
            None => Ok(Self { text: looped.request.clone(), spec: None, plan: None, author: Author::Human }),
        }
    }

    /// Reads a file if one has this name; otherwise takes the words themselves.
    pub fn read(given: &str, root: &Path, environment: &Environment) -> Result<Self, WorkError> {
        let file = Path::new(given);
        if given == "-" || file.is_file() {
            return Self::of_file(file, root, environment);
        }
        let looks_like_file = !given.contains(char::is_whitespace) && given.contains(['.', '/']);
        if looks_like_file {
            return Err(LoopError::NoFile(given.to_owned()).into());
        }
        if given.trim().is_empty() {
            return Err(LoopError::EmptyRequest.into());
        }
        Ok(Self { text: given.trim().to_owned(), spec: None, plan: None, author: Author::Human })
    }

    /// Asks the human about each dimension that an unclear request leaves open, and adds the answers. Asks nothing
    /// about a spec, because its author can change the file.
    pub fn clarified(mut self, ask: impl Fn(Dimension) -> Option<String>) -> Self {
        let score = score(&self.text);
        if self.spec.is_some() || self.plan.is_some() || score.is_clear() {
            return self;
        }
        for dimension in score.missing() {
            let answer = ask(dimension).map(|answer| printable(answer.trim())).unwrap_or_default();
            if !answer.is_empty() {
                // Under its own heading, an answer counts for its question in any wording.
                self.text += &format!("\n\n## {}\n- {answer}", heading(dimension));
            }
        }
        self
    }

    pub fn of_file(file: &Path, root: &Path, environment: &Environment) -> Result<Self, WorkError> {
        let text = spec_file::read(file)?;
        // Prose without a task is a request too.
        let plan = spec_file::compile_text(environment, &text, file).ok().map(|compiled| compiled.plan);
        let spec = (file != Path::new("-")).then(|| spec_file::source(file, root));
        Ok(Self { text, spec, plan, author: Author::Human })
    }

    /// The request in one line.
    pub fn title(&self) -> String {
        let first = || self.text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        let title = match (&self.spec, &self.plan) {
            (Some(_), Some(plan)) => plan.feature.clone(),
            (Some(_), None) => first().unwrap_or_default().to_owned(),
            (None, _) => return self.text.clone(),
        };
        printable(&title).chars().take(TITLE).collect()
    }

    /// The files and folders that it names.
    pub fn paths(&self) -> Vec<String> {
        let mut found = paths(&self.text);
        found.extend(self.plan.iter().flat_map(|plan| &plan.tasks).flat_map(|task| task.files.clone()));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The shape of the result that it describes.
    pub fn shape(&self) -> Shape {
        let prose = if self.is_json() { "" } else { self.text.as_str() };
        shape(prose, self.plan.as_ref())
    }

    /// JSON is scored by its plan, because its text is not prose.
    fn is_json(&self) -> bool {
        self.plan.is_some() && self.text.trim_start().starts_with('{')
    }

    /// The beginning of the text, used to find related learnings.
    pub fn words(&self) -> String {
        self.text.chars().take(WORDS).collect()
    }

    pub fn judge(&self, ledger: Option<&Ledger>) -> Result<AssessedRequest, WorkError> {
        let score = match &self.plan {
            Some(plan) if self.is_json() => score_plan(plan),
            _ => score(&self.text),
        };
        let familiar = match ledger {
            Some(ledger) => ledger.completed_in(&self.paths())?,
            None => 0,
        };
        Ok(AssessedRequest { scores: fit(&score, Familiarity::of_runs(familiar)), score, familiar })
    }
}

/// A question for a human at a terminal.
pub fn question(dimension: Dimension) -> String {
    format!("{}: {}\n> ", dimension.as_str(), dimension.question())
}

fn heading(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Outcome => "Goal",
        Dimension::Scope => "Scope",
        Dimension::Constraints => "Constraints",
        Dimension::Success => "Acceptance criteria",
        Dimension::Done => "Definition of done",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Request {
        Request { text: text.into(), spec: None, plan: None, author: Author::Human }
    }

    fn answer(dimension: Dimension) -> Option<String> {
        Some(
            match dimension {
                Dimension::Outcome => "the page opens at once",
                Dimension::Scope => "the start page, not the editor",
                Dimension::Constraints => "the API as it is",
                Dimension::Success => "below 200 ms on my machine",
                Dimension::Done => "make bench",
            }
            .into(),
        )
    }

    #[test]
    fn answers_make_a_request_clear_and_each_counts_for_its_question() {
        let clarified = words("Make the app faster.").clarified(answer);
        let score = score(&clarified.text);
        assert_eq!(score.missing(), [], "{}", clarified.text);
        assert!(score.is_clear());
        assert!(
            clarified.text.starts_with("Make the app faster.\n\n## Goal\n- the page opens at once\n"),
            "{}",
            clarified.text
        );
    }

    #[test]
    fn nothing_is_asked_of_a_clear_request_and_no_answer_changes_nothing() {
        let clear = "Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines. \
                     Done when \
                     `make check` exits 0.";
        assert_eq!(words(clear).clarified(|_| panic!("asked")).text, clear);
        assert_eq!(words("Make it faster.").clarified(|_| None).text, "Make it faster.");
        assert_eq!(words("Make it faster.").clarified(|_| Some(" \n".into())).text, "Make it faster.");
        let spec = Request { spec: Some("SPEC.md".into()), ..words("Make it faster.") };
        assert_eq!(spec.clarified(|_| panic!("asked")).text, "Make it faster.");
    }
}
