use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use steadfast_model::{
    Action, Agent, AgentId, BackgroundTask, Content, Event, EventKind, Host, Millis, Outcome, PromptOrigin, SessionId,
    StartSource, Stopping, ToolCall, ToolResult, Via,
};

use super::{CallEnd, CallResult, Delegated, Item, Thread, Transcript, TranscriptCall, TranscriptRecord, Writer};
use crate::shape::{content, cut, cut_front, document};
use crate::wire::bound;

/// Replays a session as the events that its hooks would have received.
///
/// Nothing is invented that the transcript does not contain: there is no session end, and `attended` is unknown until a
/// human answers a dialog.
#[derive(Debug)]
pub struct Events {
    transcript: Transcript,
    builder: EventBuilder,
    out: VecDeque<Event>,
    ended: bool,
}

impl Events {
    /// Returns `None` if transcripts of this writer are not supported.
    pub fn of(transcript: Transcript) -> Option<Self> {
        let host = transcript.writer().and_then(Writer::host)?;
        Some(Self { transcript, builder: EventBuilder::new(host), out: VecDeque::new(), ended: false })
    }

    /// Returns the number of unreadable rows so far.
    pub fn damaged(&self) -> u64 {
        self.transcript.damaged()
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while self.out.is_empty() && !self.ended {
            match self.transcript.next() {
                Some(Ok(record)) => self.builder.add(record, &mut self.out),
                Some(Err(_)) => {}
                None => {
                    self.ended = true;
                    self.builder.end(&mut self.out);
                }
            }
        }
        self.out.pop_front()
    }
}

/// The state from earlier rows that the next events depend on.
#[derive(Debug)]
struct EventBuilder {
    host: Host,
    at: Millis,
    session: Option<SessionId>,
    cwd: String,
    turn: Option<String>,
    planning: bool,
    /// A human answered a dialog.
    attended: bool,
    /// Calls without a result so far.
    calls: HashMap<String, PendingCall>,
    /// Running subagents, by id.
    agents: HashMap<String, RunningAgent>,
    /// Shells that run in the background.
    shells: Vec<String>,
    /// The main thread was active since its last stop.
    busy: bool,
    last_message: Option<String>,
    /// The time of the last message.
    last_message_at: Millis,
    /// All rows so far belong to a subagent.
    of_subagent: bool,
}

#[derive(Debug)]
struct PendingCall {
    call: ToolCall,
    /// The words that the call writes.
    content: Content,
    at: Option<Millis>,
    agent: Option<Agent>,
}

#[derive(Debug)]
struct RunningAgent {
    agent: Agent,
    /// The call that waits for this subagent.
    call: Option<String>,
    last_message: Option<String>,
}

impl EventBuilder {
    fn new(host: Host) -> Self {
        Self {
            host,
            at: Millis(0),
            session: None,
            cwd: String::new(),
            turn: None,
            planning: false,
            attended: false,
            calls: HashMap::new(),
            agents: HashMap::new(),
            shells: Vec::new(),
            busy: false,
            last_message: None,
            last_message_at: Millis(0),
            of_subagent: true,
        }
    }

    fn add(&mut self, record: TranscriptRecord<'_>, out: &mut VecDeque<Event>) {
        let TranscriptRecord { at, session, cwd, turn, planning, model: _, thread, items } = record;
        self.at = at.unwrap_or(self.at);
        if let Some(cwd) = cwd {
            self.cwd = cut(&cwd, bound::PATH);
        }
        if let Some(turn) = turn {
            self.turn = Some(cut(&turn, bound::NAME));
        }
        self.planning = planning.unwrap_or(self.planning);
        if self.session.is_none()
            && let Some(session) = session
        {
            self.session = Some(SessionId::new(cut(&session, bound::NAME)));
            out.push_back(self.event(None, EventKind::SessionStart { source: StartSource::Startup }));
        }
        let agent = match thread {
            Thread::Main => None,
            Thread::Agent { id, call } => Some(self.running(&id, call.as_deref(), out)),
        };
        self.of_subagent &= agent.is_some() || items.is_empty();
        for item in items {
            self.item(item, at, agent.as_ref(), out);
        }
    }

