//! Where the work may be, as opposed to what must not happen.

use super::sentence::{Form, Part, Said};

/// `Only touch hello.txt`, `Stay in src/auth`: it names the place of the work, whatever else would be outside of it.
pub(crate) fn says_where(line: &str) -> bool {
    const VERBS: [&str; 14] = [
        "touch", "change", "edit", "modify", "write", "update", "work", "alter", "create", "add", "in", "inside",
        "within", "files",
    ];
    let said = Said::new(1, line, Part::Other, Form::Prose);
    let words = said.words();
    let first = |at: usize| words.get(at).map(|word| (word.is_code, super::sentence::bare(&word.text)));
    let begins_with_only = said.begins_with(&["only"]) && {
        let at = words.iter().position(|word| super::sentence::bare(&word.text) == "only").unwrap_or(0);
        first(at + 1).is_some_and(|(is_code, word)| is_code || VERBS.contains(&word) || word.contains(['.', '/']))
            || said.says_any(&[
                "may change",
                "may be changed",
                "may be touched",
                "changes",
                "is changed",
                "are changed",
            ])
    };
    begins_with_only
        || said.begins_with(&[
            "stay in",
            "stay inside",
            "stay within",
            "keep to",
            "limit changes to",
            "restrict changes to",
        ])
        || said.begins_with(&["limit yourself to", "limit the change to", "limit all changes to", "keep changes in"])
        || said.begins_with(&["keep changes to", "keep all changes in", "keep the changes in", "nothing outside"])
        || said.says_any(&[
            "nothing else changes",
            "touch nothing else",
            "change nothing else",
            "touch only",
            "change only",
        ])
        || said.says_any(&["edit only", "modify only", "and nothing else", "no files outside", "no file outside"])
}

#[cfg(test)]
mod tests {
    use super::says_where;

    #[test]
    fn a_scope_is_told_from_a_must_not() {
        for line in [
            "Only touch hello.txt",
            "only touch `src/auth`.",
            "Only `src/auth`",
            "Only src/auth/login.rs may change",
            "Please only edit files in src/auth",
            "Stay in `src/auth`",
            "Change only `hello.txt`",
            "Touch hello.txt and nothing else",
            "Keep changes in src/auth",
            "Only files in docs/ may be changed",
        ] {
            assert!(says_where(line), "{line}");
        }
        for line in [
            "Do not touch src/auth",
            "No new dependencies",
            "Never run migrations",
            "Only admins may log in",
            "only one query per page",
            "The schema stays",
            "Use only the standard library",
        ] {
            assert!(!says_where(line), "{line}");
        }
    }
}
