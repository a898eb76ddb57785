//! Reads a human's prompt for an order about the loop: to work on it, or to leave it.

/// An order about the loop of the worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopOrder {
    /// This session is to work on it.
    GoOn,
    /// This session is to leave it.
    Leave,
}

/// Steadfast's own commands and skills, as the hosts spell them. Calling one orders the work.
const COMMANDS: [&str; 5] =
    ["/steadfast-loop", "/steadfast:loop", "/steadfast:start", "/steadfast:resume", "$steadfast-loop"];

const GO_ON: [&str; 14] = [
    "begin",
    "carry on",
    "complete",
    "continue",
    "drive",
    "finish",
    "get on",
    "go on",
    "keep going",
    "proceed",
    "resume",
    "run",
    "start",
    "work on",
];

const LEAVE: [&str; 9] = ["abandon", "drop", "end", "forget", "halt", "leave", "pause", "stop", "suspend"];

/// Words before an order that deny or postpone it.
const NOT: [&str; 7] = ["don't", "don\u{2019}t", "do not", "never", "not yet", "without", "before you"];

/// Returns the order of a prompt about the loop. `None`: it orders nothing, or only asks.
pub(super) fn loop_order(text: &str) -> Option<LoopOrder> {
    let text = text.trim().to_lowercase();
    let first = text.split_whitespace().next().unwrap_or_default();
    if COMMANDS.contains(&first) {
        return Some(LoopOrder::GoOn);
    }
    text.split(['.', '!', '?', ';', '\n'])
        .zip(ends(&text))
        .filter(|(_, end)| *end != '?')
        .find_map(|(sentence, _)| of(sentence))
}

/// Returns the mark at the end of each sentence.
fn ends(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| ['.', '!', '?', ';', '\n'].contains(c)).chain(['.'])
}

/// `go on with the loop`, `finish loop l-1a2b3c4d`: an order whose object is the loop.
fn of(sentence: &str) -> Option<LoopOrder> {
    let words: Vec<&str> = sentence.split(|c: char| !(c.is_alphanumeric() || "'\u{2019}-/:".contains(c))).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let at = words.iter().enumerate().position(|(index, _)| is_loop(&words, index))?;
    let before = words[..at].join(" ");
    if NOT.iter().any(|not| contains(&before, not)) {
        return None;
    }
    let order = |all: &[&str]| all.iter().any(|verb| begins(&before, verb));
    if order(&LEAVE) {
        Some(LoopOrder::Leave)
    } else if order(&GO_ON) {
        Some(LoopOrder::GoOn)
    } else {
        None
    }
}

/// Returns true if the word means the loop of the worktree, not one in the code: `the loop`, `this loop`, `steadfast
/// loop`, or its id.
fn is_loop(words: &[&str], index: usize) -> bool {
    let is_id = |word: &&str| word.strip_prefix("l-").is_some_and(|id| id.len() == 8);
    if words.get(index).is_some_and(is_id) {
        return true;
    }
    let named = |word: &&str| ["the", "this", "our", "my", "steadfast", "unfinished"].contains(word);
    let follows = words.get(index + 1).copied();
    // `the loop in parse.rs`, `the loop variable`: a loop in the code.
    let of_code = follows.is_some_and(|word| {
        ["in", "body", "variable", "counter", "index", "condition", "inside", "over", "that", "of", "at", "bounds"]
            .contains(&word)
    });
    words.get(index) == Some(&"loop") && index > 0 && words.get(index - 1).is_some_and(named) && !of_code
}

/// Returns true if the order begins the sentence, after at most a few words of courtesy.
fn begins(before: &str, verb: &str) -> bool {
    const COURTESY: [&str; 21] = [
        "please",
        "now",
        "ok",
        "okay",
        "and",
        "then",
        "so",
        "just",
        "you",
        "can",
        "could",
        "let's",
        "let\u{2019}s",
        "we",
        "yes",
        "alright",
        "well",
        "also",
        "i",
        "want",
        "to",
    ];
    let mut rest = before;
    loop {
        if rest.strip_prefix(verb).is_some_and(|after| after.is_empty() || after.starts_with(' ')) {
            return true;
        }
        let Some((word, after)) = rest.split_once(' ') else { return false };
        if !COURTESY.contains(&word) {
            return false;
        }
        rest = after;
    }
}

/// Returns true if the text contains these whole words.
fn contains(text: &str, words: &str) -> bool {
    format!(" {text} ").contains(&format!(" {words} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_commands_and_plain_orders_bind() {
        for text in [
            "/steadfast-loop",
            "/steadfast-loop Begin the loop.",
            "/steadfast:loop go on",
            "/steadfast:resume",
            "$steadfast-loop add a greeting",
            "go on with the loop",
            "Go on with the loop, please.",
            "Please continue the loop",
            "ok, resume the loop",
            "finish loop l-1a2b3c4d",
            "Thanks! Now finish the loop and tell me how it went.",
            "keep going with the steadfast loop until it is complete",
            "run the loop",
            "Let's carry on with our loop",
            "work on the unfinished loop",
            "What a day. Continue the loop.",
            "Go on with the loop l-1a2b3c4d and the plan \"Codes\": stage shape, nothing is kept yet. Next: `this`.",
        ] {
            assert_eq!(loop_order(text), Some(LoopOrder::GoOn), "{text}");
        }
    }

    #[test]
    fn an_order_to_stop_leaves_it() {
        for text in ["stop the loop", "Please leave the loop for today", "pause this loop", "ok, drop the loop"] {
            assert_eq!(loop_order(text), Some(LoopOrder::Leave), "{text}");
        }
    }

    #[test]
    fn questions_negations_and_the_loops_of_code_are_no_order() {
        for text in [
            "what is the loop at?",
            "Can you continue the loop?",
            "explain the loop to me",
            "Don't continue the loop yet",
            "do not resume the loop",
            "fix the loop in parse.rs",
            "start with the loop body in main.rs",
            "finish the loop over the rows",
            "run the for loop",
            "the event loop hangs, fix it",
            "review the loop",
            "summarize the loop so far",
            "We run the loop on Mondays, says the wiki: is that so?",
            "add an event loop",
            "",
            "go on",
        ] {
            assert_eq!(loop_order(text), None, "{text}");
        }
    }
}
