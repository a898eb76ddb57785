//! Reads a recording as the events that the hooks of the agents would have sent.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use steadfast_hosts::{ProxiedCall, ProxiedPrompt, WireContext};
use steadfast_model::{Event, EventKind, Host, Millis, PromptOrigin, SessionId, StartSource, Via};
use steadfast_proxy::wire::{WireFormat, WirePrompt, WireResult, results};

use crate::recorder::{MARK, name};

/// The sessions of a recording, in the order of their beginnings.
#[derive(Debug, Default)]
pub struct RecordedSessions {
    pub sessions: Vec<RecordedSession>,
    /// Lines that could not be read.
    pub damaged: u64,
    /// Exchanges of no session that the rules know: without an id, or of another format.
    pub unknown: u64,
}

#[derive(Debug)]
pub struct RecordedSession {
    pub id: String,
    pub events: Vec<Event>,
}

#[derive(Deserialize)]
struct Line {
    at: i64,
    lasted_ms: i64,
    format: Option<String>,
    session: Option<String>,
    agent: Option<String>,
    request: LineRequest,
    answer: LineAnswer,
}

#[derive(Deserialize)]
struct LineRequest {
    body: Option<String>,
}

#[derive(Deserialize)]
struct LineAnswer {
    #[serde(default)]
    calls: Vec<LineCall>,
}

#[derive(Deserialize)]
struct LineCall {
    id: String,
    tool: String,
    namespace: Option<String>,
    input: String,
}

impl RecordedSessions {
    /// Reads a recording. `None`: the file is something else.
    pub fn read(path: &Path) -> io::Result<Option<Self>> {
        let mut lines = BufReader::new(File::open(path)?);
        let mut first = Vec::new();
        // Another file may have no lines at all.
        lines.by_ref().take(64 << 10).read_until(b'\n', &mut first)?;
        let head: Value = serde_json::from_slice(&first).unwrap_or_default();
        if head.get(MARK).is_none() {
            return Ok(None);
        }
        let folder = head["folder"].as_str().unwrap_or_default().to_owned();
        let (mut recorded, mut sessions) = (Self::default(), BTreeMap::<String, Reading>::new());
        let mut line = Vec::new();
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let Ok(exchange) = serde_json::from_slice::<Line>(&line) else {
                recorded.damaged += 1;
                continue;
            };
            let format = [WireFormat::Messages, WireFormat::Responses];
            let format = format.into_iter().find(|format| exchange.format.as_deref() == Some(name(*format)));
            match (format, exchange.session.clone()) {
                (Some(format), Some(id)) => {
                    let fresh = || Reading::new(&id, format, folder.clone(), Millis(exchange.at));
                    sessions.entry(id.clone()).or_insert_with(fresh).add(format, exchange);
                }
                _ if exchange.format.is_some() => recorded.unknown += 1,
                _ => {}
            }
        }
        recorded.sessions = sessions.into_iter().map(|(id, session)| session.end(id)).collect();
        recorded.sessions.sort_by_key(|session| session.events.first().map(|event| event.at));
        Ok(Some(recorded))
    }
}

/// A session while it is read.
struct Reading {
    host: Host,
    folder: String,
    events: Vec<Event>,
    /// Calls without a result so far.
    waiting: BTreeMap<String, ProxiedCall>,
    /// Ids of all calls.
    seen: HashSet<String>,
    /// Texts of the prompts, with the length of the conversation.
    prompts: HashSet<(String, usize)>,
}

impl Reading {
    fn new(id: &str, format: WireFormat, folder: String, at: Millis) -> Self {
        let host = match format {
            WireFormat::Responses => Host::Codex,
            WireFormat::Messages | WireFormat::Chat => Host::Claude,
        };
        let kind = EventKind::SessionStart { source: StartSource::Startup };
        let start = Event { via: Via::Proxy, ..Event::plain(SessionId::new(id), host, folder.clone(), at, kind) };
        let (waiting, seen, prompts) = (BTreeMap::new(), HashSet::new(), HashSet::new());
        Self { host, folder, events: vec![start], waiting, seen, prompts }
    }

    fn add(&mut self, format: WireFormat, exchange: Line) {
        let Line { at, lasted_ms, session, agent, request, answer, .. } = exchange;
        let session = session.unwrap_or_default();
        // Codex names the main thread, too.
        let agent = agent.filter(|agent| *agent != session);
        let body = request.body.unwrap_or_default();
        let asked = self.context(at);
        let awaited = results(format, body.as_bytes(), |id| self.waiting.contains_key(id));
        for WireResult { id, is_error, output, .. } in awaited {
            if let Some(call) = self.waiting.remove(&id) {
                self.events.extend(call.after(&output, is_error, &asked));
            }
        }
        if agent.is_none()
            && let Some(prompt) = WirePrompt::of(format, body.as_bytes())
            && let Some(ProxiedPrompt { text, .. }) = ProxiedPrompt::of(self.host, None, &prompt.texts)
            && self.prompts.insert((text.clone(), prompt.length))
        {
            let kind = EventKind::prompt(text, PromptOrigin::Proxied);
            let (id, folder) = (SessionId::new(&session), self.folder.clone());
            self.events.push(Event { via: Via::Proxy, ..Event::plain(id, self.host, folder, asked.at, kind) });
        }
        let answered = self.context(at.saturating_add(lasted_ms));
        for LineCall { id, tool, namespace, input } in answer.calls {
            if !self.seen.insert(id.clone()) {
                continue;
            }
            let (session, agent) = (session.clone(), agent.clone());
            let call = ProxiedCall { host: self.host, session, agent, id, tool, namespace, input };
            self.events.extend(call.before(&answered));
            self.waiting.insert(call.id.clone(), call);
        }
    }

    fn context(&self, at: i64) -> WireContext {
        WireContext { at: Millis(at), cwd: self.folder.clone(), session: None, attended: None, other_host: None }
    }

    fn end(mut self, id: String) -> RecordedSession {
        self.events.sort_by_key(|event| event.at);
        RecordedSession { id, events: self.events }
    }
}
