//! Compares the tests of both sides. An assertion is lost if neither it nor a replacement is left.

use std::collections::{HashMap, HashSet};

use super::assertion::{Assertion, Word, Words, word};
use super::language::Place;
use super::source::{Held, Side, Source};
use super::{MOST, Weakening, WeakeningKind, say};

/// The least likeness of a test or an assertion that counts as moved or renamed.
const ENOUGH: f64 = 0.5;

/// The place of an assertion, in terms that both sides share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Slot<'a> {
    /// A test, by its index on the side after the change.
    Test(usize),
    /// A deleted test, by its index on the side before the change.
    Gone(usize),
    /// A file, outside of its tests.
    File(&'a str),
}

pub(super) fn compare(before: &[Source<'_>], after: &[Source<'_>]) -> Vec<Weakening> {
    let (before, after) = (Side::of(before), Side::of(after));
    let partners = pair(&before, &after);
    let mut found = focused(&before, &after);
    for (was, now) in partners.iter().enumerate() {
        let Some(now) = now.map(|now| &after.tests[now]) else { continue };
        if let (Some(line), None) = (now.skipped, before.tests[was].skipped) {
            found.push(say(WeakeningKind::Skipped, after.sources[now.source].path, line, now.name));
        }
    }
    found.extend(reported(&before, &after, &partners));
    found
}

fn focused(before: &Side<'_>, after: &Side<'_>) -> Vec<Weakening> {
    let old: HashSet<&str> = before.sources.iter().flat_map(Source::focuses).map(|(name, _)| name).collect();
    let of = |source: &Source<'_>| {
        let new = source.focuses().into_iter().filter(|(name, _)| !old.contains(name));
        new.map(|(name, line)| say(WeakeningKind::Focused, source.path, line, name)).collect::<Vec<_>>()
    };
    after.sources.iter().flat_map(of).collect()
}

/// Returns for each old test its new one: by name and file, by name, or by words.
fn pair(before: &Side<'_>, after: &Side<'_>) -> Vec<Option<usize>> {
    let mut partners = vec![None; before.tests.len()];
    let mut names: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, test) in after.tests.iter().enumerate() {
        names.entry(test.name).or_default().push(at);
    }
    for with_path in [true, false] {
        for (test, partner) in before.tests.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            let path = before.sources[test.source].path;
            let is_near = |now: &usize| !with_path || after.sources[after.tests[*now].source].path == path;
            if let Some(same) = names.get_mut(test.name) {
                *partner = same.iter().position(is_near).map(|at| same.remove(at));
            }
        }
    }
    let mut left: Vec<usize> = names.into_values().flatten().collect();
    left.sort_unstable();
    left.truncate(MOST);
    let alone = before.tests.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none());
    for (test, partner) in alone.take(MOST) {
        let likeness = |now: usize| test.words.likeness(&after.tests[now].words);
        let best = (0..left.len()).max_by(|&one, &other| likeness(left[one]).total_cmp(&likeness(left[other])));
        if let Some(best) = best.filter(|&best| likeness(left[best]) >= ENOUGH) {
            *partner = Some(left.swap_remove(best));
        }
    }
    partners
}

/// An assertion, and whether it still lacks a counterpart on the other side.
struct Claim<'a> {
    slot: Slot<'a>,
    assertion: &'a Assertion,
    is_left: bool,
}

fn claims<'a>(side: &Side<'a>, slot: impl Fn(usize) -> Slot<'a>) -> Vec<Claim<'a>> {
    let slot = |held: &Held<'a>| held.test.map_or(Slot::File(side.sources[held.source].path), &slot);
    side.held.iter().map(|held| Claim { slot: slot(held), assertion: held.assertion, is_left: true }).collect()
}

fn left(claims: &[Claim<'_>]) -> Vec<usize> {
    (0..claims.len()).filter(|&at| claims[at].is_left).collect()
}

/// Returns for each old assertion whether the change lost it.
fn lost(before: &Side<'_>, after: &Side<'_>, partners: &[Option<usize>], gone: &HashSet<Word>) -> Vec<bool> {
    let mut old = claims(before, |test| partners[test].map_or(Slot::Gone(test), Slot::Test));
    let mut new = claims(after, Slot::Test);
    same(&mut old, &mut new, Some);
    same(&mut old, &mut new, |_| None);
    let added: Vec<&Words> = new.iter().filter(|new| new.is_left).map(|new| &new.assertion.words).take(MOST).collect();
    let fresh = fresh(before, after, &added);
    replaced(&mut old, &mut new);
    let (here, there) = (left(&old), left(&new));
    take_alike(&mut old, &mut new, &here, &there, ENOUGH);
    let is_lost = |claim: &Claim<'_>| {
        let words = &claim.assertion.words;
        let in_table = words.values().next().is_some()
            && words.values().all(|value| fresh.contains(value))
            && added.iter().any(|added| words.shares_name(added));
        claim.is_left && !in_table && !words.names().any(|name| gone.contains(name))
    };
    old.iter().map(is_lost).collect()
}

/// Returns the names that the program no longer defines.
fn gone(before: &Side<'_>, after: &Side<'_>) -> HashSet<Word> {
    let program = |side: &Side<'_>| -> HashSet<Word> {
        side.sources.iter().filter(|source| source.place == Place::Program).flat_map(Source::defined).collect()
    };
    &program(before) - &program(after)
}

