//! A SPEC.json.

use serde_json::{Map, Value, json};
use steadfast_model::{Status, TaskType};

use super::{Item, List};

pub(super) fn write(list: &List<'_>) -> String {
    let plan = list.plan;
    let mut spec = Map::new();
    spec.insert("feature".into(), json!(plan.feature));
    let lines = |lines: &[String]| (!lines.is_empty()).then(|| json!(lines));
    for (key, value) in [
        ("description", plan.description.as_ref().map(|text| json!(text))),
        ("completion_promise", plan.promise.as_ref().map(|text| json!(text))),
        ("constraints", lines(&plan.constraints)),
        ("success_criteria", lines(&plan.criteria)),
        ("decisions", (!list.decides).then(|| json!(false))),
    ] {
        if let Some(value) = value {
            spec.insert(key.into(), value);
        }
    }
    let phases = list.by_phase().into_iter().map(|(group, items)| {
        let mut phase = Map::new();
        phase.insert("id".into(), json!(group.id));
        phase.insert("name".into(), json!(group.name));
        if list.decides {
            phase.insert("depends_on".into(), json!(list.phases.get(group.id.as_str()).cloned().unwrap_or_default()));
        }
        phase.insert("tasks".into(), items.into_iter().map(task).collect());
        Value::Object(phase)
    });
    spec.insert("phases".into(), phases.collect());
    let text = serde_json::to_string_pretty(&spec).unwrap_or_default();
    text + "\n"
}

fn task(item: &Item<'_>) -> Value {
    let mut task = Map::new();
    let of = item.task;
    task.insert("id".into(), json!(of.id));
    task.insert("task".into(), json!(of.title));
    let verification = match (item.command, item.criteria) {
        (None, None) => None,
        (Some(command), None) => Some(json!({"command": command})),
        (None, Some(criteria)) => Some(json!({"success_criteria": criteria})),
        (Some(command), Some(criteria)) => Some(json!({"command": command, "success_criteria": criteria})),
    };
    let status = match (item.status, item.reason) {
        (Status::Pending, _) => None,
        (status, None) => Some(json!(status.as_str())),
        (status, Some(reason)) => Some(json!(format!("{}: {reason}", status.as_str()))),
    };
    for (key, value) in [
        ("type", of.task_type.map(TaskType::as_str).map(|name| json!(name))),
        ("files", (!of.files.is_empty()).then(|| json!(of.files))),
        ("notes", of.notes.as_ref().map(|notes| json!(notes))),
        ("verification", verification),
        ("depends_on", (!item.after.is_empty()).then(|| json!(item.after))),
        ("status", status),
    ] {
        if let Some(value) = value {
            task.insert(key.into(), value);
        }
    }
    Value::Object(task)
}
