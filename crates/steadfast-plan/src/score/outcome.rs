//! What is different afterwards.
//!
//! | points | a sentence |
//! | --- | --- |
//! | 2 | says what somebody can do or what the program does then (`returns`, `shows`, `can`, `so that`, `instead of`), from which number to which, or stands under a heading like "Goal" |
//! | 1 | says what is to be made or changed (`Add …`, `Rename …`, `I want a …`), or what is wrong today |
//! | 0 | is a wish: `better`, `faster`, `modern`, and nothing beside it |

use super::Worth;
use super::sentence::{Form, Part, Said, bare};
use super::token::{names_command, names_path};

pub(super) fn worth(said: &Said) -> Worth {
    if said.form == Form::Code {
        return None;
    }
    let describes_today = said.part == Part::Background || is_fault(said);
    if !describes_today && !is_vague(said) {
        if said.part == Part::Goal && said.words().len() >= 4 {
            return Some((2, "stands under a goal"));
        }
        if is_observable(said) {
            return Some((2, "says what somebody or the program does then"));
        }
        if said.part == Part::Success && matches!(said.form, Form::Item | Form::Box) && said.words().len() >= 4 {
            return Some((2, "is a case that the result has to meet"));
        }
        if said.says("from") && said.says("to") && said.has_number() {
            return Some((2, "says from which number to which"));
        }
    }
    if is_fault(said) && said.part != Part::Constraints {
        return Some((1, "says what is wrong today"));
    }
    if is_order(said) && (!is_vague(said) || names_path(said) || names_command(said)) {
        return Some((1, "says what is to be made or changed"));
    }
    None
}

/// Somebody or something is seen doing it.
fn is_observable(said: &Said) -> bool {
    said.says_any(&[
        "returns",
        "prints",
        "shows",
        "displays",
        "exits",
        "responds",
        "sends",
        "gets",
        "receives",
        "creates",
        "generates",
        "accepts",
        "rejects",
        "refuses",
        "redirects",
        "appears",
        "supports",
        "lists",
        "writes",
        "reads",
        "is shown",
        "are shown",
        "is printed",
        "are printed",
        "is refused",
        "are refused",
        "is selected",
        "is sent",
        "are sent",
        "is invoked",
        "is called",
        "will be able to",
        "be able to",
        "so that",
        "instead of",
        "as a user",
        "i want to",
        "that shows",
        "that prints",
        "that returns",
        "should show",
        "should return",
        "should print",
        "should take",
        "should support",
        "should fail",
        "users can",
        "user can",
        "people can",
        "everyone can",
        "you can",
        "developers can",
        "admins can",
        "customers can",
        "must return",
        "must show",
        "must print",
        "must render",
        "clearly indicate",
        "representing",
        "renders",
    ]) || does_or_sees(said)
        || (said.begins_with(&["as a", "as an"]) && said.says("want"))
}

/// Somebody is named who uses it, and what they do or see then: `A reader who runs … sees …`, `Visitors can …`.
fn does_or_sees(said: &Said) -> bool {
    const SOMEBODY: [&str; 38] = [
        "reader",
        "readers",
        "user",
        "users",
        "visitor",
        "visitors",
        "customer",
        "customers",
        "admin",
        "admins",
        "administrator",
        "administrators",
        "developer",
        "developers",
        "operator",
        "operators",
        "reviewer",
        "reviewers",
        "caller",
        "callers",
        "client",
        "clients",
        "player",
        "players",
        "editor",
        "editors",
        "member",
        "members",
        "guest",
        "guests",
        "somebody",
        "someone",
        "anybody",
        "anyone",
        "everybody",
        "people",
        "whoever",
        "person",
    ];
    const THEN: [&str; 22] = [
        "can",
        "sees",
        "see",
        "finds",
        "find",
        "reads",
        "hears",
        "gets",
        "get",
        "receives",
        "knows",
        "opens",
        "downloads",
        "chooses",
        "picks",
        "signs",
        "logs",
        "reaches",
        "learns",
        "edits",
        "undoes",
        "notices",
    ];
    let words = said.words();
    let who = words.iter().position(|word| !word.is_code && SOMEBODY.contains(&bare(&word.text)));
    let then = |from: usize| words[from..].iter().any(|word| !word.is_code && THEN.contains(&bare(&word.text)));
    !is_order(said) && !said.says_any(&["cannot", "can't", "nobody", "want", "wants"]) && who.is_some_and(then)
}

fn is_fault(said: &Said) -> bool {
    said.says_any(&[
        "fails",
        "failing",
        "fail with",
        "broken",
        "breaks",
        "drops",
        "crashes",
        "hangs",
        "loses",
        "wrong",
        "doesn't",
        "does not work",
        "doesn't work",
        "not recognized",
        "flaky",
        "too slow",
        "bug",
        "error when",
        "missing",
        "currently",
        "today",
        "expects",
        "unexpectedly",
        "leaks",
    ])
}

/// A verb of making, or a wish with an object.
pub(super) fn is_order(said: &Said) -> bool {
    const VERBS: [&str; 52] = [
        "add",
        "allow",
        "build",
        "bump",
        "change",
        "configure",
        "convert",
        "create",
        "define",
        "delete",
        "disable",
        "document",
        "drop",
        "enable",
        "expose",
        "extend",
        "extract",
        "find",
        "fix",
        "generate",
        "implement",
        "initialize",
        "install",
        "introduce",
        "let",
        "log",
        "make",
        "merge",
        "migrate",
        "move",
        "port",
        "print",
        "pull",
        "refactor",
        "register",
        "remove",
        "rename",
        "replace",
        "rewrite",
        "set",
        "show",
        "split",
        "support",
        "switch",
        "translate",
        "update",
        "upgrade",
        "use",
        "wire",
        "write",
        "adopt",
        "display",
    ];
    const WISHES: [&str; 9] = [
        "i want",
        "we want",
        "i need",
        "we need",
        "i would like",
        "we would like",
        "there should be",
        "can you",
        "could you",
    ];
    if said.begins_with(&WISHES) {
        return said.says_any(&VERBS)
            || said.says_any(&["want a", "want an", "need a", "need an", "like a", "like an"]);
    }
    said.clause_begins_with(&VERBS) && has_object(said)
}

/// Three words have one, and two where the second is no word that only points at it.
fn has_object(said: &Said) -> bool {
    const POINTS: [&str; 10] = ["it", "this", "that", "them", "these", "those", "one", "all", "up", "here"];
    match said.words() {
        [_, object] => object.is_code || !POINTS.contains(&bare(&object.text)),
        words => words.len() >= 3,
    }
}

fn is_vague(said: &Said) -> bool {
    said.says_any(&[
        "better",
        "faster",
        "nicer",
        "cleaner",
        "modern",
        "friendly",
        "great",
        "improve",
        "improved",
        "thing",
        "things",
        "stuff",
        "somehow",
        "awesome",
        "more robust",
        "more readable",
    ])
}

#[cfg(test)]
mod tests {
    use crate::score::{Dimension, score};

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
