//! Finds the paths named in documents that a session reads. Nothing else of their text is stored.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;
use steadfast_model::Action;

use super::text;

/// Longer documents are ignored. In bytes.
const LONGEST: usize = 256 * 1024;

const ENDINGS: [&str; 6] = [".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt"];

/// Returns true if a call reads a document, as far as its input shows.
pub(crate) fn is_read(action: &Action) -> bool {
    match action {
        Action::Read { paths } => paths.iter().any(|path| is_document(path)),
        Action::Shell { command, .. } => command.split([' ', '"', '\'', '\n', ';']).any(is_document),
        _ => false,
    }
}

fn is_document(path: &str) -> bool {
    ENDINGS.iter().any(|ending| path.len() > ending.len() && path.ends_with(ending))
}

/// Returns the paths in a call's result, at most `most`.
pub(crate) fn names(answer: Option<&RawValue>, most: usize) -> Vec<String> {
    let mut found = Vec::new();
    match answer.map(RawValue::get) {
        Some(raw) if raw.len() <= LONGEST && raw.starts_with('"') => {
            add_paths(&text(answer).unwrap_or_default(), most, &mut found);
        }
        Some(raw) if raw.len() <= LONGEST => {
            each_text(&serde_json::from_str(raw).unwrap_or_default(), &mut |text| add_paths(text, most, &mut found));
        }
        _ => {}
    }
    found
}

fn each_text(value: &Value, to: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => to(text),
        Value::Array(all) => all.iter().for_each(|value| each_text(value, to)),
        // The document's own path is not part of its text.
        Value::Object(all) => {
            all.iter().filter(|(key, _)| *key != "filePath").for_each(|(_, value)| each_text(value, to));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add_paths(text: &str, most: usize, found: &mut Vec<String>) {
    let is_separator =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | '<' | '>' | ',' | ';' | '|' | '→');
    for word in text.split(is_separator) {
        // Accept Windows separators.
        let word = if word.contains('\\') { Cow::Owned(word.replace('\\', "/")) } else { Cow::Borrowed(word) };
        let word = word.trim_start_matches("./").trim_matches(['*', ':', '.', '!', '?']);
        // `src/a.rs:12` names a line of the file.
        let path = word.split_once(':').map_or(word, |(path, _)| path);
        if found.len() < most && is_path(path) && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
}

/// Returns true for a file in a folder. A bare file name is ambiguous.
fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+' | '[' | ']');
    let (folder, name) = word.rsplit_once('/').unwrap_or_default();
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    let is_file = ending
        .is_some_and(|ending| (1..=5).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic()));
    is_file && !folder.is_empty() && word.len() < 200 && word.chars().all(plain) && !word.contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(answer: &Value) -> Vec<String> {
        let raw = serde_json::value::to_raw_value(answer).unwrap();
        names(Some(&raw), 3)
    }

    #[test]
    fn a_document_is_told_by_its_ending() {
        let read = |path: &str| is_read(&Action::Read { paths: vec![path.to_owned()] });
        assert!(read("/repo/docs/PLAN.md") && read("notes.txt"));
        assert!(!read("/repo/src/a.rs") && !read(".md"));
        assert!(is_read(&Action::shell("cat 'docs/plan one.md' | head")));
        assert!(!is_read(&Action::shell("cat docs/plan.mdc")) && !is_read(&Action::Ask));
    }

    #[test]
    fn paths_are_found_wherever_the_answer_has_its_text() {
        let text = "1→# Plan\n2→- [ ] `src/a.rs:12`, see .\\web\\menu.ts (not https://a.b/c.md)\n3→**src/a.rs**, Node.js, and/or";
        let wanted = ["src/a.rs", "web/menu.ts"];
        assert_eq!(found(&text.into()), wanted);
        assert_eq!(found(&serde_json::json!({"file": {"filePath": "/repo/docs/plan.md", "content": text}})), wanted);
        assert_eq!(found(&serde_json::json!([{"type": "text", "text": text}])), wanted);
        assert_eq!(found(&Value::Null), Vec::<String>::new());
    }

    #[test]
    fn however_much_a_document_names_a_little_is_kept() {
        let many: Vec<String> = (0..100).map(|n| format!("src/{n}.rs")).collect();
        assert_eq!(found(&many.join(" ").into()), ["src/0.rs", "src/1.rs", "src/2.rs"]);
        assert_eq!(found(&"src/a.rs ".repeat(LONGEST).into()), Vec::<String>::new());
    }
}
