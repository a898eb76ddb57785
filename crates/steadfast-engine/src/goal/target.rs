//! Recognises names in a human's words: a path, a thing with its usual places in a checkout, a program, and the verbs
//! that matter, in their usual forms.

use std::sync::LazyLock;

use steadfast_words::{Vocabulary, Word, WordKind};

use super::list;

static THINGS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("things.txt")));

/// The most words of a thing's name.
const LONGEST: usize = 4;

/// Returns the name of the thing that begins here, and its number of words.
pub(super) fn named(words: &[Word]) -> Option<(&'static str, usize)> {
    // A thing in backticks counts, too.
    let is_plain = |word: &Word| word.kind == WordKind::Plain || word.is_break();
    if words.iter().take(LONGEST).all(is_plain) {
        return THINGS.which(words);
    }
    let plain = |word: &Word| if word.is_break() { word.clone() } else { Word::of(&word.text) };
    THINGS.which(&words.iter().take(LONGEST).map(plain).collect::<Vec<_>>())
}

pub(super) fn is_place(word: &Word) -> bool {
    word.is_in(list("places"))
}

pub(super) fn is_code(word: &Word) -> bool {
    word.kind == WordKind::Code
}

/// `main`, `release-2` in backticks, `origin/main`.
pub(super) fn is_branch(word: &Word) -> bool {
    word.is_in(list("branches")) || is_code(word) || is_of_remote(word)
}

pub(super) fn is_of_remote(word: &Word) -> bool {
    word.text.starts_with("origin/") || word.text.starts_with("upstream/")
}

pub(super) fn is_program(word: &Word) -> bool {
    matches!(word.kind, WordKind::Plain | WordKind::Code) && list("programs").has(&word.text)
}

/// Returns true for a command line in backticks: a program with arguments.
pub(super) fn is_command(word: &Word) -> bool {
    word.text.split_once(' ').is_some_and(|(program, _)| list("programs").has(program))
}

/// Returns the path that a word is, if it is one.
pub(super) fn path(word: &Word) -> Option<String> {
    let raw = word.raw.trim_start_matches("./");
    let looks = match word.kind {
        WordKind::Plain => !list("slashed").has(&word.text) && (raw.contains('/') || is_file(raw)),
        WordKind::Code => raw.contains('/') || is_file(raw),
        WordKind::Quoted | WordKind::Break => false,
    };
    let plain = !raw.contains("://") && !raw.contains(['(', '<', '>', '|', ' ', '\'']) && !raw.starts_with(['-', '@']);
    // `/commit` is a command of the host.
    let command = raw.starts_with('/') && !raw[1..].contains('/');
    (looks && plain && !command && raw.len() < 200).then(|| raw.to_owned())
}

/// `a.rs`, `.env`, `*.snap`; neither `e.g` nor `2.1`.
fn is_file(raw: &str) -> bool {
    if raw.starts_with("*.") && raw.len() > 2 {
        return true;
    }
    let Some((stem, ending)) = raw.rsplit_once('.') else { return false };
    let ending_fits = (1..=8).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_lowercase())
        && !ending.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    let stem_fits =
        stem.len() != 1 && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.*[]".contains(&byte));
    ending_fits && stem_fits && !matches!(raw, "i.e" | "e.g" | "etc.")
}

static VERBS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("verbs.txt")));

pub(super) fn is_of_git(verb: &str) -> bool {
    matches!(verb, "commit" | "push" | "force-push" | "merge")
}

pub(super) fn is_verb(words: &[Word]) -> bool {
    verb(words).is_some()
}

/// Returns the verb that begins here, by its name in `verbs.txt`, and its number of words.
pub(super) fn verb(words: &[Word]) -> Option<(&'static str, usize)> {
    let first = words.first().filter(|word| word.kind == WordKind::Plain)?;
    // `git commit`, `npm install`: the program adds nothing.
    if first.is_in(list("verb-programs")) {
        if words.get(1).is_some_and(|word| word.is("i")) {
            return Some(("install", 2));
        }
        return verb(&words[1..]).map(|(verb, len)| (verb, len + 1));
    }
    of_bases(words, 0).or_else(|| of_bases(words, 1)).or_else(|| VERBS.which(words))
}

/// Returns the verb that begins here, with the word at this place in its base form: `fiddling with`, `force pushing`.
fn of_bases(words: &[Word], at: usize) -> Option<(&'static str, usize)> {
    let stem = words.get(at)?.text.strip_suffix("ing").filter(|stem| stem.len() > 1)?;
    let single = &stem[..stem.floor_char_boundary(stem.len() - 1)];
    let doubled = stem.ends_with(|last| single.ends_with(last)).then(|| single.to_owned());
    let bases = [Some(stem.to_owned()), Some(format!("{stem}e")), doubled];
    bases.into_iter().flatten().find_map(|base| {
        let mut plain: Vec<Word> = words.iter().take(3).cloned().collect();
        plain[at].text = base;
        VERBS.which(&plain).filter(|(_, len)| *len > at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_words::prompt::sentences;

    #[test]
    fn paths_are_told_from_words() {
        let found = |text: &str| sentences(text)[0].words.iter().filter_map(path).collect::<Vec<_>>();
        assert_eq!(
            found("see src/a.rs, `lib/`, .env, *.snap and Cargo.toml"),
            ["src/a.rs", "lib/", ".env", "*.snap", "Cargo.toml"]
        );
        assert_eq!(found("i/o and/or e.g. 2.1 https://a.b/c /commit v1.2 it's"), Vec::<String>::new());
    }
}
