//! What is done: verbs with their object, as a kind of action with what it is about.

use steadfast_model::ConstraintKind;
use steadfast_words::{Word, WordKind};

use super::object::{Names, ends, object, skip};
use super::operation::{Git, dependencies, git_object, is_conditional, run_object};
use super::order::is_over;
use super::target;
use super::verb::{is_of_git, verb};
use super::{grammar, list};

/// An action of a human's sentence.
pub(super) type Action = (ConstraintKind, Vec<String>);

/// The actions that the verbs from here on name, joined by commas and `or`, and by `and` where nothing stands between.
pub(super) fn actions(words: &[Word]) -> Vec<Action> {
    // `stage or commit`: of two verbs one may be of no matter.
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
    // `start or stop the dev server`: of two, one may be of no matter.
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

/// Commits or pushes, of all or to certain branches.
pub(super) fn of_git(kind: ConstraintKind, tail: &[Word]) -> Vec<Action> {
    match git_object(tail) {
        Git::All => vec![(kind, Vec::new())],
        Git::To(branches) => vec![(kind, branches)],
        Git::Particular => Vec::new(),
    }
}

/// Files that are deleted or renamed.
pub(super) fn of_files(kind: ConstraintKind, tail: &[Word]) -> Vec<Action> {
    let object = object(tail, Names::Known);
    // `any branches or files`.
    let or = tail.iter().take(4).position(|word| word.is_one_of(&["or", "and"]));
    if let Some(or) = or.filter(|_| object.of.is_empty() && !object.general) {
        return of_files(kind, &tail[or + 1..]).into_iter().filter(|(_, of)| of.is_empty()).collect();
    }
    // `the old code` is in a file, and not one.
    let in_one = tail.iter().take(object.len).any(|word| word.is_one_of(&["code", "database", "db"]));
    let named = object.bare || object.general || !object.of.is_empty();
    let whole = !in_one && !object.outside && ends(tail.get(object.len)) && named;
    if whole { vec![(kind, object.of)] } else { Vec::new() }
}

/// What is changed, by these names. `writes`: a bare verb is about everything.
pub(super) fn changed(tail: &[Word], names: Names, writes: bool) -> Vec<Action> {
    use ConstraintKind as K;
    let object = object(tail, names);
    // `don't change the tests' names`: about something of theirs.
    let next = &tail[object.len..];
    // `to make them pass` says what for.
    let purpose = skip(next, &["just", "only", "in", "order"]);
    // The object took the `to` for one of its own.
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

/// `commits or branches`: of all that is made, what matters.
pub(super) fn made_all(tail: &[Word]) -> Vec<Action> {
    let lists = |word: &Word| word.is_one_of(&["or", "nor", "and"]) || word.is_break() && word.raw == ",";
    let first = made(tail);
    let mut found = first;
    for (at, _) in tail.iter().enumerate().take(8).filter(|(_, word)| lists(word)) {
        found.extend(made(&tail[at + 1..]).into_iter().filter(|(kind, _)| *kind != ConstraintKind::Write));
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

pub(super) fn made(tail: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let words = list("action-1").skip(tail);
    let Some(first) = words.first() else { return Vec::new() };
    let here = |rest: &[Word]| {
        let place = match rest {
            [on, which, ..] if on.is_one_of(&["on", "in"]) && which.is_one_of(&["this", "my", "our"]) => true,
            [on, the, what, ..] if on.is_one_of(&["on", "in"]) && the.is("the") => what.is_in(list("action-here")),
            _ => false,
        };
        place || ends(rest.first())
    };
    // `the PR description` opens nothing.
    let part = ["description", "template", "title", "body", "comment", "comments", "review", "number", "text"];
    if words.iter().skip(1).take(2).any(|word| word.is_one_of(&part)) {
        return Vec::new();
    }
    if is_request(first) {
        vec![(K::PullRequest, Vec::new())]
    } else if makes_files(tail) {
        vec![(K::Create, Vec::new())]
    } else if first.is_one_of(&["branch", "branches"]) && here(&words[1..]) {
        vec![(K::Branch, Vec::new())]
    } else if first.is_one_of(&["commit", "commits"]) && here(&words[1..]) {
        vec![(K::Commit, Vec::new())]
    } else if first.is_one_of(&["changes", "edits", "modifications"]) {
        changes_to(&words[1..])
    } else if is_network(words) && words.iter().take(3).any(|word| word.is_one_of(&["requests", "calls"])) {
        vec![(K::Network, Vec::new())]
    } else {
        Vec::new()
    }
}

/// `changes`, and to what.
pub(super) fn changes_to(tail: &[Word]) -> Vec<Action> {
    let object = object(tail, Names::Known);
    match (object.of.is_empty(), object.outside || object.other) {
        (false, true) => vec![(ConstraintKind::Only, object.of)],
        (false, false) => vec![(ConstraintKind::Touch, object.of)],
        (true, false) if is_over(&tail[object.len..]) || tail.is_empty() => vec![(ConstraintKind::Write, Vec::new())],
        _ => Vec::new(),
    }
}

pub(super) fn used(tail: &[Word]) -> Vec<Action> {
    let program = skip(tail, &["the", "any", "flag", "option", "flags"]);
    let listed = program.iter().filter(|word| !word.is_one_of(&["or", "and", "nor"]) && !word.is_break());
    let flags: Vec<Action> = listed.map_while(flag).map(|flag| (ConstraintKind::Run, vec![flag])).take(4).collect();
    if !flags.is_empty() {
        return flags;
    }
    match (dependencies(tail), program) {
        (Some(true), _) => vec![(ConstraintKind::Dependencies, Vec::new())],
        _ if is_network(tail) => vec![(ConstraintKind::Network, Vec::new())],
        // `git stash`, `rm -rf`: with what it is used.
        (_, [first, second, ..])
            if first.is("git") && !ends(Some(second)) || target::is_program(first) && second.text.starts_with('-') =>
        {
            let does = actions(program);
            let line = run_object(program).map(|line| vec![(ConstraintKind::Run, vec![line])]);
            if does.is_empty() { line.unwrap_or_default() } else { does }
        }
        (_, [first, ..]) if first.kind == WordKind::Code && target::is_command(first) => {
            vec![(ConstraintKind::Run, vec![first.raw.clone()])]
        }
        (_, [first, rest @ ..]) if target::is_program(first) && ends(rest.first()) => {
            // `curl or wget`.
            let listed =
                program.iter().take_while(|word| target::is_program(word) || word.is_one_of(&["or", "and", "nor"]));
            let programs = listed.filter(|word| target::is_program(word));
            programs.map(|word| (ConstraintKind::Run, vec![word.text.clone()])).collect()
        }
        _ => Vec::new(),
    }
}

/// `new files`, `any files`, `extra files in src/`: all of them, and not a certain one.
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
fn flag(word: &Word) -> Option<String> {
    let text = word.text.trim_end_matches(['.', ',']);
    let name = text.strip_prefix("--")?;
    let plain = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (plain && matches!(word.kind, WordKind::Plain | WordKind::Code)).then(|| text.to_owned())
}

pub(super) fn is_force(word: &Word) -> bool {
    word.text == "-f" || word.text.starts_with("--force")
}

/// `PR`, `pull request`, `MR`.
pub(super) fn is_request(word: &Word) -> bool {
    word.is_in(list("requests"))
}

pub(super) fn is_network(words: &[Word]) -> bool {
    let first = skip(words, &["the", "any", "a"]);
    first.first().is_some_and(|word| word.is_one_of(&["network", "internet", "web"]))
}
