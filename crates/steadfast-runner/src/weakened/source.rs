//! A file of one side of a change, as it is compared.

use std::collections::HashSet;

use steadfast_model::fnv;

use super::Kind;
use super::assertion::{Assertion, assertions, is_manner, is_value};
use super::language::{Language, Place};
use super::level::Level;
use super::lex::{Lexed, lex};
use super::mark::{Dial, Mark, Row, dials, file_marks, marks, rows};
use super::reach::unreached;
use super::routine::{Role, Routine, routines};

/// A test, a function beside tests, or what stands outside of both.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) line: usize,
    pub(super) marks: Vec<Mark>,
    pub(super) rows: Vec<Row>,
    /// That count, in their order.
    pub(super) live: Vec<Assertion>,
    /// That are there and do not count, and why.
    pub(super) inert: Vec<(Kind, Assertion)>,
    /// Its names and values, hashed and sorted.
    pub(super) parts: Vec<u64>,
    /// The words of its name, hashed and sorted.
    pub(super) words: Vec<u64>,
    /// The names it uses, to see which functions beside it it calls.
    pub(super) names: HashSet<u64>,
}

#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) language: Language,
    pub(super) place: Place,
    pub(super) holders: Vec<Holder>,
    pub(super) dials: Vec<Dial>,
    /// Assertions in comments.
    pub(super) commented: Vec<Assertion>,
    /// What is defined here, apart from tests.
    pub(super) defined: HashSet<String>,
    /// Values that stand outside of routines: tables.
    pub(super) values: HashSet<u64>,
    /// All of it, without blanks.
    pub(super) flat: String,
}

pub(super) fn named(name: &str) -> u64 {
    fnv([name.as_bytes()])
}

impl Source {
    pub(super) fn read(path: &str, text: &str) -> Option<Self> {
        let language = Language::of(path)?;
        let place = language.place(path);
        let lexed = lex(text, language);
        let routines = routines(&lexed, language, place);
        let reached = unreached(&lexed, language, &routines);
        let owners = owners(&lexed, &routines, place);
        let mut holders: Vec<Holder> = routines.iter().map(|routine| holder(&lexed, language, routine)).collect();
        holders.push(Holder {
            name: String::new(),
            role: Role::Suite,
            line: 1,
            marks: if place > Place::Program { file_marks(&lexed, language) } else { Vec::new() },
            rows: Vec::new(),
            live: Vec::new(),
            inert: Vec::new(),
            parts: Vec::new(),
            words: Vec::new(),
            names: HashSet::new(),
        });
        let nowhere = holders.len() - 1;
        for assertion in assertions(&lexed, language) {
            let at = assertion.span.start;
            let Some(owner) = owners.get(at).copied().flatten() else { continue };
            let holder = &mut holders[owner.min(nowhere)];
            match (reached.get(at).copied().flatten(), assertion.level) {
                (Some(kind), _) => holder.inert.push((kind, assertion)),
                (None, Level::Vacuous) => holder.inert.push((Kind::Vacuous, assertion)),
                (None, _) => holder.live.push(assertion),
            }
        }
        fill(&mut holders, &lexed, &owners, nowhere);
        let is_test = holders.iter().any(|holder| holder.role == Role::Test) || place > Place::Program;
        let values = lexed.tokens.iter().filter(|token| is_value(token)).map(|token| named(&token.plain()));
        Some(Self {
            path: path.to_owned(),
            language,
            place,
            dials: dials(&lexed),
            commented: if is_test { commented(&lexed, language) } else { Vec::new() },
            defined: if place == Place::Program { defined(&lexed, &routines) } else { HashSet::new() },
            values: if is_test { values.collect() } else { HashSet::new() },
            flat: if is_test { super::assertion::key(&lexed.tokens) } else { String::new() },
            holders,
        })
    }
}

fn holder(lexed: &Lexed<'_>, language: Language, routine: &Routine) -> Holder {
    let helper = routine.role == Role::Helper;
    Holder {
        name: routine.name.clone(),
        role: routine.role,
        line: routine.line,
        marks: if helper { Vec::new() } else { marks(lexed, language, routine) },
        rows: if routine.role == Role::Test { rows(lexed, language, routine) } else { Vec::new() },
        live: Vec::new(),
        inert: Vec::new(),
        parts: Vec::new(),
        words: words(&routine.name),
        names: HashSet::new(),
    }
}

