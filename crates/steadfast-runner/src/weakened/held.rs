//! What the tests of one side of a change hold: their own assertions, and those of the functions beside them.

use std::collections::{HashMap, HashSet};

use super::Kind;
use super::assertion::Assertion;
use super::language::Place;
use super::routine::Role;
use super::source::{Holder, Source, named as name_of};

/// How many assertions a helper brings along.
const MOST_BROUGHT: usize = 30;
/// How many helpers a test reaches, and how many one name means.
const MOST_REACHED: usize = 50;
const MOST_MEANT: usize = 3;

/// One holder of one side.
pub(super) struct Entry<'a> {
    pub(super) source: &'a Source,
    pub(super) holder: &'a Holder,
    /// Its own, and those of the helpers that it reaches.
    pub(super) held: Vec<(&'a Source, &'a Assertion)>,
    /// Of those the helpers, by name; the others come first.
    pub(super) through: Vec<u64>,
    pub(super) left: Vec<bool>,
}

/// Those in comments that were in none before.
pub(super) fn commented<'a>(before: &[Source], after: &'a [Source]) -> HashMap<&'a str, Vec<(&'a Source, usize)>> {
    let mut was: HashMap<&str, usize> = HashMap::new();
    for assertion in before.iter().flat_map(|source| &source.commented) {
        *was.entry(&assertion.key).or_default() += 1;
    }
    let mut now: HashMap<&str, Vec<(&Source, usize)>> = HashMap::new();
    for source in after {
        for assertion in &source.commented {
            match was.get_mut(assertion.key.as_str()).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => now.entry(&assertion.key).or_default().push((source, assertion.line)),
            }
        }
    }
    now
}

pub(super) fn inert(after: &[Source]) -> HashMap<&str, (Kind, &Source, usize)> {
    let mut found = HashMap::new();
    for source in after {
        for (kind, assertion) in source.holders.iter().flat_map(|holder| &holder.inert) {
            if *kind != Kind::Vacuous {
                found.entry(assertion.key.as_str()).or_insert((*kind, source, assertion.line));
            }
        }
    }
    found
}

/// The functions beside the tests of a side that assert something, or could.
struct Helpers<'a> {
    named: HashMap<u64, Vec<(&'a Source, &'a Holder)>>,
}

impl<'a> Helpers<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let mut named: HashMap<u64, Vec<(&Source, &Holder)>> = HashMap::new();
        for source in sources {
            for holder in source.holders.iter().filter(|holder| holder.role == Role::Helper) {
                if source.place > Place::Program || !holder.live.is_empty() {
                    named.entry(name_of(&holder.name)).or_default().push((source, holder));
                }
            }
        }
        Self { named }
    }

    /// Those that a name means in a file: its own, else whichever there are.
    fn meant(&self, name: u64, source: &Source) -> Vec<(&'a Source, &'a Holder)> {
        let all = self.named.get(&name).map(Vec::as_slice).unwrap_or_default();
        let own: Vec<_> = all.iter().filter(|(of, _)| of.path == source.path).copied().collect();
        if own.is_empty() { all.iter().take(MOST_MEANT).copied().collect() } else { own }
    }

    /// What is reached from a routine, up to three calls away.
    fn reached(&self, source: &'a Source, holder: &'a Holder) -> Vec<(&'a Source, &'a Holder)> {
        let (mut reached, mut from): (Vec<(&Source, &Holder)>, _) = (Vec::new(), vec![(source, holder)]);
        for _ in 0..3 {
            let mut next = Vec::new();
            for (source, holder) in from {
                let mut names: Vec<u64> = if self.named.len() < holder.names.len() {
                    self.named.keys().filter(|name| holder.names.contains(name)).copied().collect()
                } else {
                    holder.names.iter().filter(|name| self.named.contains_key(name)).copied().collect()
                };
                names.sort_unstable();
                for (of, helper) in names.into_iter().flat_map(|name| self.meant(name, source)) {
                    let is_new =
                        !std::ptr::eq(helper, holder) && !reached.iter().any(|(_, old)| std::ptr::eq(*old, helper));
                    if is_new && reached.len() < MOST_REACHED {
                        reached.push((of, helper));
                        next.push((of, helper));
                    }
                }
            }
            from = next;
        }
        reached.sort_by_key(|(source, helper)| (&source.path, helper.line));
        reached
    }

    /// A call of one of them: what counts is what that holds.
    fn are_called_by(&self, assertion: &Assertion) -> bool {
        assertion.is_opaque && self.named.contains_key(&assertion.callee)
    }
}

pub(super) fn entries(sources: &[Source]) -> Vec<Entry<'_>> {
    let helpers = Helpers::of(sources);
    let mut called: HashSet<*const Holder> = HashSet::new();
    let mut entries = Vec::new();
    for source in sources {
        for holder in &source.holders {
            let mut held: Vec<_> =
                holder.live.iter().filter(|own| !helpers.are_called_by(own)).map(|own| (source, own)).collect();
            let (own, mut through) = (held.len(), Vec::new());
            if holder.role == Role::Test {
                for (source, helper) in helpers.reached(source, holder) {
                    called.insert(helper);
                    let more = helper.live.iter().filter(|own| !helpers.are_called_by(own)).take(MOST_BROUGHT);
                    held.extend(more.map(|assertion| (source, assertion)));
                    through.resize(held.len() - own, name_of(&helper.name));
                }
            }
            let left = vec![true; held.len()];
            entries.push(Entry { source, holder, held, through, left });
        }
    }
    entries.retain(|entry| !called.contains(&std::ptr::from_ref(entry.holder)));
    entries
}
