//! Reads a human's prompt for the goal: its task, the paths it names, its prohibitions and permissions. The reader is
//! small: no model, no regular expressions; the same text always gives the same result.
//!
//! It prefers to miss a constraint over inventing one. A missed constraint changes nothing for the human; an invented
//! one causes a refusal that the human cannot explain.

mod action;
mod broken;
mod deny;
mod fence;
mod forbid;
pub(crate) mod foreign;
mod grammar;
mod human_only;
mod lift;
mod name;
mod noun;
mod object;
mod order;
mod predicate;
mod pronoun;
mod refine;
mod target;
mod tree;

use std::sync::LazyLock;

use steadfast_model::{
    Brief, Change, Constraint, ConstraintKind, Event, EventKind, Fact, Facts, Goal, GoalWord, NamedPath, Needs,
    PromptOrigin, State,
};

use crate::ParsedEvent;
pub(crate) use broken::is_ours;
pub use broken::{Delta, DeltaOp, broken, can_be_seen};
pub use lift::leave;
pub(crate) use order::is_reported;
pub(crate) use refine::refining;
pub use refine::{in_tree, keywords};
use steadfast_text::truncate_line;
use steadfast_words::prompt::{self as words, Sentence, sentences};
use steadfast_words::{Phrases, Vocabulary, Word};
pub use tree::found;

/// The meaning of a human's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Constraints, without their numbers.
    pub constraints: Vec<Constraint>,
    pub lifts: Vec<Lift>,
    /// Paths it names, without those that it forbids.
    pub paths: Vec<String>,
    /// Names in the text that are no paths.
    pub names: Vec<String>,
    /// The text asks for changes.
    pub wants_change: bool,
}

/// A permission that lifts a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lift {
    pub kind: ConstraintKind,
    /// Names it applies to; empty: all of the kind.
    pub of: Vec<String>,
}

static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("words.txt")));

/// Returns a list of `words.txt`.
fn list(name: &str) -> &'static Phrases {
    LISTS.list(name)
}

/// The most constraints of one prompt.
const CONSTRAINTS: usize = 12;

/// The text that Claude Code sends for a human who leaves plan mode. The agent's own plan follows it.
pub(crate) const PLAN: &str = "Implement the following plan:";

/// Reads a human's text.
pub fn read(text: &str) -> Said {
    if text.trim_start().starts_with(PLAN) {
        return Said { wants_change: true, ..Said::default() };
    }
    if let Some(said) = command(text) {
        return said;
    }
    let sentences = lift::split(sentences(text));
    let mut said = Said { wants_change: lift::wants_change(&sentences), ..Said::default() };
    for (at, sentence) in sentences.iter().enumerate() {
        let before = at.checked_sub(1).map_or(&[][..], |before| &sentences[before].words);
        let forbidden = forbid::forbidden(sentence, before);
        let named = sentence.words.iter().filter(|_| !sentence.pasted).filter_map(target::path);
        let about =
            |path: &String| !forbidden.iter().any(|(kind, of)| *kind == ConstraintKind::Touch && of.contains(path));
        said.paths.extend(named.filter(about));
        // A name in a prohibition is not a place of the work.
        if !sentence.pasted && forbidden.iter().all(|(kind, _)| *kind == ConstraintKind::Only) {
            said.names.extend(name::names(&sentence.words));
        }
        for (kind, of) in forbidden {
            let known = said.constraints.iter().any(|known| known.kind == kind && known.of == of);
            if !known && said.constraints.len() < CONSTRAINTS {
                said.constraints.push(Constraint {
                    number: 0,
                    kind,
                    of,
                    said: truncate_line(&sentence.said, Goal::SAID),
                });
            }
        }
        if !sentence.pasted {
            let allowed = lift::allowed(sentence).into_iter().map(|(kind, of)| Lift { kind, of });
            let allowed: Vec<Lift> = allowed.collect();
            lift::take_back(sentence, &allowed, &mut said.constraints);
            said.lifts.extend(allowed);
        }
    }
    dedup(&mut said.paths, String::clone);
    dedup(&mut said.names, String::clone);
    said.names.truncate(name::NAMES);
    fence(&mut said);
    keep_to_the_order(&mut said, &sentences);
    // A sentence may contain the same fence twice.
    dedup(&mut said.constraints, |found| (found.kind, found.of.clone()));
    // A text that forbids and allows the same forbids it.
    let Said { constraints, lifts, .. } = &mut said;
    let fenced = constraints.iter().any(|constraint| constraint.kind == ConstraintKind::Only);
    lifts.retain(|lift| {
        // A path allowed in the same text as a fence is what the fence is about.
        let same = constraints.iter().any(|constraint| constraint.kind == lift.kind);
        !(same || fenced && lift.kind == ConstraintKind::Touch)
    });
    said
}

