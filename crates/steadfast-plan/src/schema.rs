//! The published schema of SPEC.json, for editors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A spec: the work to do, in phases of tasks, each with a check if it has one.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "SPEC.json", extend("additionalProperties" = false))]
#[expect(dead_code, reason = "only its shape is used")]
pub struct Spec {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// The feature to build, in a few words.
    feature: String,
    /// The purpose of the feature.
    description: Option<String>,
    /// The completion promise of this spec alone: the text of `<promise>…</promise>`.
    completion_promise: Option<String>,
    /// Free information for readers. `constraints`, `must_not` and `success_criteria` in it are read.
    context: Option<BTreeMap<String, Value>>,
    /// Things that must stay as they are.
    constraints: Option<Lines>,
    /// Things that must not happen.
    must_not: Option<Lines>,
    /// Criteria that show that the work is done.
    success_criteria: Option<Lines>,
    /// Commands by name. `test` and `typecheck` are the checks of tasks without one. `$verification_commands.NAME` in a
    /// command is replaced by that command.
    verification_commands: Option<BTreeMap<String, String>>,
    /// If `true`, each phase begins with a task for its decisions and waits for the phase before it. Default: `true`.
    decisions: Option<bool>,
    phases: Vec<SpecPhase>,
}

/// One line, or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Lines {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
#[expect(dead_code, reason = "only its shape is used")]
pub struct SpecPhase {
    id: String,
    name: Option<String>,
    /// Phases that come before it. Default: the phase before it.
    depends_on: Option<Lines>,
    tasks: Option<Vec<SpecTask>>,
    /// Tasks that are repeated for each item.
    #[serde(rename = "loop")]
    each: Option<SpecLoop>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
#[expect(dead_code, reason = "only its shape is used")]
pub struct SpecLoop {
    items: Vec<Value>,
    tasks: Vec<SpecTask>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
#[expect(dead_code, reason = "only its shape is used")]
pub struct SpecTask {
    /// Such as `1.1`, where the first part is the number of its phase.
    id: String,
    /// The work, in one line.
    task: String,
    /// The type of the work, which decides the tasks before and after it. Without a type the check is the typecheck.
    #[serde(rename = "type")]
    task_type: Option<SpecType>,
    /// Files that the task changes, as paths from the root of the repository.
    files: Option<Lines>,
    notes: Option<Lines>,
    verification: Option<SpecVerification>,
    /// Tasks or phases that come before it.
    depends_on: Option<Lines>,
    /// The expected time: `20 min`, `1.5 h`, or a number of minutes. A run starts longer chains of work first.
    estimate: Option<SpecEstimate>,
    /// The status in the list that it comes from: `pending`, `in_progress`, `done` or `blocked`, optionally with a
    /// colon and a reason. A task that is `done` there becomes `claimed` here.
    status: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SpecEstimate {
    Minutes(f64),
    Text(String),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpecType {
    Ui,
    Backend,
    Func,
    Docs,
}

/// The check of a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SpecVerification {
    Command(String),
    Fields {
        #[serde(rename = "type")]
        kind: Option<String>,
        /// A command line that exits with 0 when the task is done.
        command: Option<String>,
        /// Criteria for a reader, in words.
        success_criteria: Option<Lines>,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::json;

    fn keys(of: &Value) -> Vec<&str> {
        of["properties"].as_object().into_iter().flat_map(|keys| keys.keys().map(String::as_str)).collect()
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = serde_json::to_value(schemars::schema_for!(Spec)).unwrap();
        let same = |of: &Value, known: &[&str]| {
            let (mut published, mut known) = (keys(of), known.to_vec());
            published.sort_unstable();
            known.sort_unstable();
            assert_eq!(published, known);
        };
        same(&schema, json::SPEC);
        same(&schema["$defs"]["SpecPhase"], json::PHASE);
        same(&schema["$defs"]["SpecLoop"], json::EACH);
        same(&schema["$defs"]["SpecTask"], json::TASK);
        same(&schema["$defs"]["SpecVerification"]["anyOf"][1], json::VERIFICATION);
    }

    /// What a key holds; that no other key is in it is lint's to say.
    #[test]
    fn the_example_that_agents_read_fits() {
        let reference = include_str!("../../../plugin/skills/read-spec/reference.md");
        let example = reference.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
        let spec: Spec = serde_json::from_str(example).unwrap();
        assert_eq!(spec.phases.len(), 3);
        assert!(serde_json::from_str::<Spec>(&example.replace("\"backend\"", "\"backnd\"")).is_err());
    }
}
