//! What the world says, as far as this event needs it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_engine::drift::written;
use steadfast_engine::{Heard, Touched, goal};
use steadfast_hosts::install::Homes;
use steadfast_model::{
    Action, Approval, ApprovalRules, Brief, Current, DoneHere, Event, EventKind, Fact, Facts, Found, Gate, Leased,
    Liveness, Loop, LoopView, Millis, Needs, Neighbours, NewRules, OwnerEnd, PathLink, PlanView, Profile, SealBreak,
    SessionId, Stage, State, TaskFile, ToolCall, WiringTold,
};
use steadfast_observe::{GitCommand, Repository, TOOL_EVENT};
use steadfast_plan::{Standing, loop_view, resume_text};
use steadfast_store::ledger::{Ledger, LedgerError, read_slices_of};
use steadfast_store::{
    Asked, ConfigFiles, Later, Place, SessionFiles, Verifier, approval_of, gate_for, is_check_running, log_line,
    mark_checkouts, neighbours_of, seal_breaks, tree_breaks,
};

use crate::cost::cost_since;
use crate::process::{HOSTS, Process, is_gone};
use crate::{share, wiring};

/// Longer than any single tool call: an agent that works is heard of at least this often.
const SILENCE_MS: u64 = 4 * 60 * 60 * 1_000;

/// More of a text is never said, and every stop is journalled with it.
const SAID: usize = 1_000;

/// What git gets where no call of the agent's waits for us. What is found is read and mended in the same second.
const TREE: Duration = Duration::from_millis(400);

/// What git gets at a prompt to list the files. A hundred thousand take less than half of it.
const PROMPT: Duration = Duration::from_millis(250);

/// What a stop may spend on looking at processes. Four hundred take 6 ms.
const PROCESSES: Duration = Duration::from_millis(50);

/// What is spent on the same at a closed gate. On a busy machine it takes longer, and a human's save that is not known to be
/// theirs is moved aside.
const WRITERS: Duration = Duration::from_millis(300);

/// The plan of this checkout: from the ledger, or, where that cannot be read just now, from its slice. With it, where
/// nothing is open, how its done tasks stand here.
pub(crate) fn plan(place: &Place, config: &ConfigFiles, needs: Needs, state: &State, event: &Event) -> PlanFacts {
    if !needs.plan {
        return PlanFacts { unfinished: unfinished_alone(place, config, needs, event), ..PlanFacts::default() };
    }
    let (now, session) = (event.at, &event.session);
    let worktree = place.worktree();
    let read = Ledger::open_read_only(&place.state).and_then(|ledger| {
        ledger.map_or(Ok(PlanFacts { plan: Fact::Known(None), ..PlanFacts::default() }), |ledger| {
            let unfinished = unfinished(place, config, needs, event, &ledger);
            Ok(PlanFacts { unfinished, ..share::look(place, &ledger, &worktree, needs, state, event)? })
        })
    });
    let seen = |plan| {
        let mut plan = heard_of(place, plan, now);
        plan.approval = standing(place, config, &plan, &state.rules.approval, now);
        plan
    };
    match read {
        Ok(PlanFacts { plan: Fact::Known(Some(plan)), done, leased, task_files, unfinished }) => {
            PlanFacts { plan: Fact::Known(Some(seen(plan))), done, leased, task_files, unfinished }
        }
        Ok(found) => found,
        Err(error) => {
            let (plan, done) = match read_slices_of(&place.state, &worktree, session) {
                Some(plan) => (Fact::Known(Some(seen(plan))), Fact::Unknown(error.to_string())),
                None => (Fact::Unknown(error.to_string()), Fact::NotAsked),
            };
            PlanFacts { plan, done, ..PlanFacts::default() }
        }
    }
}

/// The plan, and how it is shared.
#[derive(Debug, Default)]
pub(crate) struct PlanFacts {
    pub(crate) plan: Fact<Option<PlanView>>,
    pub(crate) done: Fact<DoneHere>,
    pub(crate) leased: Vec<Leased>,
    pub(crate) task_files: Vec<TaskFile>,
    pub(crate) unfinished: Fact<Option<LoopView>>,
}

