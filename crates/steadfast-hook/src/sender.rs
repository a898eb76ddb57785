//! Decides whether a host sent an event, or a process that its agent started.
//!
//! A process can choose neither its ancestors nor the maker of the socket it reads from, so these two decide. Its
//! environment can be emptied, so it only adds suspicion.
//!
//! - Claude Code sends a payload through a socket that it made itself, and the kernel names the maker. A tool's child
//!   reads from something else.
//! - Codex uses pipes, which have no known maker. There the process that the host itself started is checked. It
//!   belongs to a tool if its environment says so, if nothing feeds it, or if a sandbox confines it. It is an MCP
//!   server if it has no session of its own. A tool's shell that becomes the sender can imitate all of that. But a
//!   hook's standard input was made right before its standard output. The shell can only imitate that by making both,
//!   and then the host does not read its output.
//! - A sender without a host above it was adopted by another process, or comes from elsewhere. In a session with a
//!   living host this is a forgery.
//!
//! On systems without `/proc`, nothing is known about senders, and every event counts.

mod lineage;

use std::time::Duration;

use steadfast_model::{Action, Event, EventKind, Forged, PlanId, SessionId, StartSource, State, ToolCall};
use steadfast_store::{Place, SessionFiles};
use steadfast_system::ProcessEntry;
use steadfast_text::truncate;

pub(crate) use lineage::Noted;
use lineage::{Care, Lineage, System};

use crate::process::{any_host_in, numbering};

/// The most characters of a forged text that are kept.
const TEXT: usize = 200;

/// The longest wait for the journal of a session whose state file was deleted.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// The most hosts of one session that are remembered: the windows in which it is open.
const WINDOWS: usize = 4;

/// Checks the sender of an event. A forged event is replaced by a record of the forgery.
pub(crate) fn check(place: &Place, event: &mut Event, peer: Option<u32>, noted: &[Noted]) {
    let files = SessionFiles::of(place, &event.session);
    let is_plain_tool_event = is_plain_tool_event(&event.kind);
    if is_plain(noted, peer) || noted.is_empty() && is_plain_tool_event {
        return;
    }
    let care = match &event.kind {
        // A false alarm here would let a tool call through without a check.
        EventKind::PreTool(_) if is_plain_tool_event => Care::Lineage,
        _ if is_plain_tool_event => Care::Pipes,
        _ => Care::BothEnds,
    };
    let lineage = Lineage::of(&System, std::process::id(), peer).with(care);
    // The host above this process is alive.
    let is_above = |noted: &Noted| lineage.host().is_some_and(|host| noted.is(host));
    let alive = |noted: &Noted| is_above(noted).then_some(true).or_else(|| noted.is_alive());
    let living: Vec<_> = noted.iter().map(|noted| (alive(noted), noted.clone())).collect();
    let Some(by) = lineage.forged(&living, |host| Some(session_of(place, host)?.1)) else { return };
    let mut forged = Forged { claimed: event.kind.label().to_owned(), text: text(event), session: None, by };
    // The forgery of a made-up session is recorded in the session of its author.
    if !files.dir().is_dir()
        && let Some((own, _)) = lineage.host().and_then(|host| session_of(place, host))
    {
        forged.session = Some(std::mem::replace(&mut event.session, own));
    }
    *event = Event {
        via: event.via,
        ..Event::plain(event.session.clone(), event.host, event.cwd.clone(), event.at, EventKind::Forged(forged))
    };
}

/// Recognizes the usual case without reading more: the parent is the recorded host, and it made our standard input.
fn is_plain(noted: &[Noted], peer: Option<u32>) -> bool {
    let parent = Some(std::os::unix::process::parent_id());
    peer.is_some() && peer == parent && noted.iter().any(|noted| noted.ways.by_socket && Some(noted.id) == peer)
}

/// Returns whether this is a tool event without a human's words. In a session without a known host it is not checked.
fn is_plain_tool_event(kind: &EventKind) -> bool {
    match kind {
        EventKind::PreTool(call) => !matches!(call.action, Action::Ask | Action::LeavePlan),
        EventKind::PostTool(result) => !matches!(result.call.action, Action::Ask | Action::LeavePlan),
        _ => false,
    }
}

