use clap::Args;
use serde_json::{Value, json};
use steadfast_store::ledger::Query;
use steadfast_text::printable;

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::recalled;

/// Number of learnings to show, and of steps and decisions.
const SHOWN: usize = 10;

/// Show learnings, steps and decisions related to some work.
#[derive(Debug, Args)]
pub(super) struct Recall {
    /// Keywords of the work.
    words: Vec<String>,
    /// Related file or folder. May be given several times.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// Print JSON with stable keys: `{recalled: [{what, reason, text, why, files: [path], at, session, id, kind,
    /// status, confidence, score}]}`; `what` is learning, step or decision; `reason` is same file, same folder or
    /// keyword. A missing value is null.
    #[arg(long)]
    json: bool,
}

impl Recall {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let words = self.words.join(" ");
        if words.trim().is_empty() && self.files.is_empty() {
            return Err(CommandError::usage("no words and no file given")
                .hint("`steadfast recall login token`, or `steadfast recall --file src/auth.rs`"));
        }
        let repository = here::repository()?;
        let files = self.files.iter().map(|file| repository.path(file)).collect::<Result<_, _>>()?;
        let query = Query { files, words, limit: SHOWN, without: None };
        let found = repository.ledger()?.recall(&query)?;
        if self.json {
            let found: Vec<Value> = found.iter().map(recalled::to_json).collect();
            return tell!("{}", json!({ "recalled": found }));
        }
        if found.is_empty() {
            note!("nothing found: no learning, step or decision is about {}", subject(&query));
        }
        let now = environment::now();
        found.iter().try_for_each(|recalled| tell!("{}", recalled::line(recalled, now)))
    }
}

/// The words and files of a query.
fn subject(query: &Query) -> String {
    let words = Some(query.words.as_str()).filter(|words| !words.trim().is_empty());
    let subjects = words.into_iter().chain(query.files.iter().map(String::as_str));
    subjects.map(|subject| format!("`{}`", printable(subject))).collect::<Vec<_>>().join(" or ")
}
