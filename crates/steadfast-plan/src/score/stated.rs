//! Finds the checks that an author states in words: "Done when `make test` passes".
//!
//! A command in backticks counts if its sentence says when the work is done ("Done when …", "Success: …"), or is under
//! a heading for that (definition of done, success and acceptance criteria, verification), and if `passes`, `succeeds`,
//! `exits 0`, `returns 0` or `is green` follows it. Denied, conditional and optional commands are not executed: running
//! a command that the author did not mean is worse than leaving a sentence to a reviewer.

use steadfast_model::StatedCheck;
use steadfast_words::Word;

use super::rules::holds;
use super::sentence::{Form, Part, Said, is_code, list};
use super::{document, names};
use crate::lint::exit_status::swallowed;

/// The statements of a text about its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// Each command once, in the order of the text.
    pub checks: Vec<StatedCheck>,
    /// Sentences about the end without a check.
    pub not_executed: Vec<String>,
}

/// The maximum number of checks in a text. More should be one test suite.
const CHECKS: usize = 20;

/// The maximum length of a command, in characters.
const LONGEST: usize = 1_000;

/// Returns the checks in prose or Markdown.
pub fn stated(text: &str) -> Stated {
    let mut found = Stated::default();
    for said in document::sentences(text).iter().filter(|said| is_about_the_end(said)) {
        let commands = commands(said);
        let sentence = said.text.trim().to_owned();
        if commands.is_empty() && !found.not_executed.contains(&sentence) {
            found.not_executed.push(sentence.clone());
        }
        for command in commands {
            let known = found.checks.iter().any(|known| known.command == command);
            if !known && found.checks.len() < CHECKS {
                found.checks.push(StatedCheck::new(command, sentence.clone()));
            }
        }
    }
    found
}

fn is_about_the_end(said: &Said) -> bool {
    let listed = matches!(said.part, Part::Done | Part::Success | Part::Verification);
    let ends = || holds("end", said) && said.form != Form::Code;
    !said.is_heading() && (listed || ends() || holds("label", said))
}

/// Returns the commands of a sentence that have to pass.
fn commands(said: &Said) -> Vec<String> {
    if said.form == Form::Code || list("denies-the-sentence").within(&said.words) {
        return Vec::new();
    }
    let words = &said.words;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = (at..words.len()).find(|index| is_code(&words[*index])) {
        let group = Group::at(said, first);
        at = group.next;
        if !group.is_choice && !is_denied_before(said, first) && passes(said, group.next) {
            found.extend(group.commands.into_iter().filter(|command| can_be_run(command)).map(str::to_owned));
        }
    }
    found
}

/// The commands of one verb: `a`, `b` and `c`.
struct Group<'a> {
    commands: Vec<&'a str>,
    /// The index of the words after the group.
    next: usize,
    /// One of the commands is enough.
    is_choice: bool,
}

impl<'a> Group<'a> {
    fn at(said: &'a Said, first: usize) -> Self {
        let words = &said.words;
        let mut group = Self { commands: vec![words[first].raw.as_str()], next: first + 1, is_choice: false };
        let joins =
            |word: &Word| word.is_break() && !said.has_mark(word, BRACKETS) || word.is_in(list("joins-commands"));
        loop {
            let rest = &words[group.next..];
            let between = rest.iter().take_while(|word| joins(word)).count();
            let Some(next) = rest.get(between).filter(|word| is_code(word) && between > 0) else { return group };
            group.is_choice |= rest[..between].iter().any(|word| word.is_one_of(&["or", "nor"]));
            group.commands.push(next.raw.as_str());
            group.next += between + 1;
        }
    }
}

const BRACKETS: &[char] = &['(', ')', '[', ']'];

/// Reports whether words before a command in its clause deny it or make it conditional.
fn is_denied_before(said: &Said, command: usize) -> bool {
    let opens = |word: &Word| {
        is_code(word) || word.is_break() && !said.has_mark(word, BRACKETS) || word.is_one_of(&["and", "but", "when"])
    };
    let clause = said.words[..command].iter().rev().take_while(|word| !opens(word));
    clause.into_iter().any(|word| word.is_in(list("denies-the-command")))
}

/// Reports whether the words from here on say that the command before them has to pass.
fn passes(said: &Said, from: usize) -> bool {
    let mut words = Vec::new();
    let mut aside = false;
    for word in &said.words[from..] {
        // `make test` (all of it) passes
        aside |= said.has_mark(word, &['(']);
        if !aside {
            words.push(word.clone());
        }
        aside &= !said.has_mark(word, &[')']);
    }
    holds("passes", &Said { words, ..said.clone() })
}

/// Reports whether the words after the verb leave it unchanged: the end, another clause, or where and how it passes.
pub(super) fn ends_well(rest: &[Word]) -> bool {
    let Some(first) = rest.first() else { return true };
    if first.is_break() || first.is_one_of(&["and", "but", "then"]) {
        return true;
    }
    // The clause must have no condition, and no second text in backticks that changes how the command runs.
    let clause = rest.iter().take_while(|word| !word.is_break() && !word.is_one_of(&["and", "but"]));
    first.is_in(list("way")) && !clause.into_iter().any(|word| is_code(word) || word.is_in(list("condition")))
}

