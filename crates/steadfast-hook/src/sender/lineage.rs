use std::fmt;

use steadfast_model::ForgedBy;
use steadfast_system::ProcessEntry;

use crate::process::{is_host, numbering};

/// How far up to look.
const GENERATIONS: usize = 32;

/// What only the shell of a tool call has in its environment. A hook has none of them, an MCP server neither.
const OF_TOOLS: [&str; 4] = ["CODEX_THREAD_ID=", "CODEX_SESSION_ID=", "CODEX_TOOL_CALL_ID=", "CODEX_CI="];

/// What is known of processes. The system's own table, or one that was recorded.
pub(super) trait Processes {
    fn look(&self, id: u32) -> Option<ProcessEntry>;
    /// As it was when the process was started; what it does to its own later does not show.
    fn environment(&self, id: u32) -> Option<Vec<String>>;
    /// What its standard input (0), output (1) or error (2) is: `pipe:[7]`, `socket:[8]`, a path.
    fn stream(&self, id: u32, number: u8) -> Option<String>;
    /// Whether a file of it is that pipe. None: its files cannot be listed.
    fn holds(&self, id: u32, pipe: &str) -> Option<bool>;
    /// Whether it has given up privileges for good, as in a sandbox.
    fn is_confined(&self, id: u32) -> bool;
}

/// The system's own table.
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

/// How closely a sender is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Care {
    /// Its ancestors and what the first below the host is fed by.
    Lineage,
    /// Also whether its pipes were made as a hook's are.
    Pipes,
    /// Also whether the host reads what it says. That lists all files of the host.
    BothEnds,
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
    /// The standard output of a hook is a pipe that was made right after the one of its standard input. The numbers of
    /// pipes go up, so whoever makes a new input for the output it was given does not get that one.
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

    /// Whether it still runs. None: in a container the same number is another process's, or processes cannot be looked at.
    pub(crate) fn is_alive(&self) -> Option<bool> {
        if self.numbering != numbering() {
            return None;
        }
        ProcessEntry::of(std::process::id())?;
        Some(ProcessEntry::of(self.id).is_some_and(|process| process.started == self.started))
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

/// The ancestors of a sender, as far as they say who it is.
#[derive(Debug)]
pub(super) struct Lineage<'p, P> {
    processes: &'p P,
    /// From the sender up to the process that the host started.
    below: Vec<u32>,
    /// That process.
    first: Option<ProcessEntry>,
    host: Option<ProcessEntry>,
    /// The process that made the socket on the sender's standard input.
    peer: Option<u32>,
    /// Whether processes can be looked at.
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

    /// How the host started this sender, which is a hook.
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

    /// The host itself made the socket that the payload came through.
    fn is_by_socket(&self) -> bool {
        self.host.as_ref().is_some_and(|host| self.peer == Some(host.id))
    }

    /// Why an event of a session is forged, if it is. `noted` are the hosts of that session with whether they are alive;
    /// `elsewhere` finds the host above the sender among those of other sessions here.
    pub(super) fn forged(
        &self,
        noted: &[(Option<bool>, Noted)],
        elsewhere: impl FnOnce(&ProcessEntry) -> Option<Noted>,
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
    fn is_tools(&self, host: &ProcessEntry, ways: Ways) -> bool {
        let Some(first) = &self.first else { return false };
        if ways.leads && first.session != first.id {
            return true;
        }
        if ways.by_socket || self.is_by_socket() {
            return !self.is_by_socket();
        }
        // A hook is fed by its host: through a pipe or a socket, never from a file, and a tool's shell from nothing.
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

    /// Whether the output of a process was made right after its input.
    fn is_together(&self, process: &ProcessEntry) -> bool {
        let number = |stream| pipe_number(&self.processes.stream(process.id, stream)?);
        let (Some(input), Some(output)) = (number(0), number(1)) else { return false };
        let is_next_lot = input % LOT == 0 && output % LOT == 1;
        let lot = |number: u64| number.saturating_sub(1) / LOT;
        is_next_lot || (lot(input) == lot(output) && (1..=NEAR).contains(&output.saturating_sub(input)))
    }

    /// Whether the host has the other end of what a process says, as far as its files can be listed.
    fn is_read(&self, process: &ProcessEntry, host: &ProcessEntry) -> bool {
        let output = self.processes.stream(process.id, 1);
        output.and_then(|pipe| self.processes.holds(host.id, &pipe)).unwrap_or(true)
    }

    /// Whether a host was itself started by an agent: another one is above it, or its environment is a tool's.
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

/// How many numbers for new files a processor takes at once (`get_next_ino` in the kernel). The last of a lot is followed
/// by the first of whatever lot is next.
const LOT: u64 = 1024;

/// How far apart the two pipes of a hook may be: on a busy machine another process makes some in between.
const NEAR: u64 = 16;

fn pipe_number(stream: &str) -> Option<u64> {
    stream.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()
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
