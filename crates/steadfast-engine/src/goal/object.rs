//! What a verb is about.

use super::thing;
use super::words::{Kind, Word};

/// What stands before a name and says nothing.
const LIGHT: [&str; 47] = [
    "one",
    "two",
    "three",
    "few",
    "couple",
    "following",
    "the",
    "a",
    "an",
    "any",
    "my",
    "our",
    "your",
    "their",
    "this",
    "that",
    "these",
    "those",
    "existing",
    "current",
    "of",
    "all",
    "with",
    "to",
    "on",
    "in",
    "into",
    "under",
    "inside",
    "within",
    "from",
    "single",
    "other",
    "old",
    "new",
    "database",
    "db",
    "sql",
    "even",
    "either",
    "both",
    "whole",
    "entire",
    "around",
    "single",
    "yourself",
    "source",
];

/// Everything, in a human's words.
const GENERAL: [&str; 9] = ["anything", "everything", "files", "file", "code", "things", "stuff", "thing", "something"];

/// What ends an object.
const STOP: [&str; 42] = [
    "yet", "until", "please", "for", "now", "unless", "because", "since", "as", "when", "while", "before", "after",
    "it's", "they", "i", "we", "you", "so", "if", "here", "ever", "again", "at", "anymore", "today", "though", "by",
    "then", "without", "just", "only", "there", "it", "them", "myself", "i'll", "i'm", "they're", "is", "are",
    "manually",
];

/// Who speaks of themselves, or of what a human does.
const HUMAN: [&str; 21] = [
    "i", "i've", "i'm", "i'd", "i'll", "me", "my", "we", "we've", "review", "reviewed", "approval", "approve",
    "approved", "told", "tell", "say", "said", "asked", "ask", "okay",
];

const BRANCHES: [&str; 9] = ["main", "master", "develop", "dev", "trunk", "staging", "production", "prod", "release"];
const REMOTES: [&str; 8] = ["repo", "repository", "remote", "origin", "upstream", "github", "gitlab", "server"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    /// Paths, and names of things.
    pub(super) of: Vec<String>,
    /// It is about everything.
    pub(super) general: bool,
    /// What is named is the exception.
    pub(super) outside: bool,
    /// It is about everything else.
    pub(super) other: bool,
    /// Nothing follows the verb.
    pub(super) bare: bool,
    /// How many words it takes.
    pub(super) len: usize,
}

/// Whether a bare word is a name, too: `touch billing`, but not `change behaviour`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Any,
    Known,
}

pub(super) fn object(words: &[Word], names: Names) -> Object {
    let mut object = Object::default();
    // A thing in a place is that place: `the generated files in gen/`.
    let mut inside = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1);
        if word.is_break() {
            let goes_on = !object.of.is_empty() && word.raw == "," && lists_on(&words[at + 1..]);
            if !goes_on {
                break;
            }
        } else if let Some(path) = thing::path(word) {
            if inside && !object.outside {
                object.of.retain(|name| name.contains(['/', '.', '*']));
            }
            object.of.push(path);
            if next.is_some_and(thing::is_place) {
                at += 1;
            }
        } else if word.is_one_of(&["outside", "except", "besides", "beyond"])
            || (word.is("other") && next.is_some_and(|next| next.is("than")))
            || (word.is("but") && object.general)
        {
            object.outside = true;
            at += usize::from(word.is("other") || next.is_some_and(|next| next.is("of") || next.is("for")));
        } else if let Some((name, len)) = thing::named(&words[at..]) {
            object.of.push(name.to_owned());
            at += len - 1;
            if words.get(at + 1).is_some_and(thing::is_place) {
                at += 1;
            }
        } else if next.is_some_and(thing::is_place) && is_name(word) {
            object.of.push(word.raw.clone());
            at += 1;
        } else if word.kind == Kind::Code && is_name(word) {
            object.of.push(word.raw.clone());
        } else if word.is_one_of(&GENERAL) {
            // `the file` is a certain one.
            if word.is_one_of(&["file", "thing"]) && at > 0 && words[at - 1].is_one_of(&["the", "this", "that"]) {
                break;
            }
            object.general = true;
        } else if word.is("else") {
            object.other = true;
        } else if word.is_one_of(&["and", "or", "nor"]) {
            if !object.of.is_empty() && !lists_on(&words[at + 1..]) {
                break;
            }
        } else if word.is_one_of(&LIGHT) {
            inside |= word.is_one_of(&["in", "inside", "under", "within", "from"]);
        } else if names == Names::Any && !object.general && object.of.is_empty() && is_name(word) && ends(next) {
            object.of.push(word.raw.clone());
        } else {
            break;
        }
        at += 1;
    }
    object.bare = object.of.is_empty() && !object.general && ends(words.get(at)) && at == 0;
    object.len = at;
    object
}

