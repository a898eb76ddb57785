//! The table of commands: what each command's arguments mean.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::effect::Op;
use crate::expand::Arg;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    Last,
    /// All but the last.
    Rest,
    /// All but the first.
    Tail,
}

#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) operands: Vec<(Op, Which)>,
    out: Vec<&'static str>,
    into: Vec<&'static str>,
    val: Vec<&'static str>,
    pub(crate) key: Option<&'static str>,
    /// So many operands, then a command of its own.
    pub(crate) exec: Option<usize>,
    #[cfg(test)]
    examples: [&'static str; 2],
}

/// The arguments of a command, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted<'a> {
    pub(crate) operands: Vec<&'a Arg>,
    pub(crate) out: Vec<Arg>,
    pub(crate) into: Vec<Arg>,
    /// Where the wrapped command begins.
    pub(crate) command: Option<usize>,
}

pub(crate) fn row(name: &str) -> Option<&'static Row> {
    rows().get(name)
}

fn rows() -> &'static HashMap<&'static str, Row> {
    static ROWS: OnceLock<HashMap<&'static str, Row>> = OnceLock::new();
    ROWS.get_or_init(|| include_str!("commands.txt").lines().filter_map(read).collect())
}

fn read(line: &'static str) -> Option<(&'static str, Row)> {
    if line.starts_with('#') {
        return None;
    }
    let mut columns = line.split(" | ");
    let (name, arguments) = (columns.next()?, columns.next()?);
    let mut row = Row::default();
    for word in arguments.split_whitespace() {
        let (key, value) = word.split_once(':').unwrap_or((word, ""));
        let options = || value.split(',').collect();
        let which = match value {
            "last" => Which::Last,
            "rest" => Which::Rest,
            "tail" => Which::Tail,
            _ => Which::All,
        };
        match key {
            "write" => row.operands.push((Op::Write, which)),
            "delete" => row.operands.push((Op::Delete, which)),
            "move" => row.operands.push((Op::Move, which)),
            "chmod" => row.operands.push((Op::Chmod, which)),
            "out" => row.out = options(),
            "into" => row.into = options(),
            "val" => row.val = options(),
            "key" => row.key = Some(value),
            "exec" => row.exec = Some(value.parse().unwrap_or(0)),
            _ => return None,
        }
    }
    #[cfg(test)]
    {
        row.examples = [columns.next()?, columns.next()?];
    }
    Some((name, row))
}

impl Row {
    pub(crate) fn sort<'a>(&self, args: &'a [Arg]) -> Sorted<'a> {
        let mut sorted = Sorted::default();
        let mut options = true;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let text = arg.text.as_str();
            at += 1;
            if options && text == "--" {
                options = false;
            } else if options && text.len() > 1 && text.starts_with('-') {
                for (list, found) in [(&self.out, 0), (&self.into, 1), (&self.val, 2)] {
                    let Some(value) = value_of(text, list) else { continue };
                    let value = match value {
                        Some(value) => Some(Arg { text: value.to_owned(), span: arg.span.clone() }),
                        None => {
                            at += 1;
                            args.get(at - 1).cloned()
                        }
                    };
                    match found {
                        0 => sorted.out.extend(value),
                        1 => sorted.into.extend(value),
                        _ => {}
                    }
                    break;
                }
            } else if self.exec.is_some_and(|before| sorted.operands.len() >= before) && !text.contains('=') {
                sorted.command = Some(at - 1);
                return sorted;
            } else {
                sorted.operands.push(arg);
            }
        }
        sorted
    }
}

/// Whether the argument is one of the options, with its value when it is attached.
fn value_of<'a>(text: &'a str, options: &[&str]) -> Option<Option<&'a str>> {
    options.iter().find_map(|option| {
        if text == *option {
            return Some(None);
        }
        let rest = text.strip_prefix(option);
        if option.starts_with("--") {
            return rest.and_then(|rest| rest.strip_prefix('=')).map(Some);
        }
        if let Some(rest) = rest {
            return Some(Some(rest));
        }
        // `-sSo path`: the letter ends a bundle.
        let letter = option.strip_prefix('-')?;
        let bundle =
            text.strip_prefix('-').filter(|b| !b.starts_with('-') && b.bytes().all(|b| b.is_ascii_alphabetic()));
        bundle.filter(|bundle| bundle.len() < 6 && bundle.ends_with(letter)).map(|_| None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Decision, effects, judge};

    #[test]
    fn every_line_is_read_and_its_examples_hold() {
        let lines = include_str!("commands.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(rows().len(), lines);
        let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
        let protected = ["protected/file.txt".to_owned()];
        for (name, row) in rows() {
            for (example, expected) in row.examples.iter().zip([Decision::Deny, Decision::Allow]) {
                if *example == "-" || *example == "builtin echo" {
                    continue;
                }
                let command = example.replace('P', "protected/file.txt");
                let command = command.replace("-protected/file.txt", "-P");
                assert_eq!(judge(&effects(&command, &context), &protected).decision, expected, "{name}: {command}");
            }
        }
    }
}
