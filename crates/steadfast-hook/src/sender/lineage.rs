use std::fmt;

use steadfast_model::ForgedBy;

use crate::process::{HOSTS, Process, numbering};

/// How far up to look.
const GENERATIONS: usize = 32;

/// What only the shell of a tool call has in its environment. A hook has none of them, an MCP server neither.
const OF_TOOLS: [&str; 4] = ["CODEX_THREAD_ID=", "CODEX_SESSION_ID=", "CODEX_TOOL_CALL_ID=", "CODEX_CI="];

/// What is known of processes. The system's own table, or one that was recorded.
pub(super) trait Processes {
    fn look(&self, id: u32) -> Option<Process>;
    /// As it was when the process was started; what it does to its own later does not show.
    fn environment(&self, id: u32) -> Option<Vec<String>>;
    /// What its standard input is: `pipe:[7]`, `socket:[8]`, a path.
    fn input(&self, id: u32) -> Option<String>;
}

/// The system's own table.
#[derive(Debug)]
pub(super) struct System;

impl Processes for System {
    fn look(&self, id: u32) -> Option<Process> {
        Process::look(id)
    }

    fn environment(&self, id: u32) -> Option<Vec<String>> {
        let bytes = std::fs::read(format!("/proc/{id}/environ")).ok()?;
        let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Some(entries.map(|entry| String::from_utf8_lossy(entry).into_owned()).collect())
    }

    fn input(&self, id: u32) -> Option<String> {
        Some(std::fs::read_link(format!("/proc/{id}/fd/0")).ok()?.to_string_lossy().into_owned())
    }
}

/// The host of a session, as it was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) id: u32,
    pub(crate) started: u64,
    /// By whom processes are numbered there.
    pub(crate) numbering: String,
    pub(crate) ways: Ways,
}

/// How a host starts its hooks. Versions differ, so it is looked at when a session begins, and what held then has to hold
/// later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    /// It hands payloads over through sockets of its own.
    pub(crate) by_socket: bool,
    /// A hook has a session of its own, in the sense of `setsid`. An MCP server has not.
    pub(crate) leads: bool,
    /// A hook has the environment of its host.
    pub(crate) inherits: bool,
}

impl Noted {
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        Some(Self {
            id: words.next()?.parse().ok()?,
            started: words.next()?.parse().ok()?,
            numbering: words.next()?.to_owned(),
            ways: words.fold(Ways::default(), |ways, word| match word {
                "socket" => Ways { by_socket: true, ..ways },
                "leads" => Ways { leads: true, ..ways },
                "inherits" => Ways { inherits: true, ..ways },
                _ => ways,
            }),
        })
    }

    pub(super) fn is(&self, host: &Process) -> bool {
        self.id == host.id && self.started == host.started
    }

    /// Whether it still runs. None: in a container the same number is another process's, or processes cannot be looked at.
    pub(crate) fn is_alive(&self) -> Option<bool> {
        if self.numbering != numbering() {
            return None;
        }
        Process::look(std::process::id())?;
        Some(Process::look(self.id).is_some_and(|process| process.started == self.started))
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, started, numbering, ways: Ways { by_socket, leads, inherits } } = self;
        write!(f, "{id} {started} {numbering}")?;
        let words = [(*by_socket, "socket"), (*leads, "leads"), (*inherits, "inherits")];
        words.into_iter().filter(|(is_so, _)| *is_so).try_for_each(|(_, word)| write!(f, " {word}"))
    }
}

/// The ancestors of a sender, as far as they say who it is.
#[derive(Debug)]
pub(super) struct Lineage<'p, P> {
    processes: &'p P,
    /// From the sender up to the process that the host started.
    below: Vec<u32>,
    /// That process.
    first: Option<Process>,
    host: Option<Process>,
    /// The process that made the socket on the sender's standard input.
    peer: Option<u32>,
    /// Whether processes can be looked at.
    known: bool,
}

impl<'p, P: Processes> Lineage<'p, P> {
    pub(super) fn of(processes: &'p P, sender: u32, peer: Option<u32>) -> Self {
        let mut lineage = Self { processes, below: Vec::new(), first: None, host: None, peer, known: false };
        let Some(mut process) = processes.look(sender) else { return lineage };
        lineage.known = true;
        for _ in 0..GENERATIONS {
            let Some(parent) = processes.look(process.parent).filter(|parent| parent.id > 1) else { break };
            lineage.below.push(process.id);
            if HOSTS.contains(&parent.name.as_str()) {
                lineage.first = Some(process);
                lineage.host = Some(parent);
                break;
            }
            process = parent;
        }
        lineage
    }

    pub(super) fn host(&self) -> Option<&Process> {
        self.host.as_ref()
    }