/// What a new session is told of the loop of this checkout that is not finished. Advice: what cannot be read is not said.
pub(crate) fn looped(place: &Place, needs: Needs, event: &Event) -> Option<String> {
    if !needs.looped || !matches!(event.kind, EventKind::SessionStart { .. }) {
        return None;
    }
    let ledger = Ledger::open_read_only(&place.state).ok().flatten()?;
    let looped = ledger.unfinished_loop(&place.worktree()).ok().flatten()?;
    let reviews = ledger.reviews_of(&looped.id).ok()?;
    let tasks = looped.plan.as_ref().and_then(|plan| ledger.tasks(plan).ok()).unwrap_or_default();
    Some(resume_text(&looped, &reviews, Standing::of(&tasks)))
}

/// The loop of this checkout that is not finished, as a stop or a prompt needs it. Where there is none, nothing is written
/// down of it.
fn unfinished(
    place: &Place,
    config: &ConfigFiles,
    needs: Needs,
    event: &Event,
    ledger: &Ledger,
) -> Fact<Option<LoopView>> {
    if !needs.looped {
        return Fact::NotAsked;
    }
    match loop_of(place, config, event, ledger) {
        Ok(None) => Fact::NotAsked,
        Ok(view) => Fact::Known(view),
        Err(error) => Fact::Unknown(error.to_string()),
    }
}

/// The same for an event that asks for no plan.
fn unfinished_alone(place: &Place, config: &ConfigFiles, needs: Needs, event: &Event) -> Fact<Option<LoopView>> {
    if !needs.looped {
        return Fact::NotAsked;
    }
    match Ledger::open_read_only(&place.state) {
        Ok(None) => Fact::NotAsked,
        Ok(Some(ledger)) => unfinished(place, config, needs, event, &ledger),
        Err(error) => Fact::Unknown(error.to_string()),
    }
}

fn loop_of(
    place: &Place,
    config: &ConfigFiles,
    event: &Event,
    ledger: &Ledger,
) -> Result<Option<LoopView>, LedgerError> {
    let Some(found) = ledger.unfinished_with_counts(&place.worktree())? else { return Ok(None) };
    let reviews = match found.looped.stage {
        Stage::Review => ledger.reviews_of(&found.looped.id)?,
        _ => Vec::new(),
    };
    let mut view = loop_view(&found.looped, &reviews, found.counts, found.session_ended);
    if let (Some(session), None) = (&view.session, &view.session_ended) {
        view.session_ended = silent(place, session, event.at);
    }
    let stops = matches!(event.kind, EventKind::Stop(_));
    if stops && view.run.is_none() && view.session.as_ref() == Some(&event.session) {
        view.limit = limit(place, config, found.looped, event);
    }
    Ok(Some(view))
}

/// Which limit a loop has reached, with what its session cost until now.
fn limit(place: &Place, config: &ConfigFiles, mut looped: Loop, event: &Event) -> Option<String> {
    if looped.limits.micro_usd.is_some()
        && let Some(cost) = cost_since(place, config, &event.session, looped.started_at)
    {
        looped.spent.insert(event.session.clone(), cost);
    }
    looped.limits.spent(&looped)
}

/// What the ledger cannot know. A host that was killed says no farewell: an owner that did nothing for long enough
/// counts as gone, and so does one whose process is. Nor does a supervisor: a check whose lock is free does not run.
fn heard_of(place: &Place, mut plan: PlanView, now: Millis) -> PlanView {
    bound(&mut plan.brief);
    plan.checking.retain(|check| is_check_running(place, &check.run));
    if let (Some(owner), None) = (&plan.owner, &plan.owner_ended) {
        plan.owner_ended = silent(place, owner, now);
    }
    plan
}

/// Whether a session whose end was not seen counts as gone.
pub fn is_silent(place: &Place, session: &SessionId, now: Millis) -> bool {
    silent_since(place, session, now).is_some()
}

