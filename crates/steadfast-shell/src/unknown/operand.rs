//! Guesses which operand of an unknown program is written: by a verb, by the program's name, or by the shape of the
//! line. The result counts only if its path is protected.

use super::{is_reader, says_input};
use crate::expand::Arg;
use crate::table::data::{bits_of, count_tagged, has, line_of, tagged, words_of};
use crate::text::{base_name, is_device, is_known};
use crate::walk::Walk;

const TEXT: &str = include_str!("verbs.txt");
const LISTS: [&str; 7] = [
    line_of(TEXT, "makes"),
    line_of(TEXT, "removes"),
    line_of(TEXT, "brings"),
    line_of(TEXT, "keeps"),
    line_of(TEXT, "sets"),
    line_of(TEXT, "fetches"),
    line_of(TEXT, "builds"),
];
const MAKES: u8 = 1;
const REMOVES: u8 = 2;
const BRINGS: u8 = 4;
const KEEPS: u8 = 8;
const SETS: u8 = 16;
const FETCHES: u8 = 32;
const BUILDS: u8 = 64;
/// Every verb with its meaning, one bit each.
static VERBS: [(&str, u8); count_tagged(&LISTS)] = tagged(&LISTS);
static CONVERTS: &[&str] = words_of!(TEXT, "converts");
static FOLDERS: &[&str] = words_of!(TEXT, "folders");
static INPUTS: &[&str] = words_of!(TEXT, "inputs");
static CLIENTS: &[&str] = words_of!(TEXT, "clients");
static SCRIPTS: &[&str] = words_of!(TEXT, "scripts");
static LOOKS: &[&str] = words_of!(TEXT, "looks");

/// The number of words before a verb that are searched: `vault operator raft snapshot save`.
const VERB_WITHIN: usize = 5;

/// An argument that is not an option.
#[derive(Clone, Copy)]
struct Operand<'a> {
    at: usize,
    arg: &'a Arg,
    /// It may be the value of the option before it.
    follows_option: bool,
}

impl Walk {
    /// Finds the operands that an unknown program writes.
    pub(super) fn operands_by_shape(&mut self, args: &[Arg], name: &str) {
        if args.is_empty() || is_reader(name) {
            return;
        }
        let operands = operands(args);
        let mut found: Vec<&Arg> = Vec::new();
        let named = by_name(name, &operands, &mut found);
        by_verb(name, named, args, &operands, &mut found);
        by_key(args, &mut found);
        by_input(name, args, &operands, &mut found);
        for arg in found {
            if is_known(&arg.text) && !arg.text.is_empty() {
                self.guessed_write(arg, name);
            }
        }
    }
}

fn operands(args: &[Arg]) -> Vec<Operand<'_>> {
    let mut only = false;
    let mut found = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        if !only && arg.text == "--" {
            only = true;
        } else if only || !arg.text.starts_with('-') || arg.text == "-" {
            let before = at.checked_sub(1).map_or("", |at| args[at].text.as_str());
            let follows_option = !only && before.len() > 1 && before.starts_with('-') && !before.contains('=');
            found.push(Operand { at, arg, follows_option });
        }
    }
    found
}

/// Reads the program's name: `safe-rm file`, `mkswap file`, `html2text in out`. Returns the meaning of its words.
fn by_name<'a>(name: &str, operands: &[Operand<'a>], found: &mut Vec<&'a Arg>) -> u8 {
    let bytes = name.as_bytes();
    let words = || name.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
    let mut said = words().fold(0, |said, word| said | bits_of(&VERBS, word));
    let looks = name.ends_with("objdump") || name.ends_with("hexdump");
    if !looks && ["dump", "keygen", "backup", "export"].iter().any(|end| name.ends_with(end)) {
        said |= KEEPS;
    }
    let is_maker = name.starts_with("mk");
    let makes_one = is_maker && ["mkfs", "mkswap", "mke2fs"].iter().any(|start| name.starts_with(start));
    if makes_one || said & REMOVES != 0 || words().any(|word| matches!(word, "edit" | "editor")) {
        found.extend(operands.iter().filter(|operand| !operand.follows_option).map(|operand| operand.arg));
    }
    if let [_, .., last] = operands {
        let is_between = |at: usize| bytes[at - 1].is_ascii_alphabetic() && bytes[at + 1].is_ascii_alphabetic();
        let converts = (1..bytes.len().saturating_sub(1)).any(|at| bytes[at] == b'2' && is_between(at));
        let makes = is_maker && !operands.iter().any(|operand| operand.follows_option);
        if converts || makes || words().any(|word| has(CONVERTS, word)) {
            found.push(last.arg);
        }
    }
    said
}

