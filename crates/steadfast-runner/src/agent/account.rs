//! Collects an agent's events: its session, its cost, its last message and its end.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use steadfast_hosts::stream::{AgentEnd, AgentEvent, AgentStream};
use steadfast_model::{Host, Millis, SessionId, Spent};

use super::record::Record;
use super::{AgentUpdate, Assignment};

/// The most bytes of the last message that are kept.
const KEPT: usize = 8 << 10;

pub(super) struct Account<'a> {
    stream: AgentStream,
    on_update: &'a mut dyn FnMut(AgentUpdate),
    pub(super) session: Option<SessionId>,
    pub(super) spent: Spent,
    pub(super) said: Option<String>,
    pub(super) ended: Option<AgentEnd>,
    /// The time of the last line that is more than a heartbeat of a tool, or the end of a rate limit. Silence counts
    /// from here.
    pub(super) silent_since: Instant,
    pub(super) has_output: bool,
    /// The home of the session's record. Only Codex's record says more than its output.
    codex_home: Option<PathBuf>,
    record: Option<Record>,
}

impl<'a> Account<'a> {
    pub(super) fn of(
        assignment: &Assignment,
        codex_home: Option<PathBuf>,
        on_update: &'a mut dyn FnMut(AgentUpdate),
    ) -> Self {
        Self {
            stream: AgentStream::of(assignment.host, &assignment.prices),
            on_update,
            session: None,
            spent: Spent::default(),
            said: None,
            ended: None,
            silent_since: Instant::now(),
            has_output: false,
            codex_home: codex_home.filter(|_| assignment.host == Host::Codex),
            record: None,
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        self.has_output = true;
        if !self.stream.is_heartbeat(line) {
            self.silent_since = self.silent_since.max(Instant::now());
        }
        if let Some(record) = &mut self.record {
            record.note_activity();
        }
        // The session's record first: it holds the costs that the final event is priced with.
        self.read_record();
        for event in self.stream.line(line) {
            self.handle(event);
        }
    }

    /// Returns the longest time to wait for more output.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.record.as_ref().map(Record::pause)
    }

    pub(super) fn read_record_when_due(&mut self) {
        if self.record.as_ref().is_some_and(Record::is_due) {
            self.read_record();
        }
    }

    pub(super) fn read_record(&mut self) {
        let Some(mut record) = self.record.take() else { return };
        let mut events = Vec::new();
        record.read(&mut |line| events.extend(self.stream.record(line)));
        self.record = Some(record);
        // The record of an answer may arrive after the final message.
        let ended = self.ended.take();
        for event in events {
            self.handle(event);
        }
        self.ended = ended;
    }

    fn handle(&mut self, event: AgentEvent) {
        match &event {
            AgentEvent::Started { session } => {
                self.session = Some(session.clone());
                self.record = self.codex_home.as_deref().map(|home| Record::of_codex(home, session.as_str()));
            }
            // A host may continue after its final message, when a background task has ended.
            AgentEvent::Turn => self.ended = None,
            AgentEvent::Said { text } => self.said = Some(end_of(text)),
            AgentEvent::Spent(spent) => self.spent = *spent,
            AgentEvent::RateLimited { until: Some(until) } => {
                let wait = Duration::from_millis(until.since(now()).unsigned_abs());
                self.silent_since = self.silent_since.max(Instant::now() + wait);
            }
            AgentEvent::Ended(end) => self.ended = Some(end.clone()),
            AgentEvent::RateLimited { until: None } | AgentEvent::Tool { .. } => {}
        }
        (self.on_update)(AgentUpdate::Event(event));
    }
}

fn end_of(text: &str) -> String {
    let mut from = text.len().saturating_sub(KEPT);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].to_owned()
}

#[expect(clippy::disallowed_methods, reason = "a rate limit ends at a time of day")]
fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
