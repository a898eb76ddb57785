//! Templates with placeholders like `@NAME@`.

use xtask::Result;

/// Fills in every value. A placeholder without a value is an error.
pub(crate) fn fill<'a>(text: &str, values: impl Iterator<Item = &'a (&'a str, &'a str)>) -> Result<String> {
    let mut filled = text.to_owned();
    for (name, value) in values {
        filled = filled.replace(&format!("@{name}@"), value);
    }
    match placeholder(&filled) {
        Some(left) => Err(format!("there is no value for `@{left}@`").into()),
        None => Ok(filled),
    }
}

fn placeholder(text: &str) -> Option<&str> {
    let is_name = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    // The texts before the first `@` and after the last one cannot be placeholders.
    let mut parts = text.split('@').skip(1).peekable();
    std::iter::from_fn(|| {
        let part = parts.next()?;
        parts.peek().map(|_| part)
    })
    .find(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_gets_its_value() {
        let filled = fill("@A@ and @B@, a@b.c, @A@", [("A", "1"), ("B", "2")].iter()).unwrap();
        assert_eq!(filled, "1 and 2, a@b.c, 1");
    }

    #[test]
    fn a_placeholder_without_a_value_is_an_error() {
        let error = fill("@A@ @VERSION@", [("A", "1")].iter()).unwrap_err();
        assert_eq!(error.to_string(), "there is no value for `@VERSION@`");
    }
}
