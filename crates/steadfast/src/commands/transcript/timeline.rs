use std::borrow::Cow;
use std::collections::HashMap;

use steadfast_hosts::transcript::{CallEnd, Item, Record, Transcript, Words};
use steadfast_model::{Action, Host, Millis, PromptOrigin};

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) at: Option<Millis>,
    /// The subagent it happened in.
    pub(super) agent: Option<String>,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// The human spoke, or stopped the agent.
    Human(String),
    /// The agent spoke.
    Agent(String),
    /// The host tells something.
    Host(String),
    Call {
        tool: String,
        target: String,
        end: Option<End>,
        millis: Option<u64>,
    },
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    Ok,
    Failed(String),
    /// The human said no, in these words.
    Refused(String),
    Interrupted,
}

impl What {
    pub(super) fn who(&self) -> &str {
        match self {
            Self::Human(_) => "human",
            Self::Agent(_) => "agent",
            Self::Host(_) => "host",
            Self::Call { tool, .. } => tool,
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Human(text) | Self::Agent(text) | Self::Host(text) => text,
            Self::Call { target, .. } => target,
        }
    }

    /// What came back of a call, where it did not end well: an error, or the human's words.
    pub(super) fn answer(&self) -> &str {
        match self {
            Self::Call { end: Some(End::Failed(answer) | End::Refused(answer)), .. } => answer,
            _ => "",
        }
    }
}

/// A session as a list of what happened, in the order in which it was written down.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) session: Option<String>,
    pub(super) entries: Vec<Entry>,
    cwd: String,
    /// Where in the list a call is that is not back yet.
    waiting: HashMap<String, usize>,
}

impl Timeline {
    pub(super) fn of(transcript: &mut Transcript) -> Self {
        let host = transcript.writer().and_then(|writer| writer.host());
        let mut timeline = Self::default();
        while let Some(row) = transcript.next() {
            if let (Ok(record), Some(host)) = (row, host) {
                timeline.add(record, host);
            }
        }
        timeline
    }

    /// Takes in what a subagent did, from a file of its own, unless the session's file shows it.
    pub(super) fn take_in(&mut self, subagent: Self) {
        let is_shown = |agent: &String| self.entries.iter().any(|entry| entry.agent.as_ref() == Some(agent));
        if !subagent.entries.iter().filter_map(|entry| entry.agent.as_ref()).any(is_shown) {
            let mut timed = with_times(std::mem::take(&mut self.entries));
            timed.extend(with_times(subagent.entries));
            timed.sort_by_key(|(at, _)| *at);
            self.entries = timed.into_iter().map(|(_, entry)| entry).collect();
        }
    }

    fn add(&mut self, record: Record<'_>, host: Host) {
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
            if let Some(what) = tell(item, host, &self.cwd) {
                self.waiting.extend(id.map(|id| (id, self.entries.len())));
                self.entries.push(Entry { at: record.at, agent: agent.clone(), what });
            }
        }
    }

    fn close(&mut self, result: &steadfast_hosts::transcript::CallResult<'_>, now: Option<Millis>) {
        let Some(index) = result.call.as_deref().and_then(|id| self.waiting.remove(id)) else { return };
        let began = self.entries[index].at;
        let What::Call { end, millis, .. } = &mut self.entries[index].what else { return };
        let waited = now.zip(began).and_then(|(now, began)| u64::try_from(now.since(began)).ok());
        let ended = result.ended();
        *millis = ended.millis.or(waited);
        *end = Some(match ended.end {
            CallEnd::Ok => End::Ok,
            CallEnd::Failed(error) => End::Failed(error.into_owned()),
            CallEnd::Exited(code) => End::Failed(format!("Exit code {code}")),
            CallEnd::Refused(words) => End::Refused(words.into_owned()),
            CallEnd::Interrupted => End::Interrupted,
        });
    }
}

/// Entries with the time they come at: that of the one before where they have none.
fn with_times(entries: Vec<Entry>) -> Vec<(Option<Millis>, Entry)> {
    let mut last = None;
    let timed = entries.into_iter().map(|entry| {
        last = entry.at.or(last);
        (last, entry)
    });
    timed.collect()
}

/// What an item tells people. Paths are shown as they are from `cwd`.
fn tell(item: Item<'_>, host: Host, cwd: &str) -> Option<What> {
    let text = |words: Words<'_>| words.text().into_owned();
    Some(match item {
        Item::Prompt { text, origin: PromptOrigin::Human } => What::Human(text.into_owned()),
        Item::Prompt { text, origin: PromptOrigin::Notification } => What::Host(format!("tells the agent: {text}")),
        Item::Prompt { text, origin: PromptOrigin::Machine } => What::Host(format!("asks the subagent: {text}")),
        Item::Prompt { text, origin: PromptOrigin::Scheduled } => {
            What::Host(format!("says what the agent scheduled: {text}"))
        }
        Item::Queued(words) => What::Human(format!("(while it worked) {}", text(words))),
        Item::Command { name, .. } => What::Human(format!("/{name}")),
        Item::Said(words) => What::Agent(Some(text(words)).filter(|text| !text.trim().is_empty())?),
        Item::Call(call) => {
            let made = call.tool_call(host);
            What::Call { target: target(&made.action, &call.input(), cwd), tool: made.tool, end: None, millis: None }
        }
        Item::Compaction { trigger } => match trigger.as_deref() {
            Some("manual") => What::Host("cuts the context, as the human asked".to_owned()),
            _ => What::Host("cuts the context".to_owned()),
        },
        Item::Interrupt => What::Human("stops the agent".to_owned()),
        Item::Failure { error } => What::Host(format!("fails: {error}")),
        Item::Continued { session } => What::Host(format!("goes on in session {session}")),
        Item::Result(_) | Item::Usage(_) | Item::Stop { .. } => return None,
    })
}

/// What a call is about, in a few words.
pub(in crate::commands) fn target(action: &Action, input: &str, cwd: &str) -> String {
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
