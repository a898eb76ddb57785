//! Reads actions: verbs with their objects, as kinds of action with the names they apply to.

use steadfast_model::ConstraintKind;
use steadfast_words::{Word, WordKind};

use super::object::{Names, ends, object, skip};
use super::order::is_over;
use super::target::{self, is_of_git, verb};
use super::{grammar, list};

/// A kind of action in a human's sentence, with the names it applies to; no names: all of the kind.
pub(super) type Action = (ConstraintKind, Vec<String>);

/// Returns the actions of the verbs from here on, joined by commas and `or`; by `and` only if the two verbs are
/// adjacent.
pub(super) fn actions(words: &[Word]) -> Vec<Action> {
    // `stage or commit`: one of the two verbs may be of no interest.
    if let [first, or, rest @ ..] = words
        && or.is_one_of(&["or", "nor"])
        && verb(words).is_none()
        && !first.is_break()
    {
        return actions(rest);
    }
    let mut verbs = Vec::new();
    let mut at = 0;
    while let Some((verb, len)) = verb(&words[at..]) {
        verbs.push(verb);
        at += len;
        let joined = conjunctions(&words[at..], &[",", "and", "or", "nor", "don't", "to"]);
        if joined == 0 || self::verb(&words[at + joined..]).is_none() {
            break;
        }
        at += joined;
    }
    // `start or stop the dev server`: one of the two verbs may be of no interest.
    if let [or, other, the, ..] = &words[at..]
        && !verbs.is_empty()
        && or.is("or")
        && other.kind == WordKind::Plain
        && the.is_one_of(&["the", "any", "a", "my", "this", "your"])
    {
        at += 2;
    }
    let tail = &words[at..];
    if verbs.is_empty() || is_conditional(tail) {
        return Vec::new();
    }
    let mut found: Vec<Action> = Vec::new();
    let last = verbs.last().copied();
    for verb in verbs {
        // `commit or push the branch` shares its object, `commit or open a PR` does not.
        let shares = last.is_some_and(|last| verb == last || is_of_git(verb) == is_of_git(last));
        found.extend(grammar::read(verb, if shares { tail } else { &[] }));
    }
    let after = &tail[object(tail, Names::Known).len..];
    let or = conjunctions(after, &[",", "or", "nor"]);
    if or > 0 && after[..or].iter().any(|word| word.is_one_of(&["or", "nor"])) {
        found.extend(actions(&after[or..]));
    }
    found
}

fn conjunctions(words: &[Word], joining: &[&str]) -> usize {
    words.iter().position(|word| !joining.contains(&word.text.as_str())).unwrap_or(words.len())
}

/// Reads a commit or a push: all of them, or those to certain branches.
pub(super) fn of_git(kind: ConstraintKind, tail: &[Word]) -> Vec<Action> {
    if grammar::fits("git-all", tail).is_some() {
        return vec![(kind, Vec::new())];
    }
    let Some(found) = grammar::fits("git-branches", tail) else { return Vec::new() };
    let named = found.about.iter().filter(|word| target::is_branch(word));
    let without_remote = |word: &Word| match word.raw.split_once('/') {
        Some((_, branch)) if target::is_of_remote(word) => branch.to_owned(),
        _ => word.raw.clone(),
    };
    vec![(kind, named.map(without_remote).collect())]
}

/// Reads files that are deleted or renamed.
pub(super) fn of_files(kind: ConstraintKind, tail: &[Word]) -> Vec<Action> {
    let object = object(tail, Names::Known);
    // `any branches or files`.
    let or = tail.iter().take(4).position(|word| word.is_one_of(&["or", "and"]));
    if let Some(or) = or.filter(|_| object.of.is_empty() && !object.general) {
        return of_files(kind, &tail[or + 1..]).into_iter().filter(|(_, of)| of.is_empty()).collect();
    }
    // `the old code` is a part of a file, not a file.
    let in_one = tail.iter().take(object.len).any(|word| word.is_one_of(&["code", "database", "db"]));
    let named = object.bare || object.general || !object.of.is_empty();
    let whole = !in_one && !object.outside && ends(tail.get(object.len)) && named;
    if whole { vec![(kind, object.of)] } else { Vec::new() }
}

