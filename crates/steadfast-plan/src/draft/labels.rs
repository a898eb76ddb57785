//! Words that people use for types and statuses of tasks.

use steadfast_model::{Status, TaskType};

use super::{DraftStatus, Text};
use crate::markdown::words::words;
use crate::problem::{Code, Findings};
use steadfast_words::WordList;

/// Returns the type that a word means. `None`: unknown.
pub(crate) fn task_type(word: &str) -> Option<TaskType> {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    TYPES.iter().find(|(words, _)| words.contains(&word)).map(|(_, kind)| *kind)
}

const TYPES: [(WordList, TaskType); 4] = [
    (words!("type ui"), TaskType::Ui),
    (words!("type backend"), TaskType::Backend),
    (words!("type func"), TaskType::Func),
    (words!("type docs"), TaskType::Docs),
];

/// Reads a status. `None`: open, or unknown, which is reported.
pub(crate) fn status(text: &Text, findings: &mut Findings) -> Option<DraftStatus> {
    let whole = text.as_str().trim();
    // Reads `blocked: the key is missing`, `done (yesterday)`.
    let end = whole.find([':', '(']).unwrap_or(whole.len());
    let (word, rest) = whole.split_at(end);
    let reason = match rest.strip_prefix(':') {
        Some(reason) => reason.trim(),
        None => rest.trim_start_matches('(').trim_end_matches(')').trim(),
    };
    let reason = (!reason.is_empty()).then(|| reason.to_owned());
    let known = match of_word(word) {
        Some(known) => known,
        None => {
            let message = format!("unknown status `{whole}`; the task is read as open");
            let help = "write `pending`, `in_progress`, `done` or `blocked`";
            findings.add(Code::UnknownStatus, &text.span, message, help);
            return None;
        }
    };
    known.map(|standing| DraftStatus { reason: reason.or(standing.reason), ..standing })
}

/// `Some(None)` means open.
fn of_word(word: &str) -> Option<Option<DraftStatus>> {
    // A box beside the word, as in `[ ]`, is skipped.
    let word = word.trim_start_matches(['`', '*', ' ']);
    let word = word.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(word, |(_, word)| word);
    let word: String = word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ')).collect();
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    Some(match word.as_str() {
        "" | "blocked" => (!word.is_empty()).then(|| DraftStatus::of(Status::Blocked)),
        word if words!("status open").contains(word) => None,
        word if words!("status done").contains(word) => Some(DraftStatus::of(Status::Done)),
        word if words!("status in progress").contains(word) => Some(DraftStatus::of(Status::InProgress)),
        word if words!("status put off").contains(word) => {
            Some(DraftStatus::blocked(format!("{word} in the list it comes from")))
        }
        _ => return None,
    })
}

/// Returns the status that the mark in a box means.
pub(crate) fn status_of_box(mark: char) -> Option<DraftStatus> {
    match mark {
        'x' | 'X' => Some(DraftStatus::of(Status::Done)),
        '~' | '/' | '>' => Some(DraftStatus::of(Status::InProgress)),
        '!' => Some(DraftStatus::of(Status::Blocked)),
        '-' => Some(DraftStatus::blocked("cancelled in the list it comes from")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_everyday_use_are_types() {
        for (word, is) in [
            ("Frontend", Some(TaskType::Ui)),
            ("api", Some(TaskType::Backend)),
            ("infra", Some(TaskType::Backend)),
            ("DB", Some(TaskType::Backend)),
            ("test", Some(TaskType::Func)),
            ("Documentation", Some(TaskType::Docs)),
            ("poem", None),
        ] {
            assert_eq!(task_type(word), is, "{word}");
        }
        for known in TaskType::ALL {
            assert_eq!(task_type(known.as_str()), Some(known));
        }
    }
}
