//! Reads the agent's promise: the text of a `<promise>` tag in its last message, unless it is only quoted.

use std::ops::Range;

use steadfast_model::{ExitOn, StopRules};
use steadfast_text::{one_line, truncate};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

/// The meaning of a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// All is done; the ledger decides whether that is true.
    Completion,
    NeedsUser,
    Checkpoint,
    /// The agent waits for something.
    Waiting,
}

/// Returns the meaning of the last promise of a message. `own` is the plan's own promise of completion.
pub(super) fn promised(message: &str, rules: &StopRules, own: Option<&str>) -> Option<Promise> {
    let Some(text) = text_of(message) else { return says_waiting(message).then_some(Promise::Waiting) };
    let text = normal(&message[text]);
    if is_waiting(&text) {
        return Some(Promise::Waiting);
    }
    let known = own.into_iter().chain(rules.promises()).find(|known| normal(known) == text)?;
    Some(match normal(known).as_str() {
        "" => return None,
        StopRules::NEEDS_USER => Promise::NeedsUser,
        StopRules::CHECKPOINT => Promise::Checkpoint,
        _ => Promise::Completion,
    })
}

/// Returns the text of the last promise of a message, as the agent wrote it.
pub(super) fn written(message: &str) -> Option<&str> {
    text_of(message).map(|text| &message[text])
}

/// Returns true if the message says that the agent waits, with or without the tag.
pub(super) fn says_that_it_waits(message: &str) -> bool {
    match text_of(message) {
        Some(text) => is_waiting(&normal(&message[text])),
        None => says_waiting(message),
    }
}

fn is_waiting(text: &str) -> bool {
    text == "WAITING" || text.starts_with("WAITING:")
}

/// Returns true for a line that begins with `WAITING:`. It excuses nothing by itself, so it requires no tag.
fn says_waiting(message: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | '-');
    without_quotations(message).lines().any(|line| line.trim_start_matches(marks).starts_with("WAITING:"))
}

/// Returns the promise of completion that is accepted, the plan's own first.
pub(super) fn of_completion<'a>(rules: &'a StopRules, own: Option<&'a str>) -> Option<&'a str> {
    let means_more = [StopRules::NEEDS_USER, StopRules::CHECKPOINT];
    own.into_iter().chain(rules.promises()).find(|text| !means_more.contains(&normal(text).as_str()))
}

/// Returns true if the agent may stop by this promise.
pub(super) fn is_offered(rules: &StopRules, text: &str, exit: ExitOn) -> bool {
    rules.allows(exit) && rules.promises().any(|known| normal(known) == text)
}

/// Returns why the agent asks for the human: the last sentence before the promise, else the one after it.
pub(super) fn reason(message: &str) -> String {
    /// The longest reason, in characters: it is one line in a list.
    const REASON: usize = 300;
    let said = text_of(message).and_then(|text| {
        let (before, after) = (&message[..text.start - OPEN.len()], &message[text.end + CLOSE.len()..]);
        last_sentence(before).or_else(|| last_sentence(after))
    });
    let said = said.unwrap_or("the agent asked for the user");
    truncate(said, REASON).into_owned()
}

fn last_sentence(text: &str) -> Option<&str> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#' | '>' | '-');
    let line =
        text.lines().map(|line| line.trim_matches(marks)).rfind(|line| line.chars().any(char::is_alphanumeric))?;
    let ends = [". ", "! ", "? "].iter().filter_map(|end| line.rfind(end).map(|at| at + end.len())).max();
    Some(line[ends.unwrap_or(0)..].trim_matches(marks))
}

/// Returns the range of the text of the last promise.
fn text_of(message: &str) -> Option<Range<usize>> {
    let said = without_quotations(message).to_ascii_lowercase();
    let mut end = said.len();
    loop {
        let close = said[..end].rfind(CLOSE)?;
        let open = said[..close].rfind(OPEN)?;
        if !is_quoted(&said[..open], &said[close + CLOSE.len()..]) {
            return Some(open + OPEN.len()..close);
        }
        end = open;
    }
}

