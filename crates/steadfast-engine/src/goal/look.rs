//! Sentences that ask for words and no work.
//!
//! - `read-only for now` → `write`
//! - `just explain, no edits` → `write`
//! - `do nothing yet` → `write`
//!
//! A thing may be read-only without anybody being asked to be: `add a read-only mode`.

use super::list;
use steadfast_model::ConstraintKind;

use super::action::{Action, is_network};
use super::object::{ends, skip};
use super::order::{after, is_over};
use steadfast_words::Word;

fn write() -> Vec<Action> {
    vec![(ConstraintKind::Write, Vec::new())]
}

/// What follows `just` or `only`: `explain`, `a plan`, `asking`.
pub(super) fn looks_only(rest: &[Word]) -> Vec<Action> {
    match rest {
        [look, tail @ ..] if look.is_in(list("look-looks")) => {
            let tail = skip(tail, &["it", "this", "that", "around", "about", "at", "into"]);
            if is_over(tail) { write() } else { Vec::new() }
        }
        [a, what, tail @ ..]
            if a.is("a") && what.is_one_of(&["plan", "design", "review", "proposal"]) && is_over(tail) =>
        {
            write()
        }
        _ => Vec::new(),
    }
}

/// `explain only`.
pub(super) fn only_looks(before: &[Word], rest: &[Word]) -> Vec<Action> {
    match before {
        [.., look] if look.is_in(list("look-looks")) && before.len() <= 2 && is_over(rest) => write(),
        _ => Vec::new(),
    }
}

/// What a clause says as a whole: `read-only please`, `analysis only`, `work offline`.
pub(super) fn whole(words: &[Word]) -> Vec<Action> {
    let words = list("look-light").skip(words);
    let mode = |rest: &[Word]| {
        let rest = skip(rest, &["mode", "task", "access", "session"]);
        is_over(rest) || rest[0].is_one_of(&["for", "as"])
    };
    let reads = match words {
        [first, rest @ ..] if first.is_one_of(&["read-only", "readonly"]) => mode(rest),
        [read, only, rest @ ..] if read.is("read") && only.is("only") => mode(rest),
        [what, only, rest @ ..] if only.is("only") => {
            let talks = ["analysis", "research", "investigation", "review", "planning", "discussion", "explanation"];
            what.is_one_of(&talks) && ends(rest.first())
        }
        [make, nothing, rest @ ..] if make.is("do") && nothing.is("nothing") => is_over(rest),
        _ => false,
    };
    if reads {
        return write();
    }
    match words {
        [work, offline, ..] if work.is("work") && offline.is("offline") => vec![(ConstraintKind::Network, Vec::new())],
        [offline, rest @ ..] if offline.is_one_of(&["offline", "offline-only"]) && is_over(rest) => {
            vec![(ConstraintKind::Network, Vec::new())]
        }
        _ if is_network(words) && words.iter().take(4).any(|word| word.is("off-limits")) => {
            vec![(ConstraintKind::Network, Vec::new())]
        }
        _ => Vec::new(),
    }
}

/// `only the standard library`, `existing packages only`, `with the libraries we have`.
pub(super) fn with_what_there_is(words: &[Word]) -> Vec<Action> {
    let standard = |rest: &[Word]| {
        let rest = skip(rest, &["the", "use", "python", "rust", "node", "go"]);
        [&["standard", "library"][..], &["std", "lib"], &["stdlib"], &["std"], &["vanilla"]]
            .iter()
            .find_map(|texts| after(rest, texts))
            .map(<[Word]>::len)
    };
    let said = (0..words.len()).any(|at| {
        let (word, rest) = (&words[at], &words[at + 1..]);
        if word.is("only") && standard(rest).is_some() {
            return true;
        }
        let only = |left: usize| words[words.len() - left..].first().is_some_and(|word| word.is("only"));
        if standard(&words[at..]).is_some_and(only) {
            return true;
        }
        let what = words[..at].iter().any(|word| word.is_one_of(&["what", "what's"]));
        let only = words[..at].iter().any(|word| word.is_one_of(&["only", "with", "use"]));
        if word.is("in") && what && only && standard(rest).is_some() {
            return true;
        }
        let have = skip(rest, &["that", "we", "already", "you", "currently"]);
        let there = have.len() < rest.len() && have.first().is_some_and(|word| word.is_one_of(&["have", "use"]));
        let existing = at > 0 && words[at - 1].is_one_of(&["existing", "current"]);
        let with = at > 1 && words[at - 2].is_one_of(&["with", "use", "using", "only", "to"]);
        let only = existing && rest.first().is_some_and(|word| word.is("only"));
        let from = words[..at].iter().rev().find(|word| !word.is_one_of(&["existing", "current", "the", "our"]));
        let stuck = existing && from.is_some_and(|word| word.is_one_of(&["to", "with", "only"])) && is_over(rest);
        word.is_in(list("look-nouns")) && (there && with || only || stuck)
    });
    // `use what is already installed`, `work with whatever's there`.
    let there = (0..words.len()).any(|at| {
        let uses = words[..at].iter().any(|word| word.is_one_of(&["use", "using", "with", "to", "only"]));
        let is =
            skip(&words[at + 1..], &["is", "we", "you", "already", "have", "got", "currently", "that's", "there's"]);
        let what = words[at].is_one_of(&["what", "what's", "whatever", "whatever's", "that's"]);
        what && uses
            && is.len() < words.len() - at - usize::from(!words[at].text.ends_with("'s"))
            && is.first().is_some_and(|word| word.is_one_of(&["installed", "available"]))
            && is_over(skip(&is[1..], &["already", "here"]))
    });
    if there {
        return vec![(ConstraintKind::Dependencies, Vec::new()), (ConstraintKind::Install, Vec::new())];
    }
    if said { vec![(ConstraintKind::Dependencies, Vec::new())] } else { Vec::new() }
}
