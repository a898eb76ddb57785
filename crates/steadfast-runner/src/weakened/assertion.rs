//! The assertions of a file, each with how much it says.

use std::ops::Range;

use steadfast_model::fnv;

use super::language::Language;
use super::level::{Bound, Level};
use super::lex::{Lexed, Lexeme, Token};
use super::strength;

#[derive(Clone, Debug)]
pub(super) struct Assertion {
    /// As it is compared.
    pub(super) key: String,
    pub(super) level: Level,
    pub(super) bound: Option<Bound>,
    pub(super) line: usize,
    pub(super) span: Range<usize>,
    /// Its names and values, hashed and sorted: how alike two are.
    pub(super) parts: Vec<u64>,
    /// Its values alone.
    pub(super) values: Vec<u64>,
    /// What is called, hashed.
    pub(super) callee: u64,
    /// It stands for others that cannot be seen: a helper of another file, a snapshot.
    pub(super) is_opaque: bool,
}

const MOST_TOKENS: usize = 500;

/// What was found before it is judged.
pub(super) struct Found {
    pub(super) span: Range<usize>,
    /// The name of what is called: the last one of a chain.
    pub(super) callee: String,
    pub(super) args: Range<usize>,
    pub(super) is_negated: bool,
    /// The condition of an `if` that fails the test: it says the opposite.
    pub(super) is_condition: bool,
}

impl Found {
    fn call(span: Range<usize>, callee: &str, args: Range<usize>) -> Self {
        Self { span, callee: callee.to_owned(), args, is_negated: false, is_condition: false }
    }
}

pub(super) fn assertions(lexed: &Lexed<'_>, language: Language) -> Vec<Assertion> {
    let finder = Finder { lexed, tokens: &lexed.tokens, conditions: conditions(lexed, language) };
    let mut found: Vec<Assertion> = Vec::new();
    let mut past = 0;
    let mut braces: Vec<usize> = Vec::new();
    for at in 0..finder.tokens.len() {
        let token = finder.tokens[at];
        if token.is("{") {
            braces.push(at);
        } else if token.is("}") {
            braces.pop();
        }
        if at < past {
            continue;
        }
        let seen = match language {
            Language::Rust => finder.rust(at),
            Language::Python => finder.python(at),
            Language::JavaScript => finder.javascript(at),
            Language::Go => finder.go(at, &braces),
            Language::Jvm | Language::CSharp => finder.annotated(at),
            Language::Ruby => finder.ruby(at),
            Language::Shell => finder.shell(at),
        };
        if let Some(seen) = seen {
            // A closure in it may hold others; an `expect` in an `expect` is a part of it.
            let mut seen = seen;
            past = if language == Language::Python { seen.args.end } else { seen.span.end };
            if finder.holds_block(&seen.span) {
                past = at + 1;
                // A bound, for blocks in blocks in blocks.
                seen.span.end = seen.span.end.min(seen.span.start + MOST_TOKENS);
                seen.args.end = seen.args.end.min(seen.args.start + MOST_TOKENS);
            }
            found.push(judged(lexed, language, &seen));
        }
    }
    found
}

fn judged(lexed: &Lexed<'_>, language: Language, found: &Found) -> Assertion {
    let strength = strength::of(lexed, language, found);
    let span = found.span.start..found.span.end.min(lexed.tokens.len());
    let tokens = &lexed.tokens[span.clone()];
    let (mut parts, mut values) = (Vec::new(), Vec::new());
    for token in tokens {
        if is_value(token) {
            values.push(fnv([token.plain().as_bytes()]));
        } else if token.is_word() && !is_manner(token.text) {
            parts.push(fnv([token.text.as_bytes()]));
        }
    }
    parts.extend_from_slice(&values);
    for list in [&mut parts, &mut values] {
        list.sort_unstable();
        list.dedup();
    }
    let line = tokens.first().map_or(1, |token| token.line);
    Assertion {
        key: key(tokens),
        level: strength.level,
        bound: strength.bound,
        line,
        span,
        parts,
        values,
        callee: fnv([found.callee.as_bytes()]),
        is_opaque: strength.is_opaque,
    }
}

pub(super) fn is_value(token: &Token<'_>) -> bool {
    matches!(token.lexeme, Lexeme::Number | Lexeme::Text)
}

