//! The repository and the tasks of the current folder.

use steadfast_hook::handle_event;
use steadfast_model::{Event, EventKind, Host, State, ToolUseId};
use steadfast_store::Place;
use steadfast_work::history::History;
use steadfast_work::setup::{self, Setup};
use steadfast_work::{Caller, Repository, TaskList};

use crate::environment;
use crate::error::CommandError;
use crate::output::note;

pub(crate) fn repository() -> Result<Repository, CommandError> {
    Ok(Repository::find(environment::current())?)
}

/// `words`: the command as it was called.
pub(crate) fn task_list(words: &str) -> Result<TaskList, CommandError> {
    Ok(TaskList::here(environment::current(), words)?)
}

/// The task list for a tool call over MCP.
pub(crate) fn task_list_of_call(call: Option<&ToolUseId>, tool: &str) -> Result<TaskList, CommandError> {
    Ok(TaskList::of_tool_call(environment::current(), call, tool)?)
}

/// The setup of this checkout, which may not exist yet.
pub(crate) fn setup() -> Result<Setup, CommandError> {
    Ok(Setup::of(&environment::current())?)
}

/// Parses a host; the simulated one is invalid.
pub(crate) fn parse_host(text: &str) -> Result<Host, String> {
    match text.parse() {
        Ok(Host::Sim) => Err("the simulated agent is for tests; expected `claude` or `codex`".into()),
        Ok(host) => Ok(host),
        Err(error) => Err(format!("{error}")),
    }
}

/// A message if a host that called Steadfast no longer does.
pub(crate) fn missing_hooks(place: &Place) -> Option<String> {
    setup::missing_hooks(place, environment::current().homes.as_ref())
}

/// The verdicts of the policies in this repository.
pub(crate) fn history() -> Result<History, CommandError> {
    Ok(history_of(repository()?))
}

pub(crate) fn history_of(repository: Repository) -> History {
    let history = History::at(repository);
    if let Some(error) = &history.unread {
        note!("warning: showing the journals only: {error}");
    }
    history
}

/// The caller of a command with these words.
pub(crate) fn caller(repository: &Repository, words: &str) -> Caller {
    Caller::of(Some(&repository.place), &repository.environment, words)
}

/// Records a human's command in the journal of a session.
pub(crate) fn tell_session(repository: &Repository, state: &State, word: EventKind) -> Result<(), CommandError> {
    let (place, now) = (&repository.place, repository.environment.now());
    let event = Event::plain(state.session.clone(), state.host, place.worktree(), now, word);
    handle_event(place, &repository.config, event)?;
    Ok(())
}
