//! How one sees that it is right.
//!
//! | points | a sentence |
//! | --- | --- |
//! | 2 | is a case under a heading like "Acceptance criteria", a given/when/then, an example with its result that is more than an order, or a number that must be met |
//! | 1 | says it in general (`tests pass`, `works as before`), or has a number that could be tested |
//! | 0 | none of these |

use super::Worth;
use super::done::is_end;
use super::outcome::is_order;
use super::sentence::{Form, Part, Said, bare};
use super::token::{commands, is_presence, names_command};

pub(super) fn worth(said: &Said) -> Worth {
    if said.form == Form::Code {
        return None;
    }
    let listed = matches!(said.form, Form::Item | Form::Box);
    if listed && matches!(said.part, Part::Success | Part::Done) && !is_general(said) {
        return Some((2, "is a case that can be tried"));
    }
    if is_given_when_then(said) {
        return Some((2, "is a given, a when or a then"));
    }
    if is_example(said) {
        return Some((2, "is an example with its result"));
    }
    if is_measured(said) {
        return Some((2, "is a number that must be met"));
    }
    if is_general(said) {
        return Some((1, "says in general that it works"));
    }
    if said.has_number()
        && said.part != Part::Background
        && said.says_any(&["valid for", "rows", "seconds", "minutes", "ms", "percent", "times"])
    {
        return Some((1, "has a number that could be tested"));
    }
    None
}

/// A `when` alone tells a story.
fn is_given_when_then(said: &Said) -> bool {
    said.words().len() >= 4
        && (said.begins_with(&["given", "then"]) || (said.begins_with(&["when"]) && said.says_any(&["then", "given"])))
}

/// An input in backticks, a route or a status, and what comes of it.
fn is_example(said: &Said) -> bool {
    // An order to make something is no example of it, unless it says with which result; when it ends is no result.
    if (is_order(said) && !said.has_number()) || is_end(said) {
        return false;
    }
    let result = said.says_any(&[
        "prints",
        "returns",
        "creates",
        "shows",
        "exits",
        "works",
        "rejects",
        "refreshes",
        "responds",
        "outputs",
        "reports",
        "report nothing",
        "reports nothing",
        "provides",
        "answers",
    ]);
    let input = said.words().iter().any(|word| word.is_code || bare(&word.text).starts_with('/'));
    let status = said.words().iter().any(|word| {
        matches!(bare(&word.text), "200" | "201" | "204" | "400" | "401" | "403" | "404" | "409" | "422" | "500")
    });
    let tried = commands(said).any(|command| !is_presence(command));
    let verified = said.form == Form::Box && said.begins_with(&["verify", "test"]) && names_command(said) && tried;
    (result && (input || status)) || (said.says("must report") && input) || verified || checks_what(said)
}

/// `Verify: …` with a command that says more than that all tests pass.
fn checks_what(said: &Said) -> bool {
    said.begins_with(&["verify", "check"])
        && commands(said)
            .filter(|command| !is_presence(command))
            .any(|command| command.contains('/') || command.split_whitespace().nth(2).is_some())
}

fn is_measured(said: &Said) -> bool {
    said.has_number()
        && said.says_any(&["must", "should", "has to", "have to"])
        && said.says_any(&[
            "less than",
            "more than",
            "at most",
            "at least",
            "within",
            "under",
            "below",
            "exactly",
            "from",
        ])
}

fn is_general(said: &Said) -> bool {
    said.says_any(&[
        "tests pass",
        "test passes",
        "suites pass",
        "tests exist",
        "tests to verify",
        "tests cover",
        "passes",
        "must pass",
        "pass unchanged",
        "works as before",
        "same as before",
        "behaviour must stay",
        "behavior must stay",
        "no regressions",
        "regression test",
        "any regressions",
        "regressions",
        "should work",
        "tests for",
        "add tests",
        "exits 0",
        "exits with 0",
        "succeeds",
        "expected",
        "expects",
        "verify that",
        "no warnings",
        "all requirements",
    ])
}

#[cfg(test)]
mod tests {
    use crate::score::{Dimension, score};

    fn points(text: &str) -> u8 {
        score(text).points(Dimension::Success)
    }

    #[test]
    fn what_can_be_tried_is_two() {
        assert_eq!(points("`tool log --since 2026-01-01` on the fixture prints 3 lines."), 2);
        assert_eq!(points("Acceptance criteria:\n- Without orders it shows 0.\n"), 2);
        assert_eq!(points("A search should take less than 500 ms."), 2);
    }

    #[test]
    fn a_check_that_only_looks_whether_a_file_is_there_is_no_example() {
        for check in ["test -f x", "test -s src/code.txt", "[ -e src/a.rs ]", "ls src/a.rs", "true", "echo ok done"] {
            assert_eq!(points(&format!("- [ ] Make it\n  - Verify: `{check}`\n")), 0, "{check}");
        }
        for check in ["test -f x && grep -q Hello x", "grep -q Hello hello.txt", "cargo test --test code"] {
            assert_eq!(points(&format!("- [ ] Make it\n  - Verify: `{check}`\n")), 2, "{check}");
        }
    }

    #[test]
    fn that_it_works_is_one() {
        assert_eq!(points("All existing tests pass unchanged."), 1);
        assert_eq!(points("They get a link that is valid for 30 minutes."), 1);
        assert_eq!(points("Add a regression test."), 1);
    }

    #[test]
    fn nothing_to_look_at_is_nothing() {
        assert_eq!(points("I want a dark mode."), 0);
        assert_eq!(points("We trust your taste."), 0);
        assert_eq!(points("Split the big file."), 0);
    }
}
