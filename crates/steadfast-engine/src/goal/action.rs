//! What is done: verbs with their object, as a kind of action with what it is about.

use super::list;
use steadfast_model::ConstraintKind;

use super::about::{Git, dependencies, git_object, is_conditional, run_object};
use super::object::{Names, ends, object, skip};
use super::order::is_over;
use super::thing;
use super::verb::{Verb, verb};
use steadfast_words::{Kind, Word};

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
        && other.kind == Kind::Plain
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
        let shares = last.is_some_and(|last| verb == last || verb.is_of_git() == last.is_of_git());
        found.extend(action(verb, if shares { tail } else { &[] }));
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

fn action(verb: Verb, tail: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let one = |kind: K| vec![(kind, Vec::new())];
    match verb {
        // `push --force`.
        Verb::Push if tail.first().is_some_and(is_force) => vec![(K::Push, vec!["--force".to_owned()])],
        Verb::Commit | Verb::Push => {
            let kind = if verb == Verb::Commit { K::Commit } else { K::Push };
            match git_object(tail) {
                Git::All => one(kind),
                Git::To(branches) => vec![(kind, branches)],
                Git::Particular => Vec::new(),
            }
        }
        // `deploy is the name of the flag`.
        Verb::Deploy if tail.first().is_some_and(|word| word.is_one_of(&["is", "are", "was", "were", "means"])) => {
            Vec::new()
        }
        Verb::Deploy => vec![(K::Run, vec!["deploy".to_owned()])],
        Verb::Publish => {
            let what = skip(tail, &["a", "an", "any", "the", "this", "new", "another", "to"]);
            let meant =
                what.first().is_some_and(|word| word.is_in(list("action-things")) || word.is_in(list("action-places")));
            let all = meant || git_object(tail) != Git::Particular;
            if all { vec![(K::Run, vec!["publish".to_owned()])] } else { Vec::new() }
        }
        Verb::ForcePush => vec![(K::Push, vec!["--force".to_owned()])],
        Verb::Merge => {
            let about = skip(tail, &["the", "this", "my", "your"]);
            let request = about.first().is_some_and(is_request);
            // `merge main into this`.
            let branch = about.first().is_some_and(thing::is_branch);
            if request || branch || git_object(tail) != Git::Particular { one(K::Merge) } else { Vec::new() }
        }
        Verb::Make => made_all(tail),
        Verb::Switch => {
            let branch = tail.iter().take(4).any(|word| word.is_one_of(&["branch", "branches"]));
            let named = skip(tail, &["to", "over", "back"]).first().is_some_and(thing::is_branch);
            if branch || named { one(K::Branch) } else { Vec::new() }
        }
        Verb::Branch => {
            let off = skip(tail, &["off", "out", "this", "here", "away"]);
            if ends(off.first()) { one(K::Branch) } else { Vec::new() }
        }
        Verb::Call => {
            let what = skip(tail, &["the", "any"]);
            let called = what.first().is_some_and(|word| thing::is_command(word) || thing::is_program(word))
                || thing::named(what).is_some();
            let line = if called { run_object(tail) } else { None };
            line.map(|line| vec![(K::Run, vec![line])]).unwrap_or_default()
        }
        Verb::Add => match dependencies(tail) {
            Some(_) => one(K::Dependencies),
            // `a logging library`.
            None if matches!(tail, [a, _, what, ..] if a.is_one_of(&["a", "an", "another"])
                && what.is_one_of(&["library", "package", "dependency", "lib", "crate"]))
                && ends(tail.get(3)) =>
            {
                one(K::Dependencies)
            }
            None if makes_files(tail) => one(K::Create),
            None => added(tail),
        },
        Verb::Use => used(tail),
        Verb::Install => {
            let object = object(tail, Names::Known);
            match dependencies(tail) {
                Some(true) => one(K::Dependencies),
                Some(false) => one(K::Install),
                None if object.bare || object.general => one(K::Install),
                // `what you need`.
                None if tail.first().is_some_and(|word| word.is_one_of(&["what", "whatever"])) => one(K::Install),
                None if skip(tail, &["any", "new", "more", "other"]).first().is_some_and(is_tool) => one(K::Install),
                None => Vec::new(),
            }
        }
        Verb::Download => {
            if object(tail, Names::Known).general
                || ends(skip(tail, &["any", "the", "new"]).get(1)) && !ends(tail.first())
            {
                one(K::Network)
            } else {
                Vec::new()
            }
        }
        Verb::Search => {
            if ends(skip(tail, &["it", "for", "the", "web", "internet", "anything"]).first()) {
                one(K::Network)
            } else {
                Vec::new()
            }
        }
        Verb::Access => {
            if is_network(tail) || tail.iter().take(3).any(|word| word.is("online")) {
                one(K::Network)
            } else {
                Vec::new()
            }
        }
        Verb::Run => run_object(tail).map(|line| vec![(K::Run, vec![line])]).unwrap_or_default(),
        Verb::Delete | Verb::Rename => {
            let kind = if verb == Verb::Delete { K::Delete } else { K::Rename };
            let object = object(tail, Names::Known);
            // `any branches or files`.
            let or = tail.iter().take(4).position(|word| word.is_one_of(&["or", "and"]));
            if let Some(or) = or.filter(|_| object.of.is_empty() && !object.general) {
                return action(verb, &tail[or + 1..]).into_iter().filter(|(_, of)| of.is_empty()).collect();
            }
            // `the old code` is in a file, and not one.
            if tail.iter().take(object.len).any(|word| word.is_one_of(&["code", "database", "db"])) {
                return Vec::new();
            }
            if object.outside || !ends(tail.get(object.len)) {
                Vec::new()
            } else if object.bare || object.general || !object.of.is_empty() {
                vec![(kind, object.of)]
            } else {
                Vec::new()
            }
        }
        Verb::TouchAny if dependencies(tail).is_some() => one(K::Dependencies),
        Verb::Rework => touched(verb, tail).into_iter().filter(|(kind, _)| *kind != K::Write).collect(),
        Verb::Touch | Verb::TouchAny | Verb::Write => touched(verb, tail),
    }
}

