//! Programs that are not in the table. Names of options, which many programs share, tell which files they write. A path
//! that is only mentioned may also be read, and is no evidence.

mod operand;

use std::borrow::Cow;

use crate::effect::Op;
use crate::expand::Arg;
use crate::table::data::{bits_of, count_tagged, has, line_of, tagged, words_of};
use crate::text::{base_name, is_known};
use crate::walk::{NO_STDIN, Walk};

/// The maximum position of a verb after the program's name: `aws s3 cp`, `faketime now touch`.
const VERB_WITHIN: usize = 6;

const TEXT: &str = include_str!("unknown/options.txt");
const KINDS: [&str; 6] = [
    line_of(TEXT, "writes"),
    line_of(TEXT, "perhaps"),
    line_of(TEXT, "reads"),
    line_of(TEXT, "makers"),
    line_of(TEXT, "sources"),
    line_of(TEXT, "kept"),
];
const WRITES: u8 = 1;
const PERHAPS: u8 = 2;
const READS: u8 = 4;
const MAKERS: u8 = 8;
const SOURCES: u8 = 16;
const KEPT: u8 = 32;
/// Words in names of options, with their meaning as bits.
static NAMED: [(&str, u8); count_tagged(&KINDS)] = tagged(&KINDS);
static ENDS: &[&str] = words_of!(TEXT, "ends");
static PLACES: &[&str] = words_of!(TEXT, "places");
static IN_PLACE: &[&str] = words_of!(TEXT, "in-place");
static DRY: &[&str] = words_of!(TEXT, "dry");
static VERBS: &[&str] = words_of!(TEXT, "verbs");
static FORMATS: &[&str] = words_of!(TEXT, "formats");
static READERS: &[&str] = words_of!(TEXT, "readers");
static CODE: &[&str] = words_of!(TEXT, "code");
static TEXTS: &[&str] = words_of!(TEXT, "texts");

/// Tells whether the table has the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Described {
    Yes,
    No,
}

impl Walk {
    /// Reads option names that announce output. Short options have another meaning in a program of the table.
    pub(crate) fn named_output(&mut self, args: &[Arg], name: &str, described: Described) {
        if args.is_empty() {
            return;
        }
        let mut reads = None;
        for (at, arg) in args.iter().enumerate() {
            let Some(value) = written(&arg.text, args.get(at + 1).map(|next| next.text.as_str()), described) else {
                continue;
            };
            // In a call with a URL, `-w` takes a list of words.
            if arg.text.starts_with("-w") && args.iter().any(|arg| arg.text.contains("://")) {
                continue;
            }
            if *reads.get_or_insert_with(|| is_reader(name)) {
                return;
            }
            self.output(value, arg, name);
        }
        if described == Described::Yes {
            // Code in the value of an option: `rsync -e 'sh -c …'`.
            let is_elsewhere = matches!(name, "docker" | "podman" | "ssh");
            if args.iter().any(|arg| arg.text.contains(' '))
                && !is_elsewhere
                && !reads.unwrap_or_else(|| is_reader(name))
            {
                self.inline(args, name, described);
            }
        } else if !reads.unwrap_or_else(|| is_reader(name)) {
            self.in_place(args, name);
            self.addresses(args, name);
            self.command_word(args);
            self.inline(args, name, described);
            self.operands_by_shape(args, name);
        }
    }

    /// Reads option names of a script. Of the interpreter's own options only `-o` announces output.
    pub(crate) fn script_output(&mut self, args: &[Arg], name: &str) {
        let script = args.iter().position(|arg| !arg.text.starts_with('-')).unwrap_or(args.len());
        for (at, arg) in args.iter().enumerate() {
            let next = args.get(at + 1).map(|next| next.text.as_str());
            let is_own = at < script && arg.text != "-o";
            if !is_own && let Some(value) = written(&arg.text, next, Described::No) {
                self.output(value, arg, name);
            }
        }
    }