/// Reads a change of these names. With `writes`, a verb without an object applies to everything.
pub(super) fn changed(tail: &[Word], names: Names, writes: bool) -> Vec<Action> {
    use ConstraintKind as K;
    let object = object(tail, names);
    // `don't change the tests' names`: this is about the names.
    let next = &tail[object.len..];
    // `to make them pass` gives the purpose.
    let purpose = skip(next, &["just", "only", "in", "order"]);
    // The object took the `to` as a part of itself.
    let to = object.len > 0 && tail[object.len - 1].is("to");
    let what_for = (to || purpose.first().is_some_and(|word| word.is("to")))
        && purpose
            .get(usize::from(!to))
            .is_some_and(|word| word.is_one_of(&["make", "get", "pass", "fit", "fix", "work", "match"]));
    let whole = ends(next.first()) || what_for || object.of.iter().any(|name| name.contains(['/', '.']));
    match (object.of.is_empty(), object.outside || object.other) {
        (false, true) => vec![(K::Only, object.of)],
        (true, true) if object.other => vec![(K::Only, Vec::new())],
        (false, false) if whole => vec![(K::Touch, object.of)],
        (true, false) if object.general && whole => vec![(K::Write, Vec::new())],
        // `look only, don't edit`.
        (true, false) if object.bare && tail.first().is_none_or(Word::is_break) => vec![(K::Write, Vec::new())],
        // `don't implement it yet`.
        (true, false) if writes && object.bare => vec![(K::Write, Vec::new())],
        _ => Vec::new(),
    }
}

/// `commits or branches`: reads those of the made things that are actions.
pub(super) fn made_all(tail: &[Word]) -> Vec<Action> {
    let lists = |word: &Word| word.is_one_of(&["or", "nor", "and"]) || word.is_break() && word.raw == ",";
    let mut found = grammar::read("made", tail);
    for (at, _) in tail.iter().enumerate().take(8).filter(|(_, word)| lists(word)) {
        let next = grammar::read("made", &tail[at + 1..]);
        found.extend(next.into_iter().filter(|(kind, _)| *kind != ConstraintKind::Write));
    }
    found.dedup();
    found
}

/// `anything to package.json`.
pub(super) fn added(tail: &[Word]) -> Vec<Action> {
    let what = object(tail, Names::Known);
    let into = tail.iter().take(what.len).any(|word| word.is_one_of(&["to", "in", "into", "under"]));
    let named = what.general && into && !what.outside && !what.of.is_empty();
    if named { vec![(ConstraintKind::Touch, what.of)] } else { Vec::new() }
}

/// Reads `changes`, with their target.
pub(super) fn changes_to(tail: &[Word]) -> Vec<Action> {
    let object = object(tail, Names::Known);
    match (object.of.is_empty(), object.outside || object.other) {
        (false, true) => vec![(ConstraintKind::Only, object.of)],
        (false, false) => vec![(ConstraintKind::Touch, object.of)],
        (true, false) if is_over(&tail[object.len..]) || tail.is_empty() => vec![(ConstraintKind::Write, Vec::new())],
        _ => Vec::new(),
    }
}

/// `--force and --no-verify`.
pub(super) fn flags(tail: &[Word]) -> Vec<Action> {
    let listed = tail.iter().filter(|word| !word.is_one_of(&["or", "and", "nor"]) && !word.is_break());
    listed.map_while(flag).map(|flag| (ConstraintKind::Run, vec![flag])).take(4).collect()
}

