//! The rules of the five dimensions, as tables. The first matching rule gives the points of a sentence: 2 if a human
//! could act on it, 1 for half of that, 0 to skip the later rules. The words are in `words.txt`.

use super::sentence::{Form, Part, Said};
use super::token::{commands, is_presence, names_code, names_command, names_path};
use super::{Dimension, Worth};
use steadfast_words::phrases;

/// Points, description, and test of a rule.
type Rule = (u8, &'static str, fn(&Said) -> bool);

pub(super) fn worth(dimension: Dimension, said: &Said) -> Worth {
    let rules: &[Rule] = match dimension {
        Dimension::Outcome => &OUTCOME,
        Dimension::Scope => &SCOPE,
        Dimension::Constraints => &CONSTRAINTS,
        Dimension::Success => &SUCCESS,
        Dimension::Done => &DONE,
    };
    rules.iter().find(|(.., holds)| holds(said)).map(|(points, rule, _)| (*points, *rule))
}

const CODE: Rule = (0, "is code", |said| said.form == Form::Code);

/// The outcome. Wishes (`better`, `modern`) and descriptions of today do not count.
const OUTCOME: [Rule; 7] = [
    CODE,
    (2, "is under a heading for goals", |said| {
        said.part == Part::Goal && said.words().len() >= 4 && is_about_then(said)
    }),
    (2, "says what a user or the program does afterwards", |said| is_observable(said) && is_about_then(said)),
    (2, "is a case that the result must meet", |said| {
        said.part == Part::Success && said.is_listed() && said.words().len() >= 4 && is_about_then(said)
    }),
    (2, "says how a number changes", |said| {
        said.says("from") && said.says("to") && said.has_number() && is_about_then(said)
    }),
    (1, "says what is wrong today", |said| said.part != Part::Constraints && is_fault(said)),
    (1, "says what to build or change", |said| {
        is_order(said) && (!is_vague(said) || names_path(said) || names_command(said))
    }),
];

/// The place of the work, and what is out of scope. `the app` and `everywhere` do not count.
const SCOPE: [Rule; 6] = [
    (2, "says what is out of scope", |said| said.part == Part::OutOfScope && said.is_listed()),
    (1, "names the current place of something", |said| said.part == Part::Background && names_path(said)),
    (2, "names a file, a folder or a route", names_path),
    CODE,
    (1, "names a piece of code", |said| {
        names_code(said) || said.words().iter().any(|word| word.is_code && word.text.contains(char::is_alphabetic))
    }),
    (1, "names a part of the project", names_part),
];

/// Forbidden effects. Outside of a section for constraints, among criteria, such a sentence earns one point.
const CONSTRAINTS: [Rule; 10] = [
    CODE,
    (2, "is under a heading for constraints", |said| {
        said.part == Part::Constraints && !said.is_heading() && (said.is_listed() || said.words().len() >= 5)
    }),
    (1, "forbids something", |said| {
        is_by_the_way(said) && (forbids(said) || said.is_listed() && said.begins_with(phrases!("no")))
    }),
    (2, "forbids something", forbids),
    (1, "says what must not change", |said| is_by_the_way(said) && keeps(said)),
    (2, "says what must not change", keeps),
    (1, "sets a limit", |said| is_by_the_way(said) && limits(said)),
    (2, "sets a limit", limits),
    (1, "is a non-goal", |said| said.part == Part::OutOfScope && said.is_listed()),
    (1, "asks for care, or names the tools to use", |said| {
        said.says_any(words!("care"))
            || (said.begins_with(phrases!("use"))
                && said.says_any(phrases!("crate, library, package, framework, existing")))
    }),
];

/// Evidence that the result is right.
const SUCCESS: [Rule; 7] = [
    CODE,
    (2, "is a case that can be tried", |said| {
        said.is_listed() && matches!(said.part, Part::Success | Part::Done) && !works_in_general(said)
    }),
    // A `when` alone tells a story.
    (2, "is a given, a when or a then", |said| {
        said.words().len() >= 4
            && (said.begins_with(phrases!("given, then"))
                || (said.begins_with(phrases!("when")) && said.says_any(phrases!("then, given"))))
    }),
    (2, "is an example with its result", is_example),
    (2, "is a number that must be met", |said| {
        said.has_number()
            && said.says_any(phrases!("must, should, has to, have to"))
            && said.says_any(words!("compares"))
    }),
    (1, "says in general that it works", works_in_general),
    (1, "has a number that could be tested", |said| {
        said.has_number() && said.part != Part::Background && said.says_any(words!("unit"))
    }),
];

/// Evidence that the work is finished.
const DONE: [Rule; 9] = [
    (2, "is under a heading for the definition of done", |said| said.part == Part::Done && said.is_listed()),
    (2, "says when it is finished", is_end),
    (1, "names a check that only tests that something exists", |said| {
        names_command(said) && commands(said).all(is_presence)
    }),
    (2, "is a command that verifies", |said| said.part == Part::Verification && names_command(said)),
    CODE,
    (2, "names a command that has to pass", |said| {
        names_command(said)
            && (said.begins_with(phrases!("verify, check, test, validate")) || said.says_any(words!("has to pass")))
    }),
    (1, "is a criterion without a check command", |said| said.part == Part::Success && said.is_listed()),
    (1, "is a task in a list", |said| said.form == Form::Box),
    (1, "says in general that tests pass", |said| said.says_any(words!("passes in general"))),
];

/// Recognises `Done when …`.
pub(super) fn is_end(said: &Said) -> bool {
    said.says_any(words!("end"))
}

/// Reports whether a sentence only names the command that shows the end.
pub(super) fn is_check(said: &Said) -> bool {
    names_command(said) && worth(Dimension::Done, said).is_some_and(|(points, _)| points == 2)
}

/// Recognises `Only touch hello.txt`, `Stay in src/auth`: the place of the work, which excludes everything else.
pub(crate) fn says_where(line: &str) -> bool {
    let said = Said::new(1, line, Part::Other, Form::Prose);
    let begins_with_only = said.begins_with(phrases!("only")) && {
        let mut after = said.words().iter().skip_while(|word| word.bare() != "only").skip(1);
        let names = after.next().is_some_and(|word| {
            word.is_code || words!("work place verb").contains(word.bare()) || word.bare().contains(['.', '/'])
        });
        names || said.says_any(words!("work place"))
    };
    begins_with_only || said.begins_with(words!("stay in")) || said.says_any(words!("nothing else"))
}

fn is_about_then(said: &Said) -> bool {
    said.part != Part::Background && !is_fault(said) && !is_vague(said)
}

/// Reports whether a sentence shows a user or the program in action.
fn is_observable(said: &Said) -> bool {
    said.says_any(words!("observable"))
        || does_or_sees(said)
        || (said.begins_with(phrases!("as a, as an")) && said.says("want"))
}

/// Reports whether a sentence names a user and what they do or see: `A reader who runs … sees …`, `Visitors can …`.
fn does_or_sees(said: &Said) -> bool {
    let words = said.words();
    let who = words.iter().position(|word| word.is_one_of(words!("people")));
    let then = |from: usize| words[from..].iter().any(|word| word.is_one_of(words!("people do")));
    !is_order(said) && !said.says_any(phrases!("cannot, can't, nobody, want, wants")) && who.is_some_and(then)
}

fn is_fault(said: &Said) -> bool {
    said.says_any(words!("fault"))
}

fn is_vague(said: &Said) -> bool {
    said.says_any(words!("vague"))
}

/// Recognises a verb of making, or a wish with an object.
fn is_order(said: &Said) -> bool {
    if said.begins_with(words!("wish")) {
        return said.says_any(words!("order"))
            || said.says_any(phrases!("want a, want an, need a, need an, like a, like an"));
    }
    said.clause_begins_with(words!("order")) && has_object(said)
}

/// Three words have an object; two words have one unless the second only points at it.
fn has_object(said: &Said) -> bool {
    match said.words() {
        [_, object] => object.is_code || !words!("points only").contains(object.bare()),
        words => words.len() >= 3,
    }
}

/// Recognises `the login page`: a kind of part after a word that says which.
fn names_part(said: &Said) -> bool {
    let words = said.words();
    words.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).map_or("", |before| words[before].bare());
        let says_which = !before.is_empty() && !words!("says not which").contains(before);
        word.is_one_of(words!("kind of part")) && (says_which || words!("part without a name").contains(word.bare()))
    })
}

