//! A session as a list for people: who said and did what, in which order.

use std::borrow::Cow;
use std::collections::HashMap;

use steadfast_model::{Action, Host, Millis, PromptOrigin};

use super::{CallEnd, CallResult, Item, Transcript, TranscriptRecord, Words};

#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEntry {
    pub at: Option<Millis>,
    /// The subagent, if it happened in one.
    pub agent: Option<String>,
    pub what: Happening,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// The human wrote something, or stopped the agent.
    Human(String),
    /// The agent wrote something.
    Agent(String),
    /// A message from the host.
    Host(String),
    Call {
        tool: String,
        target: String,
        end: Option<CallOutcome>,
        millis: Option<u64>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    Ok,
    Failed(String),
    /// The human, a hook or a permission rule refused the call; the text is the reason.
    Refused(String),
    Interrupted,
}

impl Happening {
    pub fn who(&self) -> &str {
        match self {
            Self::Human(_) => "human",
            Self::Agent(_) => "agent",
            Self::Host(_) => "host",
            Self::Call { tool, .. } => tool,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Human(text) | Self::Agent(text) | Self::Host(text) => text,
            Self::Call { target, .. } => target,
        }
    }

    /// Returns the error or the human's words for a call that failed or was refused.
    pub fn answer(&self) -> &str {
        match self {
            Self::Call { end: Some(CallOutcome::Failed(answer) | CallOutcome::Refused(answer)), .. } => answer,
            _ => "",
        }
    }
}

/// The entries of a session, in recorded order.
#[derive(Debug, Default)]
pub struct Timeline {
    pub session: Option<String>,
    pub entries: Vec<TimelineEntry>,
    cwd: String,
    /// The positions of calls without a result, by call id.
    waiting: HashMap<String, usize>,
}

impl Timeline {
    pub fn of(transcript: &mut Transcript) -> Self {
        let host = transcript.writer().and_then(|writer| writer.host());
        let mut timeline = Self::default();
        while let Some(row) = transcript.next() {
            if let (Ok(record), Some(host)) = (row, host) {
                timeline.add(record, host);
            }
        }
        timeline
    }

    /// Adds the entries from a subagent's own file, unless the session's file already contains them.
    pub fn take_in(&mut self, subagent: Self) {
        let is_shown = |agent: &String| self.entries.iter().any(|entry| entry.agent.as_ref() == Some(agent));
        if !subagent.entries.iter().filter_map(|entry| entry.agent.as_ref()).any(is_shown) {
            let mut timed = with_times(std::mem::take(&mut self.entries));
            timed.extend(with_times(subagent.entries));
            timed.sort_by_key(|(at, _)| *at);
            self.entries = timed.into_iter().map(|(_, entry)| entry).collect();
        }
    }

    fn add(&mut self, record: TranscriptRecord<'_>, host: Host) {
        if self.session.is_none() {
            self.session = record.session.map(Cow::into_owned);
        }
        if let Some(cwd) = record.cwd {
            self.cwd = cwd.into_owned();
        }
        let agent = record.thread.agent().map(str::to_owned);
        for item in record.items {
            if let Item::Result(result) = &item {
                self.close(result, record.at);
            }
            let id = match &item {
                Item::Call(call) => call.id.as_deref().map(str::to_owned),
                _ => None,
            };
            if let Some(what) = happening(item, host, &self.cwd) {
                self.waiting.extend(id.map(|id| (id, self.entries.len())));
                self.entries.push(TimelineEntry { at: record.at, agent: agent.clone(), what });
            }
        }
    }

