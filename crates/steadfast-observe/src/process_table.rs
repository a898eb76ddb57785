//! What the processes are doing that a host runs in the background, as `/proc` has them.

use std::collections::HashSet;
use std::time::Duration;

use steadfast_model::Liveness;
use steadfast_system::{ProcessEntry, process_ids};

use crate::deadline::Deadline;
use crate::error::ObserveError;

/// So many words tell a command from any other.
const WORDS: usize = 24;

/// `/proc/net/tcp`: the state of a socket that listens.
const LISTEN: &str = "0A";

/// For each command what became of it, among the processes that this host started. Where there is no `/proc`, where no
/// process carries the command, and where the time is over, it is [`Liveness::Unknown`].
#[must_use]
pub fn processes_of(host: u32, commands: &[Option<&str>], budget: Duration) -> Vec<Liveness> {
    let unknown = || vec![Liveness::Unknown; commands.len()];
    let deadline = Deadline::after(budget);
    let Ok(table) = Table::read(deadline) else { return unknown() };
    let below = table.below(host);
    let own: HashSet<u32> = table.line_up(std::process::id()).collect();
    let beside: Vec<&ProcessEntry> = below.iter().filter(|process| !own.contains(&process.id)).copied().collect();
    // Nothing but this hook is left below the host: whatever it was, it has ended.
    if beside.is_empty() && own.contains(&host) {
        return vec![Liveness::Gone; commands.len()];
    }
    let lines: Vec<(&ProcessEntry, Vec<String>)> =
        beside.iter().filter_map(|process| Some((*process, words(&command_line(process.id)?)))).collect();
    let look = |command: &Option<&str>| {
        let wanted: Vec<String> = words(command.as_ref()?).into_iter().take(WORDS).collect();
        // The host cuts long commands: the last word may be half of one.
        let wanted = if wanted.len() > 3 { &wanted[..wanted.len() - 1] } else { &wanted[..] };
        if wanted.is_empty() {
            return None;
        }
        let carries = |words: &[String]| words.windows(wanted.len()).any(|some| some == wanted);
        let found: Vec<u32> = lines.iter().filter(|(_, words)| carries(words)).map(|(one, _)| one.id).collect();
        table.liveness(host, &found, deadline).ok().flatten()
    };
    commands.iter().map(|command| look(command).unwrap_or(Liveness::Unknown)).collect()
}

#[derive(Debug)]
struct Table(Vec<ProcessEntry>);

impl Table {
    fn read(deadline: Deadline) -> Result<Self, ObserveError> {
        let mut table = Vec::new();
        for id in process_ids() {
            deadline.left()?;
            table.extend(ProcessEntry::of(id).filter(|process| !process.ended));
        }
        Ok(Self(table))
    }

    /// A process and those above it.
    fn line_up(&self, id: u32) -> impl Iterator<Item = u32> {
        let parent = |id: &u32| self.0.iter().find(|process| process.id == *id).map(|process| process.parent);
        std::iter::successors(Some(id), parent).take(self.0.len())
    }

    /// Those that this one started, and those that they started.
    fn below(&self, id: u32) -> Vec<&ProcessEntry> {
        let mut found: Vec<&ProcessEntry> = Vec::new();
        let mut parents = vec![id];
        while let Some(parent) = parents.pop() {
            for process in self.0.iter().filter(|process| process.parent == parent && process.id != parent) {
                parents.push(process.id);
                found.push(process);
            }
        }
        found
    }

    /// What these and all that they started are doing. `None`: there are none.
    fn liveness(&self, host: u32, found: &[u32], deadline: Deadline) -> Result<Option<Liveness>, ObserveError> {
        let Some(first) = found.first() else { return Ok(None) };
        let session = |id: u32| self.0.iter().find(|process| process.id == id).map(|process| process.session);
        let mut all: HashSet<u32> = found.iter().copied().collect();
        for id in found {
            all.extend(self.below(*id).iter().map(|process| process.id));
            // A server that put itself into the background has another parent by now, and the same session.
            let own = session(*id).filter(|own| session(host) != Some(*own));
            all.extend(self.0.iter().filter(|process| Some(process.session) == own).map(|process| process.id));
        }
        let sockets = listening(*first);
        if !sockets.is_empty() {
            for id in all {
                deadline.left()?;
                if let Some(port) = open_socket(id, &sockets) {
                    return Ok(Some(Liveness::Listens { port }));
                }
            }
        }
        Ok(Some(Liveness::Runs))
    }
}

fn command_line(id: u32) -> Option<String> {
    Some(String::from_utf8_lossy(&ProcessEntry::command_line(id).ok()?).into_owned())
}

/// The words of a command line, however it was quoted on its way.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| c.is_whitespace() || "\0'\"\\;&|()<>".contains(c));
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The sockets that listen where this process is at home, with their ports.
fn listening(id: u32) -> Vec<(String, u16)> {
    let tables = ["net/tcp", "net/tcp6"].map(|table| ProcessEntry::text(id, table));
    tables.iter().flat_map(|text| text.lines()).filter_map(listener).collect()
}

/// `0: 0100007F:1F90 00000000:0000 0A … inode …`
fn listener(line: &str) -> Option<(String, u16)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let (_, port) = local.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (*state == LISTEN).then(|| (format!("socket:[{inode}]"), port))
}

fn open_socket(id: u32, sockets: &[(String, u16)]) -> Option<u16> {
    ProcessEntry::open_files(id)
        .ok()?
        .find_map(|file| sockets.iter().find(|(name, _)| file == name.as_str()).map(|(_, port)| *port))
}
