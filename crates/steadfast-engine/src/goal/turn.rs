//! "Just look, change nothing" is about the request it stands in. The next request for a change is leave.

use super::list;
use steadfast_words::{Word, prompt::Sentence};

/// Whether a prompt asks for a change, or says yes to one.
///
/// `let's try implementing this`, `can we change the text?` and `yes` do; `why was it changed?` and `does the test change
/// anything?` do not.
pub(super) fn wants_change(sentences: &[Sentence]) -> bool {
    sentences.iter().filter(|sentence| !sentence.pasted).any(asks)
}

fn asks(sentence: &Sentence) -> bool {
    let words: Vec<&Word> = sentence.words.iter().filter(|word| word.text != ",").collect();
    let Some(first) = words.first() else { return false };
    let is_request = words.len() > 1 && (first.is_in(list("turn-requests")) || is_change(first));
    let is_yes = words.len() <= 3 && first.is_in(list("turn-yes"));
    is_yes || is_request && words.iter().take(12).any(|word| is_change(word))
}

fn is_change(word: &Word) -> bool {
    list("turn-changes").iter().any(|stem| {
        word.text
            .strip_prefix(stem[0])
            .is_some_and(|rest| matches!(rest, "" | "e" | "y" | "ing" | "ting" | "ding" | "ping"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_words::prompt::sentences;

    #[test]
    fn a_request_for_a_change_and_a_yes_are_leave() {
        for text in [
            "let's try implementing this",
            "can we change the text to something shorter?",
            "Can we prefill the prompt with the old one?",
            "yes",
            "ok, go ahead",
            "Now fix it.",
            "there are merge conflicts. can you fix them?",
        ] {
            assert!(wants_change(&sentences(text)), "{text}");
        }
    }

    #[test]
    fn a_question_is_none() {
        for text in [
            "why is the change in the handler needed?",
            "does the test also verify the id?",
            "What would happen if we keep the hooks going?",
            "Can you tell me how it works?",
            "how does a metadata.json look today?",
        ] {
            assert!(!wants_change(&sentences(text)), "{text}");
        }
    }
}