    /// Adds a file that an option names, alone or after its format: `xml:a.xml`, `json=a.json`.
    fn output(&mut self, value: &str, arg: &Arg, name: &str) {
        if matches!(value, "" | "-") || !is_known(value) {
            return;
        }
        let tail = value.rsplit([':', '=']).next().filter(|tail| tail.len() < value.len());
        for text in [Some(value), tail].into_iter().flatten() {
            self.perhaps_written(text, arg, name);
        }
    }

    /// Adds a word that may not be a path. It counts only if such a path is protected.
    fn perhaps_written(&mut self, text: &str, arg: &Arg, name: &str) {
        let op = if text.contains(['/', '.']) { Op::Write } else { Op::Unknown };
        self.effect(op, &Arg { text: text.to_owned(), span: arg.span.clone() }, name);
    }

    /// Reads `--format junit:path`, `CREATE:path`, `OPEN:path,creat`, `EXEC:command`: a word, a colon, and its object.
    fn addresses(&mut self, args: &[Arg], name: &str) {
        for (at, arg) in args.iter().enumerate() {
            let text = arg.text.as_str();
            let before = at.checked_sub(1).map_or("", |before| args[before].text.as_str());
            let of_report = text.split_once('=').filter(|_| is_report(before) && before.starts_with('-'));
            if let Some((key, path)) = of_report
                && ["file", "File", "path", "dir", "output", "Output"].iter().any(|end| key.ends_with(end))
            {
                self.guessed_write(&Arg { text: path.to_owned(), span: arg.span.clone() }, name);
            }
            let Some((kind, rest)) = text.split_once(':').filter(|_| is_known(text)) else { continue };
            let option = kind.split_once('=').map_or(before, |(option, _)| option);
            let is_report = option.starts_with('-') && is_report(option);
            let (path, options) = rest.split_once(',').unwrap_or((rest, ""));
            let creates = ["creat", "append", "trunc", "wronly"].iter().any(|word| options.contains(word));
            match kind.to_ascii_lowercase().as_str() {
                "create" | "creat" => {}
                "open" | "file" | "gopen" if creates => {}
                "exec" | "system" | "shell" => {
                    let runs = self.runs.len();
                    self.guessing(|walk| walk.script(rest, &arg.span));
                    self.runs.truncate(runs);
                    continue;
                }
                _ if is_report && is_like_file(path) => {}
                _ => continue,
            }
            self.guessed_write(&Arg { text: path.to_owned(), span: arg.span.clone() }, name);
        }
    }

    /// Reads a variable before a command whose name announces output: `GIT_TRACE=path git status`.
    pub(crate) fn named_variable(&mut self, name: &str, value: &str, arg: &Arg) {
        let said = says_output(name);
        if said == Said::Writes || said == Said::Perhaps && is_like_file(value) {
            let target = Arg { text: value.to_owned(), span: arg.span.clone() };
            if is_known(value) && !value.is_empty() {
                self.guessed_write(&target, name);
            }
        }
    }

    /// Recognises `--fix`, `--in-place`, and `fmt` as the verb.
    fn in_place(&mut self, args: &[Arg], name: &str) {
        // The second is the name of an extension: `-i inplace`.
        let flag = args.iter().position(|arg| {
            arg.text.starts_with('-') && has(IN_PLACE, &arg.text) || matches!(&*arg.text, "inplace" | "in-place")
        });
        let verb = args.iter().position(|arg| !arg.text.starts_with('-')).filter(|at| has(FORMATS, &args[*at].text));
        let Some(at) = flag.or(verb) else { return };
        let is_dry = |arg: &Arg| {
            arg.text.starts_with('-')
                && (["--check", "--verify"].iter().any(|start| arg.text.starts_with(start)) || has(DRY, &arg.text))
        };
        if args.iter().any(is_dry) {
            return;
        }
        for (n, arg) in args.iter().enumerate().filter(|(n, arg)| *n != at && !arg.text.starts_with('-')) {
            let before = n.checked_sub(1).map_or("", |before| args[before].text.as_str());
            // The value of another option has another meaning.
            if n != at + 1 && before.starts_with("--") && !before.contains('=') {
                continue;
            }
            if is_known(&arg.text) {
                self.perhaps_written(&arg.text, arg, name);
            }
        }
    }

