//! What commits and pushes, commands and dependencies are about.

use super::object::{ends, skip};
use super::thing;
use super::words::{Kind, Word};

/// Who speaks of themselves, or of what a human does.
const HUMAN: [&str; 25] = [
    "i",
    "i've",
    "i'm",
    "i'd",
    "i'll",
    "me",
    "my",
    "we",
    "we've",
    "review",
    "reviewed",
    "approval",
    "approve",
    "approved",
    "told",
    "tell",
    "say",
    "said",
    "asked",
    "ask",
    "okay",
    "asking",
    "permission",
    "consent",
    "confirmation",
];

const REMOTES: [&str; 8] = ["repo", "repository", "remote", "origin", "upstream", "github", "gitlab", "server"];

/// What a commit or a push is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Git {
    All,
    To(Vec<String>),
    /// A certain thing, or under a condition that is not the human's word.
    Particular,
}

pub(super) fn git_object(words: &[Word]) -> Git {
    const SAYS_NOTHING: [&str; 56] = [
        "tonight",
        "tomorrow",
        "automatically",
        "needlessly",
        "anymore",
        "more",
        "right",
        "there",
        "it",
        "this",
        "that",
        "these",
        "those",
        "them",
        "anything",
        "everything",
        "any",
        "the",
        "my",
        "your",
        "our",
        "changes",
        "change",
        "work",
        "stuff",
        "of",
        "up",
        "locally",
        "own",
        "yet",
        "now",
        "please",
        "here",
        "again",
        "branch",
        "all",
        "directly",
        "straight",
        "anywhere",
        "under",
        "circumstances",
        "at",
        "whatsoever",
        "ever",
        "from",
        "you",
        "today",
        "myself",
        "either",
        "tho",
        "though",
        "thanks",
        "then",
        "first",
        "just",
        "ok",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.is_break() || word.is_one_of(&["or", "and", "but", "because", "as", "since", "so", "ever"]) {
            return Git::All;
        }
        if word.is_one_of(&["to", "onto", "into", "on", "for"]) {
            let target = words[at + 1..].iter().find(|word| !word.is_one_of(&["the", "any", "our", "your", "my", "a"]));
            return match target {
                None => Git::Particular,
                Some(target) if thing::is_branch(target) || target.kind == Kind::Code => {
                    // `main or develop`.
                    let from =
                        words[at + 1..].iter().skip_while(|word| !thing::is_branch(word) && word.kind != Kind::Code);
                    let listed = from.take_while(|word| {
                        thing::is_branch(word) || word.kind == Kind::Code || word.is_one_of(&["or", "and", "nor"])
                    });
                    let named = listed.filter(|word| thing::is_branch(word) || word.kind == Kind::Code);
                    Git::To(named.map(|word| word.raw.clone()).collect())
                }
                Some(target) if target.text.starts_with("origin/") || target.text.starts_with("upstream/") => {
                    Git::To(target.raw.split_once('/').map(|(_, branch)| branch.to_owned()).into_iter().collect())
                }
                Some(target) if target.is_one_of(&REMOTES) => Git::All,
                // `on your own`, `for now`, `for this one`.
                Some(target) if target.is_one_of(&["own", "now", "this", "it", "behalf"]) => Git::All,
                Some(_) => Git::Particular,
            };
        }
        if word.is_one_of(&["until", "till", "before", "unless", "without"]) {
            let humans = words[at..].iter().any(|word| word.is_one_of(&HUMAN));
            return if humans { Git::All } else { Git::Particular };
        }
        if !word.is_one_of(&SAYS_NOTHING) {
            return Git::Particular;
        }
        at += 1;
    }
    Git::All
}

/// Whether what follows takes the sentence back, unless the human says otherwise.
pub(super) fn is_conditional(words: &[Word]) -> bool {
    let condition = words.iter().position(|word| word.is_one_of(&["unless"]));
    condition.is_some_and(|at| !words[at..].iter().any(|word| word.is_one_of(&HUMAN)))
}

/// The command, or the thing with its usual commands, that is run.
pub(super) fn run_object(words: &[Word]) -> Option<String> {
    const LIGHT: [&str; 20] = [
        "the", "any", "my", "our", "your", "all", "of", "full", "whole", "entire", "slow", "a", "another", "more",
        "second", "other", "new", "suite", "complete", "every",
    ];
    let words = skip(words, &LIGHT);
    // `the app's migrations`.
    let owner = words.first().is_some_and(|word| word.text.ends_with("'s"));
    let words = &words[usize::from(owner)..];
    let first = words.first()?;
    if let Some((name, _)) = thing::named(words).filter(|(name, _)| RUNNABLE.contains(name)) {
        return Some(name.to_owned());
    }
    let singles = [
        ("server", "dev server"),
        ("servers", "dev server"),
        ("build", "build"),
        ("linter", "linter"),
        ("formatter", "formatter"),
        ("benchmarks", "benchmarks"),
    ];
    if let Some((_, name)) = singles.iter().find(|(word, _)| first.is(word)) {
        return Some((*name).to_owned());
    }
    if first.kind == Kind::Code {
        return first.raw.chars().next().is_some_and(char::is_alphanumeric).then(|| first.raw.clone());
    }
    if !thing::is_program(first) {
        return None;
    }
    let end = words.iter().position(|word| ends(Some(word)) || word.is_one_of(&["in", "on", "to", "from"]));
    let end = words.iter().position(|word| word.is_one_of(&["commands", "command", "containers"])).or(end);
    // `git commands that push`: certain ones.
    if end.and_then(|end| words.get(end + 1)).is_some_and(|word| word.is_one_of(&["that", "which"])) {
        return None;
    }
    let line: Vec<&str> = words[..end.unwrap_or(words.len())].iter().map(|word| word.raw.as_str()).collect();
    Some(line.join(" ").to_lowercase())
}

const RUNNABLE: [&str; 5] = ["tests", "integration tests", "e2e tests", "dev server", "migrations"];

/// Whether new dependencies are meant, and whether it says that they are new.
pub(super) fn dependencies(words: &[Word]) -> Option<bool> {
    const NOUNS: [&str; 15] = [
        "lib",
        "dependency",
        "dependencies",
        "dep",
        "deps",
        "package",
        "packages",
        "library",
        "libraries",
        "libs",
        "crate",
        "crates",
        "gem",
        "gems",
        "module",
    ];
    const ADJECTIVES: [&str; 16] = [
        "new",
        "extra",
        "additional",
        "external",
        "third-party",
        "more",
        "further",
        "other",
        "npm",
        "3rd-party",
        "another",
        "3rd",
        "third",
        "party",
        "python",
        "pip",
    ];
    let words = skip(words, &["any", "a", "an", "in", "the", "some"]);
    let end = words.iter().position(|word| !word.is_one_of(&ADJECTIVES))?;
    words[end].is_one_of(&NOUNS).then_some(end > 0)
}
