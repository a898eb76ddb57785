use std::ffi::OsStr;
use std::process::Command;

/// A program to be started: the only place of the product that makes a [`Command`], so that a search for the callers finds
/// every process it starts.
#[expect(clippy::disallowed_methods, reason = "the door through which processes are started")]
pub fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}
