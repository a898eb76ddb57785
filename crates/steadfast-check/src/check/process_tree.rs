//! Finds the processes that a check started, by descent.

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
    /// Processes below the supervisor that ran before the check.
    before: BTreeSet<u32>,
    /// The first process of the check. Its group has the same number.
    leader: Pid,
    watcher: Pid,
}

impl ProcessTree {
    pub(crate) fn of(leader: Pid, watcher: Pid, before: BTreeSet<u32>) -> Self {
        Self { supervisor: getpid(), before, leader, watcher }
    }

    /// Returns the running processes of the check apart from the leader, and reaps those that ended. Without `/proc`
    /// it returns none.
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

    /// Signals the group, and processes that left it. The leader is not reaped yet, so the number of the group is
    /// still its own.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
        for pid in self.alive() {
            let _ = kill_process(pid, signal);
        }
    }
}

/// Returns whether this process leads its session.
///
/// On Linux it reads `/proc`, because `getsid` returns 0 in a container that was entered from outside.
#[cfg(target_os = "linux")]
pub(crate) fn leads_session() -> bool {
    let own = std::process::id();
    ProcessEntry::of(own).is_some_and(|process| process.session == own)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn leads_session() -> bool {
    getsid(None).ok() == Some(getpid())
}

/// Returns the processes below this one.
pub(crate) fn beneath() -> BTreeSet<u32> {
    let all: Vec<ProcessEntry> = ProcessEntry::all().collect();
    let mut family = family(&all, |_| false, |_| false);
    family.remove(&std::process::id());
    family
}

/// Returns this process, the processes that belong to it, and all their descendants, except the saved ones with their
/// descendants.
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