    fn item(&mut self, item: Item<'_>, at: Option<Millis>, agent: Option<&Agent>, out: &mut VecDeque<Event>) {
        match item {
            Item::Prompt { text, origin } => {
                if agent.is_none() {
                    self.stop_unless_waiting(out);
                    self.busy = true;
                    self.last_message = None;
                }
                if origin == PromptOrigin::Notification {
                    self.notified(&text, out);
                }
                let text = cut(&text, Event::READ);
                out.push_back(self.event(agent, EventKind::prompt(text, origin)));
            }
            Item::Command { name, asks: true } => {
                out.push_back(self.event(agent, EventKind::Command { name: cut(&name, bound::NAME) }));
            }
            Item::Said(words) => {
                let text = Some(cut_front(&words.text(), bound::MESSAGE));
                match agent.and_then(|agent| self.agents.get_mut(agent.id.as_str())) {
                    Some(running) => running.last_message = text,
                    None => {
                        self.busy = true;
                        self.last_message = text;
                        self.last_message_at = self.at;
                    }
                }
            }
            Item::Call(call) => self.call(call, at, agent, out),
            Item::Result(result) => self.result(result, at, out),
            Item::Compaction { trigger } => self.compaction(&trigger.unwrap_or_default(), agent, out),
            Item::Interrupt => {
                self.busy = false;
                self.agents.clear();
                self.shells.clear();
                out.push_back(self.event(agent, EventKind::Interrupt));
            }
            Item::Stop { last_message } if agent.is_none() => {
                if let Some(message) = last_message {
                    self.last_message = Some(cut_front(&message, bound::MESSAGE));
                }
                self.stop(out);
            }
            Item::Failure { error } => {
                self.busy = false;
                out.push_back(self.event(agent, EventKind::StopFailed { error: cut(&error, bound::ERROR) }));
            }
            Item::Stop { .. }
            | Item::StopRefused { .. }
            | Item::Command { .. }
            | Item::Usage(_)
            | Item::Queued(_)
            | Item::Continued { .. } => {}
        }
    }

    fn call(&mut self, made: TranscriptCall<'_>, at: Option<Millis>, agent: Option<&Agent>, out: &mut VecDeque<Event>) {
        if agent.is_none() {
            self.busy = true;
            self.last_message = None;
        }
        if !made.hooked {
            return;
        }
        let call = made.tool_call(self.host);
        let content = made.content(&call.action);
        out.push_back(Event { content: content.clone(), ..self.event(agent, EventKind::PreTool(call.clone())) });
        if let Some(id) = made.id {
            self.calls.insert(id.into_owned(), PendingCall { call, content, at, agent: agent.cloned() });
        }
    }

    fn result(&mut self, result: CallResult<'_>, at: Option<Millis>, out: &mut VecDeque<Event>) {
        let (ended, answer) = (result.ended(), result.answer());
        let Some(id) = result.call else { return };
        if !self.calls.contains_key(id.as_ref()) {
            return;
        }
        let waited =
            self.agents.iter().find(|(_, running)| running.call.as_deref() == Some(&*id)).map(|(id, _)| id.clone());
        match (ended.agent, waited) {
            (Some(Delegated::Started(agent)), _) => drop(self.running(&agent, Some(&id), out)),
            (Some(Delegated::Ended(agent)), _) => self.subagent_stop(&agent, out),
            (None, Some(agent)) => self.subagent_stop(&agent, out),
            (None, None) => {}
        }
        let Some(made) = self.calls.remove(id.as_ref()) else { return };
        let names =
            if document::is_read(&made.call.action) { document::names(answer, bound::NAMES) } else { Vec::new() };
        if matches!(made.call.action, Action::Delegate { .. }) {
            self.subagent_stop(Thread::UNNAMED, out);
        }
        self.shells.extend(ended.shell.map(Cow::into_owned));
        let PendingCall { call, content: written, at: began, agent } = made;
        let mut content = content::answered(&call.action, answer);
        if matches!(call.action, Action::Write { .. }) {
            content = written;
        }
        let outcome = match ended.end {
            // Codex passes every result to its hooks as a success.
            CallEnd::Ok | CallEnd::Exited(_) => Outcome::Ok,
            CallEnd::Failed(error) | CallEnd::Denied(error) => Outcome::Failed { error: cut(&error, bound::ERROR) },
            CallEnd::Interrupted => Outcome::Interrupted,
            CallEnd::Refused(words) => {
                // Only a human can refuse in a dialog.
                self.attended = true;
                out.push_back(self.event(agent.as_ref(), EventKind::Permission(call.clone())));
                let error = if words.is_empty() {
                    "the human refused it".into()
                } else {
                    format!("the human refused it: {words}")
                };
                Outcome::Failed { error: cut(&error, bound::ERROR) }
            }
        };
        let waited = at.zip(began).and_then(|(at, began)| u64::try_from(at.since(began)).ok());
        let result = ToolResult { call, outcome, millis: ended.millis.or(waited), answers: Vec::new(), names };
        out.push_back(Event { content, ..self.event(agent.as_ref(), EventKind::PostTool(result)) });
    }