/// Reads a host command that a human typed, such as `/commit` or `/commit-push-pr`, as a permission for the actions in
/// its name.
fn command(text: &str) -> Option<Said> {
    let mut words = text.trim().strip_prefix('/')?.split_whitespace();
    let name = words.next().filter(|name| !name.contains('/'))?;
    let parts: Vec<Word> = name.split(['-', ':', '_']).map(Word::of).collect();
    if words.next().is_some() || parts.iter().any(|part| part.is_in(list("command-denies"))) {
        return None;
    }
    let allowed = parts.chunks(1).flat_map(|part| grammar::read("command", part));
    let lifts: Vec<Lift> = allowed.map(|(kind, of)| Lift { kind, of }).collect();
    (!lifts.is_empty()).then(|| Said { lifts, ..Said::default() })
}

/// Drops "no changes" from a text that orders a change, such as `Update the README, no code changes`. A human who wants
/// no change at all says for how long, or what to do instead.
fn keep_to_the_order(said: &mut Said, sentences: &[Sentence]) {
    if !sentences.iter().filter(|sentence| !sentence.pasted).any(lift::makes_something) {
        return;
    }
    let meant =
        |text: &str| words::sentences(text).iter().flat_map(|said| &said.words).any(|word| word.is_in(list("for-now")));
    said.constraints.retain(|found| found.kind != ConstraintKind::Write || meant(&found.said));
}

/// Reads a text that was written to forbid something. A verb or noun alone counts, too: `commit`.
pub fn understood(text: &str) -> Vec<Constraint> {
    let readings = [text.to_owned(), format!("don't {text}"), format!("no {text}")];
    let found = readings.iter().map(|text| read(text).constraints).find(|found| !found.is_empty()).unwrap_or_default();
    found.into_iter().map(|constraint| Constraint { said: truncate_line(text, Goal::SAID), ..constraint }).collect()
}

/// Returns the constraints of a plan's must-nots, as far as an action can show them.
pub(crate) fn must_nots(brief: &Brief) -> Vec<Constraint> {
    let mut found: Vec<Constraint> =
        brief.must_nots.iter().flat_map(|text| understood(text)).take(CONSTRAINTS).collect();
    // A fence around the work does not shut out its own spec.
    for fence in found.iter_mut().filter(|constraint| constraint.kind == ConstraintKind::Only) {
        fence.of.extend(brief.spec.clone());
    }
    found
}

/// `nothing else` restricts the work to the paths in the same text. If the text names none, the fence has no meaning
/// and is dropped.
fn fence(said: &mut Said) {
    let paths = said.paths.clone();
    for constraint in &mut said.constraints {
        if constraint.kind == ConstraintKind::Only && constraint.of.is_empty() {
            constraint.of.clone_from(&paths);
        }
    }
    said.constraints.retain(|constraint| constraint.kind != ConstraintKind::Only || !constraint.of.is_empty());
}

/// Keeps the first of equal entries.
fn dedup<T, K: PartialEq>(all: &mut Vec<T>, key: impl Fn(&T) -> K) {
    let mut seen: Vec<K> = Vec::new();
    all.retain(|one| {
        let key = key(one);
        let new = !seen.contains(&key);
        if new {
            seen.push(key);
        }
        new
    });
}

/// Returns the text of an event that can set the goal. Only the human in the main thread counts.
pub(crate) fn text(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::Prompt { text, origin, .. } if origin.sets_work() && event.agent.is_none() => Some(text),
        EventKind::Goal(GoalWord::Set { text, .. }) => Some(text),
        _ => None,
    }
}

/// Names that the goal does not know yet are looked up in the tree.
pub(crate) fn needs(state: &State, event: &ParsedEvent<'_>) -> Needs {
    let is_known = |name: &String| state.goal.iter().flat_map(|goal| &goal.found).any(|found| found.name == *name);
    let found = event.said().is_some_and(|said| !said.names.iter().all(is_known));
    Needs { found, ..Needs::default() }
}

