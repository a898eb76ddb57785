//! Interpreters: the source of their code, and how it is read.

use std::sync::OnceLock;

use crate::code::Family;
use crate::effect::Op;
use crate::expand::Arg;
use crate::table::data::{before_bar, count_lines, count_words, cut, is_less, lines};
use crate::text::{is_known, resolve};
use crate::walk::Walk;

/// A line of `interpreters.txt`.
#[derive(Debug)]
pub(crate) struct Interpreter {
    /// Options with code as value, and words before code.
    options: Vec<&'static str>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Code(Family),
    /// Commands, one per line.
    Lines,
    /// A shell other than bash.
    Shell,
}

/// A piece of code, and the start of the arguments after it.
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

    /// Reads code in the language of the interpreter.
    pub(crate) fn code_of(&mut self, name: &str, code: &str, arg: &Arg, args: &[&str]) {
        match interpreter(name).map(|interpreter| interpreter.kind) {
            Some(Kind::Code(Family::Words)) if is_tcl(name) => self.tcl(code, arg, name),
            Some(Kind::Code(family)) => self.code(code, arg, args, name, family),
            Some(Kind::Shell) => self.foreign_shell(code, arg, name),
            Some(Kind::Lines) => self.command_lines(code, arg, name),
            None => self.code(code, arg, args, name, Family::Words),
        }
    }

    /// Reads code whose arguments may be paths that it writes.
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
    /// Reports whether `-i` edits files in place.
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

    /// Returns the code attached to an option; an empty text if it is the next argument.
    fn code_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        if self.options.contains(&text) {
            return Some("");
        }
        let letters = text.strip_prefix('-')?;
        if letters.starts_with('-') {
            let (option, code) = text.split_once('=')?;
            return self.options.contains(&option).then_some(code);
        }
        // `-lane`, `-Ic'…'`: letters without a value, then the letter with the code.
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

fn is_tcl(name: &str) -> bool {
    ["tclsh", "wish", "expect", "jimsh", "tclkit"].iter().any(|tcl| name.starts_with(tcl))
}

/// Recognises `-i`, `-pi`, `-i.bak` of Perl and Ruby.
fn is_in_place(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with(['-', 'e', 'I', 'm', 'M', 'W'])
            && letters.split('.').next().is_some_and(|l| l.len() <= 5 && l.contains('i'))
    })
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    interpreter(name).is_some()
}

const TEXT: &str = include_str!("interpreters.txt");
const COUNT: usize = count_lines(TEXT);
const LINES: [&str; COUNT] = lines(TEXT);
const NAMES: usize = {
    let (mut at, mut count) = (0, 0);
    while at < COUNT {
        count += count_words(before_bar(LINES[at]));
        at += 1;
    }
    count
};
/// Every name with the number of its line, sorted.
static INDEX: [(&str, usize); NAMES] = {
    let mut index = [("", 0); NAMES];
    let (mut line, mut count) = (0, 0);
    while line < COUNT {
        let names = before_bar(LINES[line]);
        let (mut from, mut at) = (0, 0);
        while at <= names.len() {
            if at == names.len() || names.as_bytes()[at] == b' ' {
                let name = cut(names, from, at);
                let mut place = count;
                while place > 0 && is_less(name, index[place - 1].0) {
                    index[place] = index[place - 1];
                    place -= 1;
                }
                index[place] = (name, line);
                count += 1;
                from = at + 1;
            }
            at += 1;
        }
        line += 1;
    }
    index
};

/// Returns the interpreter with this name; digits at the end are a version.
pub(crate) fn interpreter(name: &str) -> Option<&'static Interpreter> {
    static READ: [OnceLock<Option<Interpreter>>; COUNT] = [const { OnceLock::new() }; COUNT];
    if !is_known(name) {
        return None;
    }
    let find = |name: &str| INDEX.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| INDEX[at].1);
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let at = find(name).or_else(|| find(base).filter(|_| base.len() < name.len()))?;
    READ[at].get_or_init(|| read(LINES[at])).as_ref()
}

fn read(line: &'static str) -> Option<Interpreter> {
    let mut columns = line.split(" | ").skip(1);
    let options = columns.next()?.split(' ').collect();
    let kind = match columns.next()? {
        "script" => Kind::Code(Family::Script),
        "bare" => Kind::Code(Family::Bare),
        "words" => Kind::Code(Family::Words),
        "lines" => Kind::Lines,
        "shell" => Kind::Shell,
        _ => return None,
    };
    Some(Interpreter { options, kind })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        for line in LINES {
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
