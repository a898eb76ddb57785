//! What is heard of an agent, and what is to be remembered of it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use steadfast_hosts::stream::{AgentEnd, AgentEvent, AgentStream};
use steadfast_model::{Host, Millis, SessionId, Spent};

use super::record::Record;
use super::{AgentUpdate, Assignment};

/// What is kept of the last message.
const KEPT: usize = 8 << 10;

/// What was heard.
pub(super) struct Account<'a> {
    stream: AgentStream,
    heard: &'a mut dyn FnMut(AgentUpdate),
    pub(super) session: Option<SessionId>,
    pub(super) spent: Spent,
    pub(super) said: Option<String>,
    pub(super) ended: Option<AgentEnd>,
    /// When the last line came that says more than that a tool still runs, or when a rate limit is over: silence is counted from here.
    pub(super) patient_from: Instant,
    pub(super) anything: bool,
    /// Where to look for a record of the session; only Codex's says more than is printed.
    codex_home: Option<PathBuf>,
    record: Option<Record>,
}

impl<'a> Account<'a> {
    pub(super) fn of(
        assignment: &Assignment,
        codex_home: Option<PathBuf>,
        heard: &'a mut dyn FnMut(AgentUpdate),
    ) -> Self {
        Self {
            stream: AgentStream::of(assignment.host, &assignment.prices),
            heard,
            session: None,
            spent: Spent::default(),
            said: None,
            ended: None,
            patient_from: Instant::now(),
            anything: false,
            codex_home: codex_home.filter(|_| assignment.host == Host::Codex),
            record: None,
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        self.anything = true;
        if !self.stream.is_heartbeat(line) {
            self.patient_from = self.patient_from.max(Instant::now());
        }
        if let Some(record) = &mut self.record {
            record.stir();
        }
        // What is told at the end is reckoned by what the record says.
        self.look();
        for event in self.stream.line(line) {
            self.take(event);
        }
    }

    /// How long to wait for more at most.
    pub(super) fn pause(&self) -> Option<Duration> {
        self.record.as_ref().map(Record::pause)
    }

    pub(super) fn look_when_due(&mut self) {
        if self.record.as_ref().is_some_and(Record::is_due) {
            self.look();
        }
    }

    pub(super) fn look(&mut self) {
        let Some(mut record) = self.record.take() else { return };
        let mut events = Vec::new();
        record.look(&mut |line| events.extend(self.stream.record(line)));
        self.record = Some(record);
        // The record of an answer may come after the last word.
        let ended = self.ended.take();
        for event in events {
            self.take(event);
        }
        self.ended = ended;
    }

    fn take(&mut self, event: AgentEvent) {
        match &event {
            AgentEvent::Started { session } => {
                self.session = Some(session.clone());
                self.record = self.codex_home.as_deref().map(|home| Record::of_codex(home, session.as_str()));
            }
            // A host may go on after its last word, when something in the background has ended.
            AgentEvent::Turn => self.ended = None,
            AgentEvent::Said { text } => self.said = Some(end_of(text)),
            AgentEvent::Spent(spent) => self.spent = *spent,
            AgentEvent::RateLimited { until: Some(until) } => {
                let wait = Duration::from_millis(until.since(now()).unsigned_abs());
                self.patient_from = self.patient_from.max(Instant::now() + wait);
            }
            AgentEvent::Ended(end) => self.ended = Some(end.clone()),
            AgentEvent::RateLimited { until: None } | AgentEvent::Tool { .. } => {}
        }
        (self.heard)(AgentUpdate::Event(event));
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