/// Returns the changes of an event to a session's goal.
pub(crate) fn changes(state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Vec<Change> {
    let found = match &facts.found {
        Fact::Known(found) => found.as_slice(),
        Fact::Unknown(_) | Fact::NotAsked => &[],
    };
    match &event.kind {
        EventKind::Prompt { origin, .. } => {
            let Some((text, said)) = text(event).zip(event.said()) else { return Vec::new() };
            let mut changes: Vec<Change> = named(state, text, said, found).into_iter().collect();
            if *origin == PromptOrigin::Human {
                changes.extend(lifted(state, said, is_leave(said)));
                changes.extend(said.constraints.iter().cloned().map(Change::ConstraintAdded));
            }
            changes
        }
        EventKind::Goal(GoalWord::Set { text, scope }) => vec![goal_set(text, scope, found)],
        EventKind::Goal(GoalWord::Forbid(constraints)) => {
            constraints.iter().cloned().map(Change::ConstraintAdded).collect()
        }
        EventKind::Goal(GoalWord::Allow(number)) => vec![Change::ConstraintLifted(*number)],
        EventKind::Goal(GoalWord::Clear) => vec![Change::GoalCleared],
        EventKind::Goal(GoalWord::Refined { prompt, goal, scope, keywords }) => {
            let still = state.prompts == *prompt && state.goal.as_ref().is_some_and(|known| known.text == *goal);
            still.then(|| refine::refined(scope, keywords)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the goal that a prompt sets, or adds paths to.
fn named(state: &State, text: &str, said: &Said, found: &[NamedPath]) -> Option<Change> {
    let goal = state.goal.as_ref().filter(|goal| !goal.text.is_empty() || !goal.scope.is_empty());
    let is_new = |goal: &Goal| {
        let mut named = said.paths.iter().chain(found.iter().map(|found| &found.path));
        named.any(|path| !goal.scope.contains(path))
    };
    match goal {
        None if is_task(text) => Some(goal_set(text, &said.paths, found)),
        // Paths named later belong to the goal, too.
        Some(goal) if is_new(goal) => {
            let scope: Vec<String> = goal.scope.iter().chain(&said.paths).cloned().collect();
            let found: Vec<NamedPath> = goal.found.iter().chain(found).cloned().collect();
            Some(goal_set(&goal.text, &scope, &found))
        }
        _ => None,
    }
}

fn goal_set(text: &str, paths: &[String], found: &[NamedPath]) -> Change {
    let mut scope: Vec<String> = paths.iter().chain(found.iter().map(|found| &found.path)).cloned().collect();
    let mut found = found.to_vec();
    dedup(&mut scope, String::clone);
    dedup(&mut found, NamedPath::clone);
    Change::GoalSet { text: truncate_line(text, Goal::TEXT), scope, found }
}

/// Returns false for a greeting or a `/command`.
fn is_task(text: &str) -> bool {
    let text = text.trim();
    !text.starts_with('/') && text.split_whitespace().nth(1).is_some()
}

/// Returns true if a prompt asks for changes and so ends an earlier "change nothing".
fn is_leave(said: &Said) -> bool {
    let forbids = said.constraints.iter().any(|constraint| constraint.kind == ConstraintKind::Write);
    !forbids && said.wants_change
}

/// Returns the changes that lift constraints of earlier prompts.
fn lifted(state: &State, said: &Said, leave: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    let fenced_anew = said.constraints.iter().any(|constraint| constraint.kind == ConstraintKind::Only);
    for constraint in state.constraints() {
        let Constraint { number, kind, of, .. } = constraint;
        let mut left = Some(constraint.clone());
        if *kind == ConstraintKind::Only && fenced_anew || *kind == ConstraintKind::Write && leave {
            left = None;
        }
        for lift in &said.lifts {
            left = left.and_then(|left| without(left, lift));
        }
        match left {
            None => changes.push(Change::ConstraintLifted(*number)),
            Some(left) if left.of != *of => {
                changes.extend([Change::ConstraintLifted(*number), Change::ConstraintAdded(left)]);
            }
            Some(_) => {}
        }
    }
    changes
}

/// Returns the number of the first constraint that a text would lift if a human had written it.
pub(crate) fn would_lift(state: &State, text: &str) -> Option<u32> {
    if state.constraints().is_empty() {
        return None;
    }
    let said = read(text);
    let leave = is_leave(&said);
    lifted(state, &said, leave).into_iter().find_map(|change| match change {
        Change::ConstraintLifted(number) => Some(number),
        _ => None,
    })
}

/// Returns the part of a constraint that remains after a permission.
fn without(mut constraint: Constraint, lift: &Lift) -> Option<Constraint> {
    use ConstraintKind as K;
    match (constraint.kind, lift.kind) {
        // Only the named ones are allowed, not all of the kind.
        (K::Dependencies, K::Dependencies) | (K::Install, K::Install) | (K::Create, K::Create)
            if !lift.of.is_empty() =>
        {
            constraint.of.extend(lift.of.iter().map(|name| format!("except {name}")));
        }
        (K::Only, K::Only | K::Touch) if lift.of.is_empty() && lift.kind == K::Only => return None,
        // The allowed path is inside the fence from now on.
        (K::Only, K::Touch | K::Only) => {
            constraint.of.extend(lift.of.iter().cloned());
            dedup(&mut constraint.of, String::clone);
        }
        // `push it` does not yet allow `force-push it`.
        (K::Push, K::Push) if lift.of.is_empty() => return (!constraint.of.is_empty()).then_some(constraint),
        (kind, lifted) if kind != lifted => {}
        _ if lift.of.is_empty() || constraint.of.is_empty() => return None,
        _ => {
            constraint.of.retain(|name| !lift.of.iter().any(|other| other.eq_ignore_ascii_case(name)));
            return (!constraint.of.is_empty()).then_some(constraint);
        }
    }
    Some(constraint)
}

#[cfg(test)]
mod tests;
