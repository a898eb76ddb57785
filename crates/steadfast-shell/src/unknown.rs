//! Programs that no table knows. What they write is told by the names of their options, which many programs share; a
//! path that is only mentioned may be read as well, and says nothing.

use std::sync::OnceLock;

use crate::effect::Op;
use crate::expand::Arg;
use crate::text::{base_name, is_known};
use crate::walk::{NO_STDIN, Walk};

/// How far behind the program's name a verb may stand: `aws s3 cp`, `faketime now touch`.
const VERB_WITHIN: usize = 6;

/// Whether the table knows the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Described {
    Yes,
    No,
}

impl Walk {
    /// What the names of a program's options say. Short options mean something else in a program that is described.
    pub(crate) fn named_output(&mut self, args: &[Arg], name: &str, described: Described) {
        let mut is_reader = None;
        for (at, arg) in args.iter().enumerate() {
            let Some(value) = written(&arg.text, args.get(at + 1).map(|next| next.text.as_str()), described) else {
                continue;
            };
            if *is_reader.get_or_insert_with(|| words("readers").contains(&name)) {
                return;
            }
            self.output(value, arg, name);
        }
        if described == Described::No && !is_reader.unwrap_or(false) {
            self.in_place(args, name);
            self.command_word(args);
            self.inline(args, name);
        }
    }

    /// A file that an option names, alone or behind its format: `xml:a.xml`, `json=a.json`.
    fn output(&mut self, value: &str, arg: &Arg, name: &str) {
        if matches!(value, "" | "-") || !is_known(value) {
            return;
        }
        let tail = value.rsplit([':', '=']).next().filter(|tail| tail.len() < value.len());
        for text in [Some(value), tail].into_iter().flatten() {
            self.perhaps_written(text, arg, name);
        }
    }

    /// A word that may also be something else than a path counts where such a path is protected, and nowhere else.
    fn perhaps_written(&mut self, text: &str, arg: &Arg, name: &str) {
        let op = if text.contains(['/', '.']) { Op::Write } else { Op::Unknown };
        self.effect(op, &Arg { text: text.to_owned(), span: arg.span.clone() }, name);
    }

    /// `--fix`, `--in-place`, and `fmt` as the word that says what to do.
    fn in_place(&mut self, args: &[Arg], name: &str) {
        let flags = words("in-place");
        let flag = args.iter().position(|arg| arg.text.starts_with('-') && flags.contains(&&*arg.text));
        let verb = args
            .iter()
            .position(|arg| !arg.text.starts_with('-'))
            .filter(|at| words("formats").contains(&args[*at].text.as_str()));
        let Some(at) = flag.or(verb) else { return };
        let is_dry = |arg: &Arg| {
            arg.text.starts_with('-')
                && (["--check", "--verify"].iter().any(|start| arg.text.starts_with(start))
                    || words("dry").contains(&arg.text.as_str()))
        };
        if args.iter().any(is_dry) {
            return;
        }
        for (n, arg) in args.iter().enumerate().filter(|(n, arg)| *n != at && !arg.text.starts_with('-')) {
            let before = n.checked_sub(1).map_or("", |before| args[before].text.as_str());
            // The value of another option is something else.
            if n != at + 1 && before.starts_with("--") && !before.contains('=') {
                continue;
            }
            if is_known(&arg.text) {
                self.perhaps_written(&arg.text, arg, name);
            }
        }
    }

    /// Code for an interpreter that no table knows, a command in one argument, and an address that is loaded into a file.
    fn inline(&mut self, args: &[Arg], name: &str) {
        for (at, arg) in args.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| args[before].text.as_str());
            let text = arg.text.as_str();
            if !text.contains([' ', '(']) {
                let is_loaded = before.contains("://") && at + 1 == args.len() && !before.starts_with('-');
                if is_loaded && !text.starts_with(['-', '@']) && !text.contains("://") && is_known(text) {
                    self.guessing(|walk| walk.effect(Op::Write, arg, name));
                }
                continue;
            }
            let command =
                text.rsplit_once('=').map_or(text, |(head, tail)| if head.contains(' ') { text } else { tail });
            let verb = base_name(command.split(' ').next().unwrap_or_default());
            let is_command = words("verbs").contains(&verb) && !words("texts").contains(&before);
            let runs = self.runs.len();
            if words("code").contains(&before) && is_known(text) {
                self.guessing(|walk| walk.foreign_shell(text, arg, name));
            } else if is_command {
                self.guessing(|walk| walk.script(command, &arg.span));
            }
            self.runs.truncate(runs);
        }
    }

    /// `fakeroot rm`, `aws s3 cp`, `cmake -E touch`, `tini -- rm`: what follows is read as that command, but nobody says
    /// that it is that program.
    fn command_word(&mut self, args: &[Arg]) {
        let behind = args.iter().position(|arg| arg.text == "--").map(|at| at + 1);
        let verbs = words("verbs");
        let verb = args.iter().take(VERB_WITHIN).position(|arg| {
            // No verb is longer.
            let name = base_name(&arg.text);
            name.len() <= 8 && verbs.contains(&name)
        });
        let Some(at) = behind.or(verb).filter(|at| *at + 1 < args.len()) else { return };
        let runs = self.runs.len();
        self.guessing(|walk| walk.run(&args[at..], NO_STDIN));
        self.runs.truncate(runs);
    }
}