/// Words of the manner of asserting, which say nothing of what is asserted.
pub(super) fn is_manner(word: &str) -> bool {
    word.starts_with("assert")
        || word.starts_with("toBe")
        || matches!(
            word,
            "expect"
                | "to"
                | "be"
                | "not"
                | "self"
                | "t"
                | "is"
                | "in"
                | "toEqual"
                | "equal"
                | "require"
                | "Assert"
                | "eq"
                | "await"
                | "new"
                | "if"
                | "Errorf"
                | "Fatalf"
                | "Error"
                | "Fatal"
                | "pytest"
                | "with"
                | "raises"
                | "Exception"
                | "and"
                | "or"
                | "None"
                | "True"
                | "False"
                | "true"
                | "false"
                | "null"
                | "nil"
                | "def"
                | "fn"
                | "function"
                | "func"
                | "fun"
                | "async"
                | "void"
                | "public"
                | "let"
                | "const"
                | "var"
                | "val"
                | "return"
                | "it"
                | "test"
        )
}

/// Without blanks, the manner of quotes, and commas before a closing bracket.
pub(super) fn key(tokens: &[Token<'_>]) -> String {
    let mut key = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let closes_next = tokens.get(at + 1).is_none_or(|next| matches!(next.text, ")" | "]" | "}"));
        if token.is(";") || token.is(",") && closes_next {
            continue;
        }
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(&token.plain());
    }
    key
}

/// For the `{` of an `if` in Go: where its condition stands.
fn conditions(lexed: &Lexed<'_>, language: Language) -> Vec<Option<Range<usize>>> {
    if language != Language::Go {
        return Vec::new();
    }
    let mut conditions = vec![None; lexed.tokens.len()];
    for (at, token) in lexed.tokens.iter().enumerate() {
        if !token.is("if") {
            continue;
        }
        let (mut open, mut start) = (at + 1, at + 1);
        for _ in 0..500 {
            match lexed.tokens.get(open) {
                Some(token) if token.is("{") => {
                    conditions[open] = Some(start..open);
                    break;
                }
                Some(token) if token.is("(") || token.is("[") => open = lexed.closes[open].max(open) + 1,
                Some(token) => {
                    open += 1;
                    start = if token.is(";") { open } else { start };
                }
                None => break,
            }
        }
    }
    conditions
}

struct Finder<'a> {
    lexed: &'a Lexed<'a>,
    tokens: &'a [Token<'a>],
    conditions: Vec<Option<Range<usize>>>,
}

/// Calls of these names assert something, wherever they come from.
pub(super) fn is_asserting(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    ["assert", "check", "expect", "verify", "ensure", "should", "must", "require", "refute", "want"].iter().any(
        |start| {
            name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
                && name[start.len()..].chars().next().is_none_or(|next| next == '_' || next.is_ascii_uppercase())
        },
    )
}

