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
            // Line by line: when all of a screen is erased, some terminals keep it in what can be scrolled back to.
            let text = format!("\r{ERASE}{}", format!("{UP}{ERASE}").repeat(self.lines));
            let _ = stderr().write_all(text.as_bytes());
            self.lines = 0;
        }
    }

    /// Draws over the lines from before.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        let (columns, rows) = self.size();
        // The `\r` matters after Ctrl-C: the terminal prints `^C` at the cursor, and the next line would begin behind it.
        let mut text = format!("\r{}", UP.repeat(self.lines));
        // Lines beyond the height would scroll away and could not be redrawn.
        let lines = &lines[..lines.len().min(rows)];
        for line in lines {
            let line = quoted(&visible(line.replace('\n', " ")));
            text.push_str(&painted(&fit(&line, columns), &stderr()));
            text.push_str(REST_OF_LINE);
            text.push('\n');
        }
        text.push_str(REST_OF_SCREEN);
        self.lines = lines.len();
        let mut out = stderr();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

const UP: &str = "\u{1b}[A";
/// These three erase.
const ERASE: &str = "\u{1b}[2K";
const REST_OF_LINE: &str = "\u{1b}[K";
const REST_OF_SCREEN: &str = "\u{1b}[J";
