//! One word of a POSIX shell command line, written and read.

/// The word as a shell has to be given it; as it is, where that needs no quotes.
pub(super) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What a single word means; nothing where the text is more than one word or has to be expanded.
pub(super) fn unquote(text: &str) -> Option<String> {
    let mut word = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => loop {
                match chars.next()? {
                    '\'' => break,
                    inner => word.push(inner),
                }
            },
            '"' => loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => word.push(chars.next()?),
                    '$' | '`' => return None,
                    inner => word.push(inner),
                }
            },
            '\\' => word.push(chars.next()?),
            c if c.is_whitespace() || "$`;&|<>()*?[]{}!#".contains(c) => return None,
            c => word.push(c),
        }
    }
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_without_special_characters_is_not_quoted() {
        assert_eq!(quote("/usr/local/bin/steadfast"), "/usr/local/bin/steadfast");
    }

    #[test]
    fn a_path_with_a_space_is_quoted() {
        assert_eq!(quote("/home/a b/steadfast"), "'/home/a b/steadfast'");
    }

    #[test]
    fn two_words_are_not_one() {
        assert_eq!(unquote("env /usr/bin/steadfast"), None);
    }

    proptest! {
        #[test]
        fn what_was_quoted_is_read_back(word in ".+") {
            prop_assert_eq!(unquote(&quote(&word)), Some(word));
        }
    }
}
