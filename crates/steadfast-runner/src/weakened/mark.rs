//! What is said of a test beside its assertions: that it is skipped, alone, expected to fail, tried again.

use std::ops::Range;

use super::Kind;
use super::assertion::key;
use super::language::Language;
use super::lex::{Lexed, Lexeme, Token};
use super::reach::statements;
use super::routine::{Role, Routine, attributes};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    pub(super) line: usize,
}

const SKIPS: [&str; 14] = [
    "skip",
    "skipif",
    "skipIf",
    "skipUnless",
    "skipTest",
    "Disabled",
    "Ignore",
    "Ignored",
    "Skip",
    "todo",
    "ignore",
    "Explicit",
    "DisabledIf",
    "DisabledOnOs",
];
const FAILS: [&str; 6] = ["xfail", "expectedFailure", "should_panic", "failing", "fails", "pending"];
const RETRIES: [&str; 6] = ["flaky", "Flaky", "Retry", "RetryingTest", "RepeatedIfExceptionsTest", "retry"];

pub(super) fn marks(lexed: &Lexed<'_>, language: Language, routine: &Routine) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    let end = routine.head.end.min(lexed.tokens.len());
    let head = routine.head.start.min(end)..end;
    let mut add = |kind, line| {
        if !marks.iter().any(|mark| mark.kind == kind) {
            marks.push(Mark { kind, line });
        }
    };
    for at in words_of(lexed, language, head) {
        let token = lexed.tokens[at];
        let kind = if SKIPS.contains(&token.text) {
            Kind::Skipped
        } else if FAILS.contains(&token.text) {
            Kind::ExpectedToFail
        } else if RETRIES.contains(&token.text) {
            Kind::Retried
        } else if token.is("only") || token.is("focus") {
            Kind::Focused
        } else {
            match token.text {
                "xit" | "xtest" | "xdescribe" | "xspecify" | "xcontext" => Kind::Skipped,
                "fit" | "ftest" | "fdescribe" | "fcontext" => Kind::Focused,
                _ => continue,
            }
        };
        add(kind, token.line);
    }
    if routine.role == Role::Test {
        for at in statements(lexed, language, routine) {
            if let Some(kind) = stopped(lexed, language, at) {
                add(kind, lexed.tokens[at].line);
            }
        }
    }
    marks
}

/// The words of a head that say something of the test, and are no arguments that happen to be called so.
fn words_of(lexed: &Lexed<'_>, language: Language, head: Range<usize>) -> Vec<usize> {
    let is_word = |at: &usize| lexed.tokens[*at].is_word();
    match language {
        Language::Rust => attributes(lexed, head).flat_map(|attribute| attribute.take(12)).filter(is_word).collect(),
        Language::Python | Language::Jvm => {
            head.filter(is_word).filter(|&at| at > 0 && matches!(lexed.tokens[at - 1].text, "@" | ".")).collect()
        }
        Language::CSharp => head
            .filter(is_word)
            .filter(|&at| at > 0 && matches!(lexed.tokens[at - 1].text, "[" | "," | "(" | "."))
            .collect(),
        Language::JavaScript => {
            let chain = head.take_while(|&at| !lexed.tokens[at].is("("));
            chain.filter(is_word).collect()
        }
        Language::Ruby => head.filter(is_word).collect(),
        Language::Go | Language::Shell => Vec::new(),
    }
}

/// Whether a statement ends the test without a failure.
fn stopped(lexed: &Lexed<'_>, language: Language, at: usize) -> Option<Kind> {
    let text =
        |at: usize| lexed.tokens.get(at).filter(|token| token.lexeme != Lexeme::Text).map_or("", |token| token.text);
    let start = if text(at) == "await" { at + 1 } else { at };
    match (language, text(start), text(start + 1), text(start + 2), text(start + 3)) {
        (Language::Python, "pytest", ".", "skip", _) | (Language::Python, "self", ".", "skipTest", _) => {
            Some(Kind::Skipped)
        }
        (Language::Python, "pytest", ".", "xfail", _) => Some(Kind::ExpectedToFail),
        (Language::Go, _, ".", "Skip" | "Skipf" | "SkipNow", _) => Some(Kind::Skipped),
        (Language::JavaScript, "this" | "ctx" | "t", ".", "skip", _) => Some(Kind::Skipped),
        (Language::JavaScript, "test", ".", "skip" | "fixme", "(") if text(start + 4) == ")" => Some(Kind::Skipped),
        (Language::Jvm | Language::CSharp, "Assert" | "Assume", ".", "Ignore" | "Inconclusive" | "Skip", _) => {
            Some(Kind::Skipped)
        }
        (Language::Ruby | Language::Shell, "skip", ..) => Some(Kind::Skipped),
        (Language::Ruby, "pending", ..) => Some(Kind::ExpectedToFail),
        _ => None,
    }
}

