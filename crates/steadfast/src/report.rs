//! Reports about changed tasks as text, and tasks as JSON.

mod card;
mod draft;
mod problems;
mod rechecked;
mod summary;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use steadfast_model::{
    Check, CheckEnd, Evidence, EvidenceClass, PlanView, Status, Task, TaskId, TaskKind, TaskType, is_link,
};
use steadfast_redact::contains_secret;
use steadfast_store::ledger::Changed;
use steadfast_text::ago;
use steadfast_work::TaskList;
use steadfast_work::task_list::{CloseOutcome, Position, Proof, how, short, word};

pub(crate) use card::card;
pub(crate) use draft::{granted, rendered};
pub(crate) use problems::problems;
pub(crate) use rechecked::rechecked;
pub(crate) use summary::{Summary, summary};

use crate::environment;
use crate::error::CommandError;
use crate::recalled;
use crate::terminal;

/// Lines of a check's output that an agent sees.
const SHOWN_LINES: usize = 30;

pub(crate) fn added(task: &Task) -> String {
    let Task { id, title, .. } = task;
    let mut line = match task.status {
        Status::Blocked => format!("{id} {title}: blocked until a human approves it (`steadfast task unblock {id}`)"),
        Status::Pending | Status::InProgress | Status::Done => format!("{id} {title}"),
    };
    if task.verify.as_ref().and_then(Check::as_command).is_some_and(contains_secret) {
        line.push_str(
            "\nIts check contains a secret, and is stored unchanged. Read the secret from the environment or a file.",
        );
    }
    line
}

/// The box before a task in a list: `[x]`.
pub(crate) fn mark(status: Status) -> String {
    match status {
        Status::Done => terminal::good("[x]"),
        Status::InProgress => terminal::strong("[>]"),
        Status::Blocked => terminal::warning("[!]"),
        Status::Pending => "[ ]".to_owned(),
    }
}

/// The state of a task, in its colour.
pub(crate) fn state(status: Status) -> String {
    let paint = match status {
        Status::Done => terminal::good,
        Status::InProgress => terminal::strong,
        Status::Blocked => terminal::warning,
        Status::Pending => return word(status).to_owned(),
    };
    paint(word(status))
}

/// One line for the task and one for the remaining tasks, for the agent that changed it.
pub(crate) fn changed(list: &TaskList, changed: &Changed) -> Result<String, CommandError> {
    let Changed { task, .. } = changed;
    Ok(format!("{} {}: {}{}", task.id, task.title, word(task.status), left(list, task)?))
}

/// The same for a started task, with memories of related work.
pub(crate) fn started(list: &TaskList, start: &Changed) -> Result<String, CommandError> {
    let mut text = changed(list, start)?;
    if start.from != Status::InProgress {
        let now = environment::now();
        for recalled in list.related(&start.task) {
            text += "\n";
            text += &recalled::line(&recalled, now);
        }
    }
    Ok(text)
}

/// The same for a task to close. A task that stays open is an error: `done && commit` must not commit.
pub(crate) fn closing(list: &TaskList, closing: &CloseOutcome) -> Result<String, CommandError> {
    match closing {
        CloseOutcome::Done { changed, evidence } => {
            let Changed { task, .. } = changed;
            let by = evidence.as_ref().map(|evidence| format!(" ({})", basis(evidence))).unwrap_or_default();
            Ok(format!("{} {}: done{by}{}", task.id, task.title, left(list, task)?))
        }
        CloseOutcome::Failed { task, evidence, same } => Err(failure(task, evidence, *same)),
        CloseOutcome::Running { task, since } => {
            let command = task.verify.as_ref().and_then(Check::as_command).unwrap_or_default();
            Err(CommandError::failure(format!(
                "running: task `{}` stays open until its check `{}` ends; the check was started {}",
                task.id,
                short(command),
                ago(environment::now().since(*since))
            ))
            .hint(format!("`steadfast task wait {}` waits for it", task.id)))
        }
    }
}

