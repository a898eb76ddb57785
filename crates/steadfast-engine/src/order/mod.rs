//! What a human's prompt means for the plan of their worktree: to work it off, to go on, to leave it, or nothing.
//!
//! Read clause by clause, with the words of `words.txt`. What is quoted, told or asked orders nothing. Of an order and its
//! opposite the later one counts. `sentences.tsv` has the examples.

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

/// A list of `words.txt`.
fn list(name: &str) -> &'static Phrases {
    LISTS.list(name)
}

fn begins(words: &[Word], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && phrase.iter().zip(words).all(|(text, word)| word.is(text))
}

/// What a prompt means for the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Work it off.
    Bind,
    /// Go on, with nothing said of what.
    GoAhead,
    /// Leave it.
    Release,
    /// Neither.
    Nothing,
}

/// How many sentences are read, from the beginning and from the end. What is pasted stands between.
const READ: usize = 60;

/// Whether a prompt calls a skill of ours that works a plan off.
pub(crate) fn is_own_command(text: &str) -> bool {
    command::called(text) == Some(Called::Own)
}

/// Reads what a human said.
pub(crate) fn read(text: &str, mut topic: Topic) -> Order {
    match command::called(text) {
        Some(Called::Own) => return Order::Bind,
        Some(Called::Other) => return Order::Nothing,
        None => {}
    }
    // What follows is the agent's own plan.
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

/// What is nothing beside an order is a yes where it is all that is said.
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
        // `I ran the plan and got an error` tells on; `the plan is fine, build it` does not.
        let goes_on = told && begins(clause, &["and"]) && !clause.get(1).is_some_and(is_turn);
        let act = if reported || goes_on { Act::Tells } else { act(clause, tone, topic) };
        reported |= crate::goal::is_reported(clause);
        topic.spoken_of |= object::is_spoken_of(clause, topic);
        acts.push(act);
    }
    // A name alone orders nothing beside something else: `explain: the plan`.
    let alone = acts.iter().all(|act| matches!(act, Act::Name | Act::Go | Act::Yes | Act::Nothing | Act::Work));
    if !alone {
        acts.iter_mut().filter(|act| **act == Act::Name).for_each(|act| *act = Act::Else);
    }
    acts
}

fn is_turn(word: &Word) -> bool {
    word.is_one_of(&["now", "then", "please", "so"])
}

/// A sentence at its breaks, and at `and`, `then`, `but`, `so`, which stay with what they begin.
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

/// Several words between single quotes are somebody else's, too.
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
