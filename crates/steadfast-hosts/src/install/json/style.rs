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
        self.write(value, self.own_line.as_deref(), &mut out);
        out
    }

    /// Writes one item per line, each with more indentation than `outer`. Without `outer`, all of it is on one line, and
    /// so is a list of plain values.
    fn write(&self, value: &Value, outer: Option<&str>, out: &mut String) {
        let ([open, close], items): (_, Vec<(String, &Value)>) = match value {
            Value::Text(text) => return out.push_str(&Quoted(text).to_string()),
            Value::Number(number) => return out.push_str(&number.to_string()),
            Value::List(elements) => (["[", "]"], elements.iter().map(|element| (String::new(), element)).collect()),
            Value::Object(members) => {
                let named = members.iter().map(|(key, value)| (format!("{}:{}", Quoted(key), self.colon), value));
                (["{", "}"], named.collect())
            }
        };
        let is_plain = matches!(value, Value::List(elements) if elements.iter().all(Value::is_plain));
        let outer = outer.filter(|_| !is_plain && !items.is_empty());
        let inner = outer.map(|outer| format!("{outer}{}", self.indent));
        let space = if self.own_line.is_some() { " " } else { self.colon };
        out.push_str(open);
        for (index, (name, value)) in items.into_iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            match &inner {
                Some(inner) => out.push_str(&format!("{}{inner}", self.newline)),
                None if index > 0 => out.push_str(space),
                None => {}
            }
            out.push_str(&name);
            self.write(value, inner.as_deref(), out);
        }
        out.push_str(&outer.map_or_else(String::new, |outer| format!("{}{outer}", self.newline)));
        out.push_str(close);
    }
}
