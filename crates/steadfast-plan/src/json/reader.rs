use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use steadfast_text::truncate;

use super::keys::ALSO;
use crate::draft::{Span, Text};
use crate::ids::{listed, nearest};
use crate::problem::{Code, Findings};

/// The maximum length of a quoted value, in characters.
const QUOTED: usize = 40;

/// Reads values out of a JSON tree and reports what was expected where a value has the wrong shape.
pub(crate) struct Reader<'f> {
    pub(crate) findings: &'f mut Findings,
    /// The offset of the tree in the file.
    pub(crate) base: usize,
}

impl Reader<'_> {
    pub(crate) fn span(&self, of: &impl Ranged) -> Span {
        let range = of.range();
        self.base + range.start..self.base + range.end
    }

    /// Returns the members of an object. Reports duplicate and unknown keys. `null` counts as absent.
    pub(crate) fn object<'v, 'a>(
        &mut self,
        value: &'v Value<'a>,
        what: &str,
        known: &[&str],
    ) -> Option<Members<'v, 'a>> {
        let Value::Object(object) = value else {
            self.expected(what, "an object", value);
            return None;
        };
        for member in &object.properties {
            let key = member.name.as_str();
            if !known.contains(&key) {
                self.unknown(member, what, known);
            }
        }
        self.once(object);
        Some(Members { object })
    }

    /// Returns the members of an object in a foreign format, whose keys are not checked.
    pub(crate) fn foreign<'v, 'a>(&mut self, value: &'v Value<'a>, what: &str) -> Option<Members<'v, 'a>> {
        let Value::Object(object) = value else {
            self.expected(what, "an object", value);
            return None;
        };
        Some(Members { object })
    }

    /// Returns a string, or a number as text.
    pub(crate) fn word(&self, value: &Value<'_>) -> Option<Text> {
        match value {
            Value::StringLit(literal) => Some(Text::new(literal.value.trim(), self.span(literal))),
            Value::NumberLit(number) => Some(Text::new(number.value, self.span(number))),
            _ => None,
        }
        .filter(|text| !text.value.is_empty())
    }

    /// Reports duplicate keys. As in other JSON readers the last one is used.
    pub(crate) fn once(&mut self, object: &Object<'_>) {
        let mut keys: Vec<&str> = object.properties.iter().map(|member| member.name.as_str()).collect();
        keys.sort_unstable();
        if keys.windows(2).all(|pair| pair[0] != pair[1]) {
            return;
        }
        for (index, member) in object.properties.iter().enumerate() {
            let key = member.name.as_str();
            if object.properties[index + 1..].iter().any(|later| later.name.as_str() == key) {
                let message = format!("the key `{key}` occurs more than once; the last one is used");
                self.findings.add(Code::DuplicateKey, &self.span(&member.name), message, "remove all but one");
            }
        }
    }

    fn unknown(&mut self, member: &ObjectProp<'_>, what: &str, known: &[&str]) {
        let key = member.name.as_str();
        let also = ALSO.iter().find(|(other, meant)| *other == key && known.contains(meant)).map(|(_, meant)| *meant);
        let help = match also.or_else(|| nearest(key, known.iter().copied())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("known keys: {}", listed(known.iter().copied())),
        };
        let message = format!("unknown key `{key}` in {what}; it is ignored");
        self.findings.add(Code::UnknownKey, &self.span(&member.name), message, help);
    }

    pub(crate) fn text(&mut self, value: &Value<'_>, what: &str) -> Option<Text> {
        match value {
            Value::StringLit(literal) => Some(Text::new(literal.value.trim(), self.span(literal))),
            Value::NumberLit(_) => {
                self.expected_with(what, "a string", value, "put it in quotes");
                None
            }
            _ => {
                self.expected(what, "a string", value);
                None
            }
        }
    }

    /// Reads a list of texts; a single text needs no brackets.
    pub(crate) fn texts(&mut self, value: &Value<'_>, what: &str) -> Vec<Text> {
        match value {
            Value::Array(array) => array
                .elements
                .iter()
                .filter_map(|element| self.text(element, &format!("an entry of {what}")))
                .filter(|text| !text.value.is_empty())
                .collect(),
            Value::StringLit(literal) if literal.value.trim().is_empty() => Vec::new(),
            Value::StringLit(literal) => vec![Text::new(literal.value.trim(), self.span(literal))],
            _ => {
                self.expected(what, "a list of strings", value);
                Vec::new()
            }
        }
    }

    pub(crate) fn array<'v, 'a>(&mut self, value: &'v Value<'a>, what: &str) -> &'v [Value<'a>] {
        match value {
            Value::Array(array) => &array.elements,
            _ => {
                self.expected(what, "a list", value);
                &[]
            }
        }
    }

    /// Reads a required text.
    pub(crate) fn required(&mut self, object: Members<'_, '_>, what: &str, key: &str, help: &str) -> Option<Text> {
        match object.get(key) {
            // Phases and tasks both have an `id`, so the message says which.
            Some(value) if key == "id" => self.text(value, &format!("`id` of {what}")),
            Some(value) => self.text(value, &format!("`{key}`")),
            None => {
                self.missing(&object, what, key, help);
                None
            }
        }
    }

    pub(crate) fn missing(&mut self, object: &Members<'_, '_>, what: &str, key: &str, help: &str) {
        let span = self.span(object.object);
        self.findings.add(Code::MissingKey, &(span.start..span.start + 1), format!("{what} has no `{key}`"), help);
    }

    pub(crate) fn expected(&mut self, what: &str, expected: &str, found: &Value<'_>) {
        self.expected_with(what, expected, found, &format!("write {expected} here"));
    }

    fn expected_with(&mut self, what: &str, expected: &str, found: &Value<'_>, help: &str) {
        let message = format!("{what}: expected {expected}, found {}", named(found));
        self.findings.add(Code::WrongShape, &self.span(found), message, help);
    }
}

/// The members of an object.
#[derive(Clone, Copy)]
pub(crate) struct Members<'v, 'a> {
    object: &'v Object<'a>,
}

impl<'v, 'a> Members<'v, 'a> {
    pub(crate) fn of(value: &'v Value<'a>) -> Option<Self> {
        value.as_object().map(|object| Self { object })
    }

    /// Returns the string or number of a key.
    pub(crate) fn word(self, key: &str, reader: &Reader<'_>) -> Option<Text> {
        self.get(key).and_then(|value| reader.word(value))
    }

    /// Returns the last member with this key, unless it is `null`.
    pub(crate) fn get(self, key: &str) -> Option<&'v Value<'a>> {
        let member = self.object.properties.iter().rev().find(|member| member.name.as_str() == key)?;
        (!matches!(member.value, Value::NullKeyword(_))).then_some(&member.value)
    }
}

/// Describes a value for a message.
fn named(value: &Value<'_>) -> String {
    match value {
        Value::StringLit(literal) => format!("the string \"{}\"", truncate(&literal.value, QUOTED)),
        Value::NumberLit(number) => format!("the number {}", truncate(number.value, QUOTED)),
        Value::BooleanLit(boolean) => format!("`{}`", boolean.value),
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::NullKeyword(_) => "`null`".to_owned(),
    }
}

/// Returns the position of a key.
pub(crate) fn name_span(reader: &Reader<'_>, member: &ObjectProp<'_>) -> Range<usize> {
    reader.span(&member.name)
}
