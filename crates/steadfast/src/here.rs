//! The repository and the tasks that this process is called in.

use steadfast_model::ToolUseId;
use steadfast_work::{Repository, TaskList};

use crate::error::CommandError;
use crate::surroundings::environment;

pub(crate) fn repository() -> Result<Repository, CommandError> {
    Ok(Repository::find(environment())?)
}

/// `words` are how the command was called.
pub(crate) fn task_list(words: &str) -> Result<TaskList, CommandError> {
    Ok(TaskList::here(environment(), words)?)
}

/// The tasks that a tool call over MCP is about.
pub(crate) fn task_list_of_call(call: Option<&ToolUseId>, tool: &str) -> Result<TaskList, CommandError> {
    Ok(TaskList::of_tool_call(environment(), call, tool)?)
}
