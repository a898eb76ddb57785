//! Changes to the memory of the drift score that follow from an event.

use steadfast_model::{Drift, DriftChange, Event, EventKind, Places, Score, State};

use super::content;
use super::place::{Distance, Signal, Without, WorkScope, distance, folder};
use super::score::{Leads, StepScore};
use super::tool_effects::{ToolEffects, unix};
use super::words;

/// Returns what a prompt, or the first event of a session, adds about the work.
pub(crate) fn prompt_changes(state: &State, event: &Event, without: Without<'_>) -> Vec<DriftChange> {
    let mut changes = Vec::new();
    if state.drift.root.is_empty() && !event.cwd.is_empty() {
        changes.push(DriftChange::Began { root: unix(&event.cwd, &event.cwd).into_owned() });
    }
    if let EventKind::Prompt { text, origin, .. } = &event.kind
        && origin.sets_work()
        && event.agent.is_none()
        && without.has(Signal::Prompts)
    {
        changes.push(DriftChange::HumanSpoke { words: words::of_prompt(text) });
        changes.extend(content::learn_prompt(&state.drift, text).filter(|_| without.has(Signal::Content)));
    }
    changes
}

/// Returns the places that a call read. Places already in memory are left out.
pub(crate) fn read_changes(
    memory: &Drift,
    scope: WorkScope<'_>,
    effects: &ToolEffects,
    without: Without<'_>,
) -> Option<DriftChange> {
    let mut new = Places::default();
    for path in &effects.reads {
        let file = path.strip_suffix('/').is_none().then_some(path.as_str());
        let folder = file.map_or(path.trim_end_matches('/'), folder);
        if memory.at_work {
            add(&mut new.seen, &memory.places.seen, folder);
            continue;
        }
        let first = !memory.begun;
        let leads = || distance(memory, scope, file.unwrap_or(folder), without) <= Distance::SimilarName;
        if first || leads() {
            add(&mut new.folders, &memory.places.folders, folder);
            file.into_iter().for_each(|file| add(&mut new.known, &memory.places.known, file));
        } else {
            add(&mut new.explored, &memory.places.explored, folder);
            file.into_iter().for_each(|file| add(&mut new.explored, &memory.places.explored, file));
        }
    }
    if !memory.at_work {
        effects.names.iter().for_each(|path| add(&mut new.planned, &memory.places.planned, path));
    }
    (!new.is_empty()).then_some(DriftChange::Went(new))
}

/// Returns what a write adds: its place, judged by its score, its words, and the text that it replaced.
pub(crate) fn write_changes(
    memory: &Drift,
    effects: &ToolEffects,
    scored: &StepScore,
) -> impl Iterator<Item = DriftChange> {
    let belongs = scored.score >= Score::new(7);
    let words = if belongs { content::learn_write(memory, &effects.words) } else { None };
    let replaced = effects.replaced.iter().map(|(there, _)| *there).collect::<Vec<_>>();
    let replaced = (!replaced.is_empty()).then_some(DriftChange::Replaced(replaced));
    [place_changes(memory, effects, scored), words, replaced].into_iter().flatten()
}

fn place_changes(memory: &Drift, effects: &ToolEffects, scored: &StepScore) -> Option<DriftChange> {
    let mut new = Places::default();
    let first_of_all = !memory.begun;
    let belongs = scored.leads == Some(Leads::Back) && scored.score >= Score::new(8);
    for path in &effects.writes {
        let folder = folder(path);
        if first_of_all || belongs {
            add(&mut new.folders, &memory.places.folders, folder);
            add(&mut new.worked, &memory.places.worked, folder);
        }
        if first_of_all || (!memory.at_work && belongs) {
            add(&mut new.known, &memory.places.known, path);
        } else if !memory.at_work {
            add(&mut new.explored, &memory.places.explored, folder);
            add(&mut new.explored, &memory.places.explored, path);
        }
        if scored.score >= Score::new(7) {
            add(&mut new.fresh, &memory.places.fresh, path);
        } else {
            add(&mut new.told, &memory.places.told, folder);
        }
    }
    (!new.is_empty()).then_some(DriftChange::Went(new))
}

fn add(new: &mut Vec<String>, known: &[String], path: &str) {
    let is = |other: &String| other == path;
    if !known.iter().any(is) && !new.iter().any(is) {
        new.push(path.to_owned());
    }
}
