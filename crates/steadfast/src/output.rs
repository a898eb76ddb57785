//! Standard output whose reader may go away: `… | head` is no failure.

use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use crate::error::CommandError;

/// Whether somebody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Here,
    Gone,
}

pub(crate) fn put(text: &str) -> Result<Reader, CommandError> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(Reader::Here),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(CommandError::failure(format!("cannot write to standard output: {error}"))),
    }
}

/// Waits, shorter if the reader goes away meanwhile: who has nothing to write would never learn of it.
#[cfg(unix)]
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

#[cfg(not(unix))]
pub(crate) fn wait(time: Duration) -> Reader {
    std::thread::sleep(time);
    Reader::Here
}
