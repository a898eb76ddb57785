//! `${NAME}` in the strings of a scenario.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Action, Scenario, ScenarioError, Then, Turn};

impl Scenario {
    /// Fills in every `${NAME}`; `$${` stands for a literal `${`.
    pub fn fill(mut self, values: &BTreeMap<String, String>) -> Result<Self, ScenarioError> {
        let name = self.name.clone();
        let filled = |text: &mut String, place: &str| -> Result<(), ScenarioError> {
            *text = replace(text, values).map_err(|placeholder| ScenarioError::UnknownPlaceholder {
                name: name.clone(),
                place: place.to_owned(),
                placeholder,
            })?;
            Ok(())
        };
        filled(&mut self.prompt, "prompt")?;
        if let Then::Say(text) = &mut self.then {
            filled(text, "then")?;
        }
        for (list, turns) in [("turns", &mut self.turns), ("subagent", &mut self.subagent)] {
            for (index, turn) in turns.iter_mut().enumerate() {
                let place = format!("{list}[{index}]");
                turn.for_each_text(&mut |text| filled(text, &place))?;
            }
        }
        Ok(self)
    }
}

type Visit<'a> = &'a mut dyn FnMut(&mut String) -> Result<(), ScenarioError>;

impl Turn {
    fn for_each_text(&mut self, visit: Visit<'_>) -> Result<(), ScenarioError> {
        for text in [&mut self.say, &mut self.prompt].into_iter().flatten() {
            visit(text)?;
        }
        self.actions.iter_mut().try_for_each(|action| action.for_each_text(visit))
    }
}

impl Action {
    fn for_each_text(&mut self, visit: Visit<'_>) -> Result<(), ScenarioError> {
        match self {
            Self::Shell(text) | Self::Read(text) => visit(text),
            Self::Write { path, content } => visit(path).and_then(|()| visit(content)),
            Self::Edit { path, old, new } => {
                visit(path)?;
                visit(old)?;
                visit(new)
            }
            Self::Tool { name, input } => visit(name).and_then(|()| in_value(input, visit)),
            Self::Agent { kind, prompt, .. } => visit(kind).and_then(|()| visit(prompt)),
            Self::Compact {} => Ok(()),
        }
    }
}

fn in_value(value: &mut Value, visit: Visit<'_>) -> Result<(), ScenarioError> {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().try_for_each(|item| in_value(item, visit)),
        Value::Object(fields) => fields.values_mut().try_for_each(|field| in_value(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// Returns the text with its placeholders filled in, or the name of a placeholder without a value.
fn replace(text: &str, values: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let before = &rest[..start];
        let after = &rest[start + 2..];
        if let Some(before) = before.strip_suffix('$') {
            filled.push_str(before);
            filled.push_str("${");
            rest = after;
            continue;
        }
        filled.push_str(before);
        let Some(end) = after.find('}') else {
            return Err(after.to_owned());
        };
        let name = &after[..end];
        filled.push_str(values.get(name).ok_or_else(|| name.to_owned())?);
        rest = &after[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values() -> BTreeMap<String, String> {
        [("CWD", "/w"), ("STEADFAST", "/bin/steadfast")].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    #[test]
    fn every_string_is_filled_in() {
        let scenario = Scenario::new("x")
            .prompt("in ${CWD}")
            .shell("${STEADFAST} task start 1; cd ${CWD}")
            .tool("Any", json!({"deep": [{"path": "${CWD}/a"}], "n": 1}))
            .subagent([Turn::saying("${CWD}")])
            .then(Then::Say("${CWD}".into()))
            .fill(&values())
            .unwrap();
        let expected = Scenario::new("x")
            .prompt("in /w")
            .shell("/bin/steadfast task start 1; cd /w")
            .tool("Any", json!({"deep": [{"path": "/w/a"}], "n": 1}))
            .subagent([Turn::saying("/w")])
            .then(Then::Say("/w".into()));
        assert_eq!(scenario, expected);
    }

    #[test]
    fn a_doubled_dollar_is_a_literal_one() {
        assert_eq!(replace("echo $${HOME} $X ${CWD}", &values()).unwrap(), "echo ${HOME} $X /w");
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_its_turn() {
        let error = Scenario::new("x").say("a").shell("cd ${HOME}").fill(&values()).unwrap_err();
        assert_eq!(error.to_string(), "scenario `x`, turns[1]: no value for the placeholder `${HOME}`");
    }
}
