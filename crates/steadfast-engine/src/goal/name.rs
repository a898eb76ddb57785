//! Finds names without a path: `TokenStore`, `token_store`, the token module.

use steadfast_words::{Word, WordKind};

use super::list;
use super::target;

/// The most names of one prompt.
pub(super) const NAMES: usize = 12;

/// Returns the names in a sentence.
pub(super) fn names(words: &[Word]) -> Vec<String> {
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_part =
            || words.get(at + 1).is_some_and(|next| next.is_in(list("name-parts"))) && !word.is_in(list("name-light"));
        // This test rejects most words at little cost.
        let is_one = match word.kind {
            WordKind::Code => true,
            WordKind::Plain => is_snake(&word.raw) || is_camel(&word.raw) || is_part(),
            WordKind::Quoted | WordKind::Break => false,
        };
        if is_one && target::path(word).is_none() && !target::is_program(word) {
            all.extend(parts(word).map(str::to_owned));
        }
    }
    all
}

/// `TokenStore::open(path)`, `store.open()`: each part may be the name of a file.
fn parts(word: &Word) -> impl Iterator<Item = &str> {
    let called = word.raw.split('(').next().unwrap_or_default();
    let is_plain = word.kind == WordKind::Plain;
    let all = called.split("::").flat_map(|part| part.split('.')).filter(|part| is_name(part));
    all.filter(move |part| !is_plain || *part == called || is_snake(part) || is_camel(part))
}

/// Returns true for a word that is long enough and cannot be anything but a name.
fn is_name(part: &str) -> bool {
    part.len() > 2
        && part.len() < 80
        && part.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn is_snake(part: &str) -> bool {
    part.trim_matches('_').contains('_')
}

/// Returns true if a capital follows a small letter: not `Token`, not `HTTP`.
fn is_camel(part: &str) -> bool {
    part.chars().zip(part.chars().skip(1)).any(|(one, next)| one.is_lowercase() && next.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_words::prompt::sentences;

    fn found(text: &str) -> Vec<String> {
        sentences(text).iter().flat_map(|sentence| names(&sentence.words)).collect()
    }

    #[test]
    fn what_looks_like_a_name_is_one() {
        assert_eq!(
            found(
                "Make TokenStore::open() and `store.renew()` use parse_duration, as the billing module and `auth` do"
            ),
            ["TokenStore", "store", "renew", "parse_duration", "billing", "auth"]
        );
        assert_eq!(found("mend the feature-flags package"), ["feature-flags"]);
    }

    #[test]
    fn what_is_a_path_a_program_or_a_plain_word_is_none() {
        let text = "Run `cargo test` and `npm`, see src/token_store.rs, fix the same module, the HTTP API and \"the_end of it\"";
        assert_eq!(found(text), Vec::<String>::new());
    }
}
