//! What a human's prompt says of the goal: what it is for, which paths it names, what it forbids and what it allows
//! again. A small reader of words: no model, no regular expressions, the same text always gives the same.
//!
//! It rather misses a constraint than makes one up: what is missed is what it was before, and one that nobody meant is
//! a refusal nobody understands.

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

/// What a text of a human says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Unnumbered.
    pub constraints: Vec<Constraint>,
    pub lifts: Vec<Lift>,
    /// Paths it names, those that it forbids apart.
    pub paths: Vec<String>,
    /// What it calls by its name without saying where it is.
    pub names: Vec<String>,
    /// It asks for changes.
    pub wants_change: bool,
}

/// What is allowed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lift {
    pub kind: ConstraintKind,
    /// None: all of the kind.
    pub of: Vec<String>,
}

static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("words.txt")));

/// A list of `words.txt`.
fn list(name: &str) -> &'static Phrases {
    LISTS.list(name)
}

/// The most constraints of one prompt.
const CONSTRAINTS: usize = 12;

/// What Claude Code says for the human who left plan mode. What follows is the agent's own plan.
pub(crate) const PLAN: &str = "Implement the following plan:";

/// Reads what a human said.
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
        // What is named to be left alone is not where the work is.
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
    // A fence may be drawn twice in one sentence.
    dedup(&mut said.constraints, |found| (found.kind, found.of.clone()));
    // Who forbids and allows the same in one breath forbids it.
    let Said { constraints, lifts, .. } = &mut said;
    let fenced = constraints.iter().any(|constraint| constraint.kind == ConstraintKind::Only);
    lifts.retain(|lift| {
        // What a fence is widened by in the same breath is what it is about.
        let same = constraints.iter().any(|constraint| constraint.kind == lift.kind);
        !(same || fenced && lift.kind == ConstraintKind::Touch)
    });
    said
}

/// A command of the host that a human typed: `/commit`, `/commit-push-pr`. It is leave for what it is called by.
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

/// `Update the README, no code changes` wants something changed. Who wants nothing changed says for how long, or what
/// else they want.
fn keep_to_the_order(said: &mut Said, sentences: &[Sentence]) {
    if !sentences.iter().filter(|sentence| !sentence.pasted).any(lift::makes_something) {
        return;
    }
    let meant =
        |text: &str| words::sentences(text).iter().flat_map(|said| &said.words).any(|word| word.is_in(list("for-now")));
    said.constraints.retain(|found| found.kind != ConstraintKind::Write || meant(&found.said));
}

/// What a text forbids that was written to forbid something. A bare verb or noun is understood, too: `commit`.
pub fn understood(text: &str) -> Vec<Constraint> {
    let readings = [text.to_owned(), format!("don't {text}"), format!("no {text}")];
    let found = readings.iter().map(|text| read(text).constraints).find(|found| !found.is_empty()).unwrap_or_default();
    found.into_iter().map(|constraint| Constraint { said: truncate_line(text, Goal::SAID), ..constraint }).collect()
}

/// What a plan's must-nots forbid, as far as an action shows it.
pub(crate) fn must_nots(brief: &Brief) -> Vec<Constraint> {
    let mut found: Vec<Constraint> =
        brief.must_nots.iter().flat_map(|text| understood(text)).take(CONSTRAINTS).collect();
    // A fence around the work does not shut out its own spec.
    for fence in found.iter_mut().filter(|constraint| constraint.kind == ConstraintKind::Only) {
        fence.of.extend(brief.spec.clone());
    }
    found
}

/// `nothing else` is about what else the text names. Where it names nothing, nobody knows what that would be.
fn fence(said: &mut Said) {
    let paths = said.paths.clone();
    for constraint in &mut said.constraints {
        if constraint.kind == ConstraintKind::Only && constraint.of.is_empty() {
            constraint.of.clone_from(&paths);
        }
    }
    said.constraints.retain(|constraint| constraint.kind != ConstraintKind::Only || !constraint.of.is_empty());
}

/// Keeps the first of each.
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

