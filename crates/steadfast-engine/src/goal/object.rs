//! What a verb is about.

use steadfast_words::{Word, WordKind};

use super::list;
use super::target;

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
        } else if word.is_one_of(&["outside", "except", "besides", "beyond"])
            || (word.is("other") && next.is_some_and(|next| next.is("than")))
            || (word.is("apart") && next.is_some_and(|next| next.is("from")))
            || (word.is("but") && object.general)
        {
            object.outside = true;
            at += usize::from(
                word.is_one_of(&["other", "apart"]) || next.is_some_and(|next| next.is("of") || next.is("for")),
            );
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
            // `the file` is a certain one.
            if word.is_one_of(&["file", "thing"]) && at > 0 && words[at - 1].is_one_of(&["the", "this", "that"]) {
                break;
            }
            object.general = true;
        } else if word.is("else") {
            object.other = true;
        } else if word.is("rest")
            || word.is("other")
                && next.is_some_and(|next| next.is_one_of(&["files", "code", "folders", "modules", "places"]))
        {
            object.other = true;
            object.general = true;
            let of = words[at + 1..].iter().take_while(|word| word.is_in(list("object-rest"))).count();
            at += of;
        } else if next.is_some_and(|next| next.is_one_of(&["code", "files", "types", "components", "scripts", "pages"]))
            && is_name(word)
            && words.get(at + 2).is_some_and(|word| word.is_one_of(&["in", "under", "inside", "within"]))
            && words[at + 3..].iter().find(|word| !word.is("the")).and_then(target::path).is_some()
        {
            // `the production code in src/`.
            at += 1;
        } else if next.is_some_and(|next| next.is_one_of(&["in", "under", "inside", "within", "below"]))
            && is_name(word)
            && words[at + 2..].iter().find(|word| !word.is("the")).and_then(target::path).is_some()
        {
            // `my dotfiles in config/`: where they are is what counts.
        } else if word.is_one_of(&["and", "or", "nor"]) {
            if !object.of.is_empty() && !lists_on(&words[at + 1..]) {
                break;
            }
        } else if word.is("that")
            && object.general
            && matches!(&words[at + 1..], [are, not, inside, ..]
                if are.is("are") && not.is("not") && inside.is_one_of(&["in", "inside", "within", "under"]))
        {
            object.outside = true;
            at += 3;
        } else if word.is("that") && (object.general || !object.of.is_empty()) {
            // `files that are still referenced`: certain ones.
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

/// Whether a list of names goes on here.
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

fn is_name(word: &Word) -> bool {
    let shaped = word.raw.len() > 2
        && word.raw.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        && !word.is_in(list("object-light"))
        && !word.is_in(list("object-general"))
        && !word.is_in(list("object-stop"));
    let general = [
        "git",
        "imports",
        "exports",
        "comments",
        "names",
        "formatting",
        "signature",
        "signatures",
        "logic",
        "order",
        "structure",
        "indentation",
        "whitespace",
        "variables",
        "functions",
        "unrelated",
        "related",
        "irrelevant",
        "such",
        "some",
        "many",
        "necessary",
        "unnecessary",
        "certain",
        "random",
        "database",
        "production",
        "prod",
        "behaviour",
        "behavior",
        "disk",
        "line",
        "lines",
        "same",
        "config",
    ];
    shaped && matches!(word.kind, WordKind::Plain | WordKind::Code) && !word.is_one_of(&general)
}

/// Whether nothing more is said of the verb.
pub(super) fn ends(word: Option<&Word>) -> bool {
    word.is_none_or(|word| {
        word.is_break() || word.is_in(list("object-stop")) || word.is_one_of(&["and", "or", "nor", "but"])
    })
}

pub(super) fn skip<'a>(words: &'a [Word], light: &[&str]) -> &'a [Word] {
    let from = words.iter().position(|word| !word.is_one_of(light)).unwrap_or(words.len());
    &words[from..]
}
