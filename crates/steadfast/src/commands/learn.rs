use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use steadfast_model::AddedBy;
use steadfast_store::ledger::{Learned, Learning, LearningKind, LearningSource, LearningStatus, NewLearning};
use steadfast_text::{HANG, ago, printable};
use steadfast_work::Repository;

use crate::environment;
use crate::error::CommandError;
use crate::here;
use crate::output::{note, tell};
use crate::terminal::faint;

/// Record learnings of past work for later sessions.
#[derive(Debug, Subcommand)]
pub(super) enum Learn {
    /// Record a learning.
    ///
    /// A learning of a human is confirmed. A learning of an agent is open until a human confirms or dismisses it.
    Add(Add),
    /// List learnings: open first, then confirmed, then dismissed.
    List {
        /// Print JSON with stable keys: `{learnings: [{id, kind, text, why, files: [path], confidence, status, source, session,
        /// created_at, updated_at}]}`; `confidence` is 0 to 100.
        #[arg(long)]
        json: bool,
    },
    /// Confirm a learning.
    Confirm {
        /// Number of the learning, as `steadfast learn list` prints it.
        id: u64,
    },
    /// Dismiss a learning. Agents no longer see it, and cannot restore it.
    Dismiss {
        /// Number of the learning, as `steadfast learn list` prints it.
        id: u64,
    },
}

#[derive(Debug, Args)]
pub(super) struct Add {
    /// The learning, in one line.
    text: String,
    /// Kind of the learning: a way that fails, a fact, or a rule to keep.
    #[arg(long, default_value = LearningKind::Discovery.as_str(), value_parser = kinds())]
    kind: LearningKind,
    /// Evidence for the learning.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
    /// Related file or folder. May be given several times.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// Print JSON with stable keys: those of a learning in `learn list --json`.
    #[arg(long)]
    json: bool,
}

/// The kinds in the order of the help.
fn kinds() -> impl TypedValueParser<Value = LearningKind> {
    let kinds = [LearningKind::Failure, LearningKind::Discovery, LearningKind::Constraint];
    PossibleValuesParser::new(kinds.map(LearningKind::as_str))
        .map(move |word| kinds.into_iter().find(|kind| kind.as_str() == word).unwrap_or(LearningKind::Discovery))
}

impl Learn {
    pub(super) fn run(self) -> Result<(), CommandError> {
        let repository = here::repository()?;
        match self {
            Self::Add(new) => new.run(&repository),
            Self::List { json } => {
                let learnings = repository.ledger()?.learnings()?;
                if json {
                    let learnings: Vec<Value> = learnings.iter().map(to_json).collect();
                    return tell!("{}", json!({ "learnings": learnings }));
                }
                if learnings.is_empty() {
                    note!("no learnings yet");
                }
                learnings.iter().try_for_each(show)
            }
            Self::Confirm { id } => judge(&repository, id, LearningStatus::Confirmed),
            Self::Dismiss { id } => judge(&repository, id, LearningStatus::Dismissed),
        }
    }
}

impl Add {
    fn run(self, repository: &Repository) -> Result<(), CommandError> {
        let text = printable(self.text.trim());
        if text.is_empty() {
            return Err(CommandError::usage("the learning is empty")
                .hint("`steadfast learn add TEXT --why TEXT --file PATH` records a learning about a file"));
        }
        let caller = here::caller(repository, "learn add");
        let files = self.files.iter().map(|file| repository.path(file)).collect::<Result<_, _>>()?;
        let new = NewLearning {
            kind: self.kind,
            text,
            why: printable(self.why.trim()),
            files,
            source: match caller.by {
                AddedBy::Agent => LearningSource::Agent,
                AddedBy::Human => LearningSource::Human,
            },
            session: caller.session,
        };
        match repository.ledger()?.learn(&new, environment::now())? {
            Learned::New(learning) | Learned::Known(learning) if self.json => tell!("{}", to_json(&learning)),
            Learned::New(Learning { id, text, status: LearningStatus::Open, .. }) => {
                tell!("learning {id}: {text} (open until a human confirms or dismisses it)")
            }
            Learned::New(Learning { id, text, status, .. }) => tell!("learning {id}: {text} ({})", status.as_str()),
            Learned::Known(Learning { id, text, status, confidence, .. }) => {
                tell!("already known as learning {id}: {text} ({}, {confidence} %)", status.as_str())
            }
            Learned::Dismissed(Learning { id, .. }) => {
                Err(CommandError::refused(format!("a human dismissed this already, as learning {id}"))
                    .hint(format!("if it is true after all, a human runs `steadfast learn confirm {id}`")))
            }
        }
    }
}

fn judge(repository: &Repository, id: u64, status: LearningStatus) -> Result<(), CommandError> {
    let learning = repository.ledger()?.judge_learning(id, status, environment::now())?;
    tell!("learning {id}: {} ({})", learning.text, status.as_str())
}

fn show(learning: &Learning) -> Result<(), CommandError> {
    let Learning { id, kind, text, why, files, confidence, status, source, created_at, .. } = learning;
    let files = if files.is_empty() { String::new() } else { format!("  [{}]", files.join(", ")) };
    let when = ago(environment::now().since(*created_at));
    let (status, kind, source) = (status.as_str(), kind.as_str(), source.as_str());
    let more = faint(&format!("({confidence} %, {source}, {when})"));
    tell!("{id:<3}  {status:<9}  {kind:<10}  {HANG}{text}{files}  {more}")?;
    if why.is_empty() { Ok(()) } else { tell!("     {HANG}why: {why}") }
}

fn to_json(learning: &Learning) -> Value {
    json!({
        "id": learning.id,
        "kind": learning.kind.as_str(),
        "text": learning.text,
        "why": learning.why,
        "files": learning.files,
        "confidence": learning.confidence,
        "status": learning.status.as_str(),
        "source": learning.source.as_str(),
        "session": learning.session,
        "created_at": learning.created_at,
        "updated_at": learning.updated_at,
    })
}
