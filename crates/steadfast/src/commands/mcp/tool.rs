use serde_json::{Map, Value, json};
use steadfast_hosts::Sandbox;
use steadfast_model::{Task, ToolUseId};
use steadfast_work::task_list::TaskList;
use steadfast_work::tracker::COMMAND;

use super::arguments::{Arguments, Parameter};
use crate::error::CommandError;
use crate::here;
use crate::report;

/// What an agent can call.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) effect: Effect,
    pub(super) takes: &'static [Parameter],
    pub(super) run: fn(&Call, Arguments) -> Result<Said, CommandError>,
}

/// What a call leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Reads,
    /// The same again, when it is repeated.
    Changes,
    /// One more, when it is repeated.
    Adds,
}

/// One call, as its host names it, where it does.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Option<ToolUseId>,
    pub(super) tool: &'static str,
    /// What the session is confined to, and so whatever runs for it.
    pub(super) sandbox: Option<Sandbox>,
}

impl Call {
    pub(super) fn list(&self) -> Result<TaskList, CommandError> {
        let mut list = here::task_list_of_call(self.id.as_ref(), self.tool)?;
        list.follow(COMMAND);
        Ok(list)
    }
}

/// What a call says. The hosts show the model structured content instead of the text beside it, so the text of a
/// change stands alone.
#[derive(Debug)]
pub(super) enum Said {
    Text(String),
    Json(Value),
    /// For hosts that show the one, and for hosts that show the other.
    Both {
        text: String,
        json: Value,
    },
}

impl Said {
    /// What changed, which is told to the list that the tasks are kept in, and what there is to say of that.
    pub(super) fn changed(mut list: TaskList, text: String) -> Self {
        list.tell_tracker();
        Self::Text(list.take_lines().iter().fold(text, |text, line| format!("{text}\n{line}")))
    }

    pub(super) fn tasks(list: &TaskList, tasks: &[Task]) -> Result<Self, CommandError> {
        report::tasks_json(list, tasks).map(Self::Json)
    }
}

impl Tool {
    pub(super) fn describe(&self) -> Value {
        // All of them are said: what a tool does not deny Codex takes for true, and then asks a human before each call,
        // or refuses it where there is none.
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": Parameter::schema(self.takes),
            "annotations": {
                "readOnlyHint": self.effect == Effect::Reads,
                "destructiveHint": false,
                "idempotentHint": self.effect != Effect::Adds,
                "openWorldHint": false,
            },
        })
    }

    /// The result of a call, for the model to read also where it failed.
    pub(super) fn call(&self, given: Map<String, Value>, call: &Call) -> Value {
        let content = |text: String| json!([{"type": "text", "text": text}]);
        match Arguments::new(given, self.takes).and_then(|given| (self.run)(call, given)) {
            Ok(Said::Text(text)) => json!({"content": content(text)}),
            Ok(Said::Json(json)) => json!({"content": content(json.to_string()), "structuredContent": json}),
            Ok(Said::Both { text, json }) => json!({"content": content(text), "structuredContent": json}),
            Err(error) => json!({"content": content(error.to_string()), "isError": true}),
        }
    }
}
