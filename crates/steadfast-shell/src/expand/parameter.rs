//! Values of parameters, and the operations of `${…}` on them.

use std::ops::Range;

use super::{Quotes, push_value};
use crate::text::{ANY, ONE, SPLIT, STAR, is_known};
use crate::tree::{Case, Change, Index, Mode, Parameter, Part, Reach, Where};
use crate::walk::Walk;

/// The maximum length of a value that a pattern cuts, in bytes: matching takes quadratic time.
const MAX_CUT: usize = 2048;
/// The maximum length for replacing a pattern with a star, which takes cubic time.
const MAX_REPLACE: usize = 128;

impl Walk {
    pub(crate) fn parameter(&mut self, parameter: &Parameter, quotes: Quotes, span: &Range<usize>, out: &mut String) {
        if let Some(Index::One(index)) = &parameter.index {
            self.text_of(index, span);
        }
        let value = self.lookup(&parameter.name, parameter.index.as_ref());
        let changed = match &parameter.change {
            Change::Nothing => value,
            Change::Default(parts) | Change::Assign(parts) => {
                let default = self.text_of(parts, span);
                if matches!(parameter.change, Change::Assign(_)) && value.as_ref().is_none_or(String::is_empty) {
                    self.assign(&parameter.name, default.clone(), Mode::Set);
                }
                // The environment may hold another value, but the default is the intended one.
                Some(value.filter(|value| !value.is_empty()).unwrap_or(default))
            }
            Change::Alternative(parts) => Some(self.text_of(parts, span)),
            Change::CutPrefix(reach, pattern) => {
                let pattern = self.pattern(pattern, span);
                value.and_then(|value| cut_prefix(&value, &pattern, *reach))
            }
            Change::CutSuffix(reach, pattern) => {
                let pattern = self.pattern(pattern, span);
                value.and_then(|value| cut_suffix(&value, &pattern, *reach))
            }
            Change::Replace(place, pattern, with) => {
                let (pattern, with) = (self.pattern(pattern, span), self.text_of(with, span));
                value.and_then(|value| replace(&value, &pattern, &with, *place))
            }
            Change::Slice(from, length) => {
                let from = self.number(from, span);
                let length = length.as_ref().map(|length| self.number(length, span));
                value.zip(from).and_then(|(value, from)| slice(&value, from, length))
            }
            Change::Case(case, reach, pattern) => {
                let every = self.pattern(pattern, span).is_empty();
                value.filter(|value| every && is_known(value)).map(|value| in_case(&value, *case, *reach))
            }
            Change::Length => Some(STAR.to_string()),
            Change::Other(parts) => {
                self.text_of(parts, span);
                None
            }
        };
        match changed {
            Some(value) => push_value(&value, quotes, out),
            None => out.push(ANY),
        }
    }

    fn number(&mut self, parts: &[Part], span: &Range<usize>) -> Option<i64> {
        self.text_of(parts, span).trim().parse().ok()
    }

    /// Returns the value of a parameter. `None`: unknown.
    fn lookup(&self, name: &str, index: Option<&Index>) -> Option<String> {
        if let Some(value) = self.state.vars.get(name) {
            return Some(element(value, index));
        }
        match name {
            "PWD" => Some(self.state.cwd.clone()),
            "HOME" => Some(self.context.home.clone()),
            "IFS" => Some(" ".to_owned()),
            "TMPDIR" | "TEMP" | "TMP" => Some("/tmp".to_owned()),
            "RANDOM" | "SECONDS" | "EPOCHSECONDS" | "LINENO" | "UID" | "EUID" | "USER" | "PPID" => {
                Some(STAR.to_string())
            }
            "#" | "?" | "$" | "!" | "-" => Some(STAR.to_string()),
            "@" | "*" => self.state.positional.as_ref().map(|args| args.join(&SPLIT.to_string())),
            _ => {
                let at = name.parse::<usize>().ok()?.checked_sub(1)?;
                let args = self.state.positional.as_ref()?;
                Some(args.get(at).cloned().unwrap_or_default())
            }
        }
    }
}

/// Returns an element of an array if its index is known, else the whole array.
fn element(value: &str, index: Option<&Index>) -> String {
    let number = match index {
        None => Some(0),
        Some(Index::One(parts)) => match parts.as_slice() {
            [Part::Text(text)] => text.parse().ok(),
            _ => None,
        },
        Some(Index::All) => None,
    };
    number.map_or(value, |number| value.split(SPLIT).nth(number).unwrap_or_default()).to_owned()
}

/// Reports whether a pattern is simple enough to match: a bracket may match some characters and not others.
fn can_match(value: &str, pattern: &str) -> bool {
    is_known(value) && !pattern.contains([ANY, ONE]) && value.len() <= MAX_CUT
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split(STAR);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Returns every position at which a text can be cut, from its start.
fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    let inner: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    inner.into_iter()
}

fn cut_prefix(value: &str, pattern: &str, reach: Reach) -> Option<String> {
    if !pattern.contains([STAR, ANY, ONE]) {
        return Some(value.strip_prefix(pattern).unwrap_or(value).to_owned());
    }
    // `##*/`: the file name, even if its folder is unknown.
    if reach == Reach::Longest && pattern.strip_prefix(STAR) == Some("/") {
        return Some(value.rsplit('/').next().unwrap_or(value).to_owned());
    }
    if !can_match(value, pattern) {
        return None;
    }
    let fits = |at: &usize| matches(pattern, &value[..*at]);
    let at = match reach {
        Reach::Shortest => cuts(value).find(fits),
        Reach::Longest => cuts(value).rev().find(fits),
    };
    Some(value[at.unwrap_or(0)..].to_owned())
}

