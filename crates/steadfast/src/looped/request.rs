//! What a loop is begun with: a sentence, or the file of a spec.

use std::path::Path;

use steadfast_model::{Loop, Plan, Scores, Shape};
use steadfast_plan::{Familiarity, SpecScore, fit, paths, score, score_plan, shape};
use steadfast_store::ledger::Ledger;

use crate::error::CommandError;
use crate::history::one_line;
use crate::spec_file;

/// How much of a file stands for it where a line is shown, in characters.
const TITLE: usize = 200;

/// How much of a request is recalled by, in characters.
const WORDS: usize = 4_000;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// What the human wrote.
    pub(crate) text: String,
    /// The file it was in, as the ledger names it.
    pub(crate) spec: Option<String>,
    /// Its tasks, where it has any.
    pub(crate) plan: Option<Plan>,
}

/// A request that was judged: by its own words, and by what was done in its folders before.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) score: SpecScore,
    pub(crate) scores: Scores,
    /// Past runs in the same folders.
    pub(crate) familiar: u32,
}

impl Request {
    /// What a loop was begun with, as far as it is kept.
    pub(crate) fn of_loop(looped: &Loop, root: &Path) -> Result<Self, CommandError> {
        match &looped.spec {
            Some(spec) => Self::of_file(&root.join(spec), root),
            None => Ok(Self { text: looped.request.clone(), spec: None, plan: None }),
        }
    }

    /// A file where there is one of that name, else the words themselves.
    pub(crate) fn read(given: &str, root: &Path) -> Result<Self, CommandError> {
        let file = Path::new(given);
        if given == "-" || file.is_file() {
            return Self::of_file(file, root);
        }
        let looks_like_file = !given.contains(char::is_whitespace) && given.contains(['.', '/']);
        if looks_like_file {
            return Err(CommandError::failure(format!("there is no file `{given}`"))
                .hint("a request is a sentence in quotes, or the file of a spec"));
        }
        if given.trim().is_empty() {
            return Err(CommandError::usage("a request says something, and this one is empty")
                .hint("`steadfast loop start \"what is wanted\"`, or `steadfast loop start SPEC.md`"));
        }
        Ok(Self { text: given.trim().to_owned(), spec: None, plan: None })
    }

    pub(crate) fn of_file(file: &Path, root: &Path) -> Result<Self, CommandError> {
        let text = spec_file::read(file)?;
        // Prose without a task is a request, too.
        let plan = spec_file::compile_text(&text, file).ok().map(|compiled| compiled.plan);
        let spec = (file != Path::new("-")).then(|| spec_file::source(file, root));
        Ok(Self { text, spec, plan })
    }

    /// What it is called where there is one line for it.
    pub(crate) fn title(&self) -> String {
        let first = || self.text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        let title = match (&self.spec, &self.plan) {
            (Some(_), Some(plan)) => plan.feature.clone(),
            (Some(_), None) => first().unwrap_or_default().to_owned(),
            (None, _) => return self.text.clone(),
        };
        one_line(&title).chars().take(TITLE).collect()
    }

    /// The files and folders it names.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut found = paths(&self.text);
        found.extend(self.plan.iter().flat_map(|plan| &plan.tasks).flat_map(|task| task.files.clone()));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What it says of its result.
    pub(crate) fn shape(&self) -> Shape {
        let prose = if self.is_json() { "" } else { self.text.as_str() };
        shape(prose, self.plan.as_ref())
    }

    /// What is no Markdown is judged by what it was read as.
    fn is_json(&self) -> bool {
        self.plan.is_some() && self.text.trim_start().starts_with('{')
    }

    /// The words it is recalled by: those of its beginning.
    pub(crate) fn words(&self) -> String {
        self.text.chars().take(WORDS).collect()
    }

    pub(crate) fn judge(&self, ledger: Option<&Ledger>) -> Result<Judged, CommandError> {
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