fn touched(verb: Verb, tail: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let object = object(tail, if verb == Verb::TouchAny { Names::Any } else { Names::Known });
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
        (true, false) if verb == Verb::Write && object.bare => vec![(K::Write, Vec::new())],
        _ => Vec::new(),
    }
}

/// `commits or branches`: of all that is made, what matters.
fn made_all(tail: &[Word]) -> Vec<Action> {
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
fn added(tail: &[Word]) -> Vec<Action> {
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

fn used(tail: &[Word]) -> Vec<Action> {
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
            if first.is("git") && !ends(Some(second)) || thing::is_program(first) && second.text.starts_with('-') =>
        {
            let does = actions(program);
            let line = run_object(program).map(|line| vec![(ConstraintKind::Run, vec![line])]);
            if does.is_empty() { line.unwrap_or_default() } else { does }
        }
        (_, [first, ..]) if first.kind == Kind::Code && thing::is_command(first) => {
            vec![(ConstraintKind::Run, vec![first.raw.clone()])]
        }
        (_, [first, rest @ ..]) if thing::is_program(first) && ends(rest.first()) => {
            // `curl or wget`.
            let listed =
                program.iter().take_while(|word| thing::is_program(word) || word.is_one_of(&["or", "and", "nor"]));
            let programs = listed.filter(|word| thing::is_program(word));
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
    (plain && matches!(word.kind, Kind::Plain | Kind::Code)).then(|| text.to_owned())
}

fn is_force(word: &Word) -> bool {
    word.text == "-f" || word.text.starts_with("--force")
}

fn is_tool(word: &Word) -> bool {
    word.is_one_of(&["tools", "software", "programs", "binaries"])
}

/// `PR`, `pull request`, `MR`.
pub(super) fn is_request(word: &Word) -> bool {
    word.is_one_of(&["pr", "prs", "pr's", "mr", "mrs", "pull", "pull-request", "merge-request"])
}

pub(super) fn is_network(words: &[Word]) -> bool {
    let first = skip(words, &["the", "any", "a"]);
    first.first().is_some_and(|word| word.is_one_of(&["network", "internet", "web"]))
}
