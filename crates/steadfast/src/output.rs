//! Printing: results go to standard output, notes and errors to standard error.
//!
//! `println!` panics if it cannot write. Here a closed pipe (`… | head`) is not an error, a full disk is one, and
//! failures of standard error are ignored: there is no place left to report them.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use steadfast_redact::redact_document;
use steadfast_text::wrap;

use crate::error::CommandError;
use crate::terminal;

/// The reader of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Here,
    Gone,
}

/// One line on standard output.
macro_rules! tell {
    ($($text:tt)*) => { $crate::output::put_line(format_args!($($text)*)) };
}

/// One line on standard error.
macro_rules! note {
    ($($text:tt)*) => { $crate::output::put_aside(format_args!("{}\n", format_args!($($text)*))) };
}

pub(crate) use {note, tell};

/// Prints a text, and wraps its lines at the width of a terminal. JSON stays on one line.
pub(crate) fn put_line(text: fmt::Arguments<'_>) -> Result<(), CommandError> {
    let text = visible(format!("{text}\n"));
    if text.starts_with("{\"") || text.starts_with("[{") {
        return write(&text).map(|_| ());
    }
    let text = terminal::quoted(&text);
    let text = terminal::width().map_or_else(|| text.clone(), |width| wrap(&text, width));
    write(&terminal::painted(&text, &io::stdout())).map(|_| ())
}

/// Prints lines that are laid out already, such as a table, and a source text with carets below it.
pub(crate) fn put_laid_out(text: &str) -> Result<Reader, CommandError> {
    write(&terminal::painted(&visible(text.to_owned()), &io::stdout()))
}

pub(crate) fn put_aside(text: fmt::Arguments<'_>) {
    let text = terminal::quoted(&visible(text.to_string()));
    let text = terminal::size(&io::stderr()).map_or_else(|| text.clone(), |(width, _)| wrap(&text, width));
    let _ = io::stderr().write_all(terminal::painted(&text, &io::stderr()).as_bytes());
}

/// Prints data on standard error: an error for another program.
pub(crate) fn put_aside_as_it_is(text: &str) {
    let _ = io::stderr().write_all(redact_document(text).as_bytes());
}

/// Replaces control characters, so that a terminal does not execute text from specs, titles or file names, and redacts
/// secrets.
pub(crate) fn visible(text: String) -> String {
    let text = match redact_document(&text) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => text,
    };
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_control) {
        return text;
    }
    let lines: Vec<String> = text.split("\r\n").map(|line| line.replace(is_control, "\u{fffd}")).collect();
    lines.join("\r\n")
}

/// Prints a text as it is, without its secrets: data for another program.
pub(crate) fn put(text: &str) -> Result<Reader, CommandError> {
    write(&redact_document(text))
}

fn write(text: &str) -> Result<Reader, CommandError> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(Reader::Here),
        Err(error) => gone_or_full(&error).map(|()| Reader::Gone),
    }
}

/// Returns an error for a failed write to standard output, unless the reader closed the pipe.
pub(crate) fn gone_or_full(error: &io::Error) -> Result<(), CommandError> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    Err(CommandError::failure(format!("cannot write to standard output: {error}"))
        .hint("free disk space or redirect the output; `steadfast status` shows the current state"))
}

/// Asks a human at a terminal. Returns `None` without a terminal or an answer.
pub(crate) fn ask(question: &str) -> Option<String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    Some(answer(question)).filter(|answer| !answer.is_empty())
}

/// Prints a question and reads one line.
pub(crate) fn answer(question: &str) -> String {
    put_aside(format_args!("{question}"));
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    answer
}

/// Asks a yes/no question; every answer but yes is a no.
pub(crate) fn says_yes(question: &str) -> bool {
    matches!(answer(question).trim(), "y" | "Y" | "yes")
}

/// Waits, and returns early if the reader closes the pipe: a command that writes nothing would not notice otherwise.
pub(crate) fn wait(time: Duration) -> Reader {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let output = io::stdout();
    let mut watched = [PollFd::new(&output, PollFlags::empty())];
    let timeout = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    match poll(&mut watched, Some(&timeout)) {
        Ok(0) => Reader::Here,
        Ok(_) => Reader::Gone,
        // A signal, or an output that cannot be watched.
        Err(_) => {
            std::thread::sleep(time);
            Reader::Here
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_seen_and_the_rest_is_as_it_was() {
        for (text, shown) in [
            ("a\tb\r\nü ✓\n", "a\tb\r\nü ✓\n"),
            ("\u{1b}[2Jb\r\n", "\u{fffd}[2Jb\r\n"),
            ("real\rfake\u{9b}", "real\u{fffd}fake\u{fffd}"),
        ] {
            assert_eq!(visible(text.to_owned()), shown);
        }
    }
}