fn left(list: &TaskList, task: &Task) -> Result<String, CommandError> {
    let Some(PlanView { counts, open, .. }) = list.view()? else { return Ok(String::new()) };
    let (done, all) = (counts.done, counts.all());
    let mut text = format!("\n{done} of {all} tasks done, {} open, {} blocked.", counts.open(), counts.blocked);
    if let Some(next) = open.first().filter(|next| next.id != task.id) {
        text += &format!(" Next is {} {}.", next.id, next.title);
    }
    Ok(text)
}

/// The details of a task below its line.
pub(crate) fn details(list: &TaskList, task: &Task) -> Result<Vec<String>, CommandError> {
    let mut lines = Vec::new();
    if let Some(check) = &task.verify {
        let own = check_behind(&list.ledger().tasks(&task.plan)?, task);
        let own = own.map(|(link, command)| format!(", and `{command}` exits with 0 ({link})")).unwrap_or_default();
        lines.push(format!("done when: {}{own}", check.describe()));
        lines.extend(check.criteria().map(|criteria| format!("must show: {criteria}")));
    }
    for note in task.notes.iter().flat_map(|notes| notes.lines()) {
        lines.push(format!("note: {note}"));
    }
    let tags = list.tags(task)?;
    if !tags.is_empty() {
        lines.push(format!("tags: {}", tags.join(", ")));
    }
    let times = if task.stuck_count == 1 { "once".to_owned() } else { format!("{} times", task.stuck_count) };
    if !task.status.is_closed()
        && let Some(last) = list.ledger().evidence_of(&task.plan, &task.id)?.pop().filter(|last| !last.passed)
    {
        lines.push(format!("failed {times}, last {}: {}", ago(environment::now().since(last.at)), how(&last)));
    } else if !task.status.is_closed() && task.stuck_count > 0 {
        // The runner gave up, or stopped at a checkpoint: there is no failed check to show.
        lines.push(format!("stuck {times}"));
    }
    Ok(lines)
}

/// The authored check of a task that a generated task runs: the id of the generated task, and the command.
fn check_behind(tasks: &[Task], task: &Task) -> Option<(TaskId, String)> {
    if task.kind != TaskKind::Main || task.verify.as_ref().and_then(Check::as_command).is_some() {
        return None;
    }
    let link = tasks.iter().find(|other| other.kind == TaskKind::Post && is_link(&other.id, &task.id))?;
    Some((link.id.clone(), link.verify.as_ref()?.as_command()?.to_owned()))
}

/// Tasks in the shape that `task list --json` and the MCP tools share.
pub(crate) fn tasks_json(list: &TaskList, tasks: &[Task]) -> Result<Value, CommandError> {
    let mut shown = Vec::with_capacity(tasks.len());
    // `tasks` may be a part of the plan without the generated tasks.
    let links: BTreeMap<TaskId, Task> = match tasks.first() {
        Some(first) => list.ledger().tasks(&first.plan)?,
        None => Vec::new(),
    }
    .into_iter()
    .filter(|task| task.kind == TaskKind::Post)
    .map(|task| (task.id.clone(), task))
    .collect();
    for (task, proof) in tasks.iter().zip(list.proofs(tasks)?) {
        let near: Vec<Task> = ["a", "b"]
            .iter()
            .filter_map(|link| links.get(&TaskId::new(format!("{}{link}", task.id))).cloned())
            .collect();
        let own = check_behind(&near, task);
        shown.push(json!({
            "id": task.id,
            "title": task.title,
            "kind": task.kind,
            "type": task.task_type.map(TaskType::as_str),
            "phase": task.phase,
            "status": task.status,
            "files": task.files,
            "notes": task.notes,
            "verify": task.verify.as_ref().and_then(Check::as_command).or(own.as_ref().map(|(_, command)| command.as_str())),
            "verified_by": own.as_ref().map(|(link, _)| link),
            "check": task.verify.as_ref().map(Check::as_str),
            "blocked_by": task.blocked_by,
            "stuck_count": task.stuck_count,
            "wave": task.wave,
            "tags": list.tags(task)?,
            "evidence": proof.as_ref().map(proof_json),
        }));
    }
    Ok(json!({ "tasks": shown }))
}

