//! The numbers of processes, as the calls of the system take them.

use rustix::process::Pid;

/// A child has a number that is one.
pub fn pid(id: u32) -> Pid {
    i32::try_from(id).ok().and_then(Pid::from_raw).unwrap_or(Pid::INIT)
}
