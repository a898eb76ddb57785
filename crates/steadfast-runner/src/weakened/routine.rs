//! The tests of a file, what they are grouped in, and the functions beside them.

use std::ops::Range;

use super::language::{Language, Place};
use super::lex::{Lexed, Lexeme, Token, inside};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Test,
    /// A class, a module, a `describe`.
    Suite,
    /// Any other function.
    Helper,
}

#[derive(Debug)]
pub(super) struct Routine {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) line: usize,
    /// Attributes, decorators, annotations and the words before the body.
    pub(super) head: Range<usize>,
    pub(super) body: Range<usize>,
}

/// In the order in which they begin.
pub(super) fn routines(lexed: &Lexed<'_>, language: Language, place: Place) -> Vec<Routine> {
    let mut reader =
        Reader { lexed, tokens: &lexed.tokens, language, place, pending: None, found: Vec::new(), suites: Vec::new() };
    for at in 0..reader.tokens.len() {
        match language {
            Language::Rust => reader.rust(at),
            Language::Python => reader.python(at),
            Language::JavaScript => reader.javascript(at),
            Language::Go => reader.go(at),
            Language::Jvm | Language::CSharp => reader.annotated(at),
            Language::Ruby => reader.ruby(at),
            Language::Shell => reader.shell(at),
        }
    }
    reader.found
}

struct Reader<'a> {
    lexed: &'a Lexed<'a>,
    tokens: &'a [Token<'a>],
    language: Language,
    place: Place,
    /// Where the attributes before the next routine begin, and where the last of them ends.
    pending: Option<Range<usize>>,
    found: Vec<Routine>,
    /// Where classes end, and whether what is in them is collected.
    suites: Vec<(usize, bool)>,
}

const TEST_ANNOTATIONS: [&str; 16] = [
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
    "Property",
    "Fact",
    "Theory",
    "TestMethod",
    "DataTestMethod",
    "TestCase",
    "TestCaseSource",
    "SkippableFact",
    "SkippableTheory",
    "RetryingTest",
    "RetryFact",
];
const SCRIPT_TESTS: [&str; 9] = ["it", "test", "specify", "fit", "xit", "xtest", "xspecify", "ftest", "example"];
const SCRIPT_SUITES: [&str; 10] = [
    "describe",
    "context",
    "suite",
    "fdescribe",
    "xdescribe",
    "fcontext",
    "xcontext",
    "feature",
    "scenario",
    "describe_suite",
];
const NO_NAMES: [&str; 16] = [
    "if",
    "for",
    "while",
    "switch",
    "catch",
    "return",
    "new",
    "else",
    "do",
    "when",
    "using",
    "lock",
    "foreach",
    "throw",
    "synchronized",
    "function",
];

