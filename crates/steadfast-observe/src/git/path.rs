//! Paths as git spells them: bytes, with `/` between the parts.

use std::path::{Path, PathBuf};

pub(crate) fn from_git(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

pub(crate) fn to_git(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

/// Quotes a path as in C, for git commands that take no NUL-separated list: there a line break is a separator.
pub(crate) fn quoted(path: &Path) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in to_git(path) {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', byte]),
            b' '..=b'~' => text.push(byte),
            _ => text.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    text.push(b'"');
    text
}

/// Splits an answer given with `-z`.
pub(crate) fn parts(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    answer.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_line_or_a_quote_is_written_in_octal_or_escaped() {
        assert_eq!(quoted(&from_git(b"a b\n\"\\\tz")), br#""a b\012\"\\\011z""#);
    }

    #[test]
    fn bytes_that_are_no_text_survive() {
        let path = from_git(b"caf\xe9");
        assert_eq!((to_git(&path), quoted(&path)), (b"caf\xe9".to_vec(), br#""caf\351""#.to_vec()));
    }
}
