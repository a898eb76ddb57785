//! Finds the processes of an agent: its group, and processes outside the group that have its environment variable.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

use steadfast_check::process::{entry, has_variable, pids};

#[derive(Debug)]
pub(super) struct AgentProcesses {
    leader: Pid,
    /// `NAME=value`, unique to this agent.
    variable: String,
    /// The processes that ran before the agent, which the search skips.
    before: HashSet<Pid>,
}

impl AgentProcesses {
    /// Must be called before the agent starts.
    pub(super) fn before() -> HashSet<Pid> {
        pids().into_iter().collect()
    }

    pub(super) fn of(leader: Pid, variable: String, before: HashSet<Pid>) -> Self {
        Self { leader, variable, before }
    }

    /// Returns the processes apart from the leader. Without `/proc` it returns none.
    pub(super) fn others(&self) -> Vec<Pid> {
        let mut pids = pids();
        pids.retain(|pid| *pid != self.leader && *pid != getpid() && !self.before.contains(pid));
        // The group comes from `/proc`, because `getpgid` returns 0 in a container that was entered from outside.
        pids.retain(|pid| {
            entry(*pid).is_some_and(|entry| {
                !entry.dead && (entry.group == self.leader.as_raw_pid() || has_variable(*pid, &self.variable))
            })
        });
        pids
    }

    /// Kills the rest of the group where processes cannot be searched.
    pub(super) fn sweep(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// The leader is not reaped yet, so the number of the group is still its own.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
        for pid in self.others() {
            let _ = kill_process(pid, signal);
        }
    }
}
