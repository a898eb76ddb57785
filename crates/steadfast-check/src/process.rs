//! Numbers of processes, in the type of system calls.

use rustix::process::Pid;

/// Converts the number of a child process.
pub fn pid(id: u32) -> Pid {
    i32::try_from(id).ok().and_then(Pid::from_raw).unwrap_or(Pid::INIT)
}
