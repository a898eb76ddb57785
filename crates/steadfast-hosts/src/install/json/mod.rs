//! Edits JSON as text: insertions follow the surrounding style, and all other bytes stay.

mod node;
mod parse;
mod style;

#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use node::{Kind, Member, Node, Step};
pub(crate) use style::Value;
use style::{Layout, Style};

use crate::install::error::{SettingsError, line_and_column};

/// A JSON text and its tree. Every edit replaces a part of the text and parses the result, so text and tree always
/// agree.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    root: Node,
}

impl Document {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingsError> {
        Ok(Self { text: text.to_owned(), root: parse::parse(text)? })
    }

    /// Parses a settings file. An empty file is an empty object, as for both hosts.
    pub(crate) fn parse_settings(text: &str) -> Result<Self, SettingsError> {
        let body = text.strip_prefix(parse::BOM).unwrap_or(text);
        if !body.trim().is_empty() {
            return Self::parse(text);
        }
        let bom = if body.len() < text.len() { "\u{feff}" } else { "" };
        let newline = if body.contains("\r\n") { "\r\n" } else { "\n" };
        Self::parse(&format!("{bom}{{}}{newline}"))
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }

    /// Returns the original bytes of a node.
    pub(crate) fn raw(&self, node: &Node) -> &str {
        &self.text[node.span.clone()]
    }

    /// Returns the node at `path`, if there is one. For duplicate keys the hosts use the last; but an edit must be
    /// unambiguous, so a duplicate key on the path is an error.
    pub(crate) fn get(&self, path: &[Step<'_>]) -> Result<Option<&Node>, SettingsError> {
        let mut node = &self.root;
        for step in path {
            let next = match (step, &node.kind) {
                (Step::Key(key), Kind::Object(members)) => {
                    let mut found = members.iter().filter(|member| member.key == *key);
                    let first = found.next();
                    if let Some(second) = found.next() {
                        return Err(self.duplicate(second));
                    }
                    first.map(|member| &member.value)
                }
                (Step::Index(index), Kind::Array(elements)) => elements.get(*index),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            node = next;
        }
        Ok(Some(node))
    }

    /// Adds a member at the end of the object at `path`. The key must not exist yet.
    pub(crate) fn insert(&mut self, path: &[Step<'_>], key: &str, value: &Value) -> Result<(), SettingsError> {
        let object = self.expect(path, "an object", |node| node.members().is_some())?;
        let layout = Style::of(&self.text, &self.root).layout(object);
        let (range, text) = placed_last(object, &layout, &layout.member(key, value));
        self.splice(range, &text)
    }

    /// Adds an element at the end of the array at `path`.
    pub(crate) fn append(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), SettingsError> {
        let array = self.expect(path, "an array", |node| node.elements().is_some())?;
        let layout = Style::of(&self.text, &self.root).layout(array);
        let (range, text) = placed_last(array, &layout, &layout.value(value));
        self.splice(range, &text)
    }

    pub(crate) fn replace(&mut self, path: &[Step<'_>], value: &Value) -> Result<(), SettingsError> {
        let node = self.expect(path, "a value", |_| true)?;
        let text = Style::of(&self.text, &self.root).layout_of_value(node).value(value);
        self.splice(node.span.clone(), &text)
    }

    pub(crate) fn replace_raw(&mut self, path: &[Step<'_>], raw: &str) -> Result<(), SettingsError> {
        let node = self.expect(path, "a value", |_| true)?;
        self.splice(node.span.clone(), raw)
    }

    /// Removes a member or an element, with its comma and white space.
    pub(crate) fn remove(&mut self, path: &[Step<'_>]) -> Result<(), SettingsError> {
        let Some((last, parents)) = path.split_last() else { return self.replace_raw(path, "{}") };
        self.expect(path, "a value", |_| true)?;
        let parent = self.expect(parents, "an object or an array", |node| node.children().is_some())?;
        let children = parent.children().unwrap_or_default();
        let position = match last {
            Step::Index(index) => Some(*index),
            Step::Key(key) => parent.members().and_then(|members| members.iter().position(|m| m.key == *key)),
        };
        let Some(position) = position.filter(|position| *position < children.len()) else { return Ok(()) };
        let range = match (position.checked_sub(1), children.get(position + 1)) {
            (Some(before), _) => children[before].end..children[position].end,
            (None, Some(next)) => children[position].start..next.start,
            (None, None) => parent.span.start + 1..parent.span.end - 1,
        };
        self.splice(range, "")
    }

    /// Returns the node at `path`, or an error if its shape is wrong.
    pub(crate) fn expect(
        &self,
        path: &[Step<'_>],
        expected: &'static str,
        fits: impl Fn(&Node) -> bool,
    ) -> Result<&Node, SettingsError> {
        let node = match self.get(path)? {
            Some(node) if fits(node) => return Ok(node),
            Some(node) => node,
            None => &self.root,
        };
        let (line, column) = line_and_column(&self.text, node.span.start);
        let place = Step::display(path);
        Err(SettingsError::Shape { line, column, place, found: node.kind.name(), expected })
    }

    pub(crate) fn position(&self, node: &Node) -> (usize, usize) {
        line_and_column(&self.text, node.span.start)
    }

    fn duplicate(&self, member: &Member) -> SettingsError {
        let (line, column) = line_and_column(&self.text, member.start);
        SettingsError::Duplicate { line, column, key: member.key.clone() }
    }

    fn splice(&mut self, range: Range<usize>, replacement: &str) -> Result<(), SettingsError> {
        let mut text = self.text.clone();
        text.replace_range(range, replacement);
        *self = Self::parse(&text)?;
        Ok(())
    }
}

fn placed_last(container: &Node, layout: &Layout<'_>, item: &str) -> (Range<usize>, String) {
    match container.children().and_then(|children| children.last().cloned()) {
        Some(last) => (last.end..last.end, format!(",{}{item}", layout.lead)),
        None => {
            let inside = container.span.start + 1..container.span.end - 1;
            (inside, format!("{}{item}{}", layout.lead, layout.tail))
        }
    }
}
