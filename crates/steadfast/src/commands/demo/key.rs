//! Waits for a key at a terminal.

use std::io::{self, Read, Write};

use anstyle::Style;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    Continue,
    Quit,
}

/// Prints the question on a line of its own, waits for a key, and removes the line.
pub(super) fn wait(question: &str) -> io::Result<Pressed> {
    // Before the question is there, because the change of mode drops what was typed.
    let _mode = KeyMode::new();
    let (faint, mut out) = (Style::new().dimmed(), anstream::stdout());
    write!(out, "{faint}{question}{faint:#}")?;
    out.flush()?;
    let mut byte = [0];
    let read = io::stdin().lock().read(&mut byte)?;
    write!(out, "\r{:1$}\r", "", question.chars().count())?;
    out.flush()?;
    // No byte: the terminal is gone.
    Ok(if read == 0 { Pressed::Quit } else { meaning(byte[0]) })
}

/// Keys arrive one by one, Ctrl-C and Ctrl-D too, and are not printed.
struct KeyMode {
    before: Option<Termios>,
}

impl KeyMode {
    fn new() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(mut mode) = before.clone() {
            mode.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &mode);
        }
        Self { before }
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

fn meaning(byte: u8) -> Pressed {
    const CTRL_C: u8 = 3;
    const CTRL_D: u8 = 4;
    const ESCAPE: u8 = 27;
    match byte {
        b'q' | b'Q' | CTRL_C | CTRL_D | ESCAPE => Pressed::Quit,
        _ => Pressed::Continue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_continues_but_the_usual_ones_to_leave() {
        for byte in *b"\r\n x" {
            assert_eq!(meaning(byte), Pressed::Continue, "{byte}");
        }
        for byte in [b'q', b'Q', 3, 4, 27] {
            assert_eq!(meaning(byte), Pressed::Quit, "{byte}");
        }
    }
}
