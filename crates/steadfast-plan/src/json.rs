//! SPEC.json. `serde_json` checks the syntax; `jsonc-parser`, with all extensions off, provides the positions.

mod keys;
pub(crate) mod reader;
mod spec;

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;

use crate::draft::Draft;
use crate::problem::{Code, Findings};
use crate::source::bom_len;

#[cfg(test)]
pub(crate) use keys::{EACH, PHASE, SPEC, TASK, VERIFICATION};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(crate) fn read(text: &str, findings: &mut Findings) -> Option<Draft> {
    let base = bom_len(text);
    let value = parsed(&text[base..], base, FIX_PLACE, findings)?;
    spec::read(&value, &mut reader::Reader { findings, base })
}

/// Help for a file that is not JSON.
pub(crate) const FIX_PLACE: &str = "fix this place; Steadfast reads the rest when the file is valid JSON";

/// Parses a value of a text that begins at `base`. `None`: it is not JSON; a problem is added.
pub(crate) fn parsed<'a>(text: &'a str, base: usize, help: &str, findings: &mut Findings) -> Option<Value<'a>> {
    match parse(text) {
        Ok(value) => Some(value),
        Err((span, message)) => {
            findings.add(Code::Syntax, &(base + span.start..base + span.end), message, help);
            None
        }
    }
}

fn parse(text: &str) -> Result<Value<'_>, (Range<usize>, String)> {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return Err(spelled(text, &error));
    }
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => parsed.value.ok_or_else(|| (0..0, "the file contains no JSON value".to_owned())),
        Err(error) => {
            let range = error.range();
            Err((range.start..range.end, format!("not JSON: {}", error.kind().to_string().to_lowercase())))
        }
    }
}

/// Returns the position and the message of `serde_json`, without the position in the message.
fn spelled(text: &str, error: &serde_json::Error) -> (Range<usize>, String) {
    let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let at = (line_start + error.column().saturating_sub(1)).min(text.len());
    let words = error.to_string();
    let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
    let found = match text.get(at..).and_then(|rest| rest.chars().next()) {
        Some('/') => ": comments are not allowed",
        _ => "",
    };
    (at..at + 1, format!("not JSON: {words}{found}"))
}
