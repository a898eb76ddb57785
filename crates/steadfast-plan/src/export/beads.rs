//! An issue a line, in the order of the plan.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};
use steadfast_model::{Status, TaskType};

use super::{Item, List};

pub(super) fn write(list: &List<'_>, at: &str) -> String {
    let wholes = wholes(list);
    let lines = list.tasks.iter().map(|item| issue(item, &wholes, at).to_string() + "\n");
    lines.collect()
}

/// The whole that a dotted id is a part of, where beads would say nothing else by that: the whole waits for the part,
/// and the part waits already for what the whole waits for.
fn wholes<'a>(list: &'a List<'_>) -> HashMap<&'a str, &'a str> {
    let by_id: HashMap<&str, BTreeSet<&str>> = list
        .tasks
        .iter()
        .map(|item| (item.task.id.as_str(), item.after_all.iter().copied().collect()))
        .collect();
    let part_of = |id: &'a str| {
        let (whole, _) = id.rsplit_once('.')?;
        by_id.get(whole)?.contains(id).then_some(whole)
    };
    let parts: HashMap<&str, &str> = by_id.keys().filter_map(|id| Some((*id, part_of(id)?))).collect();
    let is_plain = |part: &str, whole: &str| {
        let others = by_id[whole].iter().filter(|before| parts.get(*before) != Some(&whole));
        others.into_iter().all(|before| by_id[part].contains(before))
    };
    parts.iter().filter(|(part, whole)| is_plain(part, whole)).map(|(part, whole)| (*part, *whole)).collect()
}

fn issue(item: &Item<'_>, wholes: &HashMap<&str, &str>, at: &str) -> Value {
    let of = item.task;
    let id = of.id.as_str();
    let mut issue = Map::new();
    let mut put = |key: &str, value: Value| issue.insert(key.to_owned(), value);
    put("id", json!(id));
    put("title", json!(of.title));
    put("description", json!(of.notes.as_deref().unwrap_or_default()));
    put("status", json!(status(item.status)));
    put("priority", json!(2));
    put("issue_type", json!(if wholes.values().any(|whole| *whole == id) { "epic" } else { "task" }));
    put("created_at", json!(at));
    put("updated_at", json!(at));
    if item.status == Status::Done {
        put("closed_at", json!(at));
        put("close_reason", json!(item.reason.unwrap_or("done")));
    }
    if let Some(criteria) = item.criteria {
        put("acceptance_criteria", json!(criteria));
    }
    if let Some(reason) = item.reason.filter(|_| item.status == Status::Blocked) {
        put("notes", json!(format!("blocked: {reason}")));
    }
    let before = item.after_all.iter().filter(|before| wholes.get(*before) != Some(&id));
    let mut dependencies: Vec<Value> =
        before.map(|before| json!({"issue_id": id, "depends_on_id": before, "type": "blocks"})).collect();
    if let Some(whole) = wholes.get(id) {
        dependencies.push(json!({"issue_id": id, "depends_on_id": whole, "type": "parent-child"}));
    }
    if !dependencies.is_empty() {
        put("dependencies", json!(dependencies));
    }
    if of.task_type.is_some() || item.command.is_some() || !of.files.is_empty() {
        let ours = json!({"type": of.task_type.map(TaskType::as_str), "verify": item.command, "files": of.files});
        put("metadata", json!({"steadfast": ours}));
    }
    Value::Object(issue)
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Pending => "open",
        Status::InProgress => "in_progress",
        Status::Done => "closed",
        Status::Blocked => "blocked",
    }
}
