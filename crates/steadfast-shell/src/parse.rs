//! The one door to the parser.
//!
//! `brush-parser` recurses and has no limit of its own: at 33,000 nested substitutions it overflows the stack. What is
//! nested deeper than anyone writes by hand is refused before it gets there.

use std::rc::Rc;

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Part};
use brush_parser::word::WordPieceWithSource;
use brush_parser::{Parser, ParserOptions};

use crate::tree::{Assign, Command, Item, List, Redirect, Word};

const MAX_DEPTH: usize = 60;
/// Of `if`, `for` and their kin. More, because the code in a heredoc has them too and does not close them as bash does.
const MAX_KEYWORDS: usize = 500;
/// The longest text that is read.
const MAX_BYTES: usize = 1 << 20;

/// As `bash -c` reads: no extended patterns.
pub(crate) fn options() -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() }
}

/// `None`: bash would refuse it, or it is too deep.
pub(crate) fn parse(text: &str) -> Option<List> {
    if text.len() > MAX_BYTES || too_deep(text) {
        return None;
    }
    let mut source = text.to_owned();
    // A backslash at the very end is a backslash to bash, and an unfinished line to the parser.
    if text.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1 {
        source.push('\\');
    }
    let read = |source: &str| Parser::new(source.as_bytes(), &options()).parse_program().ok();
    // Bash ends a heredoc at the end of the text, with a warning.
    let program = read(&source).or_else(|| read(&format!("{source}\n{}\n", open_heredoc(text)?)))?;
    let convert = Convert::new(text);
    Some(program.complete_commands.iter().flat_map(|list| convert.list(list)).collect())
}

pub(crate) fn pieces(word: &str) -> Option<Vec<WordPieceWithSource>> {
    if too_deep(word) {
        return None;
    }
    brush_parser::word::parse(word, &options()).ok()
}

pub(crate) fn heredoc_pieces(body: &str) -> Option<Vec<WordPieceWithSource>> {
    if too_deep(body) {
        return None;
    }
    brush_parser::word::parse_heredoc(body, &options()).ok()
}

/// The delimiter of the last heredoc, when no line is it.
fn open_heredoc(text: &str) -> Option<&str> {
    let (_, tail) = text.rsplit_once("<<")?;
    let tail = tail.trim_start_matches(['-', ' ', '\'', '"', '\\']);
    let end = tail.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(tail.len());
    let delimiter = &tail[..end];
    (!delimiter.is_empty() && !text.lines().any(|line| line.trim_start_matches('\t') == delimiter)).then_some(delimiter)
}

/// An upper bound of the nesting, quotes not looked at.
fn too_deep(text: &str) -> bool {
    let (mut depth, mut keywords, mut ticks) = (0usize, 0usize, 0usize);
    let mut start = true;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let word = |keyword: &[u8]| {
            bytes[at..].starts_with(keyword)
                && bytes.get(at + keyword.len()).is_none_or(|b| b.is_ascii_whitespace() || b";&|()".contains(b))
        };
        match bytes[at] {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b'`' => ticks += 1,
            b'i' if start && word(b"if") => keywords += 1,
            b'w' if start && word(b"while") => keywords += 1,
            b'u' if start && word(b"until") => keywords += 1,
            b'f' if start && word(b"for") => keywords += 1,
            b'c' if start && word(b"case") => keywords += 1,
            b'f' if start && word(b"fi") => keywords = keywords.saturating_sub(1),
            b'd' if start && word(b"done") => keywords = keywords.saturating_sub(1),
            b'e' if start && word(b"esac") => keywords = keywords.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH || keywords > MAX_KEYWORDS || ticks > 2000 {
            return true;
        }
        start = matches!(bytes[at], b';' | b'\n' | b'&' | b'|' | b'(' | b'{' | b' ' | b'\t');
        at += 1;
    }
    false
}

struct Convert {
    /// The byte at which each character starts; empty when they are the same.
    starts: Vec<usize>,
    end: usize,
}

impl Convert {
    fn new(text: &str) -> Self {
        let starts = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        Self { starts, end: text.len() }
    }

