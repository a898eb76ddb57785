//! One check: a command line that is run to a defined end, whatever it does.
//!
//! It runs through `/bin/sh -c` in a process group of its own and in the session of its supervisor, which has no
//! terminal. Its input is empty; what it says on stdout and stderr is read as one stream, of which the end is kept.
//! At its time limit the group is asked to end, and two seconds later it is ended. What it leaves running when it
//! exits is given a moment, then ended too, and named in the report.
//!
//! What holds on Linux only: a process that left the group (`setsid`, a double fork) is still found, because its
//! supervisor inherits it. Elsewhere the group is ended, and what left it goes on.
//!
//! What it does not see: an exit status that the command line itself swallows (`| tail`, `|| true`); that is for lint.
//! The variables by which a host marks its agent's processes are passed on: a check that calls `steadfast` is no
//! human.

mod process_tree;
mod report;
mod shell;
mod supervisor;

pub use report::{CheckReport, CheckRun, LeftBehind};
pub use supervisor::{NoSupervisor, Supervisor};
