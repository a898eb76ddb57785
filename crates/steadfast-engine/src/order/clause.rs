//! Reads one clause of a prompt as an act.

use steadfast_words::Word;

use super::object::{Object, is_named, mentions, object, single};
use super::topic::Topic;
use super::{begins, list};

/// The meaning of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// An order to work on the plan.
    Work,
    /// The plan's name alone.
    Name,
    /// An order to continue, with no object.
    Go,
    /// An order to leave the plan.
    Leave,
    /// An order to leave a part of it.
    LeavePart,
    Yes,
    /// A greeting, thanks, a time or a manner: no meaning of its own.
    Nothing,
    /// A question.
    Asks,
    /// A report of an action.
    Tells,
    /// An order for something else.
    Else,
}

/// The form of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Said,
    /// Its sentence ends with a question mark.
    Asked,
}

pub(super) fn act(words: &[Word], tone: Tone, topic: &Topic) -> Act {
    let words = list("filler").skip(words);
    if words.is_empty() || list("agrees").is(words) {
        return Act::Nothing;
    }
    if let Some(left) = left(words, topic) {
        return left;
    }
    let polite = list("polite").at(words);
    if polite == 0 && list("asks").at(words) > 0 {
        return Act::Asks;
    }
    if polite == 0 && list("when").at(words) > 0 {
        return Act::Nothing;
    }
    let order = list("filler").skip(&words[polite..]);
    if polite > 0
        && let Some(left) = left(order, topic)
    {
        return left;
    }
    let base = unfolded(order, polite > 0 && words[polite - 1].is("mind"));
    let found = done(&base, topic).or_else(|| german(words, topic)).unwrap_or_else(|| {
        let tells = is_subject(words) && polite == 0;
        if tells { Act::Tells } else { Act::Else }
    });
    match (tone, found) {
        (Tone::Asked, Act::Work | Act::Go | Act::Name) if polite == 0 => Act::Asks,
        (Tone::Asked, Act::Else | Act::Tells) => Act::Asks,
        (_, found) => found,
    }
}

/// Returns `working through` after `would you mind` as `work through`.
fn unfolded(words: &[Word], folded: bool) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut().filter(|_| folded)
        && let Some(stem) = first.text.strip_suffix("ing")
    {
        // `run` doubles its last letter.
        let mut single = stem.to_owned();
        single.pop();
        let base = [stem.to_owned(), format!("{stem}e"), single];
        if let Some(base) = base.into_iter().find(|base| list("work").begin(base)) {
            first.text = base;
        }
    }
    words
}

/// Reads an order to work or to continue.
fn done(words: &[Word], topic: &Topic) -> Option<Act> {
    if words.iter().any(|word| list("alone").at(std::slice::from_ref(word)) > 0) {
        return None;
    }
    if let Some((between, _)) = list("around").around(words)
        && let Some(act) = about(object(between, topic).map(|(object, _)| object), topic)
    {
        return Some(act);
    }
    // Longest verb first: `work through` before `work`.
    let verbs = list("work").all_at(words);
    let of_work = verbs.iter().find_map(|verb| about(object(&words[*verb..], topic).map(|(object, _)| object), topic));
    if let Some(act) = of_work.or_else(|| until(words, verbs.first().copied()?, topic)) {
        return Some(act);
    }
    if let Some(verb) = Some(list("listed").at(words)).filter(|verb| *verb > 0) {
        let rest = list("light").skip(&words[verb..]);
        if list("list").at(rest) > 0 && object(&words[verb..], topic).is_some() {
            return Some(Act::Work);
        }
    }
    let one = list("single").at(words);
    if one > 0 && single(&words[one..], topic).is_some() {
        return Some(Act::Work);
    }
    let using = list("using").at(words);
    if using > 0 && words[using..].iter().any(|word| super::command::is_own(&word.text)) {
        return Some(Act::Work);
    }
    if let Some(verb) = verbs.first()
        && let Some(act) = with(&words[*verb..], topic)
    {
        return Some(act);
    }
    going(words, topic).or_else(|| is_named(words, topic).then_some(Act::Name))
}

/// `continue where you left off with the tasks`.
fn with(words: &[Word], topic: &Topic) -> Option<Act> {
    if !begins(words, &["where"]) && !begins(words, &["from", "where"]) {
        return None;
    }
    let at = words.iter().position(|word| word.is_one_of(&["with", "on", "in"]))?;
    about(object(&words[at + 1..], topic).map(|(object, _)| object), topic)
}

fn about(object: Option<Object>, topic: &Topic) -> Option<Act> {
    match object? {
        Object::Whole | Object::Part => Some(Act::Work),
        Object::It => Some(if topic.spoken_of { Act::Work } else { Act::Go }),
    }
}

/// `keep going until all is done`.
fn until(words: &[Word], verb: usize, topic: &Topic) -> Option<Act> {
    let at = words.iter().skip(verb).position(|word| word.is_one_of(&["until", "till", "before"]))? + verb;
    let only = words[verb..at].iter().all(|word| word.is_one_of(&["on", "it", "at", "and", "please"]));
    let after = &words[at + 1..];
    let all = after.iter().any(|word| word.is_one_of(&["all", "everything", "every", "nothing", "no"]));
    let over = list("over").within(after);
    if !only || !over {
        return None;
    }
    let meant = mentions(after, topic) || all && !names_something_else(after);
    let them = topic.spoken_of && after.iter().any(|word| word.is_one_of(&["it's", "they're", "it", "they", "them"]));
    Some(if meant || them { Act::Work } else { Act::Go })
        .filter(|act| *act == Act::Work || !names_something_else(after))
}

