//! Computes the result of Claude Code's writing tools.

use serde::Deserialize;

#[derive(Deserialize)]
struct Payload {
    tool_input: Input,
}

#[derive(Deserialize)]
struct Input {
    content: Option<String>,
    #[serde(flatten)]
    edit: Option<Edit>,
    #[serde(default)]
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
struct Edit {
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

/// Returns the text of a file after a call of `Write`, `Edit` or `MultiEdit`, from the payload before the call. `None`
/// if the payload is incomplete or the edit does not apply.
pub fn text_after_write(payload: &[u8], before: &str) -> Option<String> {
    let Payload { tool_input: input } = serde_json::from_slice(payload).ok()?;
    after(before, input)
}

fn after(before: &str, Input { content, edit, edits }: Input) -> Option<String> {
    match (content, edit, edits.as_slice()) {
        (Some(content), None, []) => Some(content),
        (None, Some(edit), []) => edit.apply(before),
        (None, None, [_, ..]) => edits.iter().try_fold(before.to_owned(), |text, edit| edit.apply(&text)),
        _ => None,
    }
}

impl Edit {
    /// Applies the edit like the tool: to the only occurrence, or to all of them if `replace_all` is set.
    fn apply(&self, text: &str) -> Option<String> {
        let Self { old_string, new_string, replace_all } = self;
        match text.matches(old_string.as_str()).count() {
            _ if old_string.is_empty() => text.is_empty().then(|| new_string.clone()),
            0 => None,
            1 => Some(text.replacen(old_string, new_string, 1)),
            _ => replace_all.then(|| text.replace(old_string, new_string)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(input: &str, before: &str) -> Option<String> {
        text_after_write(format!(r#"{{"tool_input":{input}}}"#).as_bytes(), before)
    }

    #[test]
    fn a_file_is_written_as_the_tool_writes_it() {
        let edit = r#"{"file_path":"x","old_string":"a","new_string":"b"}"#;
        let all = r#"{"old_string":"a","new_string":"b","replace_all":true}"#;
        assert_eq!(after(r#"{"file_path":"x","content":"new"}"#, "old"), Some("new".into()));
        assert_eq!(after(edit, "xa"), Some("xb".into()));
        assert_eq!(after(edit, "aa"), None, "the tool refuses what is there twice");
        assert_eq!(after(all, "aa"), Some("bb".into()));
        assert_eq!(after(edit, "x"), None);
        let edits = r#"{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"b","new_string":"c"}]}"#;
        assert_eq!(after(edits, "a"), Some("c".into()));
        assert_eq!(after(r#"{"path":"x"}"#, "a"), None);
        assert_eq!(after(r#"{"content":"x","old_string":"a","new_string":"b"}"#, "a"), None);
    }
}