    /// Returns the subagent of this id, and starts it if it is new.
    fn running(&mut self, id: &str, call: Option<&str>, out: &mut VecDeque<Event>) -> Agent {
        if let Some(running) = self.agents.get(id) {
            return running.agent.clone();
        }
        // If no row names its call, take any pending one.
        let calls = call.map_or_else(|| self.calls.values().collect(), |call| Vec::from_iter(self.calls.get(call)));
        let agent_type = calls.iter().find_map(|made| match &made.call.action {
            Action::Delegate { agent_type } => Some(agent_type.clone()),
            _ => None,
        });
        let agent_type = agent_type.unwrap_or_default();
        let agent = Agent { id: AgentId::new(cut(id, bound::NAME)), agent_type };
        out.push_back(self.event(Some(&agent), EventKind::SubagentStart));
        let running = RunningAgent { agent: agent.clone(), call: call.map(str::to_owned), last_message: None };
        self.agents.insert(id.to_owned(), running);
        agent
    }

    fn subagent_stop(&mut self, id: &str, out: &mut VecDeque<Event>) {
        let Some(RunningAgent { agent, last_message, .. }) = self.agents.remove(id) else { return };
        let stopping = Stopping { again: false, last_message, background: None, wakeups: 0 };
        out.push_back(self.event(Some(&agent), EventKind::SubagentStop(stopping)));
    }

    /// Reads a notification, which names a background task that ended; the task id of a subagent is its own id.
    fn notified(&mut self, text: &str, out: &mut VecDeque<Event>) {
        let task = text.split_once("<task-id>").and_then(|(_, after)| after.split_once("</task-id>"));
        if let Some((id, _)) = task {
            self.shells.retain(|shell| shell != id.trim());
            self.subagent_stop(id.trim(), out);
        }
    }

    /// Adds the stop between the agent's last words and a prompt, unless the human typed the prompt while a tool ran.
    fn stop_unless_waiting(&mut self, out: &mut VecDeque<Event>) {
        if self.last_message.is_some() && self.calls.values().all(|made| made.agent.is_some()) {
            let now = std::mem::replace(&mut self.at, self.last_message_at);
            self.stop(out);
            self.at = now;
        }
    }

    fn stop(&mut self, out: &mut VecDeque<Event>) {
        if !std::mem::take(&mut self.busy) {
            return;
        }
        // Codex does not report background work at a stop.
        let background = (self.host != Host::Codex).then(|| {
            let agents = self.agents.values().map(|_| "subagent");
            let running = agents.chain(self.shells.iter().map(|_| "shell")).take(bound::BACKGROUND);
            running
                .map(|what| BackgroundTask { what: what.to_owned(), status: "running".to_owned(), command: None })
                .collect()
        });
        let stopping = Stopping { again: false, last_message: self.last_message.take(), background, wakeups: 0 };
        out.push_back(self.event(None, EventKind::Stop(stopping)));
    }

    fn compaction(&mut self, trigger: &str, agent: Option<&Agent>, out: &mut VecDeque<Event>) {
        let trigger = cut(trigger, bound::NAME);
        let before = EventKind::PreCompact { trigger: trigger.clone() };
        let (start, after) =
            (EventKind::SessionStart { source: StartSource::Compact }, EventKind::PostCompact { trigger });
        let kinds = if self.host == Host::Codex {
            // On Codex a compaction is a turn of its own, whose end triggers no hook.
            self.busy = false;
            [before, after, start]
        } else {
            [before, start, after]
        };
        out.extend(kinds.map(|kind| self.event(agent, kind)));
    }

    fn end(&mut self, out: &mut VecDeque<Event>) {
        self.stop_unless_waiting(out);
        // A file of a subagent alone ends with the subagent.
        if self.of_subagent {
            let spoke = self.agents.iter().filter(|(_, running)| running.last_message.is_some());
            for id in spoke.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
                self.subagent_stop(&id, out);
            }
        }
    }

    fn event(&self, agent: Option<&Agent>, kind: EventKind) -> Event {
        Event {
            at: self.at,
            host: self.host,
            via: Via::Local,
            session: self.session.clone().unwrap_or_else(|| SessionId::new("unnamed")),
            agent: agent.cloned(),
            role: None,
            cwd: self.cwd.clone(),
            turn: self.turn.clone(),
            unasked: false,
            abridged: false,
            planning: self.planning,
            attended: self.attended.then_some(true),
            cut: false,
            input: None,
            thinking: None,
            content: Content::default(),
            kind,
        }
    }
}
