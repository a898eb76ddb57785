//! Facts about the gate before a session, its seal, and the real targets of paths.

use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_engine::{ParsedEvent, Touched};
use steadfast_hosts::install::Homes;
use steadfast_model::{
    Action, Event, EventKind, Fact, Facts, Gate, Needs, PathLink, SealBreak, SessionId, State, ToolCall,
};
use steadfast_observe::{GitCommand, TOOL_EVENT};
use steadfast_store::{Later, Place, SessionFiles, gate_for, mark_checkouts, seal_breaks, tree_breaks};

use crate::process::is_gone;

/// The time for git while no tool call of the agent waits. Changed files are read and restored within the same second.
const TREE: Duration = Duration::from_millis(400);

/// The time to search for writing processes at a closed gate. If the search takes longer on a busy machine, a human's
/// save that is not recognized as theirs is moved aside.
const WRITERS: Duration = Duration::from_millis(300);

/// Reads the gate before a session, and its seal.
pub(super) fn look(place: &Place, needs: Needs, state: &State, event: &Event) -> GateFacts {
    if !needs.gate {
        // A command may close a gate, while a process beside it writes behind it.
        let running = if needs.running { running(place, event) } else { Fact::NotAsked };
        return GateFacts { running, ..GateFacts::default() };
    }
    let later = Later { started_at: state.started_at, known: state.gate.as_ref().map(|gate| &gate.scope) };
    let gate = gate_for(place, Some(&event.session), later, event.at);
    let scope = gate.as_ref().map(|gate| &gate.scope).or(state.gate.as_ref().map(|gate| &gate.scope));
    let Some(scope) = scope else { return GateFacts::default() };
    let mut seal = if needs.seal { seal_breaks(place, scope, &place.root) } else { Vec::new() };
    let mut tree = match (needs.tree, &event.kind) {
        (false, _) => Fact::NotAsked,
        (true, EventKind::PreTool(_) | EventKind::PostTool(_)) => tree_breaks(place, scope, &place.root, TOOL_EVENT),
        (true, _) => tree_breaks(place, scope, &place.root, TREE),
    };
    let behind_links = match &event.kind {
        EventKind::PreTool(ToolCall { action: Action::Write { paths } | Action::Mcp { paths, .. }, .. }) => {
            paths.iter().filter_map(|path| behind(Path::new(&event.cwd), path)).collect()
        }
        _ => Vec::new(),
    };
    mark_checkouts(place, scope, &place.root, &mut seal, TOOL_EVENT);
    if let Fact::Known(breaks) = &mut tree {
        mark_checkouts(place, scope, &place.root, breaks, TOOL_EVENT);
    }
    let broken = !seal.is_empty() || matches!(&tree, Fact::Known(broken) if !broken.is_empty());
    // A session that sees a gate for the first time checks what still runs from before.
    let running = if needs.running || broken || state.gate.is_none() { running(place, event) } else { Fact::NotAsked };
    let uncommitted = match gate.as_ref().filter(|_| needs.uncommitted) {
        Some(gate) => uncommitted(place, &gate.protected),
        None => Vec::new(),
    };
    GateFacts { gate, seal, tree, running, uncommitted, behind_links }
}

/// Returns which of these paths have uncommitted changes. If git fails, returns none.
fn uncommitted(place: &Place, protected: &[String]) -> Vec<String> {
    let inside = protected.iter().filter(|path| !path.starts_with(['/', '~']));
    let args = ["-z", "--no-ext-diff", "--no-renames", "--name-only", "HEAD", "--"];
    let git = GitCommand::at(&place.root).call("diff").args(args).args(inside);
    let said = git.answer(TOOL_EVENT).unwrap_or_default();
    said.split('\0').filter(|path| !path.is_empty()).take(Facts::CHANGED).map(str::to_owned).collect()
}

/// Returns whether a process runs that was started by a tool call of this session, of an earlier session of its host,
/// or of a session whose host is gone. Processes of another living host do not count.
fn running(place: &Place, event: &Event) -> Fact<bool> {
    let own = SessionFiles::of(place, &event.session);
    let host = own.noted_process();
    let is_ours = |session: &String| {
        let session = SessionId::new(session.as_str());
        let files = SessionFiles::of(place, &session);
        session == event.session
            || files.dir().is_dir() && (is_gone(&files) || host.is_some() && files.noted_process() == host)
    };
    match steadfast_observe::sessions_at_work(WRITERS) {
        Fact::Known(sessions) => Fact::Known(sessions.iter().any(is_ours)),
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

#[derive(Debug, Default)]
pub(super) struct GateFacts {
    pub(super) gate: Option<Gate>,
    pub(super) seal: Vec<SealBreak>,
    pub(super) tree: Fact<Vec<SealBreak>>,
    pub(super) running: Fact<bool>,
    pub(super) uncommitted: Vec<String>,
    pub(super) behind_links: Vec<String>,
}

/// Returns the real target of a path, if it differs. For a new file, the target of its folder counts.
fn behind(cwd: &Path, path: &str) -> Option<String> {
    let said = cwd.join(path);
    let real = steadfast_observe::behind(&said)?;
    (real != said).then(|| real.to_string_lossy().into_owned())
}

/// Returns the real targets of the paths that a command line touches, and of those that a closed gate protects.
pub(super) fn links(homes: fn() -> Option<Homes>, gate: Option<&Gate>, event: &ParsedEvent<'_>) -> Vec<PathLink> {
    let Some(gate) = gate else { return Vec::new() };
    let mut paths = event.touched();
    if paths.is_empty() {
        return Vec::new();
    }
    let protected = ParsedEvent::protected(gate).into_iter().map(|path| path.trim_end_matches('/').to_owned());
    paths.extend(protected.map(|path| Touched { path, at_end: true }));
    let is_at_home = |touched: &Touched| touched.path.starts_with('~') || touched.path.contains("/~/");
    let home = paths.iter().any(is_at_home).then(homes).flatten().map(|homes| homes.home);
    let link = |touched: Touched| {
        // The shell parser keeps `~` as it is.
        let from_home =
            touched.path.strip_prefix("~/").or_else(|| touched.path.split_once("/~/").map(|(_, rest)| rest));
        let said = match (from_home, &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(&touched.path),
        };
        let real = match (said.parent(), said.file_name()) {
            (Some(folder), Some(name)) if !touched.at_end => {
                steadfast_observe::behind(folder).map(|real| real.join(name))
            }
            _ => steadfast_observe::behind(&said),
        };
        let target = real.unwrap_or(said).to_string_lossy().into_owned();
        (target != touched.path).then_some(PathLink { path: touched.path, target })
    };
    paths.into_iter().filter_map(link).collect()
}
