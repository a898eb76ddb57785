//! Finds the processes of an agent: its group, and processes outside the group that have its environment variable.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

use steadfast_check::process::pid;
use steadfast_system::{ProcessEntry, process_ids};

#[derive(Debug)]
pub(super) struct AgentProcesses {
    leader: Pid,
    /// `NAME=value`, unique to this agent.
    variable: String,
    /// The processes that ran before the agent, which the search skips.
    before: HashSet<u32>,
}

impl AgentProcesses {
    /// Must be called before the agent starts.
    pub(super) fn before() -> HashSet<u32> {
        process_ids().collect()
    }

    pub(super) fn of(leader: Pid, variable: String, before: HashSet<u32>) -> Self {
        Self { leader, variable, before }
    }

    /// Returns the processes apart from the leader. Without `/proc` it returns none.
    pub(super) fn others(&self) -> Vec<Pid> {
        // The group comes from `/proc`, because `getpgid` returns 0 in a container that was entered from outside.
        let belongs = |process: ProcessEntry| {
            let is_ours =
                || pid(process.group) == self.leader || ProcessEntry::has_variable(process.id, &self.variable);
            !process.ended && is_ours()
        };
        process_ids()
            .filter(|id| !self.before.contains(id) && pid(*id) != self.leader && pid(*id) != getpid())
            .filter(|id| ProcessEntry::of(*id).is_some_and(belongs))
            .map(pid)
            .collect()
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
