use std::ops::Range;

use super::Value;

/// A value of a JSON text, with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number(String),
    String(String),
    Array(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) start: usize,
    pub(crate) key: String,
    pub(crate) value: Node,
}

/// One step on the path to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl Node {
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn elements(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::Array(elements) => Some(elements),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a count that is written as a number or as text.
    pub(crate) fn as_count(&self) -> Option<u64> {
        match &self.kind {
            Kind::String(text) | Kind::Number(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// Returns the last member with that name, as the hosts do.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        self.members()?.iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Returns the range of each element, or of each member with its key.
    pub(crate) fn children(&self) -> Option<Vec<Range<usize>>> {
        match &self.kind {
            Kind::Array(elements) => Some(elements.iter().map(|node| node.span.clone()).collect()),
            Kind::Object(members) => Some(members.iter().map(|m| m.start..m.value.span.end).collect()),
            _ => None,
        }
    }

    /// Returns true if the node has this value, however it is spelled.
    pub(crate) fn reads_as(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (Kind::String(text), Value::Text(other)) => text == other,
            (Kind::Number(number), Value::Number(other)) => number.parse() == Ok(*other),
            (Kind::Array(elements), Value::List(others)) => {
                elements.len() == others.len() && elements.iter().zip(others).all(|(node, value)| node.reads_as(value))
            }
            (Kind::Object(members), Value::Object(others)) => {
                members.len() == others.len()
                    && others.iter().all(|(key, value)| self.member(key).is_some_and(|node| node.reads_as(value)))
            }
            _ => false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.children().is_some_and(|children| children.is_empty())
    }
}

impl Step<'_> {
    /// Formats a path: `hooks.Stop[0]`, or `the file` for the document itself.
    pub(crate) fn display(path: &[Self]) -> String {
        let mut text = String::new();
        for step in path {
            match step {
                Self::Key(key) if text.is_empty() => text.push_str(key),
                Self::Key(key) => {
                    text.push('.');
                    text.push_str(key);
                }
                Self::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        if text.is_empty() { "the file".to_owned() } else { text }
    }
}
