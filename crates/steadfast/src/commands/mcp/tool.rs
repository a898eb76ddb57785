use serde_json::{Map, Value, json};
use steadfast_hosts::Sandbox;
use steadfast_model::{Task, ToolUseId};
use steadfast_work::task_list::TaskList;
use steadfast_work::tracker::COMMAND;

use super::arguments::{Arguments, Parameter};
use crate::error::CommandError;
use crate::here;
use crate::report;

/// A tool for agents.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) effect: Effect,
    pub(super) takes: &'static [Parameter],
    pub(super) run: fn(&Call, Arguments) -> Result<ToolOutput, CommandError>,
}

/// The effect of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// No change.
    Reads,
    /// A repeated call changes nothing more.
    Changes,
    /// A repeated call adds another entry.
    Adds,
}

/// A call, with the id that its host gave it, if any.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Option<ToolUseId>,
    pub(super) tool: &'static str,
    /// The sandbox of the session, which also applies to the checks that it starts.
    pub(super) sandbox: Option<Sandbox>,
}

impl Call {
    pub(super) fn list(&self) -> Result<TaskList, CommandError> {
        let mut list = here::task_list_of_call(self.id.as_ref(), self.tool)?;
        list.follow(COMMAND);
        Ok(list)
    }
}

/// The result of a call. If there is structured content, the hosts show it to the model instead of the text, so a change
/// returns text only.
#[derive(Debug)]
pub(super) enum ToolOutput {
    Text(String),
    Json(Value),
    /// For hosts that show the text, and for hosts that show the JSON.
    Both {
        text: String,
        json: Value,
    },
}

impl ToolOutput {
    /// Reports the change to the tracker, and returns its text with the messages of the tracker.
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
        // All hints are stated: Codex takes a missing one for true. Then it asks a human before each call, or refuses the
        // call if there is none.
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

    /// Runs the tool. An error is a result, too, so that the model reads it.
    pub(super) fn call(&self, given: Map<String, Value>, call: &Call) -> Value {
        let content = |text: String| json!([{"type": "text", "text": text}]);
        match Arguments::new(given, self.takes).and_then(|given| (self.run)(call, given)) {
            Ok(ToolOutput::Text(text)) => json!({"content": content(text)}),
            Ok(ToolOutput::Json(json)) => json!({"content": content(json.to_string()), "structuredContent": json}),
            Ok(ToolOutput::Both { text, json }) => json!({"content": content(text), "structuredContent": json}),
            Err(error) => json!({"content": content(error.to_string()), "isError": true}),
        }
    }
}
