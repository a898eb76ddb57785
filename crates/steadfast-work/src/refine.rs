//! What else belongs to a goal, as the user's command says it.

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

/// The most of a prompt that the command is told, in characters.
const PROMPT: usize = 16_000;

/// What git gets to list the tree: nobody waits.
const TREE: Duration = Duration::from_secs(10);

/// Why a goal stays as the human said it.
#[derive(Debug, thiserror::Error)]
pub enum RefineError {
    #[error("there is no such session here")]
    NoSession,
    #[error("the prompt is not in the journal any more")]
    NoPrompt,
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("the journal cannot be read: {0}")]
    Journal(std::io::Error),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("what the command said is not `{{\"scope\": [path], \"keywords\": [word]}}`: {0}")]
    Rubbish(serde_json::Error),
    #[error("git does not say what is in the tree: {0}")]
    Tree(String),
    #[error(transparent)]
    Step(#[from] EventError),
}

/// What the command said. More than this is not looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    scope: Vec<String>,
    keywords: Vec<String>,
}

/// Asks the user's command what else belongs to the goal of a session, and brings the answer into its journal. `number`
/// is that of the prompt.
pub fn refine(repository: &Repository, session: &SessionId, number: u64, within: Duration) -> Result<(), RefineError> {
    let place = &repository.place;
    let files = SessionFiles::of(place, session);
    let state = files.peek().ok_or(RefineError::NoSession)?;
    let settings = repository.config.load()?;
    let command = settings.drift.refine.value.trim();
    let Some(goal) = state.goal.as_ref().filter(|_| state.prompts == number && !command.is_empty()) else {
        return Ok(());
    };
    let told = json!({"prompt": prompt(&files)?, "goal": goal.text, "scope": goal.scope});
    let root = root(&state, &place.root);
    let answer = ask(command, &root, told.to_string(), within)?;
    let Said { scope, keywords: said } = serde_json::from_slice(&answer).map_err(RefineError::Rubbish)?;
    let scope = if scope.is_empty() { scope } else { in_tree(&scope, &tree(&place.root, &root)?) };
    let keywords: Vec<String> = keywords(&said).iter().map(|word| redact(word).into_owned()).collect();
    if scope.is_empty() && keywords.is_empty() {
        return Ok(());
    }
    let word = GoalWord::Refined { prompt: number, goal: goal.text.clone(), scope, keywords };
    let (session, now) = (state.session.clone(), repository.environment.now());
    let event = Event::plain(session, state.host, place.worktree(), now, EventKind::Goal(word));
    handle_event(place, &repository.config, event)?;
    Ok(())
}

/// The human's last prompt, as it was kept: without secrets.
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

/// Where the session began: its paths are told from there, and the command is started there.
fn root(state: &State, checkout: &Path) -> PathBuf {
    if state.drift.root.is_empty() { checkout.to_owned() } else { PathBuf::from(&state.drift.root) }
}

/// What git knows, from the session's root.
fn tree(checkout: &Path, root: &Path) -> Result<Vec<String>, RefineError> {
    let told = |path: &String| Some(checkout.join(path).strip_prefix(root).ok()?.to_str()?.to_owned());
    match Checkout::find(checkout).tracked(TREE) {
        Fact::Known(tree) => Ok(tree.iter().filter_map(told).collect()),
        Fact::Unknown(why) => Err(RefineError::Tree(why)),
        Fact::NotAsked => Err(RefineError::Tree("it was not asked".into())),
    }
}
