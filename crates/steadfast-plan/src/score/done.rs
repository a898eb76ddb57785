//! How the end is shown.
//!
//! | points | a sentence |
//! | --- | --- |
//! | 2 | stands under a heading like "Definition of done" or says `done when`, names a command that has to pass, or is the check of a task |
//! | 1 | is a task of a list, a criterion without a check, or says in general that tests pass |
//! | 0 | none of these |

use super::Worth;
use super::sentence::{Form, Part, Said};
use super::token::{commands, is_presence, names_command};

pub(super) fn worth(said: &Said) -> Worth {
    let listed = matches!(said.form, Form::Item | Form::Box);
    if said.part == Part::Done && listed {
        return Some((2, "stands under a definition of done"));
    }
    if is_end(said) {
        return Some((2, "says when it is finished"));
    }
    let command = names_command(said);
    if command && commands(said).all(is_presence) {
        return Some((1, "names a check that only looks whether something is there"));
    }
    if said.part == Part::Verification && command {
        return Some((2, "is a command that verifies"));
    }
    if said.form == Form::Code {
        return None;
    }
    if command && (said.begins_with(&["verify", "check", "test", "validate"]) || has_to_pass(said)) {
        return Some((2, "names a command that has to pass"));
    }
    if said.part == Part::Success && listed {
        return Some((1, "is a criterion without a check"));
    }
    if said.form == Form::Box {
        return Some((1, "is a task of a list"));
    }
    let general = said.says_any(&[
        "tests pass",
        "suites pass",
        "pass unchanged",
        "tests cover",
        "the benchmark is",
        "tests failing",
        "must pass",
    ]);
    general.then_some((1, "says in general that tests pass"))
}

/// `Done when …`
pub(super) fn is_end(said: &Said) -> bool {
    said.says_any(&["done when", "finished when", "complete when", "completed when", "ready when", "is over when"])
}

/// It says which command shows the end, and nothing else.
pub(super) fn is_check(said: &Said) -> bool {
    names_command(said) && worth(said).is_some_and(|(points, _)| points == 2)
}

fn has_to_pass(said: &Said) -> bool {
    said.says_any(&[
        "passes",
        "pass",
        "must pass",
        "succeeds",
        "exits 0",
        "exits with 0",
        "must report",
        "reports no",
        "reports nothing",
        "is green",
        "works",
    ])
}

#[cfg(test)]
mod tests {
    use crate::score::{Dimension, score};

    fn points(text: &str) -> u8 {
        score(text).points(Dimension::Done)
    }

    #[test]
    fn a_command_that_decides_is_two() {
        assert_eq!(points("Done when `cargo test --workspace` passes."), 2);
        assert_eq!(points("- [ ] Make codes\n  - Verify: `cargo test code`\n"), 2);
        assert_eq!(points("## Definition of done\n- The start shows the same settings as before\n"), 2);
    }

    #[test]
    fn a_file_that_is_there_shows_half_of_an_end() {
        assert_eq!(points("- [ ] Make codes\n  - Verify: `test -f src/code.txt`\n"), 1);
        assert_eq!(points("Verify: `ls dist/app.js`"), 1);
        assert_eq!(points("Done when `test -f a` passes."), 2, "a human said so");
        assert_eq!(points("- [ ] Make codes\n  - Verify: `test -f a && grep -q b a`\n"), 2);
    }

    #[test]
    fn a_list_is_an_end_without_a_proof() {
        assert_eq!(points("- [ ] Split the big file\n"), 1);
        assert_eq!(points("## Acceptance criteria\n- It shows 0\n"), 1);
        assert_eq!(points("All existing tests pass unchanged."), 1);
    }

    #[test]
    fn nobody_says_so_is_nothing() {
        assert_eq!(points("Add a dark mode to the settings page."), 0);
        assert_eq!(points("It would be great if it worked by Friday."), 0);
        assert_eq!(points("Run it with `cargo`, somehow."), 0);
    }
}
