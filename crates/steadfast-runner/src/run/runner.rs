//! The process that runs a run, distinguished from a later one with the same number.

use steadfast_model::Process;

use steadfast_check::process::pid;
use steadfast_system::ProcessEntry;

pub fn this_process() -> Process {
    let id = std::process::id();
    Process { pid: id, started: ProcessEntry::of(id).map_or(0, |found| found.started) }
}

/// Returns whether the process still runs. If the system does not know its start time, only the number counts.
pub fn is_alive(process: Process) -> bool {
    match ProcessEntry::of(process.pid) {
        Some(found) => !found.ended && (process.started == 0 || found.started == process.started),
        // Without `/proc` any process with that number counts.
        None if process.started == 0 => rustix::process::test_kill_process(pid(process.pid)).is_ok(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_another_with_its_number() {
        let own = this_process();
        assert!(is_alive(own));
        if own.started > 0 {
            assert!(!is_alive(Process { started: own.started - 1, ..own }));
        }
    }
}
