//! What a sentence forbids.

use steadfast_model::ConstraintKind;

use super::fence::{fenced, just, nothing, only, stay};
use super::object::{Git, Names, dependencies, ends, git_object, object, skip};
use super::verb::{Action, actions, changes_to, is_network, is_request};
use super::words::{Sentence, Word};

/// What may stand between the beginning of a clause and an order. Anybody else there is who it speaks of.
const FILLERS: [&str; 41] = [
    "especially",
    "particularly",
    "and",
    "please",
    "just",
    "also",
    "ok",
    "okay",
    "and",
    "but",
    "so",
    "then",
    "now",
    "again",
    "for",
    "remember",
    "note",
    "important",
    "careful",
    "you",
    "really",
    "seriously",
    "make",
    "sure",
    "be",
    "that",
    "hey",
    "yes",
    "well",
    "actually",
    "still",
    "definitely",
    "otherwise",
    "meanwhile",
    "always",
    "or",
    "btw",
    "ah",
    "oh",
    "though",
    "to",
];

/// What may stand before `only`, too.
const MAY_ONLY: [&str; 13] =
    ["changes", "change", "edits", "edit", "work", "may", "can", "should", "must", "i", "want", "need", "touch"];

/// What may stand between the negation and its verb.
const BETWEEN: [&str; 13] =
    ["ever", "yet", "actually", "just", "even", "you", "dare", "please", "go", "try", "bother", "attempt", "to"];

/// Who else a sentence may be about.
const SUBJECTS: [&str; 14] =
    ["the", "it", "this", "that", "i", "we", "they", "a", "an", "users", "there", "i've", "he", "she"];

pub(super) fn forbidden(sentence: &Sentence) -> Vec<Action> {
    let words = &sentence.words[..];
    if sentence.asks {
        return asked(words);
    }
    let mut found: Vec<Action> = Vec::new();
    for at in 0..words.len() {
        for action in at_word(words, at) {
            if !found.contains(&action) {
                found.push(action);
            }
        }
    }
    found.extend(whole(words).into_iter().filter(|action| !found.contains(action)).collect::<Vec<_>>());
    found
}

/// `can you please not push this?` is no question.
fn asked(words: &[Word]) -> Vec<Action> {
    let [first, second, ..] = words else { return Vec::new() };
    if !first.is_one_of(&["can", "could", "would", "will"]) || !second.is("you") {
        return Vec::new();
    }
    let rest = skip(&words[2..], &["please", "just", "maybe"]);
    match rest {
        [not, rest @ ..] if not.is("not") => actions(skip(rest, &BETWEEN)),
        _ => Vec::new(),
    }
}

