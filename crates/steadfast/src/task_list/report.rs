//! What a change of a task reads like, and a task as JSON.

use serde_json::{Value, json};
use steadfast_model::{Check, CheckEnd, Evidence, EvidenceClass, Fact, PlanView, Status, Task, TaskType};
use steadfast_store::ledger::Changed;

use super::closing::Closing;
use super::{TaskList, files, one_line, word};
use crate::error::CommandError;
use crate::surroundings;
use crate::when::ago;

/// How much of a check's output an agent is shown.
const SHOWN_LINES: usize = 30;

impl TaskList {
    /// One line for the task, one for what is left: the agent that changed it reads this.
    pub(crate) fn report(&self, changed: &Changed) -> Result<String, CommandError> {
        let Changed { task, .. } = changed;
        Ok(format!("{} {}: {}{}", task.id, task.title, word(task.status), self.left(task)?))
    }

    /// The same of a task that was to be closed. What is not closed is an error: `done && commit` must not go on.
    pub(crate) fn report_closing(&self, closing: &Closing) -> Result<String, CommandError> {
        match closing {
            Closing::Done { changed, evidence } => {
                let Changed { task, .. } = changed;
                let by = evidence.as_ref().map(|evidence| format!(" ({})", basis(evidence))).unwrap_or_default();
                Ok(format!("{} {}: done{by}{}", task.id, task.title, self.left(task)?))
            }
            Closing::Failed { task, evidence, same } => Err(failure(task, evidence, *same)),
            Closing::Running { task, since } => {
                let command = task.verify.as_ref().and_then(Check::as_command).unwrap_or_default();
                Err(CommandError::failure(format!(
                    "running: task `{}` is open until its check `{}` is through; it was started {}",
                    task.id,
                    short(command),
                    ago(surroundings::now(), *since)
                ))
                .hint(format!("`steadfast task wait {}` waits for it", task.id)))
            }
        }
    }

    fn left(&self, task: &Task) -> Result<String, CommandError> {
        let Some(PlanView { counts, open, .. }) = self.view()? else { return Ok(String::new()) };
        let (done, all) = (counts.done, counts.all());
        let mut text = format!("\n{done} of {all} tasks done, {} open, {} blocked.", counts.open(), counts.blocked);
        if let Some(next) = open.first().filter(|next| next.id != task.id) {
            text += &format!(" Next is {} {}.", next.id, next.title);
        }
        Ok(text)
    }

    /// What is known of a task beside its line.
    pub(crate) fn details(&self, task: &Task) -> Result<Vec<String>, CommandError> {
        let mut lines = Vec::new();
        if let Some(check) = &task.verify {
            lines.push(format!("done when: {}", check.describe()));
            lines.extend(check.criteria().map(|criteria| format!("to be seen: {criteria}")));
        }
        for note in task.notes.iter().flat_map(|notes| notes.lines()) {
            lines.push(format!("note: {note}"));
        }
        let tags = self.tags(task)?;
        if !tags.is_empty() {
            lines.push(format!("tags: {}", tags.join(", ")));
        }
        if !task.status.is_closed()
            && let Some(last) = self.ledger.evidence_of(&task.plan, &task.id)?.pop().filter(|last| !last.passed)
        {
            let times = if task.stuck_count == 1 { "once".to_owned() } else { format!("{} times", task.stuck_count) };
            lines.push(format!("failed {times}, last {}: {}", ago(surroundings::now(), last.at), how(&last)));
        }
        Ok(lines)
    }

    /// Tasks in the shape that `task list --json` and the MCP tools share.
    pub(crate) fn to_json(&self, tasks: &[Task]) -> Result<Value, CommandError> {
        let closed: Vec<&Task> = tasks.iter().filter(|task| task.status == Status::Done).collect();
        let (evidence, elsewhere) = match tasks.first() {
            Some(first) => (self.ledger.evidence(&first.plan)?, self.elsewhere(&first.plan)?),
            None => Default::default(),
        };
        let mut paths: Vec<String> = closed
            .iter()
            .filter_map(|task| evidence.get(&task.id))
            .flat_map(|evidence| evidence.files.keys().cloned())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        let now = files::ids(&self.repository.place.root, &paths, files::A_LISTING);
        let tasks = tasks
            .iter()
            .map(|task| {
                let evidence = evidence.get(&task.id).map(|evidence| {
                    let on = elsewhere.tasks.contains(&task.id).then_some(&elsewhere.branch);
                    let is_here = task.status == Status::Done && on.is_none();
                    let stale = is_here.then(|| is_stale(evidence, &now)).flatten();
                    json!({
                        "class": evidence.class,
                        "passed": evidence.passed,
                        "exit": evidence.end.exit(),
                        "at": evidence.at,
                        "stale": stale,
                        "branch": on,
                        "tree": evidence.tree,
                        "note": evidence.note,
                    })
                });
                Ok(json!({
                    "id": task.id,
                    "title": task.title,
                    "kind": task.kind,
                    "type": task.task_type.map(TaskType::as_str),
                    "phase": task.phase,
                    "status": task.status,
                    "files": task.files,
                    "notes": task.notes,
                    "verify": task.verify.as_ref().and_then(Check::as_command),
                    "check": task.verify.as_ref().map(Check::as_str),
                    "blocked_by": task.blocked_by,
                    "stuck_count": task.stuck_count,
                    "tags": self.tags(task)?,
                    "evidence": evidence,
                }))
            })
            .collect::<Result<Vec<Value>, CommandError>>()?;
        Ok(json!({ "tasks": tasks }))
    }

