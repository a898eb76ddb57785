//! What is done, by its noun: `no commits`, `without changes to docs/`, `leave the merge to me`.
//!
//! - `no commits please` → `commit`
//! - `no direct pushes to main` → `push:main`
//! - `no edits in docs/api` → `touch:docs/api`
//!
//! What there is or was, is none: `no commits since Monday`, `no network is the reason`.

use super::list;
use steadfast_model::ConstraintKind;

use super::about::{Git, dependencies, git_object, run_object};
use super::action::{Action, actions, changes_to, is_request, made, makes_files};
use super::object::{Names, ends, object, skip};
use super::order::is_over;
use super::thing;
use steadfast_words::{Kind, Word};

/// What follows `no`.
pub(super) fn noun(rest: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    if rest.first().is_some_and(|word| word.is_one_of(&["code", "coding", "implementation", "implementing"]))
        && ends(rest.get(1))
    {
        return vec![(K::Write, Vec::new())];
    }
    // The adjectives make it a noun.
    if dependencies(rest) == Some(true) {
        return new_dependencies(rest);
    }
    if let Some(found) = of_things(rest) {
        return found;
    }
    let bare = ["libs", "libraries", "packages", "dependencies", "deps", "frameworks"];
    if let [what, tail @ ..] = rest
        && what.is_one_of(&bare)
        && is_over(tail)
    {
        return vec![(K::Dependencies, Vec::new())];
    }
    if rest.first().is_some_and(|word| word.text.starts_with("--")) && is_over(&rest[1..]) {
        return actions(&[vec![Word::of("use")], rest.to_vec()].concat());
    }
    if rest.first().is_some_and(|word| word.is_one_of(&["new", "extra", "additional"])) && makes_files(rest) {
        return vec![(K::Create, Vec::new())];
    }
    let words = list("noun-light").skip(rest);
    let Some(first) = words.first() else { return Vec::new() };
    let tail = &words[1..];
    if is_stated(tail) {
        return Vec::new();
    }
    let kind = match first.text.as_str() {
        "commits" | "commit" | "committing" => return of_git(K::Commit, tail),
        "pushing" | "pushes" | "push" => return of_git(K::Push, tail),
        "force" | "forced" if tail.first().is_some_and(|word| word.text.starts_with("push")) => {
            return vec![(K::Push, vec!["--force".to_owned()])];
        }
        "force-push" | "force-pushes" | "force-pushing" => return vec![(K::Push, vec!["--force".to_owned()])],
        "installs" | "installing" | "installation" | "installations" => K::Install,
        "network" | "internet" | "downloads" | "downloading" | "download" => {
            let tail = skip(tail, &["access", "calls", "requests", "connection", "connections", "usage", "traffic"]);
            return if is_over(tail) { vec![(K::Network, Vec::new())] } else { Vec::new() };
        }
        "deleting" | "deletes" | "deletions" | "deletion" | "removals" => K::Delete,
        "renames" | "renaming" | "rename" | "renamings" | "moves" => K::Rename,
        "merges" | "merging" | "rebasing" | "rebase" | "rebases" => K::Merge,
        "merge" if !tail.first().is_some_and(|word| word.is_one_of(&["request", "requests", "conflicts"])) => K::Merge,
        "branches" | "branching" | "branch" => K::Branch,
        "changes" | "edits" | "modifications" | "editing" | "modification" | "alterations" => return changes_to(tail),
        "new" if tail.first().is_some_and(|word| word.is_one_of(&["branch", "branches"])) && ends(tail.get(1)) => {
            K::Branch
        }
        "deploys" | "deployment" | "deployments" | "deploy" | "deploying" if is_over(tail) || tail[0].is("to") => {
            return vec![(K::Run, vec!["deploy".to_owned()])];
        }
        "publishing" if is_over(tail) => return vec![(K::Run, vec!["publish".to_owned()])],
        "web" if tail.first().is_some_and(|word| word.text.starts_with("search") || word.is("access")) => K::Network,
        "test" if tail.first().is_some_and(|word| word.is("runs")) && is_over(&tail[1..]) => {
            return vec![(K::Run, vec!["tests".to_owned()])];
        }
        _ if is_request(first) => K::PullRequest,
        _ if is_run(first) && actions(words).is_empty() => {
            let run = run_object(words).map(|line| vec![(K::Run, vec![line])]);
            return run.unwrap_or_default();
        }
        // `worktrees or branches`: of two, one may be of no matter.
        _ if tail.first().is_some_and(|word| word.is_one_of(&["or", "nor"])) && actions(words).is_empty() => {
            return noun(&tail[1..]);
        }
        _ => return actions(words),
    };
    let tail = list("noun-tail").skip(tail);
    let more = listed(tail);
    if goes_no_further(tail) { [vec![(kind, Vec::new())], more].concat() } else { Vec::new() }
}

