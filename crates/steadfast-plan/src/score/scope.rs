//! Where it happens, and where not.
//!
//! | points | a sentence |
//! | --- | --- |
//! | 2 | names a file, a folder or a route, or stands under a heading like "Out of scope" |
//! | 1 | names where something is today, or a part: a name of code (`UserStore`, `run()`, anything in backticks), or `the login page`, `the payments module` |
//! | 0 | names none: `the app`, `everywhere` |

use super::Worth;
use super::sentence::{Form, Part, Said, bare};
use super::token::{names_code, names_path};

pub(super) fn worth(said: &Said) -> Worth {
    if said.part == Part::OutOfScope && matches!(said.form, Form::Item | Form::Box) {
        return Some((2, "says what is out of scope"));
    }
    if names_path(said) && said.part == Part::Background {
        return Some((1, "names where something is today"));
    }
    if names_path(said) {
        return Some((2, "names a file, a folder or a route"));
    }
    if said.form == Form::Code {
        return None;
    }
    if names_code(said) || said.words().iter().any(|word| word.is_code && word.text.chars().any(char::is_alphabetic)) {
        return Some((1, "names a piece of code"));
    }
    names_part(said).then_some((1, "names a part of the project"))
}

/// `the login page`: a kind of part with a word before it that says which.
fn names_part(said: &Said) -> bool {
    const KINDS: [&str; 44] = [
        "page",
        "screen",
        "view",
        "dialog",
        "form",
        "dashboard",
        "module",
        "component",
        "class",
        "function",
        "method",
        "service",
        "package",
        "crate",
        "library",
        "endpoint",
        "api",
        "command",
        "subcommand",
        "flag",
        "option",
        "cli",
        "client",
        "server",
        "database",
        "table",
        "schema",
        "export",
        "importer",
        "exporter",
        "parser",
        "adapter",
        "hook",
        "test",
        "tests",
        "build",
        "pipeline",
        "worker",
        "queue",
        "search",
        "onboarding",
        "docs",
        "button",
        "menu",
    ];
    const SAYS_NOTHING: [&str; 12] =
        ["the", "a", "an", "our", "my", "this", "that", "all", "every", "some", "existing", "new"];
    let words = said.words();
    words.iter().enumerate().any(|(index, word)| {
        let alone_is_a_part =
            matches!(bare(&word.text), "dashboard" | "onboarding" | "importer" | "exporter" | "parser" | "docs");
        let before = index.checked_sub(1).and_then(|before| words.get(before)).map(|word| bare(&word.text));
        !word.is_code
            && KINDS.contains(&bare(&word.text))
            && (alone_is_a_part || before.is_some_and(|before| !before.is_empty() && !SAYS_NOTHING.contains(&before)))
    })
}

#[cfg(test)]
mod tests {
    use crate::score::{Dimension, score};

    fn points(text: &str) -> u8 {
        score(text).points(Dimension::Scope)
    }

    #[test]
    fn a_place_that_can_be_opened_is_two() {
        assert_eq!(points("Pull the retries out of net/client.py."), 2);
        assert_eq!(points("Create GET /api/v1/orders/{id}/history."), 2);
        assert_eq!(points("## Out of scope\n- The settings\n"), 2);
    }

    #[test]
    fn a_part_with_a_name_is_one() {
        assert_eq!(points("Fix the flaky test in the payments module."), 1);
        assert_eq!(points("Rename `UserStore`."), 1);
        assert_eq!(points("The revenue is on the dashboard."), 1);
    }

    #[test]
    fn everywhere_is_nowhere() {
        assert_eq!(points("Make the app faster."), 0);
        assert_eq!(points("I want a dark mode."), 0);
        assert_eq!(points("Clean everything up and/or delete it."), 0);
    }
}
