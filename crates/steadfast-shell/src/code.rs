//! Code given to an interpreter: a writing call with a path in a string is a write. It is split into tokens without a
//! grammar, so one reader serves Python, JavaScript, Ruby and Perl, and a looser one (`loose`) all others.

mod loose;
mod tokens;
mod words;

use std::collections::HashMap;

use self::tokens::{Given, Token, tokens};
use self::words::{CallEffect, TEXT, effect_of};
use crate::effect::Op;
use crate::expand::Arg;
use crate::table::data::{has, words_of};
use crate::text::{ANY, resolve};
use crate::walk::{NO_STDIN, Walk};

/// The way in which code is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Calls need parentheses.
    Script,
    /// Calls may omit parentheses.
    Bare,
    /// Unknown language: only the name says what a call does.
    Words,
}

/// Calls that change their first argument.
static FIRST: &[&str] = words_of!(TEXT, "first");
/// Calls that write their second argument.
static SECOND: &[&str] = words_of!(TEXT, "second");
/// Calls that remove their first argument and write their second or only one.
const MOVES: &[&str] = &["move", "rename", "replace", "renameSync", "renames", "mv"];
/// Methods that change the object that they are called on.
const METHODS: &[&str] =
    &["write_text", "write_bytes", "unlink", "touch", "mkdir", "rmdir", "rename", "chmod", "symlink_to", "hardlink_to"];
static SHELLS: &[&str] = words_of!(TEXT, "runs");

impl Walk {
    /// Finds writing calls in `code`, which `arg` passes to `via`.
    pub(crate) fn code(&mut self, code: &str, arg: &Arg, args: &[&str], via: &str, family: Family) {
        if !self.enter() {
            return;
        }
        self.calls(code, arg, args, via, family);
        self.leave();
    }