/// `test changes`, `tests should be changed`.
fn of_things(rest: &[Word]) -> Option<Vec<Action>> {
    use ConstraintKind as K;
    let words = skip(rest, &["any", "more", "existing"]);
    // `no file other than main.rs should be changed`.
    let fenced = object(words, Names::Known);
    if fenced.outside && fenced.general && !fenced.of.is_empty() {
        return Some(vec![(K::Only, fenced.of)]);
    }
    let (name, len) = match words.first()? {
        first if first.is("test") => ("tests".to_owned(), 1),
        first if first.is_one_of(&["files", "file", "code"]) => (String::new(), 1),
        first => thing::path(first)
            .map(|path| (path, 1))
            .or_else(|| thing::named(words).map(|(name, len)| (name.to_owned(), len)))?,
    };
    let of = if name.is_empty() { Vec::new() } else { vec![name] };
    let touch = if of.is_empty() { K::Write } else { K::Touch };
    match &words[len..] {
        [changes, tail @ ..]
            if !of.is_empty() && changes.is_one_of(&["changes", "change", "edits", "modifications"]) =>
        {
            (is_over(tail)).then(|| vec![(touch, of)])
        }
        [modal, be, done, tail @ ..]
            if modal.is_one_of(&["should", "may", "must", "shall"]) && be.is("be") && is_over(tail) =>
        {
            match done.text.as_str() {
                "changed" | "touched" | "modified" | "edited" => Some(vec![(touch, of)]),
                "deleted" | "removed" => Some(vec![(K::Delete, of)]),
                "renamed" | "moved" => Some(vec![(K::Rename, of)]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What is done, by nothing but its nouns: `commits and pushes`, `the merge`.
pub(super) fn deeds(words: &[Word]) -> Vec<Action> {
    let mut found = Vec::new();
    for part in words.split(|word| word.is_break() || word.is_one_of(&["and", "or", "nor"])) {
        let part = skip(part, &["the", "a", "an", "my", "any"]);
        if part.is_empty() {
            continue;
        }
        let named = made(part);
        let actions = if named.is_empty() { noun(part) } else { named };
        if actions.is_empty() {
            return Vec::new();
        }
        found.extend(actions);
    }
    found
}

fn of_git(kind: ConstraintKind, tail: &[Word]) -> Vec<Action> {
    if tail.first().is_some_and(|word| word.text == "-f" || word.text.starts_with("--force")) {
        return vec![(kind, vec!["--force".to_owned()])];
    }
    let more = listed(tail);
    match git_object(tail) {
        Git::All => [vec![(kind, Vec::new())], more].concat(),
        Git::To(branches) => vec![(kind, branches)],
        Git::Particular => Vec::new(),
    }
}

/// `commits or pushes`.
fn listed(tail: &[Word]) -> Vec<Action> {
    match tail {
        [or, rest @ ..] if or.is_one_of(&["or", "nor", "and"]) && !rest.is_empty() => noun(rest),
        // A verb behind a comma would be another order.
        [comma, next, ..]
            if comma.is_break() && comma.raw == "," && (next.text.ends_with("ing") || next.text.ends_with('s')) =>
        {
            noun(&tail[1..])
        }
        _ => Vec::new(),
    }
}

fn new_dependencies(words: &[Word]) -> Vec<Action> {
    let noun = words.iter().position(|word| dependencies(std::slice::from_ref(word)) == Some(false));
    let after = noun.and_then(|noun| words.get(noun + 1..)).unwrap_or_default();
    let asked_for = goes_no_further(after) && !is_stated(after);
    if asked_for { vec![(ConstraintKind::Dependencies, Vec::new())] } else { Vec::new() }
}

/// Programs whose name alone says that they are run.
fn is_run(word: &Word) -> bool {
    let spoken = ["make", "find", "go", "node", "rails", "python"];
    thing::is_program(word) && !word.is_one_of(&spoken) || word.kind == Kind::Code && thing::is_command(word)
}

fn goes_no_further(tail: &[Word]) -> bool {
    ends(tail.first())
        || tail[0].is_one_of(&["in", "on", "to", "allowed", "whatsoever", "anywhere", "access", "calls", "elsewhere"])
}

/// `is the reason`, `were found`: how it is, not how it shall be.
fn is_stated(tail: &[Word]) -> bool {
    let clause = tail.iter().position(Word::is_break).map_or(tail, |end| &tail[..end]);
    let states = ["is", "are", "was", "were", "has", "have", "needed", "found", "means", "exists", "exist"];
    let Some(at) = clause.iter().position(|word| word.is_one_of(&states)) else { return false };
    let why =
        clause[..at].iter().any(|word| word.is_one_of(&["because", "since", "as", "until", "till", "when", "if"]));
    let forbids = clause[at..].iter().any(|word| word.is_one_of(&["allowed", "permitted", "wanted"]));
    !why && !forbids
}
