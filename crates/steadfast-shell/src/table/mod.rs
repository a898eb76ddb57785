//! The table of commands: the meaning of each command's arguments.

mod applied;
pub(crate) mod data;

use std::sync::OnceLock;

use crate::effect::Op;
use crate::expand::Arg;
use crate::table::data::{before_bar, behind_bar, count_lines, is_less, lines};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    First,
    Last,
    /// All except the last.
    Rest,
    /// All except the first.
    Tail,
}

#[derive(Debug, Default)]
pub(crate) struct Row {
    operands: Vec<(Op, Which)>,
    out: Vec<&'static str>,
    into: Vec<&'static str>,
    val: Vec<&'static str>,
    /// Options whose value a shell reads.
    shell: Vec<&'static str>,
    /// If not empty, the row applies only with one of these options.
    with: Vec<&'static str>,
    /// With one of these, every operand is written.
    all: Vec<&'static str>,
    /// The row does not apply with one of these.
    without: Vec<&'static str>,
    pub(crate) key: Option<&'static str>,
    /// The ending of a file beside the operand that is written: added or removed.
    pub(crate) beside: Option<&'static str>,
    /// The number of operands before a wrapped command.
    exec: Option<usize>,
    /// All operands together are one text for a shell.
    text: bool,
}

/// The arguments of a command, sorted by meaning.
#[derive(Debug, Default)]
pub(crate) struct Sorted<'a> {
    pub(crate) operands: Vec<&'a Arg>,
    pub(crate) out: Vec<Arg>,
    pub(crate) into: Vec<Arg>,
    pub(crate) shell: Vec<Arg>,
    /// The start of the wrapped command.
    pub(crate) command: Option<usize>,
    pub(crate) recursive: bool,
    pub(crate) symbolic: bool,
}

/// The names of commands and the rest of their lines, sorted.
static LINES: [(&str, &str); COUNT] = sorted();
/// Their rows, read on demand: a hook lives for one command line.
static ROWS: [OnceLock<Option<Row>>; COUNT] = [const { OnceLock::new() }; COUNT];

const TEXT: &str = include_str!("commands.txt");
const COUNT: usize = count_lines(TEXT);

const fn sorted() -> [(&'static str, &'static str); COUNT] {
    let lines = lines::<COUNT>(TEXT);
    let mut sorted = [("", ""); COUNT];
    let mut at = 0;
    while at < COUNT {
        let (name, rest) = (before_bar(lines[at]), behind_bar(lines[at]));
        let mut place = at;
        while place > 0 && is_less(name, sorted[place - 1].0) {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = (name, rest);
        at += 1;
    }
    sorted
}

/// Returns the row of a command and the arguments after its name, which may be two words: `uv run`.
pub(crate) fn row_of<'a>(name: &str, args: &'a [Arg]) -> Option<(&'static Row, &'a [Arg])> {
    if is_first_of_two(name)
        && let Some(at) = args.iter().position(|arg| !arg.text.starts_with('-'))
        && let Some(row) = row(&format!("{name} {}", args[at].text))
    {
        return Some((row, &args[at + 1..]));
    }
    row(name).map(|row| (row, args))
}

/// Reports whether the table has the command, alone or with a second word.
pub(crate) fn row_of_name(name: &str) -> bool {
    is_first_of_two(name) || row(name).is_some()
}

/// Reports whether the command runs another one.
pub(crate) fn wraps(name: &str) -> bool {
    is_first_of_two(name) || row(name).is_some_and(|row| row.exec.is_some())
}

fn row(name: &str) -> Option<&'static Row> {
    let at = LINES.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    ROWS[at].get_or_init(|| read(LINES[at].1.split(" | ").next()?)).as_ref()
}

/// Reports whether a name of two words begins with this one.
fn is_first_of_two(name: &str) -> bool {
    let at = LINES.partition_point(|(known, _)| known.bytes().lt(name.bytes().chain([b' '])));
    LINES.get(at).and_then(|(known, _)| known.strip_prefix(name)).is_some_and(|rest| rest.starts_with(' '))
}

fn read(arguments: &'static str) -> Option<Row> {
    let mut row = Row::default();
    for word in arguments.split_whitespace() {
        let (key, value) = word.split_once(':').unwrap_or((word, ""));
        let options = || value.split(',').collect();
        let which = match value {
            "last" => Which::Last,
            "rest" => Which::Rest,
            "tail" => Which::Tail,
            "first" => Which::First,
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
            "shell" if value.is_empty() => row.text = true,
            "shell" => row.shell = options(),
            "if" => row.with = options(),
            "unless" => row.without = options(),
            "all" => row.all = options(),
            "key" => row.key = Some(value),
            "beside" => row.beside = Some(value),
            "exec" => row.exec = Some(value.parse().unwrap_or(0)),
            // The meaning is implemented in code; the examples are checked all the same.
            "code" => {}
            _ => return None,
        }
    }
    Some(row)
}

impl Row {
    /// Reports whether the row applies with these options.
    pub(crate) fn applies(&self, args: &[Arg]) -> bool {
        (self.with.is_empty() || has(args, &self.with)) && !has(args, &self.without)
    }

