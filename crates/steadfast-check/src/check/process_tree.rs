//! The processes that a check started, found by descent.

use std::collections::BTreeSet;

#[cfg(not(target_os = "linux"))]
use rustix::process::getsid;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid};

use steadfast_system::ProcessEntry;

use super::report::LeftBehind;
use crate::process::pid;

const LONGEST_NAME: usize = 120;

#[derive(Debug)]
pub(crate) struct ProcessTree {
    supervisor: Pid,
    /// What ran beneath the supervisor before: not the check's.
    before: BTreeSet<u32>,
    /// The first process of the check; its group has the same number.
    leader: Pid,
    watcher: Pid,
}

impl ProcessTree {
    pub(crate) fn of(leader: Pid, watcher: Pid, before: BTreeSet<u32>) -> Self {
        Self { supervisor: getpid(), before, leader, watcher }
    }

    /// What runs besides the leader. What has ended is taken off the list of processes. Nothing where there is no
    /// `/proc`.
    pub(crate) fn alive(&self) -> Vec<Pid> {
        let all: Vec<ProcessEntry> = ProcessEntry::all().collect();
        let known = |id: u32| pid(id) == self.watcher || self.before.contains(&id);
        let family = family(&all, |process| pid(process.group) == self.leader, known);
        let mut alive = Vec::new();
        for process in all.into_iter().filter(|process| family.contains(&process.id)) {
            let id = pid(process.id);
            if id == self.supervisor || id == self.leader {
                continue;
            }
            if !process.ended {
                alive.push(id);
            } else if pid(process.parent) == self.supervisor {
                let _ = waitpid(Some(id), WaitOptions::NOHANG);
            }
        }
        alive
    }

    /// The group, and whoever left it. The leader has not been waited for, so the number of the group is still its own.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
        for pid in self.alive() {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Whether this process leads its session.
///
/// `getsid` is not asked on Linux: where a container was entered from outside, it says 0, which is no process.
#[cfg(target_os = "linux")]
pub(crate) fn leads_session() -> bool {
    let own = std::process::id();
    ProcessEntry::of(own).is_some_and(|process| process.session == own)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn leads_session() -> bool {
    getsid(None).ok() == Some(getpid())
}

/// What runs beneath this process.
pub(crate) fn beneath() -> BTreeSet<u32> {
    let all: Vec<ProcessEntry> = ProcessEntry::all().collect();
    let mut family = family(&all, |_| false, |_| false);
    family.remove(&std::process::id());
    family
}

/// This process, those that belong to it, and all that descend from them, save some with all that is beneath those.
fn family(all: &[ProcessEntry], belongs: impl Fn(&ProcessEntry) -> bool, save: impl Fn(u32) -> bool) -> BTreeSet<u32> {
    let mut family = BTreeSet::from([std::process::id()]);
    let mut grown = true;
    while grown {
        grown = false;
        for process in all {
            if (family.contains(&process.parent) || belongs(process)) && !save(process.id) {
                grown |= family.insert(process.id);
            }
        }
    }
    family
}

pub(crate) fn describe(pid: Pid) -> LeftBehind {
    let words = ProcessEntry::command_line(pid.as_raw_pid().unsigned_abs()).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace(['\0', '\n'], " ");
    let mut command: String = words.trim().chars().take(LONGEST_NAME).collect();
    if command.is_empty() {
        command = "a process without a name".to_owned();
    }
    LeftBehind { pid: pid.as_raw_pid(), command, ended: false }
}
