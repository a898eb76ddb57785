//! What each dimension gives points for.

use super::{RULES, SECTIONS, parse, worth};
use crate::score::document::sentences;
use crate::score::{Dimension, says_where, score};

mod outcome {
    use super::*;

    fn points(text: &str) -> u8 {
        score(text).points(Dimension::Outcome)
    }

    #[test]
    fn what_somebody_sees_then_is_two() {
        assert_eq!(points("`tool log` prints the newest entry first."), 2);
        assert_eq!(points("People can reset their password by mail."), 2);
        assert_eq!(points("## Goal\nMove the settings into the database.\n"), 2);
    }

    #[test]
    fn what_a_person_does_or_sees_then_is_two() {
        for text in [
            "A reader who runs `cat hello.txt` sees Hello.",
            "Visitors can filter the list by colour.",
            "Somebody who opens the page without a session finds a login form.",
            "After the change every customer gets a receipt.",
            "An operator reads the state of the queue on one page.",
        ] {
            assert_eq!(points(text), 2, "{text}");
        }
        for text in ["Users cannot log in.", "Add users.", "A user table.", "Nobody can see the point."] {
            assert!(points(text) < 2, "{text}");
        }
    }

    #[test]
    fn an_order_of_two_words_has_an_object() {
        for text in ["Add login", "Fix typos.", "Remove `legacy`", "add pagination"] {
            assert_eq!(points(text), 1, "{text}");
        }
        for text in ["Fix it", "Do this", "Make better", "Add stuff", "Login", "Fix"] {
            assert_eq!(points(text), 0, "{text}");
        }
    }

    #[test]
    fn what_is_to_be_done_is_one() {
        assert_eq!(points("Rename `UserStore` to `AccountStore`."), 1);
        assert_eq!(points("The export drops the last row."), 1);
        assert_eq!(points("I want a dark mode."), 1);
    }

    #[test]
    fn a_wish_is_nothing() {
        assert_eq!(points("Make the app faster."), 0);
        assert_eq!(points("It should feel modern and friendly."), 0);
        assert_eq!(points("Look at the thing with the tokens."), 0);
    }

    #[test]
    fn what_is_so_today_is_no_outcome() {
        assert_eq!(points("## Why\nThe command shows every entry, which nobody can read.\n"), 0);
        assert_eq!(points("The page currently shows the sum of last month."), 1);
    }
}

mod scope {
    use super::*;

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

mod constraints {
    use super::*;

    fn points(text: &str) -> u8 {
        score(text).points(Dimension::Constraints)
    }

    #[test]
    fn what_can_be_broken_is_two() {
        assert_eq!(points("Don't touch the database schema."), 2);
        assert_eq!(points("Write it down in at most 80 lines."), 2);
        assert_eq!(points("## Rules\n- The migration may run twice.\n"), 2);
        assert_eq!(points("Sign in with a code: src/auth/. The old endpoint stays. Done when `cargo test` passes."), 2);
        assert_eq!(points("The public names of the module remain"), 2);
    }

    #[test]
    fn care_is_one() {
        assert_eq!(points("Fix it, but keep it simple."), 1);
        assert_eq!(points("Use the `clap_complete` crate for it."), 1);
        assert_eq!(points("Acceptance criteria:\n- It is there within 200 ms.\n"), 1);
    }

    #[test]
    fn people_who_do_not_do_something_forbid_nothing() {
        assert_eq!(points("New people often do not understand what it is for."), 0);
        assert_eq!(points("It answers 404 for an order that does not exist."), 0);
        assert_eq!(points("A user stays signed in for a week."), 0);
        assert_eq!(points("Add a dark mode."), 0);
    }
}

mod success {
    use super::*;

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

mod done {
    use super::*;

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

/// `match:` is a text whose last sentence gets its points by the rule above, `not:` one that does not.
#[test]
fn every_rule_reads_its_own_examples() {
    assert_eq!(parse().err(), None);
    let (mut section, mut rule, mut matched, mut wrong) = ("", "", Vec::new(), Vec::new());
    for line in RULES.lines() {
        if let Some((head, _)) = line.split_once(" :: ") {
            rule = head;
        } else if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
        let Some((wanted, text)) = line.split_once(": ").filter(|(wanted, _)| matches!(*wanted, "match" | "not"))
        else {
            continue;
        };
        let dimension = Dimension::parse(section).unwrap();
        let said = sentences(&text.replace(" / ", "\n")).pop().unwrap();
        let found = worth(dimension, &said).map(|(points, name)| format!("{points} {name}"));
        if (found.as_deref() == Some(rule)) != (wanted == "match") {
            wrong.push(format!("{section}, {rule}: {text} is {found:?}"));
        }
        matched.push((section, rule));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for dimension in Dimension::ALL {
        for rule in &SECTIONS[dimension.as_str()] {
            let head = format!("{} {}", rule.points, rule.name);
            assert!(matched.contains(&(dimension.as_str(), &head)), "no example: {head}");
        }
    }
}