impl Finder<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).filter(|token| token.is_word()).map(|token| token.text)
    }

    fn close(&self, at: usize) -> usize {
        self.lexed.closes.get(at).copied().filter(|&close| close > at).unwrap_or(at)
    }

    fn is_after(&self, at: usize, text: &str) -> bool {
        at > 0 && self.is(at - 1, text)
    }

    fn holds_block(&self, span: &Range<usize>) -> bool {
        self.tokens[span.start..span.end.min(self.tokens.len())].iter().take(400).any(|token| token.is("{"))
    }

    /// `name(…)`, with what is chained to it: the last name of the chain, and its arguments.
    fn chain(&self, at: usize, open: usize) -> Found {
        let mut found = Found::call(at..self.close(open) + 1, self.tokens[at].text, open + 1..self.close(open));
        let mut end = found.span.end;
        while (self.is(end, ".") || self.is(end, "?.")) && self.word(end + 1).is_some() {
            let name = self.tokens[end + 1].text;
            found.is_negated |= matches!(name, "not" | "Not");
            end += 2;
            if self.is(end, "(") {
                found.args = end + 1..self.close(end);
                end = self.close(end) + 1;
            }
            if !matches!(
                name,
                "to" | "be" | "been" | "have" | "that" | "and" | "is" | "not" | "resolves" | "rejects" | "deep"
            ) {
                name.clone_into(&mut found.callee);
            }
        }
        found.span.end = end;
        found
    }

    fn rust(&self, at: usize) -> Option<Found> {
        let name = self.word(at)?;
        if self.is(at + 1, "!") && matches!(self.tokens.get(at + 2)?.text, "(" | "[" | "{") {
            let stem = name.trim_start_matches("debug_").trim_start_matches("prop_");
            let asserts = stem.starts_with("assert") || is_asserting(name);
            let args = at + 3..self.close(at + 2);
            return asserts.then(|| Found::call(at..args.end + 1, name, args));
        }
        let is_call = self.is(at + 1, "(") && is_asserting(name) && name != "expect" && !self.is_after(at, "fn");
        (is_call && name != "expect_err").then(|| self.chain(at, at + 1))
    }

    /// Up to the end of the line, outside of brackets.
    fn line_end(&self, from: usize) -> usize {
        let mut at = from;
        // A bound, for files that are one line.
        while let Some(token) = self.tokens.get(at).filter(|_| at < from + MOST_TOKENS) {
            if token.is(";") || at > from && token.is_first && !token.is(".") {
                break;
            }
            at = if matches!(token.text, "(" | "[" | "{") && token.lexeme == Lexeme::Mark {
                self.close(at) + 1
            } else {
                at + 1
            };
        }
        at.min(self.tokens.len())
    }

    fn python(&self, at: usize) -> Option<Found> {
        let name = self.word(at)?;
        if name == "assert" && (self.tokens[at].is_first || self.is_after(at, ":") || self.is_after(at, ";")) {
            let end = self.line_end(at);
            let message = self.outside(at + 1..end, ",").unwrap_or(end);
            return Some(Found::call(at..message, name, at + 1..message));
        }
        if !self.is(at + 1, "(") || self.is_after(at, "def") || self.is_after(at, "class") {
            return None;
        }
        let is_raising = matches!(name, "raises" | "warns" | "assertRaises" | "assertWarns");
        if !is_raising && !is_asserting(name) {
            return None;
        }
        let close = self.close(at + 1);
        let mut end = close + 1;
        // What raises it, in the line below.
        if is_raising && (self.is(end, ":") || self.is(end, "as")) {
            let below = (end..self.tokens.len().min(end + 10)).find(|&at| self.tokens[at].is_first);
            end = below.map_or(end, |below| self.line_end(below));
        }
        // `mailer.send.assert_called()`: of what.
        let start = if self.is_after(at, ".") && !is_raising { self.line_start(at) } else { at };
        Some(Found::call(start..end, name, at + 2..close))
    }

    /// The first `text` that is in no bracket of its own.
    pub(super) fn outside(&self, mut range: Range<usize>, text: &str) -> Option<usize> {
        while range.start < range.end {
            let token = self.tokens.get(range.start)?;
            if token.is(text) {
                return Some(range.start);
            }
            let opens = token.lexeme == Lexeme::Mark && matches!(token.text, "(" | "[" | "{");
            range.start = if opens { self.close(range.start) + 1 } else { range.start + 1 };
        }
        None
    }

    fn javascript(&self, at: usize) -> Option<Found> {
        let name = self.word(at)?;
        if self.is_after(at, "function") || self.is_after(at, "?.") {
            return None;
        }
        if name == "assert" && self.is(at + 1, ".") && self.word(at + 2).is_some() && !self.is_after(at, ".") {
            let open = (2..6).map(|ahead| at + ahead).find(|&open| self.is(open, "("))?;
            let mut found =
                Found::call(at..self.close(open) + 1, self.tokens[open - 1].text, open + 1..self.close(open));
            found.is_negated = false;
            return Some(found);
        }
        if name == "should" && self.is_after(at, ".") && self.is(at + 1, ".") {
            let mut end = at + 1;
            let mut found = Found::call(at..end, name, at..at);
            while self.is(end, ".") && self.word(end + 1).is_some() {
                self.tokens[end + 1].text.clone_into(&mut found.callee);
                found.is_negated |= self.is(end + 1, "not");
                end += 2;
                if self.is(end, "(") {
                    found.args = end + 1..self.close(end);
                    end = self.close(end) + 1;
                }
            }
            found.span = self.line_start(at)..end;
            return Some(found);
        }
        if !self.is(at + 1, "(") || self.is_after(at, ".") {
            return None;
        }
        is_asserting(name).then(|| self.chain(at, at + 1))
    }

    fn line_start(&self, at: usize) -> usize {
        (at.saturating_sub(50)..=at).rev().find(|&at| self.tokens[at].is_first || self.is_after(at, ";")).unwrap_or(at)
    }

    fn go(&self, at: usize, braces: &[usize]) -> Option<Found> {
        let name = self.word(at)?;
        if self.is(at + 1, ".") && self.is(at + 3, "(") && !self.is_after(at, ".") {
            let method = self.word(at + 2)?;
            let args = at + 4..self.close(at + 3);
            if matches!(name, "assert" | "require" | "must" | "is" | "suite") && method != "New" {
                return Some(Found::call(at..args.end + 1, method, args));
            }
            if matches!(method, "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow")
                && matches!(name, "t" | "b" | "f" | "tb" | "c" | "T")
            {
                let condition = braces.last().and_then(|&brace| self.conditions.get(brace).cloned().flatten());
                let is_condition = condition.is_some();
                let condition = condition.unwrap_or(at..args.end + 1);
                // With what is computed before it: `if got := f(); got != want`.
                let head = if is_condition { self.head_of(&condition) } else { condition.start };
                let mut found = Found::call(head..condition.end, method, condition);
                found.is_condition = is_condition;
                return Some(found);
            }
            return None;
        }
        let is_call =
            self.is(at + 1, "(") && is_asserting(name) && !self.is_after(at, "func") && !self.is_after(at, ".");
        is_call.then(|| self.chain(at, at + 1))
    }

    fn head_of(&self, condition: &Range<usize>) -> usize {
        let before = condition.start.saturating_sub(50)..condition.start;
        before.rev().find(|&at| self.is(at, "if")).map_or(condition.start, |at| at + 1)
    }

    fn annotated(&self, at: usize) -> Option<Found> {
        let name = self.word(at)?;
        let is_class =
            matches!(name, "Assert" | "Assertions" | "StringAssert" | "CollectionAssert" | "ClassicAssert" | "Truth");
        if is_class && self.is(at + 1, ".") {
            // `Assert.That(x, Is.EqualTo(y))`, `Assert.Throws<X>(…)`.
            let open = (3..12).map(|ahead| at + ahead).find(|&open| self.is(open, "("))?;
            let mut found = self.chain(at, open);
            if found.span.end == self.close(open) + 1 {
                self.word(at + 2)?.clone_into(&mut found.callee);
            }
            return Some(found);
        }
        if name == "Should" && self.is_after(at, ".") && self.is(at + 1, "(") {
            let mut found = self.chain(at, at + 1);
            found.span.start = self.line_start(at);
            return Some(found);
        }
        if matches!(name, "shouldBe" | "shouldNotBe" | "shouldContain") && !self.is_after(at, ".") {
            let span = self.line_start(at)..self.line_end(at);
            return Some(Found::call(span, name, at + 1..self.line_end(at)));
        }
        let is_declared =
            at > 0 && self.tokens[at - 1].is_word() && !matches!(self.tokens[at - 1].text, "return" | "await" | "else");
        if is_declared || self.is_after(at, "@") || self.is_after(at, ".") && !name.starts_with("assert") {
            return None;
        }
        let open = if self.is(at + 1, "<") {
            (2..8).map(|ahead| at + ahead).find(|&open| self.is(open, "("))?
        } else {
            at + 1
        };
        if !is_asserting(name) {
            return None;
        }
        if self.is(open, "(") {
            return Some(self.chain(at, open));
        }
        // Kotlin: `assertFailsWith<X> { … }`.
        (self.is(open, "{")).then(|| Found::call(at..self.close(open) + 1, name, open + 1..self.close(open)))
    }

    fn ruby(&self, at: usize) -> Option<Found> {
        let name = self.word(at)?;
        if name == "expect" && (self.is(at + 1, "(") || self.is(at + 1, "{")) || name == "is_expected" {
            let end = self.line_end(at);
            let to = (at..end)
                .find(|&at| matches!(self.tokens[at].text, "to" | "not_to" | "to_not") && self.is_after(at, "."))?;
            let callee = self.word(to + 1).unwrap_or("match").to_owned();
            let mut found = Found::call(at..end, &callee, to + 2..end);
            found.is_negated = !self.is(to, "to");
            return Some(found);
        }
        let asserts = name.starts_with("assert") || name.starts_with("refute");
        if !asserts || self.is_after(at, "def") {
            return None;
        }
        let end = self.line_end(at);
        let args = if self.is(at + 1, "(") { at + 2..self.close(at + 1) } else { at + 1..end };
        Some(Found::call(at..end, name, args))
    }

    fn shell(&self, at: usize) -> Option<Found> {
        let token = self.tokens[at];
        if !token.is_first && !self.is_after(at, ";") && !self.is_after(at, "&&") {
            return None;
        }
        let starts = matches!(token.text, "[" | "grep" | "diff" | "cmp" | "test" | "!") || is_asserting(token.text);
        let end = self.line_end(at);
        (starts && !self.is(at + 1, "(")).then(|| Found::call(at..end, token.text, at..end))
    }
}