    /// Returns the meaning of the operands with these options.
    pub(crate) fn meanings(&self, args: &[Arg]) -> &[(Op, Which)] {
        if has(args, &self.all) { &[(Op::Write, Which::All)] } else { &self.operands }
    }

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
                sorted.recursive |=
                    ["-R", "-r", "-a"].iter().any(|letter| is_option(text, letter)) || text == "--recursive";
                sorted.symbolic |= is_option(text, "-s") || text == "--symbolic";
                at += self.option(arg, args.get(at), &mut sorted);
            } else if self.exec.is_some_and(|before| sorted.operands.len() >= before) && !text.contains('=') {
                sorted.command = Some(at - 1);
                return sorted;
            } else {
                sorted.operands.push(arg);
            }
        }
        if self.text && !sorted.operands.is_empty() {
            let text: Vec<&str> = sorted.operands.iter().map(|arg| arg.text.as_str()).collect();
            sorted.shell.push(Arg { text: text.join(" "), span: sorted.operands[0].span.clone() });
        }
        sorted
    }

    /// Sorts the value of an option; returns the number of words it takes.
    fn option(&self, arg: &Arg, next: Option<&Arg>, sorted: &mut Sorted<'_>) -> usize {
        let lists = [
            (&self.out, Some(&mut sorted.out)),
            (&self.into, Some(&mut sorted.into)),
            (&self.shell, Some(&mut sorted.shell)),
            (&self.val, None),
        ];
        for (list, found) in lists {
            let Some(value) = value_of(&arg.text, list) else { continue };
            let attached = value.map(|value| Arg { text: value.to_owned(), span: arg.span.clone() });
            let taken = usize::from(attached.is_none());
            if let Some(found) = found {
                found.extend(attached.or_else(|| next.cloned()));
            }
            return taken;
        }
        0
    }
}

fn has(args: &[Arg], options: &[&str]) -> bool {
    args.iter().any(|arg| options.iter().any(|option| is_option(&arg.text, option)))
}

/// Reports whether the argument is the option, or a bundle of letters that contains it.
fn is_option(text: &str, option: &str) -> bool {
    if text == option || text.strip_prefix(option).is_some_and(|rest| option.starts_with("--") && rest.starts_with('='))
    {
        return true;
    }
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
    let bundle = text.strip_prefix('-').filter(|b| b.len() < 7 && b.bytes().all(|b| b.is_ascii_alphabetic()));
    letter.zip(bundle).is_some_and(|(letter, bundle)| bundle.contains(letter))
}

/// Returns the match of an argument with one of the options, with an attached value.
fn value_of<'a>(text: &'a str, options: &[&str]) -> Option<Option<&'a str>> {
    options.iter().find_map(|option| {
        if text == *option {
            return Some(None);
        }
        let rest = text.strip_prefix(option);
        if option.starts_with("--") {
            return rest.and_then(|rest| rest.strip_prefix('=')).map(Some);
        }
        if let Some(rest) = rest.filter(|_| option.len() == 2) {
            return Some(Some(rest.strip_prefix('=').unwrap_or(rest)));
        }
        // `-sSo path`: the letter ends a bundle.
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1)?;
        let bundle =
            text.strip_prefix('-').filter(|b| !b.starts_with('-') && b.bytes().all(|b| b.is_ascii_alphabetic()));
        bundle.filter(|bundle| bundle.len() < 6 && bundle.ends_with(letter)).map(|_| None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, GuardDecision, effects, judge};

    /// `P`, where it stands alone, is the protected file.
    fn with_path(example: &str) -> String {
        let chars: Vec<char> = example.chars().collect();
        let is_letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
        let mut out = String::new();
        for (at, c) in chars.iter().enumerate() {
            let before = at.checked_sub(1);
            let is_flag = before.is_some_and(|at| chars[at] == '-');
            if *c == 'P' && !is_letter(before) && !is_letter(Some(at + 1)) && !is_flag {
                out.push_str("protected/file.txt");
            } else {
                out.push(*c);
            }
        }
        out
    }

    #[test]
    fn every_line_is_read_and_its_examples_hold() {
        let names: std::collections::BTreeSet<_> = LINES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), COUNT);
        assert!(names.into_iter().all(|name| row(name).is_some()));
        let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
        let protected = ["protected/file.txt".to_owned()];
        let mut wrong = Vec::new();
        for (name, line) in LINES {
            let examples: Vec<&str> = line.split(" | ").skip(1).map(str::trim).collect();
            assert_eq!(examples.len(), 2, "{line}");
            for (examples, expected) in examples.iter().zip([GuardDecision::Deny, GuardDecision::Allow]) {
                for example in examples.split(" ;; ") {
                    let command = with_path(example);
                    let decision = judge(&effects(&command, &context), &protected).decision;
                    // A command whose files are not in its text can only be asked about.
                    let right =
                        decision == expected || (expected == GuardDecision::Deny && decision == GuardDecision::Ask);
                    if !right {
                        wrong.push(format!("{name}: {decision:?} for `{command}`"));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
