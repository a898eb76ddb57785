//! Who belongs to an agent: its group, and whoever left the group with the variable it was started with.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

use steadfast_check::process::{entry, has_variable, pids};

#[derive(Debug)]
pub(super) struct AgentProcesses {
    leader: Pid,
    /// `NAME=value`, of this agent only.
    variable: String,
    /// What ran before it: need not be looked at.
    before: HashSet<Pid>,
}

impl AgentProcesses {
    /// To be called before the agent is started.
    pub(super) fn before() -> HashSet<Pid> {
        pids().into_iter().collect()
    }

    pub(super) fn of(leader: Pid, variable: String, before: HashSet<Pid>) -> Self {
        Self { leader, variable, before }
    }

    /// What runs besides the leader. Nothing where there is no `/proc`.
    pub(super) fn others(&self) -> Vec<Pid> {
        let mut pids = pids();
        pids.retain(|pid| *pid != self.leader && *pid != getpid() && !self.before.contains(pid));
        // `getpgid` is not asked: where a container was entered from outside, it says 0, which is no group.
        pids.retain(|pid| {
            entry(*pid).is_some_and(|entry| {
                !entry.dead && (entry.group == self.leader.as_raw_pid() || has_variable(*pid, &self.variable))
            })
        });
        pids
    }

    /// Ends what is left in the group, where nobody can be looked for.
    pub(super) fn sweep(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }

    /// The leader has not been waited for, so the number of the group is still its own.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
        for pid in self.others() {
            let _ = kill_process(pid, signal);
        }
    }
}
