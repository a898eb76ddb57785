//! What is done: a verb with its object, as a kind of action with what it is about.

use steadfast_model::ConstraintKind;

use super::object::{Git, Names, dependencies, ends, git_object, is_conditional, object, run_object, skip};
use super::thing;
use super::words::{Kind, Word};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Commit,
    Push,
    ForcePush,
    Merge,
    Make,
    Switch,
    Add,
    Use,
    Install,
    Download,
    Access,
    Run,
    Delete,
    Rename,
    Touch,
    /// As [`Self::Touch`], of whatever is named.
    TouchAny,
    Write,
}

impl Verb {
    fn is_of_git(self) -> bool {
        matches!(self, Self::Commit | Self::Push | Self::ForcePush | Self::Merge)
    }
}

const VERBS: [(&str, Verb); 44] = [
    ("commit", Verb::Commit),
    ("push", Verb::Push),
    ("force-push", Verb::ForcePush),
    ("merge", Verb::Merge),
    ("rebase", Verb::Merge),
    ("create", Verb::Make),
    ("open", Verb::Make),
    ("make", Verb::Make),
    ("submit", Verb::Make),
    ("raise", Verb::Make),
    ("file", Verb::Make),
    ("switch", Verb::Switch),
    ("checkout", Verb::Switch),
    ("add", Verb::Add),
    ("introduce", Verb::Add),
    ("use", Verb::Use),
    ("install", Verb::Install),
    ("download", Verb::Download),
    ("fetch", Verb::Download),
    ("access", Verb::Access),
    ("hit", Verb::Access),
    ("run", Verb::Run),
    ("rerun", Verb::Run),
    ("execute", Verb::Run),
    ("start", Verb::Run),
    ("launch", Verb::Run),
    ("delete", Verb::Delete),
    ("remove", Verb::Delete),
    ("rename", Verb::Rename),
    ("move", Verb::Rename),
    ("touch", Verb::TouchAny),
    ("change", Verb::Touch),
    ("modify", Verb::Touch),
    ("edit", Verb::Touch),
    ("alter", Verb::Touch),
    ("update", Verb::Touch),
    ("rewrite", Verb::Touch),
    ("refactor", Verb::Touch),
    ("reformat", Verb::Touch),
    ("overwrite", Verb::Touch),
    ("write", Verb::Write),
    ("implement", Verb::Write),
    ("fix", Verb::Write),
    ("code", Verb::Write),
];

/// Verbs of two words.
const PAIRS: [(&str, &str, Verb); 5] = [
    ("force", "push", Verb::ForcePush),
    ("mess", "with", Verb::TouchAny),
    ("pull", "in", Verb::Add),
    ("bring", "in", Verb::Add),
    ("check", "out", Verb::Switch),
];

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

pub(super) fn is_verb(words: &[Word]) -> bool {
    verb(words).is_some()
}

fn verb(words: &[Word]) -> Option<(Verb, usize)> {
    let first = words.first().filter(|word| word.kind == Kind::Plain)?;
    // `git commit`, `npm install`: the program says nothing more.
    if first.is_one_of(&["git", "npm", "pnpm", "yarn", "pip", "cargo", "brew", "apt", "uv"]) {
        return verb(&words[1..]).map(|(verb, len)| (verb, len + 1));
    }
    if let Some(second) = words.get(1) {
        let pair = PAIRS.iter().find(|(one, two, _)| {
            (is_form(&first.text, one) && second.is(two)) || (first.is(one) && is_form(&second.text, two))
        });
        if let Some((_, _, verb)) = pair {
            return Some((*verb, 2));
        }
    }
    VERBS.iter().find(|(base, _)| is_form(&first.text, base)).map(|(_, verb)| (*verb, 1))
}

/// The base form or the one in `-ing`.
fn is_form(text: &str, base: &str) -> bool {
    let Some(stem) = text.strip_suffix("ing") else { return text == base };
    stem == base
        || base.strip_suffix('e') == Some(stem)
        || stem.strip_prefix(base).is_some_and(|doubled| doubled.len() == 1 && base.ends_with(doubled))
}

fn conjunctions(words: &[Word], joining: &[&str]) -> usize {
    words.iter().position(|word| !joining.contains(&word.text.as_str())).unwrap_or(words.len())
}

