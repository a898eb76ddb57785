//! Messages and help texts use plain words: the list has none of the words that have a plainer replacement.

use super::count::{REPLACED, begins_with, occurrences};
use super::{Kind, Text, collect};

/// Words that begin a noun clause where a noun is meant. Questions may begin with them.
const CLAUSES: [&str; 4] = ["What", "Who", "Whether", "Whoever"];

/// The faults of one text, each as a line for the reader of a failed test.
fn faults(text: &Text) -> Vec<String> {
    if text.kind == Kind::Comment {
        return Vec::new();
    }
    let fault = |what: String| format!("{}: {what}: {}", text.path, text.text.trim());
    let words = REPLACED.iter().filter(|phrase| occurrences(&text.text, phrase) > 0);
    let mut found: Vec<String> = words.map(|phrase| fault(format!("`{phrase}`"))).collect();
    if text.kind == Kind::Message {
        found.extend(clauses(&text.text).map(|sentence| fault(format!("begins with a clause, `{sentence}`"))));
    }
    found
}

/// The sentences that begin with a noun clause and are no questions.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let is_clause = |(number, sentence): &(usize, &str)| {
        // The first sentence may begin with a small letter, as errors and hints do.
        let is_begin = *number == 0 || sentence.starts_with(char::is_uppercase);
        is_begin && !sentence.ends_with('?') && CLAUSES.iter().any(|word| begins_with(sentence, word))
    };
    sentences(text).into_iter().enumerate().filter(is_clause).map(|(_, sentence)| sentence)
}

/// The sentences of a text, without the marks of Markdown before them.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut begin = 0;
        let mut characters = line.char_indices().peekable();
        while let Some((position, c)) = characters.next() {
            let is_end = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
            if matches!(c, '.' | '?' | '!') && is_end {
                sentences.push(&line[begin..=position]);
                begin = position + 1;
            }
        }
        sentences.push(&line[begin..]);
    }
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "#*|->.".contains(c);
    sentences
        .into_iter()
        .map(|sentence| sentence.trim_start_matches(is_mark).trim_end())
        .filter(|s| !s.is_empty())
        .collect()
}

fn of(kind: Kind, text: &str) -> Vec<String> {
    faults(&Text { kind, path: "a.rs".to_owned(), text: text.to_owned() })
}

#[test]
fn messages_and_help_texts_use_plain_words() {
    let faults: Vec<String> = collect().unwrap().iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{} faults to fix:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_replaced_word_in_a_message_or_a_help_text_is_a_fault() {
    let expected = [
        "a.rs: `nobody`: Nobody knows, and the agent is told.",
        "a.rs: `is told`: Nobody knows, and the agent is told.",
    ];
    assert_eq!(of(Kind::Message, "Nobody knows, and the agent is told."), expected);
    assert_eq!(of(Kind::Help, "It goes on with the plan.").len(), 1);
    assert_eq!(of(Kind::Comment, "Nobody knows."), [""; 0]);
    assert_eq!(of(Kind::Message, "The recommended fix is amended."), [""; 0]);
}

#[test]
fn a_sentence_of_a_message_that_begins_with_a_noun_clause_is_a_fault() {
    for text in ["what was done is kept", "Done. What is left is blocked.", "one\nWho asks waits", "## What holds"] {
        assert_eq!(of(Kind::Message, text).len(), 1, "{text}");
    }
    for text in
        ["What is the cause?", "It shows what holds.", "Whatever comes", "e.g. what it does", "Retry. Who did it?"]
    {
        assert_eq!(of(Kind::Message, text), [""; 0], "{text}");
    }
    assert_eq!(of(Kind::Help, "Whether it may wait."), [""; 0]);
}
