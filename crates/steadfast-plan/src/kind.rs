//! Types of tasks in the words that people have for them.

use steadfast_model::TaskType;

use crate::markdown::words::words;
use steadfast_words::WordList;

/// The type that a word stands for. `None`: none is known.
pub(crate) fn kind(word: &str) -> Option<TaskType> {
    let word = word.trim().to_lowercase().replace(['_', ' '], "-");
    TYPES.iter().find(|(words, _)| words.contains(&word)).map(|(_, kind)| *kind)
}

const TYPES: [(WordList, TaskType); 4] = [
    (words!("type ui"), TaskType::Ui),
    (words!("type backend"), TaskType::Backend),
    (words!("type func"), TaskType::Func),
    (words!("type docs"), TaskType::Docs),
];

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
            assert_eq!(kind(word), is, "{word}");
        }
        for known in TaskType::ALL {
            assert_eq!(kind(known.as_str()), Some(known));
        }
    }
}
