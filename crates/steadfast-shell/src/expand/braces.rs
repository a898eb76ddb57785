//! Brace expansion: `a{b,c}` to `ab` and `ac`, before any other expansion.

use crate::text::ANY;
use crate::tree::Part;

/// The size limit in characters; a longer word with many braces is not expanded.
const MAX_ATOMS: usize = 4_096;

/// A character without quotes, or anything else.
#[derive(Clone, Debug)]
enum Atom<'a> {
    Char(char),
    Part(&'a Part),
}

/// Expands the braces of a word. `None`: it has none. More than `most` results become one unknown text.
pub(crate) fn braces(parts: &[Part], most: usize) -> Option<Vec<Vec<Part>>> {
    let has_brace = |part: &Part| matches!(part, Part::Text(text) if text.contains('{'));
    if !parts.iter().any(has_brace) {
        return None;
    }
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => atoms.extend(text.chars().map(Atom::Char)),
            other => atoms.push(Atom::Part(other)),
        }
    }
    // Finding the end of each brace takes time, so the number is limited.
    let opened = atoms.iter().filter(|atom| matches!(atom, Atom::Char('{'))).count();
    if opened > most && atoms.len() > MAX_ATOMS {
        return Some(vec![vec![Part::Quoted(ANY.to_string())]]);
    }
    let mut expander = Expander { most, full: false };
    let words = expander.expand(&atoms, 0);
    if expander.full {
        return Some(vec![vec![Part::Quoted(ANY.to_string())]]);
    }
    Some(words.into_iter().map(|word| whole(&word)).collect())
}

struct Expander {
    most: usize,
    full: bool,
}

impl Expander {
    fn expand<'a>(&mut self, atoms: &[Atom<'a>], depth: usize) -> Vec<Vec<Atom<'a>>> {
        let mut all: Vec<Vec<Atom<'a>>> = vec![Vec::new()];
        let mut at = 0;
        while at < atoms.len() && !self.full {
            let choices = match atoms[at] {
                Atom::Char('{') if depth < 16 => self.brace(&atoms[at..], depth),
                _ => None,
            };
            let Some((choices, length)) = choices else {
                all.iter_mut().for_each(|word| word.push(atoms[at].clone()));
                at += 1;
                continue;
            };
            self.full |= all.len() * choices.len() > self.most;
            if self.full {
                break;
            }
            all =
                all.iter().flat_map(|head| choices.iter().map(move |tail| [head.as_slice(), tail].concat())).collect();
            at += length;
        }
        all
    }

    /// Expands a brace at `{`; returns the results and the length. `None`: the brace is a plain character.
    fn brace<'a>(&mut self, atoms: &[Atom<'a>], depth: usize) -> Option<(Vec<Vec<Atom<'a>>>, usize)> {
        let mut open = 0usize;
        let mut commas = Vec::new();
        let end = atoms.iter().enumerate().find_map(|(at, atom)| {
            match atom {
                Atom::Char('{') => open += 1,
                Atom::Char('}') => open -= 1,
                Atom::Char(',') if open == 1 => commas.push(at),
                _ => {}
            }
            (open == 0).then_some(at)
        })?;
        if commas.is_empty() {
            return sequence(&atoms[1..end]).map(|mark| (vec![vec![Atom::Char(mark)]], end + 1));
        }
        let mut from = 1;
        let mut choices = Vec::new();
        for to in commas.into_iter().chain([end]) {
            choices.extend(self.expand(&atoms[from..to], depth + 1));
            from = to + 1;
        }
        Some((choices, end + 1))
    }
}

/// A sequence such as `1..9` or `a..z` becomes any number or letter.
fn sequence(atoms: &[Atom<'_>]) -> Option<char> {
    let text: String = atoms
        .iter()
        .map(|atom| match atom {
            Atom::Char(c) => *c,
            Atom::Part(_) => '\0',
        })
        .collect();
    let (from, to) = text.split_once("..")?;
    let to = to.split_once("..").map_or(to, |(to, _)| to);
    let number = |text: &str| text.parse::<i64>().is_ok();
    let letter = |text: &str| text.len() == 1 && text.starts_with(|c: char| c.is_ascii_alphabetic());
    if number(from) && number(to) { Some('*') } else { (letter(from) && letter(to)).then_some('?') }
}

fn whole(atoms: &[Atom<'_>]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (Atom::Char(c), Some(Part::Text(text))) => text.push(*c),
            (Atom::Char(c), _) => parts.push(Part::Text(c.to_string())),
            (Atom::Part(part), _) => parts.push((*part).clone()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(word: &str) -> Vec<String> {
        let words = braces(&[Part::Text(word.to_owned())], 64).unwrap_or_default();
        words
            .iter()
            .map(|parts| match parts.as_slice() {
                [Part::Text(text)] | [Part::Quoted(text)] => text.clone(),
                [] => String::new(),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn braces_are_expanded_as_bash_does() {
        assert_eq!(texts("a{b,c}d"), ["abd", "acd"]);
        assert_eq!(texts("{a,b{1,2}}"), ["a", "b1", "b2"]);
        assert_eq!(texts("x{,y}"), ["x", "xy"]);
        assert_eq!(texts("{a}"), ["{a}"]);
        assert_eq!(texts("{a,b"), ["{a,b"]);
        assert_eq!(texts("{1..3}{a..b}"), ["*?"]);
    }

    #[test]
    fn too_many_are_not_told_apart() {
        assert_eq!(texts(&"{a,b}".repeat(40)), [ANY.to_string()]);
    }
}
