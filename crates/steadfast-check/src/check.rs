//! Runs one check: a command line that always comes to a defined end.
//!
//! The check runs through `/bin/sh -c` in its own process group, and in the session of its supervisor, which has no
//! terminal. Its input is empty. The supervisor reads stdout and stderr as one stream and keeps the end of it. At the
//! time limit the group gets `TERM`, and `KILL` two seconds later. Processes that still run after the check get a
//! moment to end; then they are ended, too, and named in the report.
//!
//! On Linux only: a process that left the group (`setsid`, a double fork) is still found, because the supervisor
//! inherits it. Elsewhere such a process keeps running.
//!
//! It cannot see an exit status that the command line itself hides (`| tail`, `|| true`); the spec linter reports
//! those. The variables by which a host marks its agent's processes are passed on, so a `steadfast` called by a check
//! does not count as a human.

mod process_tree;
mod report;
mod shell;
mod supervisor;

pub use report::{CheckReport, CheckRun, LeftBehind};
pub use supervisor::{NoSupervisor, Supervisor};
