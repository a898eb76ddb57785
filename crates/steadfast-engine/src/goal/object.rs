//! Reads the object of a verb.

use steadfast_words::{Word, WordKind};

use super::{grammar, list, target};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    /// Paths, and names of things.
    pub(super) of: Vec<String>,
    /// The verb applies to everything.
    pub(super) general: bool,
    /// The named ones are the exception.
    pub(super) outside: bool,
    /// The verb applies to everything else.
    pub(super) other: bool,
    /// No object follows the verb.
    pub(super) bare: bool,
    /// The number of words taken.
    pub(super) len: usize,
}

/// Tells whether a single word counts as a name: `touch billing`, but not `change behaviour`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    Any,
    Known,
}

pub(super) fn object(words: &[Word], names: Names) -> Object {
    let mut object = Object::default();
    // A thing in a place stands for the place: `the generated files in gen/`.
    let mut inside = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let (rest, next) = (&words[at..], words.get(at + 1));
        if word.is_break() {
            let goes_on = !object.of.is_empty() && word.raw == "," && lists_on(&words[at + 1..]);
            if !goes_on {
                break;
            }
        } else if let Some(path) = target::path(word) {
            if inside && !object.outside {
                object.of.retain(|name| name.contains(['/', '.', '*']));
            }
            object.of.push(path);
            if next.is_some_and(target::is_place) {
                at += 1;
            }
        } else if target::is_place(word) && next.is_some_and(|next| target::path(next).is_some()) {
            // `the folder legacy/`.
        } else if let Some(taken) = grammar::taken("outside", rest)
            .or_else(|| object.general.then(|| grammar::taken("but-for", rest)).flatten())
        {
            object.outside = true;
            at += taken - 1;
        } else if let Some((name, len)) = target::named(&words[at..]) {
            object.of.push(name.to_owned());
            at += len - 1;
            if words.get(at + 1).is_some_and(target::is_place) {
                at += 1;
            }
        } else if next.is_some_and(target::is_place) && is_name(word) {
            object.of.push(word.raw.clone());
            at += 1;
        } else if word.kind == WordKind::Code && is_name(word) {
            object.of.push(word.raw.clone());
        } else if word.is_in(list("object-general")) {
            // `the file` is a certain file.
            if word.is_one_of(&["file", "thing"]) && at > 0 && words[at - 1].is_one_of(&["the", "this", "that"]) {
                break;
            }
            object.general = true;
        } else if word.is("else") {
            object.other = true;
        } else if let Some(taken) = grammar::taken("others", rest) {
            object.other = true;
            object.general = true;
            at += taken - 1;
        } else if let Some(taken) = grammar::taken("what-in-a-place", rest) {
            at += taken - 1;
        } else if word.is_one_of(&["and", "or", "nor"]) {
            if !object.of.is_empty() && !lists_on(&words[at + 1..]) {
                break;
            }
        } else if let Some(taken) = grammar::taken("not-inside", rest).filter(|_| object.general) {
            object.outside = true;
            at += taken - 1;
        } else if word.is("that") && (object.general || !object.of.is_empty()) {
            // `files that are still referenced`: certain files.
            break;
        } else if word.is_in(list("object-light")) || word.text.ends_with("'s") {
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

/// Returns the number of words of an object of this sort.
pub(super) fn of(words: &[Word], sort: fn(&Object) -> bool) -> Option<usize> {
    Some(object(words, Names::Any)).filter(sort).map(|object| object.len)
}

/// Returns true if a list of names continues here.
fn lists_on(words: &[Word]) -> bool {
    let mut rest =
        words.iter().skip_while(|word| word.is_in(list("object-light")) || word.is_one_of(&["and", "or", "nor"]));
    let skipped = words.len() - rest.clone().count();
    rest.next().is_some_and(|word| {
        target::path(word).is_some()
            || target::named(&words[skipped..]).is_some()
            || words.get(skipped + 1).is_some_and(target::is_place)
            || word.is_in(list("object-general"))
    })
}

pub(super) fn is_name(word: &Word) -> bool {
    let shaped = word.raw.len() > 2
        && word.raw.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        && !word.is_in(list("object-light"))
        && !word.is_in(list("object-general"))
        && !word.is_in(list("object-stop"))
        && !word.is_in(list("object-no-name"));
    shaped && matches!(word.kind, WordKind::Plain | WordKind::Code)
}

/// Returns true if the verb has no further words.
pub(super) fn ends(word: Option<&Word>) -> bool {
    word.is_none_or(|word| {
        word.is_break() || word.is_in(list("object-stop")) || word.is_one_of(&["and", "or", "nor", "but"])
    })
}

pub(super) fn skip<'a>(words: &'a [Word], light: &[&str]) -> &'a [Word] {
    let from = words.iter().position(|word| !word.is_one_of(light)).unwrap_or(words.len());
    &words[from..]
}
