//! Text with unknown parts: special characters mark the parts that are not known.

/// Any text, including slashes.
pub(crate) const ANY: char = '\u{F8F0}';
/// An unquoted `*`.
pub(crate) const STAR: char = '\u{F8F1}';
/// An unquoted `?` or `[…]`.
pub(crate) const ONE: char = '\u{F8F2}';
/// A place where an unquoted expansion is split into fields; also the separator of array elements.
pub(crate) const SPLIT: char = '\u{F8F3}';
/// An unquoted `[` before its closing bracket is found.
const BRACKET: char = '\u{F8F4}';

pub(crate) fn is_known(text: &str) -> bool {
    // All marks begin with this byte, which is rare in text.
    !text.as_bytes().contains(&0xEF) || !text.contains([ANY, STAR, ONE, SPLIT])
}

/// Reports whether the whole text is unknown.
pub(crate) fn is_anything(text: &str) -> bool {
    text.chars().all(|c| c == ANY || c.is_whitespace())
}

/// Appends the text with unquoted pattern characters marked.
pub(crate) fn mark_globs(text: &str, out: &mut String) {
    if !text.contains(['*', '?', '[']) {
        return out.push_str(text);
    }
    out.extend(text.chars().map(|c| match c {
        '*' => STAR,
        '?' => ONE,
        '[' => BRACKET,
        c => c,
    }));
}

/// Resolves brackets: a closed one matches one character, whatever was quoted in it; an open one is a plain bracket.
pub(crate) fn settle_brackets(text: &mut String) {
    /// The limit for a set of characters, in bytes.
    const SET: usize = 256;
    let Some(first) = text.find(BRACKET) else { return };
    let mut out = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(at) = rest.find(BRACKET) {
        out.push_str(&rest[..at]);
        let set = &rest[at + BRACKET.len_utf8()..];
        let near = &set[..set.floor_char_boundary(SET)];
        let skip = near.chars().next().map_or(0, char::len_utf8);
        let end = near[skip..].find(']').map(|end| skip + end);
        match end.filter(|end| !near[..*end].contains(['/', ' ', '\n', SPLIT])) {
            Some(end) => {
                out.push(ONE);
                rest = &set[end + 1..];
            }
            None => {
                out.push('[');
                rest = set;
            }
        }
    }
    out.push_str(rest);
    *text = out;
}

/// Returns an absolute path without `.` and `..`. `cwd` may have unknown parts.
pub(crate) fn resolve(path: &str, cwd: &str) -> String {
    let joined = if path.starts_with(['/', ANY]) { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if last.contains(ANY) => {}
                _ => {
                    parts.pop();
                }
            },
            part => parts.push(part),
        }
    }
    let mut out = String::with_capacity(joined.len());
    for part in &parts {
        if !(out.is_empty() && part.starts_with(ANY)) {
            out.push('/');
        }
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Formats the text for people: `**` for any text, `*` and `?` as typed.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ANY => {
                if !out.ends_with("**") {
                    out.push_str("**");
                }
            }
            STAR => out.push('*'),
            ONE => out.push('?'),
            SPLIT => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

pub(crate) fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// Recognises paths that are not files.
pub(crate) fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero")
        || path.starts_with("/dev/fd/")
        || path.starts_with("/dev/tcp/")
        || path.starts_with("/proc/self/fd/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved() {
        assert_eq!(resolve("a/../b/./c", "/r"), "/r/b/c");
        assert_eq!(resolve("../../../x", "/r"), "/x");
        assert_eq!(resolve("/etc//x", "/r"), "/etc/x");
        assert_eq!(resolve(&format!("{ANY}/x"), "/r"), format!("{ANY}/x"));
    }

    #[test]
    fn a_bracket_alone_is_a_bracket() {
        for (typed, expected) in [("[", "[".to_owned()), ("a[é", "a[é".to_owned()), ("[ab]c", format!("{ONE}c"))] {
            let mut out = String::new();
            mark_globs(typed, &mut out);
            settle_brackets(&mut out);
            assert_eq!(out, expected);
        }
    }
}
