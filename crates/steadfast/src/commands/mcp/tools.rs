//! The table of tools. Each does the same as the command of its name.

use std::path::Path;

use steadfast_work::task_list::Proposal;
use steadfast_work::why::Explained;

use super::arguments::{Arguments, Parameter};
use super::tool::{Call, Effect, Tool, ToolOutput};
use crate::commands::task::{Add, Done, Patience, Task};
use crate::commands::{plan, why};
use crate::error::CommandError;
use crate::report;

const ID: Parameter = Parameter::text("id", "Task id, such as 2 or 2.1.");

pub(super) static TOOLS: [Tool; 14] = [
    Tool {
        name: "task_list",
        about: "List all tasks of this worktree with their status.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let list = call.list()?;
            ToolOutput::tasks(&list, &list.all()?)
        },
    },
    Tool {
        name: "task_ready",
        about: "List the tasks that can start now.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let list = call.list()?;
            ToolOutput::tasks(&list, &list.ready()?)
        },
    },
    Tool {
        name: "task_next",
        about: "Show the task in progress, else the first task that can start.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let list = call.list()?;
            ToolOutput::tasks(&list, list.next()?.as_slice())
        },
    },
    Tool {
        name: "task_add",
        about: "Add a task to the list of this worktree.",
        effect: Effect::Adds,
        takes: &[
            Parameter::text("title", "The task, in one line."),
            Parameter::texts("files", "Related files."),
            Parameter::texts("after", "Ids of tasks that must be done first."),
            Parameter::maybe_text("verify", "Command that proves the task done by exiting with 0."),
        ],
        run: |call, mut given| {
            let (title, verify) = (given.text("title")?, given.maybe_text("verify")?);
            let (files, after) = (given.texts("files")?, given.texts("after")?);
            change(call, Task::Add(Add { title, files, after, verify, ..Add::default() }))
        },
    },
    Tool {
        name: "task_start",
        about: "Start a task, and bind this session to the task list.",
        effect: Effect::Changes,
        takes: &[ID],
        run: |call, mut given| change(call, Task::Start { id: given.text("id")? }),
    },
    Tool {
        name: "task_done",
        about: "Run the check of a task, and close the task if the check passes. Reports the remaining tasks.",
        effect: Effect::Changes,
        takes: &[
            ID,
            Parameter::maybe_text(
                "artifact",
                "Path of a picture that proves the task done, if its check asks for one.",
            ),
        ],
        run: |call, mut given| {
            let (id, artifact) = (given.text("id")?, given.maybe_text("artifact")?.map(Into::into));
            change(call, Task::Done(Done { id, artifact, ..Done::default() }))
        },
    },
    Tool {
        name: "task_check",
        about: "Rerun each distinct check of the done tasks whose files changed.",
        effect: Effect::Changes,
        takes: &[],
        run: |call, _| change(call, Task::Check { patience: Patience::default() }),
    },
    Tool {
        name: "task_wait",
        about: "Wait for the running check of a task.",
        effect: Effect::Changes,
        takes: &[ID],
        run: |call, mut given| change(call, Task::Wait { id: given.text("id")?, patience: Patience::default() }),
    },
    Tool {
        name: "task_note",
        about: "Add a note to a task.",
        effect: Effect::Adds,
        takes: &[ID, Parameter::text("text", "The note, in one line.")],
        run: |call, mut given| change(call, Task::Note { id: given.text("id")?, text: given.text("text")? }),
    },
    Tool {
        name: "task_block",
        about: "Block a task that cannot continue. Only a human can unblock it.",
        effect: Effect::Changes,
        takes: &[ID, Parameter::text("why", "Reason for the block.")],
        run: |call, mut given| change(call, Task::Block { id: given.text("id")?, why: given.text("why")? }),
    },
    Tool {
        name: "decide",
        about: "Record a decision and its reason for later sessions.",
        effect: Effect::Adds,
        takes: &[
            Parameter::text("text", "The decision, in one line."),
            Parameter::text("why", "The reason, in one line."),
        ],
        run: |call, mut given| {
            let (text, why) = (given.text("text")?, given.text("why")?);
            Ok(ToolOutput::Text(call.list()?.decide(&text, &why)?))
        },
    },
    Tool {
        name: "plan_propose",
        about: "Store a draft of a plan for the human to approve, and close the plan gate until the human approves or rejects it.",
        effect: Effect::Changes,
        takes: &[
            Parameter::text("text", "The spec, as SPEC.md or SPEC.json."),
            Parameter::maybe_text("path", "Path for the plan after approval, relative to the root of the checkout."),
        ],
        run: propose,
    },
    Tool {
        name: "plan_status",
        about: "Show the progress and the approval of the plan of this worktree, and the state of the plan gate.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| Ok(ToolOutput::Json(report::position_json(&call.list()?.position()?))),
    },
    Tool {
        name: "why",
        about: "Explain the last refusal of this session: what was refused, what changed since then, and what to do next.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let Explained { text, json } = why::of_tool_call(call.id.as_ref(), call.tool)?;
            // Structured content must be an object; without a refusal there is only text.
            Ok(if json.is_null() { ToolOutput::Text(text) } else { ToolOutput::Both { text, json } })
        },
    },
];

fn propose(call: &Call, mut given: Arguments) -> Result<ToolOutput, CommandError> {
    let (text, path) = (given.text("text")?, given.maybe_text("path")?);
    let proposal = Proposal { text, file: Path::new("-"), path: path.as_deref() };
    let proposed = call.list()?.propose(proposal)?;
    let warnings = proposed.warnings.iter().map(|warning| format!("\nwarning: {warning}"));
    Ok(ToolOutput::Text(warnings.fold(plan::proposed(&proposed), |text, warning| text + &warning)))
}

/// Runs the `task` command of that name.
fn change(call: &Call, task: Task) -> Result<ToolOutput, CommandError> {
    let mut list = call.list()?;
    let performed = task.perform(&mut list, call.sandbox.clone())?;
    Ok(ToolOutput::changed(list, performed.text))
}
