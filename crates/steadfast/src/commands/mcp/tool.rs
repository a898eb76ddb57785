use serde_json::{Map, Value, json};
use steadfast_model::{Task, TaskId, ToolUseId};
use steadfast_store::ledger::NewTask;

use super::arguments::Arguments;
use crate::error::CommandError;
use crate::task_list::{TaskList, to_json};

/// What an agent can call, each the command `steadfast task …` of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    List,
    Ready,
    Next,
    Add,
    Start,
    Done,
    Block,
}

/// What a call says. The hosts show the model structured content instead of the text beside it, so the text of a
/// change stands alone.
enum Said {
    Text(String),
    Json(Value),
}

impl Tool {
    pub(super) const ALL: [Self; 7] =
        [Self::List, Self::Ready, Self::Next, Self::Add, Self::Start, Self::Done, Self::Block];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::List => "task_list",
            Self::Ready => "task_ready",
            Self::Next => "task_next",
            Self::Add => "task_add",
            Self::Start => "task_start",
            Self::Done => "task_done",
            Self::Block => "task_block",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::List => "Lists all tasks of this worktree with their status.",
            Self::Ready => "Lists the tasks that can be started now.",
            Self::Next => "Shows the task in progress, else the first that can be started.",
            Self::Add => "Adds a task to the list of this worktree.",
            Self::Start => "Starts a task; this session works on the list from then on.",
            Self::Done => "Closes a task as done. Says what is left.",
            Self::Block => "Sets a task aside that cannot go on. Only a human puts it back.",
        }
    }

    fn only_reads(self) -> bool {
        match self {
            Self::List | Self::Ready | Self::Next => true,
            Self::Add | Self::Start | Self::Done | Self::Block => false,
        }
    }

    fn input_schema(self) -> Value {
        let text = |about: &str| json!({"type": "string", "minLength": 1, "description": about});
        let texts = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
        let (properties, required): (Value, &[&str]) = match self {
            Self::List | Self::Ready | Self::Next => (json!({}), &[]),
            Self::Add => (
                json!({
                    "title": text("What is to be done, in one line."),
                    "files": texts("The files it is about."),
                    "after": texts("Ids of tasks that have to be done before it."),
                }),
                &["title"],
            ),
            Self::Start | Self::Done => (json!({"id": text("The task's id, like 2 or 2.1.")}), &["id"]),
            Self::Block => (
                json!({"id": text("The task's id, like 2 or 2.1."), "why": text("What stands in the way.")}),
                &["id", "why"],
            ),
        };
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    pub(super) fn describe(self) -> Value {
        json!({
            "name": self.name(),
            "description": self.description(),
            "inputSchema": self.input_schema(),
            // All of them are said: what a tool does not deny Codex takes for true, and then asks a human before each
            // call, or refuses it where there is none.
            "annotations": {
                "readOnlyHint": self.only_reads(),
                "destructiveHint": false,
                "idempotentHint": self != Self::Add,
                "openWorldHint": false,
            },
        })
    }

    /// The result of a call, for the model to read also where it failed. `call` is what the host calls it.
    pub(super) fn call(self, arguments: Map<String, Value>, call: Option<&ToolUseId>) -> Value {
        let content = |text: String| json!([{"type": "text", "text": text}]);
        match self.run(Arguments::new(arguments), call) {
            Ok(Said::Text(text)) => json!({"content": content(text)}),
            Ok(Said::Json(value)) => json!({"content": content(value.to_string()), "structuredContent": value}),
            Err(error) => json!({"content": content(error.to_string()), "isError": true}),
        }
    }

    fn run(self, mut given: Arguments, call: Option<&ToolUseId>) -> Result<Said, CommandError> {
        let list = || TaskList::of_tool_call(call, self.name());
        match self {
            Self::List => {
                given.end()?;
                Ok(Said::tasks(&list()?.all()?))
            }
            Self::Ready => {
                given.end()?;
                Ok(Said::tasks(&list()?.ready()?))
            }
            Self::Next => {
                given.end()?;
                Ok(Said::tasks(list()?.next()?.as_slice()))
            }
            Self::Add => {
                let (title, files, after) = (given.text("title")?, given.texts("files")?, given.texts("after")?);
                given.end()?;
                let blocked_by = after.into_iter().map(TaskId::new).collect();
                let task = list()?.add(|added_by| NewTask { files, blocked_by, ..NewTask::new(title, added_by) })?;
                Ok(Said::Text(format!("{} {}", task.id, task.title)))
            }
            Self::Start => {
                let id = TaskId::new(given.text("id")?);
                given.end()?;
                let mut list = list()?;
                let changed = list.start(&id)?;
                Ok(Said::Text(list.report(&changed)?))
            }
            Self::Done => {
                let id = TaskId::new(given.text("id")?);
                given.end()?;
                let mut list = list()?;
                let changed = list.done(&id)?;
                Ok(Said::Text(list.report(&changed)?))
            }
            Self::Block => {
                let (id, why) = (TaskId::new(given.text("id")?), given.text("why")?);
                given.end()?;
                let mut list = list()?;
                let changed = list.block(&id, &why)?;
                Ok(Said::Text(list.report(&changed)?))
            }
        }
    }
}

impl Said {
    fn tasks(tasks: &[Task]) -> Self {
        Self::Json(to_json(tasks))
    }
}