    /// Reads code for an unknown interpreter, a command in one argument, and a URL that is downloaded to a file.
    fn inline(&mut self, args: &[Arg], name: &str, described: Described) {
        for (at, arg) in args.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |before| args[before].text.as_str());
            let text = arg.text.as_str();
            let is_value = before.starts_with('-') || text.starts_with('-');
            if described == Described::Yes && !(is_value && text.contains(' ')) {
                continue;
            }
            if !text.contains([' ', '(']) {
                let is_loaded = before.contains("://") && at + 1 == args.len() && !before.starts_with('-');
                if is_loaded && !text.starts_with(['-', '@']) && !text.contains("://") && is_known(text) {
                    self.guessed_write(arg, name);
                }
                continue;
            }
            if has(TEXTS, before) {
                continue;
            }
            let command =
                text.rsplit_once('=').map_or(text, |(head, tail)| if head.contains(' ') { text } else { tail });
            let verb = base_name(command.split(' ').next().unwrap_or_default());
            let redirects = is_value && (text.contains(" > ") || text.contains(" >> "));
            let is_command = has(VERBS, verb) || redirects;
            let runs = self.runs.len();
            if described == Described::No && has(CODE, before) && is_known(text) {
                self.guessing(|walk| walk.foreign_shell(text, arg, name));
            } else if is_command {
                self.guessing(|walk| walk.script(command, &arg.span));
            }
            self.runs.truncate(runs);
        }
    }

    /// Reads the words after a verb as a command: `fakeroot rm`, `aws s3 cp`, `cmake -E touch`, `tini -- rm`. This is a
    /// guess: it may be another program.
    fn command_word(&mut self, args: &[Arg]) {
        let behind = args.iter().position(|arg| arg.text == "--").map(|at| at + 1);
        let verb = args.iter().take(VERB_WITHIN).position(|arg| {
            // The longest verb has 8 bytes.
            let name = base_name(&arg.text);
            name.len() <= 8 && has(VERBS, name)
        });
        let Some(at) = behind.or(verb).filter(|at| *at + 1 < args.len()) else { return };
        let runs = self.runs.len();
        self.guessing(|walk| walk.run(&args[at..], NO_STDIN));
        self.runs.truncate(runs);
    }
}

/// Reports whether a program writes nothing with any options.
pub(crate) fn is_reader(name: &str) -> bool {
    has(READERS, name)
}

