//! Whether a host stands above this process. An environment can be emptied; the process that started this one cannot be
//! changed. Where the system does not tell, the environment and the claim have to do.

use steadfast_hook::{HOSTS, Process};
use steadfast_model::Host;

/// The host among the ancestors of this process.
pub(crate) fn host_above() -> Option<Host> {
    Process::above(&HOSTS)?.name.parse().ok()
}
