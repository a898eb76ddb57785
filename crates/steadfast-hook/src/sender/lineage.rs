use std::fmt;

use steadfast_model::ForgedBy;
use steadfast_system::ProcessEntry;

use crate::process::{is_host, numbering};

/// The most ancestors that are examined.
const GENERATIONS: usize = 32;

/// Variables that only the shell of a tool call has. Neither hooks nor MCP servers have them.
const OF_TOOLS: [&str; 4] = ["CODEX_THREAD_ID=", "CODEX_SESSION_ID=", "CODEX_TOOL_CALL_ID=", "CODEX_CI="];

/// A table of processes: the system's own, or a recorded one.
pub(super) trait Processes {
    fn look(&self, id: u32) -> Option<ProcessEntry>;
    /// The environment at the start of the process. Its own later changes are not visible.
    fn environment(&self, id: u32) -> Option<Vec<String>>;
    /// The target of its standard input (0), output (1) or error (2): `pipe:[7]`, `socket:[8]` or a path.
    fn stream(&self, id: u32, number: u8) -> Option<String>;
    /// Returns whether the process has this pipe open. `None`: its files cannot be listed.
    fn holds(&self, id: u32, pipe: &str) -> Option<bool>;
    /// Returns whether it has given up privileges for good, as in a sandbox.
    fn is_confined(&self, id: u32) -> bool;
}

#[derive(Debug)]
pub(super) struct System;

impl Processes for System {
    fn look(&self, id: u32) -> Option<ProcessEntry> {
        ProcessEntry::of(id)
    }

    fn environment(&self, id: u32) -> Option<Vec<String>> {
        let bytes = ProcessEntry::environment(id).ok()?;
        let entries = bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Some(entries.map(|entry| String::from_utf8_lossy(entry).into_owned()).collect())
    }

    fn stream(&self, id: u32, number: u8) -> Option<String> {
        Some(ProcessEntry::link(id, &format!("fd/{number}")).ok()?.to_string_lossy().into_owned())
    }

    fn holds(&self, id: u32, pipe: &str) -> Option<bool> {
        Some(ProcessEntry::open_files(id).ok()?.any(|file| file == pipe))
    }

    fn is_confined(&self, id: u32) -> bool {
        let status = ProcessEntry::text(id, "status");
        let number = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map_or("0", str::trim);
        number("NoNewPrivs:") != "0" || number("Seccomp:") != "0"
    }
}

/// The thoroughness of the check of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Care {
    /// Checks its ancestors, and the input of the first process below the host.
    Lineage,
    /// Also checks whether its pipes look like those of a hook.
    Pipes,
    /// Also checks whether the host reads its output. This lists all files of the host.
    BothEnds,
}

/// The recorded host of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) id: u32,
    pub(crate) started: u64,
    /// The namespace of its process number.
    pub(crate) numbering: String,
    pub(crate) ways: Ways,
}

/// The way a host starts its hooks. It differs between versions, so it is observed at the start of a session, and must
/// stay the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    /// It sends payloads through its own sockets.
    pub(crate) by_socket: bool,
    /// A hook has its own session, in the sense of `setsid`. An MCP server does not.
    pub(crate) leads: bool,
    /// A hook has the environment of its host.
    pub(crate) inherits: bool,
    /// The pipe of a hook's standard output was made right after that of its standard input. Numbers of pipes
    /// increase, so a process that makes a new input for a given output gets a number that does not fit.
    pub(crate) together: bool,
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
                "together" => Ways { together: true, ..ways },
                _ => ways,
            }),
        })
    }

    pub(super) fn is(&self, host: &ProcessEntry) -> bool {
        self.id == host.id && self.started == host.started
    }

    /// Returns whether it still runs; a zombie does not. `None`: in a container the number means another process, or
    /// processes cannot be read.
    pub(crate) fn is_alive(&self) -> Option<bool> {
        if self.numbering != numbering() {
            return None;
        }
        ProcessEntry::of(std::process::id())?;
        Some(ProcessEntry::of(self.id).is_some_and(|process| process.started == self.started && !process.ended))
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, started, numbering, ways: Ways { by_socket, leads, inherits, together } } = self;
        write!(f, "{id} {started} {numbering}")?;
        let words = [(*by_socket, "socket"), (*leads, "leads"), (*inherits, "inherits"), (*together, "together")];
        words.into_iter().filter(|(is_so, _)| *is_so).try_for_each(|(_, word)| write!(f, " {word}"))
    }
}