    fn close(&mut self, result: &CallResult<'_>, now: Option<Millis>) {
        let Some(index) = result.call.as_deref().and_then(|id| self.waiting.remove(id)) else { return };
        let began = self.entries[index].at;
        let Happening::Call { end, millis, .. } = &mut self.entries[index].what else { return };
        let waited = now.zip(began).and_then(|(now, began)| u64::try_from(now.since(began)).ok());
        let ended = result.ended();
        *millis = ended.millis.or(waited);
        *end = Some(match ended.end {
            CallEnd::Ok => CallOutcome::Ok,
            CallEnd::Failed(error) => CallOutcome::Failed(error.into_owned()),
            CallEnd::Exited(code) => CallOutcome::Failed(format!("Exit code {code}")),
            CallEnd::Refused(reason) | CallEnd::Denied(reason) => CallOutcome::Refused(reason.into_owned()),
            CallEnd::Interrupted => CallOutcome::Interrupted,
        });
    }
}

/// Adds the time to each entry; an entry without one gets the time of the entry before it.
fn with_times(entries: Vec<TimelineEntry>) -> Vec<(Option<Millis>, TimelineEntry)> {
    let mut last = None;
    let timed = entries.into_iter().map(|entry| {
        last = entry.at.or(last);
        (last, entry)
    });
    timed.collect()
}

/// Returns the entry for an item. Paths are relative to `cwd`.
fn happening(item: Item<'_>, host: Host, cwd: &str) -> Option<Happening> {
    let text = |words: Words<'_>| words.text().into_owned();
    Some(match item {
        Item::Prompt { text, origin: PromptOrigin::Human | PromptOrigin::Proxied } => {
            Happening::Human(text.into_owned())
        }
        Item::Prompt { text, origin: PromptOrigin::Notification } => {
            Happening::Host(format!("tells the agent: {text}"))
        }
        Item::Prompt { text, origin: PromptOrigin::Machine } => Happening::Host(format!("asks the subagent: {text}")),
        Item::Prompt { text, origin: PromptOrigin::Scheduled } => {
            Happening::Host(format!("delivers a scheduled prompt: {text}"))
        }
        Item::Queued(words) => Happening::Human(format!("(while the agent worked) {}", text(words))),
        Item::Command { name, .. } => Happening::Human(format!("/{name}")),
        Item::Said(words) => Happening::Agent(Some(text(words)).filter(|text| !text.trim().is_empty())?),
        Item::Call(call) => {
            let made = call.tool_call(host);
            Happening::Call {
                target: target(&made.action, &call.input(), cwd),
                tool: made.tool,
                end: None,
                millis: None,
            }
        }
        Item::Compaction { trigger } => match trigger.as_deref() {
            Some("manual") => Happening::Host("compacts the context, as the human asked".to_owned()),
            _ => Happening::Host("compacts the context".to_owned()),
        },
        Item::Interrupt => Happening::Human("stops the agent".to_owned()),
        Item::StopRefused { text, hook } => {
            let is_ours = hook.is_some_and(|command| command.contains("steadfast"));
            Happening::Host(format!("{} refuses the stop: {text}", if is_ours { "Steadfast" } else { "a hook" }))
        }
        Item::Failure { error } => Happening::Host(format!("fails: {error}")),
        Item::Continued { session } => Happening::Host(format!("continues in session {session}")),
        Item::Result(_) | Item::Usage(_) | Item::Stop { .. } => return None,
    })
}

/// Returns a short description of a call's target.
pub fn target(action: &Action, input: &str, cwd: &str) -> String {
    let below =
        |path: &String| path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path).to_owned();
    match action {
        Action::Write { paths } | Action::Read { paths } if !paths.is_empty() => {
            paths.iter().map(below).collect::<Vec<_>>().join(", ")
        }
        Action::Shell { command, .. } => command.clone(),
        Action::Delegate { agent_type } if !agent_type.is_empty() => agent_type.clone(),
        Action::Skill { name } => name.clone(),
        Action::LeavePlan => String::new(),
        Action::Ask
        | Action::Mcp { .. }
        | Action::List(_)
        | Action::Other
        | Action::Write { .. }
        | Action::Read { .. }
        | Action::Delegate { .. } => input.to_owned(),
    }
}
