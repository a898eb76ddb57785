use std::ffi::OsStr;
use std::process::Command;

/// Prepares to start a program. This is the only place in the product that makes a [`Command`], so a search for its callers
/// finds every process that Steadfast starts.
#[expect(clippy::disallowed_methods, reason = "the door through which processes are started")]
pub fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}