/// The value that an argument has written: its own, or the next argument.
fn written<'a>(text: &'a str, next: Option<&'a str>, described: Described) -> Option<&'a str> {
    let next = next.filter(|next| !next.starts_with('-'));
    let Some(option) = text.strip_prefix('-') else {
        // `of=path`, `output=path`: a name that is all letters.
        let (name, value) = text.split_once('=').filter(|_| described == Described::No)?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        return (is_name && (name == "of" || says_output(name) == Said::Writes)).then_some(value);
    };
    if let Some((name, value)) = option.split_once('=') {
        let name = name.trim_start_matches('-');
        let writes = match name {
            "o" | "O" | "w" => described == Described::No,
            // `-Dkey=value`, `-Pkey=value`
            name => says_output(name.strip_prefix(['D', 'P', 'X']).unwrap_or(name)) != Said::Nothing,
        };
        return writes.then_some(value);
    }
    match option {
        "o" | "O" | "w" => return next.filter(|_| described == Described::No),
        _ if option.starts_with('-') => {}
        _ if described == Described::Yes => return None,
        _ => {
            if let Some(rest) = option.strip_prefix(['o', 'O', 'w'])
                && !rest.bytes().all(|b| b.is_ascii_lowercase())
            {
                // `-oG path`: a letter that says which kind.
                let is_kind = rest.len() <= 2 && rest.bytes().all(|b| b.is_ascii_uppercase());
                return if is_kind { next } else { Some(rest.trim_start_matches(':')) };
            }
            // `-sSo path`
            let is_bundle = (2..=3).contains(&option.len()) && option.bytes().all(|b| b.is_ascii_alphabetic());
            if is_bundle && option.ends_with('o') && !matches!(option, "to" | "no" | "go" | "do" | "io") {
                return next;
            }
        }
    }
    match says_output(option.trim_start_matches('-')) {
        Said::Writes => next,
        // `-dump file`: a word behind one dash is a flag.
        Said::Perhaps => next.filter(|next| option.starts_with('-') && next.contains('.') && !next.contains("://")),
        Said::Nothing => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Writes,
    Perhaps,
    Nothing,
}

/// What the name of an option says about its value.
fn says_output(name: &str) -> Said {
    // Most names have none of these, and this is asked for every option.
    if name.len() < 3 || name.len() > 48 {
        return Said::Nothing;
    }
    let lower = name.to_ascii_lowercase();
    let (writes, perhaps) = (words("writes"), words("perhaps"));
    let mut said = Said::Nothing;
    for part in parts(name, &lower) {
        if writes.contains(&part) {
            said = Said::Writes;
        } else if said == Said::Nothing && perhaps.contains(&part) {
            said = Said::Perhaps;
        }
    }
    if said != Said::Nothing && parts(name, &lower).any(|part| words("reads").contains(&part)) {
        return Said::Nothing;
    }
    let is_file = lower.ends_with("file") || lower.ends_with("xml") || lower.ends_with("-to");
    let ends = || words("ends").iter().any(|end| lower.len() > end.len() && lower.ends_with(end));
    if said == Said::Nothing && ends() || said == Said::Perhaps && is_file { Said::Writes } else { said }
}

/// The parts of a name: `-sOutputFile`, `junit-xml`, `descriptor_set_out`.
fn parts<'a>(name: &'a str, lower: &'a str) -> impl Iterator<Item = &'a str> {
    let bytes = name.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < bytes.len() && !bytes[from].is_ascii_alphabetic() {
            from += 1;
        }
        let start = from;
        while from < bytes.len()
            && bytes[from].is_ascii_alphabetic()
            && (from == start || !bytes[from].is_ascii_uppercase() || bytes[from - 1].is_ascii_uppercase())
        {
            from += 1;
        }
        (start < from).then(|| &lower[start..from])
    })
}

/// The words of a kind in the file.
fn words(kind: &'static str) -> &'static [&'static str] {
    type Kind = (&'static str, Vec<&'static str>);
    static KINDS: OnceLock<Vec<Kind>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| {
        let lines = include_str!("options.txt").lines().filter(|line| !line.starts_with('#'));
        let columns = lines.filter_map(|line| line.split_once(" | "));
        columns.map(|(kind, words)| (kind, words.split(' ').collect())).collect()
    });
    kinds.iter().find(|(name, _)| *name == kind).map_or(&[], |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_word_that_is_asked_for_is_in_the_file() {
        for kind in
            ["writes", "perhaps", "ends", "reads", "in-place", "dry", "verbs", "formats", "readers", "code", "texts"]
        {
            assert!(!words(kind).is_empty(), "{kind}");
        }
    }

    #[test]
    fn an_option_is_told_by_its_name() {
        let of = |text, next| written(text, Some(next), Described::No);
        for (text, value) in [
            ("-o", "a"),
            ("-O", "a"),
            ("--output", "a"),
            ("--results-out-file", "a"),
            ("-oX", "a"),
            ("-outdir", "a"),
            ("--save-state", "a.db"),
            ("--junit-xml", "a"),
            ("-vo", "a"),
        ] {
            assert_eq!(of(text, value), Some(value), "{text}");
        }
        for (text, value) in
            [("-oa.txt", "a.txt"), ("--out=a", "a"), ("-DreportFile=a", "a"), ("of=a", "a"), ("-cpuprofile=a", "a")]
        {
            assert_eq!(of(text, "b"), Some(value), "{text}");
        }
        for text in [
            "-i",
            "-f",
            "--input",
            "--output-format",
            "--log-level",
            "--save-dev",
            "-v",
            "--only",
            "--log-config",
            "a=b",
        ] {
            assert_eq!(of(text, "a.txt"), None, "{text}");
        }
        assert_eq!(of("-o", "--verbose"), None);
        assert_eq!(written("-o", Some("a"), Described::Yes), None);
    }
}
