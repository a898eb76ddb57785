//! Whether a host sends an event, or something that its agent started.
//!
//! A process cannot choose its ancestors, nor who made the socket it reads from. So these two decide, and what an
//! environment says only adds suspicion: it can be emptied.
//!
//! - Claude Code hands a payload over through a socket that it made itself; the kernel tells who made it. A tool's child
//!   reads from something else.
//! - Codex uses pipes, which do not tell. There the process that the host itself started is looked at: it is a tool's
//!   if its environment is, if nothing feeds it or its sandbox holds it, and an MCP server's if it has no session of its
//!   own. A tool's shell that becomes the sender can dress itself in all of that. It cannot have a standard input that
//!   was made right before its standard output, as a hook has, unless it makes both; then the host does not read the
//!   output.
//! - A sender without a host above it is adopted or foreign. In a session whose host is alive that is a forgery.
//!
//! Where processes cannot be looked at (other systems than Linux) nothing is known, and every event counts.

mod lineage;

use std::time::Duration;

use steadfast_model::{Action, Event, EventKind, Forged, PlanId, SessionId, StartSource, State, ToolCall};
use steadfast_store::{Place, SessionFiles};
use steadfast_system::ProcessEntry;
use steadfast_text::truncate;

pub(crate) use lineage::Noted;
use lineage::{Care, Lineage, System};

use crate::process::{any_host_in, numbering};

/// Longest part of a forged text that is kept, in characters.
const TEXT: usize = 200;

/// How long it is waited for the journal of a session whose state was deleted.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// Hosts of one session that are remembered at once: the windows in which it is open.
const WINDOWS: usize = 4;

/// Looks at where an event comes from. A forged one is exchanged for the record of it.
pub(crate) fn check(place: &Place, event: &mut Event, peer: Option<u32>, noted: &[Noted]) {
    let files = SessionFiles::of(place, &event.session);
    let says_little = says_little(&event.kind);
    if is_plain(noted, peer) || noted.is_empty() && says_little {
        return;
    }
    let care = match &event.kind {
        // What is wrongly taken for forged here is a call that nothing refuses.
        EventKind::PreTool(_) if says_little => Care::Lineage,
        _ if says_little => Care::Pipes,
        _ => Care::BothEnds,
    };
    let lineage = Lineage::of(&System, std::process::id(), peer).with(care);
    // Whoever is above this process lives.
    let is_above = |noted: &Noted| lineage.host().is_some_and(|host| noted.is(host));
    let alive = |noted: &Noted| is_above(noted).then_some(true).or_else(|| noted.is_alive());
    let living: Vec<_> = noted.iter().map(|noted| (alive(noted), noted.clone())).collect();
    let Some(by) = lineage.forged(&living, |host| Some(session_of(place, host)?.1)) else { return };
    let mut forged = Forged { claimed: event.kind.label().to_owned(), text: text(event), session: None, by };
    // A made-up session is written down where its author works.
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

/// The usual case, for which nothing else is read: the host that was noted is the parent, and made our standard input.
fn is_plain(noted: &[Noted], peer: Option<u32>) -> bool {
    let parent = Some(std::os::unix::process::parent_id());
    peer.is_some() && peer == parent && noted.iter().any(|noted| noted.ways.by_socket && Some(noted.id) == peer)
}

/// A tool event that no human speaks through. In a session of which no host is known it is not worth a look.
fn says_little(kind: &EventKind) -> bool {
    match kind {
        EventKind::PreTool(call) => !matches!(call.action, Action::Ask | Action::LeavePlan),
        EventKind::PostTool(result) => !matches!(result.call.action, Action::Ask | Action::LeavePlan),
        _ => false,
    }
}

/// Which hosts a session runs in now that this one is one of them, for its journal and its file.
pub(crate) fn hosts(noted: Vec<Noted>, peer: Option<u32>) -> Option<String> {
    let lineage = Lineage::of(&System, std::process::id(), peer);
    // A session that a tool call plays elsewhere, a test or a demonstration, is not that host's.
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

/// The hosts of a session as its journal has them. Its file can be deleted or exchanged, and is asked where the journal
/// has none: an older version wrote it.
pub(crate) fn known(files: &SessionFiles, state: Option<&State>) -> Vec<Noted> {
    let of_state = |state: &State| -> Vec<Noted> { state.hosts.lines().filter_map(Noted::parse).collect() };
    let replayed = match state {
        None if files.dir().is_dir() => files.load(LOCK_WAIT).ok().flatten(),
        _ => None,
    };
    let known = state.or(replayed.as_ref()).map(of_state).unwrap_or_default();
    if known.is_empty() { in_file(files) } else { known }
}

/// Whether a human may sit before this sender: a host is above it that no agent started, or there is none to be found and
/// none at work here either. Anything else is an agent's doing, whatever its environment says.
pub(crate) fn may_be_attended(place: &Place, peer: Option<u32>) -> bool {
    let is_at_work = || {
        let noted = SessionFiles::all(place).into_iter().flat_map(|files| noted(&files));
        // Where all that was kept of a session is deleted, its host is still there.
        noted.into_iter().any(|noted| noted.is_alive() == Some(true)) || any_host_in(&place.root)
    };
    Lineage::of(&System, std::process::id(), peer).may_be_attended(is_at_work)
}

/// The hosts a session was seen in, for who does not know its state.
pub(crate) fn noted(files: &SessionFiles) -> Vec<Noted> {
    let noted = in_file(files);
    if noted.is_empty() { known(files, files.peek().as_ref()) } else { noted }
}

fn in_file(files: &SessionFiles) -> Vec<Noted> {
    files.noted_process().unwrap_or_default().lines().filter_map(Noted::parse).collect()
}

/// A session of this place that runs in that host.
fn session_of(place: &Place, host: &ProcessEntry) -> Option<(SessionId, Noted)> {
    SessionFiles::all(place).into_iter().find_map(|files| {
        let noted = noted(&files).into_iter().find(|noted| noted.is(host))?;
        Some((files.session().clone(), noted))
    })
}

/// `/clear` ends a session and starts the next within moments.
const CLEARED_MS: i64 = 60_000;

/// The plans of the session that `/clear` has just ended for this one to begin, in the same host where hosts are known.
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

/// What a forged event said, as far as it is shown.
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