    fn byte(&self, index: usize) -> usize {
        if self.starts.is_empty() { index.min(self.end) } else { self.starts.get(index).copied().unwrap_or(self.end) }
    }

    fn word(&self, word: &ast::Word) -> Word {
        let span = word.loc.as_ref().map_or(0..0, |loc| self.byte(loc.start.index)..self.byte(loc.end.index));
        Word { text: word.value.clone(), span }
    }

    fn list(&self, list: &ast::CompoundList) -> List {
        list.0.iter().flat_map(|item| self.and_or(&item.0)).collect()
    }

    fn and_or(&self, list: &ast::AndOrList) -> List {
        let rest = list.additional.iter().map(|next| match next {
            ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) => pipeline,
        });
        std::iter::once(&list.first).chain(rest).map(|p| p.seq.iter().map(|c| self.command(c)).collect()).collect()
    }

    fn command(&self, command: &ast::Command) -> Command {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => self.compound(compound, self.redirects(redirects.as_ref())),
            ast::Command::Function(function) => Command::Function {
                name: function.fname.value.clone(),
                body: Rc::new(self.compound(&function.body.0, self.redirects(function.body.1.as_ref()))),
            },
            ast::Command::ExtendedTest(test, redirects) => {
                let mut words = Vec::new();
                self.test(&test.expr, &mut words);
                Command::Branch { words, parts: Vec::new(), redirects: self.redirects(redirects.as_ref()) }
            }
        }
    }

    fn test(&self, expr: &ast::ExtendedTestExpr, words: &mut Vec<Word>) {
        match expr {
            ast::ExtendedTestExpr::And(a, b) | ast::ExtendedTestExpr::Or(a, b) => {
                self.test(a, words);
                self.test(b, words);
            }
            ast::ExtendedTestExpr::Not(a) | ast::ExtendedTestExpr::Parenthesized(a) => self.test(a, words),
            ast::ExtendedTestExpr::UnaryTest(_, a) => words.push(self.word(a)),
            ast::ExtendedTestExpr::BinaryTest(_, a, b) => words.extend([self.word(a), self.word(b)]),
        }
    }

    fn arithmetic(&self, expr: &ast::UnexpandedArithmeticExpr, loc: &brush_parser::SourceSpan) -> Word {
        let span = self.byte(loc.start.index)..self.byte(loc.end.index);
        Word { text: format!("\"{}\"", expr.value.replace('"', "")), span }
    }

    fn compound(&self, compound: &ast::CompoundCommand, redirects: Vec<Redirect>) -> Command {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(a) => {
                Command::Branch { words: vec![self.arithmetic(&a.expr, &a.loc)], parts: Vec::new(), redirects }
            }
            C::ArithmeticForClause(f) => {
                let exprs = [&f.initializer, &f.condition, &f.updater];
                let words = exprs.into_iter().flatten().map(|e| self.arithmetic(e, &f.loc)).collect();
                Command::Branch { words, parts: vec![self.list(&f.body.list)], redirects }
            }
            C::BraceGroup(g) => Command::Group { body: self.list(&g.list), redirects },
            C::Subshell(s) => Command::Subshell { body: self.list(&s.list), redirects },
            C::ForClause(f) => Command::For {
                name: f.variable_name.clone(),
                values: f.values.iter().flatten().map(|w| self.word(w)).collect(),
                body: self.list(&f.body.list),
                redirects,
            },
            C::CaseClause(c) => Command::Branch {
                words: std::iter::once(&c.value)
                    .chain(c.cases.iter().flat_map(|case| &case.patterns))
                    .map(|w| self.word(w))
                    .collect(),
                parts: c.cases.iter().filter_map(|case| case.cmd.as_ref()).map(|l| self.list(l)).collect(),
                redirects,
            },
            C::IfClause(i) => {
                let mut parts = vec![self.list(&i.condition), self.list(&i.then)];
                for part in i.elses.iter().flatten() {
                    parts.extend(part.condition.as_ref().map(|l| self.list(l)));
                    parts.push(self.list(&part.body));
                }
                Command::Branch { words: Vec::new(), parts, redirects }
            }
            C::WhileClause(w) | C::UntilClause(w) => {
                Command::Branch { words: Vec::new(), parts: vec![self.list(&w.0), self.list(&w.1.list)], redirects }
            }
            C::Coprocess(c) => Command::Subshell { body: vec![vec![self.command(&c.body)]], redirects },
        }
    }

    fn simple(&self, simple: &ast::SimpleCommand) -> Command {
        let (mut assigns, mut items, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        for part in simple.prefix.iter().flat_map(|p| &p.0) {
            match part {
                Part::AssignmentWord(assign, _) => assigns.push(self.assign(assign)),
                Part::IoRedirect(redirect) => redirects.extend(self.redirect(redirect)),
                Part::Word(word) => items.push(Item::Word(self.word(word))),
                Part::ProcessSubstitution(_, body) => items.push(Item::Process(self.list(&body.list))),
            }
        }
        items.extend(simple.word_or_name.iter().map(|w| Item::Word(self.word(w))));
        for part in simple.suffix.iter().flat_map(|s| &s.0) {
            match part {
                // After the name it is an argument, whatever it looks like.
                Part::AssignmentWord(_, word) | Part::Word(word) => items.push(Item::Word(self.word(word))),
                Part::IoRedirect(redirect) => redirects.extend(self.redirect(redirect)),
                Part::ProcessSubstitution(_, body) => items.push(Item::Process(self.list(&body.list))),
            }
        }
        Command::Simple { assigns, items, redirects }
    }

    fn assign(&self, assign: &ast::Assignment) -> Assign {
        let name = match &assign.name {
            ast::AssignmentName::VariableName(name) | ast::AssignmentName::ArrayElementName(name, _) => name.clone(),
        };
        let element = matches!(assign.name, ast::AssignmentName::ArrayElementName(..));
        let values = match &assign.value {
            ast::AssignmentValue::Scalar(word) => vec![self.word(word)],
            ast::AssignmentValue::Array(words) => words.iter().map(|(_, word)| self.word(word)).collect(),
        };
        Assign { name, values, append: assign.append || element }
    }

    fn redirects(&self, list: Option<&ast::RedirectList>) -> Vec<Redirect> {
        list.iter().flat_map(|l| &l.0).filter_map(|r| self.redirect(r)).collect()
    }

    fn redirect(&self, redirect: &ast::IoRedirect) -> Option<Redirect> {
        use ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoRedirect as R};
        Some(match redirect {
            R::File(_, _, Target::ProcessSubstitution(_, body)) => Redirect::Process(self.list(&body.list)),
            R::File(_, _, Target::Fd(_)) => return None,
            R::File(_, Kind::DuplicateOutput, Target::Filename(w) | Target::Duplicate(w)) => {
                Redirect::Duplicate(self.word(w))
            }
            R::File(_, Kind::Read | Kind::DuplicateInput, Target::Filename(w) | Target::Duplicate(w)) => {
                Redirect::Read(self.word(w))
            }
            R::File(_, _, Target::Filename(w) | Target::Duplicate(w)) | R::OutputAndError(w, _) => {
                Redirect::Write(self.word(w))
            }
            R::HereDocument(_, doc) => Redirect::Heredoc {
                body: doc.doc.value.clone(),
                expands: doc.requires_expansion,
                span: self.word(&doc.here_end).span,
            },
            R::HereString(_, word) => Redirect::HereString(self.word(word)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_knows_its_bytes() {
        let text = "echo é > out";
        let list = parse(text).unwrap();
        let Command::Simple { redirects, .. } = &list[0][0] else { panic!("not simple") };
        let Redirect::Write(word) = &redirects[0] else { panic!("not a write") };
        assert_eq!(&text[word.span.clone()], "out");
    }

    #[test]
    fn what_is_too_deep_is_not_parsed() {
        for (open, close) in
            [("$(", ")"), ("(", ")"), ("\"$(", ")\""), ("{ ", "; }"), ("((", "))"), ("if ", ""), ("`", "`")]
        {
            let text = format!("echo {}x{}", open.repeat(20_000), close.repeat(20_000));
            assert!(parse(&text).is_none(), "{open}");
        }
    }
}
