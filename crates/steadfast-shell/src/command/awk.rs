//! `awk`: files that its program prints into, and commands that it passes to a shell.

use std::collections::HashMap;

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::ANY;
use crate::walk::Walk;

#[derive(Debug, PartialEq)]
enum AwkEffect {
    /// A path, or `None` if it is computed.
    Writes(Option<String>),
    Runs(String),
}

impl Walk {
    pub(crate) fn awk(&mut self, args: &[Arg]) {
        let mut names: HashMap<String, String> = HashMap::new();
        let (mut program, mut in_place) = (None, false);
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.text.as_str();
            let assignment = match text {
                "-v" | "--assign" => rest.next().map(|arg| arg.text.as_str()),
                "-F" => {
                    rest.next();
                    None
                }
                "-i" | "--include" => {
                    in_place |= rest.next().is_some_and(|library| library.text == "inplace");
                    None
                }
                "-f" | "--file" => {
                    let file = rest.next();
                    program = file.and_then(|file| {
                        let text = self.content(&file.text)?;
                        Some(Arg { text, span: file.span.clone() })
                    });
                    if program.is_none() {
                        return;
                    }
                    None
                }
                _ if text.starts_with("-v") => Some(&text[2..]),
                _ if text.starts_with('-') => None,
                _ if program.is_none() => {
                    program = Some(arg.clone());
                    None
                }
                _ => {
                    if in_place {
                        self.effect(Op::Write, arg, "awk");
                    }
                    Some(text)
                }
            };
            if let Some((name, value)) = assignment.and_then(|text| text.split_once('=')) {
                names.insert(name.to_owned(), value.to_owned());
            }
        }
        let Some(program) = program else { return };
        for found in commands(&program.text, &names) {
            match found {
                AwkEffect::Writes(path) => {
                    let text = path.unwrap_or_else(|| ANY.to_string());
                    self.effect(Op::Write, &Arg { text, span: program.span.clone() }, "awk");
                }
                AwkEffect::Runs(text) => {
                    self.script(&text, &program.span);
                }
            }
        }
    }
}

fn commands(program: &str, names: &HashMap<String, String>) -> Vec<AwkEffect> {
    let mut found = Vec::new();
    let mut prints = false;
    let mut open = 0usize;
    let mut chars = program.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let text = string(&program[at..]);
                let length = text.1;
                while chars.next_if(|(next, _)| *next < at + length).is_some() {}
                // The form `"command" | getline`.
                if program[at + length..]
                    .trim_start()
                    .strip_prefix('|')
                    .is_some_and(|t| t.trim_start().starts_with("getline"))
                {
                    found.push(AwkEffect::Runs(text.0));
                }
            }
            '#' => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            ';' | '}' | '\n' => {
                prints = false;
                open = 0;
            }
            c if c.is_alphabetic() || c == '_' => {
                let end =
                    program[at..].find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(program.len() - at);
                while chars.next_if(|(next, _)| *next < at + end).is_some() {}
                match &program[at..at + end] {
                    "print" | "printf" => (prints, open) = (true, 0),
                    "system" => {
                        let rest = program[at + end..].trim_start_matches([' ', '(']);
                        let text = if rest.starts_with('"') { string(rest).0 } else { ANY.to_string() };
                        found.push(AwkEffect::Runs(text));
                    }
                    _ => {}
                }
            }
            '>' | '|' if prints && open == 0 => {
                let rest = program[at + 1..].trim_start_matches(['>', ' ', '(', '&']);
                let target = target(rest, names);
                match c {
                    '>' => found.push(AwkEffect::Writes(target)),
                    _ => found.extend(target.map(AwkEffect::Runs)),
                }
                prints = false;
            }
            _ => {}
        }
    }
    found
}

/// Returns the text of a string, and its length with quotes.
fn string(program: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = program.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => text.extend(chars.next().map(|(_, c)| c)),
            c => text.push(c),
        }
    }
    (text, program.len())
}

/// Returns a string, or the given value of a name. `None`: computed.
fn target(rest: &str, names: &HashMap<String, String>) -> Option<String> {
    let (head, tail) = if rest.starts_with('"') {
        let (text, length) = string(rest);
        (text, &rest[length..])
    } else {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        (names.get(&rest[..end])?.clone(), &rest[end..])
    };
    // Something is appended to it.
    let more = tail.trim_start_matches([' ', ')']);
    if more.is_empty() || more.starts_with([';', '}', '\n', '#', '|']) {
        Some(head)
    } else {
        Some(format!("{head}{ANY}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_into_files_is_found_and_comparisons_are_not() {
        let names = HashMap::from([("f".to_owned(), "x".to_owned())]);
        let found = |program: &str| commands(program, &names);
        let writes = |path: &str| vec![AwkEffect::Writes(Some(path.to_owned()))];
        assert_eq!(found(r#"{print > "a"}"#), writes("a"));
        assert_eq!(found(r#"{ printf "%s>", $1 >> "a"; x = 1 }"#), writes("a"));
        assert_eq!(found("{print $1 > f}"), writes("x"));
        assert_eq!(found("{print > $2}"), vec![AwkEffect::Writes(None)]);
        assert_eq!(found(r#"{print > ("a" ".txt")}"#), writes(&format!("a{ANY}")));
        assert_eq!(found(r#"{print | "sh"}"#), vec![AwkEffect::Runs("sh".to_owned())]);
        assert_eq!(found(r#"BEGIN { system("rm x") }"#), vec![AwkEffect::Runs("rm x".to_owned())]);
        for program in
            ["$1 > 5 {print}", "NR>7 { sum += $9 } END { print sum }", r#"{print ($1 > 2 ? "a" : "b")}"#, "# print > x"]
        {
            assert_eq!(found(program), vec![], "{program}");
        }
    }
}
