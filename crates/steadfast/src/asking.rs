//! A human at a terminal is asked, and answers with a line.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use crate::output::put_aside;

/// The line that was typed. None: nobody is there, or nothing was answered.
pub(crate) fn ask(question: &str) -> Option<String> {
    if !(stdin().is_terminal() && stderr().is_terminal()) {
        return None;
    }
    put_aside(format_args!("{question}"));
    let mut answer = String::new();
    let read = stdin().lock().read_line(&mut answer);
    matches!(read, Ok(1..)).then_some(answer)
}
