use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Kind, Member, Node};
use crate::install::error::{SettingsError, line_and_column};

pub(super) const BOM: char = '\u{feff}';

const KEY: &str = "a key in double quotes";
const VALUE: &str = "a value";

/// Parses with `serde_json` first, which decides whether the text is JSON: `jsonc-parser` also accepts form feeds,
/// control characters in strings and numbers out of range. `jsonc-parser` then gives the position of each value.
pub(super) fn parse(text: &str) -> Result<Node, SettingsError> {
    let start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let body = &text[start..];
    serde_json::from_str::<serde_json::Value>(body).map_err(|error| syntax(body, &error))?;
    let tree = parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default());
    let tree = tree.map_err(|error| problem_at(body, error.range().start, error.kind().to_string()))?.value;
    tree.map(|value| node(&value, start)).ok_or_else(|| problem_at(body, 0, format!("expected {VALUE}")))
}

fn node(value: &Value<'_>, start: usize) -> Node {
    let span = start + value.start()..start + value.end();
    let kind = match value {
        Value::NullKeyword(_) => Kind::Null,
        Value::BooleanLit(_) => Kind::Bool,
        Value::NumberLit(number) => Kind::Number(number.value.to_owned()),
        Value::StringLit(text) => Kind::String(text.value.to_string()),
        Value::Array(array) => Kind::Array(array.elements.iter().map(|element| node(element, start)).collect()),
        Value::Object(object) => Kind::Object(
            object
                .properties
                .iter()
                .map(|member| Member {
                    start: start + member.start(),
                    key: member.name.as_str().to_owned(),
                    value: node(&member.value, start),
                })
                .collect(),
        ),
    };
    Node { span, kind }
}

/// Returns the error with its column in characters, and with the unexpected character.
fn syntax(body: &str, error: &serde_json::Error) -> SettingsError {
    let message = error.to_string();
    let problem = message.rsplit_once(" at line ").map_or(&*message, |(problem, _)| problem);
    let line_start: usize = body.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let mut at = (line_start + error.column().saturating_sub(1)).min(body.len());
    if problem.starts_with("EOF") {
        at = body.len();
    }
    at = body.floor_char_boundary(at);
    let number = body[..at].trim_end_matches(|c: char| c.is_ascii_digit() || "+-.eE".contains(c)).len();
    if number < at && matches!(problem, "invalid number" | "number out of range" | "EOF while parsing a value") {
        return problem_at(body, number, "invalid number".to_owned());
    }
    match problem {
        "EOF while parsing a string" => {
            return problem_at(body, open_string(body), "a string without its closing quote".to_owned());
        }
        // In `nil` or `tru` the whole word is wrong, not only the letter where the parser stopped.
        "expected ident" => at = body[..at].trim_end_matches(|c: char| c.is_ascii_alphabetic()).len(),
        _ => {}
    }
    let found = body[at..].chars().next();
    let last = body[..at].trim_end().chars().next_back();
    let expected = match (problem, found, last) {
        ("key must be a string", ..) | ("trailing comma", Some('}'), _) => KEY,
        ("EOF while parsing an object", _, Some('{')) => KEY,
        ("EOF while parsing an object", ..) => "`,` or `}`",
        ("EOF while parsing a list", _, last) if last != Some('[') => "`,` or `]`",
        (
            "expected value"
            | "expected ident"
            | "trailing comma"
            | "EOF while parsing a list"
            | "EOF while parsing a value",
            ..,
        ) => VALUE,
        ("trailing characters", ..) => "the end of the file",
        ("recursion limit exceeded", ..) => return problem_at(body, at, "nested deeper than 127 levels".to_owned()),
        (other, ..) => match other.strip_prefix("expected ") {
            Some(expected) => expected,
            None => return problem_at(body, at, other.to_owned()),
        },
    };
    let problem = match found {
        None => format!("the file ends, expected {expected}"),
        Some('/') => format!("comments are not JSON, expected {expected}"),
        Some(found) => format!("unexpected `{}`, expected {expected}", found.escape_default()),
    };
    problem_at(body, at, problem)
}

/// Returns the start of the unclosed string at the end of the text.
fn open_string(body: &str) -> usize {
    let mut open = None;
    let mut is_escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = open.is_some(),
            b'"' => open = if open.is_some() { None } else { Some(at) },
            _ => {}
        }
    }
    open.unwrap_or(body.len())
}

fn problem_at(body: &str, at: usize, problem: String) -> SettingsError {
    let (line, column) = line_and_column(body, at);
    SettingsError::Syntax { line, column, problem }
}
