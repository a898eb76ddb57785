//! Words to fields: what the shell makes of quotes, variables, braces and substitutions before a command sees them.

use std::ops::Range;

use brush_parser::word::{
    BraceExpressionMember, BraceExpressionOrText, Parameter, ParameterExpr, SpecialParameter, TildeExpr, WordPiece,
    WordPieceWithSource,
};

use crate::effect::Op;
use crate::parse;
use crate::text::{ANY, SPLIT, STAR, mark_globs};
use crate::tree::Word;
use crate::walk::Walk;

/// The most fields one word becomes. More is unknown.
const MAX_FIELDS: usize = 64;

/// An argument as the command gets it.
#[derive(Clone, Debug)]
pub(crate) struct Arg {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Without,
    Within,
}

impl Walk {
    /// The fields of an argument.
    pub(crate) fn fields(&mut self, word: &Word) -> Vec<Arg> {
        let span = self.span(&word.span);
        let mut args = Vec::new();
        for text in braces(&word.text) {
            let whole = self.text_of(&text, &word.span);
            for field in whole.split(SPLIT) {
                // An expansion to nothing is no argument; `''` is one.
                if !field.is_empty() || (whole.is_empty() && text.contains(['\'', '"'])) {
                    args.push(Arg { text: field.to_owned(), span: span.clone() });
                }
            }
            if args.len() > MAX_FIELDS {
                args.truncate(MAX_FIELDS);
                args.push(Arg { text: ANY.to_string(), span });
                break;
            }
        }
        args
    }

    /// The value of an assignment: not split.
    pub(crate) fn value(&mut self, word: &Word) -> String {
        self.text_of(&word.text, &word.span).replace(SPLIT, " ")
    }

    fn text_of(&mut self, text: &str, span: &Range<usize>) -> String {
        if !text.contains(['\'', '"', '\\', '$', '`', '~', '*', '?', '[']) {
            return text.to_owned();
        }
        let mut out = String::new();
        match parse::pieces(text) {
            Some(pieces) => self.pieces(&pieces, Quotes::Without, span, &mut out),
            // An odd quote in a heredoc in a substitution: the parser of words has lost its way, the other has not.
            None => match text.strip_prefix("\"$(").and_then(|text| text.strip_suffix(")\"")) {
                Some(body) => self.substitution(body, Quotes::Within, span, &mut out),
                None => {
                    self.unread();
                    out.push(ANY);
                }
            },
        }
        out
    }