/// `curl or wget`.
pub(super) fn programs(tail: &[Word]) -> Vec<Action> {
    let listed = tail.iter().take_while(|word| target::is_program(word) || word.is_one_of(&["or", "and", "nor"]));
    let programs = listed.filter(|word| target::is_program(word));
    programs.map(|word| (ConstraintKind::Run, vec![word.text.clone()])).collect()
}

/// Returns true for all new files (`new files`, `any files`, `extra files in src/`) and false for a certain one.
pub(super) fn makes_files(tail: &[Word]) -> bool {
    let words =
        skip(tail, &["any", "new", "more", "additional", "extra", "further", "other", "a", "single", "the", "source"]);
    let new = tail[..tail.len() - words.len()].iter().any(|word| !word.is_one_of(&["the", "a", "source"]));
    match words {
        [file, rest @ ..] if file.is_one_of(&["file", "files"]) => {
            (new || file.is("files"))
                && (ends(rest.first()) || is_over(rest) || rest[0].is_one_of(&["to", "in", "into", "for"]) && new)
        }
        _ => false,
    }
}

/// `--force`, as it is typed.
pub(super) fn flag(word: &Word) -> Option<String> {
    let text = word.text.trim_end_matches(['.', ',']);
    let name = text.strip_prefix("--")?;
    let plain = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (plain && matches!(word.kind, WordKind::Plain | WordKind::Code)).then(|| text.to_owned())
}

pub(super) fn is_force(word: &Word) -> bool {
    word.text == "-f" || word.text.starts_with("--force")
}

pub(super) fn is_network(words: &[Word]) -> bool {
    let first = skip(words, &["the", "any", "a"]);
    first.first().is_some_and(|word| word.is_one_of(&["network", "internet", "web"]))
}

/// Returns true if a condition other than the human's approval follows (`unless`).
pub(super) fn is_conditional(words: &[Word]) -> bool {
    let condition = words.iter().position(|word| word.is_one_of(&["unless"]));
    condition.is_some_and(|at| !words[at..].iter().any(|word| word.is_in(list("about-human"))))
}

/// Reads a run of a command.
pub(super) fn run(words: &[Word]) -> Vec<Action> {
    run_object(words).map(|line| vec![(ConstraintKind::Run, vec![line])]).unwrap_or_default()
}

/// Returns the command, or the thing with its usual commands, that is to be run.
pub(super) fn run_object(words: &[Word]) -> Option<String> {
    let words = list("about-light").skip(words);
    // `the app's migrations`.
    let owner = words.first().is_some_and(|word| word.text.ends_with("'s"));
    let words = &words[usize::from(owner)..];
    let first = words.first()?;
    if let Some((name, _)) =
        target::named(words).filter(|(name, _)| list("about-runnable").is(&steadfast_words::words(name)))
    {
        return Some(name.to_owned());
    }
    if first.kind == WordKind::Code {
        return first.raw.chars().next().is_some_and(char::is_alphanumeric).then(|| first.raw.clone());
    }
    if !target::is_program(first) {
        return None;
    }
    let end = words.iter().position(|word| ends(Some(word)) || word.is_one_of(&["in", "on", "to", "from"]));
    let end = words.iter().position(|word| word.is_one_of(&["commands", "command", "containers"])).or(end);
    // `git commands that push`: only certain commands.
    if end.and_then(|end| words.get(end + 1)).is_some_and(|word| word.is_one_of(&["that", "which"])) {
        return None;
    }
    let line: Vec<&str> = words[..end.unwrap_or(words.len())].iter().map(|word| word.raw.as_str()).collect();
    Some(line.join(" ").to_lowercase())
}

/// Reads dependencies: `Some(true)` if the words say that they are new, `None` if the words are about something else.
pub(super) fn dependencies(words: &[Word]) -> Option<bool> {
    let words = skip(words, &["any", "a", "an", "in", "the", "some"]);
    let end = words.iter().position(|word| !word.is_in(list("about-adjectives")))?;
    words[end].is_in(list("about-nouns")).then_some(end > 0)
}
