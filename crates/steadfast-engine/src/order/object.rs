//! Finds the object of an order: the plan, a part of it, or something else.

use steadfast_words::{Word, WordKind};

use super::topic::Topic;
use super::{begins, list};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// The plan, or the rest of it.
    Whole,
    /// One task or phase.
    Part,
    /// The thing mentioned before.
    It,
}

/// Returns the plan at the beginning of these words, and the words after it.
pub(super) fn object<'a>(words: &'a [Word], topic: &Topic) -> Option<(Object, &'a [Word])> {
    if let Some(rest) = whats_left(words, topic) {
        return Some((Object::Whole, rest));
    }
    let it = list("it").at(words);
    if it > 0 && ends_or("next", &words[it..]) {
        let object = if list("all-of-it").is(&words[..it]) { Object::Whole } else { Object::It };
        return Some((object, &words[it..]));
    }
    let mut rest = words;
    let mut left = false;
    loop {
        if let Some(found) = head(rest, left, topic) {
            return Some(found);
        }
        match list("light").at(rest) {
            0 => return None,
            found => {
                left |= list("left").at(rest) > 0;
                rest = &rest[found..];
            }
        }
    }
}

/// Returns the words after a task of the plan, named by its id.
pub(super) fn single<'a>(words: &'a [Word], topic: &Topic) -> Option<&'a [Word]> {
    let rest = &words[usize::from(words.first().is_some_and(|word| word.is_one_of(&["task", "tasks", "the"])))..];
    topic.is_id(rest.first()?).then(|| &rest[1..])
}

/// Returns true if the words are a name of the plan and nothing else.
pub(super) fn is_named(words: &[Word], topic: &Topic) -> bool {
    // `open tasks` are tasks; `open the plan` means looking at it.
    if words.first().is_some_and(|word| word.is("open")) && list("list").at(&words[1..]) == 0 {
        return false;
    }
    match object(words, topic) {
        Some((Object::Whole | Object::Part, rest)) => is_tail(rest, topic),
        _ => false,
    }
}

/// Returns true if a word for the plan occurs in these words.
pub(super) fn is_spoken_of(words: &[Word], topic: &Topic) -> bool {
    (0..words.len()).any(|at| topic.at(&words[at..]) > 0 || list("noun").at(&words[at..]) > 0)
}

/// Returns true if the words mention the plan.
pub(super) fn mentions(words: &[Word], topic: &Topic) -> bool {
    (0..words.len()).any(|at| topic.at(&words[at..]) > 0 || noun(&words[at..]).is_some())
}

fn head<'a>(words: &'a [Word], left: bool, topic: &Topic) -> Option<(Object, &'a [Word])> {
    let first = words.first()?;
    let named = topic.at(words);
    if named > 0 {
        return Some((Object::Whole, &words[named..]));
    }
    if topic.is_id(first) && (!is_number_alone(first) || ends_or("tail", &words[1..])) {
        return Some((Object::Part, &words[1..]));
    }
    if let Some(found) = noun(words) {
        let rest = &words[found..];
        let is_numbered = rest.first().is_some_and(|word| is_number(word) || topic.is_id(word));
        return Some(if is_numbered { (Object::Part, &rest[1..]) } else { (Object::Whole, rest) });
    }
    let carrier = list("carrier").at(words);
    if carrier > 0
        && let Some(rest) = of_plan(&words[carrier..], topic)
    {
        return Some((Object::Whole, rest));
    }
    let weak = list("weak").at(words);
    if weak > 0 && (left || !is_vague(&words[..weak])) {
        let rest = &words[weak..];
        if let Some(rest) = of_plan(rest, topic) {
            return Some((Object::Whole, rest));
        }
        if begins(rest, &["of", "it"]) || begins(rest, &["of", "them"]) {
            return Some((Object::Whole, &rest[2..]));
        }
        let rest = still_open(rest);
        let is_all = rest.is_empty() || rest[0].is_break() || list("tail").at(rest) > 0;
        return is_all.then_some((Object::Whole, rest));
    }
    None
}

