//! Secrets that are recognised by their own shape.

mod table;

use crate::class::Class;
use crate::scan::{Finding, Scanner};
use crate::{placeholder, private_key};
pub(super) use table::RULES;

/// The text that starts a rule. Every anchor begins a word (no letter or digit before it).
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    /// The secret begins with this text.
    Prefix(&'static str),
    /// The secret follows this text, which is kept.
    After(&'static str),
    /// The secret begins with a run of a class (shortest and longest length), a separator, then this text.
    Behind(Class, usize, usize, u8, &'static str),
}

impl Anchor {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Prefix(text) | Self::After(text) | Self::Behind(_, _, _, _, text) => text,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// As many bytes of the class as follow; their number must be in this range.
    Run(Class, usize, usize),
    Text(&'static str),
    /// The rest of a PEM or PGP block.
    PrivateKeyBlock,
}

/// The condition on the bytes of a body with the right form. Fillers (`xxxx`, `EXAMPLE`) fail every rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// None: the anchor is proof enough.
    Shape,
    /// Letters and digits.
    Mixed,
    /// Upper case, lower case and digits.
    Random,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) anchor: Anchor,
    pub(super) body: &'static [Part],
    pub(super) check: Check,
    #[cfg(test)]
    pub(super) finds: &'static [&'static str],
    #[cfg(test)]
    pub(super) leaves: &'static [&'static str],
}

pub(super) const ANY: usize = usize::MAX;

/// The part of a body that is compared with fillers, in bytes; it keeps the cost of a false start constant.
const READ: usize = 64;
const FEWEST_DISTINCT: usize = 5;

/// The rules by the first two bytes of their anchors, built at compile time.
struct Index {
    /// Second bytes as a bit set, by first byte.
    second: [[u8; 16]; 128],
    first_rule: [u8; 128],
    next_rule: [u8; RULES.len()],
}

const NONE: u8 = u8::MAX;
static INDEX: Index = Index::new();

impl Index {
    const fn new() -> Self {
        let mut index = Self { second: [[0; 16]; 128], first_rule: [NONE; 128], next_rule: [NONE; RULES.len()] };
        assert!(RULES.len() < NONE as usize);
        let mut rule = RULES.len();
        while rule > 0 {
            rule -= 1;
            let text = RULES[rule].anchor.text().as_bytes();
            let first = text[0] as usize;
            index.second[first][(text[1] >> 3) as usize] |= 1 << (text[1] & 7);
            index.next_rule[rule] = index.first_rule[first];
            index.first_rule[first] = rule as u8;
        }
        index
    }

    fn may_begin(&self, first: u8, second: u8) -> bool {
        first < 128 && second < 128 && self.second[first as usize][(second >> 3) as usize] >> (second & 7) & 1 == 1
    }
}

/// Finds the secret whose anchor is at `at`.
#[inline]
pub(super) fn find(scan: &mut Scanner<'_>, at: usize) -> Option<Finding> {
    let &[first, second] = scan.bytes.get(at..at + 2)? else { return None };
    if INDEX.may_begin(first, second) { find_beginning_with(scan, at, first) } else { None }
}

/// Separate from [`find`], so that the two bytes that rule out nearly every word are tested without a call.
#[inline(never)]
fn find_beginning_with(scan: &mut Scanner<'_>, at: usize, first: u8) -> Option<Finding> {
    let text = &scan.bytes[at..];
    let mut row = INDEX.first_rule[first as usize];
    while row != NONE {
        let rule = &RULES[row as usize];
        let anchor = rule.anchor.text().as_bytes();
        // Compare three bytes by hand first: `starts_with` is a call per rule, and took a third of the time.
        let near = text.get(1) == anchor.get(1) && (anchor.len() < 3 || text.get(2) == anchor.get(2));
        if near
            && text.starts_with(anchor)
            && let Some(finding) = rule.matched(scan, at)
        {
            return Some(finding);
        }
        row = INDEX.next_rule[row as usize];
    }
    None
}

impl Rule {
    fn matched(&self, scan: &mut Scanner<'_>, at: usize) -> Option<Finding> {
        let body = at + self.anchor.text().len();
        let start = match self.anchor {
            Anchor::Prefix(_) => at,
            Anchor::After(_) => body,
            Anchor::Behind(class, min, max, separator, _) => lead_start(scan, at, class, min, max, separator)?,
        };
        let mut end = body;
        let mut run = 0;
        for part in self.body {
            match *part {
                Part::Run(class, min, max) => {
                    let stop = scan.runs.end(scan.bytes, run, class, end);
                    if !(min..=max).contains(&(stop - end)) {
                        return None;
                    }
                    end = stop;
                    run += 1;
                }
                Part::Text(text) => {
                    if !scan.bytes[end..].starts_with(text.as_bytes()) {
                        return None;
                    }
                    end += text.len();
                }
                Part::PrivateKeyBlock => {
                    return private_key::block(scan, at).map(|(start, end)| Finding { start, end, rule: self.name });
                }
            }
        }
        let cut = scan.byte(end).is_some_and(|b| b.is_ascii_alphanumeric());
        let real = !cut && self.check.passes(&scan.bytes[body..end.min(body + READ)]);
        (real && scan.untouched(end)).then_some(Finding { start, end, rule: self.name })
    }
}

fn lead_start(scan: &Scanner<'_>, at: usize, class: Class, min: usize, max: usize, separator: u8) -> Option<usize> {
    if scan.before(at) != Some(separator) {
        return None;
    }
    let lead = scan.bytes[scan.floor..at - 1].iter().rev().take(max + 1).take_while(|&&b| class.holds(b)).count();
    (min..=max).contains(&lead).then(|| at - 1 - lead)
}

impl Check {
    fn passes(self, body: &[u8]) -> bool {
        let digit = body.iter().any(u8::is_ascii_digit);
        let upper = body.iter().any(u8::is_ascii_uppercase);
        let lower = body.iter().any(u8::is_ascii_lowercase);
        let sorts = match self {
            Self::Shape => true,
            Self::Mixed => digit && (upper || lower),
            Self::Random => digit && upper && lower,
        };
        sorts && !is_filler(body) && !placeholder::is_sample(body)
    }
}

/// Returns true for few distinct bytes. A short body (the number of a data centre) has few anyway.
fn is_filler(body: &[u8]) -> bool {
    let distinct = body.iter().enumerate().filter(|(at, byte)| !body[..*at].contains(byte)).take(FEWEST_DISTINCT);
    body.len() >= 16 && distinct.count() < FEWEST_DISTINCT
}
