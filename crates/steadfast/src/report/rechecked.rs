use steadfast_model::TaskId;
use steadfast_work::chain;
use steadfast_work::task_list::{Rechecked, how};

use super::end_of_output;
use crate::error::CommandError;

/// The results of `task check`. A task that is not done is an error: `check && commit` must not commit.
pub(crate) fn rechecked(all: &[Rechecked]) -> Result<String, CommandError> {
    if all.is_empty() {
        return Ok("no done task is stale".to_owned());
    }
    let lines: Vec<String> = all.iter().map(line).collect();
    let text = lines.join("\n");
    if all.iter().all(|one| matches!(one, Rechecked::Renewed { .. })) {
        return Ok(text);
    }
    let needs_human = all.iter().any(|one| matches!(one, Rechecked::Refused { .. }));
    let error = if needs_human { CommandError::needs_human(text) } else { CommandError::failure(text) };
    Err(all.iter().filter_map(hint).fold(error, CommandError::hint))
}

fn line(one: &Rechecked) -> String {
    match one {
        Rechecked::Renewed { what, tasks } => format!("{}: done ({what})", ids(tasks)),
        Rechecked::Reopened { tasks, evidence } => {
            let are = if tasks.len() == 1 { "is" } else { "are" };
            format!("{} {are} open again: {}{}", ids(tasks), how(evidence), end_of_output(evidence))
        }
        Rechecked::Running { tasks } => format!("{}: the check is still running", ids(tasks)),
        Rechecked::Refused { tasks, error } => format!("{}: {}", ids(tasks), chain(error)),
        Rechecked::NeedsArtifact(task) => format!("{task}: its files changed since the picture was taken"),
    }
}

fn hint(one: &Rechecked) -> Option<String> {
    match one {
        Rechecked::Renewed { .. } => None,
        Rechecked::Reopened { tasks, .. } => {
            let first = tasks.first()?;
            Some(format!("`steadfast task start {first}`, or `steadfast task block {first} --why REASON`"))
        }
        Rechecked::Running { tasks } => Some(format!("`steadfast task wait {}` waits for it", tasks.first()?)),
        Rechecked::Refused { tasks, .. } => {
            Some(format!("a human accepts it: `steadfast task done {} --accept-check`", tasks.first()?))
        }
        Rechecked::NeedsArtifact(task) => {
            Some(format!("`steadfast task done {task} --artifact FILE` with a new picture"))
        }
    }
}

fn ids(tasks: &[TaskId]) -> String {
    tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}