    /// A heredoc's body, expanded.
    pub(crate) fn heredoc(&mut self, body: &str, span: &Range<usize>) -> String {
        if !body.contains(['$', '`', '\\']) {
            return body.to_owned();
        }
        let mut out = String::new();
        match parse::heredoc_pieces(body) {
            Some(pieces) => self.pieces(&pieces, Quotes::Within, span, &mut out),
            None => {
                self.unread();
                out.push(ANY);
            }
        }
        out
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource], quotes: Quotes, span: &Range<usize>, out: &mut String) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::Text(text) => match quotes {
                    Quotes::Without => mark_globs(text, out),
                    Quotes::Within => out.push_str(text),
                },
                WordPiece::SingleQuotedText(text) => out.push_str(text),
                WordPiece::AnsiCQuotedText(text) => ansi_c(text, out),
                WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
                    self.pieces(inner, Quotes::Within, span, out);
                }
                WordPiece::TildeExpansion(TildeExpr::Home) => out.push_str(&self.context.home.clone()),
                WordPiece::TildeExpansion(TildeExpr::WorkingDir) => out.push_str(&self.state.cwd.clone()),
                WordPiece::TildeExpansion(_) => out.push(ANY),
                WordPiece::EscapeSequence(text) => {
                    let text = text.strip_prefix('\\').unwrap_or(text);
                    if text != "\n" {
                        out.push_str(text);
                    }
                }
                WordPiece::CommandSubstitution(body) => self.substitution(body, quotes, span, out),
                WordPiece::BackquotedCommandSubstitution(body) => {
                    let body = body.replace("\\`", "`").replace("\\\\", "\\").replace("\\$", "$");
                    // Bash reads these only when it runs them; what it cannot read then does nothing.
                    if parse::parse(&body).is_some() {
                        self.substitution(&body, quotes, span, out);
                    } else {
                        self.push(Op::Exec, &ANY.to_string(), "substitution", span);
                        out.push(ANY);
                    }
                }
                WordPiece::ArithmeticExpression(expr) => {
                    if expr.value.contains(['$', '`']) {
                        self.text_of(&format!("\"{}\"", expr.value.replace('"', "")), span);
                    }
                    out.push(STAR);
                }
                WordPiece::ParameterExpansion(expr) => self.parameter(expr, quotes, span, out),
            }
        }
    }

    fn substitution(&mut self, body: &str, quotes: Quotes, span: &Range<usize>, out: &mut String) {
        let output = self.output_of(body, span);
        push_value(&output, quotes, out);
    }

    fn parameter(&mut self, expr: &ParameterExpr, quotes: Quotes, span: &Range<usize>, out: &mut String) {
        use ParameterExpr as P;
        match expr {
            P::Parameter { parameter, indirect: false } => {
                let value = self.lookup(parameter);
                match value {
                    Some(value) => push_value(&value, quotes, out),
                    None => out.push(ANY),
                }
            }
            P::UseDefaultValues { parameter, indirect: false, default_value, .. }
            | P::AssignDefaultValues { parameter, indirect: false, default_value, .. } => {
                let default = default_value.as_ref().map(|text| self.text_of(text, span)).unwrap_or_default();
                let value = self.lookup(parameter);
                match value {
                    Some(value) if !value.is_empty() => push_value(&value, quotes, out),
                    Some(_) => push_value(&default, quotes, out),
                    // The environment may have another value; the default is what is meant.
                    None => {
                        if quotes == Quotes::Without && !default.is_empty() {
                            push_value(&default, quotes, out);
                        } else {
                            out.push_str(&default);
                        }
                    }
                }
            }
            P::UseAlternativeValue { alternative_value: Some(text), .. } => {
                let value = self.text_of(text, span);
                out.push_str(&value);
            }
            P::RemoveSmallestSuffixPattern { parameter, indirect: false, pattern: Some(pattern) }
            | P::RemoveLargestSuffixPattern { parameter, indirect: false, pattern: Some(pattern) } => {
                let value = self.lookup(parameter);
                let pattern = self.text_of(pattern, span);
                match value.as_deref().and_then(|value| cut_suffix(value, &pattern)) {
                    Some(value) => push_value(&value, quotes, out),
                    None => out.push(ANY),
                }
            }
            P::ParameterLength { .. } => out.push(STAR),
            P::RemoveSmallestPrefixPattern { parameter, indirect: false, pattern: Some(pattern) }
            | P::RemoveLargestPrefixPattern { parameter, indirect: false, pattern: Some(pattern) } => {
                let value = self.lookup(parameter);
                let largest = matches!(expr, P::RemoveLargestPrefixPattern { .. });
                let pattern = self.text_of(pattern, span);
                match value.as_deref().and_then(|value| cut_prefix(value, &pattern, largest)) {
                    Some(value) => push_value(&value, quotes, out),
                    None => out.push(ANY),
                }
            }
            _ => out.push(ANY),
        }
    }

    fn lookup(&self, parameter: &Parameter) -> Option<String> {
        match parameter {
            Parameter::Named(name) | Parameter::NamedWithIndex { name, .. } => match name.as_str() {
                "PWD" => Some(self.state.cwd.clone()),
                "HOME" => Some(self.context.home.clone()),
                "IFS" if !self.state.vars.contains_key("IFS") => Some(" ".to_owned()),
                "TMPDIR" | "TEMP" | "TMP" if !self.state.vars.contains_key(name) => Some("/tmp".to_owned()),
                "RANDOM" | "SECONDS" | "EPOCHSECONDS" | "LINENO" | "UID" | "USER" => Some(STAR.to_string()),
                _ => self.state.vars.get(name).cloned(),
            },
            Parameter::NamedWithAllIndices { name, .. } => self.state.vars.get(name).cloned(),
            Parameter::Positional(n) => {
                let at = (*n as usize).checked_sub(1)?;
                let args = self.state.positional.as_ref()?;
                Some(args.get(at).cloned().unwrap_or_default())
            }
            Parameter::Special(SpecialParameter::AllPositionalParameters { .. }) => {
                self.state.positional.as_ref().map(|args| args.join(&SPLIT.to_string()))
            }
            Parameter::Special(
                SpecialParameter::PositionalParameterCount
                | SpecialParameter::LastExitStatus
                | SpecialParameter::ProcessId
                | SpecialParameter::LastBackgroundProcessId,
            ) => Some(STAR.to_string()),
            Parameter::Special(_) => None,
        }
    }
}

