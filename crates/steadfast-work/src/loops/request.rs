//! What a loop is begun with: a sentence, or the file of a spec.

use std::path::Path;

use steadfast_model::{Entry, EventKind, Loop, Plan, PromptOrigin, Scores, Shape};
use steadfast_plan::{Dimension, Familiarity, SpecScore, fit, paths, score, score_plan, shape};
use steadfast_store::ledger::Ledger;
use steadfast_store::{Place, SessionFiles, read_lines};
use steadfast_text::printable;

use super::LoopError;
use crate::error::WorkError;
use crate::{Caller, Environment, Repository, spec_file};

/// How much of a file stands for it where a line is shown, in characters.
const TITLE: usize = 200;

/// How much of a request is recalled by, in characters.
const WORDS: usize = 4_000;

#[derive(Clone, Debug)]
pub struct Request {
    /// What the human wrote.
    pub text: String,
    /// The file it was in, as the ledger names it.
    pub spec: Option<String>,
    /// Its tasks, where it has any.
    pub plan: Option<Plan>,
    /// Whose words these are.
    pub author: Author,
}

/// Who a request comes from. Only a human's words are run as checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Author {
    #[default]
    Human,
    /// An agent, in a session in which a human said this.
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

/// What the human of a session said, as far as its journal goes back.
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

/// A request that was judged: by its own words, and by what was done in its folders before.
#[derive(Clone, Debug)]
pub struct AssessedRequest {
    pub score: SpecScore,
    pub scores: Scores,
    /// Past runs in the same folders.
    pub familiar: u32,
}

impl Request {
    /// What a loop was begun with, as far as it is kept.
    pub fn of_loop(looped: &Loop, repository: &Repository) -> Result<Self, WorkError> {
        match &looped.spec {
            Some(spec) => {
                let root = &repository.place.root;
                Self::of_file(&root.join(spec), root, &repository.environment)
            }
            None => Ok(Self { text: looped.request.clone(), spec: None, plan: None, author: Author::Human }),
        }
    }

    /// A file where there is one of that name, else the words themselves.
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

    /// With what a human answers about each question that it leaves open, where it is not clear enough. A spec is a file that
    /// its author changes: nothing is asked about it.
    pub fn clarified(mut self, ask: impl Fn(Dimension) -> Option<String>) -> Self {
        let score = score(&self.text);
        if self.spec.is_some() || self.plan.is_some() || score.is_clear() {
            return self;
        }
        for dimension in score.missing() {
            let answer = ask(dimension).map(|answer| printable(answer.trim())).unwrap_or_default();
            if !answer.is_empty() {
                // Under a heading an answer counts for what it was asked about, in whatever words.
                self.text += &format!("\n\n## {}\n- {answer}", heading(dimension));
            }
        }
        self
    }

    pub fn of_file(file: &Path, root: &Path, environment: &Environment) -> Result<Self, WorkError> {
        let text = spec_file::read(file)?;
        // Prose without a task is a request, too.
        let plan = spec_file::compile_text(environment, &text, file).ok().map(|compiled| compiled.plan);
        let spec = (file != Path::new("-")).then(|| spec_file::source(file, root));
        Ok(Self { text, spec, plan, author: Author::Human })
    }

    /// What it is called where there is one line for it.
    pub fn title(&self) -> String {
        let first = || self.text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        let title = match (&self.spec, &self.plan) {
            (Some(_), Some(plan)) => plan.feature.clone(),
            (Some(_), None) => first().unwrap_or_default().to_owned(),
            (None, _) => return self.text.clone(),
        };
        printable(&title).chars().take(TITLE).collect()
    }

    /// The files and folders it names.
    pub fn paths(&self) -> Vec<String> {
        let mut found = paths(&self.text);
        found.extend(self.plan.iter().flat_map(|plan| &plan.tasks).flat_map(|task| task.files.clone()));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What it says of its result.
    pub fn shape(&self) -> Shape {
        let prose = if self.is_json() { "" } else { self.text.as_str() };
        shape(prose, self.plan.as_ref())
    }

    /// What is no Markdown is judged by what it was read as.
    fn is_json(&self) -> bool {
        self.plan.is_some() && self.text.trim_start().starts_with('{')
    }

    /// The words it is recalled by: those of its beginning.
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

/// A question as it is put to a human.
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
        let clear = "Add `--since DATE` to `tool log` in src/log.rs: `tool log --since 2026-01-01` prints 3 lines. Done when \
                     `make check` exits 0.";
        assert_eq!(words(clear).clarified(|_| panic!("asked")).text, clear);
        assert_eq!(words("Make it faster.").clarified(|_| None).text, "Make it faster.");
        assert_eq!(words("Make it faster.").clarified(|_| Some(" \n".into())).text, "Make it faster.");
        let spec = Request { spec: Some("SPEC.md".into()), ..words("Make it faster.") };
        assert_eq!(spec.clarified(|_| panic!("asked")).text, "Make it faster.");
    }
}