    /// How the host started this sender, which is a hook.
    pub(super) fn ways(&self) -> Ways {
        let (Some(host), Some(first)) = (&self.host, &self.first) else { return Ways::default() };
        let environment = |process: &Process| self.processes.environment(process.id).unwrap_or_default();
        Ways {
            by_socket: self.is_by_socket(),
            leads: first.session == first.id,
            inherits: inherits(&environment(first), &environment(host)),
        }
    }

    /// The host itself made the socket that the payload came through.
    fn is_by_socket(&self) -> bool {
        self.host.as_ref().is_some_and(|host| self.peer == Some(host.id))
    }

    /// Why an event of a session is forged, if it is. `noted` are the hosts of that session with whether they are alive;
    /// `elsewhere` finds the host above the sender among those of other sessions here.
    pub(super) fn forged(
        &self,
        noted: &[(Option<bool>, Noted)],
        elsewhere: impl FnOnce(&Process) -> Option<Noted>,
    ) -> Option<ForgedBy> {
        // A hook of a host that was noted always has it above. One that runs in a container of its own, and has none, is
        // a tool's.
        let is_taken = noted.iter().any(|(alive, _)| *alive != Some(false));
        let Some(host) = &self.host else { return (self.known && is_taken).then_some(ForgedBy::Stranger) };
        let own = noted.iter().map(|(_, noted)| noted).find(|noted| noted.is(host));
        let theirs = own.cloned().or_else(|| elsewhere(host));
        // What is kept elsewhere is no business of this host: a test, a demonstration.
        let concerned = theirs.is_some() || is_taken;
        if concerned && self.is_tools(host, theirs.map(|noted| noted.ways).unwrap_or_default()) {
            return Some(ForgedBy::ToolCall);
        }
        // Another window of the session, or a host that a tool call started.
        (own.is_none() && is_taken && self.is_inside(host)).then_some(ForgedBy::ToolCall)
    }

    /// Whether the host started it as a hook, as far as can be seen without knowing how it does that.
    pub(super) fn is_hooks(&self) -> bool {
        self.host.as_ref().is_some_and(|host| !self.is_tools(host, Ways::default()))
    }

    /// Whether a human may sit before it. `is_at_work`: a host has a session here.
    pub(super) fn may_be_attended(&self, is_at_work: impl FnOnce() -> bool) -> bool {
        match &self.host {
            Some(host) => !self.is_inside(host),
            None => !self.known || !is_at_work(),
        }
    }

    /// Whether what the host started is no hook: a tool's shell, or an MCP server.
    fn is_tools(&self, host: &Process, ways: Ways) -> bool {
        let Some(first) = &self.first else { return false };
        if ways.leads && first.session != first.id {
            return true;
        }
        if ways.by_socket || self.is_by_socket() {
            return !self.is_by_socket();
        }
        // A hook is fed by its host: through a pipe or a socket, never from a file, and a tool's shell from nothing.
        let is_fed = |input: String| input.starts_with("pipe:") || input.starts_with("socket:");
        if self.processes.input(first.id).is_some_and(|input| !is_fed(input)) {
            return true;
        }
        let hosts = self.processes.environment(host.id).unwrap_or_default();
        let is_marked = |entry: &String| is_of_tool(entry) && !hosts.contains(entry);
        self.below
            .iter()
            .filter_map(|id| Some((*id, self.processes.environment(*id)?)))
            .any(|(id, own)| own.iter().any(is_marked) || (ways.inherits && id == first.id && !inherits(&own, &hosts)))
    }

    /// Whether a host was itself started by an agent: another one is above it, or its environment is a tool's.
    fn is_inside(&self, host: &Process) -> bool {
        let mut id = host.parent;
        for _ in 0..GENERATIONS {
            let Some(process) = self.processes.look(id).filter(|process| process.id > 1) else { break };
            if HOSTS.contains(&process.name.as_str()) {
                return true;
            }
            id = process.parent;
        }
        self.processes.environment(host.id).is_some_and(|own| own.iter().any(|entry| is_of_tool(entry)))
    }
}

fn is_of_tool(entry: &str) -> bool {
    let of_claude = entry.strip_prefix("AI_AGENT=").is_some_and(|agent| agent.ends_with("_agent"));
    of_claude || OF_TOOLS.iter().any(|name| entry.starts_with(name))
}

/// Whether an environment has what its host's has. A login shell drops a few variables at most.
fn inherits(own: &[String], hosts: &[String]) -> bool {
    fn name(entry: &str) -> &str {
        entry.split_once('=').map_or(entry, |(name, _)| name)
    }
    let kept = hosts.iter().filter(|entry| own.iter().any(|other| name(other) == name(entry))).count();
    !hosts.is_empty() && kept * 4 >= hosts.len() * 3
}