/// Returns the value that an argument announces as output: its own, or the next argument.
fn written<'a>(text: &'a str, next: Option<&'a str>, described: Described) -> Option<&'a str> {
    let next = next.filter(|next| !next.starts_with('-'));
    let Some(option) = text.strip_prefix('-') else {
        // The form `/out:path`.
        if let Some((name, value)) = text.strip_prefix('/').and_then(|rest| rest.split_once(':'))
            && !name.contains('/')
            && says_output(name) == Said::Writes
        {
            return Some(value);
        }
        // `of=path`, `output=path`: a name of letters.
        let (name, value) = text.split_once('=').filter(|_| described == Described::No)?;
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        return (is_name && (name == "of" || says_output(name) == Said::Writes)).then_some(value);
    };
    if let Some((name, value)) = option.split_once('=') {
        let name = name.trim_start_matches('-');
        let writes = match name {
            "o" | "O" | "w" | "of" => described == Described::No,
            // The forms `-Dkey=value`, `-Pkey=value`.
            name => says_output(name.strip_prefix(['D', 'P', 'X']).unwrap_or(name)) != Said::Nothing,
        };
        return writes.then_some(value);
    }
    // The form `-out:path`.
    if let Some((name, value)) = option.split_once(':')
        && described == Described::No
        && says_output(name.trim_start_matches('-')) == Said::Writes
    {
        return Some(value);
    }
    match option {
        "o" | "O" | "w" => return next.filter(|_| described == Described::No),
        _ if option.starts_with('-') => {}
        _ if described == Described::Yes => return None,
        _ => {
            if let Some(rest) = option.strip_prefix(['o', 'O', 'w'])
                && !rest.bytes().all(|b| b.is_ascii_lowercase())
            {
                // `-oG path`: a letter for the kind of output.
                let is_kind = rest.len() <= 2 && rest.bytes().all(|b| b.is_ascii_uppercase());
                return if is_kind { next } else { Some(rest.trim_start_matches(':')) };
            }
            // The form `-sSo path`.
            let is_bundle = (2..=3).contains(&option.len()) && option.bytes().all(|b| b.is_ascii_alphabetic());
            if is_bundle && option.ends_with('o') && !matches!(option, "to" | "no" | "go" | "do" | "io") {
                return next;
            }
        }
    }
    match says_output(option.trim_start_matches('-')) {
        Said::Writes => next,
        // `-dump file`: a word after one dash is a flag, but `-outjars file` is not.
        Said::Perhaps => {
            next.filter(|next| (option.starts_with('-') || option.starts_with("out")) && is_like_file(next))
        }
        Said::Nothing => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Writes,
    Perhaps,
    Nothing,
}

/// Returns what the name of an option says about its value.
fn says_output(name: &str) -> Said {
    // A fast exit: this runs for every option, and most names say nothing.
    if name.len() < 3 || name.len() > 48 {
        return Said::Nothing;
    }
    let lower = lower(name);
    let (mut bits, mut first) = (0, None);
    for part in parts(name, &lower) {
        let mut new = bits_of(&NAMED, part);
        // Names such as `junitfile`, `reportdir`.
        if new == 0
            && let Some(whole) = ["file", "dir", "path"].iter().find_map(|end| part.strip_suffix(end))
            && bits_of(&NAMED, whole) & (WRITES | PERHAPS | KEPT) != 0
        {
            new = WRITES;
        }
        // Names such as `-outjars`.
        let is_out = part.starts_with("out") && !matches!(part, "outline" | "outer" | "outside" | "outdated");
        if is_out && new == 0 {
            new = PERHAPS;
        }
        first.get_or_insert(new);
        bits |= new;
    }
    if bits & (WRITES | PERHAPS) != 0 && bits & READS != 0 {
        // `--write-config file` writes the file, `--log-config file` does not.
        let makes = first.is_some_and(|first| first & MAKERS != 0) && bits & SOURCES == 0;
        return if makes { Said::Perhaps } else { Said::Nothing };
    }
    if bits & WRITES != 0 {
        return Said::Writes;
    }
    let is_file = || PLACES.iter().any(|end| lower.ends_with(end));
    let ends = || ENDS.iter().any(|end| lower.len() > end.len() && lower.ends_with(end));
    match bits & PERHAPS != 0 {
        true if is_file() || ends() => Said::Writes,
        true => Said::Perhaps,
        false if bits & READS == 0 && bits & KEPT != 0 && is_file() => Said::Writes,
        false if ends() => Said::Writes,
        false => Said::Nothing,
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// Reports whether an option selects the format of a report.
fn is_report(option: &str) -> bool {
    const WORDS: [&str; 5] = ["format", "formatter", "reporter", "report", "reports"];
    let lower = lower(option);
    parts(option, &lower).any(|part| WORDS.contains(&part))
}

/// Reports whether the name of an option says that its value is read.
fn says_input(option: &str) -> bool {
    let lower = lower(option);
    parts(option, &lower).any(|part| bits_of(&NAMED, part) & READS != 0)
}

fn is_like_file(text: &str) -> bool {
    text.contains(['.', '/']) && !text.contains("://") && !text.starts_with('@')
}

/// Splits a name into words: `-sOutputFile`, `junit-xml`, `descriptor_set_out`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
