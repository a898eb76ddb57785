//! The vocabulary of specs: words for tasks, phases and other sections.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::names::plain;
use steadfast_words::WordList;

static VERBS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lines = include_str!("verbs.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// Returns a list of the vocabulary by name.
macro_rules! words {
    ($name:literal) => {
        steadfast_words::phrases!(steadfast_words::word_list::list(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/markdown/words.txt")),
            $name
        ))
    };
}
pub(crate) use words;

/// `Task 1: …`: always a task.
pub(super) const TASK: WordList = words!("task lead");

/// `Step 1: …`: a task, or a phase if it contains tasks.
pub(super) const STEP: WordList = words!("step lead");

/// `Phase 1: …`.
pub(crate) const PHASE: WordList = words!("phase lead");

/// Returns a heading in lower case, without its number, emphasis, emoji and box.
pub(super) fn bare(heading: &str) -> String {
    let words = plain(heading).to_lowercase();
    let words = words.trim_start_matches("[ ]").trim_start_matches("[x]");
    let words = words.trim_start_matches(|c: char| !c.is_alphabetic());
    words.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// Reports whether a heading names a section of tasks.
pub(super) fn holds_tasks(heading: &str) -> bool {
    let words = bare(heading);
    let last = words.rsplit(": ").next().unwrap_or(&words);
    words!("section tasks").contains(&words)
        || words!("section tasks").contains(last) && !words.starts_with("phase")
        || words.ends_with(" tasks") && words.split(' ').count() <= 4
        || words.ends_with(" implementation plan")
}

/// Reports whether a heading names a section that only describes, such as a version of a program.
pub(super) fn is_quiet(heading: &str) -> bool {
    let words = bare(heading);
    let version = plain(heading).trim_start_matches(['[', 'v', 'V']).split([' ', ']']).next().map(str::to_owned);
    let is_version = version.is_some_and(|version| {
        version.matches('.').count() >= 2
            && version.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
    });
    words!("section quiet").contains(&words) || is_version || words.starts_with("why ")
}

/// Reports whether a title is a request: it begins with a verb, or ends with one as in German.
pub(super) fn is_imperative(title: &str) -> bool {
    let words = plain(title).to_lowercase();
    let mut words = words.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-'));
    // Emoji, `[P]` and the like may come first.
    let first = words.find(|word| word.chars().count() > 1 && word.chars().any(char::is_alphabetic));
    let Some(first) = first else { return false };
    VERBS.contains(first) || words.next_back().is_some_and(|last| last.ends_with("en") && VERBS.contains(last))
}

/// Reports whether a line describes: `Prints a notice`, `The old flag works`.
pub(super) fn is_telling(line: &str) -> bool {
    let words = plain(line).to_lowercase();
    let first = words.split_whitespace().next().unwrap_or_default();
    let is_third = first.strip_suffix('s').is_some_and(|stem| {
        let shorter = stem.strip_suffix('e').unwrap_or(stem);
        [stem, shorter].iter().any(|stem| VERBS.contains(stem) || words!("telling verb").contains(stem))
    });
    is_third || words!("telling").contains(first)
}

/// Reads a text that begins with one of these words and a number. Returns the number and the rest: `Phase 1: Codes` →
/// `1`, `Codes`.
pub(crate) fn led(text: &str, words: WordList) -> Option<(&str, &str)> {
    let body = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = words.iter().find_map(|word| {
        let start = body.get(..word.len())?;
        // `to_lowercase` may change the length in bytes; these words keep theirs.
        (start.to_lowercase() == word).then(|| &body[word.len()..])
    })?;
    let number = rest.strip_prefix([' ', '\u{a0}'])?.trim_start_matches(['#', ' ']);
    let end = number.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))).unwrap_or(number.len());
    let id = number[..end].trim_end_matches(['.', '-']);
    let is_number = id.starts_with(|c: char| c.is_ascii_digit())
        || id.chars().count() <= 2 && id.starts_with(|c: char| c.is_ascii_uppercase());
    (is_number && !id.is_empty()).then(|| (id, &number[id.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_known_by_their_names() {
        for heading in ["Tasks", "## 3. Work plan", "📋 Tasks", "Implementation Plan:", "Aufgaben", "Backend tasks"] {
            assert!(holds_tasks(heading), "{heading}");
        }
        for heading in ["Installation", "[1.2.0] - 2025-01-01", "v2.0.1", "Why now", "Unreleased", "2.1.0"] {
            assert!(is_quiet(heading) && !holds_tasks(heading), "{heading}");
        }
        assert!(!is_quiet("Login form") && !holds_tasks("Login form"));
    }

    #[test]
    fn a_title_that_asks_for_something_begins_with_a_verb() {
        for title in ["Create parser", "**Add** the table", "🚀 Deploy it", "Tabelle anlegen", "Écrire les tests"] {
            assert!(is_imperative(title), "{title}");
        }
        for title in ["The client sends a batch", "Clone the repository", "Kim", "Fast", ""] {
            assert!(!is_imperative(title), "{title}");
        }
    }

    #[test]
    fn a_word_with_a_number_leads() {
        assert_eq!(led("Phase 1: Codes", PHASE), Some(("1", ": Codes")));
        assert_eq!(led("**Task 1.2** – Parser", TASK), Some(("1.2", "** – Parser")));
        assert_eq!(led("Tâche 3 : écrire", TASK), Some(("3", " : écrire")));
        assert_eq!(led("Tasks", TASK), None);
        assert_eq!(led("Task force", TASK), None);
    }
}