/// Returns values in new assertions, and values that became more frequent outside of assertions: rows of tables.
fn fresh(before: &Side<'_>, after: &Side<'_>, added: &[&Words]) -> HashSet<Word> {
    let mut counts: HashMap<Word, i64> = HashMap::new();
    for (side, step) in [(before, -1), (after, 1)] {
        for source in side
            .sources
            .iter()
            .filter(|source| source.place > Place::Program || source.regions.iter().any(|region| region.is_tested))
        {
            let mut asserted = vec![false; source.lexed.tokens.len()];
            source.assertions.iter().for_each(|assertion| asserted[assertion.span.clone()].fill(true));
            let outside =
                source.lexed.tokens.iter().zip(asserted).filter(|(token, asserted)| token.is_value() && !asserted);
            outside.for_each(|(token, _)| *counts.entry(word(token)).or_default() += step);
        }
    }
    let more = counts.into_iter().filter(|(_, count)| *count > 0).map(|(value, _)| value);
    more.chain(added.iter().flat_map(|words| words.values().copied())).collect()
}

/// Removes assertions that both sides have with the same key, in the same place.
fn same<'a>(old: &mut [Claim<'a>], new: &mut [Claim<'a>], place: impl Fn(Slot<'a>) -> Option<Slot<'a>>) {
    let mut keys: HashMap<(Option<Slot<'_>>, u64), Vec<&mut Claim<'a>>> = HashMap::new();
    for claim in new.iter_mut().rev().filter(|claim| claim.is_left) {
        keys.entry((place(claim.slot), claim.assertion.key)).or_default().push(claim);
    }
    for claim in old.iter_mut().filter(|claim| claim.is_left) {
        if let Some(other) = keys.get_mut(&(place(claim.slot), claim.assertion.key)).and_then(Vec::pop) {
            (claim.is_left, other.is_left) = (false, false);
        }
    }
}

/// Removes assertions that another one in the same test replaces.
fn replaced<'a>(old: &mut [Claim<'a>], new: &mut [Claim<'a>]) {
    let mut places: HashMap<Slot<'_>, [Vec<usize>; 2]> = HashMap::new();
    for (side, claims) in [&*old, &*new].into_iter().enumerate() {
        left(claims).into_iter().for_each(|at| places.entry(claims[at].slot).or_default()[side].push(at));
    }
    for (slot, [here, there]) in places {
        take_alike(old, new, &here, &there, 0.0);
        let has_opaque = matches!(slot, Slot::Test(_)) && there.iter().any(|&at| new[at].assertion.is_opaque);
        for was in here {
            // A new assertion about a value implies that the value exists.
            let words = &old[was].assertion.words;
            let is_implied =
                words.values().next().is_none() && there.iter().any(|&at| words.shares_name(&new[at].assertion.words));
            old[was].is_left &= !has_opaque && !is_implied;
        }
    }
}

/// Pairs the most similar ones first.
fn take_alike(old: &mut [Claim<'_>], new: &mut [Claim<'_>], here: &[usize], there: &[usize], enough: f64) {
    let there = &there[..there.len().min(MOST)];
    let mut pairs = Vec::new();
    for &was in here.iter().take(MOST) {
        let like = |now: usize| old[was].assertion.words.likeness(&new[now].assertion.words);
        pairs.extend(there.iter().map(|&now| (like(now), was, now)).filter(|(like, ..)| *like >= enough));
    }
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, was, now) in pairs {
        if old[was].is_left && new[now].is_left {
            (old[was].is_left, new[now].is_left) = (false, false);
        }
    }
}

fn reported(before: &Side<'_>, after: &Side<'_>, partners: &[Option<usize>]) -> Vec<Weakening> {
    let gone = gone(before, after);
    let lost = lost(before, after, partners, &gone);
    let mut keeps = vec![false; before.tests.len()];
    for (held, _) in before.held.iter().zip(&lost).filter(|(_, lost)| !**lost) {
        held.test.into_iter().for_each(|test| keeps[test] = true);
    }
    let mut found = Vec::new();
    let mut is_told = vec![false; before.tests.len()];
    let idle = idle(after);
    for (at, test) in before.tests.iter().enumerate().filter(|(at, _)| partners[*at].is_none()) {
        let is_excused = test.words.names().any(|name| gone.contains(name));
        let is_deleted = !keeps[at] || idle.contains(test.name.trim_start_matches('_'));
        is_told[at] = is_excused || is_deleted;
        if is_deleted && !is_excused {
            found.push(say(WeakeningKind::TestDeleted, before.sources[test.source].own_path, test.line, test.name));
        }
    }
    let is_told = |held: &Held<'_>| held.test.is_some_and(|test| is_told[test]);
    for (held, _) in before.held.iter().zip(&lost).filter(|(held, lost)| **lost && !is_told(held)) {
        let source = &before.sources[held.source];
        found.push(say(
            WeakeningKind::AssertionDeleted,
            source.own_path,
            held.assertion.line,
            source.quote(held.assertion),
        ));
    }
    found
}

/// Returns functions that are defined and never called. A test that lost its mark is one.
fn idle<'a>(after: &Side<'a>) -> HashSet<&'a str> {
    let mut calls: HashMap<&str, (usize, bool)> = HashMap::new();
    for source in after.sources {
        let tokens = &source.lexed.tokens;
        for (at, pair) in tokens.windows(2).enumerate().filter(|(_, pair)| pair[0].is_word() && pair[1].is("(")) {
            let has_keyword = at > 0 && source.language.functions.iter().any(|word| tokens[at - 1].is(word));
            let call = calls.entry(pair[0].text.trim_start_matches('_')).or_default();
            call.0 += 1;
            call.1 |= has_keyword || source.language.bare_names;
        }
    }
    calls.into_iter().filter(|(_, call)| *call == (1, true)).map(|(name, _)| name).collect()
}