/// Whether a list of names goes on here.
fn lists_on(words: &[Word]) -> bool {
    let mut rest = words.iter().skip_while(|word| word.is_one_of(&LIGHT) || word.is_one_of(&["and", "or", "nor"]));
    let skipped = words.len() - rest.clone().count();
    rest.next().is_some_and(|word| {
        thing::path(word).is_some()
            || thing::named(&words[skipped..]).is_some()
            || words.get(skipped + 1).is_some_and(thing::is_place)
            || word.is_one_of(&GENERAL)
    })
}

fn is_name(word: &Word) -> bool {
    let shaped = word.raw.len() > 2
        && word.raw.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        && !word.is_one_of(&LIGHT)
        && !word.is_one_of(&GENERAL)
        && !word.is_one_of(&STOP);
    let general =
        ["database", "production", "prod", "behaviour", "behavior", "disk", "line", "lines", "same", "config"];
    shaped && matches!(word.kind, Kind::Plain | Kind::Code) && !word.is_one_of(&general)
}

/// Whether nothing more is said of the verb.
pub(super) fn ends(word: Option<&Word>) -> bool {
    word.is_none_or(|word| word.is_break() || word.is_one_of(&STOP) || word.is_one_of(&["and", "or", "nor", "but"]))
}

/// What a commit or a push is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Git {
    All,
    To(Vec<String>),
    /// A certain thing, or under a condition that is not the human's word.
    Particular,
}

pub(super) fn git_object(words: &[Word]) -> Git {
    const SAYS_NOTHING: [&str; 48] = [
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
                Some(target) if target.is_one_of(&BRANCHES) || target.kind == Kind::Code => {
                    Git::To(vec![target.raw.clone()])
                }
                Some(target) if target.is_one_of(&REMOTES) => Git::All,
                // `on your own`, `for now`, `for this one`.
                Some(target) if target.is_one_of(&["own", "now", "this", "it", "behalf"]) => Git::All,
                Some(_) => Git::Particular,
            };
        }
        if word.is_one_of(&["until", "till", "before", "unless"]) {
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
    let words = skip(words, &["the", "any", "my", "our", "your", "all", "of", "full", "whole", "entire", "slow", "a"]);
    let first = words.first()?;
    if let Some((name, _)) = thing::named(words).filter(|(name, _)| RUNNABLE.contains(name)) {
        return Some(name.to_owned());
    }
    let singles = [
        ("server", "dev server"),
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
    let line: Vec<&str> = words[..end.unwrap_or(words.len())].iter().map(|word| word.raw.as_str()).collect();
    Some(line.join(" ").to_lowercase())
}

const RUNNABLE: [&str; 5] = ["tests", "integration tests", "e2e tests", "dev server", "migrations"];

/// Whether new dependencies are meant, and whether it says that they are new.
pub(super) fn dependencies(words: &[Word]) -> Option<bool> {
    const NOUNS: [&str; 14] = [
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
    const ADJECTIVES: [&str; 10] =
        ["new", "extra", "additional", "external", "third-party", "more", "further", "other", "npm", "3rd-party"];
    let words = skip(words, &["any", "a", "an", "in", "the", "some"]);
    let end = words.iter().position(|word| !word.is_one_of(&ADJECTIVES))?;
    words[end].is_one_of(&NOUNS).then_some(end > 0)
}

pub(super) fn skip<'a>(words: &'a [Word], light: &[&str]) -> &'a [Word] {
    let from = words.iter().position(|word| !word.is_one_of(light)).unwrap_or(words.len());
    &words[from..]
}
