//! The command of a check as people write it: bare, in backticks, or in a sentence.

use super::words::words;
use crate::draft::Text;
use crate::problem::{Code, Findings};

/// The parsed value of `Verify:`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    Command(String),
    /// A sentence, which a shell cannot run.
    Words,
    /// A backtick without its pair, with its position.
    Unclosed(usize),
}

/// Returns the command of a check. `None`: there is none; a problem is added.
pub(crate) fn command(value: &Text, findings: &mut Findings) -> Option<Text> {
    match stated(value.as_str()) {
        Stated::Command(command) => Some(Text::new(command, value.span.clone())),
        Stated::Unclosed(at) => {
            let at = value.span.start + at;
            let message = "this backtick is not closed, so the check command is unknown";
            findings.add(
                Code::UnclosedBacktick,
                &(at..at + 1),
                message,
                "put the command between two backticks: `make test`",
            );
            None
        }
        Stated::Words => {
            let message = "this check is a sentence, not a command; it is read as a success criterion";
            let help = "write a command that fails until the task is done: Verify: `make test`";
            findings.add(Code::ProseCheck, &value.span, message, help);
            None
        }
    }
}

pub(crate) fn stated(text: &str) -> Stated {
    let start = text.len() - text.trim_start().trim_start_matches("**").trim_start().len();
    let body = text[start..].trim_end();
    let spans = match spans(body) {
        Ok(spans) => spans,
        Err(at) => return Stated::Unclosed(start + at),
    };
    let Some(first) = spans.first() else {
        return if is_sentence(body) { Stated::Words } else { Stated::Command(body.to_owned()) };
    };
    let before = body[..first.whole.start].trim();
    let is_lead = before.is_empty() || before.ends_with(':') || is_lead(before);
    match is_lead {
        true if is_about_a_file(body, first) => Stated::Words,
        true => joined(body, &spans),
        false if is_sentence(body) || is_sentence(before) => Stated::Words,
        // Backticks may also belong to the shell.
        false => Stated::Command(body.to_owned()),
    }
}

/// Recognises `` `src/a.rs` exists ``.
fn is_about_a_file(body: &str, first: &CodeSpan) -> bool {
    let code = body[first.inner.clone()].trim();
    let is_path = !code.contains(' ') && !code.starts_with('.') && code.contains(['.', '/']);
    let next = body[first.whole.end..].split_whitespace().next().unwrap_or_default();
    is_path && words!("about a file").contains(next)
}

/// Returns the first command and those joined to it with `and`. Any other text after it is a remark.
fn joined(text: &str, spans: &[CodeSpan]) -> Stated {
    let mut commands: Vec<&str> = Vec::new();
    let mut end = None;
    for span in spans {
        let between = end.map(|end: usize| text[end..span.whole.start].trim().trim_matches(',').trim().to_lowercase());
        let is_joined = between.is_none_or(|words| words.is_empty() || words!("command join").contains(&words));
        if !is_joined {
            break;
        }
        commands.push(text[span.inner.clone()].trim());
        end = Some(span.whole.end);
    }
    commands.retain(|command| !command.is_empty());
    if commands.is_empty() { Stated::Words } else { Stated::Command(commands.join(" && ")) }
}

/// A part in backticks, with and without them.
struct CodeSpan {
    whole: std::ops::Range<usize>,
    inner: std::ops::Range<usize>,
}

/// Returns the parts in backticks. `Err`: the position of one that is not closed.
fn spans(text: &str) -> Result<Vec<CodeSpan>, usize> {
    let bytes = text.as_bytes();
    let run = |from: usize| bytes[from..].iter().take_while(|byte| **byte == b'`').count();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('`').map(|place| at + place) {
        let ticks = run(open);
        let mut from = open + ticks;
        let close = loop {
            let Some(place) = text[from..].find('`').map(|place| from + place) else { return Err(open) };
            let found = run(place);
            if found == ticks {
                break place;
            }
            from = place + found;
        };
        spans.push(CodeSpan { whole: open..close + ticks, inner: open + ticks..close });
        at = close + ticks;
    }
    Ok(spans)
}

/// Recognises words before a command: `Run`, `Run the command`.
fn is_lead(words: &str) -> bool {
    let words = words.to_lowercase();
    words.split_whitespace().all(|word| words!("command lead").contains(word))
}

fn is_sentence(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let is_shell =
        text.contains(['|', '&', '>', '<', '$', '=', '/', '\\', '"']) || words.iter().any(|word| word.starts_with('-'));
    let mut characters = first.chars();
    let is_capital = characters.next().is_some_and(char::is_uppercase) && characters.all(char::is_lowercase);
    let last = last.trim_end_matches(['.', '!']).to_lowercase();
    let is_result = words!("sentence result").contains(&last) && words.len() > 1;
    let is_opening = words!("sentence opening").contains(&first.to_lowercase()) && words.len() > 1;
    !is_shell && (is_result || is_opening || is_capital && words.len() > 2)
        || is_opening && words.len() > 3
        || is_capital && words.len() > 3 && text.ends_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_from_the_ways_to_write_it() {
        for (text, command) in [
            ("`make test`", "make test"),
            ("make test", "make test"),
            ("`make test`, quickly", "make test"),
            ("** `make`", "make"),
            ("run `make test`", "make test"),
            ("Run: `make test` and look", "make test"),
            ("`a` and `b`", "a && b"),
            ("`a`, `b`", "a && b"),
            ("``echo `date` ``", "echo `date`"),
            ("test `wc -l < a` = 3", "test `wc -l < a` = 3"),
            ("Rscript run.R", "Rscript run.R"),
            ("./run", "./run"),
            ("tests pass: `make test`", "make test"),
            ("`make test` passes", "make test"),
        ] {
            assert_eq!(stated(text), Stated::Command(command.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_sentence_is_no_command() {
        for text in [
            "all tests pass",
            "The page loads within a second.",
            "Open the page and see it",
            "tests pass",
            "manual review",
            "The output of `ls` is empty",
            "`src/a.rs` exists",
        ] {
            assert_eq!(stated(text), Stated::Words, "{text}");
        }
    }

    #[test]
    fn a_backtick_needs_its_pair() {
        assert_eq!(stated("`test -f a"), Stated::Unclosed(0));
        assert_eq!(stated("**  test -f a`"), Stated::Unclosed(13));
        assert_eq!(stated("`a` and `b"), Stated::Unclosed(8));
    }
}
