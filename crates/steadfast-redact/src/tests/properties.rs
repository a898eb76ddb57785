use proptest::prelude::*;

use super::filler::fill;
use crate::name::NAMES;
use crate::rule::{ANY, Anchor, Part, RULES};
use crate::{contains_secret, redact};

/// A key as the rule describes it; `None` for blocks.
fn key(row: usize, seed: u64) -> Option<String> {
    let rule = &RULES[row % RULES.len()];
    let mut text = match rule.anchor {
        Anchor::Behind(class, min, _, separator, _) => format!("{}{}", fill(class, min, seed), separator as char),
        Anchor::Prefix(_) | Anchor::After(_) => String::new(),
    };
    text.push_str(rule.anchor.text());
    for (at, part) in rule.body.iter().enumerate() {
        match *part {
            Part::Run(class, min, max) => {
                let spare = if max == ANY { 40 } else { max - min };
                let length = min + (seed as usize) % (spare + 1);
                text.push_str(&fill(class, length, seed.wrapping_add(at as u64 + 1)));
            }
            Part::Text(literal) => text.push_str(literal),
            Part::PrivateKeyBlock => return None,
        }
    }
    Some(text)
}

/// Pieces that make trouble together.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        (any::<usize>(), any::<u64>()).prop_map(|(row, seed)| key(row, seed).unwrap_or_default()),
        (0..RULES.len()).prop_map(|row| RULES[row].anchor.text().to_owned()),
        (0..NAMES.len()).prop_map(|row| NAMES[row].ending.to_owned()),
        (0..NAMES.len()).prop_map(|row| NAMES[row].ending.to_uppercase()),
        prop::sample::select(vec![
            "=",
            ":",
            ": ",
            " = ",
            ":=",
            "=>",
            "\"",
            "'",
            "`",
            "\\\"",
            "\\n",
            "\n",
            " ",
            ";",
            "&",
            "?",
            "--",
            "-",
            "-u ",
            "://",
            "@",
            "[",
            "]",
            "[redacted:",
            "[redacted:token]",
            "$",
            "{",
            "}",
            "(",
            ")",
            "-----",
            "-----BEGIN ",
            "PRIVATE KEY-----\n",
            "-----END PRIVATE KEY-----",
            "mysql -p",
            "Authorization: ",
            "Bearer ",
            "Cookie: a=",
            "hunter2",
            "é",
            "→",
            "\u{1b}[31m",
            "%3D",
            ".",
            "/",
            ".eyJ",
            ",",
            "str = ",
            "user:",
            "_",
            "9",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9+/_-]{1,40}",
        "\\PC{0,8}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in text()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
        prop_assert!(!contains_secret(&once));
    }

    #[test]
    fn any_text_at_all_is_taken(text in any::<String>()) {
        let clean = redact(&text);
        prop_assert_eq!(contains_secret(&text), clean != text);
    }

    #[test]
    fn plain_words_are_never_touched(text in "[a-z ,.!?()\n]{0,400}") {
        prop_assert_eq!(redact(&text), text.as_str());
    }

    #[test]
    fn a_key_between_other_things_is_gone(row in any::<usize>(), seed in any::<u64>(), before in text(), after in text()) {
        if let Some(key) = key(row, seed) {
            let text = format!("{before} {key} {after}");
            let clean = redact(&text);
            prop_assert!(!clean.contains(&key), "{} in {}", key, clean);
        }
    }
}