/// Reads a verb: `git bundle create file`, `adb pull a file`, `dasel put -f file`, `gh run download --dir folder`.
fn by_verb<'a>(name: &str, named: u8, args: &'a [Arg], operands: &[Operand<'a>], found: &mut Vec<&'a Arg>) {
    let mut verbs = 0;
    for (at, operand) in operands.iter().take(VERB_WITHIN).enumerate() {
        let new = verb_bits(&operand.arg.text) & !verbs;
        if new == 0 || (operand.follows_option && at > 0) {
            continue;
        }
        verbs |= new;
        let mut behind = operands[at + 1..].iter().filter(|operand| !operand.follows_option).map(|operand| operand.arg);
        let is_client = || has(CLIENTS, name);
        if new & REMOVES != 0 && !is_client() {
            found.extend(behind.clone());
        }
        if new & FETCHES != 0 && behind.clone().nth(1).is_some() {
            found.extend(behind.clone().next_back());
        } else if new & BRINGS != 0
            && let (Some(_), Some(last), None) = (behind.next(), behind.next(), behind.next())
        {
            found.push(last);
        }
        let mut behind = operands[at + 1..].iter().filter(|operand| !operand.follows_option).map(|operand| operand.arg);
        // A file that is sent is only read. A client creates things elsewhere, except for files that it saves.
        let is_sent = || behind.clone().skip(1).any(|arg| arg.text.contains("://"));
        if new & MAKES != 0 && !is_sent() && (operand.arg.text == "save" || !is_client()) {
            found.extend(behind.next());
        }
    }
    // `--build a file`: an option as verb, and two operands after it.
    for (at, arg) in args.iter().enumerate() {
        let verb = arg.text.strip_prefix("--").map_or(0, verb_bits);
        if verb & (BRINGS | FETCHES | BUILDS) != 0
            && let [from, to] = &args[at + 1..]
            && !from.text.starts_with('-')
            && !to.text.starts_with('-')
        {
            found.push(to);
        }
    }
    let keeps = (verbs | named) & KEEPS != 0;
    let (sets, builds) = (verbs & SETS != 0, verbs & BUILDS != 0);
    let brings = verbs & (BRINGS | MAKES | KEEPS) != 0;
    let makes = args.iter().any(|arg| is_making_option(&arg.text));
    if !(keeps || sets || brings || builds || makes) {
        return;
    }
    for (at, arg) in args.iter().enumerate().filter(|(_, arg)| arg.text.starts_with('-')) {
        let (option, value) = match arg.text.split_once('=') {
            Some((option, _)) => (option, Some(arg)),
            None => (arg.text.as_str(), args.get(at + 1).filter(|next| !next.text.starts_with('-'))),
        };
        let is_file = matches!(option, "-f" | "--file" | "-file" | "--filename");
        let is_kept = || ["store", "db", "database", "archive", "file"].iter().any(|end| option.ends_with(end));
        let is_written = (keeps || sets) && is_file
            || brings && has(FOLDERS, option)
            || builds && matches!(option, "-d" | "--dest-dir")
            || keeps && matches!(option, "--archive" | "--rdb" | "--target")
            || makes && is_kept() && !says_input(option);
        found.extend(value.filter(|_| is_written));
    }
}

/// Returns the meaning of a verb, or of its first word: `export-tar`.
fn verb_bits(text: &str) -> u8 {
    let first = text.split('-').next().unwrap_or_default();
    bits_of(&VERBS, if text.len() <= 32 && !text.contains(['/', '.']) { first } else { text })
}

/// Recognises `--gen-key`, `-genkeypair`, `--create`, `--init`.
fn is_making_option(text: &str) -> bool {
    let Some(name) = text.strip_prefix('-') else { return false };
    let name = name.trim_start_matches('-');
    let first = name.split(['-', '_', '=']).next().unwrap_or_default();
    matches!(first, "create" | "init" | "new" | "generate" | "gen") || (name.starts_with("gen") && name.contains("key"))
}

/// Reads the letters of an archiver that creates the next word: `cf`, `-czf`, `rcs`.
fn by_key<'a>(args: &'a [Arg], found: &mut Vec<&'a Arg>) {
    let [first, second, ..] = args else { return };
    let letters = first.text.trim_start_matches('-');
    let is_key = (2..=5).contains(&letters.len())
        && first.text.len() - letters.len() <= 1
        && letters.bytes().all(|b| b.is_ascii_lowercase())
        && letters.ends_with('f')
        && letters.contains(['c', 'w', 'u'])
        && !letters.contains(['x', 't', 'i', 'o', 'e']);
    if is_key && !second.text.starts_with('-') {
        found.push(second);
    }
}

