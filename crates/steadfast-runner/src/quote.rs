//! Quotes the output of other programs in our texts.

/// Returns the last characters, from the beginning of a line where possible.
pub(crate) fn end_of(text: &str, longest: usize) -> &str {
    let text = text.trim_end();
    let Some((start, _)) = text.char_indices().rev().nth(longest.saturating_sub(1)) else { return text };
    let end = &text[start..];
    if start == 0 { end } else { end.split_once('\n').map_or(end, |(_, rest)| rest) }
}

/// Fences the output of another program, so that it cannot pass for our text.
pub(crate) fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}\n{text}\n{fence}")
}

/// Quotes a word for a shell.
pub(crate) fn shell_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
