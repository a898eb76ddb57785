//! A scenario: the model's answers, turn by turn, in a form independent of the host.

mod builder;
mod placeholder;
mod script;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use script::Script;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    /// The human's first prompt. The test passes it to a real host.
    #[serde(default)]
    pub prompt: String,
    pub turns: Vec<Turn>,
    /// The turns of every subagent. Empty: it answers `done`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagent: Vec<Turn>,
    #[serde(default)]
    pub then: Then,
}

/// One answer of the model. Several actions are parallel calls. Without an action the model's turn ends, and the host
/// fires Stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    #[serde(default, rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// The model API fails instead of answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail: Option<Fault>,
    /// The human's prompt before this turn, after the previous stop was allowed. Only the simulated agent types it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Usage::is_usual")]
    pub usage: Usage,
    /// The id of its calls, for a model that repeats ids. Only Claude Code's model uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// The token usage that an answer reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 20 }
    }
}

impl Usage {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    Shell(String),
    Write {
        path: String,
        content: String,
    },
    /// On Codex an edit is a patch, so `old` and `new` must be whole lines there.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    Read(String),
    /// Any tool, by the host's own name.
    Tool {
        name: String,
        input: Value,
    },
    Agent {
        #[serde(rename = "type")]
        kind: String,
        prompt: String,
        #[serde(default)]
        background: bool,
    },
    /// A compaction. The simulated agent compacts at once; a real host compacts because the answer reports a full
    /// context.
    Compact {},
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub status: u16,
    #[serde(default = "once")]
    pub times: u32,
}

fn once() -> u32 {
    1
}

/// The behaviour after the last turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Repeats the last turn forever.
    #[default]
    Repeat,
    /// Repeats this number of last turns forever.
    Loop(usize),
    Say(String),
}

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("cannot read the scenario {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// The message of serde_json includes line and column.
    #[error("{}: {source}", path.display())]
    Parse { path: PathBuf, source: serde_json::Error },
    #[error("scenario `{name}`, {place}: {problem}")]
    Invalid { name: String, place: String, problem: &'static str },
    #[error("scenario `{name}`, {place}: no value for the placeholder `${{{placeholder}}}`")]
    UnknownPlaceholder { name: String, place: String, placeholder: String },
}

impl Scenario {
    /// Reads a scenario file and fills in `${NAME}` from `values`.
    pub fn load(path: &Path, values: &BTreeMap<String, String>) -> Result<Self, ScenarioError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
        Self::parse(path, &text, values)
    }

    /// Like [`Scenario::load`], for a text in memory. `origin` only appears in errors.
    pub fn parse(origin: &Path, text: &str, values: &BTreeMap<String, String>) -> Result<Self, ScenarioError> {
        let scenario: Self =
            serde_json::from_str(text).map_err(|source| ScenarioError::Parse { path: origin.to_owned(), source })?;
        scenario.check()?;
        scenario.fill(values)
    }

    /// Returns an error if a turn has no meaning.
    pub fn check(&self) -> Result<(), ScenarioError> {
        if self.turns.is_empty() {
            return Err(self.invalid("turns", "there is no turn"));
        }
        match self.then {
            Then::Loop(0) => return Err(self.invalid("then", "a loop needs at least one turn")),
            Then::Loop(count) if count > self.turns.len() => {
                return Err(self.invalid("then", "the loop is longer than the scenario"));
            }
            Then::Loop(_) | Then::Repeat | Then::Say(_) => {}
        }
        for (list, turns) in [("turns", &self.turns), ("subagent", &self.subagent)] {
            for (index, turn) in turns.iter().enumerate() {
                if let Some(problem) = turn.problem() {
                    return Err(self.invalid(&format!("{list}[{index}]"), problem));
                }
            }
        }
        Ok(())
    }

    fn invalid(&self, place: &str, problem: &'static str) -> ScenarioError {
        ScenarioError::Invalid { name: self.name.clone(), place: place.to_owned(), problem }
    }
}

