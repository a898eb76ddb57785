//! What a loop is begun with: a sentence, or the file of a spec.

use std::path::Path;

use steadfast_model::{Entry, EventKind, Loop, Plan, PromptOrigin, Scores, Shape};
use steadfast_plan::{Familiarity, SpecScore, fit, paths, score, score_plan, shape};
use steadfast_store::ledger::Ledger;
use steadfast_store::{Place, SessionFiles, read_lines};

use super::LoopError;
use crate::error::WorkError;
use crate::text::printable;
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
pub struct Judged {
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

    pub fn judge(&self, ledger: Option<&Ledger>) -> Result<Judged, WorkError> {
        let score = match &self.plan {
            Some(plan) if self.is_json() => score_plan(plan),
            _ => score(&self.text),
        };
        let familiar = match ledger {
            Some(ledger) => ledger.completed_in(&self.paths())?,
            None => 0,
        };
        Ok(Judged { scores: fit(&score, Familiarity::of_runs(familiar)), score, familiar })
    }
}
