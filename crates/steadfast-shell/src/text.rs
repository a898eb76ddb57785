//! Text of which parts are not known: a string in which a few characters stand for what is missing.

/// Any text, slashes included.
pub(crate) const ANY: char = '\u{F8F0}';
/// An unquoted `*`.
pub(crate) const STAR: char = '\u{F8F1}';
/// An unquoted `?` or `[…]`.
pub(crate) const ONE: char = '\u{F8F2}';
/// Where an unquoted expansion is split into fields.
pub(crate) const SPLIT: char = '\u{F8F3}';

pub(crate) fn is_known(text: &str) -> bool {
    !text.contains([ANY, STAR, ONE, SPLIT])
}

/// The text with unquoted pattern characters marked as such.
pub(crate) fn mark_globs(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[']) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'*' => out.push(STAR),
            b'?' => out.push(ONE),
            _ => match rest.get(at + 2..).and_then(|tail| tail.find(']')) {
                Some(end) if !rest[at..at + 2 + end].contains(['/', ' ', '\n']) => {
                    out.push(ONE);
                    rest = &rest[at + 2 + end + 1..];
                    continue;
                }
                _ => out.push('['),
            },
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// Absolute, without `.` and `..`. `cwd` may have unknown parts.
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

/// As it is shown: `**` for any text, `*` and `?` as they were typed.
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

/// Paths that are no files.
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
        let mut out = String::new();
        mark_globs("[", &mut out);
        mark_globs("a[é", &mut out);
        mark_globs("[ab]c", &mut out);
        assert_eq!(out, format!("[a[é{ONE}c"));
    }
}
