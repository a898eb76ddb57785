//! The format SPEC.json.

use serde::Serialize;
use steadfast_model::{Status, TaskType};

use super::{Item, List};

#[derive(Serialize)]
struct Spec<'a> {
    feature: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_promise: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    constraints: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    success_criteria: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<bool>,
    phases: Vec<Phase<'a>>,
}

#[derive(Serialize)]
struct Phase<'a> {
    id: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends_on: Option<Vec<&'a str>>,
    tasks: Vec<Task<'a>>,
}

#[derive(Serialize)]
struct Task<'a> {
    id: &'a str,
    task: &'a str,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    task_type: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    depends_on: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
}

#[derive(Serialize)]
struct Verification<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    success_criteria: Option<&'a str>,
}

pub(super) fn write(list: &List<'_>) -> String {
    let plan = list.plan;
    let groups = list.by_phase();
    let phases = groups.iter().map(|(group, items)| {
        let before = list.phases.get(group.id.as_str()).cloned().unwrap_or_default();
        Phase {
            id: group.id.clone(),
            name: group.name,
            depends_on: list.decides.then_some(before),
            tasks: items.iter().map(|item| task(item, list.estimate(item))).collect(),
        }
    });
    let spec = Spec {
        feature: &plan.feature,
        description: plan.description.as_deref(),
        completion_promise: plan.promise.as_deref(),
        constraints: &plan.constraints,
        success_criteria: &plan.criteria,
        decisions: (!list.decides).then_some(false),
        phases: phases.collect(),
    };
    serde_json::to_string_pretty(&spec).unwrap_or_default() + "\n"
}

fn task<'a>(item: &'a Item<'a>, estimate: Option<String>) -> Task<'a> {
    let of = item.task;
    let checked = item.command.is_some() || item.criteria.is_some();
    Task {
        id: of.id.as_str(),
        task: &of.title,
        task_type: of.task_type.map(TaskType::as_str),
        files: &of.files,
        notes: of.notes.as_deref(),
        verification: checked.then_some(Verification { command: item.command, success_criteria: item.criteria }),
        depends_on: &item.after,
        estimate,
        status: match (item.status, item.reason) {
            (Status::Pending, _) => None,
            (status, None) => Some(status.as_str().to_owned()),
            (status, Some(reason)) => Some(format!("{}: {reason}", status.as_str())),
        },
    }
}
