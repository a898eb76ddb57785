use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use steadfast_check::process::pid;
use steadfast_system::{ProcessEntry, process_ids};

use super::{MARK, Process};

/// The time between `TERM` and `KILL`.
const GRACE: Duration = Duration::from_secs(2);
/// The time to wait after `KILL`. Only the kernel can hold a process longer.
const KILLED: Duration = Duration::from_secs(2);

/// Ends the remaining processes with this mark, and the recorded process with its group if it is still the same
/// process. Returns how many there were. Without `/proc` it finds none.
pub fn end_left_behind(mark: &str, recorded: Option<Process>) -> usize {
    let variable = format!("{MARK}={mark}");
    let group = recorded.filter(|process| is_same(*process)).map(|process| process.pid);
    let leader = group.map(pid);
    let belongs = |process: ProcessEntry| {
        let is_marked = || ProcessEntry::has_variable(process.id, &variable);
        !process.ended && (Some(process.group) == group || is_marked())
    };
    let is_left = |id: &u32| pid(*id) != getpid() && ProcessEntry::of(*id).is_some_and(belongs);
    let find = || process_ids().filter(is_left).map(pid).collect::<Vec<_>>();
    let found = find();
    let signal = |left: &[Pid], signal: Signal| {
        // As long as its leader exists, the number of the group belongs to it.
        if let Some(leader) = leader.filter(|leader| left.contains(leader)) {
            let _ = kill_process_group(leader, signal);
        }
        for pid in left {
            let _ = kill_process(*pid, signal);
        }
    };
    let until_gone = |time: Duration, each: &dyn Fn(&[Pid])| {
        let until = Instant::now() + time;
        loop {
            let left = find();
            if left.is_empty() || Instant::now() >= until {
                return left.is_empty();
            }
            each(&left);
            thread::sleep(Duration::from_millis(20));
        }
    };
    if found.is_empty() {
        return 0;
    }
    signal(&found, Signal::TERM);
    signal(&found, Signal::CONT);
    if !until_gone(GRACE, &|_| {}) {
        until_gone(KILLED, &|left| signal(left, Signal::KILL));
    }
    found.len()
}

fn is_same(process: Process) -> bool {
    process.started != 0 && ProcessEntry::of(process.pid).is_some_and(|found| found.started == process.started)
}
