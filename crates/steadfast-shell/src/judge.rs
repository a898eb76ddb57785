//! Compares the effects of a command line with the protected paths.

use std::borrow::Cow;
use std::ops::Range;

use steadfast_text::glob;

use crate::effect::{Certainty, CommandEffect, Op, Reading, UNPARSED};
use crate::text::resolve;

/// Ordered from the mildest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GuardDecision {
    Allow,
    Ask,
    Deny,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardVerdict {
    pub decision: GuardDecision,
    pub reason: String,
    /// The bytes of the command line that caused the decision.
    pub span: Option<Range<usize>>,
}

/// Judges a command line. `deny`: a certain write to a protected path. `ask`: a writing effect that may reach one, or
/// text that could not be parsed and names one. `allow`: everything else, including programs with unknown effects.
///
/// A relative protected path matches in any folder (`lib/` in `a/lib/b`), except in folders for temporary files and for
/// copies of the protected file itself. It may contain `*` and `?`.
pub fn judge(reading: &Reading, protected: &[String]) -> GuardVerdict {
    let mut verdict = GuardVerdict { decision: GuardDecision::Allow, reason: String::new(), span: None };
    if !reading.parsed && protected.iter().any(|path| is_mentioned(path, reading)) {
        verdict = GuardVerdict {
            decision: GuardDecision::Ask,
            reason: "the command could not be parsed".to_owned(),
            span: None,
        };
    }
    if reading.effects.is_empty() {
        return verdict;
    }
    let texts: Vec<(Cow<'_, str>, String)> = protected
        .iter()
        .map(|path| settled(path, reading))
        .map(|path| {
            let anchored = anchored(&path, reading);
            (path, anchored)
        })
        .collect();
    let places: Vec<Place<'_>> = texts.iter().map(|(said, anchored)| Place::of(said, anchored)).collect();
    for effect in &reading.effects {
        let path = effect.path.as_deref().map(parts).unwrap_or_default();
        for (place, said) in places.iter().zip(protected) {
            let decision = touches(effect, &path, place, reading);
            if decision > verdict.decision {
                verdict =
                    GuardVerdict { decision, reason: reason(effect, said, decision), span: Some(effect.span.clone()) };
            }
        }
    }
    verdict
}

/// A protected path, split once for all effects.
struct Place<'a> {
    said: &'a str,
    /// True if it matches in any folder.
    relative: bool,
    parts: Vec<&'a str>,
    /// The parts of its absolute form.
    anchored: Vec<&'a str>,
}

impl<'a> Place<'a> {
    fn of(said: &'a str, anchored: &'a str) -> Self {
        Self { said, relative: !said.starts_with(['/', '~']), parts: parts(said), anchored: parts(anchored) }
    }
}

/// Returns the protected path without `..`, like the paths of a command.
fn settled<'a>(protected: &'a str, reading: &Reading) -> Cow<'a, str> {
    if !protected.split('/').any(|part| part == "..") {
        return Cow::Borrowed(protected);
    }
    let settled = resolve(&anchored(protected, reading), &reading.context.cwd);
    let inside =
        settled.strip_prefix(reading.context.cwd.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    match inside.filter(|_| !protected.starts_with(['/', '~'])) {
        Some(inside) => Cow::Owned(inside.to_owned()),
        None => Cow::Owned(settled),
    }
}

/// Reports whether text that could not be parsed contains the last part of the protected path.
fn is_mentioned(protected: &str, reading: &Reading) -> bool {
    let Some(texts) = &reading.unread else { return true };
    let name = protected.trim_end_matches('/').rsplit('/').next().unwrap_or(protected);
    // Only the longest part without pattern characters.
    let name = name.split(['*', '?']).max_by_key(|part| part.len()).unwrap_or(name).to_ascii_lowercase();
    name.is_empty() || texts.iter().any(|text| text.to_ascii_lowercase().contains(&name))
}

fn reason(effect: &CommandEffect, protected: &str, decision: GuardDecision) -> String {
    let (op, via) = (effect.op.as_str(), &effect.via);
    match (&effect.path, decision) {
        (Some(path), GuardDecision::Deny) => format!("{via}: {op} of `{path}`, and `{protected}` is protected"),
        (Some(path), _) => format!("{via}: {op} of `{path}` may reach `{protected}`"),
        (None, _) => format!("{via}: {op} of an unknown path may reach `{protected}`"),
    }
}

