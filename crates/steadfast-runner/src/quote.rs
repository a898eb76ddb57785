//! What another program said, in a text of ours.

/// The last characters, from the beginning of a line where there is one.
pub(crate) fn end_of(text: &str, longest: usize) -> &str {
    let text = text.trim_end();
    let Some((start, _)) = text.char_indices().rev().nth(longest.saturating_sub(1)) else { return text };
    let end = &text[start..];
    if start == 0 { end } else { end.split_once('\n').map_or(end, |(_, rest)| rest) }
}

/// What another program said, so that it cannot be taken for ours.
pub(crate) fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{text}\n{fence}")
}

/// A word as a shell reads it.
pub(crate) fn shell_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
