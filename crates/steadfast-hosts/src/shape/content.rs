//! Extracts the words of a call's input or result. The texts themselves are not stored.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::value::RawValue;
use steadfast_model::{Action, Content, Replaced, fnv};

use super::input::read;
use super::{ToolInput, text};

/// One replacement of a call with several.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Edit<'a> {
    #[serde(borrow)]
    old_string: Option<&'a RawValue>,
    #[serde(borrow)]
    new_string: Option<&'a RawValue>,
}

/// Returns the words that a call writes; empty if it writes nothing or does not show its text.
pub(crate) fn written(action: &Action, input: &ToolInput<'_>) -> Content {
    let mut content = Content::default();
    if !matches!(action, Action::Write { .. }) {
        return content;
    }
    for raw in [input.content, input.new_source].into_iter().flatten() {
        content.read_json(raw.get());
    }
    replaced(&mut content, input.old_string, input.new_string);
    for edit in read::<Vec<Edit<'_>>>(input.edits).unwrap_or_default().iter().take(Content::EDITS) {
        replaced(&mut content, edit.old_string, edit.new_string);
    }
    if let Some(patch) = text(input.command) {
        patched(&mut content, &patch);
    }
    content
}

/// Returns the words of a call's result.
pub(crate) fn answered(action: &Action, answer: Option<&RawValue>) -> Content {
    let mut content = Content::default();
    if !matches!(action, Action::Write { .. })
        && let Some(raw) = answer
    {
        content.read_json(raw.get());
    }
    content
}

fn replaced(content: &mut Content, old: Option<&RawValue>, new: Option<&RawValue>) {
    let Some(new) = new else { return };
    content.read_json(new.get());
    if let Some(old) = old {
        add_edit(content, old.get(), new.get(), r"\n");
    }
}

fn add_edit(content: &mut Content, old: &str, new: &str, line_break: &str) {
    if content.edits.len() < Content::EDITS {
        let (old, new) = changed(old, new, line_break);
        content.edits.push(Replaced { old, new });
    }
}

/// Returns the differing lines of two texts, as hashes. Equal lines around them only mark the place, and differ between
/// calls.
fn changed(old: &str, new: &str, line_break: &str) -> (u32, u32) {
    let [mut old, mut new] = [old, new].map(|text| {
        // JSON's quotes would become part of the first and the last line.
        text.trim_matches('"').split(line_break).map(str::trim).collect::<VecDeque<_>>()
    });
    while old.front().is_some_and(|line| new.front() == Some(line)) {
        old.pop_front();
        new.pop_front();
    }
    while old.back().is_some_and(|line| new.back() == Some(line)) {
        old.pop_back();
        new.pop_back();
    }
    (hash_lines(&old), hash_lines(&new))
}

/// Reads a patch of Codex, which writes its added lines.
fn patched(content: &mut Content, patch: &str) {
    let lines = |sign: char| -> String {
        let lines = patch.lines().filter_map(|line| line.strip_prefix(sign));
        lines.flat_map(|line| [line, "\n"]).collect()
    };
    let (old, new) = (lines('-'), lines('+'));
    content.read(&new);
    add_edit(content, &old, &new, "\n");
}

/// Hashes lines, to tell texts apart.
#[expect(clippy::cast_possible_truncation, reason = "half of a hash tells enough apart among a dozen")]
fn hash_lines(lines: &VecDeque<&str>) -> u32 {
    let hash = fnv(lines.iter().map(|line| line.as_bytes()));
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use steadfast_model::hashed_words;

    use super::*;

    fn of(input: &str) -> Content {
        let input: ToolInput<'_> = serde_json::from_str(input).unwrap();
        written(&Action::Write { paths: vec!["a.rs".to_owned()] }, &input)
    }

    #[test]
    fn the_new_text_is_what_a_call_writes() {
        let words = hashed_words("session token");
        assert_eq!(of(r#"{"content":"session\ntoken"}"#).words(), words);
        assert_eq!(of(r#"{"old_string":"theme","new_string":"session token"}"#).words(), words);
        let both = r#"{"edits":[{"old_string":"a","new_string":"session"},{"old_string":"b","new_string":"token"}]}"#;
        assert_eq!(of(both).words(), words);
        let patch = r#"{"command":"*** Update File: menu.rs\n@@ theme\n-colour\n+session\n+token\n"}"#;
        assert_eq!(of(patch).words(), words);
        assert_eq!(of(r#"{"new_source":"session token"}"#).words(), words);
    }

    #[test]
    fn to_and_fro_are_the_same_two_texts() {
        let edits = |old: &str, new: &str| of(&format!(r#"{{"old_string":"{old}","new_string":"{new}"}}"#)).edits;
        let (there, back) = (edits("one", "two"), edits("two", "one"));
        assert_eq!((there[0].old, there[0].new), (back[0].new, back[0].old));
        // With more of the file around it.
        assert_eq!(edits(r"fn a() {\n  one\n}", r"fn a() {\n  two\n}"), there);
        assert_ne!(edits("one", "three"), there);
        assert_eq!(of(r#"{"command":"*** Update File: a\n-one\n+two\n"}"#).edits.len(), 1);
        assert!(of(r#"{"content":"one"}"#).edits.is_empty());
    }

    #[test]
    fn an_answer_is_read_wherever_it_has_its_text() {
        let raw = serde_json::value::to_raw_value(&serde_json::json!({"file": {"content": "session\ntoken"}})).unwrap();
        let read = answered(&Action::Read { paths: Vec::new() }, Some(&raw));
        assert!(hashed_words("session token").iter().all(|word| read.words().contains(word)));
        assert_eq!(answered(&Action::Write { paths: Vec::new() }, Some(&raw)), Content::default());
    }
}
