//! Reads a shell command line and returns its effects. Unknown parts are marked as unknown. Pure: no files, no
//! processes.
//!
//! `parse` makes a tree of the text, and `walk` goes over the tree with the state of the shell. `expand` makes fields
//! of words. `run` decides what a command does with them: `builtin`, a module for each command with its own language,
//! and the table for all others. `judge` compares the effects with the protected paths.
//!
//! Two kinds of evidence are never mixed. Only text that was read completely can allow a command; words that were
//! merely found can only count against it. Text that could not be parsed leads to a question if it names a protected
//! path.
//!
//! Start with [`effects`], [`Reading`] and [`judge()`]. `specs/` has examples, which are also tests.

mod code;
mod command;
mod effect;
mod expand;
mod invocation;
mod judge;
mod mention;
mod parse;
mod plain;
mod run;
mod table;
mod text;
mod tree;
mod unknown;
mod walk;

pub use effect::{Certainty, CommandEffect, Context, Op, Reading};
pub use invocation::{Argument, Invocation};
pub use judge::{GuardDecision, GuardVerdict, judge};
pub use plain::is_plain;

/// Returns the effects of a command line.
pub fn effects(command: &str, context: &Context) -> Reading {
    let mut walk = walk::Walk::new(context);
    let script = parse::parse(command);
    walk.list(&script.list);
    // Text that is nested too deeply may hide anything. Text that bash refuses hides nothing, because bash does not run
    // it.
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

/// Reports whether the text has more nested beginnings than a person would write.
fn is_deep(command: &str) -> bool {
    const MOST: usize = 48;
    let words = ["if", "while", "until", "for", "case", "select", "then", "do"];
    let openings = command.bytes().filter(|byte| b"({[`".contains(byte)).count();
    openings > MOST || command.split_whitespace().filter(|word| words.contains(word)).count() > MOST
}

/// Returns the words of comments that look like paths.
fn mentions(command: &str) -> Vec<String> {
    let comments = command.lines().filter_map(|line| line.split_once(" #").map(|(_, comment)| comment));
    comments.flat_map(str::split_whitespace).filter(|word| word.contains(['/', '.'])).map(str::to_owned).collect()
}