    /// Which of these tasks rest on evidence whose files changed since.
    pub(crate) fn evidence_words(&self, tasks: &[Task]) -> Result<Vec<Option<String>>, CommandError> {
        let Value::Object(all) = self.to_json(tasks)? else { return Ok(Vec::new()) };
        let words = |task: &Value| {
            let evidence = task.get("evidence").filter(|evidence| !evidence.is_null())?;
            let class = evidence.get("class")?.as_str()?;
            let stale = evidence.get("stale").and_then(Value::as_bool) == Some(true);
            let passed = evidence.get("passed").and_then(Value::as_bool) == Some(true);
            Some(match (passed, stale) {
                (false, _) => "check failed".to_owned(),
                (true, true) => format!("{class}, stale: its files changed since"),
                (true, false) => match evidence.get("branch").and_then(Value::as_str) {
                    Some(branch) => format!("{class}, on {branch}"),
                    None => class.to_owned(),
                },
            })
        };
        Ok(all["tasks"].as_array().map(|tasks| tasks.iter().map(words).collect()).unwrap_or_default())
    }
}

/// `None`: not known.
fn is_stale(evidence: &Evidence, now: &Fact<files::Ids>) -> Option<bool> {
    if evidence.files.is_empty() {
        return Some(false);
    }
    match now {
        Fact::Known(now) => Some(evidence.files.iter().any(|(path, id)| now.get(path).cloned().flatten() != *id)),
        Fact::Unknown(_) | Fact::NotAsked => None,
    }
}

/// What a closed task rests on, in a few words.
fn basis(evidence: &Evidence) -> String {
    match (evidence.class, &evidence.command, evidence.seconds) {
        (EvidenceClass::Executed, Some(command), Some(seconds)) => {
            let note = evidence.note.as_deref().map(|note| format!("; {note}")).unwrap_or_default();
            format!("`{}` passed in {seconds:.1} s{note}", short(command))
        }
        (EvidenceClass::Claimed, Some(command), _) => {
            let note = evidence.note.as_deref().map(|note| format!("; {note}")).unwrap_or_default();
            format!("claimed: `{}` ran{note}", short(command))
        }
        (class, ..) => {
            let note = evidence.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            format!("{}{note}", class.as_str())
        }
    }
}

/// A check may be a whole script.
fn short(command: &str) -> String {
    const LONGEST: usize = 80;
    let line = one_line(command);
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST - 1).chain(['…']).collect() }
}

/// How a check that did not pass ended.
pub(crate) fn how(evidence: &Evidence) -> String {
    let command = evidence.command.as_deref().map(|command| format!("`{}` ", short(command))).unwrap_or_default();
    let how = match evidence.end {
        CheckEnd::Exited(code) => format!("{command}exited with {code}"),
        CheckEnd::Signalled(signal) => format!("{command}was ended by signal {signal}"),
        CheckEnd::TimedOut => format!("{command}ran into its time limit"),
        CheckEnd::NotStarted => format!("{command}could not be started"),
        CheckEnd::Lost => format!("{command}did not get to its end"),
        CheckEnd::Unsettled => format!("{command}changes the task's files each time it runs"),
        CheckEnd::Redefined => format!("{command}is not what it was when the plan was loaded"),
        CheckEnd::Looked => String::new(),
    };
    let note = match evidence.note.as_deref() {
        Some(note) if how.is_empty() => note.to_owned(),
        Some(note) => format!(" ({note})"),
        None => String::new(),
    };
    format!("{how}{note}")
}

fn failure(task: &Task, evidence: &Evidence, same: u32) -> CommandError {
    let times = match same {
        0..3 => String::new(),
        times => format!("; {times} times in the same way"),
    };
    let mut message = format!("task `{}` stays open: {}{times}", task.id, how(evidence));
    if let Some(tail) = evidence.output_tail.as_deref().filter(|tail| !tail.trim().is_empty()) {
        let lines: Vec<&str> = tail.trim_end().lines().collect();
        let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        message += "\n  the end of its output:";
        for line in shown {
            message += format!("\n    {line}").trim_end_matches(' ');
        }
    }
    let (id, error) = (&task.id, CommandError::failure(message));
    let error = match evidence.end {
        CheckEnd::NotStarted => error.hint(format!("a human can run it in a terminal: `steadfast task done {id}`")),
        _ if same < 3 => error.hint(format!("`steadfast task done {id}` checks it again")),
        _ => error,
    };
    if same < 3 {
        return error;
    }
    error.hint(format!(
        "trying the same again changes nothing: another way, or `steadfast task block {id} --why REASON`"
    ))
}
