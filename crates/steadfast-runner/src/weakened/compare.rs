//! The tests of a change before and after.
//!
//! First every assertion that is there on both sides is set aside, wherever it stands now. What is left of a test is
//! compared with what is left of the same test: by its name, else by what it holds. Only what nothing on the other side
//! can stand for is lost.

use std::collections::{HashMap, HashSet};

use super::assertion::Assertion;
use super::held::{Entry, commented, entries, inert};
use super::language::{Language, Place};
use super::level::{Bound, Level};
use super::routine::Role;
use super::source::{Source, named as name_of};
use super::{Kind, Weakening};

/// Beyond so many tests without a partner, only names and assertions are compared, not likeness.
const MOST_ALIKE: usize = 300;
/// How many of what is left are compared with each other.
const MOST_LEFT: usize = 100;
const MOST_NOVEL: usize = 500;

pub(super) struct Found<'a> {
    pub(super) weakenings: Vec<Weakening>,
    before: Vec<Entry<'a>>,
    after: Vec<Entry<'a>>,
    gone: HashSet<u64>,
    /// Everything that counts now.
    alive: HashSet<&'a str>,
    /// What is there and does not count, by its key.
    inert: HashMap<&'a str, (Kind, &'a Source, usize)>,
    /// What counts now and did not stand in a test of that name: the place of its test, and its own in that.
    novel: Vec<(usize, usize)>,
    /// The tests that have no partner before.
    free: Vec<usize>,
    commented: HashMap<&'a str, Vec<(&'a Source, usize)>>,
}

pub(super) fn compare<'a>(
    before: &'a [Source],
    after: &'a [Source],
    renamed: &HashMap<String, String>,
) -> Vec<Weakening> {
    let defined: HashSet<&String> = after.iter().flat_map(|source| &source.defined).collect();
    let gone = before.iter().flat_map(|source| &source.defined).filter(|name| !defined.contains(name));
    let live = after.iter().flat_map(|source| &source.holders).flat_map(|holder| &holder.live);
    let mut found = Found {
        weakenings: Vec::new(),
        alive: live.map(|assertion| assertion.key.as_str()).collect(),
        gone: gone.map(|name| name_of(name)).collect(),
        commented: commented(before, after),
        inert: inert(after),
        novel: Vec::new(),
        free: Vec::new(),
        before: entries(before),
        after: entries(after),
    };
    let pairs = found.pairs(renamed);
    found.novel = found.novel();
    let paired: HashSet<usize> = pairs.iter().filter_map(|(_, now)| *now).collect();
    let free = (0..found.after.len()).filter(|at| !paired.contains(at) && found.after[*at].holder.role == Role::Test);
    found.free = free.take(MOST_ALIKE).collect();
    found.set_aside(&pairs);
    found.judge(&pairs);
    found.focus(before, after);
    found.dials(before, after, renamed);
    found.weakenings
}

/// How alike two sorted lists are: what both have, of what either has.
fn alike(one: &[u64], other: &[u64]) -> f64 {
    let (mut at, mut both) = (0, 0usize);
    for part in one {
        while other.get(at).is_some_and(|next| next < part) {
            at += 1;
        }
        both += usize::from(other.get(at) == Some(part));
    }
    let either = one.len() + other.len() - both;
    if either == 0 { 0.0 } else { both as f64 / either as f64 }
}

impl<'a> Found<'a> {
    pub(super) fn say(&mut self, kind: Kind, source: &Source, line: usize, text: &str) {
        let text: String = text.chars().take(200).collect();
        self.weakenings.push(Weakening { kind, file: source.path.clone(), line, text });
    }

