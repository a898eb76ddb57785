use serde_json::{Map, Value};

use crate::error::CommandError;

/// The arguments of one call, taken out one by one, so that what is left over was misspelled.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn new(arguments: Map<String, Value>) -> Self {
        Self(arguments)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, CommandError> {
        let value = self.0.remove(name).ok_or_else(|| CommandError::usage(format!("`{name}` is missing")))?;
        text(name, value)
    }

    /// None given is an empty list.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, CommandError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => values.into_iter().map(|value| text(name, value)).collect(),
            Some(_) => Err(CommandError::usage(format!("`{name}` is no list"))),
        }
    }

    pub(super) fn end(self) -> Result<(), CommandError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(CommandError::usage(format!("there is no argument `{name}`"))),
        }
    }
}

/// Models write the id `3` as a number. A fraction could be `2.1` or `2.10`: that one they have to write as a text.
fn text(name: &str, value: Value) -> Result<String, CommandError> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        _ => return Err(CommandError::usage(format!("`{name}` is no text"))),
    };
    if text.is_empty() {
        return Err(CommandError::usage(format!("`{name}` is empty")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        let Value::Object(fields) = value else { panic!("no object") };
        Arguments::new(fields)
    }

    #[test]
    fn texts_are_trimmed_and_a_whole_number_is_one() {
        let mut given = arguments(json!({"id": 3, "why": " waits ", "after": ["1", 2]}));
        assert_eq!(given.text("id").unwrap(), "3");
        assert_eq!(given.text("why").unwrap(), "waits");
        assert_eq!(given.texts("after").unwrap(), ["1", "2"]);
        assert_eq!(given.texts("files").unwrap(), Vec::<String>::new());
        assert!(given.end().is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |value, take: fn(&mut Arguments) -> Option<CommandError>| {
            take(&mut arguments(value)).map(|error| error.to_string())
        };
        let id = |given: &mut Arguments| given.text("id").err();
        assert_eq!(said(json!({}), id).as_deref(), Some("error: `id` is missing"));
        assert_eq!(said(json!({"id": " "}), id).as_deref(), Some("error: `id` is empty"));
        assert_eq!(said(json!({"id": 2.1}), id).as_deref(), Some("error: `id` is no text"));
        let after = |given: &mut Arguments| given.texts("after").err();
        assert_eq!(said(json!({"after": "1"}), after).as_deref(), Some("error: `after` is no list"));
        let left = arguments(json!({"idd": "1"})).end().unwrap_err().to_string();
        assert_eq!(left, "error: there is no argument `idd`");
    }
}
