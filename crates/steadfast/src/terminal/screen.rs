//! The last lines of a terminal, which are redrawn in place.

use std::io::{Write, stderr};

use steadfast_text::fit;

use super::{painted, quoted, size};
use crate::output::visible;

#[derive(Debug, Default)]
pub(crate) struct Screen {
    /// Number of lines on the terminal.
    lines: usize,
}

impl Screen {
    /// `None` if standard error is not a terminal.
    pub(crate) fn of_stderr() -> Option<Self> {
        size(&stderr()).map(|_| Self::default())
    }

    /// The columns and rows that lines may take.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (columns, rows) = size(&stderr()).unwrap_or(super::USUAL);
        (columns.saturating_sub(1), rows.saturating_sub(1))
    }

    pub(crate) fn wipe(&mut self) {
        if self.lines > 0 {
            let _ = write!(stderr(), "{}", over(self.lines));
            self.lines = 0;
        }
    }

    pub(crate) fn draw(&mut self, lines: &[String]) {
        let (columns, rows) = self.size();
        let mut text = if self.lines > 0 { over(self.lines) } else { String::new() };
        // Lines beyond the height would scroll away and could not be redrawn.
        let lines = &lines[..lines.len().min(rows)];
        for line in lines {
            let line = quoted(&visible(line.replace('\n', " ")));
            text.push_str(&painted(&fit(&line, columns), &stderr()));
            text.push('\n');
        }
        self.lines = lines.len();
        let mut out = stderr();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Moves the cursor to the start of the first of these lines, and clears the rest. The `\r` matters after Ctrl-C: the
/// terminal prints `^C` at the cursor, and the next line would begin behind it.
fn over(lines: usize) -> String {
    format!("\r\u{1b}[{lines}A\u{1b}[J")
}