/// `-i in.mp4 out`: the input has its own option, so the other file is written. The same holds for two files of
/// different kinds, unless the program only inspects files: `cpp a.c a.i`.
fn by_input<'a>(name: &str, args: &'a [Arg], operands: &[Operand<'a>], found: &mut Vec<&'a Arg>) {
    let Some(last) = operands.last().filter(|operand| operand.at + 1 == args.len()) else { return };
    let is_input = |operand: &Operand<'_>| {
        operand.follows_option
            && has(INPUTS, &args[operand.at - 1].text)
            && (ending(&operand.arg.text).is_some() || is_device(&operand.arg.text))
    };
    let mut free =
        operands.iter().rev().filter(|operand| !operand.follows_option).map(|operand| operand.arg.text.as_str());
    let is_turned = match (free.next(), free.next(), free.next()) {
        (Some(_), Some(_), Some(verb)) if verb.contains(['.', '/']) || LOOKS.contains(&verb) => false,
        (Some(to), Some(from), _) => converts(name, from, to),
        _ => false,
    };
    if !last.follows_option && (is_turned || operands.iter().any(is_input)) {
        found.push(last.arg);
    }
}

/// Reports whether a file is converted to another: their endings or folders differ, and the program does not only
/// inspect files. A file from a folder for temporary files is moved into the work.
fn converts(name: &str, from: &str, to: &str) -> bool {
    let looks = || LOOKS.iter().any(|word| name.contains(word));
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    // The form `host:/path`.
    let is_remote = |path: &str| {
        let host = path.split_once(":/").map_or("", |(host, _)| host);
        !host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"@.-_".contains(&b))
            && !path.contains("://")
    };
    let is_brought = from.starts_with("/tmp/") && !to.starts_with("/tmp/") || is_remote(from) && !is_remote(to);
    let is_other = match (ending(from), ending(to)) {
        (Some(one), Some(other)) => one != other && !has(SCRIPTS, one) && !from.starts_with("./"),
        _ => false,
    };
    let is_beside = folder(from).is_some() && folder(from) == folder(to);
    let is_word = |path: &str| path.contains(char::is_whitespace) || path.contains("://");
    (is_brought || is_other) && !is_beside && !is_word(from) && !is_word(to) && !looks()
}

fn ending(path: &str) -> Option<&str> {
    let (stem, ending) = base_name(path).rsplit_once('.')?;
    let is_ending = (1..=8).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
    (is_ending && !stem.is_empty()).then_some(ending)
}

#[cfg(test)]
mod tests {
    use crate::{Context, GuardDecision, effects, judge};

    fn decision(command: &str) -> GuardDecision {
        let context = Context { cwd: "/repo".to_owned(), home: "/home/u".to_owned() };
        judge(&effects(command, &context), &["docs/a.md".to_owned()]).decision
    }

    #[test]
    fn what_a_verb_a_name_or_the_shape_says_to_be_written_is() {
        for command in [
            "frob create docs/a.md",
            "frob store init docs/a.md",
            "frob delete docs/a.md b",
            "frob pull remote.md docs/a.md",
            "frob snapshot -f docs/a.md",
            "frob put -f docs/a.md key value",
            "frob fetch --dir docs/a.md 1",
            "frob-rm docs/a.md",
            "frobdump -f docs/a.md base",
            "rst2md a.rst docs/a.md",
            "mkfrob a docs/a.md",
            "frob cvf docs/a.md b",
            "frob -i a.wav docs/a.md",
            "frob a.html docs/a.md",
            "frob /tmp/a.md docs/a.md",
            "frob --gen-key --keystore docs/a.md",
            "frob --format junit:docs/a.md",
            "frob CREATE:docs/a.md",
            "frob --write-config docs/a.md",
            "frob --cache-dir docs/a.md",
            "frob -out:docs/a.md",
            "FROB_TRACE=docs/a.md frob",
            "python3 a.py --output docs/a.md",
            "git bundle create docs/a.md HEAD",
            "git config -f docs/a.md a.b c",
            "tclsh <<< 'file rename docs/a.md b'",
        ] {
            assert_eq!(decision(command), GuardDecision::Deny, "{command}");
        }
    }

    #[test]
    fn what_is_only_named_is_not() {
        for command in [
            "frob docs/a.md",
            "frob create -f docs/a.md",
            "frob add docs/a.md",
            "frob b.md docs/a.md",
            "frob show docs/a.md",
            "frob pull docs/a.md remote.md",
            "froblint a.html docs/a.md",
            "frob --config a.toml docs/a.md",
            "frob -i foo docs/a.md",
            "frob xvf docs/a.md",
            "frob --log-config docs/a.md",
            "frob run.py docs/a.md",
            "frob --input-file docs/a.md",
            "gh gist create docs/a.md",
            "python3 -O docs/a.md",
            "perl -w docs/a.md",
            "git config -f docs/a.md a.b",
            "git config -f docs/a.md --get a.b",
            "LOG_LEVEL=docs/a.md frob",
            "tclsh <<< 'file exists docs/a.md'",
        ] {
            assert_eq!(decision(command), GuardDecision::Allow, "{command}");
        }
    }
}