fn touches(effect: &CommandEffect, path: &[&str], place: &Place<'_>, reading: &Reading) -> GuardDecision {
    let mentioned = || reading.mentions.iter().any(|word| within(&parts(word), &place.parts));
    let anchored = place.anchored.as_slice();
    match (&effect.path, effect.op, effect.certainty) {
        (None, Op::Unknown, _) | (_, Op::Unknown, Certainty::Possible) => GuardDecision::Allow,
        (None, Op::Exec, _) if effect.via == UNPARSED && !is_mentioned(place.said, reading) => GuardDecision::Allow,
        (None, _, _) if mentioned() => GuardDecision::Deny,
        (None, _, _) => GuardDecision::Ask,
        (Some(_), op, Certainty::Certain) => {
            let inside = if place.relative { within(path, &place.parts) } else { starts(path, anchored) };
            // A copy of the protected file, or a file of that name in a folder for temporary files, is not the
            // protected file.
            let is_another = || {
                place.relative
                    && !starts(path, anchored)
                    && (effect.copy_of.as_deref().is_some_and(|from| starts(&parts(from), anchored))
                        || is_temporary(path, reading))
            };
            // Removing a folder removes its contents.
            let above = matches!(op, Op::Delete | Op::Move) && starts(anchored, path);
            if inside && !is_another() || above {
                GuardDecision::Deny
            } else if folded(path, anchored) {
                GuardDecision::Ask
            } else {
                GuardDecision::Allow
            }
        }
        (Some(text), op, Certainty::Possible) => {
            let above = matches!(op, Op::Delete | Op::Move);
            let known = path.iter().take_while(|part| !part.contains(['*', '?'])).count();
            if known < path.len() && starts(&path[..known], anchored) {
                // Every match of the pattern is inside.
                GuardDecision::Deny
            } else if !reaches(path, anchored, above) || is_by_ending(path, anchored) {
                GuardDecision::Allow
            } else if text.ends_with("**") && mentioned() {
                GuardDecision::Deny
            } else {
                GuardDecision::Ask
            }
        }
    }
}

/// Reports whether a pattern searches for files that a protected folder is not protected for: output of compilers and
/// editors, or, in a hidden folder, sources of a program. A file protected by such a name does not count.
fn is_by_ending(pattern: &[&str], place: &[&str]) -> bool {
    let [.., any, name] = pattern else { return false };
    let Some(last) = place.last().filter(|part| any.starts_with("**") && !glob::name(name, part)) else { return false };
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let litter = matches!(
        ending,
        "pyc" | "pyo" | "o" | "obj" | "class" | "log" | "tmp" | "bak" | "orig" | "rej" | "swp" | "DS_Store"
    ) || matches!(*name, "__pycache__" | "node_modules" | ".pytest_cache" | ".mypy_cache" | "Thumbs.db");
    let source = matches!(
        ending,
        "rs" | "ts"
            | "tsx"
            | "jsx"
            | "vue"
            | "svelte"
            | "css"
            | "scss"
            | "html"
            | "go"
            | "java"
            | "kt"
            | "scala"
            | "swift"
            | "c"
            | "h"
            | "cc"
            | "cpp"
            | "hpp"
            | "cs"
            | "rb"
            | "php"
            | "ex"
            | "exs"
            | "sql"
            | "proto"
            | "snap"
    );
    // A name with its own ending is a file, so it contains nothing.
    let is_file = last.trim_start_matches('.').contains('.');
    litter || (source && (is_file || last.starts_with('.')))
}

/// Reports whether a path is in a folder for temporary files while the work is not.
fn is_temporary(path: &[&str], reading: &Reading) -> bool {
    let below = |path: &[&str]| matches!(path, ["tmp", ..] | ["var" | "private", "tmp", ..]);
    below(path) && !below(&parts(&reading.context.cwd))
}

/// Returns the protected path in absolute form.
fn anchored(protected: &str, reading: &Reading) -> String {
    if protected.starts_with('/') {
        protected.to_owned()
    } else if let Some(rest) = protected.strip_prefix('~') {
        format!("{}{rest}", reading.context.home)
    } else {
        format!("{}/{protected}", reading.context.cwd)
    }
}

/// Reports whether a path is the protected one or inside it. A relative one matches in any folder.
pub(crate) fn is_named(path: &str, protected: &str) -> bool {
    let (path, place) = (parts(path), parts(protected));
    if protected.starts_with('/') { starts(&path, &place) } else { within(&path, &place) }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// Reports whether the path is the place or inside it.
fn starts(path: &[&str], place: &[&str]) -> bool {
    glob::path_or_above(place, path)
}

/// Reports whether the path is inside the place on a file system that ignores case.
fn folded(path: &[&str], place: &[&str]) -> bool {
    path.len() >= place.len() && path.iter().zip(place).all(|(part, wanted)| part.eq_ignore_ascii_case(wanted))
}

fn within(path: &[&str], place: &[&str]) -> bool {
    !place.is_empty() && (0..path.len()).any(|at| starts(&path[at..], place))
}

/// Reports whether a pattern can match the place, a path inside it, or (`above`) one of its parents.
fn reaches(pattern: &[&str], place: &[&str], above: bool) -> bool {
    match (pattern.split_first(), place.split_first()) {
        (_, None) => true,
        (None, Some(_)) => above,
        (Some((first, rest)), Some((wanted, left))) => {
            if let Some(tail) = first.strip_prefix("**") {
                // Any text may match any part of the place, so only the parts after it can exclude a match.
                if tail.is_empty() && rest.is_empty() {
                    return true;
                }
                let next: Vec<&str> = if tail.is_empty() { rest.to_vec() } else { pattern_after(tail, rest) };
                return (0..=place.len()).any(|at| reaches(&next, &place[at..], above));
            }
            if let Some((head, _)) = first.split_once("**") {
                return wanted.starts_with(head) || head.starts_with(wanted);
            }
            (glob::name(first, wanted) || glob::name(wanted, first))
                && !(first.starts_with(['*', '?']) && wanted.starts_with('.'))
                && reaches(rest, left, above)
        }
    }
}

fn pattern_after<'a>(tail: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    // `**.md`: a file name with this ending. In a glob the star does not match a leading dot; the difference is ignored
    // here.
    std::iter::once(tail).chain(rest.iter().copied()).collect()
}
