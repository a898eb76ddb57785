//! Commands with a language of their own, a module for each, and the builtins.

mod archive;
mod awk;
mod builtin;
mod container;
mod editor;
mod find;
mod foreign;
mod git;
pub(crate) mod interpreter;
mod listing;
mod output;
mod sed;
mod shell;