/// The ancestors of a sender that identify it.
#[derive(Debug)]
pub(super) struct Lineage<'p, P> {
    processes: &'p P,
    /// The processes from the sender up to the one that the host started.
    below: Vec<u32>,
    /// The process that the host started.
    first: Option<ProcessEntry>,
    host: Option<ProcessEntry>,
    /// The process that made the socket on the sender's standard input.
    peer: Option<u32>,
    /// True if processes can be read.
    known: bool,
    care: Care,
}

impl<'p, P: Processes> Lineage<'p, P> {
    pub(super) fn of(processes: &'p P, sender: u32, peer: Option<u32>) -> Self {
        let mut lineage =
            Self { processes, below: Vec::new(), first: None, host: None, peer, known: false, care: Care::Lineage };
        let Some(mut process) = processes.look(sender) else { return lineage };
        lineage.known = true;
        for _ in 0..GENERATIONS {
            let Some(parent) = processes.look(process.parent).filter(|parent| parent.id > 1) else { break };
            lineage.below.push(process.id);
            if is_host(&parent) {
                lineage.first = Some(process);
                lineage.host = Some(parent);
                break;
            }
            process = parent;
        }
        lineage
    }

    pub(super) fn with(self, care: Care) -> Self {
        Self { care, ..self }
    }

    pub(super) fn host(&self) -> Option<&ProcessEntry> {
        self.host.as_ref()
    }

    /// Returns how the host started this sender, which is a hook.
    pub(super) fn ways(&self) -> Ways {
        let (Some(host), Some(first)) = (&self.host, &self.first) else { return Ways::default() };
        let environment = |process: &ProcessEntry| self.processes.environment(process.id).unwrap_or_default();
        Ways {
            by_socket: self.is_by_socket(),
            leads: first.session == first.id,
            inherits: inherits(&environment(first), &environment(host)),
            together: self.is_together(first),
        }
    }

    /// Returns whether the host itself made the socket of the payload.
    fn is_by_socket(&self) -> bool {
        self.host.as_ref().is_some_and(|host| self.peer == Some(host.id))
    }

    /// Returns why an event of a session is forged, if it is. `noted` are the hosts of that session, with whether they
    /// are alive. `elsewhere` finds the host above the sender among those of other sessions here.
    pub(super) fn forged(
        &self,
        noted: &[(Option<bool>, Noted)],
        elsewhere: impl FnOnce(&ProcessEntry) -> Option<Noted>,
    ) -> Option<ForgedBy> {
        // A hook of a recorded host always has that host above it. A sender in its own container, without a host above
        // it, belongs to a tool.
        let is_taken = noted.iter().any(|(alive, _)| *alive != Some(false));
        let Some(host) = &self.host else { return (self.known && is_taken).then_some(ForgedBy::Stranger) };
        let own = noted.iter().map(|(_, noted)| noted).find(|noted| noted.is(host));
        let theirs = own.cloned().or_else(|| elsewhere(host));
        // A session that is kept elsewhere does not concern this host: a test, a demonstration.
        let concerned = theirs.is_some() || is_taken;
        if concerned && self.is_tools(host, theirs.map(|noted| noted.ways).unwrap_or_default()) {
            return Some(ForgedBy::ToolCall);
        }
        // The host is another window of the session, or a tool call started it.
        (own.is_none() && is_taken && self.is_inside(host)).then_some(ForgedBy::ToolCall)
    }

    /// Returns whether the host started it as a hook, as far as visible without knowing how the host does that.
    pub(super) fn is_hooks(&self) -> bool {
        self.host.as_ref().is_some_and(|host| !self.is_tools(host, Ways::default()))
    }