/// When a session whose end was not seen was heard of last, if it counts as gone.
pub(crate) fn silent_since(place: &Place, session: &SessionId, now: Millis) -> Option<Millis> {
    let files = SessionFiles::of(place, session);
    let last = files.peek().map_or(Millis(0), |state| state.last_at);
    // Either way: a clock that was set back leaves one that died before it in the future.
    (now.0.abs_diff(last.0) > SILENCE_MS || is_gone(&files)).then_some(last)
}

/// The end of a session that nobody saw end.
fn silent(place: &Place, session: &SessionId, now: Millis) -> Option<OwnerEnd> {
    silent_since(place, session, now).map(|at| OwnerEnd { reason: OwnerEnd::SILENT.into(), at })
}

/// How a plan stands with its human.
fn standing(place: &Place, config: &ConfigFiles, plan: &PlanView, rules: &ApprovalRules, now: Millis) -> Approval {
    let asked = Asked {
        hash: plan.hash.as_deref(),
        path: plan.brief.spec.as_deref(),
        added_by: plan.added_by,
        required: rules.required,
        now,
    };
    let verifier = match rules.profile {
        // Without a key nothing is signed.
        Profile::Default => Verifier::Default { user_state: config.user_state().unwrap_or(Path::new("")) },
        // No hook waits for `ssh-keygen`. Here it is about what the agent is told; `task start` looks at the signature.
        Profile::Hardened => Verifier::Hardened(&|_, _| true),
    };
    approval_of(place, &asked, &verifier)
}

fn bound(brief: &mut Brief) {
    let Brief {
        spec,
        objective,
        constraints,
        criteria,
        must_nots,
        taking_back,
        promise: _,
        phase,
        decisions,
        checkpoints: _,
        current,
    } = brief;
    // A path that is cut is another path.
    taking_back.truncate(SAID / 100);
    taking_back.iter_mut().for_each(|task| task.paths.truncate(SAID / 10));
    let mut texts: Vec<&mut String> = [spec, objective, phase].into_iter().flatten().collect();
    texts.extend(constraints.iter_mut().chain(criteria).chain(must_nots).chain(decisions));
    if let Some(Current { files, notes, check, stuck_count: _, counted: _ }) = current {
        files.truncate(SAID / 20);
        texts.extend(files.iter_mut().chain(notes).chain(check));
    }
    for text in texts {
        if let Some((end, _)) = text.char_indices().nth(SAID) {
            text.truncate(end);
        }
    }
}

/// Clocks of files and of events differ by a little, and so do the ends of two calls.
const SLACK_MS: u64 = 1_000;