/// Reports whether a text in backticks is a command line that can run and whose status means something, not a test
/// name.
fn can_be_run(command: &str) -> bool {
    let command = command.trim();
    !command.is_empty() && command.len() <= LONGEST && names::is_runnable(command) && swallowed(command).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        stated(text).checks.into_iter().map(|check| check.command).collect()
    }

    #[test]
    fn what_has_to_pass_is_a_check() {
        for (text, commands) in [
            ("Done when `grep -qx 'Hello World' hello.txt` passes.", &["grep -qx 'Hello World' hello.txt"][..]),
            ("Greeting file: write hello.txt. Done when `make test` passes.", &["make test"]),
            ("Success: `make check` exits 0", &["make check"]),
            ("Success criteria: `make check` exits with 0.", &["make check"]),
            ("It is finished when `./run.sh` returns 0.", &["./run.sh"]),
            ("Done when `cargo test` is green.", &["cargo test"]),
            ("It is done when `npm test` succeeds, and nothing else changed.", &["npm test"]),
            ("Done when `make a` and `make b` pass.", &["make a", "make b"]),
            ("Done when `make a`, `make b` and `make c` all pass.", &["make a", "make b", "make c"]),
            ("Done when `make a` passes and `make b` exits 0.", &["make a", "make b"]),
            ("Done when `make a` passes; `make b` is green", &["make a", "make b"]),
            ("Complete when the `npm test` script passes.", &["npm test"]),
            ("Done when `cargo clippy -- -D warnings` (all targets) passes", &["cargo clippy -- -D warnings"]),
            ("Done when `cargo test` must pass.", &["cargo test"]),
            ("Done when `cargo test` exits with status 0.", &["cargo test"]),
            ("Done when `cargo test` exits with an exit code of 0.", &["cargo test"]),
            ("Done when `make test` passes with no warnings.", &["make test"]),
            ("Done when `make test` passes on Linux and macOS.", &["make test"]),
            ("Done when no test is skipped and `make test` passes.", &["make test"]),
            ("Done when `make test` passes, when you are asked or not.", &["make test"]),
            ("Done when `RUSTFLAGS=-Dwarnings cargo test` passes.", &["RUSTFLAGS=-Dwarnings cargo test"]),
            ("Done when `cd web && npm test` passes.", &["cd web && npm test"]),
            ("Done when `! grep -rn TODO src` succeeds.", &["! grep -rn TODO src"]),
            ("Done when `scripts/check.sh` passes.", &["scripts/check.sh"]),
            ("Done when `make bad` fails and `make good` passes.", &["make good"]),
            ("## Definition of done\n- `make test` passes\n- The page looks right\n", &["make test"]),
            (
                "## Definition of Done\n- [ ] `make test` passes\n- [x] `make lint` is green\n",
                &["make test", "make lint"],
            ),
            ("## Acceptance criteria\n1. `make test` exits 0\n", &["make test"]),
            ("Done when:\n- `make test` passes\n- `make lint` passes\n", &["make test", "make lint"]),
            ("**Acceptance criteria**\n\n- `make test` passes.\n", &["make test"]),
            ("## Success criteria\nAll is well. `make test` passes.\n", &["make test"]),
            ("## Verification\n- `make test` passes\n", &["make test"]),
            ("Done when `make test` passes. Done when `make test` is green.", &["make test"]),
        ] {
            assert_eq!(found(text), commands, "{text}");
        }
    }

    #[test]
    fn what_nobody_said_has_to_pass_is_not_executed() {
        for text in [
            // Not about the end.
            "Run `make test` and see that it passes.",
            "Add a flag. `make test` passes today.",
            "## Background\n- `make test` passes\n",
            "## Tasks\n- [ ] 1.1 See that `make test` passes\n",
            // Denied.
            "Done when `make test` must not pass.",
            "Done when `make test` does not pass any more.",
            "Done when `make test` no longer fails.",
            "Done when `make bad` fails.",
            "Done when `make bad` exits 1.",
            "Done when `make bad` exits non-zero.",
            "Done when `make bad` never succeeds.",
            "Done when neither `make a` nor `make b` passes.",
            "It is not done when `make test` passes.",
            "## Definition of done\n- Do not merge until `make test` passes\n",
            "## Definition of done\n- It works even if `make test` passes\n",
            // A choice, or a condition.
            "Done when `make a` or `make b` passes.",
            "Done when either `make a` or `make b` passes.",
            "Done when `make test` passes when run in `web/`.",
            "Done when `make test` passes if `CI=1` is set.",
            "Done when `make test` passes with `DEBUG=1`.",
            "Done when `make test` passes or is skipped.",
            "Done when `make test` passes only on CI.",
            // Something else is said of it.
            "Done when `make token` passes the token to `make login`.",
            "Done when `make count` returns 0 rows.",
            "Done when `make test` prints PASS.",
            "Done when `make test`, like before, is there.",
            // No command line, or one whose status says nothing.
            "Done when `test_login` passes.",
            "Done when `UserStore` passes.",
            "Done when `all tests` pass.",
            "Done when `src/a.rs` passes.",
            "Done when `make test | tail -5` passes.",
            "Done when `make test || true` passes.",
            "Done when the tests pass.",
            // A block of code has no verb.
            "## Definition of done\n```\nmake test\n```\n",
            "## Definition of done\n```\n`make test` passes\n```\n",
            "Done when this passes:\n```sh\nmake test\n```\n",
            "Done when `make test",
            "",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn the_rest_of_these_sections_is_kept_for_who_reviews() {
        let text = "# Greeting\n\nIt greets.\n\n## Definition of done\n- `make test` passes\n- The page looks right\n\n\
                    ## Tasks\n- [ ] 1.1 Do it\n";
        let said = "`make test` passes".to_owned();
        assert_eq!(
            stated(text),
            Stated {
                checks: vec![StatedCheck::new("make test", said)],
                not_executed: vec!["The page looks right".into()]
            }
        );
    }

    #[test]
    fn a_sentence_is_kept_with_its_check() {
        let said = "Done when `make test` passes.";
        assert_eq!(stated(said).checks, [StatedCheck::new("make test", said)]);
    }
}