/// What the word here forbids, with what stands around it.
fn at_word(words: &[Word], at: usize) -> Vec<Action> {
    let (word, rest) = (&words[at], &words[at + 1..]);
    let before = clause_before(words, at);
    let order = before.iter().all(|word| word.is_one_of(&FILLERS)) && !is_supposed(&words[..at]);
    // `(no changes)` says how something is, not how it shall be.
    let aside = at > 0 && words[at - 1].raw == "(" && words[at - 1].is_break();
    match word.text.as_str() {
        _ if word.kind != super::words::Kind::Plain => Vec::new(),
        "never" if before.iter().all(|word| word.is_one_of(&FILLERS) || word.is_one_of(&["must", "should", "may"])) => {
            actions(skip(rest, &BETWEEN))
        }
        "don't" | "mustn't" | "shouldn't" | "can't" if order => actions(skip(rest, &BETWEEN)),
        "don't" | "didn't" => wanted(before, word, rest),
        "mustn't" | "shouldn't" | "can't" => passive(before, rest),
        "not" => not(before, rest),
        "no" if order && rest.first().is_some_and(|word| word.is("circumstances")) => {
            actions(skip(&rest[1..], &["should", "may", "must", "are", "you", "to"]))
        }
        "no" if order && !aside => noun(rest),
        // `return without writing` is how code shall be.
        "without" if may_go_without(words, at) => {
            let named = actions(rest).into_iter().filter(|(kind, _)| *kind != ConstraintKind::Write);
            named.chain(avoided(rest)).collect()
        }
        "stop" | "quit" | "avoid" if order => actions(rest).into_iter().chain(avoided(rest)).collect(),
        "hold" if order => held(rest),
        "wait" if order && rest.first().is_some_and(|word| word.is("with")) => held(rest),
        "refrain" if order => after(rest, &["from"]).map(actions).unwrap_or_default(),
        "skip" if order && rest.first().is_some_and(|word| word.is("running")) => actions(rest),
        "leave" if order => left(rest),
        "keep" if order => left(rest).into_iter().chain(fenced(rest)).collect(),
        "hands" if order => after(rest, &["off"]).map(|rest| touch(rest, Names::Any)).unwrap_or_default(),
        "only" if before.iter().all(|word| word.is_one_of(&FILLERS) || word.is_one_of(&MAY_ONLY)) => only(rest),
        "except" => git_only(actions(rest)),
        "commit" | "push" | "merge" if order => at_my_word(&words[at..]),
        "myself" => i_do(words, at),
        "stays" | "remains" => whole_object(before),
        "just" if order => just(rest),
        "stay" | "remain" if order => stay(rest),
        "stay" | "remain" => stays(before, rest),
        "restrict" | "limit" | "confine" if order => fenced(rest),
        "nothing" if order => nothing(rest),
        "nothing" if at > 0 && words[at - 1].is_one_of(&["touch", "change", "edit", "modify"]) => {
            let other = rest.first().is_some_and(|word| word.is("else"));
            if other { vec![(ConstraintKind::Only, Vec::new())] } else { Vec::new() }
        }
        "before" => asked_first(words, at),
        "separate" => separate(words, at),
        "off-limits" => off_limits(&words[..at]),
        "off" if rest.first().is_some_and(|word| word.is("limits")) => off_limits(&words[..at]),
        "out" if after(rest, &["of", "scope"]).or(after(rest, &["of", "bounds"])).is_some() => off_limits(&words[..at]),
        _ => Vec::new(),
    }
}

/// `If I branch off, then don't commit`: nothing is ordered yet.
fn is_supposed(before: &[Word]) -> bool {
    before.windows(2).any(|pair| pair[0].is("if") && pair[1].is_one_of(&["i", "we", "someone", "users", "a", "the"]))
}

/// The words of this clause up to here.
fn clause_before(words: &[Word], at: usize) -> &[Word] {
    let joins = |word: &Word| word.is_break() || word.is_one_of(&["but", "and", "so", "then"]);
    let from = words[..at].iter().rposition(joins).map_or(0, |break_at| break_at + 1);
    &words[from..at]
}

/// `hold off on committing`, `hold the commit`.
fn held(rest: &[Word]) -> Vec<Action> {
    let what = skip(rest, &["off", "on", "with", "the", "any", "your"]);
    if what.len() < rest.len() { git_only(actions(what)) } else { Vec::new() }
}

pub(super) fn after<'a>(words: &'a [Word], texts: &[&str]) -> Option<&'a [Word]> {
    let stands = words.len() >= texts.len() && texts.iter().zip(words).all(|(text, word)| word.is(text));
    stands.then(|| &words[texts.len()..])
}

fn is_said(words: &[Word], texts: &[&str]) -> bool {
    words.len() == texts.len() && texts.iter().zip(words).all(|(text, word)| word.is(text))
}

/// `I don't want you to commit`, `I don't want new dependencies`, `I'd rather you didn't push`.
fn wanted(before: &[Word], word: &Word, rest: &[Word]) -> Vec<Action> {
    if word.is("didn't") {
        let rather = before.len() >= 2
            && before[0].is_one_of(&["i'd", "i"])
            && before.iter().any(|word| word.is_one_of(&["rather", "prefer"]));
        return if rather && before.last().is_some_and(|word| word.is("you")) { actions(rest) } else { Vec::new() };
    }
    if !is_said(before, &["i"]) && !is_said(before, &["we"]) {
        return Vec::new();
    }
    let Some(rest) = after(rest, &["want"]) else { return Vec::new() };
    match after(rest, &["you", "to"]) {
        Some(rest) => actions(rest),
        None => match rest {
            [what, done, rest @ ..] if what.is_one_of(&["it", "this", "that", "anything", "them"]) => {
                done_to_all(done, rest)
            }
            _ => noun(skip(rest, &["any", "to", "see", "have"])),
        },
    }
}

