//! Reads the facts that the rules need for an event.

mod done;
mod gate;
mod plan;
mod removed;
mod share;
mod spec;
mod watch;
mod wiring;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_engine::drift::written;
use steadfast_engine::{ParsedEvent, goal};
use steadfast_hosts::install::Homes;
use steadfast_model::{Event, EventKind, Fact, Facts, Liveness, NamedPath, Needs, Neighbours, State, WiringTold};
use steadfast_observe::{Checkout, TOOL_EVENT};
use steadfast_store::{Place, SessionFiles, neighbours_of};

use crate::checkout::SessionCheckout;
use crate::follow::FollowResult;
use crate::pipeline::of_changes;
use crate::process::host_above;
use gate::GateFacts;
use plan::PlanFacts;

pub use plan::is_silent;
pub use spec::{spec_change, text_digest};
pub use wiring::note_wiring;

/// The time for git to list the files at a prompt. A hundred thousand files take less than half of it.
const PROMPT: Duration = Duration::from_millis(250);

/// The time for examining processes at a stop. Four hundred take 6 ms.
const PROCESSES: Duration = Duration::from_millis(50);

/// Reads the facts that the rules need, and no others. Most tool events need none.
pub(crate) fn look(
    checkout: &SessionCheckout<'_>,
    needs: Needs,
    before: &State,
    event: &ParsedEvent<'_>,
    seen: Facts,
) -> Facts {
    let (place, config, homes) = (checkout.place, checkout.config, checkout.around.homes);
    let run_spent = checkout.around.run_spent;
    let rules = checkout.new_rules(Some(before), event.at);
    let tasks_from = rules.as_ref().map_or(before.rules.tasks_from, |new| new.rules.tasks_from);
    let changed = changed(place, needs, before, event);
    let needs = needs.and(of_changes(before, event, &changed));
    let GateFacts { gate, seal, tree, running, uncommitted, behind_links } = gate::look(place, needs, before, event);
    // The tasks of a run's agent come from its unit.
    let is_followed = needs.plan && !tasks_from.is_native() && run_spent.is_none() && FollowResult::is_due(event);
    let followed = if is_followed { (checkout.around.follow)(place, config) } else { FollowResult::default() };
    let PlanFacts { plan, done, leased, task_files, unfinished } = plan::look(place, config, needs, before, event);
    // This runs before the wiring is read, so that restored files are not reported as missing.
    let removed = removed::removed(place, needs, before, event);
    Facts {
        rules,
        spec: if run_spent.is_none() { spec::at_start(place, event, &plan) } else { None },
        plan: followed.seen(plan, before),
        done,
        leased,
        task_files,
        elsewhere: followed.into_lines(),
        links: gate::links(homes, gate.as_ref(), event),
        gate,
        seal,
        tree,
        running,
        uncommitted,
        behind_links,
        wiring: wiring(place, homes, needs, before, event),
        neighbours: neighbours(place, needs, before, event, &changed),
        changed,
        found: found(place, needs, before, event),
        looped: plan::looped(place, needs, event),
        unfinished,
        spent: run_spent.filter(|_| needs.budget).and_then(spent),
        of_run: run_spent.is_some() && matches!(event.kind, EventKind::SessionStart { .. }),
        checkout: needs.checkout.then(|| place.worktree()),
        processes: processes(needs, event),
        wired: removed::wired(place, homes, needs, event),
        removed,
        programs: programs(checkout.around.programs, homes, needs),
        new_files: watch::new_files(needs, event),
        marks: watch::marks(place, needs, &event.cwd),
        aliases: watch::aliases(place, needs, homes, event),
        ..seen
    }
}

/// Clocks of files and of events differ a little, and so do the ends of two calls.
const SLACK_MS: u64 = 1_000;

/// Returns what changed in the checkout during the call of an event. A file does not show who changed it, so the
/// result is unknown if another session was active meanwhile.
fn changed(place: &Place, needs: Needs, state: &State, event: &Event) -> Fact<Vec<String>> {
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
    match Checkout::find(&place.root).changed_after(began, Facts::CHANGED, TOOL_EVENT) {
        Fact::Known(paths) => Fact::Known(paths.iter().map(|path| from_root(place, root, path)).collect()),
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

/// Returns the files that usually change together with the written ones. Read only if the rules may mention them.
fn neighbours(
    place: &Place,
    needs: Needs,
    state: &State,
    event: &ParsedEvent<'_>,
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

/// Returns the paths in the tree that a human mentioned by name, from the session's root. Files outside of the root
/// are skipped.
fn found(place: &Place, needs: Needs, state: &State, event: &ParsedEvent<'_>) -> Fact<Vec<NamedPath>> {
    if !needs.found {
        return Fact::NotAsked;
    }
    let root = if state.drift.root.is_empty() { &event.cwd } else { &state.drift.root };
    match Checkout::find(&place.root).tracked(PROMPT) {
        Fact::Known(tree) => {
            let told = |path: &String| Some(place.root.join(path).strip_prefix(root).ok()?.to_str()?.to_owned());
            let tree: Vec<String> = tree.iter().filter_map(told).collect();
            Fact::Known(goal::found(event.names(), &tree))
        }
        Fact::Unknown(why) => Fact::Unknown(why),
        Fact::NotAsked => Fact::NotAsked,
    }
}

/// Returns a path of the checkout relative to the session's root, or the whole path if it is outside.
fn from_root(place: &Place, root: &str, path: &Path) -> String {
    let path = place.root.join(path);
    path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned()
}

/// Returns the paths by which this program is installed, also in their spelling with `~`.
fn programs(installed: fn() -> Vec<PathBuf>, homes: fn() -> Option<Homes>, needs: Needs) -> Vec<String> {
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

/// Returns changes to our hooks in the hosts' settings. Without any, nothing is journalled.
fn wiring(
    place: &Place,
    homes: fn() -> Option<Homes>,
    needs: Needs,
    state: &State,
    event: &Event,
) -> Fact<Vec<String>> {
    if !needs.wiring {
        return Fact::NotAsked;
    }
    let changed = wiring::changed(place, homes, event.at);
    if changed.is_empty() && state.wiring == WiringTold::default() { Fact::NotAsked } else { Fact::Known(changed) }
}

/// Returns the state of the processes that a stop mentions. Without a visible host above this process, the state is
/// unknown.
fn processes(needs: Needs, event: &Event) -> Vec<Liveness> {
    let EventKind::Stop(stopping) = &event.kind else { return Vec::new() };
    if !needs.processes {
        return Vec::new();
    }
    let commands: Vec<Option<&str>> = stopping.processes().map(|process| process.command.as_deref()).collect();
    match host_above() {
        Some(host) => steadfast_observe::processes_of(host.id, &commands, PROCESSES),
        None => vec![Liveness::Unknown; commands.len()],
    }
}

/// Returns the recorded cost if a run has spent its budget. The file's existence is enough.
fn spent(file: &Path) -> Option<String> {
    const LINE: usize = 120;
    match fs::read_to_string(file) {
        Ok(text) => Some(text.lines().next().unwrap_or_default().chars().take(LINE).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(String::new()),
    }
}
