//! Who belongs to an agent: its group, and whoever left the group with the variable it was started with.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};

use steadfast_check::process::pid;
use steadfast_system::{ProcessEntry, process_ids};

#[derive(Debug)]
pub(super) struct AgentProcesses {
    leader: Pid,
    /// `NAME=value`, of this agent only.
    variable: String,
    /// What ran before it: need not be looked at.
    before: HashSet<u32>,
}

impl AgentProcesses {
    /// To be called before the agent is started.
    pub(super) fn before() -> HashSet<u32> {
        process_ids().collect()
    }

    pub(super) fn of(leader: Pid, variable: String, before: HashSet<u32>) -> Self {
        Self { leader, variable, before }
    }

    /// What runs besides the leader. Nothing where there is no `/proc`.
    pub(super) fn others(&self) -> Vec<Pid> {
        // `getpgid` is not asked: where a container was entered from outside, it says 0, which is no group.
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
