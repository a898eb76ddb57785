//! Removes secrets from the strings of a JSON text, so that it stays valid JSON.

use std::borrow::Cow;

use crate::redact;

/// Replaces the secrets in all strings and keys of the document. Borrows the document if there is none.
///
/// Everything outside strings stays as it is. In a text that is not JSON, all text between quotes counts as a string.
pub fn redact_json(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut clean = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let open = at;
        let Literal { close, is_plain } = literal(bytes, open + 1);
        at = close + 1;
        let Some(literal) = (!is_plain).then(|| redacted(&json[open + 1..close])).flatten() else { continue };
        clean.push_str(&json[copied..open]);
        clean.push_str(&literal);
        copied = at.min(json.len());
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    clean.push_str(&json[copied..]);
    Cow::Owned(clean)
}

/// Redacts a text for people that may be JSON, or several JSON documents in lines.
pub fn redact_document(text: &str) -> Cow<'_, str> {
    let is_json = text.trim_start().starts_with(['{', '['])
        && serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>().all(|part| part.is_ok());
    if is_json { redact_json(text) } else { redact(text) }
}

struct Literal {
    /// Its end: the closing quote, or the end of the text.
    close: usize,
    /// One lower-case word: a key or value of ours, never a secret. Most strings of a journal line are such words, and
    /// a hook waits for this scan.
    is_plain: bool,
}

fn literal(bytes: &[u8], from: usize) -> Literal {
    let (mut at, mut is_plain) = (from, true);
    while at < bytes.len() && bytes[at] != b'"' {
        match bytes[at] {
            b'a'..=b'z' | b'_' => {}
            b'\\' => {
                is_plain = false;
                at += 1;
            }
            _ => is_plain = false,
        }
        at += 1;
    }
    Literal { close: at.min(bytes.len()), is_plain }
}

/// Returns the redacted string in quotes, or `None` if it has no secret.
fn redacted(inner: &str) -> Option<String> {
    let text = match inner.contains('\\') {
        true => serde_json::from_str(&format!("\"{inner}\"")).map_or(Cow::Borrowed(inner), Cow::<str>::Owned),
        false => Cow::Borrowed(inner),
    };
    let Cow::Owned(clean) = redact(&text) else { return None };
    serde_json::to_string(&clean).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = concat!("ghp", "_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m");

    #[test]
    fn a_secret_in_a_string_goes_and_the_document_stays_one() {
        let given = serde_json::json!({
            "plain": "nothing here", "said": format!("a \"quoted\"\n{TOKEN} \\"), "tokens": 123_456,
            "list": ["curl -u \"bob:s3cr3tPass\" https://a.example", format!("PASSWORD='{TOKEN}'")], (TOKEN): 1,
        });
        for text in [given.to_string(), format!("{given:#}")] {
            let clean = redact_json(&text).into_owned();
            assert!(!clean.contains(TOKEN) && !clean.contains("s3cr3tPass"), "{clean}");
            let read: serde_json::Value = serde_json::from_str(&clean).unwrap();
            assert_eq!((&read["plain"], &read["tokens"]), (&given["plain"], &given["tokens"]));
            assert!(read["said"].as_str().unwrap().starts_with("a \"quoted\"\n[redacted:"), "{clean}");
            assert_eq!(redact_json(&clean), clean);
        }
    }

    #[test]
    fn without_a_secret_nothing_is_copied() {
        let text = serde_json::json!({"input_tokens": 1, "what": "a \"b\" \\ c", "token": "see README"}).to_string();
        assert!(matches!(redact_json(&text), Cow::Borrowed(_)), "{text}");
    }

    #[test]
    fn a_document_is_read_as_what_it_is() {
        let lines =
            format!("{}\n{}\n", serde_json::json!({"a": TOKEN}), serde_json::json!({"input_tokens": 1_234_567}));
        let clean = redact_document(&lines);
        assert_eq!(clean.lines().count(), 2);
        assert!(
            clean.contains("{\"a\":\"[redacted:") && clean.contains("1234567") && !clean.contains(TOKEN),
            "{clean}"
        );
        assert!(redact_document("{PASSWORD=Hunter22}").contains("[redacted:"));
        assert!(redact_document("[1] PASSWORD=Hunter22").contains("[redacted:"));
    }

    #[test]
    fn half_a_document_is_no_reason_to_fail() {
        for text in ["\"", "\"\\", "\"a\\\"", "{\"a\":\"ü\\", "\\\""] {
            assert_eq!(redact_json(text), text);
        }
        let torn = format!("{{\"said\":\"{TOKEN}");
        assert!(!redact_json(&torn).contains(TOKEN));
    }
}