fn is_quoted(before: &str, after: &str) -> bool {
    let marks = |c: char| "\"'“”„‘’«»".contains(c);
    before.ends_with(marks) && after.starts_with(marks)
}

/// Normalises a text for comparison: one case, one space, one dash, no full stop.
fn normal(text: &str) -> String {
    let text = text.trim().trim_end_matches(['.', '!']).to_uppercase();
    one_line(&text).replace(['–', '—', '‐', '‑'], "-")
}

/// Returns the message with code and block quotes replaced by blanks of the same length.
fn without_quotations(message: &str) -> String {
    let fences = message.lines().filter(|line| fence(line).is_some()).count();
    // Only the end of a long message is kept, so an odd fence was opened before it.
    let mut open = (message.starts_with('…') && fences % 2 == 1).then_some("");
    let mut said = String::with_capacity(message.len());
    for line in message.split_inclusive('\n') {
        let mark = fence(line);
        match (open, mark) {
            (Some(_), None) => blank(&mut said, line),
            (Some(opened), Some(mark)) => {
                if opened.is_empty() || mark.starts_with(opened) {
                    open = None;
                }
                blank(&mut said, line);
            }
            (None, Some(mark)) => {
                open = Some(mark);
                blank(&mut said, line);
            }
            (None, None) if line.trim_start().starts_with('>') => blank(&mut said, line),
            (None, None) => without_code_spans(&mut said, line),
        }
    }
    said
}

/// Returns the backticks or tildes that open or close a block of code.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find_map(|mark| {
        let run = &line[..line.len() - line.trim_start_matches(mark).len()];
        (run.len() >= 3).then_some(run)
    })
}

fn without_code_spans(said: &mut String, line: &str) {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        said.push_str(&rest[..start]);
        rest = &rest[start..];
        let run = rest.len() - rest.trim_start_matches('`').len();
        let end = closing(&rest[run..], run).map_or(run, |at| run + at + run);
        blank(said, &rest[..end]);
        rest = &rest[end..];
    }
    said.push_str(rest);
}

/// Returns the position of the next run of exactly that many backticks.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('`')?;
        let found = text.len() - at - text[at..].trim_start_matches('`').len();
        if found == run {
            return Some(at);
        }
        at += found;
    }
}

