use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use steadfast_model::{Event, EventKind, Millis};

use super::{Events, Transcript};

/// The events of a session with its subagents, in order of time. Newer versions of Claude Code write the work of a
/// subagent into a file of its own: `<session>/subagents/agent-<id>.jsonl` next to `<session>.jsonl`.
#[derive(Debug)]
pub struct SessionEvents {
    main: Stream,
    /// Files of subagents that have not started yet; the next one is the last element.
    waiting: Vec<(Millis, PathBuf)>,
    running: Vec<Stream>,
    damaged: u64,
    /// Events that were already returned, from either file.
    returned: HashSet<(u8, String)>,
    /// The types of subagents, by id.
    types: HashMap<String, String>,
}

/// Events, with the next one read in advance.
#[derive(Debug)]
struct Stream {
    next: Option<Event>,
    events: Events,
}

impl SessionEvents {
    /// Returns `None` if transcripts of this writer are not supported.
    pub fn of(path: &Path, transcript: Transcript) -> Option<Self> {
        let main = Stream::new(Events::of(transcript)?);
        let files = subagent_files(path);
        let types = files.iter().filter_map(|file| Some((agent_id(file)?, agent_type(file)?))).collect();
        let begins = |file: &Path| Some(Stream::open(file)?.next?.at);
        let mut waiting: Vec<(Millis, PathBuf)> =
            files.into_iter().filter_map(|file| Some((begins(&file)?, file))).collect();
        waiting.sort();
        waiting.reverse();
        Some(Self { main, waiting, running: Vec::new(), damaged: 0, returned: HashSet::new(), types })
    }

    /// Returns the number of unreadable rows so far.
    pub fn damaged(&self) -> u64 {
        let running: u64 = self.running.iter().map(|stream| stream.events.damaged()).sum();
        self.damaged + self.main.events.damaged() + running
    }

    /// Returns the earliest event, and true if it comes from a subagent's own file.
    fn earliest(&mut self) -> Option<(Event, bool)> {
        loop {
            let ended = self.running.extract_if(.., |stream| stream.next.is_none());
            self.damaged += ended.map(|stream| stream.events.damaged()).sum::<u64>();
            let mains = self.main.next.as_ref().map(|event| event.at);
            let subagents =
                self.running.iter().enumerate().filter_map(|(n, stream)| Some((stream.next.as_ref()?.at, n))).min();
            let first = mains.into_iter().chain(subagents.map(|(at, _)| at)).min();
            if let Some((_, file)) = self.waiting.pop_if(|(at, _)| first.is_none_or(|first| *at <= first)) {
                self.running.extend(Stream::open(&file));
                continue;
            }
            return match subagents {
                Some((at, number)) if mains.is_none_or(|main| at < main) => Some((self.running[number].pop()?, true)),
                _ => Some((self.main.pop()?, false)),
            };
        }
    }

    /// Returns true if the event was returned before, or does not belong into the whole session.
    fn is_known(&mut self, event: &Event, own_file: bool) -> bool {
        let agent = || event.agent.as_ref().map(|agent| agent.id.to_string());
        let (phase, name) = match &event.kind {
            EventKind::PreTool(call) => (1, call.id.as_ref().map(ToString::to_string)),
            EventKind::PostTool(result) => (2, result.call.id.as_ref().map(ToString::to_string)),
            EventKind::SubagentStart => (3, agent()),
            EventKind::SubagentStop(_) => (4, agent()),
            EventKind::SessionStart { .. } => return own_file,
            _ => return false,
        };
        name.is_some_and(|name| !self.returned.insert((phase, name)))
    }
}

impl Iterator for SessionEvents {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            let (mut event, own_file) = self.earliest()?;
            if self.is_known(&event, own_file) {
                continue;
            }
            if let Some(agent) = &mut event.agent
                && let Some(agent_type) = self.types.get(agent.id.as_str())
            {
                agent.agent_type.clone_from(agent_type);
            }
            return Some(event);
        }
    }
}

impl Stream {
    fn new(mut events: Events) -> Self {
        Self { next: events.next(), events }
    }

    fn open(file: &Path) -> Option<Self> {
        Transcript::open(file).ok().and_then(Events::of).map(Self::new)
    }

    fn pop(&mut self) -> Option<Event> {
        std::mem::replace(&mut self.next, self.events.next())
    }
}

/// Returns the file of the session that started this subagent, by the file's folder.
pub fn session_of(path: &Path) -> Option<PathBuf> {
    let session = path.parent().filter(|folder| folder.ends_with("subagents")).and_then(Path::parent)?;
    Some(session.with_added_extension("jsonl"))
}

pub fn subagent_files(path: &Path) -> Vec<PathBuf> {
    let folder = path.with_extension("").join("subagents");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).collect();
    files.sort();
    files
}

fn agent_id(file: &Path) -> Option<String> {
    file.file_stem()?.to_str()?.strip_prefix("agent-").map(str::to_owned)
}

/// Reads the type of a subagent from the file that the host writes next to its transcript.
fn agent_type(file: &Path) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Meta {
        agent_type: String,
    }
    let text = fs::read_to_string(file.with_extension("meta.json")).ok()?;
    serde_json::from_str::<Meta>(&text).ok().map(|meta| meta.agent_type)
}