fn cut_suffix(value: &str, pattern: &str, reach: Reach) -> Option<String> {
    if !pattern.contains([STAR, ANY, ONE]) {
        return Some(value.strip_suffix(pattern).unwrap_or(value).to_owned());
    }
    // `%/*`: the folder, even if the file name is unknown.
    if reach == Reach::Shortest && pattern.strip_prefix('/') == Some(STAR.encode_utf8(&mut [0; 4])) {
        return Some(value.rsplit_once('/').map_or(value, |(head, _)| head).to_owned());
    }
    if !can_match(value, pattern) {
        return None;
    }
    let fits = |at: &usize| matches(pattern, &value[*at..]);
    let at = match reach {
        Reach::Shortest => cuts(value).rev().find(fits),
        Reach::Longest => cuts(value).find(fits),
    };
    Some(value[..at.unwrap_or(value.len())].to_owned())
}

fn replace(value: &str, pattern: &str, with: &str, place: Where) -> Option<String> {
    if pattern.is_empty() {
        return Some(value.to_owned());
    }
    if !can_match(value, pattern) {
        return None;
    }
    if !pattern.contains(STAR) {
        return Some(match place {
            Where::First => value.replacen(pattern, with, 1),
            Where::Everywhere => value.replace(pattern, with),
            Where::Start => value.strip_prefix(pattern).map_or(value.to_owned(), |rest| format!("{with}{rest}")),
            Where::End => value.strip_suffix(pattern).map_or(value.to_owned(), |rest| format!("{rest}{with}")),
        });
    }
    if value.len() > MAX_REPLACE {
        return None;
    }
    let mut out = String::new();
    let mut from = 0;
    while from < value.len() {
        // Find the earliest start, and there the longest match.
        let found = cuts(&value[from..]).map(|at| from + at).find_map(|start| {
            let ends = cuts(&value[start..]).rev().map(|end| start + end);
            let fits = |end: &usize| *end > start && matches(pattern, &value[start..*end]);
            ends.filter(|end| place != Where::End || *end == value.len()).find(fits).map(|end| (start, end))
        });
        let Some((start, end)) = found.filter(|(start, _)| place != Where::Start || *start == 0) else { break };
        out.push_str(&value[from..start]);
        out.push_str(with);
        from = end;
        if place != Where::Everywhere {
            break;
        }
    }
    out.push_str(&value[from..]);
    Some(out)
}

fn slice(value: &str, from: i64, length: Option<Option<i64>>) -> Option<String> {
    let chars: Vec<char> = is_known(value).then(|| value.chars().collect())?;
    let count = i64::try_from(chars.len()).ok()?;
    let start = if from < 0 { count + from } else { from };
    let end = match length {
        None => count,
        Some(length) => match length? {
            length if length < 0 => count + length,
            length => start.saturating_add(length),
        },
    };
    if start < 0 || start > count || end < start {
        return Some(String::new());
    }
    let range = usize::try_from(start).ok()?..usize::try_from(end.min(count)).ok()?;
    Some(chars[range].iter().collect())
}

fn in_case(value: &str, case: Case, reach: Reach) -> String {
    let first = value.chars().next().map_or(0, char::len_utf8);
    let (head, tail) = value.split_at(if reach == Reach::Longest { value.len() } else { first });
    match case {
        Case::Upper => head.to_uppercase() + tail,
        Case::Lower => head.to_lowercase() + tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn star(pattern: &str) -> String {
        pattern.replace('*', &STAR.to_string())
    }

    #[test]
    fn values_are_cut_as_bash_cuts_them() {
        use Reach::{Longest, Shortest};
        let value = "a.b.c";
        assert_eq!(cut_prefix(value, &star("*."), Shortest).as_deref(), Some("b.c"));
        assert_eq!(cut_prefix(value, &star("*."), Longest).as_deref(), Some("c"));
        assert_eq!(cut_suffix(value, &star(".*"), Shortest).as_deref(), Some("a.b"));
        assert_eq!(cut_suffix(value, &star(".*"), Longest).as_deref(), Some("a"));
        assert_eq!(cut_suffix(value, "x", Longest).as_deref(), Some("a.b.c"));
        assert_eq!(cut_suffix("d/e/f", &star("/*"), Shortest).as_deref(), Some("d/e"));
    }

    #[test]
    fn parts_are_replaced_and_sliced_as_bash_does() {
        assert_eq!(replace("a.b.c", ".", "/", Where::First).as_deref(), Some("a/b.c"));
        assert_eq!(replace("a.b.c", ".", "/", Where::Everywhere).as_deref(), Some("a/b/c"));
        assert_eq!(replace("abc", "a", "x", Where::Start).as_deref(), Some("xbc"));
        assert_eq!(replace("abc", "a", "x", Where::End).as_deref(), Some("abc"));
        assert_eq!(replace("xaybz", &star("a*b"), "-", Where::First).as_deref(), Some("x-z"));
        assert_eq!(slice("abcdef", 1, Some(Some(3))).as_deref(), Some("bcd"));
        assert_eq!(slice("abcdef", -2, None).as_deref(), Some("ef"));
        assert_eq!(slice("abcdef", 0, Some(Some(-1))).as_deref(), Some("abcde"));
    }
}
