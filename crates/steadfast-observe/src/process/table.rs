//! The state of the processes that a host runs in the background, read from `/proc`.

use std::collections::HashSet;
use std::time::Duration;

use steadfast_model::Liveness;
use steadfast_system::{ProcessEntry, process_ids};

use crate::deadline::Deadline;
use crate::error::ObserveError;

/// The first words of a command that are compared; enough to identify it.
const WORDS: usize = 24;

/// `/proc/net/tcp`: the state of a socket that listens.
const LISTEN: &str = "0A";

/// Returns the state of each command, among the processes that this host started. It is [`Liveness::Unknown`] without
/// `/proc`, if no process has the command in its command line, and after the deadline.
#[must_use]
pub fn processes_of(host: u32, commands: &[Option<&str>], budget: Duration) -> Vec<Liveness> {
    let unknown = || vec![Liveness::Unknown; commands.len()];
    let deadline = Deadline::after(budget);
    let Ok(table) = Table::read(deadline) else { return unknown() };
    let descendants = table.descendants(host);
    let own: HashSet<u32> = table.ancestors(std::process::id()).collect();
    let others: Vec<&ProcessEntry> = descendants.iter().filter(|process| !own.contains(&process.id)).copied().collect();
    // Only this hook is left below the host, so every command has ended.
    if others.is_empty() && own.contains(&host) {
        return vec![Liveness::Gone; commands.len()];
    }
    let lines: Vec<(&ProcessEntry, Vec<String>)> =
        others.iter().filter_map(|process| Some((*process, words(&command_line(process.id)?)))).collect();
    let state_of = |command: &Option<&str>| {
        let wanted: Vec<String> = words(command.as_ref()?).into_iter().take(WORDS).collect();
        // The host truncates long commands, so the last word may be incomplete.
        let wanted = if wanted.len() > 3 { &wanted[..wanted.len() - 1] } else { &wanted[..] };
        if wanted.is_empty() {
            return None;
        }
        let carries = |words: &[String]| words.windows(wanted.len()).any(|some| some == wanted);
        let found: Vec<u32> = lines.iter().filter(|(_, words)| carries(words)).map(|(one, _)| one.id).collect();
        table.liveness(host, &found, deadline).ok().flatten()
    };
    commands.iter().map(|command| state_of(command).unwrap_or(Liveness::Unknown)).collect()
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

    /// A process and its ancestors.
    fn ancestors(&self, id: u32) -> impl Iterator<Item = u32> {
        let parent = |id: &u32| self.0.iter().find(|process| process.id == *id).map(|process| process.parent);
        std::iter::successors(Some(id), parent).take(self.0.len())
    }

    /// All descendants of a process.
    fn descendants(&self, id: u32) -> Vec<&ProcessEntry> {
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

    /// Returns the state of these processes and their descendants; `None` if `found` is empty.
    fn liveness(&self, host: u32, found: &[u32], deadline: Deadline) -> Result<Option<Liveness>, ObserveError> {
        let Some(first) = found.first() else { return Ok(None) };
        let session = |id: u32| self.0.iter().find(|process| process.id == id).map(|process| process.session);
        let mut all: HashSet<u32> = found.iter().copied().collect();
        for id in found {
            all.extend(self.descendants(*id).iter().map(|process| process.id));
            // A server that daemonised has another parent, but the same session.
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

/// Splits a command line into words, however it was quoted.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| c.is_whitespace() || "\0'\"\\;&|()<>".contains(c));
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Lists the listening sockets in the network namespace of this process, with their ports.
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