impl Turn {
    /// Returns true if the host continues after this turn without a prompt.
    #[must_use]
    pub fn calls_tools(&self) -> bool {
        self.actions.iter().any(|action| !matches!(action, Action::Compact {}))
    }

    /// Returns true for a turn that only compacts the context, without an answer of the model.
    #[must_use]
    pub fn only_compacts(&self) -> bool {
        !self.actions.is_empty() && !self.calls_tools() && self.say.is_none()
    }

    fn problem(&self) -> Option<&'static str> {
        let answers = self.say.is_some() || !self.actions.is_empty();
        match (&self.fail, answers) {
            (None, false) => Some("a turn says, does or fails"),
            (Some(_), true) => Some("a turn that fails neither says nor does anything"),
            (Some(fault), false) if fault.times == 0 => Some("a fault happens at least once"),
            (Some(fault), false) if !(400..600).contains(&fault.status) => {
                Some("the status of a fault is between 400 and 599")
            }
            (Some(_), false) | (None, true) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(text: &str) -> Result<Scenario, ScenarioError> {
        Scenario::parse(Path::new("s.json"), text, &BTreeMap::new())
    }

    #[test]
    fn a_file_with_every_action_is_read_as_the_builder_writes_it() {
        let text = r#"{ "name": "all", "prompt": "go",
          "turns": [
            {"say": "both", "do": [{"shell": "ls"}, {"write": {"path": "a", "content": "x\n"}}]},
            {"do": [{"edit": {"path": "a", "old": "x", "new": "y"}}]},
            {"do": [{"read": "a"}]},
            {"do": [{"tool": {"name": "Grep", "input": {"pattern": "y"}}}]},
            {"do": [{"agent": {"type": "general-purpose", "prompt": "sub", "background": true}}]},
            {"do": [{"compact": {}}]},
            {"fail": {"status": 529}},
            {"prompt": "go on", "say": "finished"} ],
          "subagent": [{"say": "done"}],
          "then": {"loop": 2} }"#;
        let built = Scenario::new("all")
            .prompt("go")
            .turn(Turn::saying("both").calling([Action::shell("ls"), Action::write("a", "x\n")]))
            .edit("a", "x", "y")
            .read("a")
            .tool("Grep", json!({"pattern": "y"}))
            .agent_in_background("general-purpose", "sub")
            .compact()
            .fail(529, 1)
            .human("go on", "finished")
            .subagent([Turn::saying("done")])
            .then(Then::Loop(2));
        assert_eq!(parse(text).unwrap(), built);
    }

    #[test]
    fn a_written_scenario_reads_back_the_same() {
        let usage = Usage { input: 7, output: 1 };
        let built = Scenario::new("round").shell("ls").using(usage).say("bye").then(Then::Say("x".into()));
        let text = serde_json::to_string(&built).unwrap();
        assert_eq!(parse(&text).unwrap(), built);
    }

    #[test]
    fn an_unknown_field_is_named_with_file_and_position() {
        let error = parse("{\"name\": \"x\",\n \"turns\": [{\"says\": \"typo\"}]}").unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("s.json: unknown field `says`") && text.contains("line 2 column"), "{text}");
    }

    #[test]
    fn turns_that_mean_nothing_are_refused_by_place() {
        for (turns, expected) in [
            ("[]", "scenario `x`, turns: there is no turn"),
            ("[{}]", "scenario `x`, turns[0]: a turn says, does or fails"),
            (
                r#"[{"say": "a"}, {"say": "a", "fail": {"status": 500}}]"#,
                "scenario `x`, turns[1]: a turn that fails neither says nor does anything",
            ),
            (r#"[{"fail": {"status": 200}}]"#, "scenario `x`, turns[0]: the status of a fault is between 400 and 599"),
        ] {
            let error = parse(&format!(r#"{{"name": "x", "turns": {turns}}}"#)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_loop_over_more_turns_than_there_are_is_refused() {
        let error = Scenario::new("x").say("a").then(Then::Loop(2)).check().unwrap_err();
        assert_eq!(error.to_string(), "scenario `x`, then: the loop is longer than the scenario");
    }
}
