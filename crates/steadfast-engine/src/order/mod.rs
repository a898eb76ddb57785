//! Reads a human's prompt for the plan of the worktree: an order to work on it, to continue, to leave it, or nothing.
//!
//! The clauses are read one by one, with the words of `words.txt`. Quotations, reports and questions order nothing. Of
//! two opposite orders the later one counts. `sentences.tsv` has examples.

mod clause;
mod command;
mod object;
mod topic;

use std::sync::LazyLock;

use crate::goal::PLAN;
use clause::{Act, Tone, act};
use command::Called;
pub(crate) use command::is_own;
use steadfast_words::prompt::{Sentence, sentences};
use steadfast_words::{Phrases, Vocabulary, Word};
pub(crate) use topic::Topic;

static LISTS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(include_str!("words.txt")));

/// Returns a list of `words.txt`.
fn list(name: &str) -> &'static Phrases {
    LISTS.list(name)
}

fn begins(words: &[Word], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && phrase.iter().zip(words).all(|(text, word)| word.is(text))
}

/// The order of a prompt about the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// An order to work on the plan.
    Bind,
    /// An order to continue, with no object.
    GoAhead,
    /// An order to leave the plan.
    Release,
    /// No order about the plan.
    Nothing,
}

/// The number of sentences read at the beginning and at the end. Pasted text is usually between them.
const READ: usize = 60;

/// Returns true if a prompt calls a skill of Steadfast that works on a plan.
pub(crate) fn is_own_command(text: &str) -> bool {
    command::called(text) == Some(Called::Own)
}

/// Reads a human's prompt.
pub(crate) fn read(text: &str, mut topic: Topic) -> Order {
    match command::called(text) {
        Some(Called::Own) => return Order::Bind,
        Some(Called::Other) => return Order::Nothing,
        None => {}
    }
    // The agent's own plan follows, not words of the human.
    if text.trim_start().starts_with(PLAN) {
        return Order::Nothing;
    }
    let mut acts = Vec::new();
    let mut all = sentences(&unquoted(text));
    all.retain(|sentence| !sentence.pasted);
    let pasted = READ..all.len().saturating_sub(READ).max(READ);
    for (_, sentence) in all.iter().enumerate().filter(|(at, _)| !pasted.contains(at)) {
        acts.extend(acts_of(sentence, &mut topic));
    }
    let last = acts.iter().rev().find_map(|act| match act {
        Act::Work | Act::Name => Some(Order::Bind),
        Act::Leave => Some(Order::Release),
        _ => None,
    });
    if let Some(last) = last {
        return last;
    }
    let only = acts.iter().all(|act| matches!(act, Act::Go | Act::Yes | Act::Nothing));
    let goes = acts.iter().any(|act| matches!(act, Act::Go | Act::Yes));
    if only && (goes || is_yes(text)) { Order::GoAhead } else { Order::Nothing }
}

/// Returns true if the whole text is a yes. Such words mean nothing beside an order.
fn is_yes(text: &str) -> bool {
    let all: Vec<Sentence> = sentences(text);
    let mut clauses = all.iter().take(READ).flat_map(|sentence| clauses(&sentence.words));
    clauses.any(|clause| list("yes").at(clause) > 0)
}

fn acts_of(sentence: &Sentence, topic: &mut Topic) -> Vec<Act> {
    let clauses = clauses(&sentence.words);
    let is_tag = |clause: &&[Word]| {
        let tag = ["ok", "okay", "please", "alright", "yes"];
        clause.len() == 1 && clause[0].is_one_of(&tag) || begins(clause, &["will", "you"]) && clause.len() == 2
    };
    // `Run the tasks, ok?`
    let tagged = clauses.len() > 1 && clauses.last().is_some_and(is_tag);
    let tone = if sentence.asks && !tagged { Tone::Asked } else { Tone::Said };
    let mut acts: Vec<Act> = Vec::new();
    let mut reported = false;
    for clause in &clauses {
        let told = acts.last() == Some(&Act::Tells);
        // `I ran the plan and got an error` continues the report; `the plan is fine, build it` does not.
        let goes_on = told && begins(clause, &["and"]) && !clause.get(1).is_some_and(is_turn);
        let act = if reported || goes_on { Act::Tells } else { act(clause, tone, topic) };
        reported |= crate::goal::is_reported(clause);
        topic.spoken_of |= object::is_spoken_of(clause, topic);
        acts.push(act);
    }
    // `explain: the plan`: beside another order, a name alone orders nothing.
    let alone = acts.iter().all(|act| matches!(act, Act::Name | Act::Go | Act::Yes | Act::Nothing | Act::Work));
    if !alone {
        acts.iter_mut().filter(|act| **act == Act::Name).for_each(|act| *act = Act::Else);
    }
    acts
}

fn is_turn(word: &Word) -> bool {
    word.is_one_of(&["now", "then", "please", "so"])
}

/// Splits a sentence at its breaks, and before `and`, `then`, `but` and `so`.
fn clauses(words: &[Word]) -> Vec<&[Word]> {
    let (mut clauses, mut start) = (Vec::new(), 0);
    for (at, word) in words.iter().enumerate() {
        if word.is_break() {
            clauses.push(&words[start..at]);
            start = at + 1;
        } else if at > start && word.is_one_of(&["and", "then", "but", "so", "und", "dann"]) {
            let follows = words[at - 1].is_one_of(&["and", "but", "so", "do", "make", "it"]);
            if !follows {
                clauses.push(&words[start..at]);
                start = at;
            }
        }
    }
    clauses.push(&words[start..]);
    clauses.retain(|clause| !clause.is_empty());
    clauses
}

/// Replaces single quotes around several words by double ones: such words are a quotation.
fn unquoted(text: &str) -> String {
    let mut open = false;
    let chars: Vec<char> = text.chars().collect();
    let quote = |at: usize| {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1);
        let opens = before.is_none_or(char::is_whitespace) && after.is_some_and(|c| c.is_alphanumeric());
        let closes = before.is_some_and(|c| !c.is_whitespace()) && after.is_none_or(|c| !c.is_alphanumeric());
        (opens, closes)
    };
    let mut said = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let (opens, closes) = if *c == '\'' { quote(at) } else { (false, false) };
        if opens && !open {
            open = true;
            said.push('“');
        } else if closes && open {
            open = false;
            said.push('”');
        } else {
            said.push(*c);
        }
    }
    if open { text.to_owned() } else { said }
}

#[cfg(test)]
mod tests;