impl Reader<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).filter(|token| token.is_word()).map(|token| token.text)
    }

    fn close(&self, at: usize) -> usize {
        self.lexed.closes.get(at).copied().filter(|&close| close > at).unwrap_or(at)
    }

    fn push(&mut self, name: &str, role: Role, at: usize, head: usize, body: Range<usize>) {
        let body = body.start.min(body.end)..body.end.min(self.tokens.len());
        let line = self.tokens[at].line;
        self.found.push(Routine { name: name.to_owned(), role, line, head: head..body.start, body });
    }

    fn take_head(&mut self, at: usize) -> Range<usize> {
        self.pending.take().unwrap_or(at..at)
    }

    /// The `{…}` that follows `at`, before a `;`; parentheses and brackets on the way are passed over.
    fn block_after(&self, mut at: usize) -> Option<Range<usize>> {
        for _ in 0..200 {
            let token = self.tokens.get(at)?;
            if token.is("{") {
                return Some(at + 1..self.close(at));
            }
            if token.is(";") || token.is("}") {
                return None;
            }
            at = if token.is("(") || token.is("[") { self.close(at) + 1 } else { at + 1 };
        }
        None
    }

    fn rust(&mut self, at: usize) {
        let token = self.tokens[at];
        if self.pending.as_ref().is_some_and(|pending| at < pending.end) {
            return;
        }
        if token.is("#") && self.is(at + 1, "[") {
            let start = self.pending.as_ref().map_or(at, |pending| pending.start);
            self.pending = Some(start..self.close(at + 1) + 1);
        } else if token.is("fn") && self.word(at + 1).is_some() {
            let head = self.take_head(at);
            let is_test = attributes(self.lexed, head.clone()).any(|attribute| {
                let path = attribute.map(|at| self.tokens[at]).take_while(|token| !token.is("(") && !token.is("="));
                let names = ["test", "rstest", "test_case", "quickcheck", "wasm_bindgen_test", "case"];
                path.filter(Token::is_word).any(|word| names.contains(&word.text))
            });
            let role = if is_test { Role::Test } else { Role::Helper };
            if let Some(body) = self.block_after(at + 2) {
                let name = self.tokens[at + 1].text;
                self.push(name, role, at, head.start, body);
            }
        } else if token.is("mod") && self.word(at + 1).is_some() && self.is(at + 2, "{") {
            let head = self.take_head(at);
            self.push(self.tokens[at + 1].text, Role::Suite, at, head.start, at + 3..self.close(at + 2));
        } else if !matches!(token.text, "pub" | "async" | "unsafe" | "const" | "extern" | "(" | ")" | "crate" | "super")
        {
            self.pending = None;
        }
    }

    fn go(&mut self, at: usize) {
        if !self.tokens[at].is("func") {
            return;
        }
        let name_at = if self.is(at + 1, "(") { self.close(at + 1) + 1 } else { at + 1 };
        let Some(name) = self.word(name_at).map(str::to_owned) else { return };
        if !self.is(name_at + 1, "(") && !self.is(name_at + 1, "[") {
            return;
        }
        let is_test = ["Test", "Fuzz", "Benchmark", "Example"].iter().any(|start| {
            name.strip_prefix(start).is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_lowercase()))
        });
        let role = if is_test && name != "TestMain" { Role::Test } else { Role::Helper };
        if let Some(body) = self.block_after(name_at + 1) {
            self.push(&name, role, at, at, body);
        }
    }

    fn annotated(&mut self, at: usize) {
        let token = self.tokens[at];
        if self.pending.as_ref().is_some_and(|pending| at < pending.end) {
            return;
        }
        let begins = at.checked_sub(1).is_none_or(|before| matches!(self.tokens[before].text, "{" | "}" | ";" | "]"));
        if token.is("@") && self.word(at + 1).is_some() && !self.is(at + 1, "interface") {
            let mut end = at + 2;
            while self.is(end, ".") || self.is(end, ":") {
                end += 2;
            }
            let end = if self.is(end, "(") { self.close(end) + 1 } else { end };
            let start = self.pending.as_ref().map_or(at, |pending| pending.start);
            self.pending = Some(start..end);
        } else if self.language == Language::CSharp && token.is("[") && (begins || self.pending.is_some()) {
            let start = self.pending.as_ref().map_or(at, |pending| pending.start);
            self.pending = Some(start..self.close(at) + 1);
        } else if token.is("class") && self.word(at + 1).is_some() {
            let head = self.take_head(at);
            if let Some(body) = self.block_after(at + 2) {
                self.push(self.tokens[at + 1].text, Role::Suite, at, head.start, body);
            }
        } else if token.is_word() && self.is(at + 1, "(") && !NO_NAMES.contains(&token.text) {
            self.annotated_routine(at);
        } else if matches!(token.text, ";" | "{" | "}" | "=") {
            self.pending = None;
        }
    }

    fn annotated_routine(&mut self, at: usize) {
        let token = self.tokens[at];
        let Some(before) = at.checked_sub(1).map(|before| self.tokens[before]) else { return };
        let typed = before.is("fun") || before.is(">") || before.is("]") || before.is("?") || before.is_word();
        if !typed || NO_NAMES.contains(&before.text) || before.is("await") || before.is("in") {
            return;
        }
        let mut end = self.close(at + 1) + 1;
        // `throws A, B`, a type after a colon.
        for _ in 0..12 {
            let passes = self
                .tokens
                .get(end)
                .is_some_and(|token| token.is_word() || matches!(token.text, "," | ":" | "." | "<" | ">" | "?"));
            if !passes {
                break;
            }
            end += 1;
        }
        let body = if self.is(end, "{") {
            end + 1..self.close(end)
        } else if self.is(end, "=>") || self.is(end, "=") && before.is("fun") {
            end + 1..self.statement_end(end + 1)
        } else {
            return;
        };
        let head = self.take_head(at);
        let is_test = head.clone().any(|at| {
            let name = self.tokens[at];
            let marked = at > head.start && matches!(self.tokens[at - 1].text, "@" | "[" | "," | ".");
            marked && name.is_word() && TEST_ANNOTATIONS.contains(&name.text)
        });
        let role = if is_test { Role::Test } else { Role::Helper };
        self.push(token.text.trim_matches('`'), role, at, head.start, body);
    }

    /// The end of what begins at `at`: a `;`, or the line's, outside of brackets.
    fn statement_end(&self, mut at: usize) -> usize {
        let start = at;
        // A bound, for files that are one line.
        while let Some(token) = self.tokens.get(at).filter(|_| at < start + 2_000) {
            if token.is(";") || token.is("}") || token.is(")") || (at > start && token.is_first && !token.is(".")) {
                return at;
            }
            at = if matches!(token.text, "(" | "[" | "{") { self.close(at).max(at) + 1 } else { at + 1 };
        }
        at.min(self.tokens.len())
    }

    fn javascript(&mut self, at: usize) {
        let token = self.tokens[at];
        if !token.is_word() || at > 0 && (self.is(at - 1, ".") || self.is(at - 1, "?.")) {
            return;
        }
        if token.is("function") {
            if let Some(name) = self.word(at + 1).map(str::to_owned)
                && let Some(body) = self.block_after(at + 2)
            {
                self.push(&name, Role::Helper, at, at, body);
            }
            return;
        }
        if matches!(token.text, "const" | "let") && self.is(at + 2, "=") {
            return self.arrow(at);
        }
        let is_test = SCRIPT_TESTS.contains(&token.text);
        if !is_test && !SCRIPT_SUITES.contains(&token.text) {
            return;
        }
        let mut open = at + 1;
        while self.is(open, ".") && self.word(open + 1).is_some() {
            open += 2;
        }
        // `.each(table)(…)`, and the table as a template.
        if self.is(open - 1, "each")
            || self.is(open - 1, "for")
            || self.is(open - 1, "skipIf")
            || self.is(open - 1, "runIf")
        {
            open = if self.is(open, "(") { self.close(open) + 1 } else { open + 1 };
        }
        if !self.is(open, "(") {
            return;
        }
        let Some(name) = self.tokens.get(open + 1).filter(|name| name.lexeme == Lexeme::Text || name.is_word()) else {
            return;
        };
        let chained = &self.tokens[at + 1..open];
        let suite = !is_test || chained.iter().any(|token| token.is("describe"));
        let body = open + 2..self.close(open);
        // `test(x)` of a regular expression or a helper has no name, and no function after it.
        if name.is_word() && !self.is(open + 2, ",") {
            return;
        }
        let role = if suite { Role::Suite } else { Role::Test };
        self.push(inside(name.text), role, at, at, body);
    }

    /// `const check = (a) => {…}`.
    fn arrow(&mut self, at: usize) {
        let Some(name) = self.word(at + 1).map(str::to_owned) else { return };
        let mut next = at + 3;
        next += usize::from(self.is(next, "async"));
        if self.is(next, "function") {
            if let Some(body) = self.block_after(next + 1) {
                self.push(&name, Role::Helper, at, at, body);
            }
            return;
        }
        next = if self.is(next, "(") { self.close(next) + 1 } else { next + 1 };
        // A type.
        for _ in 0..12 {
            if self.is(next, "=>") || !self.is(next, ":") && self.word(next).is_none() {
                break;
            }
            next += 1;
        }
        if self.is(next, "=>") {
            let start = next + 1;
            let body =
                if self.is(start, "{") { start + 1..self.close(start) } else { start..self.statement_end(start) };
            self.push(&name, Role::Helper, at, at, body);
        }
    }

    /// Where a block ends whose head stands in column `column`: at the next line that is not indented further.
    fn indented_end(&self, from: usize, column: usize) -> usize {
        let rest = self.tokens.iter().enumerate().skip(from);
        rest.take_while(|(_, token)| !(token.is_first && token.column <= column)).last().map_or(from, |(at, _)| at + 1)
    }

    fn python(&mut self, at: usize) {
        let token = self.tokens[at];
        if token.is("@") && token.is_first {
            let start = self.pending.as_ref().map_or(at, |pending| pending.start);
            let mut end = at + 1;
            while let Some(next) = self.tokens.get(end).filter(|next| !next.is_first) {
                end = if next.is("(") || next.is("[") { self.close(end) + 1 } else { end + 1 };
            }
            self.pending = Some(start..end);
        }
        if self.pending.as_ref().is_some_and(|pending| at < pending.end) || token.is("async") {
            return;
        }
        let is_function = token.is("def");
        let begins = token.is_first || at > 0 && self.is(at - 1, "async") && self.tokens[at - 1].is_first;
        if !begins || !is_function && !token.is("class") || self.word(at + 1).is_none() {
            if token.is_first {
                self.pending = None;
            }
            return;
        }
        let column = if at > 0 && self.is(at - 1, "async") { self.tokens[at - 1].column } else { token.column };
        let head = self.take_head(at);
        let name = self.tokens[at + 1].text;
        let mut colon = at + 2;
        let mut bases = 0..0;
        for _ in 0..200 {
            if self.is(colon, "(") || self.is(colon, "[") {
                bases = colon..self.close(colon);
                colon = self.close(colon) + 1;
            } else if self.is(colon, ":") || colon >= self.tokens.len() {
                break;
            } else {
                colon += 1;
            }
        }
        let end = self.indented_end((colon + 1).min(self.tokens.len()), column);
        self.suites.retain(|(end, _)| *end > at);
        let role = if is_function {
            let collected = self.suites.last().is_none_or(|(_, collected)| *collected);
            if name.starts_with("test") && collected && self.place > Place::Program { Role::Test } else { Role::Helper }
        } else {
            let is_case = self.tokens[bases.start.min(self.tokens.len())..bases.end.min(self.tokens.len())]
                .iter()
                .any(|base| base.is_word() && (base.text.contains("Test")));
            self.suites.push((end, name.starts_with("Test") || is_case));
            Role::Suite
        };
        self.push(name, role, at, head.start, colon + 1..end);
    }

    fn ruby(&mut self, at: usize) {
        let token = self.tokens[at];
        if !token.is_first || !token.is_word() {
            return;
        }
        let start = if token.is("RSpec") && self.is(at + 1, ".") { at + 2 } else { at };
        let word = self.tokens.get(start).map_or("", |token| token.text);
        let role = if token.is("def") {
            match self.word(at + 1) {
                Some(name) if name.starts_with("test_") => Role::Test,
                Some(_) => Role::Helper,
                None => return,
            }
        } else if SCRIPT_TESTS.contains(&word) {
            Role::Test
        } else if SCRIPT_SUITES.contains(&word) || word == "class" {
            Role::Suite
        } else {
            return;
        };
        let mut body = start + 1;
        while let Some(next) = self.tokens.get(body).filter(|next| !next.is_first) {
            if next.is("do") || next.is("{") {
                break;
            }
            body += 1;
        }
        let is_braced = self.is(body, "{");
        let is_call = !token.is("def") && !token.is("class");
        if is_call && !is_braced && !self.is(body, "do") {
            return;
        }
        let end = if is_braced { self.close(body) } else { self.indented_end(body + 1, token.column) };
        let name = self.tokens.get(start + 1).map_or("", |name| inside(name.text)).to_owned();
        self.push(&name, role, at, at, body..end);
    }

    fn shell(&mut self, at: usize) {
        let token = self.tokens[at];
        if !token.is_first {
            return;
        }
        if token.is("@") && self.is(at + 1, "test") {
            let name = self.tokens.get(at + 2).map_or("", |name| inside(name.text)).to_owned();
            if let Some(body) = self.block_after(at + 3) {
                self.push(&name, Role::Test, at, at, body);
            }
        } else if token.is_word()
            && self.is(at + 1, "(")
            && self.is(at + 2, ")")
            && let Some(body) = self.block_after(at + 3)
        {
            self.push(token.text, Role::Helper, at, at, body);
        }
    }
}

/// The insides of the `#[…]` of a head.
pub(super) fn attributes<'a>(lexed: &'a Lexed<'_>, head: Range<usize>) -> impl Iterator<Item = Range<usize>> + 'a {
    let end = head.end;
    head.filter(move |&at| at + 1 < end && lexed.tokens[at].is("#") && lexed.tokens[at + 1].is("["))
        .map(|at| at + 2..lexed.closes[at + 1].max(at + 2).min(lexed.tokens.len()))
}