/// What changed in the checkout while the call of an event ran. Who did it is not written on a file: where another session
/// did something meanwhile, it is not known.
pub(crate) fn changed(place: &Place, needs: Needs, state: &State, event: &Event) -> Fact<Vec<String>> {
    if !needs.changed {
        return Fact::NotAsked;
    }
    let took = match &event.kind {
        EventKind::PostTool(result) => result.millis,
        _ => None,
    };
    let began = took.map_or(state.last_at, |took| event.at.before(took));
    let began = began.before(SLACK_MS);
    if SessionFiles::others_since(place, &event.session, began) {
        return Fact::Unknown("another session was at work here".into());
    }
    let root = if state.drift.root.is_empty() { &event.cwd } else { &state.drift.root };
    match Repository::find(&place.root).changed_after(began, Facts::CHANGED, TOOL_EVENT) {
        Fact::Known(paths) => Fact::Known(paths.iter().map(|path| from_root(place, root, path)).collect()),
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

/// What history changes together with what was written. Read where something would be said of it, and nowhere else.
pub(crate) fn neighbours(
    place: &Place,
    needs: Needs,
    state: &State,
    event: &Heard<'_>,
    changed: &Fact<Vec<String>>,
) -> Vec<Neighbours> {
    if !needs.neighbours {
        return Vec::new();
    }
    let root = if state.drift.root.is_empty() { &event.cwd } else { &state.drift.root };
    let in_checkout = |path: &String| {
        let path = Path::new(root).join(path);
        path.strip_prefix(&place.root).ok().map(|path| path.to_string_lossy().into_owned())
    };
    let files: Vec<String> = written(state, event, changed).iter().filter_map(in_checkout).collect();
    let told = |path: &String| from_root(place, root, Path::new(path));
    let found = neighbours_of(place, &files);
    found.iter().map(|(file, with)| Neighbours { path: told(file), with: with.iter().map(told).collect() }).collect()
}

/// Where in the tree is what the human called by its name, from the session's root. What is beside that is not looked at.
pub(crate) fn found(place: &Place, needs: Needs, state: &State, event: &Heard<'_>) -> Fact<Vec<Found>> {
    if !needs.found {
        return Fact::NotAsked;
    }
    let root = if state.drift.root.is_empty() { &event.cwd } else { &state.drift.root };
    match Repository::find(&place.root).tracked(PROMPT) {
        Fact::Known(tree) => {
            let told = |path: &String| Some(place.root.join(path).strip_prefix(root).ok()?.to_str()?.to_owned());
            let tree: Vec<String> = tree.iter().filter_map(told).collect();
            Fact::Known(goal::found(event.names(), &tree))
        }
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

/// A path of the checkout as a session tells it: from its root, or whole where it is not below it.
pub(crate) fn from_root(place: &Place, root: &str, path: &Path) -> String {
    let path = place.root.join(path);
    path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned()
}

/// The gate before a session, and what it seals.
pub(crate) fn gate(place: &Place, needs: Needs, state: &State, event: &Event) -> GateFacts {
    if !needs.gate {
        // A command closes one: what runs beside it may write behind it.
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
    // A session that sees a gate for the first time asks what was left running before it.
    let running = if needs.running || broken || state.gate.is_none() { running(place, event) } else { Fact::NotAsked };
    let uncommitted = match gate.as_ref().filter(|_| needs.uncommitted) {
        Some(gate) => uncommitted(place, &gate.protected),
        None => Vec::new(),
    };
    GateFacts { gate, seal, tree, running, uncommitted, behind_links }
}

/// Which of these paths have changes that are not committed. Where git does not answer, none are known.
fn uncommitted(place: &Place, protected: &[String]) -> Vec<String> {
    let inside = protected.iter().filter(|path| !path.starts_with(['/', '~']));
    let args = ["-z", "--no-ext-diff", "--no-renames", "--name-only", "HEAD", "--"];
    let git = GitCommand::at(&place.root).call("diff").args(args).args(inside);
    let said = git.answer(TOOL_EVENT).unwrap_or_default();
    said.split('\0').filter(|path| !path.is_empty()).take(Facts::CHANGED).map(str::to_owned).collect()
}

/// Whether something runs that a tool call of this session started: of this one, of one that its host had before, or of
/// one whose host is gone. What another living host's agent does is its own affair.
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
pub(crate) struct GateFacts {
    pub(crate) gate: Option<Gate>,
    pub(crate) seal: Vec<SealBreak>,
    pub(crate) tree: Fact<Vec<SealBreak>>,
    pub(crate) running: Fact<bool>,
    pub(crate) uncommitted: Vec<String>,
    pub(crate) behind_links: Vec<String>,
}

/// Where a path really leads, if that is elsewhere than it says. What is not there yet is below what is.
fn behind(cwd: &Path, path: &str) -> Option<String> {
    let said = cwd.join(path);
    let real = steadfast_observe::behind(&said)?;
    (real != said).then(|| real.to_string_lossy().into_owned())
}

/// Where the paths that a command line touches, and those that a closed gate protects, really lead.
pub(crate) fn links(homes: fn() -> Option<Homes>, gate: Option<&Gate>, event: &Heard<'_>) -> Vec<PathLink> {
    let Some(gate) = gate else { return Vec::new() };
    let mut paths = event.touched();
    if paths.is_empty() {
        return Vec::new();
    }
    let protected = Heard::protected(gate).into_iter().map(|path| path.trim_end_matches('/').to_owned());
    paths.extend(protected.map(|path| Touched { path, at_end: true }));
    let is_at_home = |touched: &Touched| touched.path.starts_with('~') || touched.path.contains("/~/");
    let home = paths.iter().any(is_at_home).then(homes).flatten().map(|homes| homes.home);
    let link = |touched: Touched| {
        // A reading leaves `~` where it stands.
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

/// The paths by which this program is installed, also as they are spelled from the user's home.
pub(crate) fn programs(installed: fn() -> Vec<PathBuf>, homes: fn() -> Option<Homes>, needs: Needs) -> Vec<String> {
    if !needs.programs {
        return Vec::new();
    }
    let home = homes().map(|homes| homes.home);
    let spelled = |path: PathBuf| {
        let from_home = home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let from_home = from_home.map(|path| format!("~/{}", path.display()));
        std::iter::once(path.to_string_lossy().into_owned()).chain(from_home)
    };
    installed().into_iter().flat_map(spelled).collect()
}

/// What of our hooks in the hosts' settings is not as it was. Where nothing is to be said, nothing is written down.
pub(crate) fn wiring(
    place: &Place,
    homes: fn() -> Option<Homes>,
    needs: Needs,
    state: &State,
    now: Millis,
) -> Fact<Vec<String>> {
    if !needs.wiring {
        return Fact::NotAsked;
    }
    let changed = wiring::changed(place, homes, now);
    if changed.is_empty() && state.wiring == WiringTold::default() { Fact::NotAsked } else { Fact::Known(changed) }
}

/// Which checkout this is.
pub(crate) fn checkout(place: &Place, needs: Needs) -> Option<String> {
    needs.checkout.then(|| place.worktree())
}

/// What the processes are doing that a stop tells of. Without a host that can be seen above this process, nothing of them
/// is known.
pub(crate) fn processes(needs: Needs, event: &Event) -> Vec<Liveness> {
    let EventKind::Stop(stopping) = &event.kind else { return Vec::new() };
    if !needs.processes {
        return Vec::new();
    }
    let commands: Vec<Option<&str>> = stopping.processes().map(|process| process.command.as_deref()).collect();
    match Process::above(&HOSTS) {
        Some(host) => steadfast_observe::processes_of(host.id, &commands, PROCESSES),
        None => vec![Liveness::Unknown; commands.len()],
    }
}

/// How much of its budget a run has spent, if it is spent: what its runner wrote down then. That the file is there is
/// enough.
pub(crate) fn spent(file: &Path) -> Option<String> {
    const LINE: usize = 120;
    match fs::read_to_string(file) {
        Ok(text) => Some(text.lines().next().unwrap_or_default().chars().take(LINE).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(String::new()),
    }
}

/// The configuration, if it is not the one this session knows. A file that cannot be read leaves the old one standing.
pub(crate) fn rules(place: &Place, config: &ConfigFiles, state: Option<&State>, now: Millis) -> Option<NewRules> {
    let stamp = config.stamp();
    if stamp == state.map_or(0, |state| state.rules_stamp) {
        return None;
    }
    match config.load() {
        Ok(settings) => Some(NewRules { stamp, rules: settings.rules() }),
        Err(error) => {
            log_line(place, now, &format!("configuration: {error}"));
            Some(NewRules { stamp, rules: state.map(|state| state.rules.clone()).unwrap_or_default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_long_a_spec_is_a_stop_is_journalled_with_a_little_of_it() {
        let long = || "é".repeat(100_000);
        let mut brief = Brief {
            spec: Some("SPEC.md".into()),
            objective: Some(long()),
            constraints: vec![long(); Brief::SHOWN],
            decisions: vec![long(); Brief::SHOWN],
            current: Some(Current { files: vec!["a".into(); 1_000], notes: Some(long()), ..Current::default() }),
            ..Brief::default()
        };
        bound(&mut brief);
        let text = format!("{brief:?}");
        assert!(text.len() < 40_000, "{}", text.len());
        assert_eq!(brief.spec.as_deref(), Some("SPEC.md"));
    }
}
