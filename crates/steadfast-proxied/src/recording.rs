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
        let (mut recorded, mut exchanges, mut known) = (Self::default(), Vec::new(), HashSet::new());
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
            match (format, &exchange.session) {
                (Some(format), Some(_)) => {
                    exchanges.push(RecordedExchange::of(format, exchange, &mut known));
                }
                _ if exchange.format.is_some() => recorded.unknown += 1,
                _ => {}
            }
        }
        // The lines are in the order of their ends. A client may send its next request before the end of the last answer.
        exchanges.sort_by_key(|exchange| exchange.at);
        let mut sessions = BTreeMap::<String, Reading>::new();
        for exchange in exchanges {
            let fresh = || Reading::new(&exchange, folder.clone());
            sessions.entry(exchange.session.clone()).or_insert_with(fresh).add(exchange);
        }
        recorded.sessions = sessions.into_iter().map(|(id, session)| session.end(id)).collect();
        recorded.sessions.sort_by_key(|session| session.events.first().map(|event| event.at));
        Ok(Some(recorded))
    }
}

/// The parts of an exchange that the rules need. A request holds the whole conversation and is not kept.
struct RecordedExchange {
    host: Host,
    at: i64,
    ended: i64,
    session: String,
    agent: Option<String>,
    /// The text of the prompt, and the length of the conversation.
    prompt: Option<(String, usize)>,
    /// Those that no earlier line has.
    results: Vec<WireResult>,
    calls: Vec<LineCall>,
}

impl RecordedExchange {
    /// `known`: the results of earlier lines, by session and call.
    fn of(format: WireFormat, line: Line, known: &mut HashSet<(String, String)>) -> Self {
        let Line { at, lasted_ms, session, agent, request, answer, .. } = line;
        let host = match format {
            WireFormat::Responses => Host::Codex,
            WireFormat::Messages | WireFormat::Chat => Host::Claude,
        };
        let session = session.unwrap_or_default();
        // Codex names the main thread, too.
        let agent = agent.filter(|agent| *agent != session);
        let body = request.body.unwrap_or_default();
        let prompt = WirePrompt::of(format, body.as_bytes()).filter(|_| agent.is_none()).and_then(|prompt| {
            let ProxiedPrompt { text, .. } = ProxiedPrompt::of(host, None, &prompt.texts)?;
            Some((text, prompt.length))
        });
        let is_new = |id: &str| !known.contains(&(session.clone(), id.to_owned()));
        let results = results(format, body.as_bytes(), is_new);
        known.extend(results.iter().map(|result| (session.clone(), result.id.clone())));
        let ended = at.saturating_add(lasted_ms);
        Self { host, at, ended, session, agent, prompt, results, calls: answer.calls }
    }
}

/// A session while it is read.
struct Reading {
    host: Host,
    folder: String,
    events: Vec<Event>,
    /// Calls without a result so far, and the places of their events.
    waiting: BTreeMap<String, (ProxiedCall, usize)>,
    /// Ids of all calls.
    seen: HashSet<String>,
    prompts: HashSet<(String, usize)>,
}

impl Reading {
    fn new(first: &RecordedExchange, folder: String) -> Self {
        let (host, id, at) = (first.host, SessionId::new(&first.session), Millis(first.at));
        let kind = EventKind::SessionStart { source: StartSource::Startup };
        let start = Event { via: Via::Proxy, ..Event::plain(id, host, folder.clone(), at, kind) };
        let (waiting, seen, prompts) = (BTreeMap::new(), HashSet::new(), HashSet::new());
        Self { host, folder, events: vec![start], waiting, seen, prompts }
    }

    fn add(&mut self, exchange: RecordedExchange) {
        let RecordedExchange { at, ended, session, agent, prompt, results, calls, .. } = exchange;
        let asked = self.context(at);
        for WireResult { id, is_error, output, .. } in results {
            let Some((call, place)) = self.waiting.remove(&id) else { continue };
            // The answer with the call may have ended a moment after the client had the call.
            if let Some(before) = self.events.get_mut(place) {
                before.at = before.at.min(asked.at);
            }
            self.events.extend(call.after(&output, is_error, &asked));
        }
        if let Some((text, length)) = prompt
            && self.prompts.insert((text.clone(), length))
        {
            let kind = EventKind::prompt(text, PromptOrigin::Proxied);
            let (id, folder) = (SessionId::new(&session), self.folder.clone());
            self.events.push(Event { via: Via::Proxy, ..Event::plain(id, self.host, folder, asked.at, kind) });
        }
        let answered = self.context(ended);
        for LineCall { id, tool, namespace, input } in calls {
            if !self.seen.insert(id.clone()) {
                continue;
            }
            let (session, agent) = (session.clone(), agent.clone());
            let call =
                ProxiedCall { host: self.host, session, agent, id, tool, namespace, input, thinking: String::new() };
            if let Ok(event) = call.before(&answered) {
                self.waiting.insert(call.id.clone(), (call, self.events.len()));
                self.events.push(event);
            }
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
