//! Words of a POSIX shell.

/// A word as a shell has to be given it; as it is where that needs no quotes. No word can have a NUL in it, so NULs are left
/// out.
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
