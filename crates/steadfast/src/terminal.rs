//! How results look at a terminal: styles, wrapping, tables, times, and work that takes a while.
//!
//! A text carries its styles as marks (`steadfast_text::MARKS`) until `output` prints it. There a terminal gets colours
//! and wrapped lines, and a pipe gets the bare text, one line per record.

mod colour;
mod screen;
mod spinner;
mod table;
mod time;

use std::io::IsTerminal;

use rustix::fd::AsFd;

pub(crate) use colour::{Styling, bad, bare, choose, faint, good, heading, painted, quoted, strong, warning};
pub(crate) use screen::Screen;
pub(crate) use spinner::{Spinner, bar};
pub(crate) use table::{Column, Table};
pub(crate) use time::{clock, day, day_line, in_utc, moment, stamp, zone};

/// Columns and rows where the terminal does not know its size.
const USUAL: (usize, usize) = (80, 24);

/// The columns and rows of a terminal; `None` if it is not one.
pub(crate) fn size(stream: &(impl AsFd + IsTerminal)) -> Option<(usize, usize)> {
    if !stream.is_terminal() {
        return None;
    }
    Some(match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => USUAL,
    })
}

/// The rows of standard output; `None` if it is not a terminal.
pub(crate) fn rows() -> Option<usize> {
    size(&std::io::stdout()).map(|(_, rows)| rows)
}

/// The columns of standard output; `None` if it is not a terminal.
pub(crate) fn width() -> Option<usize> {
    size(&std::io::stdout()).map(|(columns, _)| columns)
}
