//! The published schema of SPEC.json: what an editor wants to know.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A spec: what is to be built, in phases of tasks, each with a check where it has one.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "SPEC.json", extend("additionalProperties" = false))]
#[expect(dead_code, reason = "only its shape is used")]
pub struct Spec {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// What is built, in a few words.
    feature: String,
    /// What it is for.
    description: Option<String>,
    /// A promise of completion of this spec alone: the text of `<promise>…</promise>`.
    completion_promise: Option<String>,
    /// Whatever a reader should know. `constraints`, `must_not` and `success_criteria` in it are read.
    context: Option<BTreeMap<String, Value>>,
    /// What must stay as it is.
    constraints: Option<Lines>,
    /// What must not happen.
    must_not: Option<Lines>,
    /// How one knows that it is done.
    success_criteria: Option<Lines>,
    /// Commands by name: `test` and `typecheck` are the checks of tasks without one; `$verification_commands.NAME` in a
    /// command stands for another.
    verification_commands: Option<BTreeMap<String, String>>,
    /// Whether each phase begins with a task for its decisions, and waits for the one before it. Default: `true`.
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
    /// Phases that come before it. Without it: the one before it.
    depends_on: Option<Lines>,
    tasks: Option<Vec<SpecTask>>,
    /// Tasks that are done once for each item.
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
    /// Like `1.1`; what it begins with is the number of its phase.
    id: String,
    /// What is to be done, in one line.
    task: String,
    /// What the work is about, and so what comes before and after it. Without one the typecheck is the check.
    #[serde(rename = "type")]
    task_type: Option<SpecType>,
    /// What it changes, from the root of the repository.
    files: Option<Lines>,
    notes: Option<Lines>,
    verification: Option<SpecVerification>,
    /// Tasks or phases that come before it.
    depends_on: Option<Lines>,
    /// How long it takes: `20 min`, `1.5 h`, or a number of minutes. A run starts longer chains of work first.
    estimate: Option<SpecEstimate>,
    /// How it stands where it comes from: `pending`, `in_progress`, `done` or `blocked`, perhaps with a reason behind a
    /// colon. What is done there is `claimed` here.
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

/// How a task is checked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SpecVerification {
    Command(String),
    Fields {
        #[serde(rename = "type")]
        kind: Option<String>,
        /// A command line that exits with 0 when the task is done.
        command: Option<String>,
        /// What is to be seen, in words.
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
