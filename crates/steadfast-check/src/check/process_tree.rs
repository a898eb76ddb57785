//! The processes that a check started, found by descent.

use std::collections::BTreeSet;
use std::fs;

#[cfg(not(target_os = "linux"))]
use rustix::process::getsid;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, waitpid};

use super::report::LeftBehind;
#[cfg(target_os = "linux")]
use crate::process::entry;
use crate::process::{ProcessStat, entries};

const LONGEST_NAME: usize = 120;

#[derive(Debug)]
pub(crate) struct ProcessTree {
    supervisor: Pid,
    /// What ran beneath the supervisor before: not the check's.
    before: BTreeSet<i32>,
    /// The first process of the check; its group has the same number.
    leader: Pid,
    watcher: Pid,
}

impl ProcessTree {
    pub(crate) fn of(leader: Pid, watcher: Pid, before: BTreeSet<i32>) -> Self {
        Self { supervisor: getpid(), before, leader, watcher }
    }

    /// What runs besides the leader. What has ended is taken off the list of processes. Nothing where there is no
    /// `/proc`.
    pub(crate) fn alive(&self) -> Vec<Pid> {
        let entries = entries();
        let group = self.leader.as_raw_pid();
        let known = |pid: i32| pid == self.watcher.as_raw_pid() || self.before.contains(&pid);
        let family = family(&entries, |entry| entry.group == group, known);
        let others = entries.into_iter().filter(|entry| {
            family.contains(&entry.pid.as_raw_pid()) && entry.pid != self.supervisor && entry.pid != self.leader
        });
        let mut alive = Vec::new();
        for entry in others {
            if !entry.dead {
                alive.push(entry.pid);
            } else if entry.parent == self.supervisor.as_raw_pid() {
                let _ = waitpid(Some(entry.pid), WaitOptions::NOHANG);
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
    entry(getpid()).is_some_and(|entry| entry.session == getpid().as_raw_pid())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn leads_session() -> bool {
    getsid(None).ok() == Some(getpid())
}

/// What runs beneath this process.
pub(crate) fn beneath() -> BTreeSet<i32> {
    let mut family = family(&entries(), |_| false, |_| false);
    family.remove(&getpid().as_raw_pid());
    family
}

/// This process, those that belong to it, and all that descend from them, save some with all that is beneath those.
fn family(
    entries: &[ProcessStat],
    belongs: impl Fn(&ProcessStat) -> bool,
    save: impl Fn(i32) -> bool,
) -> BTreeSet<i32> {
    let mut family = BTreeSet::from([getpid().as_raw_pid()]);
    let mut grown = true;
    while grown {
        grown = false;
        for entry in entries {
            let pid = entry.pid.as_raw_pid();
            if (family.contains(&entry.parent) || belongs(entry)) && !save(pid) {
                grown |= family.insert(pid);
            }
        }
    }
    family
}

pub(crate) fn describe(pid: Pid) -> LeftBehind {
    let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
    let words = String::from_utf8_lossy(&words).replace(['\0', '\n'], " ");
    let mut command: String = words.trim().chars().take(LONGEST_NAME).collect();
    if command.is_empty() {
        command = "a process without a name".to_owned();
    }
    LeftBehind { pid: pid.as_raw_pid(), command, ended: false }
}
