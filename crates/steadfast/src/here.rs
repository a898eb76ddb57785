//! The repository and the tasks that this process is called in.

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

/// `words` are how the command was called.
pub(crate) fn task_list(words: &str) -> Result<TaskList, CommandError> {
    Ok(TaskList::here(environment::current(), words)?)
}

/// The tasks that a tool call over MCP is about.
pub(crate) fn task_list_of_call(call: Option<&ToolUseId>, tool: &str) -> Result<TaskList, CommandError> {
    Ok(TaskList::of_tool_call(environment::current(), call, tool)?)
}

/// This checkout, whether Steadfast is set up for it or not.
pub(crate) fn setup() -> Result<Setup, CommandError> {
    Ok(Setup::of(&environment::current())?)
}

/// A host that a human works with.
pub(crate) fn parse_host(text: &str) -> Result<Host, String> {
    match text.parse() {
        Ok(Host::Sim) => Err("the simulated agent is for tests; expected `claude` or `codex`".into()),
        Ok(host) => Ok(host),
        Err(error) => Err(format!("{error}")),
    }
}

/// What a human reads where a host that called Steadfast does so no more.
pub(crate) fn missing_hooks(place: &Place) -> Option<String> {
    setup::missing_hooks(place, environment::current().homes.as_ref())
}

/// What the policies said here.
pub(crate) fn history() -> Result<History, CommandError> {
    Ok(history_of(repository()?))
}

pub(crate) fn history_of(repository: Repository) -> History {
    let history = History::at(repository);
    if let Some(error) = &history.unread {
        note!("warning: only the journals are shown: {error}");
    }
    history
}

/// On whose behalf a command runs that was called with these words.
pub(crate) fn caller(repository: &Repository, words: &str) -> Caller {
    Caller::of(Some(&repository.place), &repository.environment, words)
}

/// Brings the word of a human into a session's journal.
pub(crate) fn tell_session(repository: &Repository, state: &State, word: EventKind) -> Result<(), CommandError> {
    let (place, now) = (&repository.place, repository.environment.now());
    let event = Event::plain(state.session.clone(), state.host, place.worktree(), now, word);
    handle_event(place, &repository.config, event)?;
    Ok(())
}
