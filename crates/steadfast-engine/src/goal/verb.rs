//! The verbs that matter, in the forms in which they are said.

use std::sync::LazyLock;

use steadfast_words::{Vocabulary, Word, WordKind};

use super::list;

static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("verbs.txt")));

pub(super) fn is_of_git(verb: &str) -> bool {
    matches!(verb, "commit" | "push" | "force-push" | "merge")
}

pub(super) fn is_verb(words: &[Word]) -> bool {
    verb(words).is_some()
}

/// The verb that begins here, by its name in `verbs.txt`, and how many words it takes.
pub(super) fn verb(words: &[Word]) -> Option<(&'static str, usize)> {
    let first = words.first().filter(|word| word.kind == WordKind::Plain)?;
    // `git commit`, `npm install`: the program says nothing more.
    if first.is_in(list("verb-programs")) {
        if words.get(1).is_some_and(|word| word.is("i")) {
            return Some(("install", 2));
        }
        return verb(&words[1..]).map(|(verb, len)| (verb, len + 1));
    }
    of_bases(words, 0).or_else(|| of_bases(words, 1)).or_else(|| WORDS.which(words))
}

/// The verb that begins here, with the word at this place in its base form: `fiddling with`, `force pushing`.
fn of_bases(words: &[Word], at: usize) -> Option<(&'static str, usize)> {
    let stem = words.get(at)?.text.strip_suffix("ing").filter(|stem| stem.len() > 1)?;
    let single = &stem[..stem.floor_char_boundary(stem.len() - 1)];
    let doubled = stem.ends_with(|last| single.ends_with(last)).then(|| single.to_owned());
    let bases = [Some(stem.to_owned()), Some(format!("{stem}e")), doubled];
    bases.into_iter().flatten().find_map(|base| {
        let mut plain: Vec<Word> = words.iter().take(3).cloned().collect();
        plain[at].text = base;
        WORDS.which(&plain).filter(|(_, len)| *len > at)
    })
}
