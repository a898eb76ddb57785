//! Which parts of a file are never run, or fail without anybody hearing of it.

use std::ops::Range;

use super::Kind;
use super::language::Language;
use super::lex::{Lexed, Lexeme};
use super::routine::{Role, Routine, attributes};

/// For every token why what it asserts does not count, if so.
pub(super) fn unreached(lexed: &Lexed<'_>, language: Language, routines: &[Routine]) -> Vec<Option<Kind>> {
    let reader = Reader { lexed, language };
    let mut marks = Marks { starts: vec![[0; 3]; lexed.tokens.len() + 1] };
    for at in 0..lexed.tokens.len() {
        if let Some(dead) = reader.dead(at) {
            marks.add(dead, 0);
        }
        if let Some(swallowed) = reader.swallowed(at) {
            marks.add(swallowed, 1);
        }
    }
    for routine in routines {
        let head = routine.head.start.min(lexed.tokens.len())..routine.head.end.min(lexed.tokens.len());
        if language == Language::Rust && attributes(lexed, head).any(|attribute| reader.is_never(attribute)) {
            marks.add(routine.body.clone(), 0);
        }
        if routine.role != Role::Suite
            && let Some(after) = reader.after_return(routine)
        {
            marks.add(after, 2);
        }
    }
    marks.kinds()
}

/// Ranges of tokens by where they begin and end, so that many in one another cost no more than one.
struct Marks {
    starts: Vec<[i32; 3]>,
}

impl Marks {
    fn add(&mut self, range: Range<usize>, which: usize) {
        let end = range.end.min(self.starts.len() - 1);
        if range.start < end {
            self.starts[range.start][which] += 1;
            self.starts[end][which] -= 1;
        }
    }

    fn kinds(&self) -> Vec<Option<Kind>> {
        let mut depth = [0; 3];
        let each = self.starts.iter().map(|starts| {
            for (depth, start) in depth.iter_mut().zip(starts) {
                *depth += start;
            }
            match depth {
                [dead, ..] if dead > 0 => Some(Kind::DeadBranch),
                [_, swallowed, _] if swallowed > 0 => Some(Kind::Swallowed),
                [.., returned] if returned > 0 => Some(Kind::EarlyReturn),
                _ => None,
            }
        });
        each.collect()
    }
}

struct Reader<'a> {
    lexed: &'a Lexed<'a>,
    language: Language,
}

