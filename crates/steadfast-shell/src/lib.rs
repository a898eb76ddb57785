//! A shell command line to its effects, what is unknown marked unknown. Pure.
//!
//! Text goes one way: `parse` makes a tree of it, `walk` goes over the tree with what the shell knows at each place,
//! `expand` makes fields of words, `run` says what a command does with them (`builtin`, a file of its own where a command
//! has a language of its own, and the table for all others), `judge` compares with what is protected. `specs/` says by
//! example what comes out, and is run.
//!
//! Two readings that are never mixed: what was read to the end may allow; words that were found may only speak
//! against. What could not be parsed is opaque: it is asked about where it names what is protected.

mod applied;
mod archive;
mod awk;
mod braces;
mod builtin;
mod code;
mod container;
mod data;
mod editor;
mod effect;
mod expand;
mod find;
mod foreign;
mod git;
mod interpreter;
mod invocation;
mod judge;
mod listing;
mod mention;
mod output;
mod parameter;
mod parse;
mod plain;
mod run;
mod sed;
mod shell;
mod table;
mod text;
mod tree;
mod unknown;
mod walk;
mod written;

pub use effect::{Certainty, CommandEffect, Context, Op, Reading};
pub use invocation::{Argument, Invocation};
pub use judge::{GuardDecision, GuardVerdict, judge};
pub use plain::is_plain;

/// What a command line would do.
pub fn effects(command: &str, context: &Context) -> Reading {
    let mut walk = walk::Walk::new(context);
    let script = parse::parse(command);
    walk.list(&script.list);
    // What is too deep to be read may hide anything; what bash refuses hides nothing.
    let is_unparsed = script.end == parse::End::Cut || !walk.unread.is_empty();
    let is_deep = !walk.parsed || (is_unparsed && is_deep(command));
    if script.end == parse::End::Cut {
        walk.unread();
        walk.unread.push(command.to_owned());
    }
    let mentions = mentions(command);
    let unread = (!is_deep).then_some(walk.unread);
    Reading { effects: walk.effects, runs: walk.runs, parsed: walk.parsed, unread, mentions, context: context.clone() }
}

/// Whether there are as many beginnings of something nested in it as no one writes by hand.
fn is_deep(command: &str) -> bool {
    const MOST: usize = 48;
    let words = ["if", "while", "until", "for", "case", "select", "then", "do"];
    let openings = command.bytes().filter(|byte| b"({[`".contains(byte)).count();
    openings > MOST || command.split_whitespace().filter(|word| words.contains(word)).count() > MOST
}

/// The words of comments that look like paths.
fn mentions(command: &str) -> Vec<String> {
    let comments = command.lines().filter_map(|line| line.split_once(" #").map(|(_, comment)| comment));
    comments.flat_map(str::split_whitespace).filter(|word| word.contains(['/', '.'])).map(str::to_owned).collect()
}