fn is_by_the_way(said: &Said) -> bool {
    matches!(said.part, Part::Success | Part::Done | Part::Verification | Part::Background)
}

fn forbids(said: &Said) -> bool {
    said.says_any(words!("forbids"))
        || said.clause_begins_with(words!("forbids at the beginning"))
        || said.words().iter().any(|word| matches!(word.text.as_str(), "only," | "only." | "only)" | "only;"))
}

/// Recognises `The layout must stay as it is` and `The old endpoint stays`.
fn keeps(said: &Said) -> bool {
    let last = said.words().last().map(|word| word.bare());
    said.says_any(words!("keeps")) || last.is_some_and(|last| words!("stays at the end").contains(last))
}

fn limits(said: &Said) -> bool {
    said.has_number() && said.says_any(words!("limit")) && said.says_any(words!("has to hold"))
}

fn works_in_general(said: &Said) -> bool {
    said.says_any(words!("works in general"))
}

/// Recognises an input in backticks, a route or a status, together with its result.
fn is_example(said: &Said) -> bool {
    // A request to build something is an example only with a result. A condition for the end is not a result.
    if (is_order(said) && !said.has_number()) || is_end(said) {
        return false;
    }
    let words = || said.words().iter();
    let input = words().any(|word| word.is_code || word.bare().starts_with('/'));
    let status = words().any(|word| words!("http status").contains(word.bare()));
    let tried = || commands(said).any(|command| !is_presence(command));
    (said.says_any(words!("result")) && (input || status))
        || (said.says("must report") && input)
        || (said.form == Form::Box && said.begins_with(phrases!("verify, test")) && tried())
        || checks_what(said)
}

/// Recognises `Verify: …` with a command for more than all tests.
fn checks_what(said: &Said) -> bool {
    let says_what = |command: &str| command.contains('/') || command.split_whitespace().nth(2).is_some();
    said.begins_with(phrases!("verify, check"))
        && commands(said).any(|command| !is_presence(command) && says_what(command))
}

#[cfg(test)]
mod tests;
