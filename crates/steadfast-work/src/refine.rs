//! Asks the user's command (`drift.refine`) for more paths and words of a session's goal.

mod ask;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use steadfast_engine::goal::{in_tree, keywords};
use steadfast_hook::{EventError, handle_event};
use steadfast_model::{Entry, Event, EventKind, Fact, GoalWord, PromptOrigin, SessionId, State};
use steadfast_observe::Checkout;
use steadfast_redact::redact;
use steadfast_store::{ConfigError, SessionFiles, read_lines};

use crate::Repository;
pub use ask::AskError;
use ask::ask;

/// Length limit of the prompt that is sent to the command, in characters.
const PROMPT: usize = 16_000;

/// Time for git to list the tree. No user waits for it.
const TREE: Duration = Duration::from_secs(10);

/// The reason why a goal was not refined.
#[derive(Debug, thiserror::Error)]
pub enum RefineError {
    #[error("there is no such session in this repository")]
    NoSession,
    #[error("the journal does not have the prompt any more")]
    NoPrompt,
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot read the journal: {0}")]
    Journal(std::io::Error),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("the answer of the command is not `{{\"scope\": [path], \"keywords\": [word]}}`: {0}")]
    Rubbish(serde_json::Error),
    #[error("git cannot list the files of the tree: {0}")]
    Tree(String),
    #[error(transparent)]
    Step(#[from] EventError),
}

/// The answer of the command. Other keys are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    scope: Vec<String>,
    keywords: Vec<String>,
}

/// Asks the user's command what else belongs to the goal of a session, and adds the answer to its journal. `number` is
/// the number of the prompt.
pub fn refine(repository: &Repository, session: &SessionId, number: u64, within: Duration) -> Result<(), RefineError> {
    let place = &repository.place;
    let files = SessionFiles::of(place, session);
    let state = files.peek().ok_or(RefineError::NoSession)?;
    let settings = repository.config.load()?;
    let command = settings.drift.refine.value.trim();
    let Some(goal) = state.goal.as_ref().filter(|_| state.prompts == number && !command.is_empty()) else {
        return Ok(());
    };
    let question = json!({"prompt": prompt(&files)?, "goal": goal.text, "scope": goal.scope});
    let root = root(&state, &place.root);
    let answer = ask(command, &root, question.to_string(), within)?;
    let Answer { scope, keywords: words } = serde_json::from_slice(&answer).map_err(RefineError::Rubbish)?;
    let scope = if scope.is_empty() { scope } else { in_tree(&scope, &tree(&place.root, &root)?) };
    let keywords: Vec<String> = keywords(&words).iter().map(|word| redact(word).into_owned()).collect();
    if scope.is_empty() && keywords.is_empty() {
        return Ok(());
    }
    let word = GoalWord::Refined { prompt: number, goal: goal.text.clone(), scope, keywords };
    let (session, now) = (state.session.clone(), repository.environment.now());
    let event = Event::plain(session, state.host, place.worktree(), now, EventKind::Goal(word));
    handle_event(place, &repository.config, event)?;
    Ok(())
}

/// The human's last prompt as the journal has it: without secrets.
fn prompt(files: &SessionFiles) -> Result<String, RefineError> {
    let (_, lines) = read_lines(files.dir(), 0).map_err(RefineError::Journal)?;
    let said = lines.into_iter().rev().find_map(|line| match line.entry {
        Entry::Record(record) if record.event.agent.is_none() => match record.event.kind {
            EventKind::Prompt { text, origin: PromptOrigin::Human, .. } => Some(text),
            _ => None,
        },
        _ => None,
    });
    Ok(said.ok_or(RefineError::NoPrompt)?.chars().take(PROMPT).collect())
}

/// The folder in which the session started. Its paths are relative to it, and the command runs in it.
fn root(state: &State, checkout: &Path) -> PathBuf {
    if state.drift.root.is_empty() { checkout.to_owned() } else { PathBuf::from(&state.drift.root) }
}

/// The files that git tracks, relative to the session's root.
fn tree(checkout: &Path, root: &Path) -> Result<Vec<String>, RefineError> {
    let relative = |path: &String| Some(checkout.join(path).strip_prefix(root).ok()?.to_str()?.to_owned());
    match Checkout::find(checkout).tracked(TREE) {
        Fact::Known(tree) => Ok(tree.iter().filter_map(relative).collect()),
        Fact::Unknown(why) => Err(RefineError::Tree(why)),
        Fact::NotAsked => Err(RefineError::Tree("git was not asked".into())),
    }
}
