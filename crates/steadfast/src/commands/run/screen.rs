use std::io::{Write, stderr};

use crate::output::visible;

/// The last lines of a terminal, which are redrawn in place.
#[derive(Debug, Default)]
pub(super) struct Screen {
    /// Number of lines on the terminal.
    lines: usize,
}

impl Screen {
    pub(super) fn wipe(&mut self) {
        if self.lines > 0 {
            let _ = write!(stderr(), "{}", over(self.lines));
            self.lines = 0;
        }
    }

    pub(super) fn draw(&mut self, lines: &[String]) {
        let (columns, rows) = size();
        let mut text = if self.lines > 0 { over(self.lines) } else { String::new() };
        // Lines beyond the height would scroll away and could not be redrawn.
        let lines = &lines[..lines.len().min(rows.saturating_sub(1))];
        for line in lines {
            text.extend(visible(line.replace('\n', " ")).chars().take(columns.saturating_sub(1)));
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

fn size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}
