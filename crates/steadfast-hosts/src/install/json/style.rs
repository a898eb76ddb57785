use std::fmt;

use super::{Node, parse};

/// A value to write. Members keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(u32),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    pub(crate) fn object<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    fn is_plain(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_))
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Text(text) => text.as_str().into(),
            Value::Number(number) => (*number).into(),
            Value::List(values) => values.iter().map(Self::from).collect(),
            Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), Self::from(value))).collect(),
        }
    }
}

/// Displays a string with JSON quoting.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        serde_json::Value::from(self.0).fmt(f)
    }
}

/// The formatting of a text: line ends, indentation, on one line or several.
pub(super) struct Style<'a> {
    text: &'a str,
    newline: &'static str,
    indent: &'a str,
    colon: &'a str,
    lines: bool,
}

/// The formatting of an item in one container.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    newline: &'static str,
    indent: &'a str,
    colon: &'a str,
    /// The indentation of the item, if it has a line of its own.
    own_line: Option<String>,
    /// The text before the item: after the comma, or after the opening bracket.
    pub(super) lead: String,
    /// The text between the only item and the closing bracket.
    pub(super) tail: String,
}

impl<'a> Style<'a> {
    pub(super) fn of(text: &'a str, root: &Node) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = root.children().and_then(|children| children.first().cloned());
        let inside = &text[root.span.clone()];
        let indent = first
            .as_ref()
            .and_then(|first| indentation(&text[root.span.start + 1..first.start]))
            .filter(|indent| !indent.is_empty())
            .unwrap_or("  ");
        let colon = root.members().and_then(|members| members.first()).and_then(|member| {
            let before_value = &text[member.start..member.value.span.start];
            before_value.rfind(':').map(|colon| &before_value[colon + 1..])
        });
        Self {
            text,
            newline,
            indent,
            colon: colon.filter(|space| !space.contains('\n')).unwrap_or(" "),
            lines: root.is_empty() || inside.contains('\n'),
        }
    }

    /// Returns the layout for a new item at the end of `container`.
    pub(super) fn layout(&self, container: &Node) -> Layout<'a> {
        let children = container.children().unwrap_or_default();
        let open = container.span.start + 1;
        let (own_line, lead, tail) = match children.as_slice() {
            [] if self.lines => {
                let outer = self.line_indentation(container.span.start);
                let own = format!("{outer}{}", self.indent);
                (Some(own.clone()), format!("{}{own}", self.newline), format!("{}{outer}", self.newline))
            }
            [] => (None, String::new(), String::new()),
            [.., last] => {
                let previous = children.iter().rev().nth(1).map_or(open, |previous| previous.end);
                match indentation(&self.text[previous..last.start]) {
                    Some(own) => (Some(own.to_owned()), format!("{}{own}", self.newline), String::new()),
                    None => (None, self.inline_lead(&children, last.start), String::new()),
                }
            }
        };
        Layout { newline: self.newline, indent: self.indent, colon: self.colon, own_line, lead, tail }
    }

    /// Returns the layout for another value in place of `node`.
    pub(super) fn layout_of_value(&self, node: &Node) -> Layout<'a> {
        let own_line = self.text[node.span.clone()].contains('\n');
        let own_line = own_line.then(|| self.line_indentation(node.span.start).to_owned());
        let (lead, tail) = (String::new(), String::new());
        Layout { newline: self.newline, indent: self.indent, colon: self.colon, own_line, lead, tail }
    }

    fn inline_lead(&self, children: &[std::ops::Range<usize>], last: usize) -> String {
        match children {
            [.., previous, _] => {
                let between = &self.text[previous.end..last];
                between.rfind(',').map_or("", |comma| &between[comma + 1..]).to_owned()
            }
            _ => self.colon.to_owned(),
        }
    }

    fn line_indentation(&self, at: usize) -> &'a str {
        let before = &self.text[..at];
        let line = &self.text[before.rfind('\n').map_or(0, |newline| newline + 1)..at];
        let line = line.strip_prefix(parse::BOM).unwrap_or(line);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// Returns the white space after the last line end, if there is one.
fn indentation(space: &str) -> Option<&str> {
    space.rfind('\n').map(|newline| &space[newline + 1..])
}

impl Layout<'_> {
    pub(super) fn member(&self, key: &str, value: &Value) -> String {
        format!("{}:{}{}", Quoted(key), self.colon, self.value(value))
    }

    pub(super) fn value(&self, value: &Value) -> String {
        let mut out = String::new();
        match &self.own_line {
            Some(indent) => self.write_lines(value, indent, &mut out),
            None => write_inline(value, self.colon, &mut out),
        }
        out
    }

    /// Writes one member per line; a list of plain values stays on one line.
    fn write_lines(&self, value: &Value, outer: &str, out: &mut String) {
        let inner = format!("{outer}{}", self.indent);
        let mut separator = "";
        match value {
            Value::Object(members) if !members.is_empty() => {
                out.push('{');
                for (key, value) in members {
                    out.push_str(&format!("{separator}{}{inner}{}:{}", self.newline, Quoted(key), self.colon));
                    self.write_lines(value, &inner, out);
                    separator = ",";
                }
                out.push_str(&format!("{}{outer}}}", self.newline));
            }
            Value::List(elements) if !elements.iter().all(Value::is_plain) => {
                out.push('[');
                for element in elements {
                    out.push_str(&format!("{separator}{}{inner}", self.newline));
                    self.write_lines(element, &inner, out);
                    separator = ",";
                }
                out.push_str(&format!("{}{outer}]", self.newline));
            }
            Value::Text(_) | Value::Number(_) | Value::List(_) | Value::Object(_) => write_inline(value, " ", out),
        }
    }
}

fn write_inline(value: &Value, space: &str, out: &mut String) {
    match value {
        Value::Text(text) => out.push_str(&Quoted(text).to_string()),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::List(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push_str(&format!(",{space}"));
                }
                write_inline(element, space, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                let comma = if index > 0 { format!(",{space}") } else { String::new() };
                out.push_str(&format!("{comma}{}:{space}", Quoted(key)));
                write_inline(value, space, out);
            }
            out.push('}');
        }
    }
}
