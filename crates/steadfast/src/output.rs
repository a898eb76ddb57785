//! What a command says: what was asked for on standard output, everything beside it on standard error.
//!
//! `println!` panics where nothing can be written. A reader that went away is no failure (`… | head`), a full disk is
//! one, and a standard error that cannot be written is nothing that could be said anywhere.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use steadfast_redact::redact_document;

use crate::error::CommandError;

/// Whether somebody still reads.
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

pub(crate) fn put_line(text: fmt::Arguments<'_>) -> Result<(), CommandError> {
    put(&visible(format!("{text}\n"))).map(|_| ())
}

pub(crate) fn put_aside(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(visible(text.to_string()).as_bytes());
}

/// What a spec, a title or a file name holds is shown, and not obeyed by a terminal. Secrets are not shown.
pub(crate) fn visible(text: String) -> String {
    let text = match redact_document(&text) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(_) => text,
    };
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return text;
    }
    let lines: Vec<String> = text.split("\r\n").map(|line| line.replace(is_obeyed, "\u{fffd}")).collect();
    lines.join("\r\n")
}

pub(crate) fn put(text: &str) -> Result<Reader, CommandError> {
    let text = redact_document(text);
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(Reader::Here),
        Err(error) => gone_or_full(&error).map(|()| Reader::Gone),
    }
}

/// What it means that standard output could not be written.
pub(crate) fn gone_or_full(error: &io::Error) -> Result<(), CommandError> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    Err(CommandError::failure(format!("cannot write to standard output: {error}"))
        .hint("free some space or send the output elsewhere; `steadfast status` shows how things stand"))
}

/// Asks a human at a terminal. None: there is no terminal, or no answer.
pub(crate) fn ask(question: &str) -> Option<String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    Some(answer(question)).filter(|answer| !answer.is_empty())
}

/// The line that is typed behind a question.
pub(crate) fn answer(question: &str) -> String {
    put_aside(format_args!("{question}"));
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    answer
}

/// Whether a human says yes.
pub(crate) fn says_yes(question: &str) -> bool {
    matches!(answer(question).trim(), "y" | "Y" | "yes")
}

/// Waits, shorter if the reader goes away meanwhile: who has nothing to write would never learn of it.
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