fn push_value(value: &str, quotes: Quotes, out: &mut String) {
    if quotes == Quotes::Within {
        out.push_str(value);
        return;
    }
    let mut spaces = value.chars().peekable();
    let mut plain = String::new();
    while let Some(c) = spaces.next() {
        if c.is_whitespace() {
            mark_globs(&plain, out);
            plain.clear();
            while spaces.peek().is_some_and(|c| c.is_whitespace()) {
                spaces.next();
            }
            out.push(SPLIT);
        } else {
            plain.push(c);
        }
    }
    mark_globs(&plain, out);
}

fn cut_suffix(value: &str, pattern: &str) -> Option<String> {
    if pattern.contains([STAR, ANY]) {
        let rest = pattern.strip_prefix('/').and_then(|p| p.strip_prefix(STAR)).filter(|p| p.is_empty());
        return rest.and_then(|_| value.rsplit_once('/')).map(|(head, _)| head.to_owned());
    }
    Some(value.strip_suffix(pattern).unwrap_or(value).to_owned())
}

fn cut_prefix(value: &str, pattern: &str, largest: bool) -> Option<String> {
    if pattern.contains([STAR, ANY]) {
        let slash = pattern.strip_prefix(STAR) == Some("/");
        return (slash && largest).then(|| value.rsplit('/').next().unwrap_or(value).to_owned());
    }
    Some(value.strip_prefix(pattern).unwrap_or(value).to_owned())
}

/// `$'…'`.
fn ansi_c(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(next) = chars.next() else {
            out.push('\\');
            return;
        };
        let (radix, most) = match next {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => (8, 3),
            _ => (0, 0),
        };
        if radix == 0 {
            out.push(match next {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\x07',
                'b' => '\x08',
                'e' | 'E' => '\x1b',
                'f' => '\x0c',
                'v' => '\x0b',
                other => other,
            });
            continue;
        }
        let mut code = if radix == 8 { next.to_digit(8).unwrap_or(0) } else { 0 };
        let mut left = if radix == 8 { most - 1 } else { most };
        while left > 0 {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(digit);
            chars.next();
            left -= 1;
        }
        out.push(char::from_u32(code).unwrap_or(ANY));
    }
}

/// `a{b,c}` to `ab` and `ac`.
fn braces(text: &str) -> Vec<String> {
    if !text.contains('{') || !text.contains([',', '.']) {
        return vec![text.to_owned()];
    }
    match brush_parser::word::parse_brace_expansions(text, &parse::options()) {
        Ok(Some(pieces)) => brace_pieces(&pieces),
        _ => vec![text.to_owned()],
    }
}

fn brace_pieces(pieces: &[BraceExpressionOrText]) -> Vec<String> {
    let mut all = vec![String::new()];
    for piece in pieces {
        let options = match piece {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => members.iter().flat_map(brace_member).collect(),
        };
        if all.len() * options.len() > MAX_FIELDS {
            return vec![ANY.to_string()];
        }
        all = all.iter().flat_map(|head| options.iter().map(move |tail| format!("{head}{tail}"))).collect();
    }
    all
}

fn brace_member(member: &BraceExpressionMember) -> Vec<String> {
    match member {
        BraceExpressionMember::NumberSequence { .. } => vec!["*".to_owned()],
        BraceExpressionMember::CharSequence { .. } => vec!["?".to_owned()],
        BraceExpressionMember::Child(pieces) => brace_pieces(pieces),
    }
}