/// `the schema must not be changed`. By whom is a description of code.
fn passive(before: &[Word], rest: &[Word]) -> Vec<Action> {
    let Some([done, rest @ ..]) = after(rest, &["be"]) else { return Vec::new() };
    if is_said(before, &["this"]) || is_said(before, &["it"]) {
        return done_to_all(done, rest);
    }
    let changed = done.is_one_of(&["changed", "touched", "modified", "edited", "altered"]);
    if !changed || rest.iter().any(|word| word.is("by")) {
        return Vec::new();
    }
    whole_object(before)
}

/// `you are not allowed to push`, `be careful not to touch the schema`, `I need you to not commit`.
fn not(before: &[Word], rest: &[Word]) -> Vec<Action> {
    const LEADS: [&str; 17] = [
        "try", "careful", "sure", "remember", "better", "best", "i", "want", "need", "would", "like", "you", "to",
        "are", "you're", "may", "will",
    ];
    if !before.iter().all(|word| word.is_one_of(&FILLERS) || word.is_one_of(&LEADS)) || before.is_empty() {
        return Vec::new();
    }
    let allowed = ["allowed", "supposed", "permitted"];
    match rest {
        [what, to, rest @ ..] if what.is_one_of(&allowed) && to.is("to") => actions(rest),
        [to, rest @ ..] if to.is("to") => actions(rest),
        // `you may not push`, `I need you to not push`.
        _ if before.last().is_some_and(|word| word.is_one_of(&["may", "to", "will"])) => actions(rest),
        _ => Vec::new(),
    }
}

fn git_only(actions: Vec<Action>) -> Vec<Action> {
    use ConstraintKind as K;
    actions.into_iter().filter(|(kind, _)| matches!(kind, K::Commit | K::Push | K::Merge | K::PullRequest)).collect()
}

/// `commit only after I had a look`.
fn at_my_word(words: &[Word]) -> Vec<Action> {
    let rest = skip(&words[1..], &["it", "this", "only", "the", "changes"]);
    let later = rest.first().is_some_and(|word| word.is_one_of(&["when", "after", "once", "if"]));
    let mine = rest.get(1).is_some_and(|word| word.is_one_of(&["i", "i've", "i'm", "my", "i'd"]));
    if later && mine { git_only(actions(&words[..1])) } else { Vec::new() }
}

/// `I'll commit it myself`.
fn i_do(words: &[Word], at: usize) -> Vec<Action> {
    let clause = clause_before(words, at);
    match clause {
        [first, rest @ ..] if first.is_one_of(&["i'll", "i"]) => {
            git_only(actions(skip(rest, &["will", "want", "to", "do", "the"])))
        }
        _ => Vec::new(),
    }
}

/// `the schema should stay as it is`.
fn stays(before: &[Word], rest: &[Word]) -> Vec<Action> {
    let same = after(rest, &["as"]).is_some()
        || rest.first().is_some_and(|word| word.is_one_of(&["unchanged", "untouched", "same", "unmodified"]));
    match before {
        [things @ .., modal] if same && modal.is_one_of(&["should", "must", "has", "shall"]) => whole_object(things),
        _ => Vec::new(),
    }
}

/// All of these words are a thing that can be touched.
fn whole_object(words: &[Word]) -> Vec<Action> {
    let object = object(words, Names::Known);
    if object.of.is_empty() || object.len < words.len() || object.outside {
        return Vec::new();
    }
    vec![(ConstraintKind::Touch, object.of)]
}

