use super::words::words;
use crate::draft::Text;
use steadfast_words::WordList;

/// A field in a line below a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Type,
    Files,
    Verify,
    Criteria,
    After,
    Status,
    Estimate,
    Notes,
}

const FIELDS: [(WordList, Field); 8] = [
    (words!("type"), Field::Type),
    (words!("files"), Field::Files),
    (words!("verify"), Field::Verify),
    (words!("criteria"), Field::Criteria),
    (words!("after"), Field::After),
    (words!("status"), Field::Status),
    (words!("estimate"), Field::Estimate),
    (words!("notes"), Field::Notes),
];

/// The maximum length of a field name, in bytes: a longer text before the first colon is not looked up.
const LONGEST: usize = 32;

impl Field {
    pub(crate) fn named(word: &str) -> Option<Self> {
        let word = word.trim().trim_matches(['*', '_', '`', ':']).trim();
        if word.len() > LONGEST {
            return None;
        }
        let word = word.to_lowercase();
        FIELDS.iter().find(|(names, _)| names.contains(&word)).map(|(_, field)| *field)
    }
}

/// Reports whether a line is a field such as `Files: a, b`.
pub(super) fn is_field(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, value)| !without_bold(value).is_empty() && Field::named(name).is_some())
}

/// Returns the value after the colon of a field whose name may be in bold.
fn without_bold(value: &str) -> &str {
    value.trim_start_matches(['*', '_']).trim()
}

/// Reads `Files: a, b`; the name may be in bold.
pub(crate) fn field(text: &Text) -> Option<(Field, Text)> {
    let (name, value) = text.as_str().split_once(':')?;
    let field = Field::named(name)?;
    let value = without_bold(value);
    (!value.is_empty()).then(|| (field, text.part(value)))
}

/// Splits names at commas and removes backticks.
pub(crate) fn names(text: &Text) -> Vec<Text> {
    let parts = text.as_str().split([',', ';']).map(|part| part.trim().trim_matches(['`', '*', '[', ']']).trim());
    parts.filter(|part| !part.is_empty()).map(|part| text.part(part)).collect()
}

/// Removes the backticks around a command; text after them is a remark.
pub(crate) fn unquoted(text: &str) -> String {
    let text = text.trim().trim_start_matches("**").trim();
    match text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        Some((command, _)) => command.trim().to_owned(),
        None => text.to_owned(),
    }
}