/// The text of an event that says what a session is for. Only the human in the main thread is heard.
pub(crate) fn text(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::Prompt { text, origin: PromptOrigin::Human, .. } if event.agent.is_none() => Some(text),
        EventKind::Goal(GoalWord::Set { text, .. }) => Some(text),
        _ => None,
    }
}

/// Names are looked for in the tree, those apart that were found.
pub(crate) fn needs(state: &State, event: &ParsedEvent<'_>) -> Needs {
    let is_known = |name: &String| state.goal.iter().flat_map(|goal| &goal.found).any(|found| found.name == *name);
    let found = event.said().is_some_and(|said| !said.names.iter().all(is_known));
    Needs { found, ..Needs::default() }
}

/// What an event does to a session's goal.
pub(crate) fn changes(state: &State, event: &ParsedEvent<'_>, facts: &Facts) -> Vec<Change> {
    let found = match &facts.found {
        Fact::Known(found) => found.as_slice(),
        Fact::Unknown(_) | Fact::NotAsked => &[],
    };
    match &event.kind {
        EventKind::Prompt { .. } => {
            let said = text(event).zip(event.said());
            said.map(|(text, said)| prompted(state, text, said, found)).unwrap_or_default()
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

fn prompted(state: &State, text: &str, said: &Said, found: &[NamedPath]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let goal = state.goal.as_ref().filter(|goal| !goal.text.is_empty() || !goal.scope.is_empty());
    let is_new = |goal: &Goal| {
        let mut named = said.paths.iter().chain(found.iter().map(|found| &found.path));
        named.any(|path| !goal.scope.contains(path))
    };
    match goal {
        None if is_task(text) => changes.push(goal_set(text, &said.paths, found)),
        // What is named later belongs to it, too.
        Some(goal) if is_new(goal) => {
            let scope: Vec<String> = goal.scope.iter().chain(&said.paths).cloned().collect();
            let found: Vec<NamedPath> = goal.found.iter().chain(found).cloned().collect();
            changes.push(goal_set(&goal.text, &scope, &found));
        }
        _ => {}
    }
    changes.extend(lifted(state, said, is_leave(said)));
    changes.extend(said.constraints.iter().cloned().map(Change::ConstraintAdded));
    changes
}

fn goal_set(text: &str, paths: &[String], found: &[NamedPath]) -> Change {
    let mut scope: Vec<String> = paths.iter().chain(found.iter().map(|found| &found.path)).cloned().collect();
    let mut found = found.to_vec();
    dedup(&mut scope, String::clone);
    dedup(&mut found, NamedPath::clone);
    Change::GoalSet { text: truncate_line(text, Goal::TEXT), scope, found }
}

/// A greeting or a `/command` is no task.
fn is_task(text: &str) -> bool {
    let text = text.trim();
    !text.starts_with('/') && text.split_whitespace().nth(1).is_some()
}

/// Whether a prompt asks for changes, where an earlier one wanted none.
fn is_leave(said: &Said) -> bool {
    let forbids = said.constraints.iter().any(|constraint| constraint.kind == ConstraintKind::Write);
    !forbids && said.wants_change
}

/// The constraints of earlier prompts that no longer hold.
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

/// The number of the first constraint that a text would lift, were it the human's.
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

/// What a lift leaves of a constraint.
fn without(mut constraint: Constraint, lift: &Lift) -> Option<Constraint> {
    use ConstraintKind as K;
    match (constraint.kind, lift.kind) {
        // What is named is allowed, and nothing else of the kind.
        (K::Dependencies, K::Dependencies) | (K::Install, K::Install) | (K::Create, K::Create)
            if !lift.of.is_empty() =>
        {
            constraint.of.extend(lift.of.iter().map(|name| format!("except {name}")));
        }
        (K::Only, K::Only | K::Touch) if lift.of.is_empty() && lift.kind == K::Only => return None,
        // A path that may be touched is inside the fence from now on.
        (K::Only, K::Touch | K::Only) => {
            constraint.of.extend(lift.of.iter().cloned());
            dedup(&mut constraint.of, String::clone);
        }
        // `push it` is not yet `force-push it`.
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