fn off_limits(before: &[Word]) -> Vec<Action> {
    let clause = clause_before(before, before.len());
    match clause {
        [things @ .., is] if is.is_one_of(&["is", "are"]) => whole_object(things),
        _ => Vec::new(),
    }
}

pub(super) fn touch(words: &[Word], names: Names) -> Vec<Action> {
    let object = object(words, names);
    if object.of.is_empty() { Vec::new() } else { vec![(ConstraintKind::Touch, object.of)] }
}

/// `no commits`, `no new dependencies`, `no changes to docs/`.
fn noun(rest: &[Word]) -> Vec<Action> {
    use ConstraintKind as K;
    let words = skip(rest, &["any", "more", "direct", "code", "further", "file", "git"]);
    if rest.first().is_some_and(|word| word.is("code")) && ends(rest.get(1)) {
        return vec![(K::Write, Vec::new())];
    }
    let Some(first) = words.first() else { return Vec::new() };
    let tail = &words[1..];
    let is_order = |tail: &[Word]| {
        ends(tail.first())
            || tail[0].is_one_of(&["in", "on", "to", "allowed", "whatsoever", "anywhere", "access", "calls"])
    };
    let kind = match first.text.as_str() {
        "commits" | "commit" | "committing" if git_object(tail) != Git::Particular => K::Commit,
        "pushing" | "pushes" | "push" if git_object(tail) != Git::Particular => K::Push,
        "installs" | "installing" | "installation" | "installations" => K::Install,
        "network" | "internet" => K::Network,
        "deleting" | "deletes" | "deletions" => K::Delete,
        "renames" | "renaming" => K::Rename,
        "merging" | "rebasing" | "rebase" => K::Merge,
        "branches" => K::Branch,
        "changes" | "edits" | "modifications" => {
            return changes_to(tail);
        }
        "new" if tail.first().is_some_and(|word| word.is("branches")) && ends(tail.get(1)) => {
            return vec![(K::Branch, Vec::new())];
        }
        _ if is_request(first) => K::PullRequest,
        _ if dependencies(words) == Some(true) => {
            // The adjectives, then the noun.
            let noun = words.iter().skip(1).position(|word| dependencies(std::slice::from_ref(word)) == Some(false));
            let after = noun.and_then(|noun| words.get(noun + 2..)).unwrap_or_default();
            return if is_order(after) { vec![(K::Dependencies, Vec::new())] } else { Vec::new() };
        }
        _ => return actions(words),
    };
    let files = matches!(kind, K::Delete | K::Rename) && tail.first().is_some_and(|word| word.is("files"));
    if files || is_order(tail) || matches!(kind, K::Commit | K::Push) { vec![(kind, Vec::new())] } else { Vec::new() }
}

/// `avoid new dependencies`.
fn avoided(rest: &[Word]) -> Vec<Action> {
    match dependencies(rest) {
        Some(true) => vec![(ConstraintKind::Dependencies, Vec::new())],
        _ => Vec::new(),
    }
}

/// A sentence that orders something may say how not to do it; one about something else describes it.
fn may_go_without(words: &[Word], at: usize) -> bool {
    let first = skip(words, &FILLERS).first();
    let about = first.is_some_and(|word| word.is_one_of(&SUBJECTS));
    let negated = words[..at].iter().any(|word| word.text.ends_with("n't") || word.is_one_of(&["never", "not", "no"]));
    let of_something = words[..at].iter().any(|word| word.is_one_of(&["that", "which", "who"]));
    !about && !negated && !of_something
}

/// `leave the lock file alone`, `keep the migrations untouched`, `leave the commit to me`.
fn left(rest: &[Word]) -> Vec<Action> {
    if let Some(end) = rest.windows(2).position(|pair| pair[0].is("to") && pair[1].is("me")) {
        let left = skip(&rest[..end], &["the", "all", "any"]);
        let kind = match left {
            [what] if what.is_one_of(&["commit", "commits", "committing"]) => ConstraintKind::Commit,
            [what] if what.is_one_of(&["push", "pushing"]) => ConstraintKind::Push,
            _ => return Vec::new(),
        };
        return vec![(kind, Vec::new())];
    }
    let object = object(rest, Names::Any);
    let how = &rest[object.len..];
    let alone = how.first().is_some_and(|word| word.is_one_of(&["alone", "untouched", "unchanged", "unmodified"]))
        || after(how, &["as", "is"]).is_some()
        || after(how, &["as", "it", "is"]).is_some()
        || after(how, &["as", "they", "are"]).is_some();
    if alone && !object.of.is_empty() { vec![(ConstraintKind::Touch, object.of)] } else { Vec::new() }
}