    /// Which holder is which one now.
    fn pairs(&self, renamed: &HashMap<String, String>) -> Vec<(usize, Option<usize>)> {
        let mut by_place: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, entry) in self.after.iter().enumerate().rev() {
            by_place.entry((&entry.source.path, &entry.holder.name)).or_default().push(at);
            by_name.entry(&entry.holder.name).or_default().push(at);
        }
        let mut taken = vec![false; self.after.len()];
        let mut pairs: Vec<(usize, Option<usize>)> = (0..self.before.len()).map(|at| (at, None)).collect();
        for (at, pair) in &mut pairs {
            let entry = &self.before[*at];
            let path = renamed.get(&entry.source.path).unwrap_or(&entry.source.path);
            let same = by_place.get_mut(&(path.as_str(), entry.holder.name.as_str())).and_then(Vec::pop);
            if let Some(same) = same {
                *pair = Some(same);
                taken[same] = true;
            }
        }
        for (at, pair) in pairs.iter_mut().filter(|(_, pair)| pair.is_none()) {
            let entry = &self.before[*at];
            if entry.holder.name.is_empty() {
                continue;
            }
            let Some(same) = by_name.get_mut(entry.holder.name.as_str()) else { continue };
            while let Some(next) = same.pop() {
                if !taken[next] && alike(&entry.holder.parts, &self.after[next].holder.parts) > 0.3 {
                    *pair = Some(next);
                    taken[next] = true;
                    break;
                }
            }
        }
        self.pair_alike(&mut pairs, &mut taken);
        pairs
    }

    fn pair_alike(&self, pairs: &mut [(usize, Option<usize>)], taken: &mut [bool]) {
        let alone: Vec<usize> = pairs
            .iter()
            .filter(|(at, pair)| pair.is_none() && !self.before[*at].holder.name.is_empty())
            .map(|(at, _)| *at)
            .collect();
        let free: Vec<usize> =
            (0..self.after.len()).filter(|&at| !taken[at] && !self.after[at].holder.name.is_empty()).collect();
        if alone.len() > MOST_ALIKE || free.len() > MOST_ALIKE {
            return;
        }
        let mut likes = Vec::new();
        for &was in &alone {
            for &now in &free {
                let (one, other) = (self.before[was].holder, self.after[now].holder);
                let kin = one.role == other.role || one.role == Role::Test && other.role == Role::Helper;
                let named = self.before[was].source.path == self.after[now].source.path
                    && alike(&one.words, &other.words) >= 0.5;
                let like = alike(&one.parts, &other.parts);
                if kin && (like >= 0.4 || named && like >= 0.1) {
                    likes.push((like, was, now));
                }
            }
        }
        likes.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2)));
        for (_, was, now) in likes {
            if pairs[was].1.is_none() && !taken[now] {
                pairs[was].1 = Some(now);
                taken[now] = true;
            }
        }
    }

    /// What is on both sides, in the same test or in another.
    fn set_aside(&mut self, pairs: &[(usize, Option<usize>)]) {
        for &(was, now) in pairs {
            let Some(now) = now else { continue };
            let mut keys: HashMap<&str, Vec<usize>> = HashMap::new();
            for (at, (_, assertion)) in self.after[now].held.iter().enumerate().rev() {
                keys.entry(&assertion.key).or_default().push(at);
            }
            let entry = &mut self.before[was];
            for (at, (_, assertion)) in entry.held.iter().enumerate() {
                if let Some(same) = keys.get_mut(assertion.key.as_str()).and_then(Vec::pop) {
                    entry.left[at] = false;
                    self.after[now].left[same] = false;
                }
            }
        }
        let mut keys: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (at, entry) in self.after.iter().enumerate().rev() {
            for (held, (_, assertion)) in entry.held.iter().enumerate().rev().filter(|(held, _)| entry.left[*held]) {
                keys.entry(&assertion.key).or_default().push((at, held));
            }
        }
        for entry in &mut self.before {
            let own = entry.held.len() - entry.through.len();
            for (at, (_, assertion)) in entry.held.iter().enumerate() {
                // A helper that is there and no longer called holds nothing for the tests that called it.
                let holds = |(now, _): &&mut (usize, usize)| at < own || self.after[*now].holder.role != Role::Helper;
                if entry.left[at]
                    && let Some(same) = keys.get_mut(assertion.key.as_str())
                    && same.last_mut().filter(holds).is_some()
                    && let Some((now, same)) = same.pop()
                {
                    entry.left[at] = false;
                    self.after[now].left[same] = false;
                }
            }
        }
    }

    fn judge(&mut self, pairs: &[(usize, Option<usize>)]) {
        for &(was, now) in pairs {
            match now {
                Some(now) => {
                    self.judge_marks(was, now);
                    if !self.judge_collected(was, now) {
                        self.judge_rows(was, now);
                        self.judge_pair(was, now);
                    }
                }
                None => self.judge_gone(was),
            }
        }
    }

    fn judge_marks(&mut self, was: usize, now: usize) {
        let (before, after) = (&self.before[was], &self.after[now]);
        let (old, source, holder) = (before.holder, after.source, after.holder);
        let keeps = after.left.contains(&false);
        for mark in &holder.marks {
            if mark.kind == Kind::Focused || old.marks.iter().any(|old| old.kind == mark.kind) {
                continue;
            }
            // A test that asserted and now asks for a panic: only where the same assertions are what fails.
            if mark.kind == Kind::ExpectedToFail && source.language == Language::Rust && !keeps {
                continue;
            }
            self.say(mark.kind, source, mark.line, &holder.name);
        }
    }

    /// Whether the runner still finds it. Says so, where not.
    fn judge_collected(&mut self, was: usize, now: usize) -> bool {
        let (before, after) = (&self.before[was], &self.after[now]);
        let by_name = matches!(before.source.language, Language::Go | Language::Python | Language::JavaScript);
        let left_out = by_name && before.source.place == Place::Collected && after.source.place < Place::Collected;
        let is_lost = before.holder.role == Role::Test && (after.holder.role == Role::Helper || left_out);
        if is_lost {
            let (source, holder) = (after.source, after.holder);
            self.say(Kind::NotCollected, source, holder.line, &holder.name);
        }
        is_lost
    }

    fn judge_rows(&mut self, was: usize, now: usize) {
        let (before, after) = (&self.before[was], &self.after[now]);
        let (old, new) = (&before.holder.rows, &after.holder.rows);
        if new.is_empty() || new.len() >= old.len() {
            return;
        }
        let kept: HashSet<&str> = new.iter().map(|row| row.key.as_str()).collect();
        let lost: Vec<_> = old.iter().filter(|row| !kept.contains(row.key.as_str())).take(MOST_LEFT).collect();
        let flats: Vec<&str> = self
            .after
            .iter()
            .filter(|entry| entry.holder.name.is_empty())
            .map(|entry| entry.source.flat.as_str())
            .collect();
        let lost: Vec<_> = lost
            .into_iter()
            .filter(|row| row.key.len() < 4 || !flats.iter().any(|flat| flat.contains(&row.key)))
            .collect();
        let source = before.source;
        for row in lost.into_iter().take(old.len() - new.len()) {
            self.say(Kind::FewerCases, source, row.line, &row.key);
        }
    }

    /// What is left of a test, against what is left of it now.
    fn judge_pair(&mut self, was: usize, now: usize) {
        let lost: Vec<usize> =
            (0..self.before[was].held.len()).filter(|&at| self.before[was].left[at]).take(MOST_LEFT).collect();
        let lost = self.by_likeness(was, lost, now);
        let mut vacuous: Vec<&Assertion> = self
            .new_inert(was, now)
            .into_iter()
            .filter(|(kind, _)| *kind == Kind::Vacuous)
            .map(|(_, new)| new)
            .collect();
        vacuous.reverse();
        for at in lost {
            let (source, assertion) = self.before[was].held[at];
            if self.is_held_elsewhere(was, at, now) || self.say_inert(assertion) || self.is_replaced(assertion, now) {
                continue;
            }
            if let Some(new) = vacuous.pop() {
                let after = self.after[now].source;
                self.say(Kind::Vacuous, after, new.line, &new.key);
                continue;
            }
            if self.is_absorbed(assertion, Some(now))
                || self.is_about_gone(&assertion.parts)
                || self.is_split_off(assertion, was)
            {
                continue;
            }
            if !self.say_commented(assertion) {
                self.say(Kind::AssertionDeleted, source, assertion.line, &assertion.key);
            }
        }
    }

    /// What has the likest partner comes first, so that nothing else takes it.
    fn by_likeness(&self, was: usize, lost: Vec<usize>, now: usize) -> Vec<usize> {
        let entry = &self.after[now];
        let left: Vec<_> = (0..entry.held.len()).filter(|&at| entry.left[at]).take(MOST_LEFT).collect();
        let best = |lost: usize| {
            let parts = &self.before[was].held[lost].1.parts;
            left.iter().map(|&at| alike(parts, &entry.held[at].1.parts)).fold(0.0, f64::max)
        };
        let mut liked: Vec<(f64, usize)> = lost.into_iter().map(|lost| (best(lost), lost)).collect();
        liked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        liked.into_iter().map(|(_, lost)| lost).collect()
    }

    /// Whether it is a helper's, which still has it, and the test did not stop to call that one itself.
    fn is_held_elsewhere(&self, was: usize, at: usize, now: usize) -> bool {
        let (before, after) = (&self.before[was], &self.after[now]);
        let own = before.held.len() - before.through.len();
        let Some(helper) = at.checked_sub(own).and_then(|at| before.through.get(at)) else { return false };
        let stopped = before.holder.names.contains(helper) && !after.holder.names.contains(helper);
        !stopped && self.alive.contains(before.held[at].1.key.as_str())
    }

    /// Assertions of the test that do not count, and were not there before.
    fn new_inert(&self, was: usize, now: usize) -> Vec<(Kind, &'a Assertion)> {
        let old: HashSet<&str> = self.before[was].holder.inert.iter().map(|(_, old)| old.key.as_str()).collect();
        let new = self.after[now].holder.inert.iter().filter(|(_, new)| !old.contains(new.key.as_str()));
        new.map(|(kind, new)| (*kind, new)).collect()
    }

    /// Whether it is there and does not count. Says so.
    fn say_inert(&mut self, lost: &Assertion) -> bool {
        let found = self.inert.get(lost.key.as_str()).copied();
        if let Some((kind, source, line)) = found {
            self.say(kind, source, line, &lost.key);
        }
        found.is_some()
    }

    fn say_commented(&mut self, lost: &Assertion) -> bool {
        let found = self.commented.get(lost.key.as_str()).and_then(|places| places.first()).copied();
        if let Some((source, line)) = found {
            self.say(Kind::CommentedOut, source, line, &lost.key);
        }
        found.is_some()
    }

    /// Whether another assertion of the test took its place. Where that says less, it is said so.
    fn is_replaced(&mut self, lost: &Assertion, now: usize) -> bool {
        let entry = &self.after[now];
        let mut likes: Vec<(f64, usize)> = (0..entry.held.len())
            .filter(|&at| entry.left[at])
            .take(MOST_LEFT)
            .map(|at| (alike(&lost.parts, &entry.held[at].1.parts), at))
            .collect();
        likes.sort_by(|one, other| other.0.total_cmp(&one.0));
        let is_enough = |at: usize| entry.held[at].1.level.won() >= lost.level.lost();
        let Some(&(best, first)) = likes.first() else { return false };
        let enough = likes.iter().find(|(like, at)| is_enough(*at) && *like >= best / 2.0);
        let (source, new) = entry.held[enough.map_or(first, |(_, at)| *at)];
        match enough {
            Some(&(_, at)) => {
                let is_wider = match (lost.bound, new.bound) {
                    (Some(was), Some(now)) => now.is_wider_than(was),
                    _ => false,
                };
                if !new.is_opaque {
                    self.after[now].left[at] = false;
                }
                if is_wider {
                    let is_message = matches!(new.bound, Some(Bound::Message(_)));
                    let kind = if is_message { Kind::Loosened } else { Kind::ToleranceWidened };
                    self.say(kind, source, new.line, &new.key);
                }
            }
            // Weaker, and about the same thing.
            None if best > 0.0 => {
                if self.is_absorbed(lost, Some(now)) || self.is_about_gone(&lost.parts) {
                    return true;
                }
                self.after[now].left[first] = false;
                self.say(Kind::Loosened, source, new.line, &new.key);
            }
            None => return false,
        }
        true
    }

    fn novel(&self) -> Vec<(usize, usize)> {
        let named = |entry: &Entry<'a>| {
            entry.held.iter().map(|(_, old)| (entry.holder.name.as_str(), old.key.as_str())).collect::<Vec<_>>()
        };
        let old: HashSet<(&str, &str)> = self.before.iter().flat_map(named).collect();
        let mut novel = Vec::new();
        // What no test of the change calls stands for nothing that a test lost.
        let tests = self.after.iter().enumerate().filter(|(_, entry)| entry.holder.role != Role::Helper);
        for (at, entry) in tests {
            let new =
                entry.held.iter().enumerate().filter(|(_, (_, new))| !old.contains(&(&entry.holder.name, &new.key)));
            novel.extend(new.map(|(held, _)| (at, held)));
        }
        novel.truncate(MOST_NOVEL);
        novel
    }

    /// Whether a new assertion says it among other things: of the whole value, or over a table.
    fn is_absorbed(&self, lost: &Assertion, now: Option<usize>) -> bool {
        self.novel.iter().any(|&(at, held)| {
            let (entry, new) = (&self.after[at], self.after[at].held[held].1);
            if new.level.won() < lost.level.lost() {
                return false;
            }
            let shares =
                lost.parts.iter().any(|part| !lost.values.contains(part) && new.parts.binary_search(part).is_ok());
            if !shares {
                return false;
            }
            // That something is there follows from what it is.
            let implied = lost.level == Level::Present && new.level.won() > lost.level.lost();
            if now == Some(at) && (new.is_opaque || implied) {
                return true;
            }
            let whole =
                !lost.values.is_empty() && lost.values.iter().all(|value| new.values.binary_search(value).is_ok());
            let is_table = !entry.holder.rows.is_empty() || new.values.len() < lost.values.len();
            let in_table =
                |value: &u64| entry.holder.parts.binary_search(value).is_ok() || entry.source.values.contains(value);
            whole || is_table && lost.values.iter().all(in_table)
        })
    }

    /// Whether a new test holds it that consists of parts of the old one.
    fn is_split_off(&self, lost: &Assertion, was: usize) -> bool {
        let whole = &self.before[was].holder.parts;
        self.free.iter().any(|&at| {
            let entry = &self.after[at];
            let parts = &entry.holder.parts;
            let known = parts.iter().filter(|part| whole.binary_search(part).is_ok()).count();
            let takes = |(_, new): &(&Source, &Assertion)| {
                new.level.won() >= lost.level.lost()
                    && lost.parts.iter().any(|part| new.parts.binary_search(part).is_ok())
            };
            known * 5 >= parts.len() * 4 && entry.held.iter().any(takes)
        })
    }

    /// Whether it is about something that the change removed.
    fn is_about_gone(&self, parts: &[u64]) -> bool {
        !self.gone.is_empty() && parts.iter().any(|part| self.gone.contains(part))
    }

    /// A test that has no partner now.
    fn judge_gone(&mut self, was: usize) {
        let (source, holder) = (self.before[was].source, self.before[was].holder);
        let held: Vec<usize> = (0..self.before[was].held.len()).collect();
        let lost: Vec<&Assertion> =
            held.iter().filter(|&&at| self.before[was].left[at]).map(|&at| self.before[was].held[at].1).collect();
        if self.is_about_gone(&holder.parts) {
            return;
        }
        let is_test = holder.role == Role::Test;
        if held.is_empty() && !(is_test && holder.inert.is_empty()) || !held.is_empty() && lost.is_empty() {
            return;
        }
        if let Some(first) = lost.first()
            && (self.say_inert(first) || self.say_commented(first))
        {
            return;
        }
        let lost: Vec<&Assertion> =
            lost.into_iter().take(MOST_LEFT).filter(|lost| !self.is_absorbed(lost, None)).collect();
        if lost.is_empty() && !held.is_empty() {
            return;
        }
        if is_test && lost.len() == held.len() {
            self.say(Kind::TestDeleted, source, holder.line, &holder.name);
        } else {
            for lost in lost {
                self.say(Kind::AssertionDeleted, source, lost.line, &lost.key);
            }
        }
    }
}