    fn calls(&mut self, code: &str, arg: &Arg, args_given: &[&str], via: &str, family: Family) {
        let bare = family == Family::Bare;
        let home = self.context.home.clone();
        let tokens = tokens(code, Given { home: &home, args: args_given, bare });
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut collections: Vec<&str> = Vec::new();
        for window in tokens.windows(5) {
            if let [Token::Name(name), Token::Mark('='), Token::Text(text), ..]
            | [Token::Name(name), Token::Mark('<'), Token::Mark('-'), Token::Text(text), ..] = window
            {
                names.insert(name, text);
            }
            // The result of a call that reads a file is not the file.
            if let [Token::Name(name), Token::Mark('='), Token::Name(call), Token::Mark('('), Token::Text(text)] =
                window
                && !matches!(effect_of(call), Some(CallEffect::Reads | CallEffect::Opens))
            {
                names.insert(name, text);
            }
            if let [Token::Name(name), Token::Mark('='), Token::Mark('[' | '{'), ..] = window {
                collections.push(name);
            }
        }
        if family == Family::Words {
            return self.loose(&tokens, &names, arg, via);
        }
        let mut unresolved = false;
        let mut read: Vec<String> = Vec::new();
        if bare {
            for text in code.split('`').skip(1).step_by(2) {
                self.script(text, &arg.span);
            }
        }
        for (at, token) in tokens.iter().enumerate() {
            let args = match (token, tokens.get(at + 1)) {
                (Token::Name(_), Some(Token::Mark('('))) => arguments(&tokens, at + 1),
                // Perl and Ruby call without parentheses.
                (Token::Name(_), Some(Token::Text(_) | Token::Name(_))) if bare => bare_arguments(&tokens[at + 1..]),
                _ => continue,
            };
            let Token::Name(name) = token else { continue };
            let text = |n: usize| args.get(n).and_then(|arg| literal(arg, &names));
            let mut hits: Vec<(Op, Option<String>)> = Vec::new();
            match name.as_str() {
                "open" | "fopen" | "openSync" => {
                    let mode = args.iter().enumerate().skip(1).find_map(|(n, arg)| match arg.last() {
                        Some(Token::Text(mode)) if is_mode(mode) => Some((n, mode.as_str())),
                        _ => None,
                    });
                    match mode {
                        // Perl: the mode, then the path.
                        Some((n, mode)) if mode.starts_with(['>', '+']) => hits.push((Op::Write, text(n + 1))),
                        // Perl: the mode before the path, in one string.
                        None if text(1).is_some_and(|path| path.starts_with('>')) => {
                            hits.push((Op::Write, text(1).map(|path| path.trim_start_matches(['>', ' ']).to_owned())));
                        }
                        Some((n, _)) if n > 0 => {
                            hits.push((Op::Write, text(0).or_else(|| receiver(&tokens, at, &names))));
                        }
                        // The form `os.open(path, os.O_WRONLY)`.
                        _ if args.iter().skip(1).flatten().any(is_flag) => hits.push((Op::Write, text(0))),
                        _ => {
                            read.extend(text(0));
                            if let Some(Token::Text(mode)) = args.first().and_then(|arg| arg.last())
                                && is_mode(mode)
                                && let Some(path) = receiver(&tokens, at, &names)
                            {
                                hits.push((Op::Write, Some(path)));
                            }
                        }
                    }
                }
                "exec" | "eval" if args.first().is_some_and(|arg| arg.len() > 1) => {
                    let inner = args.iter().flatten().filter_map(|t| match t {
                        Token::Text(text) => Some(text.clone()),
                        _ => None,
                    });
                    hits.extend(inner.filter(|text| is_path(text)).map(|text| (Op::Exec, Some(text))));
                }
                "exec" | "eval" => {
                    if let Some(inner) = text(0).filter(|inner| inner.len() < code.len()) {
                        self.code(&inner, arg, args_given, via, family);
                    }
                }
                name if MOVES.contains(&name) => match args.len() {
                    1 => hits.extend([(Op::Write, text(0)), (Op::Move, receiver(&tokens, at, &names))]),
                    2 if name != "replace" || on_module(&tokens, at) => {
                        hits.extend([(Op::Move, text(0)), (Op::Write, text(1))]);
                    }
                    _ => {}
                },
                name if has(SECOND, name) && args.len() >= 2 => hits.push((Op::Write, text(1))),
                name if METHODS.contains(&name) && receiver(&tokens, at, &names).is_some() => {
                    hits.push((Op::Write, receiver(&tokens, at, &names)));
                }
                "write" | "binwrite" | "delete" if on_files(&tokens, at) => hits.push((Op::Write, text(0))),
                "write_text" | "write_bytes" => hits.push((Op::Write, None)),
                // The form `list.remove(…)`.
                "remove" | "unlink" if on_any(&tokens, at, &collections) => {}
                name if has(FIRST, name) && !args.is_empty() => hits.push((Op::Write, text(0))),
                name if has(SHELLS, name) => {
                    let mut words = texts(args.first().into_iter().flatten());
                    // The arguments are in a list of their own, or separate.
                    if words.len() == 1 {
                        let rest = args[1..]
                            .iter()
                            .take_while(|arg| matches!(arg.as_slice(), [Token::Text(_)] | [Token::Mark('['), ..]));
                        words.extend(texts(rest.flatten()));
                    }
                    // `execvp('rm', ['rm', …])`: the name occurs twice.
                    if name.starts_with("exec") && words.len() > 1 && words[0] == words[1] {
                        words.remove(0);
                    }
                    match words.as_slice() {
                        [] => {}
                        [one] => {
                            self.script(one, &arg.span);
                        }
                        many => {
                            let args: Vec<Arg> = many
                                .iter()
                                .map(|text| Arg { text: (*text).to_owned(), span: arg.span.clone() })
                                .collect();
                            self.run(&args, NO_STDIN);
                        }
                    }
                }
                name if is_compound(name) && effect_of(name) == Some(CallEffect::Writes) => {
                    hits.extend(text(0).filter(|path| is_path(path)).map(|path| (Op::Write, Some(path))));
                }
                name if effect_of(name) == Some(CallEffect::Reads) => {
                    read.extend((0..args.len()).filter_map(text));
                    read.extend(receiver(&tokens, at, &names));
                }
                _ => {}
            }
            for (op, path) in hits {
                match path {
                    Some(path) => self.effect(op, &Arg { text: path, span: arg.span.clone() }, via),
                    None => unresolved = true,
                }
            }
        }
        if unresolved {
            self.push(Op::Unknown, &ANY.to_string(), via, &arg.span);
            for token in &tokens {
                if let Token::Text(text) = token
                    && is_path(text)
                    && !read.contains(text)
                {
                    let path = resolve(text, &self.state.cwd);
                    self.possible(Op::Write, &path, via, &arg.span);
                    self.push(Op::Unknown, &path, via, &arg.span);
                }
            }
        }
    }
}

