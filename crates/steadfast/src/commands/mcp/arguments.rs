use std::fmt;

use serde_json::{Map, Value, json};

use crate::error::CommandError;

/// A parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    about: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Required, and not empty.
    Text,
    /// Optional.
    MaybeText,
    /// Optional; the default is an empty list.
    Texts,
}

impl Parameter {
    pub(super) const fn text(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: Kind::Text }
    }

    pub(super) const fn maybe_text(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: Kind::MaybeText }
    }

    pub(super) const fn texts(name: &'static str, about: &'static str) -> Self {
        Self { name, about, kind: Kind::Texts }
    }

    /// The JSON schema of an object with these parameters.
    pub(super) fn schema(parameters: &[Self]) -> Map<String, Value> {
        let property = |parameter: &Self| match parameter.kind {
            Kind::Text | Kind::MaybeText => json!({"type": "string", "minLength": 1, "description": parameter.about}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}, "description": parameter.about}),
        };
        let required =
            parameters.iter().filter(|parameter| parameter.kind == Kind::Text).map(|parameter| parameter.name);
        let properties: Map<_, _> = parameters.iter().map(|given| (given.name.to_owned(), property(given))).collect();
        Map::from_iter([
            ("type".to_owned(), "object".into()),
            ("properties".to_owned(), properties.into()),
            ("required".to_owned(), required.collect()),
            ("additionalProperties".to_owned(), false.into()),
        ])
    }
}

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Refuses unknown arguments: they are misspelled.
    pub(super) fn new(given: Map<String, Value>, parameters: &[Parameter]) -> Result<Self, CommandError> {
        match given.keys().find(|name| parameters.iter().all(|parameter| parameter.name != *name)) {
            None => Ok(Self(given)),
            Some(name) => Err(misused(format_args!("unknown argument `{name}`"))),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, CommandError> {
        let value = self.0.remove(name).ok_or_else(|| misused(format_args!("`{name}` is missing")))?;
        text(name, value)
    }

    pub(super) fn maybe_text(&mut self, name: &str) -> Result<Option<String>, CommandError> {
        self.0.remove(name).filter(|value| !value.is_null()).map(|value| text(name, value)).transpose()
    }

    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, CommandError> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => values.into_iter().map(|value| text(name, value)).collect(),
            Some(_) => Err(misused(format_args!("`{name}` is not a list"))),
        }
    }
}

fn misused(what: fmt::Arguments<'_>) -> CommandError {
    CommandError::usage(what).hint("the schema of the tool lists its arguments")
}

/// Accepts whole numbers, because models write the id `3` as a number. A fraction could mean `2.1` or `2.10`, so it must be
/// a text.
fn text(name: &str, value: Value) -> Result<String, CommandError> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        _ => return Err(misused(format_args!("`{name}` is not a text"))),
    };
    if text.is_empty() {
        return Err(misused(format_args!("`{name}` is empty")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Parameter; 4] = [
        Parameter::text("id", "an id"),
        Parameter::text("why", "a reason"),
        Parameter::texts("after", "ids"),
        Parameter::texts("files", "paths"),
    ];

    fn arguments(value: Value) -> Result<Arguments, CommandError> {
        let Value::Object(fields) = value else { panic!("no object") };
        Arguments::new(fields, &ALL)
    }

    #[test]
    fn texts_are_trimmed_and_a_whole_number_is_one() {
        let mut given = arguments(json!({"id": 3, "why": " waits ", "after": ["1", 2]})).unwrap();
        assert_eq!(given.text("id").unwrap(), "3");
        assert_eq!(given.text("why").unwrap(), "waits");
        assert_eq!(given.texts("after").unwrap(), ["1", "2"]);
        assert_eq!(given.texts("files").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let said = |value, take: fn(&mut Arguments) -> Option<CommandError>| {
            take(&mut arguments(value).unwrap()).map(|error| error.message)
        };
        let id = |given: &mut Arguments| given.text("id").err();
        assert_eq!(said(json!({}), id).as_deref(), Some("`id` is missing"));
        assert_eq!(said(json!({"id": " "}), id).as_deref(), Some("`id` is empty"));
        assert_eq!(said(json!({"id": 2.1}), id).as_deref(), Some("`id` is not a text"));
        let after = |given: &mut Arguments| given.texts("after").err();
        assert_eq!(said(json!({"after": "1"}), after).as_deref(), Some("`after` is not a list"));
        let misspelled = arguments(json!({"idd": "1"})).unwrap_err().message;
        assert_eq!(misspelled, "unknown argument `idd`");
    }

    #[test]
    fn the_schema_asks_for_texts_and_lets_lists_be() {
        let expected = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "minLength": 1, "description": "an id"},
                "after": {"type": "array", "items": {"type": "string"}, "description": "ids"},
            },
            "required": ["id"],
            "additionalProperties": false,
        });
        assert_eq!(Value::Object(Parameter::schema(&[ALL[0], ALL[2]])), expected);
    }
}