    /// Returns whether a human may operate it. `is_at_work`: a host has a session here.
    pub(super) fn may_be_attended(&self, is_at_work: impl FnOnce() -> bool) -> bool {
        match &self.host {
            Some(host) => !self.is_inside(host),
            None => !self.known || !is_at_work(),
        }
    }

    /// Returns whether the process that the host started is not a hook: a tool's shell, or an MCP server.
    fn is_tools(&self, host: &ProcessEntry, ways: Ways) -> bool {
        let Some(first) = &self.first else { return false };
        if ways.leads && first.session != first.id {
            return true;
        }
        if ways.by_socket || self.is_by_socket() {
            return !self.is_by_socket();
        }
        // A host feeds its hook through a pipe or a socket, never from a file. A tool's shell gets no input.
        let is_fed = |input: String| input.starts_with("pipe:") || input.starts_with("socket:");
        if self.processes.stream(first.id, 0).is_some_and(|input| !is_fed(input)) {
            return true;
        }
        if self.processes.is_confined(first.id) && !self.processes.is_confined(host.id) {
            return true;
        }
        if ways.together && self.care >= Care::Pipes && !self.is_together(first) {
            return true;
        }
        if ways.together && self.care >= Care::BothEnds && !self.is_read(first, host) {
            return true;
        }
        let hosts = self.processes.environment(host.id).unwrap_or_default();
        let is_marked = |entry: &String| is_of_tool(entry) && !hosts.contains(entry);
        self.below
            .iter()
            .filter_map(|id| Some((*id, self.processes.environment(*id)?)))
            .any(|(id, own)| own.iter().any(is_marked) || (ways.inherits && id == first.id && !inherits(&own, &hosts)))
    }

    /// Returns whether the output pipe of a process was made right after its input pipe.
    fn is_together(&self, process: &ProcessEntry) -> bool {
        let number = |stream| pipe_number(&self.processes.stream(process.id, stream)?);
        let (Some(input), Some(output)) = (number(0), number(1)) else { return false };
        let is_next_lot = input % LOT == 0 && output % LOT == 1;
        let lot = |number: u64| number.saturating_sub(1) / LOT;
        is_next_lot || (lot(input) == lot(output) && (1..=NEAR).contains(&output.saturating_sub(input)))
    }

    /// Returns whether the host has the other end of a process's output, as far as its files can be listed.
    fn is_read(&self, process: &ProcessEntry, host: &ProcessEntry) -> bool {
        let output = self.processes.stream(process.id, 1);
        output.and_then(|pipe| self.processes.holds(host.id, &pipe)).unwrap_or(true)
    }

    /// Returns whether an agent started the host: another host is above it, or its environment is a tool's.
    fn is_inside(&self, host: &ProcessEntry) -> bool {
        let mut id = host.parent;
        for _ in 0..GENERATIONS {
            let Some(process) = self.processes.look(id).filter(|process| process.id > 1) else { break };
            if is_host(&process) {
                return true;
            }
            id = process.parent;
        }
        self.processes.environment(host.id).is_some_and(|own| own.iter().any(|entry| is_of_tool(entry)))
    }
}

/// The size of the batch of file numbers that a processor takes at once (`get_next_ino` in the kernel). After the last
/// of a batch, the next batch may start anywhere.
const LOT: u64 = 1024;

/// The largest distance of a hook's two pipes. On a busy machine another process may make some in between.
const NEAR: u64 = 16;

fn pipe_number(stream: &str) -> Option<u64> {
    stream.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()
}

fn is_of_tool(entry: &str) -> bool {
    let of_claude = entry.strip_prefix("AI_AGENT=").is_some_and(|agent| agent.ends_with("_agent"));
    of_claude || OF_TOOLS.iter().any(|name| entry.starts_with(name))
}

/// Returns whether an environment contains that of its host. A login shell drops a few variables at most.
fn inherits(own: &[String], hosts: &[String]) -> bool {
    fn name(entry: &str) -> &str {
        entry.split_once('=').map_or(entry, |(name, _)| name)
    }
    let kept = hosts.iter().filter(|entry| own.iter().any(|other| name(other) == name(entry))).count();
    !hosts.is_empty() && kept * 4 >= hosts.len() * 3
}
