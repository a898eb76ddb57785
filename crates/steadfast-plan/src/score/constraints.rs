//! What must not happen on the way.
//!
//! | points | a sentence |
//! | --- | --- |
//! | 2 | forbids something (`must not`, `never`, `no new …`, `only … may`), says what stays, sets a limit (`at most 80 lines`), or stands under a heading like "Constraints" |
//! | 1 | asks for care (`keep it simple`, `backward compatible`), names the means (`use the clap crate`), is a non-goal, or says one of the former among criteria |
//! | 0 | none of these |

use super::Worth;
use super::sentence::{Form, Part, Said};

pub(super) fn worth(said: &Said) -> Worth {
    if said.form == Form::Code {
        return None;
    }
    let listed = matches!(said.form, Form::Item | Form::Box);
    if said.part == Part::Constraints && !said.is_heading() && (listed || said.words().len() >= 5) {
        return Some((2, "stands under constraints"));
    }
    let by_the_way = matches!(said.part, Part::Success | Part::Done | Part::Verification | Part::Background);
    let rule = if forbids(said) || (by_the_way && listed && said.begins_with(&["no"])) {
        Some("forbids something")
    } else if keeps(said) {
        Some("says what stays as it is")
    } else if limits(said) {
        Some("sets a limit")
    } else {
        None
    };
    match rule {
        Some(rule) if by_the_way => Some((1, rule)),
        Some(rule) => Some((2, rule)),
        None if said.part == Part::OutOfScope && listed => Some((1, "is a non-goal")),
        None if is_soft(said) => Some((1, "asks for care, or names the means")),
        None => None,
    }
}

fn forbids(said: &Said) -> bool {
    said.says_any(&[
        "must not",
        "mustn't",
        "must never",
        "may not",
        "shall not",
        "should not",
        "shouldn't",
        "cannot depend",
        "not allowed",
        "forbidden",
        "forbid",
        "no new",
        "no changes",
        "no change",
        "no other",
        "no unrelated",
        "nothing else",
        "anything else",
        "may change",
        "do not create",
        "must only",
        "should fail only",
        "key constraint",
    ]) || said.clause_begins_with(&["don't", "do not", "never", "avoid", "only"])
        || said.words().iter().any(|word| matches!(word.text.as_str(), "only," | "only." | "only)" | "only;"))
        || (said.says("without")
            && said.says_any(&[
                "without adding",
                "without changing",
                "without touching",
                "without using",
                "without breaking",
            ]))
}

fn keeps(said: &Said) -> bool {
    said.says_any(&[
        "must stay",
        "must remain",
        "must keep",
        "stays as",
        "stay the same",
        "exactly the same",
        "unchanged",
        "must continue",
        "keep their",
        "keeps its",
        "keep the existing",
        "keep existing",
        "stays where",
        "must be preserved",
    ])
}

fn limits(said: &Said) -> bool {
    said.has_number()
        && said.says_any(&[
            "at most",
            "no more than",
            "not more than",
            "more than",
            "less than",
            "under",
            "within",
            "up to",
            "maximum",
            "max",
            "limit",
            "limited to",
        ])
        && said.says_any(&[
            "at most",
            "no more than",
            "not more than",
            "must",
            "should",
            "within",
            "limited to",
            "maximum",
        ])
}

fn is_soft(said: &Said) -> bool {
    said.says_any(&[
        "be careful",
        "carefully",
        "keep it simple",
        "keep it small",
        "backward compatible",
        "backwards compatible",
        "backward compatibility",
        "additive",
        "as simple as",
        "minimal",
        "without fallback",
        "preserve",
        "where possible",
        "if possible",
        "breaking",
        "typed, not",
    ]) || (said.begins_with(&["use"]) && said.says_any(&["crate", "library", "package", "framework", "existing"]))
}

#[cfg(test)]
mod tests {
    use crate::score::{Dimension, score};

    fn points(text: &str) -> u8 {
        score(text).points(Dimension::Constraints)
    }

    #[test]
    fn what_can_be_broken_is_two() {
        assert_eq!(points("Don't touch the database schema."), 2);
        assert_eq!(points("Write it down in at most 80 lines."), 2);
        assert_eq!(points("## Rules\n- The migration may run twice.\n"), 2);
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
        assert_eq!(points("Add a dark mode."), 0);
    }
}
