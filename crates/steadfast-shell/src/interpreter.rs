//! Interpreters: where their code comes from, and how it is read.

use std::sync::OnceLock;

use crate::code::Family;
use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{is_known, resolve};
use crate::walk::Walk;

/// A line of `interpreters.txt`.
#[derive(Debug)]
pub(crate) struct Interpreter {
    names: Vec<&'static str>,
    /// Options whose value is code, and words before it.
    options: Vec<&'static str>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Code(Family),
    /// Commands, one a line.
    Lines,
    /// A shell that is not bash.
    Shell,
}

/// A piece of code, and where the arguments behind it begin.
struct Piece {
    code: Arg,
    rest: usize,
}

impl Walk {
    pub(crate) fn interpreter(&mut self, name: &str, first: &Arg, args: &[Arg], stdin: Option<&str>) {
        let Some(interpreter) = interpreter(name) else { return };
        if let Some(option) = args.iter().find(|arg| is_in_place(&arg.text)).filter(|_| interpreter.edits()) {
            let suffix = option.text.split_once('.').map_or(String::new(), |(_, suffix)| format!(".{suffix}"));
            let code = interpreter.pieces(args).last().map_or(0, |piece| piece.rest);
            for arg in args.iter().skip(code).filter(|arg| !arg.text.starts_with('-') && !arg.text.is_empty()) {
                self.edited(arg, &suffix, name);
            }
        }
        let mut pieces = interpreter.pieces(args);
        if interpreter.kind == Kind::Lines {
            return self.lines(name, args, pieces.into_iter().map(|piece| piece.code).collect(), stdin);
        }
        if !pieces.is_empty() {
            let rest = pieces.iter().map(|piece| piece.rest).max().unwrap_or_default().min(args.len());
            for piece in pieces.drain(..) {
                self.code_with(name, &piece.code, &args[rest..]);
            }
            return;
        }
        match args.iter().find(|arg| !arg.text.starts_with('-') || arg.text == "-") {
            Some(file) if !matches!(file.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0") => {
                if let Some(code) = self.content(&file.text) {
                    self.code_of(name, &code, file, &[]);
                }
            }
            _ => {
                if let Some(code) = stdin {
                    self.code_of(name, code, first, &[]);
                }
            }
        }
    }

    /// Code in the language of the interpreter.
    pub(crate) fn code_of(&mut self, name: &str, code: &str, arg: &Arg, args: &[&str]) {
        match interpreter(name).map(|interpreter| interpreter.kind) {
            Some(Kind::Code(family)) => self.code(code, arg, args, name, family),
            Some(Kind::Shell) => self.foreign_shell(code, arg, name),
            Some(Kind::Lines) => self.command_lines(code, arg, name),
            None => self.code(code, arg, args, name, Family::Words),
        }
    }

    /// Code whose arguments may be the paths it writes.
    fn code_with(&mut self, name: &str, code: &Arg, args: &[Arg]) {
        let before = self.effects.len();
        let given: Vec<&str> = args.iter().filter(|arg| arg.text != "--").map(|arg| arg.text.as_str()).collect();
        self.code_of(name, &code.text, code, &given);
        if self.effects[before..].iter().any(|effect| effect.op == Op::Unknown && effect.path.is_none()) {
            for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
                let path = resolve(&arg.text, &self.state.cwd);
                self.possible(Op::Write, &path, name, &arg.span);
            }
        }
    }
}

impl Interpreter {
    /// Whether `-i` edits files in place.
    fn edits(&self) -> bool {
        self.kind == Kind::Code(Family::Bare)
    }

    fn pieces(&self, args: &[Arg]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let Some(code) = self.code_in(&arg.text) else { continue };
            match code {
                "" => {
                    if let Some(code) = args.get(at) {
                        at += 1;
                        pieces.push(Piece { code: code.clone(), rest: at });
                    }
                }
                code => {
                    let code = Arg { text: code.to_owned(), span: arg.span.clone() };
                    pieces.push(Piece { code, rest: at });
                }
            }
        }
        pieces
    }

    /// The code that is attached to an option; nothing where it is the next argument.
    fn code_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        if self.options.contains(&text) {
            return Some("");
        }
        let letters = text.strip_prefix('-')?;
        if letters.starts_with('-') {
            let (option, code) = text.split_once('=')?;
            return self.options.contains(&option).then_some(code);
        }
        // `-lane`, `-Ic'…'`: letters without a value, then the one that has the code.
        let is_free = |c: char| c.is_ascii_digit() || "lnpwsIBqOuvxatWTXSdif".contains(c);
        let letter = letters.find(|c: char| !is_free(c) || self.options.iter().any(|option| is_letter(option, c)))?;
        let c = letters[letter..].chars().next()?;
        let is_code = self.options.iter().any(|option| is_letter(option, c));
        is_code.then(|| &letters[letter + c.len_utf8()..])
    }
}

fn is_letter(option: &str, letter: char) -> bool {
    option.strip_prefix('-').is_some_and(|rest| rest.chars().eq([letter]))
}

/// `-i`, `-pi`, `-i.bak` of Perl and Ruby.
fn is_in_place(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with(['-', 'e', 'I', 'm', 'M', 'W'])
            && letters.split('.').next().is_some_and(|l| l.len() <= 5 && l.contains('i'))
    })
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    interpreter(name).is_some()
}

/// The interpreter of that name; digits at its end are a version.
pub(crate) fn interpreter(name: &str) -> Option<&'static Interpreter> {
    type Index = Vec<(&'static str, usize)>;
    static TABLE: OnceLock<(Vec<Interpreter>, Index)> = OnceLock::new();
    if !is_known(name) {
        return None;
    }
    let (table, index) = TABLE.get_or_init(|| {
        let lines = include_str!("interpreters.txt").lines().filter(|line| !line.starts_with('#'));
        let table: Vec<Interpreter> = lines.filter_map(read).collect();
        let names = table.iter().enumerate().flat_map(|(at, found)| found.names.iter().map(move |name| (*name, at)));
        let mut index: Vec<_> = names.collect();
        index.sort_unstable();
        (table, index)
    });
    let find = |name: &str| index.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| &table[index[at].1]);
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    find(name).or_else(|| find(base).filter(|_| base.len() < name.len()))
}

fn read(line: &'static str) -> Option<Interpreter> {
    let mut columns = line.split(" | ");
    let names = columns.next()?.split(' ').collect();
    let options = columns.next()?.split(' ').collect();
    let kind = match columns.next()? {
        "script" => Kind::Code(Family::Script),
        "bare" => Kind::Code(Family::Bare),
        "words" => Kind::Code(Family::Words),
        "lines" => Kind::Lines,
        "shell" => Kind::Shell,
        _ => return None,
    };
    Some(Interpreter { names, options, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        let lines = include_str!("interpreters.txt").lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(read(line).is_some(), "{line}");
        }
    }

    #[test]
    fn code_is_found_behind_its_option_or_in_it() {
        let code = |name: &str, text: &'static str| interpreter(name).and_then(|found| found.code_in(text));
        for (name, text, expected) in [
            ("perl5.38", "-e", Some("")),
            ("perl", "-lane", Some("")),
            ("perl", "-Mstrict", None),
            ("python3.12", "-Icprint(1)", Some("print(1)")),
            ("python3", "-m", None),
            ("node", "--eval=1", Some("1")),
            ("ruby", "-rjson", None),
            ("lua5.4", "-e", Some("")),
            ("deno", "eval", Some("")),
            ("php8.3", "-recho", Some("echo")),
        ] {
            assert_eq!(code(name, text), expected, "{name} {text}");
        }
    }
}
