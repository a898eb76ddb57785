//! Recognises words that are almost an approval. They approve nothing; Steadfast tells the human what does.
//!
//! Only while a draft waits, and only for messages that can hardly mean anything else: one with the draft's hash, or a
//! short one that says "approved" with nothing but filler words. "They approved the budget" is about something else,
//! and a question expects an answer of the agent.

use steadfast_model::DraftLine;

/// A longer message is about something else.
const LONGEST: usize = 300;

/// The shortest beginning of a hash that counts as one.
const SHORTEST_HASH: usize = 4;

/// The reason why a message is no approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Nearly {
    /// It has the hash of another draft, or a part of a hash.
    OtherHash(String),
    /// It has the right hash, and more text than is allowed.
    NotAlone,
    /// It has no hash.
    NoHash,
}

/// Returns the reason if a message was meant as an approval but is none.
pub(super) fn nearly(said: &str, draft: &DraftLine) -> Option<Nearly> {
    if said.len() > LONGEST || said.trim_end().ends_with(['?', '？']) {
        return None;
    }
    let said = said.to_lowercase().replace('’', "'");
    let words: Vec<&str> = said
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '!' | '—' | '/'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    let at = words.iter().position(|word| APPROVES.contains(word))?;
    if words.iter().any(|word| is_against(word)) {
        return None;
    }
    let is_place = |place: usize| place == at + 1 || (place == at + 2 && words[at + 1] == "plan");
    let hash = words.iter().enumerate().find(|(place, word)| is_hash(word, draft, is_place(*place)));
    if let Some((_, hash)) = hash {
        return Some(match *hash == draft.short() || *hash == draft.hash {
            true => Nearly::NotAlone,
            false => Nearly::OtherHash((*hash).to_owned()),
        });
    }
    let is_filling = |(place, word): (usize, &&str)| place == at || APPROVES.contains(word) || FILLING.contains(word);
    words.iter().enumerate().all(is_filling).then_some(Nearly::NoHash)
}

/// Returns true for the draft's hash or its beginning; after "approve" or "approve plan", for every word that looks
/// like a hash.
fn is_hash(word: &str, draft: &DraftLine, is_place: bool) -> bool {
    let is_hex = word.len() >= SHORTEST_HASH && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_its = draft.hash.starts_with(word) || word.starts_with(draft.short());
    is_hex && (is_its || (is_place && word.bytes().any(|byte| byte.is_ascii_digit())))
}

/// Returns true for words that postpone, deny or report.
fn is_against(word: &str) -> bool {
    word.ends_with("n't") || AGAINST.contains(&word)
}

const APPROVES: &[&str] = &["approve", "approved", "approving", "approves", "lgtm", "accept", "accepted"];

const AGAINST: &[&str] = &[
    "not",
    "no",
    "never",
    "cannot",
    "dont",
    "nothing",
    "reject",
    "rejected",
    "disapprove",
    "disapproved",
    "wait",
    "before",
    "until",
    "unless",
    "if",
    "once",
    "when",
    "after",
    "later",
    "yet",
    "how",
    "what",
    "why",
    "who",
    "where",
    "which",
];

/// Words that may surround an approval without changing its subject.
const FILLING: &[&str] = &[
    "yes",
    "yep",
    "yeah",
    "yup",
    "y",
    "ok",
    "okay",
    "k",
    "sure",
    "fine",
    "great",
    "good",
    "perfect",
    "nice",
    "cool",
    "right",
    "alright",
    "all",
    "looks",
    "look",
    "sounds",
    "excellent",
    "absolutely",
    "definitely",
    "i",
    "we",
    "you",
    "me",
    "i've",
    "i'm",
    "have",
    "hereby",
    "it",
    "it's",
    "its",
    "is",
    "this",
    "that",
    "that's",
    "the",
    "your",
    "my",
    "a",
    "plan",
    "plans",
    "draft",
    "spec",
    "proposal",
    "please",
    "thanks",
    "thank",
    "now",
    "then",
    "so",
    "and",
    "consider",
    "go",
    "ahead",
    "on",
    "proceed",
    "continue",
    "start",
    "begin",
    "do",
    "build",
    "building",
    "implement",
    "implementing",
    "implementation",
    "with",
    "to",
    "me",
    "us",
    "can",
    "may",
    "from",
    "side",
    "as",
    "just",
    "already",
    "done",
    "by",
    "for",
    "steadfast",
    "work",
    "coding",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> DraftLine {
        let hash = "0123456789abcdef".to_owned();
        DraftLine { hash, title: "Sign in".into(), tasks: 2, path: "PLAN.md".into(), call: None }
    }

    #[test]
    fn what_was_meant_as_a_yes_is_known() {
        for said in [
            "approve plan 01234567!",
            "`approve plan 01234567`",
            "\"approve plan 01234567\"",
            "“approve plan 01234567”",
            "Approve plan 01234567",
            "APPROVE PLAN 01234567.",
            "approve plan: 01234567",
            "approve  plan 01234567",
            "approve 01234567",
            "yes, approve plan 01234567",
            "approve plan 01234567 please",
            "approve plan 0123456789abcdef",
            "ok approve plan `01234567`, thanks",
            "I typed approve plan 01234567 and it is still closed",
            "steadfast plan approve 01234567",
            "**approve plan 01234567**",
            "> approve plan 01234567",
            "approve plan\n01234567",
        ] {
            assert_eq!(nearly(said, &draft()), Some(Nearly::NotAlone), "{said}");
        }
        for said in [
            "approve plan 89abcdef",
            "approve plan 0123",
            "approve plan 012345678",
            "Approve plan `89ABCDEF`.",
            "yes approve 77aa88bb",
        ] {
            assert!(matches!(nearly(said, &draft()), Some(Nearly::OtherHash(_))), "{said}");
        }
        for said in [
            "yes, approved",
            "ok approve it",
            "approved",
            "Approved!",
            "approve",
            "Approve",
            "I approve",
            "I approve this plan.",
            "approve the plan",
            "approve plan",
            "plan approved",
            "the plan is approved",
            "yes approve",
            "Yes, I approve. Go ahead.",
            "LGTM",
            "lgtm, approved",
            "looks good, approved",
            "it's approved",
            "approved, go ahead and implement it",
            "consider it approved",
            "👍 approved",
            "you have my plan approved",
            "accept the plan",
            "Plan accepted.",
            "approved - start building",
        ] {
            assert_eq!(nearly(said, &draft()), Some(Nearly::NoHash), "{said}");
        }
    }

    #[test]
    fn talk_of_something_else_is_no_yes() {
        for said in [
            "they approved the budget",
            "how do I approve a plan?",
            "How do I approve a plan",
            "legal approved it",
            "the client approved the designs yesterday",
            "don't approve it yet",
            "do not approve plan 01234567",
            "not approved",
            "I have not approved anything",
            "Add an approve button to the form",
            "rename approve to accept",
            "is it approved?",
            "was plan 01234567 approved?",
            "fix the bug in src/approve.rs",
            "wait, before I approve: what about tests",
            "yes",
            "ok",
            "go ahead",
            "the approval dialog is broken",
            "approve the refund endpoint",
            "only admins may approve a request",
            "never accept cookies",
            "accept the terms in the installer",
            "what does approve plan 01234567 do",
            "if I approve it, what happens",
            "I'll approve it later",
            "can you approve it?",
            "look at 01234567",
            "plan 01234567 needs a test",
            "disapproved",
            "",
            "approve PR 1234567890 on GitHub, the reviewer is waiting",
        ] {
            assert_eq!(nearly(said, &draft()), None, "{said}");
        }
    }
}
