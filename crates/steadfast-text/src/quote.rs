//! Quoting for POSIX shells.

/// Quotes a word for a shell, if it needs quotes. A shell word cannot contain NUL, so NULs are removed.
#[must_use]
pub fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => quote(&word.replace('\0', "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_it_needs_to_be() {
        let words = ["/usr/bin/x-1", "a b", "it's", "", "$x", "a\0b"].map(quote);
        assert_eq!(words, ["/usr/bin/x-1", "'a b'", "\"it's\"", "''", "'$x'", "ab"]);
    }
}
