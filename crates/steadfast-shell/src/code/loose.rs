//! Code in an unknown language: only the name of a call says what it does.

use std::collections::HashMap;

use super::tokens::Token;
use super::words::{CallEffect, effect_of, is_mode};
use super::{is_path, script_of};
use crate::effect::Op;
use crate::expand::Arg;
use crate::walk::Walk;

/// The maximum distance between a text and the method that is called on it, in tokens.
const RECEIVER: usize = 6;

impl Walk {
    /// Finds written paths by the names of the calls that contain them.
    pub(super) fn loose(&mut self, tokens: &[Token], names: &HashMap<&str, &str>, arg: &Arg, via: &str) {
        let text = |token: &Token| match token {
            Token::Text(text) => Some(text.clone()),
            Token::Name(name) => names.get(name.as_str()).map(|text| (*text).to_owned()),
            Token::Mark(_) => None,
        };
        let mut read: Vec<String> = Vec::new();
        let mut unresolved = false;
        for (at, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else {
                // The form `new File("path").text = …`.
                if let Token::Mark('=') = token
                    && let [.., Token::Text(path), Token::Mark(')'), Token::Mark('.'), Token::Name(_)] = &tokens[..at]
                    && !matches!(tokens.get(at + 1), Some(Token::Mark('=' | '~')))
                {
                    self.found(Op::Write, path, arg, via);
                }
                continue;
            };
            let Some(effect) = effect_at(tokens, at, name) else { continue };
            let inside = extent(tokens, at);
            let mut paths: Vec<String> = inside.iter().filter_map(text).collect();
            match effect {
                CallEffect::Reads => {
                    read.extend(paths);
                    continue;
                }
                CallEffect::Runs => {
                    let words: Vec<&str> = paths.iter().map(String::as_str).collect();
                    if let Some(script) = script_of(&words) {
                        self.script(&script, &arg.span);
                    }
                    continue;
                }
                CallEffect::Prints => {
                    let target = inside.windows(3).find_map(|window| match window {
                        [Token::Name(name), Token::Mark('='), Token::Text(path)] if name == "file" => Some(path),
                        _ => None,
                    });
                    if let Some(path) = target {
                        self.found(Op::Write, path, arg, via);
                    }
                    continue;
                }
                CallEffect::Opens => {
                    let writes = inside.iter().any(|token| match token {
                        Token::Name(word) | Token::Text(word) => is_mode(word),
                        Token::Mark(c) => *c == '>',
                    });
                    if !writes {
                        read.extend(paths);
                        continue;
                    }
                    paths.retain(|path| !is_mode(path));
                }
                CallEffect::Copies => {
                    let target = paths.iter().rposition(|path| is_path(path));
                    paths = match target {
                        Some(at) if at > 0 => vec![paths.swap_remove(at)],
                        _ => Vec::new(),
                    };
                }
                CallEffect::Writes | CallEffect::Moves => paths.extend(receiver(&tokens[..at])),
            }
            unresolved |= paths.is_empty() && effect != CallEffect::Copies;
            for path in paths {
                self.found(if effect == CallEffect::Moves { Op::Move } else { Op::Write }, &path, arg, via);
            }
        }
        if unresolved {
            for path in tokens.iter().filter_map(text).filter(|path| !read.contains(path)) {
                self.guessing(|walk| walk.found(Op::Write, &path, arg, via));
            }
        }
    }

    /// Adds a text that may not be a path. It counts only if such a path is protected.
    fn found(&mut self, op: Op, text: &str, arg: &Arg, via: &str) {
        let target = Arg { text: text.trim_start_matches(['>', ' ']).to_owned(), span: arg.span.clone() };
        if is_path(text) {
            self.effect(op, &target, via);
        } else if !text.is_empty() && text.len() < 300 {
            self.effect(Op::Unknown, &target, via);
        }
    }
}

/// Returns the effect by a name and the words beside it: `set print 'path'` (gnuplot), `(with-temp-file "path" …)`
/// (Emacs).
fn effect_at(tokens: &[Token], at: usize, name: &str) -> Option<CallEffect> {
    let is = |at: Option<usize>, word: &str| matches!(at.and_then(|at| tokens.get(at)), Some(Token::Name(name)) if name == word);
    let writes = match name {
        "print" | "table" | "log" => is(at.checked_sub(1), "set"),
        "temp" => is(at.checked_sub(2), "with") && is(Some(at + 2), "file"),
        _ => false,
    };
    if writes { Some(CallEffect::Writes) } else { effect_of(name) }
}

/// Returns the tokens of the call: its parentheses, or the rest of the statement.
fn extent(tokens: &[Token], at: usize) -> &[Token] {
    let rest = &tokens[at + 1..];
    let is_call = matches!(rest.first(), Some(Token::Mark('(')));
    let mut depth = 0;
    for (n, token) in rest.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => {
                depth -= 1;
                if depth < 0 || (is_call && depth == 0) {
                    return &rest[..n];
                }
            }
            Token::Mark(';' | '\n') if depth == 0 => return &rest[..n],
            _ => {}
        }
    }
    rest
}

/// Returns the text that a method is called on: `"path".IO.unlink`.
fn receiver(before: &[Token]) -> Option<String> {
    if !matches!(before.last(), Some(Token::Mark('.' | ':' | '>'))) {
        return None;
    }
    for token in before.iter().rev().take(RECEIVER) {
        match token {
            Token::Text(text) => return Some(text.clone()),
            Token::Mark(';' | ',' | '\n' | '{' | '=') => return None,
            _ => {}
        }
    }
    None
}
