//! A shell command line to its effects, what is unknown marked unknown. Pure.
//!
//! Two readings that are never mixed: what was read to the end may allow; words that were found may only speak
//! against. What could not be parsed is opaque, never safe.

mod code;
mod effect;
mod expand;
mod judge;
mod parse;
mod run;
mod special;
mod table;
mod text;
mod tree;
mod walk;

pub use effect::{Certainty, Context, Effect, Op, Reading};
pub use judge::{Decision, Verdict, judge};

/// What a command line would do.
pub fn effects(command: &str, context: &Context) -> Reading {
    let mut walk = walk::Walk::new(context);
    match parse::parse(command) {
        Some(list) => {
            walk.list(&list);
        }
        None => walk.unread(),
    }
    let mentions = mentions(command);
    Reading { effects: walk.effects, parsed: walk.parsed, mentions, context: context.clone() }
}

/// The words of comments that look like paths.
fn mentions(command: &str) -> Vec<String> {
    let comments = command.lines().filter_map(|line| line.split_once(" #").map(|(_, comment)| comment));
    comments.flat_map(str::split_whitespace).filter(|word| word.contains(['/', '.'])).map(str::to_owned).collect()
}