fn action(verb: Verb, tail: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let one = |kind: K| vec![(kind, Vec::new())];
    match verb {
        Verb::Commit | Verb::Push => {
            let kind = if verb == Verb::Commit { K::Commit } else { K::Push };
            match git_object(tail) {
                Git::All => one(kind),
                Git::To(branches) => vec![(kind, branches)],
                Git::Particular => Vec::new(),
            }
        }
        Verb::ForcePush => vec![(K::Push, vec!["--force".to_owned()])],
        Verb::Merge => {
            let about = skip(tail, &["the", "this", "my", "your"]);
            let request = about.first().is_some_and(is_request);
            if request || git_object(tail) != Git::Particular { one(K::Merge) } else { Vec::new() }
        }
        Verb::Make => made(tail),
        Verb::Switch => {
            let branch = tail.iter().take(4).any(|word| word.is_one_of(&["branch", "branches"]));
            if branch { one(K::Branch) } else { Vec::new() }
        }
        Verb::Add => dependencies(tail).map(|_| one(K::Dependencies)).unwrap_or_default(),
        Verb::Use => used(tail),
        Verb::Install => {
            let object = object(tail, Names::Known);
            match dependencies(tail) {
                Some(true) => one(K::Dependencies),
                Some(false) => one(K::Install),
                None if object.bare || object.general => one(K::Install),
                // `what you need`.
                None if tail.first().is_some_and(|word| word.is_one_of(&["what", "whatever"])) => one(K::Install),
                None => Vec::new(),
            }
        }
        Verb::Download => {
            if object(tail, Names::Known).general {
                one(K::Network)
            } else {
                Vec::new()
            }
        }
        Verb::Access => {
            if is_network(tail) {
                one(K::Network)
            } else {
                Vec::new()
            }
        }
        Verb::Run => run_object(tail).map(|line| vec![(K::Run, vec![line])]).unwrap_or_default(),
        Verb::Delete | Verb::Rename => {
            let kind = if verb == Verb::Delete { K::Delete } else { K::Rename };
            let object = object(tail, Names::Known);
            if object.outside || !ends(tail.get(object.len)) {
                Vec::new()
            } else if object.bare || object.general || !object.of.is_empty() {
                vec![(kind, object.of)]
            } else {
                Vec::new()
            }
        }
        Verb::Touch | Verb::TouchAny | Verb::Write => touched(verb, tail),
    }
}

fn touched(verb: Verb, tail: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let object = object(tail, if verb == Verb::TouchAny { Names::Any } else { Names::Known });
    // `don't change the tests' names`: about something of theirs.
    let whole = ends(tail.get(object.len)) || object.of.iter().any(|name| name.contains(['/', '.']));
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

fn made(tail: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let words = skip(tail, &["a", "an", "any", "the", "new", "more", "another", "up", "code", "further"]);
    let Some(first) = words.first() else { return Vec::new() };
    if is_request(first) {
        vec![(K::PullRequest, Vec::new())]
    } else if first.is_one_of(&["branch", "branches"]) && ends(words.get(1)) {
        vec![(K::Branch, Vec::new())]
    } else if first.is_one_of(&["commit", "commits"]) && ends(words.get(1)) {
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
        (true, false) if ends(tail.get(object.len)) => vec![(ConstraintKind::Write, Vec::new())],
        _ => Vec::new(),
    }
}

fn used(tail: &[Word]) -> Vec<Action> {
    let program = skip(tail, &["the", "any"]);
    match (dependencies(tail), program) {
        (Some(true), _) => vec![(ConstraintKind::Dependencies, Vec::new())],
        _ if is_network(tail) => vec![(ConstraintKind::Network, Vec::new())],
        (_, [first, ..]) if first.kind == Kind::Code && thing::is_command(first) => {
            vec![(ConstraintKind::Run, vec![first.raw.clone()])]
        }
        (_, [first, rest @ ..]) if thing::is_program(first) && ends(rest.first()) => {
            vec![(ConstraintKind::Run, vec![first.text.clone()])]
        }
        _ => Vec::new(),
    }
}

/// `PR`, `pull request`, `MR`.
pub(super) fn is_request(word: &Word) -> bool {
    word.is_one_of(&["pr", "prs", "mr", "pull", "pull-request", "merge-request"])
}

pub(super) fn is_network(words: &[Word]) -> bool {
    let first = skip(words, &["the", "any", "a"]);
    first.first().is_some_and(|word| word.is_one_of(&["network", "internet", "web"]))
}
