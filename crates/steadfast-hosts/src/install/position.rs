/// Line and column of a byte in a text, both from 1, the column in characters.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[line_start..].chars().filter(|c| *c != '\u{feff}').count() + 1;
    (before.matches('\n').count() + 1, column)
}
