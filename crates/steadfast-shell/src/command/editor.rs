//! Editors with commands in their arguments: `vim -c`, `ex`, `ed`.

use crate::effect::Op;
use crate::expand::Arg;
use crate::walk::Walk;

impl Walk {
    /// Reads commands in the arguments and on stdin. The table describes the files that are opened.
    pub(crate) fn editor(&mut self, name: &str, args: &[Arg], stdin: Option<&str>) {
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.as_str() {
                "-c" | "--cmd" | "-S" => {
                    if let Some(code) = rest.next() {
                        self.ex(&code.text, code, name);
                    }
                }
                text => {
                    let code =
                        text.strip_prefix('+').or_else(|| text.strip_prefix("-c")).filter(|code| !code.is_empty());
                    if let Some(code) = code {
                        self.ex(code, arg, name);
                    }
                }
            }
        }
        if let (Some(text), Some(first)) = (stdin, args.first()) {
            self.ex(text, first, name);
        }
    }

    /// Reads commands of `ex` and `ed`, one per line or separated by bars.
    fn ex(&mut self, text: &str, arg: &Arg, via: &str) {
        for command in text.split(['\n', '|']) {
            let command = command.trim_start_matches([':', ' ', '\t']);
            // Skip a range: `%`, `1,$`, `'<,'>`, `g/…/`.
            let command = command.trim_start_matches(|c: char| c.is_ascii_digit() || "%,.$'<>+-".contains(c));
            let command = command.strip_prefix("silent").map_or(command, |rest| rest.trim_start_matches(['!', ' ']));
            if let Some(shell) = command.strip_prefix('!') {
                self.script(shell, &arg.span);
                continue;
            }
            let end = command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len());
            let (verb, rest) = command.split_at(end);
            if !is_write(verb) {
                continue;
            }
            let rest = rest.trim_start_matches(['!', '>']).trim();
            if let Some(shell) = rest.strip_prefix('!').filter(|_| verb.starts_with('w')) {
                self.script(shell, &arg.span);
            } else if let Some(path) = rest.split_whitespace().find(|word| !word.starts_with("++")) {
                self.effect(Op::Write, &Arg { text: path.to_owned(), span: arg.span.clone() }, via);
            }
        }
    }
}

/// Commands that write, each with the length of its shortest abbreviation.
const WRITES: &[(&str, usize)] = &[
    ("write", 1),
    ("wq", 2),
    ("wall", 2),
    ("xit", 1),
    ("exit", 3),
    ("saveas", 3),
    ("update", 2),
    ("mksession", 3),
    ("redir", 4),
];

fn is_write(verb: &str) -> bool {
    WRITES.iter().any(|(full, shortest)| full.starts_with(verb) && verb.len() >= *shortest)
}
