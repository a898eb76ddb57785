//! Statuses in other people's words.

use steadfast_model::Status;

use crate::draft::{Standing, Text};
use crate::markdown::words::words;
use crate::problem::{Code, Findings};

/// What a word says about a task. `None`: it is open, or nobody can tell, which is said.
pub(crate) fn in_words(text: &Text, findings: &mut Findings) -> Option<Standing> {
    let whole = text.as_str().trim();
    // `blocked: the key is missing`, `done (yesterday)`.
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
            let message = format!("`{whole}` is no status that is known; the task is taken as open");
            let help = "write `pending`, `in_progress`, `done` or `blocked`";
            findings.add(Code::UnknownStatus, &text.span, message, help);
            return None;
        }
    };
    known.map(|standing| Standing { reason: reason.or(standing.reason), ..standing })
}

/// `Some(None)` is open.
fn of_word(word: &str) -> Option<Option<Standing>> {
    // `[ ]` beside the word says the same.
    let word = word.trim_start_matches(['`', '*', ' ']);
    let word = word.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(word, |(_, word)| word);
    let word: String = word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ')).collect();
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    Some(match word.as_str() {
        "" | "blocked" => (!word.is_empty()).then(|| Standing::of(Status::Blocked)),
        word if words!("status open").contains(word) => None,
        word if words!("status done").contains(word) => Some(Standing::of(Status::Done)),
        word if words!("status in progress").contains(word) => Some(Standing::of(Status::InProgress)),
        word if words!("status put off").contains(word) => {
            Some(Standing::blocked(format!("{word} in the list it comes from")))
        }
        _ => return None,
    })
}

/// What stands in a box.
pub(crate) fn in_box(mark: char) -> Option<Standing> {
    match mark {
        'x' | 'X' => Some(Standing::of(Status::Done)),
        '~' | '/' | '>' => Some(Standing::of(Status::InProgress)),
        '!' => Some(Standing::of(Status::Blocked)),
        '-' => Some(Standing::blocked("cancelled in the list it comes from")),
        _ => None,
    }
}