fn blank(said: &mut String, text: &str) {
    said.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(message: &str) -> Option<Promise> {
        promised(message, &StopRules::default(), Some("Auth shipped"))
    }

    #[test]
    fn the_four_promises_waiting_and_the_plans_own_are_known() {
        for (text, meaning) in [
            ("ALL TASKS COMPLETE", Promise::Completion),
            ("EPIC COMPLETE", Promise::Completion),
            ("BLOCKED - NEEDS USER", Promise::NeedsUser),
            ("CONTEXT LIMIT - CHECKPOINT", Promise::Checkpoint),
            ("WAITING: for the build", Promise::Waiting),
            ("Auth shipped", Promise::Completion),
        ] {
            assert_eq!(means(&format!("Done so far.\n<promise>{text}</promise>")), Some(meaning), "{text}");
        }
        assert_eq!(means("<promise>I did my best</promise>"), None);
        for text in ["Built.\nWAITING: for the build", "**WAITING:** the build", "- WAITING: it"] {
            assert_eq!(means(text), Some(Promise::Waiting), "{text}");
        }
        for text in ["I am waiting: for it", "`WAITING: x`", "> WAITING: x", "say WAITING: x", "Waiting: for you"] {
            assert_eq!(means(text), None, "{text}");
        }
        assert_eq!(means("WAITING: x\n<promise>EPIC COMPLETE</promise>"), Some(Promise::Completion));
        assert_eq!(means("ALL TASKS COMPLETE"), None, "without the tag it is talk");
        assert_eq!(means("<loop-complete>ALL TASKS COMPLETE</loop-complete>"), None);
    }

    #[test]
    fn case_space_dashes_and_a_full_stop_make_no_difference() {
        for text in [
            "<promise>blocked – needs user</promise>",
            "<PROMISE> Blocked  -  Needs\n User. </PROMISE>",
            "**<promise>BLOCKED — NEEDS USER!</promise>**",
            "so: <promise>BLOCKED - NEEDS USER</promise> bye",
        ] {
            assert_eq!(means(text), Some(Promise::NeedsUser), "{text}");
        }
        assert_eq!(means("<promise>BLOCKED</promise>"), None);
    }

    #[test]
    fn the_last_promise_counts() {
        let both = "<promise>ALL TASKS COMPLETE</promise> no: <promise>CONTEXT LIMIT - CHECKPOINT</promise>";
        assert_eq!(means(both), Some(Promise::Checkpoint));
        assert_eq!(means("<promise>a <promise>EPIC COMPLETE</promise>"), Some(Promise::Completion));
    }

    #[test]
    fn a_promise_in_code_or_quotes_is_talk() {
        for text in [
            "I will say `<promise>EPIC COMPLETE</promise>` later.",
            "``x ` <promise>EPIC COMPLETE</promise>`` later",
            "```\n<promise>EPIC COMPLETE</promise>\n```\n",
            "~~~text\n<promise>EPIC COMPLETE</promise>\n~~~",
            "```` md\n```\n<promise>EPIC COMPLETE</promise>\n```\n````",
            "```\n<promise>EPIC COMPLETE</promise>",
            "> <promise>EPIC COMPLETE</promise>",
            "the text \"<promise>EPIC COMPLETE</promise>\" ends it",
            "the text “<promise>EPIC COMPLETE</promise>” ends it",
            "…cut in a block\n<promise>EPIC COMPLETE</promise>\n```\nand so on",
        ] {
            assert_eq!(means(text), None, "{text}");
        }
        for text in [
            "```\ncode\n```\n<promise>EPIC COMPLETE</promise>",
            "`a` <promise>EPIC COMPLETE</promise> `b`",
            "a lone ` <promise>EPIC COMPLETE</promise>",
            "…cut in a block\n```\n<promise>EPIC COMPLETE</promise>",
            "<promise>EPIC COMPLETE</promise>, not \"<promise>no</promise>\"",
        ] {
            assert_eq!(means(text), Some(Promise::Completion), "{text}");
        }
    }

    #[test]
    fn an_unclosed_tag_is_none() {
        assert_eq!(means("<promise>EPIC COMPLETE"), None);
        assert_eq!(means("EPIC COMPLETE</promise>"), None);
        assert_eq!(means("</promise><promise>"), None);
    }

    #[test]
    fn a_text_that_is_not_configured_is_no_promise() {
        let rules = StopRules { promises: Some(vec!["SHIPPED".into(), String::new()]), ..StopRules::default() };
        let means = |text: &str| promised(&format!("<promise>{text}</promise>"), &rules, None);
        assert_eq!(means("shipped"), Some(Promise::Completion));
        assert_eq!(means("BLOCKED - NEEDS USER"), None);
        assert_eq!(means("EPIC COMPLETE"), None);
        assert_eq!(means(""), None);
        assert_eq!(means("WAITING: for it"), Some(Promise::Waiting));
    }

    #[test]
    fn the_reason_is_the_last_sentence() {
        let of = |text: &str| reason(&text.replace('@', "<promise>BLOCKED - NEEDS USER</promise>"));
        assert_eq!(of("I tried. **Which `API` key is it?**\n\n@"), "Which `API` key is it?");
        assert_eq!(of("@\nThe key is missing."), "The key is missing.");
        assert_eq!(of("@"), "the agent asked for the user");
        assert_eq!(of("---\n@"), "the agent asked for the user");
        assert_eq!(of(&format!("{} @", "é".repeat(2_000))).chars().count(), 300);
    }

    proptest::proptest! {
        #[test]
        fn any_message_is_read_without_a_panic(
            text in "([`~\"<>/\n é…]|<promise>|</promise>|EPIC COMPLETE|```|. )*",
        ) {
            let _ = (means(&text), reason(&text));
            proptest::prop_assert_eq!(without_quotations(&text).len(), text.len());
        }
    }
}