fn proof_json(Proof { evidence, stale, branch }: &Proof) -> Value {
    json!({
        "class": evidence.class,
        "passed": evidence.passed,
        "exit": evidence.end.exit(),
        "at": evidence.at,
        "stale": stale,
        "branch": branch,
        "tree": evidence.tree,
        "note": evidence.note,
    })
}

/// The evidence of each task in a few words.
pub(crate) fn evidence_words(list: &TaskList, tasks: &[Task]) -> Result<Vec<Option<String>>, CommandError> {
    let words = |Proof { evidence, stale, branch }: Proof| {
        let class = evidence.class.as_str();
        match (evidence.passed, stale, branch) {
            (false, Some(true), _) => "stale: its check failed later".to_owned(),
            (false, ..) => "check failed".to_owned(),
            (true, Some(true), _) => format!("{class}, stale: its files changed later"),
            (true, _, Some(branch)) => format!("{class}, on {branch}"),
            (true, _, None) => class.to_owned(),
        }
    };
    Ok(list.proofs(tasks)?.into_iter().map(|proof| proof.map(words)).collect())
}

/// In the shape that `plan status --json` and the MCP tool share.
pub(crate) fn position_json(position: &Position) -> Value {
    let Position { plan, hash, approval, counts, .. } = position;
    json!({
        "plan": plan.as_ref().map(|plan| &plan.id),
        "hash": hash,
        "approval": approval.as_str(),
        "gate": if position.is_locked() { "locked" } else { "open" },
        "open": counts.open(),
        "done": counts.done,
        "blocked": counts.blocked,
    })
}

/// The evidence of a closed task in a few words.
fn basis(evidence: &Evidence) -> String {
    let note = |before: &str| evidence.note.as_deref().map(|note| format!("{before}{note}")).unwrap_or_default();
    match (evidence.class, &evidence.command, evidence.seconds) {
        (EvidenceClass::Executed, Some(command), Some(seconds)) => {
            format!("`{}` passed in {seconds:.1} s{}", short(command), note("; "))
        }
        (EvidenceClass::Claimed, Some(command), _) => format!("claimed: `{}` ran{}", short(command), note("; ")),
        (class, ..) => format!("{}{}", class.as_str(), note(": ")),
    }
}

/// The last lines that a check printed.
fn end_of_output(evidence: &Evidence) -> String {
    let mut text = String::new();
    if let Some(tail) = evidence.output_tail.as_deref().filter(|tail| !tail.trim().is_empty()) {
        let lines: Vec<&str> = tail.trim_end().lines().collect();
        let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
        text += "\n  last lines of output:";
        for line in shown {
            text += format!("\n    {line}").trim_end_matches(' ');
        }
    }
    text
}

fn failure(task: &Task, evidence: &Evidence, same: u32) -> CommandError {
    let times = match same {
        0..3 => String::new(),
        times => format!("; the same failure {times} times"),
    };
    let mut message = format!("task `{}` stays open: {}{times}", task.id, how(evidence));
    message += &end_of_output(evidence);
    let (id, error) = (&task.id, CommandError::failure(message));
    let error = match evidence.end {
        CheckEnd::NotStarted => error.hint(format!("a human can run it in a terminal: `steadfast task done {id}`")),
        _ if same < 3 && matches!(task.verify, Some(Check::Artifact { .. })) => {
            error.hint(format!("`steadfast task done {id} --artifact FILE`, a screenshot taken after the change"))
        }
        _ if same < 3 => error.hint(format!("`steadfast task done {id}` runs the check again")),
        _ => error,
    };
    if same < 3 {
        return error;
    }
    error.hint(format!("try another way, or `steadfast task block {id} --why REASON`"))
}