/// Returns the hosts of a session, this one included, for its journal and its file.
pub(crate) fn hosts(noted: Vec<Noted>, peer: Option<u32>) -> Option<String> {
    let lineage = Lineage::of(&System, std::process::id(), peer);
    // A session that a tool call imitates elsewhere, as in a test or a demonstration, is not one of this host.
    let host = lineage.host().filter(|_| lineage.is_hooks())?;
    let this = Noted { id: host.id, started: host.started, numbering: numbering(), ways: lineage.ways() };
    let mut all = noted;
    all.retain(|noted| !noted.is(host) && noted.is_alive() != Some(false));
    let excess = (all.len() + 1).saturating_sub(WINDOWS);
    all.drain(..excess);
    all.push(this);
    let lines: Vec<String> = all.iter().map(Noted::to_string).collect();
    Some(lines.join("\n"))
}

/// Returns the hosts of a session from its journal. The file with them can be deleted or replaced, so it only counts
/// if the journal has none, because an older version wrote it.
pub(crate) fn known(files: &SessionFiles, state: Option<&State>) -> Vec<Noted> {
    let of_state = |state: &State| -> Vec<Noted> { state.hosts.lines().filter_map(Noted::parse).collect() };
    let replayed = match state {
        None if files.dir().is_dir() => files.load(LOCK_WAIT).ok().flatten(),
        _ => None,
    };
    let known = state.or(replayed.as_ref()).map(of_state).unwrap_or_default();
    if known.is_empty() { in_file(files) } else { known }
}

/// Returns whether a human may operate this sender: the host above it was not started by an agent, or there is no host
/// above it and none at work here. Otherwise it is an agent, whatever its environment says.
pub(crate) fn may_be_attended(place: &Place, peer: Option<u32>) -> bool {
    let is_at_work = || {
        let noted = SessionFiles::all(place).into_iter().flat_map(|files| noted(&files));
        // Even if all files of a session are deleted, its host is still running here.
        noted.into_iter().any(|noted| noted.is_alive() == Some(true)) || any_host_in(&place.root)
    };
    Lineage::of(&System, std::process::id(), peer).may_be_attended(is_at_work)
}

/// Returns the hosts of a session whose state is not known to the caller.
pub(crate) fn noted(files: &SessionFiles) -> Vec<Noted> {
    let noted = in_file(files);
    if noted.is_empty() { known(files, files.peek().as_ref()) } else { noted }
}

fn in_file(files: &SessionFiles) -> Vec<Noted> {
    files.noted_process().unwrap_or_default().lines().filter_map(Noted::parse).collect()
}

/// Returns a session of this place that runs in this host.
fn session_of(place: &Place, host: &ProcessEntry) -> Option<(SessionId, Noted)> {
    SessionFiles::all(place).into_iter().find_map(|files| {
        let noted = noted(&files).into_iter().find(|noted| noted.is(host))?;
        Some((files.session().clone(), noted))
    })
}

/// `/clear` ends a session and starts the next within moments.
const CLEARED_MS: i64 = 60_000;

/// Returns the plans of the session that `/clear` just ended for this one, in the same host if hosts are known.
pub(crate) fn inherited(place: &Place, event: &Event, peer: Option<u32>) -> Vec<PlanId> {
    if !matches!(event.kind, EventKind::SessionStart { source: StartSource::Clear }) {
        return Vec::new();
    }
    let lineage = Lineage::of(&System, std::process::id(), peer);
    let is_host = |files: &SessionFiles| {
        let noted = noted(files);
        noted.is_empty() || lineage.host().is_none_or(|host| noted.iter().any(|noted| noted.is(host)))
    };
    let cleared = |files: SessionFiles| {
        let state = files.peek().filter(|state| state.ended.as_deref() == Some("clear"))?;
        let is_new = event.at.since(state.last_at).abs() < CLEARED_MS && state.session != event.session;
        (is_new && is_host(&files)).then_some(state)
    };
    let last = SessionFiles::all(place).into_iter().filter_map(cleared).max_by_key(|state| state.last_at);
    last.map(|state| state.binding.plans).unwrap_or_default()
}

/// Returns the text of a forged event, shortened.
fn text(event: &Event) -> String {
    let call = |call: &ToolCall| match &call.action {
        Action::Shell { command, .. } => format!("{}: {command}", call.tool),
        _ => call.tool.clone(),
    };
    let said = match &event.kind {
        EventKind::Prompt { text, .. } => text.clone(),
        EventKind::Command { name } => name.clone(),
        EventKind::PreTool(made) | EventKind::Permission(made) => call(made),
        EventKind::PostTool(result) => call(&result.call),
        EventKind::ItemCreated(told) | EventKind::ItemCompleted(told) => told.item.subject.clone(),
        EventKind::Stop(stopping) | EventKind::SubagentStop(stopping) => {
            stopping.last_message.clone().unwrap_or_default()
        }
        _ => String::new(),
    };
    truncate(&said, TEXT).into_owned()
}

#[cfg(test)]
mod tests;