/// What is said of a whole file.
pub(super) fn file_marks(lexed: &Lexed<'_>, language: Language) -> Vec<Mark> {
    if language != Language::Python {
        return Vec::new();
    }
    let mut marks = Vec::new();
    for (at, token) in lexed.tokens.iter().enumerate() {
        if !token.is_first || token.column > 0 {
            continue;
        }
        let line = lexed.tokens[at..].iter().take(20).take_while(|next| next.line == token.line);
        let mut words = line.filter(|next| next.is_word());
        let skips = match token.text {
            "pytestmark" => words.any(|word| SKIPS.contains(&word.text)),
            "pytest" => words.nth(1).is_some_and(|word| word.text == "skip"),
            _ => false,
        };
        if skips {
            marks.push(Mark { kind: Kind::Skipped, line: token.line });
        }
    }
    marks
}

/// A row of the table of a test.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) key: String,
    pub(super) line: usize,
}

/// The rows of a test's table, where they can be seen.
pub(super) fn rows(lexed: &Lexed<'_>, language: Language, routine: &Routine) -> Vec<Row> {
    let mut rows = Vec::new();
    let end = routine.head.end.min(lexed.tokens.len());
    for at in routine.head.start.min(end)..end {
        let token = lexed.tokens[at];
        let open = at + 1;
        if !token.is_word() || !lexed.tokens.get(open).is_some_and(|next| next.is("(")) {
            continue;
        }
        let args = open + 1..lexed.closes[open].max(open + 1).min(lexed.tokens.len());
        match (language, token.text) {
            (Language::Python, "parametrize")
            | (Language::JavaScript, "each" | "for")
            | (Language::Jvm, "ValueSource" | "CsvSource") => {
                let brackets = if language == Language::Jvm { "{" } else { "[" };
                let Some(list) = args.clone().find(|&at| lexed.tokens[at].is(brackets)) else { continue };
                rows.extend(parts(lexed, list + 1..lexed.closes[list].min(args.end)));
            }
            (Language::CSharp, "InlineData" | "TestCase" | "DataRow") | (Language::Rust, "case" | "test_case") => {
                rows.extend(row(&lexed.tokens[args]));
            }
            _ => {}
        }
    }
    rows
}

fn row(tokens: &[Token<'_>]) -> Option<Row> {
    Some(Row { key: key(tokens), line: tokens.first()?.line })
}

fn parts(lexed: &Lexed<'_>, range: Range<usize>) -> Vec<Row> {
    let (mut rows, mut start, mut at) = (Vec::new(), range.start, range.start);
    while at < range.end {
        let token = lexed.tokens[at];
        if token.is(",") {
            rows.extend(row(&lexed.tokens[start..at]));
            start = at + 1;
        }
        let opens = token.lexeme == Lexeme::Mark && matches!(token.text, "(" | "[" | "{") && lexed.closes[at] > at;
        at = if opens { lexed.closes[at] + 1 } else { at + 1 };
    }
    rows.extend(row(&lexed.tokens[start.min(range.end)..range.end.max(start.min(range.end))]));
    rows
}

/// A number that says how often something is tried.
#[derive(Clone, Debug)]
pub(super) struct Dial {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) line: usize,
}

pub(super) const CASES: [&str; 4] = ["with_cases", "max_examples", "numRuns", "RepeatedTest"];
pub(super) const TRIES: [&str; 3] = ["retryTimes", "retries", "reruns"];

pub(super) fn dials(lexed: &Lexed<'_>) -> Vec<Dial> {
    let mut dials = Vec::new();
    for (at, three) in lexed.tokens.windows(3).enumerate() {
        let [name, between, value] = three else { continue };
        // `retries` is a word of many programs; of a test's only as `this.retries(2)`.
        let is_free = name.is("retries") && !(at > 1 && lexed.tokens[at - 2].is("this"));
        if !name.is_word() || is_free || !matches!(between.text, "(" | ":" | "=") || value.lexeme != Lexeme::Number {
            continue;
        }
        let known = CASES.iter().chain(&TRIES).find(|known| name.is(known));
        if let (Some(name), Ok(value)) = (known, value.text.replace('_', "").parse()) {
            dials.push(Dial { name, value, line: three[0].line });
        }
    }
    dials
}
