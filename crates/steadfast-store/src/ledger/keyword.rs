//! Keywords, by which steps, decisions and learnings are found.

/// The maximum number of keywords per text.
pub(super) const MOST: usize = 16;

/// Shorter words are too common.
const SHORTEST: usize = 3;
/// Longer words are hashes or encoded data.
const LONGEST: usize = 32;

/// Stop words: common in English, file names and command lines.
const EVERYWHERE: &[&str] = &[
    "add", "all", "and", "any", "app", "are", "bash", "bin", "but", "can", "cargo", "cat", "cd", "change", "check",
    "crate", "dev", "dist", "does", "done", "echo", "file", "find", "fix", "for", "from", "get", "git", "grep", "had",
    "has", "have", "head", "how", "html", "http", "https", "index", "init", "install", "into", "its", "java", "json",
    "lib", "main", "make", "mod", "new", "node", "not", "npm", "npx", "null", "once", "only", "out", "package", "path",
    "pnpm", "print", "python", "python3", "run", "sed", "see", "set", "should", "src", "sudo", "tail", "task", "test",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "tmp", "toml", "true", "tsx", "txt",
    "use", "usr", "var", "was", "what", "when", "where", "which", "will", "with", "yaml", "yarn", "yml", "you",
];

/// Returns the keywords of a text in their order, each once: `src/AuthToken.ts` has `auth` and `token`.
pub(super) fn keywords<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric())).flat_map(split_camel_case)
    {
        let Some(word) = plain(word).filter(|word| !found.contains(word)) else { continue };
        found.push(word);
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// The stop words that say nothing by themselves. The others are a subject: `npm`, `install`.
const GRAMMAR: &[&str] = &[
    "all", "and", "any", "are", "but", "can", "does", "done", "for", "from", "get", "had", "has", "have", "how",
    "into", "its", "not", "once", "only", "out", "see", "should", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "use", "was", "what", "when", "where", "which", "will", "with", "you",
];

/// Returns the words of a text that may be a subject, stop words too, in lower case.
pub(super) fn common_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.len() >= SHORTEST && GRAMMAR.binary_search(&word.as_str()).is_err()).collect()
}

/// Splits camel case: `parseDuration` is two words, and so is `HTTPServer`.
fn split_camel_case(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, None::<char>);
    let mut rest = word.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let lower_follows = rest.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins =
            c.is_uppercase() && before.is_some_and(|b| b.is_lowercase() || (b.is_uppercase() && lower_follows));
        if begins {
            parts.push(&word[start..at]);
            start = at;
        }
        before = Some(c);
    }
    parts.push(&word[start..]);
    parts
}

/// Normalises a word: lower case, without a plural `s`. Returns `None` for stop words.
fn plain(word: &str) -> Option<String> {
    let mut word = word.to_lowercase();
    if word.len() > SHORTEST + 1 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    let long = (SHORTEST..=LONGEST).contains(&word.chars().count());
    let tells = long && word.chars().any(char::is_alphabetic) && EVERYWHERE.binary_search(&word.as_str()).is_err();
    tells.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_paths_commands_and_sentences() {
        let words = |text: &str| keywords([text]).join(" ");
        assert_eq!(words("src/auth/TokenStore.ts"), "auth token store");
        assert_eq!(words("crates/HTTPServer/parse_duration.rs"), "server parse duration");
        assert_eq!(words("cargo test -p billing --locked"), "billing locked");
        assert_eq!(words("Fix the login: tokens are not refreshed"), "login token refreshed");
        assert_eq!(words("Größe ändern, 42 mal"), "größe ändern mal");
        assert_eq!(words("5f2a1c9e8b7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f x ab 1234"), "");
    }

    #[test]
    fn each_once_and_no_more_than_count() {
        assert_eq!(keywords(["token tokens", "Token"]), ["token"]);
        let many: Vec<String> = (0..100).map(|n| format!("word{n}x")).collect();
        assert_eq!(keywords(many.iter().map(String::as_str)).len(), MOST);
    }

    #[test]
    fn the_list_is_in_order_or_nothing_is_found_in_it() {
        assert!(EVERYWHERE.is_sorted() && GRAMMAR.is_sorted());
    }
}