/// `until all tests are green`.
fn names_something_else(words: &[Word]) -> bool {
    words
        .iter()
        .any(|word| !word.is_break() && !word.is_in(list("plain")) && list("over").at(std::slice::from_ref(word)) == 0)
}

/// Reads a clause that only says to continue.
fn going(words: &[Word], topic: &Topic) -> Option<Act> {
    let go = list("go").at(words);
    let rest = list("go-tail").skip(list("go").skip(words));
    if go > 0 && (rest.is_empty() || list("go-tail").skip(&words[go..]).is_empty()) {
        let it = words[go - 1].is_one_of(&["it", "this", "that", "so"]);
        return Some(if it && topic.spoken_of { Act::Work } else { Act::Go });
    }
    let yes = list("yes").at(words);
    (yes > 0 && list("go-tail").skip(&words[yes..]).is_empty()).then_some(Act::Yes)
}

/// Reads an order to leave the plan or the work.
fn left(words: &[Word], topic: &Topic) -> Option<Act> {
    let says_so = list(if list("alone").within(words) { "self" } else { "self-only" });
    if says_so.at(words) > 0 {
        let own = says_so.at(words);
        let verb = list("work").at(&words[own..]);
        if own > 0 && verb > 0 {
            return leave(object(&words[own + verb..], topic).map(|(object, _)| object));
        }
    }
    // `the rest can wait`.
    if let Some((object @ (Object::Whole | Object::Part), rest)) = object(words, topic)
        && (begins(rest, &["can", "wait"]) || begins(rest, &["will", "have", "to", "wait"]) || begins(rest, &["later"]))
    {
        return leave(Some(object));
    }
    let words = if begins(words, &["let's"]) { &words[1..] } else { words };
    let not = list("not").at(words);
    if not > 0 && !begins(words, &["stop"]) && list("leave").at(words) <= not {
        return denied(list("filler").skip(&words[not..]), topic);
    }
    if begins(words, &["no"])
        && let Some((object @ (Object::Whole | Object::Part), _)) = object(&words[1..], topic)
    {
        return leave(Some(object));
    }
    if let Some((between, _)) = list("leave-around").around(words)
        && let Some(act) = leave(object(between, topic).map(|(object, _)| object))
    {
        return Some(act);
    }
    let verb = list("leave").at(words);
    if verb > 0
        && let Some(act) = leave(object(&words[verb..], topic).map(|(object, _)| object))
    {
        return Some(act);
    }
    let stop = list("stop").at(words);
    let rest = &words[stop..];
    let ends = rest.is_empty() || list("stop-tail").at(rest) > 0;
    let lasts = rest.len() > list("stop-tail").at(rest) && begins(rest, &["for"]);
    (stop > 0 && ends && !lasts).then_some(Act::Leave)
}

/// Reads a denial.
fn denied(words: &[Word], topic: &Topic) -> Option<Act> {
    let ends = list("ends").at(words);
    if ends > 0 {
        // `don't stop until all tasks are done`.
        let rest = &words[ends..];
        let at = rest.iter().position(|word| word.is_one_of(&["until", "till", "before", "unless"]));
        let after = at.map(|at| &rest[at + 1..]).unwrap_or_default();
        let all = after.iter().any(|word| word.is_one_of(&["all", "everything", "every", "nothing"]));
        let work = mentions(after, topic) || all && !names_something_else(after);
        if at.is_some() && work && list("over").within(after) {
            return Some(Act::Work);
        }
        if !begins(words, &["finish"]) {
            let bare = rest.is_empty() || at == Some(0) && !names_something_else(after);
            return bare.then_some(Act::Go);
        }
    }
    if words.is_empty() || begins(words, &["yet"]) || begins(words, &["now"]) || begins(words, &["today"]) {
        return Some(Act::Leave);
    }
    let verbs = list("work").all_at(words);
    let longest = *verbs.first()?;
    let rest = &words[longest..];
    let nothing = rest.is_empty()
        || rest[0].is_break()
        || rest[0].is_one_of(&["anything", "yet", "now", "today", "any", "until"]);
    let anything =
        nothing && !rest.get(1).is_some_and(|word| rest[0].is("any") && !word.is_one_of(&["of", "tasks", "more"]));
    if anything {
        return Some(Act::Leave);
    }
    verbs.into_iter().find_map(|verb| leave(object(&words[verb..], topic).map(|(object, _)| object)))
}

fn leave(object: Option<Object>) -> Option<Act> {
    match object? {
        Object::Whole | Object::It => Some(Act::Leave),
        Object::Part => Some(Act::LeavePart),
    }
}

fn is_subject(words: &[Word]) -> bool {
    words.first().is_some_and(|word| word.is_in(list("subjects")))
}

/// `Führe den Plan aus`: the verb comes first, or last after `kannst du`.
fn german(words: &[Word], topic: &Topic) -> Option<Act> {
    let verb = |word: &Word| list("de-work").at(std::slice::from_ref(word)) > 0;
    let noun = |word: &Word| list("de-noun").at(std::slice::from_ref(word)) > 0 || topic.is_id(word);
    let rest = list("filler").skip(list("polite").skip(words));
    let works = rest.first().is_some_and(verb) || (rest.len() < words.len() && rest.last().is_some_and(verb));
    let leaves = list("de-leave").at(rest) > 0;
    if !(works || leaves) || begins(rest, &["plan"]) {
        return None;
    }
    let object = (1..=rest.len()).any(|at| rest[at - 1..].first().is_some_and(noun) || topic.at(&rest[at - 1..]) > 0);
    if !object {
        return None;
    }
    let denied = rest.iter().any(|word| list("de-not").at(std::slice::from_ref(word)) > 0);
    Some(if denied || leaves { Act::Leave } else { Act::Work })
}