impl Reader<'_> {
    fn is(&self, at: usize, text: &str) -> bool {
        self.lexed.tokens.get(at).is_some_and(|token| token.is(text))
    }

    fn block(&self, open: usize) -> Range<usize> {
        open + 1..self.lexed.closes.get(open).copied().unwrap_or(0)
    }

    /// The lines that are indented further than the one of `head`.
    fn indented(&self, head: usize, from: usize) -> Range<usize> {
        let column = self.lexed.tokens[head].column;
        let rest = self.lexed.tokens.iter().enumerate().skip(from);
        let last = rest.take_while(|(_, token)| !(token.is_first && token.column <= column)).last();
        from..last.map_or(from, |(at, _)| at + 1)
    }

    /// `cfg(any())`, and conditions of names that nobody sets.
    fn is_never(&self, attribute: Range<usize>) -> bool {
        let words: Vec<_> = self.lexed.tokens[attribute].iter().take(5).map(|token| token.text).collect();
        matches!(
            words.as_slice(),
            ["cfg", "(", "any", "(", ")"] | ["cfg", "(", "FALSE" | "never" | "disabled" | "false", ")", ..]
        )
    }

    fn dead(&self, at: usize) -> Option<Range<usize>> {
        let token = self.lexed.tokens[at];
        if token.lexeme == Lexeme::Directive {
            let condition = token.text.trim_start_matches('#').trim();
            let is_never =
                matches!(condition.split_whitespace().collect::<Vec<_>>().as_slice(), ["if", "false" | "0" | "NEVER"]);
            if !is_never {
                return None;
            }
            let rest = self
                .lexed
                .tokens
                .iter()
                .enumerate()
                .skip(at + 1)
                .filter(|(_, token)| token.lexeme == Lexeme::Directive);
            let end = rest.map(|(at, _)| at).next().unwrap_or(self.lexed.tokens.len());
            return Some(at + 1..end);
        }
        if !token.is("if") && !token.is("while") {
            return None;
        }
        let open = if self.is(at + 1, "(") { at + 2 } else { at + 1 };
        let never = self.lexed.tokens.get(open)?;
        if !matches!(never.text, "false" | "False" | "0") || never.lexeme == Lexeme::Text {
            return None;
        }
        let next = open + 1 + (open - at - 1);
        match self.language {
            Language::Python if self.is(next, ":") && token.is_first => Some(self.indented(at, next + 1)),
            Language::Ruby if token.is_first => Some(self.indented(at, next)),
            Language::Shell => {
                let end = (at..self.lexed.tokens.len().min(at + 2_000)).find(|&at| self.is(at, "fi"))?;
                Some(next..end)
            }
            _ if self.is(next, "{") => Some(self.block(next)),
            _ => None,
        }
    }

    fn swallowed(&self, at: usize) -> Option<Range<usize>> {
        let token = self.lexed.tokens[at];
        match self.language {
            Language::Python if token.is_first && token.is("try") => {
                let body = self.indented(at, at + 2);
                let mut next = body.end;
                let mut is_caught = false;
                while self.is(next, "except") && self.lexed.tokens[next].column == token.column {
                    let handler = self.indented(next, next + 1);
                    let colon = handler.clone().find(|&at| self.is(at, ":")).unwrap_or(handler.start);
                    is_caught |= self.catches(handler.clone()) && !self.fails(colon..handler.end);
                    next = handler.end.max(next + 1);
                }
                is_caught.then_some(body)
            }
            Language::Python if token.is_first && token.is("with") => {
                let line = (at..at + 12)
                    .take_while(|&next| next == at || self.lexed.tokens.get(next).is_some_and(|next| !next.is_first));
                let line: Vec<usize> = line.collect();
                let suppresses = line.iter().any(|&at| self.is(at, "suppress"))
                    && line.iter().any(|&at| self.is(at, "AssertionError") || self.is(at, "Exception"));
                suppresses.then(|| self.indented(at, line.last().map_or(at, |last| last + 1)))
            }
            Language::Rust if token.is("catch_unwind") && self.is(at + 1, "(") => {
                let mut thrown = at.saturating_sub(8)..at;
                let ignored = thrown.any(|at| self.is(at, "let") && self.is(at + 1, "_") && self.is(at + 2, "="));
                ignored.then(|| self.block(at + 1))
            }
            Language::JavaScript | Language::Jvm | Language::CSharp if token.is("try") && self.is(at + 1, "{") => {
                let body = self.block(at + 1);
                let mut next = body.end + 1;
                let mut is_caught = false;
                for _ in 0..20 {
                    if !self.is(next, "catch") {
                        break;
                    }
                    let open = if self.is(next + 1, "(") { self.block(next + 1).end + 1 } else { next + 1 };
                    let handler = self.block(open);
                    is_caught |= self.catches(next + 1..open) && !self.fails(handler.clone());
                    next = handler.end.max(next) + 1;
                }
                is_caught.then_some(body)
            }
            _ => None,
        }
    }

    /// Whether it catches a failed assertion.
    fn catches(&self, head: Range<usize>) -> bool {
        let end = head.end.min(self.lexed.tokens.len());
        let head = &self.lexed.tokens[head.start.min(end)..end];
        let has = |names: &[&str]| head.iter().take(40).any(|token| names.iter().any(|name| token.is(name)));
        match self.language {
            Language::Python => {
                head.first().is_none_or(|first| first.is(":")) || {
                    let line = head.iter().take_while(|token| !token.is(":"));
                    line.clone().any(|token| matches!(token.text, "AssertionError" | "Exception" | "BaseException"))
                }
            }
            Language::Jvm => has(&["Throwable", "Error", "AssertionError", "AssertionFailedError"]),
            Language::CSharp => head.is_empty() || has(&["Exception", "AssertionException", "XunitException"]),
            _ => true,
        }
    }

    fn fails(&self, handler: Range<usize>) -> bool {
        let end = handler.end.min(self.lexed.tokens.len());
        self.lexed.tokens[handler.start.min(end)..end].iter().take(2_000).any(|token| {
            token.is_word()
                && (matches!(
                    token.text,
                    "raise" | "throw" | "fail" | "done" | "reject" | "expect" | "Fail" | "exit" | "skip"
                ) || token.text.to_ascii_lowercase().starts_with("assert"))
        })
    }

    /// What stands behind a `return` that is always reached.
    fn after_return(&self, routine: &Routine) -> Option<Range<usize>> {
        let body = self.inner(routine);
        let statements = self.statements(body.clone());
        let found = statements.iter().position(|&at| self.is(at, "return"))?;
        let next = *statements.get(found + 1)?;
        Some(next..body.end)
    }

    /// The block of a routine: of one that is given as an argument, the block of the function.
    pub(super) fn inner(&self, routine: &Routine) -> Range<usize> {
        let body = routine.body.clone();
        if self.language != Language::JavaScript || routine.role == Role::Helper {
            return body;
        }
        let mut at = body.start;
        while at < body.end {
            let token = self.lexed.tokens[at];
            let opens = token.lexeme == Lexeme::Mark && matches!(token.text, "(" | "[" | "{");
            if token.is("{") && at > 0 && matches!(self.lexed.tokens[at - 1].text, "=>" | ")") {
                return self.block(at);
            }
            at = if opens { self.block(at).end.max(at) + 1 } else { at + 1 };
        }
        body.end..body.end
    }

    /// Where the statements of a block begin that are always reached.
    fn statements(&self, body: Range<usize>) -> Vec<usize> {
        let tokens = &self.lexed.tokens;
        let mut found = Vec::new();
        if self.language.is_indented() {
            let Some(first) = body.clone().find(|&at| tokens[at].is_first) else { return found };
            let column = tokens[first].column;
            found.extend(body.filter(|&at| tokens[at].is_first && tokens[at].column == column));
            return found;
        }
        let mut at = body.start;
        while at < body.end.min(tokens.len()) {
            let token = tokens[at];
            let before = at.checked_sub(1).map(|before| tokens[before]);
            let is_begun = at == body.start || before.is_some_and(|before| matches!(before.text, ";" | "}" | "{"));
            // `if (x)` and its statement in the next line.
            let is_under = before.is_some_and(|before| matches!(before.text, ")" | "else" | "=>" | "," | "." | "="));
            if is_begun || token.is_first && !is_under && !token.is(".") {
                found.push(at);
            }
            let opens = token.lexeme == Lexeme::Mark && matches!(token.text, "(" | "[" | "{");
            at = if opens { self.block(at).end.max(at) + 1 } else { at + 1 };
        }
        found
    }
}

/// Where the statements of a routine begin that are always reached.
pub(super) fn statements(lexed: &Lexed<'_>, language: Language, routine: &Routine) -> Vec<usize> {
    let reader = Reader { lexed, language };
    reader.statements(reader.inner(routine))
}