/// `nothing should be committed`, `this must not be pushed yet`.
pub(super) fn done_to_all(done: &Word, rest: &[Word]) -> Vec<Action> {
    let kind = match done.text.as_str() {
        "committed" => ConstraintKind::Commit,
        "pushed" => ConstraintKind::Push,
        "merged" => ConstraintKind::Merge,
        "installed" => ConstraintKind::Install,
        _ => return Vec::new(),
    };
    if git_object(rest) == Git::All { vec![(kind, Vec::new())] } else { Vec::new() }
}

/// `ask me before committing`, `let me review it before you push`.
fn asked_first(words: &[Word], at: usize) -> Vec<Action> {
    const ASKS: [&str; 12] =
        ["ask", "check", "confirm", "show", "review", "tell", "ping", "approve", "wait", "look", "see", "read"];
    let (first, rest) = (skip(words, &FILLERS), skip(&words[at + 1..], &["you"]));
    let ordered = first.first().is_some_and(|word| word.is_one_of(&ASKS) || word.is("let"));
    // Who is to stop before it need not be told whom to ask.
    let stops = first.first().is_some_and(|word| word.is_one_of(&["stop", "pause", "wait"]));
    let me = stops || words[..at].iter().any(|word| word.is_one_of(&["me", "i", "my"]));
    let asks = words[..at].iter().any(|word| word.is_one_of(&ASKS));
    if !(stops || ordered && me && asks) {
        return Vec::new();
    }
    use ConstraintKind as K;
    let gates = [K::Commit, K::Push, K::Merge, K::PullRequest, K::Delete, K::Install, K::Dependencies];
    actions(rest).into_iter().filter(|(kind, _)| gates.contains(kind)).collect()
}

/// `in a separate PR`.
fn separate(words: &[Word], at: usize) -> Vec<Action> {
    let into = at >= 2 && words[at - 1].is("a") && words[at - 2].is_one_of(&["in", "as", "into"]);
    let what = words.get(at + 1).is_some_and(|word| is_request(word) || word.is_one_of(&["commit", "branch"]));
    if into && what { vec![(ConstraintKind::Separate, Vec::new())] } else { Vec::new() }
}

/// What a sentence says as a whole: `read-only please`, `analysis only`, `work offline`.
fn whole(words: &[Word]) -> Vec<Action> {
    let words = skip(words, &["please", "ok", "okay", "this", "is", "strictly", "a", "it's", "treat", "as"]);
    let reads = match words {
        [first, rest @ ..] if first.is("read-only") => ends(rest.first()) || rest[0].is_one_of(&["mode", "task"]),
        [read, only, rest @ ..] if read.is("read") && only.is("only") => ends(rest.first()) || rest[0].is("mode"),
        [what, only, rest @ ..] if only.is("only") => {
            what.is_one_of(&["analysis", "research", "investigation", "review", "planning"]) && ends(rest.first())
        }
        _ => false,
    };
    if reads {
        return vec![(ConstraintKind::Write, Vec::new())];
    }
    match words {
        [work, offline, ..] if work.is("work") && offline.is("offline") => vec![(ConstraintKind::Network, Vec::new())],
        [offline, only, ..] if offline.is("offline") && only.is("only") => vec![(ConstraintKind::Network, Vec::new())],
        _ if is_network(words) && words.iter().take(4).any(|word| word.is("off-limits")) => {
            vec![(ConstraintKind::Network, Vec::new())]
        }
        _ => Vec::new(),
    }
}
