//! Estimates the tokens of a text. Tokenizers differ; this estimate is never far below any of them, and usually above.

/// Returns an upper estimate in whole tokens.
pub(super) fn tokens(text: &str) -> usize {
    let mut count = Count::default();
    text.chars().for_each(|c| count.add(c));
    count.tokens()
}

/// Returns as much of a text as fits, cut between words. A cut text ends in `…`.
pub(super) fn cut(text: &str, most: usize) -> String {
    if tokens(text) <= most {
        return text.to_owned();
    }
    let mut count = Count::default();
    count.add('…');
    let (mut fits, mut word_end) = (0, 0);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            word_end = at;
        }
        count.add(c);
        if count.tokens() > most {
            break;
        }
        fits = at + c.len_utf8();
    }
    // A word as long as the whole room is cut inside.
    let end = if word_end * 2 > fits { word_end } else { fits };
    let kept = text[..end].trim_end();
    if kept.is_empty() { String::new() } else { format!("{kept}…") }
}

/// A count in sevenths of a token.
#[derive(Default)]
struct Count {
    sevenths: usize,
    /// The number of letters and digits in a row.
    run: usize,
}

impl Count {
    fn add(&mut self, c: char) {
        self.run = if c.is_ascii_alphanumeric() { self.run + 1 } else { 0 };
        self.sevenths += match c {
            // A longer run is a hash, a key, or a name in camel case.
            'a'..='z' | 'A'..='Z' if self.run <= 10 => 2,
            'a'..='z' | 'A'..='Z' | '0'..='9' => 5,
            ' ' => 1,
            '\0'..='\x7f' => 5,
            _ => 7 * (c.len_utf8() - 1),
        };
    }

    fn tokens(&self) -> usize {
        self.sevenths.div_ceil(7)
    }
}

/// Returns the larger count of two widespread tokenizers.
#[cfg(test)]
pub(super) fn real_tokens(text: &str) -> usize {
    [tiktoken_rs::cl100k_base_singleton(), tiktoken_rs::o200k_base_singleton()]
        .map(|tokenizer| tokenizer.encode_ordinary(text).len())
        .into_iter()
        .fold(0, usize::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_count_is_above_that_of_real_tokenizers() {
        for text in [
            "Every block terminates: each refusal to stop either follows progress or spends a finite budget.",
            "crates/steadfast-engine/src/policy/completion.rs, src/components/AuthForm.test.tsx",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "`cargo test -p auth -- --nocapture && npm run -s lint | tee out.log; [[ $? -eq 0 ]]`",
            "Die Anmeldung läuft über einen Einmalcode; das alte Verfahren bleibt bis März bestehen.",
            "使用一次性验证码登录而不是密码，旧接口保留到三月。",
            "Вход по одноразовому коду вместо пароля.",
            "🚀🎉✅ ship it 🔥🔥",
        ] {
            let real = real_tokens(text);
            assert!(tokens(text) >= real, "{} for {real}: {text}", tokens(text));
        }
    }

    #[test]
    fn a_cut_falls_between_words() {
        assert_eq!(cut("one two three four five six seven", 6), "one two three…");
        assert_eq!(cut("short", 6), "short");
        assert_eq!(cut("word", 0), "");
    }

    #[test]
    fn one_long_word_is_cut_all_the_same() {
        let cut = cut(&"x".repeat(1_000), 10);
        assert!(cut.ends_with('…') && cut.len() > 8, "{cut}");
    }

    proptest! {
        #[test]
        fn a_cut_keeps_its_bound_and_begins_like_the_text(text in "\\PC{0,400}", most in 0..80_usize) {
            let kept = cut(&text, most);
            prop_assert!(tokens(&kept) <= most.max(tokens(&text).min(most)));
            prop_assert!(text.starts_with(kept.trim_end_matches('…')) || kept == text);
        }
    }
}