fn is_mode(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 3
        && text.contains(['w', 'a', 'x', '+', '>'])
        && text.bytes().all(|b| b"rwaxbt+>".contains(&b))
}

/// Recognises names that only calls on files have: of two words, or a known one.
fn is_compound(name: &str) -> bool {
    name.contains('_') || name.bytes().skip(1).any(|b| b.is_ascii_uppercase()) || matches!(name, "savetxt" | "savefig")
}

fn is_flag(token: &Token) -> bool {
    matches!(token, Token::Name(name) if name.starts_with("O_") && words::is_mode(name))
}

/// Reports whether it is a method of one of the names.
fn on_any(tokens: &[Token], at: usize, names: &[&str]) -> bool {
    matches!(tokens.get(..at), Some([.., Token::Name(name), Token::Mark('.')]) if names.contains(&name.as_str()))
}

/// Returns the text for a shell: a single text, or words quoted for it.
fn script_of(words: &[&str]) -> Option<String> {
    match words {
        [] => None,
        [one] => Some((*one).to_owned()),
        many => Some(many.iter().map(|word| format!("'{}' ", word.replace('\'', "'\\''"))).collect()),
    }
}

fn is_path(text: &str) -> bool {
    text.len() < 300 && text.contains(['.', '/']) && !text.contains(char::is_whitespace)
}

fn literal(arg: &[Token], names: &HashMap<&str, &str>) -> Option<String> {
    match arg {
        [Token::Text(text)] | [Token::Name(_), Token::Mark('('), Token::Text(text), Token::Mark(')')] => {
            Some(text.clone())
        }
        [Token::Name(name)] => names.get(name.as_str()).map(|text| (*text).to_owned()),
        [Token::Name(_), Token::Mark('='), Token::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// Returns the object of a method call: `Path('x').…`, or a name with a known value.
fn receiver(tokens: &[Token], at: usize, names: &HashMap<&str, &str>) -> Option<String> {
    match tokens.get(..at)? {
        [.., Token::Mark('('), Token::Text(text), Token::Mark(')'), Token::Mark('.')] => Some(text.clone()),
        [.., Token::Name(name), Token::Mark('.')] => names.get(name.as_str()).map(|text| (*text).to_owned()),
        _ => None,
    }
}

/// Recognises `File.write` and similar.
fn on_files(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(..at), Some([.., Token::Name(name), Token::Mark('.')]) if matches!(name.as_str(), "File" | "IO" | "Bun"))
}

fn on_module(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(..at), Some([.., Token::Name(name), Token::Mark('.')]) if name.len() <= 2)
}

fn texts<'a>(tokens: impl Iterator<Item = &'a Token>) -> Vec<&'a str> {
    tokens
        .filter_map(|token| match token {
            Token::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// Returns the arguments up to the end of the statement.
fn bare_arguments(tokens: &[Token]) -> Vec<Vec<Token>> {
    let end = tokens.iter().position(|token| matches!(token, Token::Mark(';' | '}'))).unwrap_or(tokens.len());
    let args = tokens[..end].split(|token| *token == Token::Mark(','));
    args.map(<[Token]>::to_vec).filter(|arg| !arg.is_empty()).take(8).collect()
}

fn arguments(tokens: &[Token], open: usize) -> Vec<Vec<Token>> {
    let (mut args, mut depth) = (vec![Vec::new()], 0);
    for token in &tokens[open..] {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        match token {
            Token::Mark(',') if depth == 1 => args.push(Vec::new()),
            Token::Mark('(') if depth == 1 && args.len() == 1 && args[0].is_empty() => {}
            token => args.last_mut().into_iter().for_each(|arg| arg.push(token.clone())),
        }
    }
    args.retain(|arg| !arg.is_empty());
    args
}
