//! Counts words in the product that have a plainer replacement.

use super::{Kind, Text};

/// Words and phrases that messages and help texts do not use.
pub(super) const REPLACED: [&str; 10] =
    ["nobody", "whoever", "somebody", "mend", "mends", "mended", "goes on with", "put away", "is told", "are told"];

/// Words that begin a noun clause where a noun is meant.
const CLAUSES: [&str; 5] = ["What", "Who", "Where", "How", "Whether"];

/// A table: a row per word, a column per kind of text.
pub fn count(texts: &[Text]) -> String {
    let kinds = [Kind::Message, Kind::Help, Kind::Comment];
    let mut table = String::from("                      messages      help  comments\n");
    let mut row = |name: &str, of: &dyn Fn(&str) -> usize| {
        let sum = |kind| texts.iter().filter(|text| text.kind == kind).map(|text| of(&text.text)).sum::<usize>();
        let [messages, help, comments] = kinds.map(sum);
        table += &format!("{name:<20}{messages:>10}{help:>10}{comments:>10}\n");
    };
    row("texts", &|_| 1);
    for phrase in REPLACED {
        row(phrase, &|text| occurrences(text, phrase));
    }
    row("replaced, total", &|text| REPLACED.iter().map(|phrase| occurrences(text, phrase)).sum());
    for word in CLAUSES {
        row(&format!("begins with {word}"), &|text| usize::from(begins_with(text, word)));
    }
    row("clauses, total", &|text| CLAUSES.iter().filter(|word| begins_with(text, word)).count());
    table
}

/// Counts the phrase as whole words, in any case. Its words may be on two lines, but not in two clauses.
pub(super) fn occurrences(text: &str, phrase: &str) -> usize {
    let text = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let is_inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let is_whole =
        |at: &usize| !is_inner(text[..*at].chars().next_back()) && !is_inner(text[at + phrase.len()..].chars().next());
    text.match_indices(phrase).map(|(at, _)| at).filter(is_whole).count()
}

/// Returns true if the text begins with the word, in any case, since an error message begins with a small letter.
pub(super) fn begins_with(text: &str, word: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text[..end].eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_counted_as_whole_words_in_any_case() {
        assert_eq!(occurrences("Nobody, and nobody else.", "nobody"), 2);
        assert_eq!(occurrences("amended, mended; recommend", "mended"), 1);
        assert_eq!(occurrences("the agent is\ntold to stop", "is told"), 1);
        assert_eq!(occurrences("it goes on, with more; `is_told`", "goes on with"), 0);
    }

    #[test]
    fn the_table_has_a_column_for_each_kind() {
        let text = |kind, text: &str| Text { kind, path: "a.rs".to_owned(), text: text.to_owned() };
        let texts = [
            text(Kind::Message, "nobody is told"),
            text(Kind::Help, "Whether it holds."),
            text(Kind::Comment, "What somebody\nmended."),
            text(Kind::Comment, "Whatever."),
        ];
        let table = count(&texts);
        let row = |name: &str| table.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        assert_eq!(row("texts"), Some("1         1         2"));
        assert_eq!(row("replaced, total"), Some("2         0         2"));
        assert_eq!(row("begins with What "), Some("0         0         1"));
        assert_eq!(row("clauses, total"), Some("0         1         1"));
    }
}