fn words(name: &str) -> Vec<u64> {
    let spaced: String =
        name.chars().flat_map(|letter| [letter.is_uppercase().then_some(' '), Some(letter)]).flatten().collect();
    let split = spaced.split(|letter: char| !letter.is_alphanumeric());
    let mut words: Vec<u64> =
        split.filter(|word| !word.is_empty() && *word != "test").map(|word| named(&word.to_lowercase())).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// For every token the routine that holds what it asserts: the innermost test, else the innermost function, else the
/// file. `None` where it is the program's own.
fn owners(lexed: &Lexed<'_>, routines: &[Routine], place: Place) -> Vec<Option<usize>> {
    let mut owners = Vec::with_capacity(lexed.tokens.len());
    let mut next = 0;
    // The routines around a token, with the owner that holds in each, and whether it is among tests.
    let mut around: Vec<(usize, Option<usize>, bool)> = Vec::new();
    let mut order: Vec<usize> = (0..routines.len()).collect();
    order.sort_by_key(|&at| routines[at].head.start);
    for at in 0..lexed.tokens.len() {
        while around.last().is_some_and(|(end, ..)| *end <= at) {
            around.pop();
        }
        while let Some(&index) = order.get(next).filter(|&&index| routines[index].head.start <= at) {
            next += 1;
            let routine = &routines[index];
            let (_, outer, tested) = around.last().copied().unwrap_or((0, None, place > Place::Program));
            let in_test = outer.is_some_and(|outer| routines[outer].role == Role::Test);
            let owner = match routine.role {
                Role::Test => Some(index),
                Role::Helper if !in_test => Some(index),
                _ => outer,
            };
            let is_test_module = routine.role == Role::Suite && is_test_module(lexed, routine);
            around.push((
                routine.body.end.max(routine.head.end),
                owner,
                tested || is_test_module || routine.role == Role::Test,
            ));
        }
        let (_, owner, tested) = around.last().copied().unwrap_or((0, None, place > Place::Program));
        owners.push(tested.then(|| owner.unwrap_or(usize::MAX)));
    }
    owners
}

/// `#[cfg(test)] mod …`.
fn is_test_module(lexed: &Lexed<'_>, routine: &Routine) -> bool {
    let end = routine.head.end.min(lexed.tokens.len());
    let head = &lexed.tokens[routine.head.start.min(end)..end];
    head.windows(3).any(|three| three[0].is("cfg") && three[1].is("(")) && head.iter().any(|token| token.is("test"))
}

fn fill(holders: &mut [Holder], lexed: &Lexed<'_>, owners: &[Option<usize>], nowhere: usize) {
    for (token, owner) in lexed.tokens.iter().zip(owners) {
        let Some(owner) = owner else { continue };
        let holder = &mut holders[(*owner).min(nowhere)];
        if is_value(token) {
            holder.parts.push(named(&token.plain()));
        } else if token.is_word() && !is_manner(token.text) {
            holder.parts.push(named(token.text));
            holder.names.insert(named(token.text));
        } else if token.is_word() {
            holder.names.insert(named(token.text));
        }
    }
    for holder in holders {
        // Its own name is no sign of likeness.
        let own = named(&holder.name);
        holder.parts.retain(|part| *part != own);
        holder.parts.sort_unstable();
        holder.parts.dedup();
    }
}

fn commented(lexed: &Lexed<'_>, language: Language) -> Vec<Assertion> {
    let mut found = Vec::new();
    for comment in &lexed.comments {
        let text = comment.text.trim_start_matches(['/', '#', '*', '!', ' ', '\t']).trim_end_matches("*/");
        let skipped = comment.text.len() - comment.text.trim_start_matches(['/', '#', '*', '!', ' ', '\t']).len();
        let first = comment.line + comment.text[..skipped].matches('\n').count();
        let lexed = lex(text, language);
        let each = assertions(&lexed, language).into_iter();
        found.extend(each.map(|assertion| Assertion { line: assertion.line + first - 1, ..assertion }));
    }
    found
}

const DEFINES: [&str; 16] = [
    "fn",
    "def",
    "function",
    "func",
    "class",
    "struct",
    "enum",
    "interface",
    "trait",
    "fun",
    "const",
    "object",
    "record",
    "module",
    "type",
    "static",
];

fn defined(lexed: &Lexed<'_>, routines: &[Routine]) -> HashSet<String> {
    let after = lexed
        .tokens
        .windows(2)
        .filter(|pair| pair[0].is_word() && DEFINES.contains(&pair[0].text) && pair[1].is_word());
    let named = after.map(|pair| pair[1].text.to_owned());
    named
        .chain(routines.iter().filter(|routine| routine.role == Role::Helper).map(|routine| routine.name.clone()))
        .collect()
}