/// `work` and `one` mean the plan only if something is said to remain.
fn is_vague(words: &[Word]) -> bool {
    words.first().is_some_and(|word| word.is_one_of(&["work", "one", "ones", "items", "points", "issues", "lot"]))
}

/// Returns the number of words of a noun for the plan that is not part of a longer name.
fn noun(words: &[Word]) -> Option<usize> {
    let found = list("noun").at(words);
    let rest = words.get(found..).filter(|_| found > 0)?;
    let goes_on =
        rest.first().is_some_and(|word| is_number(word) || word.text.contains('.') || word.text.contains('-'));
    (goes_on || ends_or("next", rest)).then_some(found)
}

/// Returns the words without `that is still open`.
fn still_open(words: &[Word]) -> &[Word] {
    let skipped =
        words.iter().take_while(|word| word.is_one_of(&["that's", "that", "is", "are", "which", "still"])).count();
    let is_open = skipped > 0 && words.get(skipped).is_some_and(|word| word.is_in(list("still-open")));
    if is_open { &words[skipped + 1..] } else { words }
}

/// `in the spec`, `described in SPEC.json`.
fn of_plan<'a>(words: &'a [Word], topic: &Topic) -> Option<&'a [Word]> {
    let open = ["that's", "that", "is", "are", "which", "still", "open", "left", "described", "else"];
    let skipped = words.iter().take_while(|word| word.is_one_of(&open)).count();
    [words, &words[skipped..]].into_iter().find_map(|words| {
        let found = list("from").at(words);
        let after = words.get(found..).filter(|_| found > 0 || topic.at(words) > 0)?;
        match object(after, topic) {
            Some((Object::Whole | Object::Part, rest)) => Some(rest),
            Some((Object::It, rest)) if topic.spoken_of => Some(rest),
            _ => None,
        }
    })
}

/// `what is left`, `whatever is open`, `what's in the spec`, `what it says`.
fn whats_left<'a>(words: &'a [Word], topic: &Topic) -> Option<&'a [Word]> {
    let rest = match words {
        [what, rest @ ..] if what.is_one_of(&["what", "whatever", "what's", "whatever's", "anything"]) => rest,
        _ => return None,
    };
    let end = rest.iter().position(Word::is_break).unwrap_or(rest.len());
    let (clause, after) = rest.split_at(end);
    let says = ["says", "describes", "specifies", "asks", "demands", "wants", "contains"];
    let says = topic.spoken_of && clause.iter().any(|word| word.is_one_of(&says));
    let left =
        clause.iter().any(|word| word.is_one_of(&["left", "open", "remaining", "remains", "missing", "unfinished"]));
    (left || says || mentions(clause, topic)).then_some(after)
}

/// Returns true if the words only say when and how, or please.
fn is_tail(words: &[Word], topic: &Topic) -> bool {
    let mut rest = words;
    loop {
        let Some(first) = rest.first() else { return true };
        if first.is_break() || topic.is_id(first) || first.is_one_of(&["and", "or", "to", "through", "go"]) {
            rest = &rest[1..];
        } else if list("when").at(rest) > 0 {
            return true;
        } else if list("tail").at(rest) > 0 {
            rest = &rest[list("tail").at(rest)..];
        } else if let Some(after) = of_plan(rest, topic) {
            rest = after;
        } else {
            return false;
        }
    }
}

fn ends_or(class: &str, words: &[Word]) -> bool {
    words.first().is_none_or(|word| word.is_break() || word.kind != WordKind::Plain || list(class).at(words) > 0)
}

/// `2`: it may count something.
fn is_number_alone(word: &Word) -> bool {
    word.text.chars().all(|c| c.is_ascii_digit())
}

fn is_number(word: &Word) -> bool {
    let digits = word.text.trim_start_matches('#');
    word.is_in(list("numbers")) || (!digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.'))
}
