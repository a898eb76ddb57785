//! The tools, each the command of that name: what it is called, what it takes, what it does. This table is all there is
//! to one.

use std::path::Path;

use steadfast_work::task_list::Proposal;
use steadfast_work::why::Explained;

use super::arguments::{Arguments, Parameter};
use super::tool::{Call, Effect, Said, Tool};
use crate::commands::task::{Add, Done, Patience, Task};
use crate::commands::{plan, why};
use crate::error::CommandError;
use crate::report;

const ID: Parameter = Parameter::text("id", "The task's id, like 2 or 2.1.");

pub(super) static TOOLS: [Tool; 14] = [
    Tool {
        name: "task_list",
        about: "Lists all tasks of this worktree with their status.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let list = call.list()?;
            Said::tasks(&list, &list.all()?)
        },
    },
    Tool {
        name: "task_ready",
        about: "Lists the tasks that can be started now.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let list = call.list()?;
            Said::tasks(&list, &list.ready()?)
        },
    },
    Tool {
        name: "task_next",
        about: "Shows the task in progress, else the first that can be started.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let list = call.list()?;
            Said::tasks(&list, list.next()?.as_slice())
        },
    },
    Tool {
        name: "task_add",
        about: "Adds a task to the list of this worktree.",
        effect: Effect::Adds,
        takes: &[
            Parameter::text("title", "What is to be done, in one line."),
            Parameter::texts("files", "The files it is about."),
            Parameter::texts("after", "Ids of tasks that have to be done before it."),
            Parameter::maybe_text("verify", "The command that proves it done."),
        ],
        run: |call, mut given| {
            let (title, verify) = (given.text("title")?, given.maybe_text("verify")?);
            let (files, after) = (given.texts("files")?, given.texts("after")?);
            change(call, Task::Add(Add { title, files, after, verify, ..Add::default() }))
        },
    },
    Tool {
        name: "task_start",
        about: "Starts a task; this session works on the list from then on.",
        effect: Effect::Changes,
        takes: &[ID],
        run: |call, mut given| change(call, Task::Start { id: given.text("id")? }),
    },
    Tool {
        name: "task_done",
        about: "Closes a task: its check is run, and it is closed when that passes. Says what is left.",
        effect: Effect::Changes,
        takes: &[ID, Parameter::maybe_text("artifact", "A picture that shows it, where that is its check.")],
        run: |call, mut given| {
            let (id, artifact) = (given.text("id")?, given.maybe_text("artifact")?.map(Into::into));
            change(call, Task::Done(Done { id, artifact, ..Done::default() }))
        },
    },
    Tool {
        name: "task_check",
        about: "Runs the check of every done task whose files changed since, each distinct check once.",
        effect: Effect::Changes,
        takes: &[],
        run: |call, _| change(call, Task::Check { patience: Patience::default() }),
    },
    Tool {
        name: "task_wait",
        about: "Waits for the check of a task that runs.",
        effect: Effect::Changes,
        takes: &[ID],
        run: |call, mut given| change(call, Task::Wait { id: given.text("id")?, patience: Patience::default() }),
    },
    Tool {
        name: "task_note",
        about: "Adds a line to what is known of a task.",
        effect: Effect::Adds,
        takes: &[ID, Parameter::text("text", "What is to be known, in one line.")],
        run: |call, mut given| change(call, Task::Note { id: given.text("id")?, text: given.text("text")? }),
    },
    Tool {
        name: "task_block",
        about: "Sets a task aside that cannot go on. Only a human puts it back.",
        effect: Effect::Changes,
        takes: &[ID, Parameter::text("why", "What stands in the way.")],
        run: |call, mut given| change(call, Task::Block { id: given.text("id")?, why: given.text("why")? }),
    },
    Tool {
        name: "decide",
        about: "Writes down a decision, and why: it outlives the conversation.",
        effect: Effect::Adds,
        takes: &[
            Parameter::text("text", "What was decided, in one line."),
            Parameter::text("why", "Why, in one line."),
        ],
        run: |call, mut given| {
            let (text, why) = (given.text("text")?, given.text("why")?);
            Ok(Said::Text(call.list()?.decide(&text, &why)?))
        },
    },
    Tool {
        name: "plan_propose",
        about: "Keeps a draft of a plan for the human to read, and closes the plan gate until they said yes or no.",
        effect: Effect::Changes,
        takes: &[
            Parameter::text("text", "The spec, as SPEC.md or SPEC.json."),
            Parameter::maybe_text("path", "Where it is written once it is approved, from the root of the checkout."),
        ],
        run: propose,
    },
    Tool {
        name: "plan_status",
        about: "Shows how far the plan of this worktree is, whether it is approved, and whether the plan gate is closed.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| Ok(Said::Json(report::position_json(&call.list()?.position()?))),
    },
    Tool {
        name: "why",
        about: "Explains the last refusal of this session: what was refused, what has changed since, what to do next.",
        effect: Effect::Reads,
        takes: &[],
        run: |call, _| {
            let Explained { text, json } = why::of_tool_call(call.id.as_ref(), call.tool)?;
            // Structured content is an object, and nothing is none.
            Ok(if json.is_null() { Said::Text(text) } else { Said::Both { text, json } })
        },
    },
];

fn propose(call: &Call, mut given: Arguments) -> Result<Said, CommandError> {
    let (text, path) = (given.text("text")?, given.maybe_text("path")?);
    let proposal = Proposal { text, file: Path::new("-"), path: path.as_deref() };
    let proposed = call.list()?.propose(proposal)?;
    let warnings = proposed.warnings.iter().map(|warning| format!("\nwarning: {warning}"));
    Ok(Said::Text(warnings.fold(plan::proposed(&proposed), |text, warning| text + &warning)))
}

/// Does what the command of that name does.
fn change(call: &Call, task: Task) -> Result<Said, CommandError> {
    let mut list = call.list()?;
    let text = task.perform(&mut list, call.sandbox.clone())?;
    Ok(Said::changed(list, text))
}
